import type { Client } from 'pg';
import { StartError } from '../lib/start-error.ts';

const CONNECT_MS_MAX = 3000;
/** For a server that neither answers nor hangs up. */
const ANSWER_MS_MAX = 18_000;

/** A session outside the pool. */
export async function connectPostgres(url: string): Promise<Client> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: url,
    application_name: 'custos',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    keepAlive: true,
  });
  // Its statements fail too, and an 'error' that nobody hears would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw explain(error);
  }
}

/** An AggregateError (several addresses refused) has an empty message of its own. */
export function explain(error: unknown): StartError {
  const { message, errors } = error as Error & { errors?: Error[] };
  return new StartError(
    `cannot use the PostgreSQL database: ${message || errors?.map((inner) => inner.message).join('; ')}`,
  );
}
