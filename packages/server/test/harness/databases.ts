import { randomBytes } from 'node:crypto';
import pg from 'pg';

export type DatabaseKind = 'sqlite' | 'postgres';

/** Every flow runs on both. */
export const DATABASES: readonly DatabaseKind[] = ['sqlite', 'postgres'];

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
