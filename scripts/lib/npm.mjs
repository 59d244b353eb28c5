import { spawnSync } from 'node:child_process';

/** Runs the npm that runs this script, or the one of the path; throws what it printed when it fails. */
export function runNpm(args, cwd) {
  const npm = process.env.npm_execpath;
  const [command, prefix] = npm?.endsWith('.js') ? [process.execPath, [npm]] : ['npm', []];
  const { status, error, stdout, stderr } = spawnSync(command, [...prefix, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  });
  if (error || status !== 0) throw new Error(`npm ${args.join(' ')} failed: ${error?.message ?? `${stdout}${stderr}`}`);
}
