import pg from 'pg';
import { errorText } from '../../lib/error-text.ts';
import { StartError } from '../../lib/start-error.ts';
import { isUnavailable } from '../../storage/postgres/errors.ts';
import { connectionConfig } from '../../storage/postgres/pool.ts';
import { COMMAND_SESSIONS } from '../../storage/postgres/session-names.ts';

const CONNECT_MS_MAX = 3000;

/** A session that may take as long as it takes. */
export async function connectForLong(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...connectionConfig(url),
    application_name: COMMAND_SESSIONS,
    connectionTimeoutMillis: CONNECT_MS_MAX,
  });
  // Its statements fail too, and an 'error' that nobody hears would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    // A machine that lost its power says no goodbye: the server asks for it, and releases its locks.
    await client.query(
      `SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
       SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3`,
    );
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    throw explainPostgres(error);
  }
}

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | undefined)?.code ?? '');

/** What is wrong with the server; what is wrong with the archive says so itself. */
export function explainPostgres(error: unknown): unknown {
  if (error instanceof StartError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (code === '53100')
    return new StartError(
      'the disk of the PostgreSQL server is full: a restore needs room for a second copy of the tables. Make room and run it again; nothing was changed',
    );
  if (code === '42501')
    return new StartError(
      `the database user lacks a right (${errorText(error)}): a restore makes a schema, so grant CREATE on the database; nothing was changed`,
    );
  if (code === '55P03')
    return new StartError(
      'the database is busy: somebody else uses its tables, as a backup or a report does. Run it again when that is over; nothing was changed',
    );
  // A text of SQLite may hold a character that PostgreSQL stores nowhere.
  if (code === '22021')
    return new StartError(`PostgreSQL cannot store a text of the backup (${errorText(error)}); nothing was changed`);
  if (isUnavailable(error) || code !== '')
    return new StartError(`cannot use the PostgreSQL database: ${errorText(error)}; nothing was changed`);
  return error;
}
