import type { Client } from 'pg';
import { errorText } from '../lib/error-text.ts';
import { StartError } from '../lib/start-error.ts';
import { COMMAND_SESSIONS } from '../storage/postgres/session-names.ts';

const CONNECT_MS_MAX = 3000;
/** For a server that neither answers nor hangs up. */
const ANSWER_MS_MAX = 18_000;
/** A read of a whole table may have to pass millions of dead or unwanted rows before it finds the next one. */
export const LONG_ANSWER_MS_MAX = 30 * 60 * 1000;

/** A session outside the pool. */
export async function connectPostgres(url: string, answerMsMax = ANSWER_MS_MAX): Promise<Client> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({
    connectionString: url,
    application_name: COMMAND_SESSIONS,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: answerMsMax,
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

export const explain = (error: unknown): StartError =>
  new StartError(`cannot use the PostgreSQL database: ${errorText(error)}`);
