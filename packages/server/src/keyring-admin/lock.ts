import type { Client } from 'pg';
import { StartError } from '../lib/start-error.ts';
import { isRunning } from './beside.ts';
import { connectPostgres, explain } from './postgres-session.ts';

/** Beside the number that migrations use. Numbers are per database, and so are the locks. */
const ROTATION_LOCK = 4_715_820_032;
const BACKUP_LOCK = 4_715_820_033;
/** The server may take a moment to notice that the process of an earlier run was killed. */
const TRIES_MAX = 10;
const TRY_EVERY_SECONDS = 0.05;

/** Keeps other runs of a command away from the deployment, on whichever machine. */
export interface RotationLock {
  /** Throws when the lock may be somebody else's by now. */
  requireHeld(): Promise<void>;
  release(): Promise<void>;
}

export const lockRotations = (databaseUrl: string | undefined): Promise<RotationLock> =>
  lockCommand(databaseUrl, ROTATION_LOCK, 'keyring rotate');

export const lockBackups = (databaseUrl: string | undefined): Promise<Pick<RotationLock, 'release'>> =>
  lockCommand(databaseUrl, BACKUP_LOCK, 'backup');

/** A lock of a session of its own: the server releases it with the connection, so that a killed run leaves none. */
async function lockCommand(databaseUrl: string | undefined, lock: number, command: string): Promise<RotationLock> {
  // The embedded database is opened with a lock file.
  if (databaseUrl === undefined) return { requireHeld: async () => {}, release: async () => {} };
  const client = await connectPostgres(databaseUrl);
  try {
    // A machine that lost its power says no goodbye: the server asks for it.
    await client.query('SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3');
    for (let tries = 1; !(await takes(client, lock)); tries += 1) {
      if (tries === TRIES_MAX) throw isRunning(command);
      await client.query('SELECT pg_sleep($1)', [TRY_EVERY_SECONDS]);
    }
  } catch (error) {
    await client.end().catch(() => {});
    throw error instanceof StartError ? error : explain(error);
  }
  return {
    // A client does not connect again, so that an answer comes from the session that has the lock.
    requireHeld: async () => {
      try {
        await client.query('SELECT 1');
      } catch {
        throw new StartError('the connection to the database was lost during the rotation: run the command again');
      }
    },
    release: async () => {
      await client.query('SELECT pg_advisory_unlock($1)', [lock]).catch(() => {});
      await client.end().catch(() => {});
    },
  };
}

async function takes(client: Client, lock: number): Promise<boolean> {
  return (await client.query('SELECT pg_try_advisory_lock($1) AS taken', [lock])).rows[0].taken;
}
