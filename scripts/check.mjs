// `npm run check`: the gate before a commit. One line per step; the first failure ends it and shows why.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { installCompat } from './lib/compat.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

function run(command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${stdout}${stderr}`.trim());
  return stdout;
}

const runBinary = (name, ...args) => run(path.join(root, 'node_modules', '.bin', name), args);

function checkLockfiles() {
  // A download address would send everyone to the registry of whoever wrote the lockfile last.
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', '*package-lock.json'];
  for (const file of run('git', listed).split('\0').filter(Boolean)) {
    const target = path.join(root, file);
    if (existsSync(target) && /"resolved":\s*"(https?|git|file):/.test(readFileSync(target, 'utf8'))) {
      throw new Error(`${file} names download addresses: write it with omit-lockfile-registry-resolved=true`);
    }
  }
}

function checkTypes() {
  // The tests in compat are typed against packages which only compat has.
  installCompat();
  runBinary('tsc', '-p', 'tsconfig.json', '--noEmit');
}

function checkGenerated() {
  if (!existsSync(path.join(root, 'scripts', 'generate.ts'))) return 'nothing to generate';
  runBinary('tsx', '--conditions=source', 'scripts/generate.ts', '--check');
  run(process.execPath, ['scripts/contracts.mjs', '--check']);
  return undefined;
}

// Most tests share the modules that they have loaded (vitest.config.ts).
function checkMocks() {
  const files = run('git', [
    'grep',
    '-lE',
    'vi\\.(do)?[mM]ock\\(',
    '--',
    'packages/*/src/*.test.ts',
    'packages/*/test/*.test.ts',
  ]).split('\n');
  const wrong = files.filter((file) => file !== '' && !file.endsWith('.mocked.test.ts'));
  if (wrong.length > 0) throw new Error(`tests that replace modules are called *.mocked.test.ts: ${wrong.join(', ')}`);
}

const steps = [
  ['format, lint, import boundaries', () => void runBinary('biome', 'ci', '--colors=off', '--error-on-warnings', '.')],
  ['types', checkTypes],
  ['unused code', () => void runBinary('knip', '--no-progress')],
  ['generated files', checkGenerated],
  ['tests that replace modules', checkMocks],
  ['lockfiles', checkLockfiles],
];

for (const [name, step] of steps) {
  const startedAtMs = Date.now();
  try {
    const note = step();
    process.stdout.write(`ok    ${name} (${note ?? `${Date.now() - startedAtMs} ms`})\n`);
  } catch (error) {
    process.stdout.write(`FAIL  ${name}\n${error.message}\n`);
    process.exit(1);
  }
}
