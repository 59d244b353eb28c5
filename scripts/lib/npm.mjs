import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

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

/**
 * Fetches a package that npm would not install here, or not at this version, and unpacks it as `target`. The parts are
 * those of the package that are wanted, or all of it.
 */
export function unpackPackage({ name, version, integrity }, target, ...parts) {
  mkdirSync(path.dirname(target), { recursive: true });
  const folder = mkdtempSync(path.join(path.dirname(target), '.unpack-'));
  try {
    runNpm(['pack', `${name}@${version}`, '--pack-destination', folder], folder);
    const [file] = readdirSync(folder).map((entry) => path.join(folder, entry));
    const digest = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
    if (digest !== integrity) throw new Error(`${name}@${version} is not the package that is pinned`);
    const wanted = parts.map((part) => `package/${part}`);
    const { status, stderr } = spawnSync('tar', ['-xzf', file, '-C', folder, ...wanted], { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${name} cannot be unpacked: ${stderr}`);
    rmSync(target, { recursive: true, force: true });
    renameSync(path.join(folder, 'package'), target);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
