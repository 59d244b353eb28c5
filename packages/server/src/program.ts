import { readFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

// Loads the built service. The build puts all of it into one script, and beside it what V8 made of that script, because
// compiling it would be a third of every start and of every command (docs/decisions/0066).

const FILE = fileURLToPath(new URL('./program.cjs', import.meta.url));
const COMPILED = fileURLToPath(new URL('./program.compiled', import.meta.url));
type Entries = Readonly<Record<string, () => Record<string, unknown>>>;

/**
 * Of what and by what something was compiled. V8 compares only its own version and the length of the script, and would run
 * what was damaged on the disk.
 */
function sealOf(program: Uint8Array, compiled: Uint8Array): Buffer {
  const { version, platform, arch } = process;
  return Buffer.from(`${version} ${platform} ${arch} ${crc32(program)} ${crc32(compiled)}`.padEnd(SEAL_LENGTH));
}
const SEAL_LENGTH = 80;

/** Without it, or with that of another program or another Node, V8 compiles anew. */
function compiledOf(program: Uint8Array): Buffer | undefined {
  try {
    const file = readFileSync(COMPILED);
    const compiled = file.subarray(SEAL_LENGTH);
    return sealOf(program, compiled).equals(file.subarray(0, SEAL_LENGTH)) ? compiled : undefined;
  } catch {
    return undefined;
  }
}

/** The program is all ASCII, which the build sees to: V8 takes such a text as it is. */
const scriptOf = (program: Buffer, compiled?: Buffer): Script =>
  new Script(Module.wrap(program.toString('latin1')), { filename: FILE, ...(compiled && { cachedData: compiled }) });

function entriesOf(script: Script): Entries {
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(FILE), module, FILE, dirname(FILE));
  return module.exports;
}

let entries: Entries | undefined;

function loadProgram(): Entries {
  if (!process.features.require_module)
    throw new Error(`Custos needs Node.js 20.19, 22.12 or newer, and this is ${process.version}`);
  // Node translates the stacks only of what it compiles itself.
  if (process.sourceMapsEnabled) return createRequire(FILE)(FILE) as Entries;
  const program = readFileSync(FILE);
  return entriesOf(scriptOf(program, compiledOf(program)));
}

/** The exports of one of the files that the build makes loadable. */
export function load(name: string): Record<string, unknown> {
  entries ??= loadProgram();
  const entry = entries[name];
  if (entry === undefined) throw new Error(`the build has no entry ${name}`);
  return entry();
}

/** For the build: loads some entries, and returns what they export and what V8 has compiled by then. */
export function compileAhead(names: readonly string[]): { exports: Record<string, string[]>; bytes: Buffer } {
  const program = readFileSync(FILE);
  const script = scriptOf(program);
  const all = entriesOf(script);
  const exports = Object.fromEntries(names.map((name) => [name, Object.keys(all[name]?.() ?? {})]));
  const compiled = script.createCachedData();
  return { exports, bytes: Buffer.concat([sealOf(program, compiled), compiled]) };
}
