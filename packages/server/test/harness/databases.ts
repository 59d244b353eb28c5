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

/** A database of its own for one test, dropped afterwards. */
export async function createPostgresDatabase(): Promise<TestDatabase> {
  const name = `custos_test_${randomBytes(8).toString('hex')}`;
  await onServer(`CREATE DATABASE ${name}`);
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
