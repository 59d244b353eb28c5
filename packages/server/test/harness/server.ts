import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RootCredentials } from '../../src/credentials-file.ts';
import { copyTables, createPostgresDatabase, type DatabaseKind, type TestDatabase } from './databases.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Tests send many requests at once to machines of any speed; those about admission or exports set their own limits. */
export const PATIENT = {
  CUSTOS_ADMIT_WAIT_MS: '30000',
  CUSTOS_ORGANIZATION_EXPORTS_PER_MINUTE: '0',
  CUSTOS_EXPORTS_PER_MINUTE: '0',
} as const;

export interface TestServerOptions {
  readonly database?: DatabaseKind;
  readonly env?: Readonly<Record<string, string>>;
  /** Use this data directory, and keep it, instead of a temporary one. */
  readonly dataDir?: string;
  /** The Node.js that runs it, if not the one of the tests. */
  readonly node?: string;
  /** Who runs it, if not the user of the tests. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

/** A database of its own in a file that the user of the tests may make. */
const isOnNewFile = ({ database, dataDir, user, env }: TestServerOptions): boolean =>
  database !== 'postgres' && dataDir === undefined && user === undefined && env?.['CUSTOS_DATABASE_URL'] === undefined;

/** A service in a process of its own, started the way `npm start` starts it. */
export class TestServer implements AsyncDisposable {
  readonly dataDir: string;
  readonly #options: TestServerOptions;
  readonly #postgres: TestDatabase | undefined;
  #child: ChildProcess | undefined;
  #stdout = '';
  #stderr = '';
  #baseUrl = '';

  private constructor(options: TestServerOptions, postgres: TestDatabase | undefined) {
    this.#options = options;
    this.#postgres = postgres;
    this.dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'custos-test-'));
  }

  static async start(options: TestServerOptions = {}): Promise<TestServer> {
    const postgres = options.database === 'postgres' ? await createPostgresDatabase() : undefined;
    const server = new TestServer(options, postgres);
    try {
      if (isOnNewFile(options)) copyTables(server.dataDir);
      await server.start();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  get baseUrl(): string {
    return this.#baseUrl;
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error('the server is not running');
    return this.#child.pid;
  }

  /** Everything the process has printed so far. */
  get output(): { readonly stdout: string; readonly stderr: string } {
    return { stdout: this.#stdout, stderr: this.#stderr };
  }

  get databaseUrl(): string | undefined {
    return this.#postgres?.url;
  }

  get credentials(): RootCredentials {
    return JSON.parse(readFileSync(join(this.dataDir, 'root-credentials.json'), 'utf8')) as RootCredentials;
  }

  /** The environment of the service: only its own settings and what a process needs. */
  get environment(): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      CUSTOS_DATA_DIR: this.dataDir,
      CUSTOS_PORT: '0',
      ...PATIENT,
      ...(this.#postgres && { CUSTOS_DATABASE_URL: this.#postgres.url, CUSTOS_DATABASE_POOL: '8' }),
      ...this.#options.env,
    };
  }

  /** Starts, or starts again after a stop or a kill, on the same data. Resolves when the service listens. */
  async start(): Promise<void> {
    const child = spawn(this.#options.node ?? process.execPath, [MAIN], {
      env: this.environment,
      ...this.#options.user,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    await new Promise<void>((resolve, reject) => {
      let printed = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        this.#stdout += text;
        const listening = /listening on (http\S+)\n/.exec(printed);
        if (listening === null) return;
        this.#baseUrl = listening[1] as string;
        resolve();
      });
      child.once('exit', (code, signal) => reject(new Error(`the server ended (${code ?? signal}): ${this.#stderr}`)));
    });
  }

  /** SIGTERM; resolves with the exit code. */
  async stop(): Promise<number | null> {
    return await this.#end('SIGTERM');
  }

  /** SIGKILL, as a power cut would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return null;
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    }
    return child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end('SIGKILL');
    await this.#postgres?.[Symbol.asyncDispose]();
    if (this.#options.dataDir === undefined) rmSync(this.dataDir, { recursive: true, force: true });
  }
}
