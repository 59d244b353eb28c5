// `npm run check`: the gate before a commit. One line per step; the first failure ends it and shows why.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CITING_FILES, findBrokenCitations } from './lib/citations.mjs';
import { installCompat } from './lib/compat.mjs';
import { findMisplacedImports } from './lib/structure.mjs';

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

/** Tracked files and new ones that are not ignored. */
function listFiles(...patterns) {
  const listed = run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...patterns]);
  return listed.split('\0').filter((file) => file !== '' && existsSync(path.join(root, file)));
}

const readText = (file) => readFileSync(path.join(root, file), 'utf8');

function checkLockfiles() {
  // A download address would send everyone to the registry of whoever wrote the lockfile last.
  for (const file of listFiles('*package-lock.json')) {
    if (/"resolved":\s*"(https?|git|file):/.test(readText(file))) {
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

/** Its samples lead nowhere on purpose. */
const CITATION_SAMPLES = 'scripts/lib/citations.test.ts';

function checkCitations() {
  const files = listFiles().filter((file) => file !== CITATION_SAMPLES);
  const texts = new Map(files.filter((file) => CITING_FILES.test(file)).map((file) => [file, readText(file)]));
  const folders = files.flatMap((file) =>
    file.split('/').map((_, depth, parts) => parts.slice(0, depth + 1).join('/')),
  );
  const faults = findBrokenCitations(texts, new Set(folders));
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

function checkStructure() {
  const files = listFiles('packages/*/src/*.ts').filter((file) => !file.endsWith('.test.ts'));
  const texts = new Map(files.map((file) => [file, readText(file)]));
  const faults = findMisplacedImports(texts);
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

const steps = [
  ['format, lint, import boundaries', () => void runBinary('biome', 'ci', '--colors=off', '--error-on-warnings', '.')],
  ['structure', checkStructure],
  ['types', checkTypes],
  ['unused code', () => void runBinary('knip', '--no-progress')],
  ['generated files', checkGenerated],
  ['tests that replace modules', checkMocks],
  ['citations and links', checkCitations],
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
