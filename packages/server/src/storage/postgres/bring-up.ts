import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { errorText } from '../../lib/error-text.ts';
import { StartError } from '../../lib/start-error.ts';
import { isUnavailable } from './errors.ts';
import { connectionConfig } from './pool.ts';

/** Session-independent lock number for migrations, and for whatever else exchanges tables. */
export const ADMIN_LOCK = 4_715_820_031;
const CONNECT_MS_MAX = 3000;
const TRY_EVERY_MS = 250;
const SAY_EVERY_MS = 5000;
/** Most migrations are over before anybody needs to know. */
const SAY_AFTER_MS = 1000;

export interface BringUpOptions {
  readonly url: string;
  /** How long a database that is away is waited for. */
  readonly waitMs: number;
  /** Hears what a start waits for, at once and then every few seconds. */
  readonly onWaiting: (what: string) => void;
}

/**
 * Runs `work` in a transaction that one process at a time has, on a connection of its own: a migration takes as long as it
 * takes, and so do those who wait for it. A database that is not there yet is waited for.
 */
export async function bringUp(options: BringUpOptions, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = await connectInTime(options);
  try {
    await sayingSo(options.onWaiting, `for an answer of PostgreSQL at ${nameOf(client)}`, () =>
      client.query(
        'BEGIN; SET LOCAL statement_timeout TO 0; SET LOCAL lock_timeout TO 0; SET LOCAL idle_in_transaction_session_timeout TO 0',
      ),
    );
    await sayingSo(options.onWaiting, `for another process that migrates the database ${nameOf(client)}`, () =>
      client.query('SELECT pg_catalog.pg_advisory_xact_lock($1)', [ADMIN_LOCK]),
    );
    await sayingSo(options.onWaiting, `for the migration of the database ${nameOf(client)}`, () => work(client));
    const { command } = await client.query('COMMIT');
    if (command !== 'COMMIT') throw new Error('the migration was rolled back');
  } catch (error) {
    throw error instanceof StartError ? error : refusal(client, error);
  } finally {
    await client.end().catch(() => {});
  }
}

async function connectInTime({ url, waitMs, onWaiting }: BringUpOptions): Promise<pg.Client> {
  const startedMs = performance.now();
  let saidMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    const client = new pg.Client({ ...connectionConfig(url), connectionTimeoutMillis: CONNECT_MS_MAX });
    // Its statements fail too, and an 'error' that nobody hears would end the process.
    client.on('error', () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      const nowMs = performance.now();
      const waitedMs = nowMs - startedMs;
      if (!(error instanceof Error && isUnavailable(error)) || waitedMs >= waitMs)
        throw refusal(client, error, waitedMs);
      if (nowMs - saidMs >= SAY_EVERY_MS) {
        saidMs = nowMs;
        onWaiting(`for PostgreSQL at ${nameOf(client)}: ${errorText(error)}`);
      }
    }
    await sleep(TRY_EVERY_MS);
  }
}

async function sayingSo(say: (what: string) => void, what: string, work: () => Promise<unknown>): Promise<void> {
  let timer = setTimeout(function again() {
    say(what);
    timer = setTimeout(again, SAY_EVERY_MS);
  }, SAY_AFTER_MS);
  try {
    await work();
  } finally {
    clearTimeout(timer);
  }
}

/** Where it is, without the name and the password that go there. */
const nameOf = ({ host, port, database }: pg.Client): string => `${host}:${port}/${database ?? ''}`;

function refusal(client: pg.Client, error: unknown, waitedMs = 0): StartError {
  const waited = waitedMs >= TRY_EVERY_MS ? `, waited ${Math.round(waitedMs / 1000)} s` : '';
  return new StartError(`cannot use the PostgreSQL database at ${nameOf(client)}: ${errorText(error)}${waited}`);
}
