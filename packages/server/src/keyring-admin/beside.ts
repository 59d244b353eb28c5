import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { dataModel } from '../domains.ts';
import { ApiError } from '../lib/errors.ts';
import { StartError } from '../lib/start-error.ts';
import { MIGRATION_NAMES } from '../storage/migrate.ts';
import type { Storage } from '../storage/storage.ts';
import type { Stores } from '../storage/stores.ts';
import { connectPostgres, explain } from './postgres-session.ts';

const POOL = 4;
/** Nobody waits for an answer meanwhile, and some of it goes over whole tables. */
const TIMEOUT_MS = 60_000;
/** A service that is busy leaves the embedded database free again and again, if not always at once. */
const BUSY_MS_MAX = 60_000;
const BUSY_PAUSE_MS = 50;

/**
 * Opens the database of a service that may be running. It is taken as it is: its schema is changed by a start of the
 * service, never beside one. The embedded database has one command of a name at a time.
 */
export async function openBeside(
  config: Config,
  command: string,
  { opensWithoutLog = false }: { readonly opensWithoutLog?: boolean } = {},
): Promise<Storage> {
  const { databaseUrl, dataDir } = config;
  const nowMs = Date.now();
  if (databaseUrl !== undefined) {
    requireSchema('the PostgreSQL database', await postgresMigrations(databaseUrl));
    const { openPostgres } = await import('../storage/postgres.ts');
    return await openPostgres({
      dataModel,
      url: databaseUrl,
      poolSize: POOL,
      timeoutMs: TIMEOUT_MS,
      nowMs,
      onIdleError: () => {},
    });
  }
  const file = join(dataDir, 'custos.db');
  const lockFile = join(dataDir, commandLock(command));
  for (const path of [file, lockFile]) requireNoLink(path);
  // Before anything opens it, which would make the log that is missing.
  const { lacksLog, withoutLog } = await import('../storage/sqlite-open-mark.ts');
  if (!opensWithoutLog && lacksLog(file)) throw withoutLog(file);
  requireSchema(file, await sqliteMigrations(file));
  const { openSqlite } = await import('../storage/sqlite.ts');
  const serviceLockFile = join(dataDir, 'custos.lock');
  try {
    return await whileBusy(
      () => openSqlite({ dataModel, file, lockFile, serviceLockFile, opensWithoutLog, nowMs }),
      (error) => error instanceof StartError && /database is locked/.test(error.message),
    );
  } catch (error) {
    throw error instanceof StartError && error.message.endsWith(`(${lockFile} is locked)`) ? isRunning(command) : error;
  }
}

/**
 * The folder may belong to a user who is not trusted with what root may open: through a link root would write elsewhere. SQLite
 * itself follows none to the files that it makes beside a database.
 */
export function requireNoLink(path: string): void {
  if (process.getuid?.() !== 0) return;
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return;
  throw new StartError(`${path} is a link, which root does not follow here: run this as the user of the service`);
}

/** What the one run of a command locks beside the embedded database. */
export const commandLock = (command: string): string => `custos-${command.replaceAll(' ', '-')}.lock`;

export const isRunning = (command: string): StartError =>
  new StartError(`another \`custos ${command}\` is running on this database: wait until it has ended`);

/** Writes beside a service that writes too. */
export async function writeBeside<T>(storage: Storage, unit: (store: Stores) => Promise<T>): Promise<T> {
  return await whileBusy(
    () => storage.write(unit),
    (error) => error instanceof ApiError && error.code === 'UNAVAILABLE',
  );
}

async function whileBusy<T>(work: () => Promise<T>, isBusy: (error: unknown) => boolean): Promise<T> {
  const givesUpAtMs = performance.now() + BUSY_MS_MAX;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > givesUpAtMs) throw error;
    }
    await sleep(BUSY_PAUSE_MS);
  }
}

function requireSchema(what: string, applied: readonly string[] | undefined): void {
  if (applied === undefined) throw new StartError(`${what} holds no Custos service: start the service first`);
  const missing = MIGRATION_NAMES.filter((name) => !applied.includes(name));
  if (missing.length === 0) return;
  throw new StartError(`${what} is of an older version: start this version of the service first`);
}

async function sqliteMigrations(file: string): Promise<string[] | undefined> {
  if (!existsSync(file)) return undefined;
  const { SqliteFile } = await import('../storage/sqlite-driver.ts');
  try {
    using db = new SqliteFile(file, { isReadOnly: true });
    if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'schema_migration'").get() === undefined) return undefined;
    return db
      .prepare('SELECT name FROM schema_migration')
      .all()
      .map(({ name }) => name as string);
  } catch (error) {
    throw new StartError(`cannot use the database ${file}: ${(error as Error).message}`);
  }
}

async function postgresMigrations(url: string): Promise<string[] | undefined> {
  const client = await connectPostgres(url);
  try {
    const known = await client.query("SELECT to_regclass('schema_migration') AS table");
    if (known.rows[0].table === null) return undefined;
    return (await client.query('SELECT name FROM schema_migration')).rows.map((row) => row.name as string);
  } catch (error) {
    throw explain(error);
  } finally {
    await client.end().catch(() => {});
  }
}
