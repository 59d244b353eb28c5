import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { expect } from 'vitest';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { type Answer, type KeyPair, send, stampFor } from '../harness/client.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const CLI = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));

/** Longer than any start takes on a busy machine; a start that must fail and does not is ended then. */
const RUN_MS_MAX = 40_000;

/** A folder that is removed when it goes out of scope. */
export function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), 'custos-faults-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Two minutes later, as it were: a lock that a killed command left on the ring counts as abandoned. */
export function ageRingLock(dataDir: string): void {
  if (readdirSync(dataDir).includes('root.key.lock'))
    utimesSync(join(dataDir, 'root.key.lock'), 0, Date.now() / 1000 - 120);
}

/** Polls a condition that another process will make true. */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  milliseconds = 20_000,
): Promise<void> {
  const deadline = Date.now() + milliseconds;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await sleep(20);
  }
}

// ---- chance ----

export interface Chance {
  /** From 0 up to and not including 1. */
  next(): number;
  /** A whole number from min to max. */
  between(min: number, max: number): number;
  pick<T>(from: readonly T[]): T;
}

/** A seed that can be repeated: TEST_SEED sets it, and every run prints the one that it used. */
export function chooseSeed(name: string): number {
  const given = process.env.TEST_SEED;
  const seed = given ? Number(given) >>> 0 : (Math.random() * 2 ** 32) >>> 0;
  console.log(`${name}: TEST_SEED=${seed}`);
  return seed;
}

export function chanceOf(seed: number): Chance {
  let state = seed | 0;
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return { next, between, pick: (from) => from[between(0, from.length - 1)] as (typeof from)[number] };
}

// ---- requests ----

/** A request whose bytes can be sent again and again. */
export interface StampedBody {
  readonly path: string;
  readonly body: string;
  readonly stamp: string;
}

export function stamped(path: string, body: string, key: KeyPair): StampedBody {
  return { path, body, stamp: stampFor(Buffer.from(body), key) };
}

/** The answer, or undefined when the connection failed before a whole answer came. */
export async function trySend(baseUrl: string, { path, body, stamp }: StampedBody): Promise<Answer | undefined> {
  try {
    return await send(baseUrl, path, body, { 'x-stamp': stamp });
  } catch (error) {
    if (error instanceof TypeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The documented answer while the database is away. */
export function expectUnavailable(answer: Answer): void {
  expect(answer.body).toMatchObject({ code: 14, errorCode: 'UNAVAILABLE', message: expect.any(String) });
  expect(answer.body.details[0]).toMatchObject({
    '@type': 'type.googleapis.com/errors.v1.ServiceErrorDetail',
    errorCode: 'UNAVAILABLE',
  });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toMatch(/^[0-9]+$/);
}

export async function statusOf(baseUrl: string, path: string): Promise<number> {
  const response = await fetch(`${baseUrl}${path}`);
  await response.arrayBuffer();
  return response.status;
}

// ---- processes ----

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { cwd, input }: { readonly cwd?: string | undefined; readonly input?: string } = {},
): Promise<Outcome> {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  });
  // Who does not read it may have ended before.
  child.stdin.on('error', () => {}).end(input);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    // A service that was to fail and listens would never end.
    if (stdout.includes('listening on')) child.kill('SIGKILL');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), RUN_MS_MAX);
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(limit);
  return { code, signal, stdout, stderr };
}

/** Runs a start that must fail; one that does not is ended. */
export const runService = (env: Readonly<Record<string, string>>, cwd?: string): Promise<Outcome> =>
  runNode([MAIN], env, { cwd });

/** Runs the `custos` program. */
export const runCli = (env: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> =>
  runNode([CLI, ...args], env);

/** Runs the `custos` program with a text on standard input. */
export const runCliWith = (input: string, env: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> =>
  runNode([CLI, ...args], env, { input });

/** One line that says what is wrong, and nothing else. */
export function expectRefusal({ code, stdout, stderr }: Outcome, reason: RegExp): void {
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^custos: [^\n]+\n$/);
  expect(stderr).toMatch(reason);
  expect(code).not.toBeNull();
  expect(code).not.toBe(0);
}

/** A service whose process the test drives itself, for moments at which the harness would already have given up. */
export class RawService implements AsyncDisposable {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;

  constructor(env: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, [MAIN], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.exited = once(this.child, 'exit').then(([code, signal]) => ({ code, signal }));
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get hasExited(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** The address, once it listens; undefined when it ended before. */
  async listening(): Promise<string | undefined> {
    const address = (): string | undefined => /listening on (http\S+)\n/.exec(this.stdout)?.[1];
    await waitUntil('the service listens or ends', () => address() !== undefined || this.hasExited, 40_000);
    return address();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.hasExited) this.child.kill('SIGKILL');
    await this.exited;
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** Processes whose parent is this one (Linux). */
export function childrenOf(pid: number): number[] {
  const parentOf = (stat: string): number => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((name) => {
      try {
        return parentOf(readFileSync(`/proc/${name}/stat`, 'utf8')) === pid;
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** False also for a process that has ended and that nobody has waited for. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** Stops a process and waits until each of its threads is stopped: until then it may still answer. */
export async function suspend(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  const isStopped = (thread: string): boolean => {
    const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
  };
  await waitUntil('the process is stopped', () => readdirSync(`/proc/${pid}/task`).every(isStopped));
}

// ---- databases ----

// biome-ignore lint/suspicious/noExplicitAny: rows of any table.
export type Row = Record<string, any>;

/** Reads the tables behind the service's back. */
export interface Tables extends AsyncDisposable {
  /** Several statements on one state of the database. */
  read(...statements: string[]): Promise<Row[][]>;
  /** What is wrong with the files, where the database can tell. */
  damage(): Promise<string[]>;
}

export async function openTables(dataDir: string, databaseUrl: string | undefined): Promise<Tables> {
  return databaseUrl === undefined ? sqliteTables(join(dataDir, 'custos.db')) : await postgresTables(databaseUrl);
}

function sqliteTables(file: string): Tables {
  const db = new SqliteFile(file, { isReadOnly: true, busyTimeoutMs: 10_000 });
  return {
    read: async (...statements) => {
      db.exec('BEGIN');
      try {
        return statements.map((statement) => db.prepare(statement).all() as Row[]);
      } finally {
        db.exec('COMMIT');
      }
    },
    damage: async () => {
      const found = db.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
      const broken = db.prepare('PRAGMA foreign_key_check').all();
      return [
        ...found.map((row) => row.integrity_check).filter((line) => line !== 'ok'),
        ...broken.map((row) => JSON.stringify(row)),
      ];
    },
    [Symbol.asyncDispose]: async () => {
      db.close();
    },
  };
}

async function postgresTables(url: string): Promise<Tables> {
  const client = await connectPostgres(url);
  return {
    read: async (...statements) => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const rows: Row[][] = [];
      for (const statement of statements) rows.push((await client.query(statement)).rows as Row[]);
      await client.query('COMMIT');
      return rows;
    },
    damage: async () => [],
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** A session of its own; its end by the server is no error of the test. */
export async function connectPostgres(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'test' });
  client.on('error', () => {});
  await client.connect();
  return client;
}

export async function onPostgres<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectPostgres(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
