import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RootCredentials } from '../packages/server/src/credentials-file.ts';
import { TestClient } from '../packages/server/test/harness/client.ts';
import type { Target } from './load/load.ts';

export interface StartOptions {
  readonly node?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const MAIN = fileURLToPath(new URL('../packages/server/dist/main.js', import.meta.url));

/** The built service with its default settings, as `npm start` runs it, without a ceiling of exports. */
export class Service implements AsyncDisposable {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'custos-bench-'));
  readonly databaseUrl: string | undefined;
  #child: ChildProcess | undefined;
  #port = 0;

  constructor(databaseUrl?: string) {
    this.databaseUrl = databaseUrl;
  }

  get target(): Target {
    return { port: this.#port, pid: this.#child?.pid as number };
  }

  get root(): TestClient {
    const file = readFileSync(join(this.dataDir, 'root-credentials.json'), 'utf8');
    return TestClient.root(JSON.parse(file) as RootCredentials, `http://127.0.0.1:${this.#port}`);
  }

  /** Resolves with the milliseconds from spawn to listening. */
  async start({ node = [], env = {} }: StartOptions = {}): Promise<number> {
    // The log goes to a file, as under a service manager: its lines are part of what a request costs.
    const log = openSync(join(this.dataDir, 'service.log'), 'a');
    const startedAt = performance.now();
    const child = spawn(process.execPath, [...node, MAIN], {
      env: {
        PATH: process.env.PATH ?? '',
        CUSTOS_DATA_DIR: this.dataDir,
        CUSTOS_PORT: '0',
        // As many exports as it can make are measured.
        CUSTOS_ORGANIZATION_EXPORTS_PER_MINUTE: '0',
        CUSTOS_EXPORTS_PER_MINUTE: '0',
        ...(this.databaseUrl !== undefined && { CUSTOS_DATABASE_URL: this.databaseUrl }),
        ...env,
      },
      stdio: ['ignore', 'pipe', log],
    });
    closeSync(log);
    this.#child = child;
    // A bench that is interrupted leaves nothing running.
    const kill = (): void => void child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.removeListener('exit', kill));
    return await new Promise((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the service ended with ${code}: ${this.#log()}`)));
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        const listening = /listening on http:\/\/[^:]+:(\d+)/.exec(text);
        if (listening === null) return;
        this.#port = Number(listening[1]);
        resolve(performance.now() - startedAt);
      });
    });
  }

  #log(): string {
    return readFileSync(join(this.dataDir, 'service.log'), 'utf8').slice(-2000);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}
