import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, constants, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import pg from 'pg';

export type DatabaseKind = 'sqlite' | 'postgres';

/** What storage does, races, crashes: always tried on both. */
export const DATABASES: readonly DatabaseKind[] = ['sqlite', 'postgres'];

/**
 * For rules that are decided above storage, whose statements other tests run on both databases. `npm test` tries them on
 * one, chosen by the file's name, so each database gets half of the files; `npm run test:both` tries them on both. A
 * file with races among its rules gets PostgreSQL: SQLite has one writer, so its transactions never meet.
 */
export function databasesOf(testFile: string, { hasRaces = false } = {}): readonly DatabaseKind[] {
  if (process.env['TEST_DATABASES'] === 'both') return DATABASES;
  const [byte = 0] = createHash('sha256').update(basename(testFile)).digest();
  return [hasRaces || byte % 2 === 1 ? 'postgres' : 'sqlite'];
}

/** The PostgreSQL server that `npm test` brings. */
function serverUrl(): string {
  const url = process.env['TEST_POSTGRES_URL'];
  if (!url) throw new Error('TEST_POSTGRES_URL is not set: run the tests with `npm test`');
  return url;
}

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
}

/** Its schema is copied, which takes a fraction of the time of making it. */
const TEMPLATE = 'TEST_POSTGRES_TEMPLATE';

interface DatabaseOptions {
  readonly isEmpty?: boolean;
  /** The URL of a database that nobody is connected to. */
  readonly copyOf?: string | undefined;
}

/**
 * A database of its own for one test, dropped afterwards. It has the tables of the service, unless it is to be empty or a copy.
 */
export async function createPostgresDatabase({ isEmpty = false, copyOf }: DatabaseOptions = {}): Promise<TestDatabase> {
  const name = newName();
  const template = isEmpty
    ? undefined
    : copyOf === undefined
      ? process.env[TEMPLATE]
      : new URL(copyOf).pathname.slice(1);
  await onServer(`CREATE DATABASE ${name} ${template === undefined ? '' : `TEMPLATE ${template}`}`);
  return databaseCalled(name);
}

/** Makes what databases are copied from, for all tests of a run. */
export async function createTemplate(prepare: (url: string) => Promise<void>): Promise<AsyncDisposable> {
  const name = newName();
  await onServer(`CREATE DATABASE ${name}`);
  const database = databaseCalled(name);
  try {
    await prepare(database.url);
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
  process.env[TEMPLATE] = name;
  return database;
}

/** The same on SQLite: a file that is copied. */
const SQLITE_TEMPLATE = 'TEST_SQLITE_TEMPLATE';

/** Puts a database with the tables of the service into a data directory that has no database yet. */
export function copyTables(dataDir: string): void {
  const template = process.env[SQLITE_TEMPLATE];
  if (template) copyFileSync(template, join(dataDir, 'custos.db'), constants.COPYFILE_EXCL);
}

/** Makes what `copyTables` copies, for all tests of a run. */
export async function createSqliteTemplate(prepare: (file: string) => Promise<void>): Promise<Disposable> {
  const folder = mkdtempSync(join(tmpdir(), 'custos-template-'));
  const made = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  const file = join(folder, 'custos.db');
  try {
    await prepare(file);
    chmodSync(file, 0o600);
  } catch (error) {
    made[Symbol.dispose]();
    throw error;
  }
  process.env[SQLITE_TEMPLATE] = file;
  return made;
}

const newName = (): string => `custos_test_${randomBytes(8).toString('hex')}`;

function databaseCalled(name: string): TestDatabase {
  const url = new URL(serverUrl());
  url.pathname = `/${name}`;
  return {
    url: url.toString(),
    [Symbol.asyncDispose]: () => onServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
