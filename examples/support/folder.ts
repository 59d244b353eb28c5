import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { ROOT, savedPrograms } from './pages.ts';

const ours = (path: string): string => fileURLToPath(new URL(path, ROOT));
const PACKAGES = [
  ['@custos/sdk', 'packages/sdk'],
  ['@turnkey/crypto', 'compat/node_modules/@turnkey/crypto'],
  ['@turnkey/sdk-server', 'compat/node_modules/@turnkey/sdk-server'],
  ['viem', 'compat/node_modules/viem'],
] as const;

/** The folder in which a reader has saved every program of the pages, beside the data of a service. */
export class ReaderFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'custos-reader-'));
  readonly programs = savedPrograms();
  /** How often each program has run. */
  readonly runs = new Map<string, number>();
  readonly env: NodeJS.ProcessEnv;

  constructor(dataDir: string) {
    this.env = { PATH: process.env.PATH ?? '', CUSTOS_DATA_DIR: dataDir };
    for (const [name, place] of PACKAGES) {
      const target = join(this.path, 'node_modules', name);
      mkdirSync(join(target, '..'), { recursive: true });
      symlinkSync(ours(place), target);
    }
    symlinkSync(dataDir, join(this.path, 'data'));
    for (const [name, code] of this.programs) this.save(name, code);
  }

  save(name: string, text: string): void {
    writeFileSync(join(this.path, name), text);
  }

  /** Puts the address of something that the test has started in place of the usual one. */
  replaceAddress(name: string, usual: string, actual: string): void {
    const code = this.programs.get(name) ?? '';
    if (!code.includes(usual)) throw new Error(`${name} does not name ${usual}`);
    this.save(name, code.replaceAll(usual, actual));
  }

  /** Runs a program, and answers what it printed. */
  async run(name: string, ...args: string[]): Promise<string> {
    return await this.#run(name, process.execPath, [name, ...args], this.path);
  }

  /** Runs a program of examples/, and answers what it printed. */
  async runExample(name: string, ...args: string[]): Promise<string> {
    const tsx = ours('node_modules/.bin/tsx');
    return await this.#run(name, tsx, ['--conditions=source', `examples/${name}`, ...args], ours('.'));
  }

  async #run(name: string, program: string, args: readonly string[], cwd: string): Promise<string> {
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd, env: this.env });
    expect(stderr).toBe('');
    this.runs.set(name, (this.runs.get(name) ?? 0) + 1);
    return stdout.trimEnd();
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
