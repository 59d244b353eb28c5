import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const SERVER = join(import.meta.dirname, '../..');
const SEAL_LENGTH = 80;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'custos-program-'));
  cpSync(join(SERVER, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(SERVER, '../../node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a copy of the build says to `--version`. */
async function startCopy(change: (dist: string) => void, ...flags: string[]): Promise<string> {
  const dist = mkdtempSync(join(folder, 'dist-'));
  for (const name of ['main.js', 'program.js', 'program.cjs', 'program.cjs.map', 'program.compiled'])
    cpSync(join(SERVER, 'dist', name), join(dist, name));
  change(dist);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    ...flags,
    join(dist, 'main.js'),
    '--version',
  ]);
  expect(stderr).toBe('');
  return stdout;
}

const programOf = (dist: string): string => join(dist, 'program.cjs');
const compiledOf = (dist: string): string => join(dist, 'program.compiled');

function changeFile(file: string, change: (bytes: Buffer) => Uint8Array): void {
  writeFileSync(file, change(readFileSync(file)));
}

test('the build has compiled its program for the Node that it ran on', async () => {
  const dist = join(SERVER, 'dist');
  // In a process of its own: V8 accepts nothing here once another test has set one of its flags.
  const look = `
    const source = fs.readFileSync(process.argv[1], 'latin1');
    const cachedData = fs.readFileSync(process.argv[2]).subarray(${SEAL_LENGTH});
    const script = new vm.Script(module.constructor.wrap(source), { cachedData });
    console.log(script.cachedDataRejected);`;
  const args = ['--input-type=commonjs', '--eval', look, programOf(dist), compiledOf(dist)];
  expect((await promisify(execFile)(process.execPath, args)).stdout).toBe('false\n');
  const source = readFileSync(programOf(dist), 'latin1');
  // Node knows no module from which code that V8 compiled ahead could import.
  expect(source).not.toMatch(/\bimport\(/);
});

test.each<[string, (dist: string) => void, ...string[]]>([
  ['with what was compiled', () => {}],
  ['without it', (dist) => rmSync(compiledOf(dist))],
  [
    'with a folder in its place',
    (dist) => {
      rmSync(compiledOf(dist));
      mkdirSync(compiledOf(dist));
    },
  ],
  ['with something else in its place', (dist) => writeFileSync(compiledOf(dist), 'x'.repeat(1000))],
  ['with half of it', (dist) => changeFile(compiledOf(dist), (bytes) => bytes.subarray(0, bytes.length / 2))],
  ['with a page of zeroes in it', (dist) => changeFile(compiledOf(dist), (bytes) => bytes.fill(0, 40_960, 45_056))],
  ['with that of another Node', (dist) => changeFile(compiledOf(dist), (bytes) => bytes.fill('9', 1, 2))],
  ['with maps of its sources', () => {}, '--enable-source-maps'],
])('the program runs %s', async (_, change, ...flags) => {
  expect(await startCopy(change, ...flags)).toBe('0.1.0\n');
});

test('an edit of the program counts, even one that V8 does not notice', async () => {
  const edit = (bytes: Buffer): Buffer =>
    Buffer.from(bytes.toString('latin1').replace(/(?<=\bVERSION=\s*)"0\.1\.0"/, '"9.9.9"'), 'latin1');
  expect(await startCopy((dist) => changeFile(programOf(dist), edit))).toBe('9.9.9\n');
});
