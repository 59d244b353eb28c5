import { existsSync, writeSync } from 'node:fs';
import type { Kysely } from 'kysely';
import { StartError } from '../lib/start-error.ts';
import { kyselyOver } from './connection-dialect.ts';
import { columnsOf } from './integrity/columns.ts';
import { Integrity } from './integrity/integrity.ts';
import { migrate } from './migrate.ts';
import type { Schema } from './schema.ts';
import { SqliteFile, sqliteErrorName } from './sqlite-driver.ts';
import { brokenColumns, executeInside, flavour } from './sqlite-execute.ts';
import { type LogFile, openLogFile, rewriteLogFile } from './sqlite-log.ts';
import { lacksLog, markLacking, markOpen, markWhole, withoutLog } from './sqlite-open-mark.ts';
import { SqliteStorage } from './sqlite-storage.ts';
import type { Storage } from './storage.ts';
import type { DataModel } from './stores.ts';
import { UniqueRules } from './unique.ts';

/** Nothing of ours competes for the file; a foreign tool that holds it must not hold the service. */
const BUSY_TIMEOUT_MS = 250;
/** How much the log holds before SQLite moves it into the database file, which takes some milliseconds: 16 MiB. */
const LOG_PAGES = 4000;

export interface SqliteOptions {
  readonly file: string;
  /** A file that is locked while the database is open, so that two services cannot share one data directory. */
  readonly lockFile: string;
  /** Of a command: what a service locks, which then takes care of the log itself. */
  readonly serviceLockFile?: string;
  /** Whether a file that lacks its log is opened all the same; it goes on saying so. */
  readonly opensWithoutLog?: boolean;
  readonly dataModel: DataModel;
  readonly nowMs: number;
  /** What syncs the log of the database; tests bring one that fails. */
  readonly openLog?: ((databaseFile: string) => LogFile) | undefined;
  /** What happens when it could not be synced; by default the process ends. */
  readonly onLogFailure?: ((error: unknown) => void) | undefined;
}

export async function openSqlite(options: SqliteOptions): Promise<Storage> {
  const { file, serviceLockFile } = options;
  const lock = takeLock(options.lockFile);
  let writer: SqliteFile | undefined;
  let reader: SqliteFile | undefined;
  let log: LogFile | undefined;
  try {
    const isLacking = lacksLog(file);
    if (isLacking && options.opensWithoutLog !== true) throw withoutLog(file);
    writer = openFile(file);
    if (isLacking) markLacking(writer);
    // The log of a process that was killed is emptied below, and a kill between there and the next mark must not look like a loss.
    else if (serviceLockFile === undefined) markWhole(writer);
    const { tables } = options.dataModel;
    const rules = new UniqueRules(tables);
    const execute = rules.over(executeInside(writer), brokenColumns);
    const integrity = new Integrity(tables);
    const plain = kyselyOver('sqlite', flavour, execute);
    await migrateInside(writer, plain, options, async () => integrity.knowColumns(await columnsOf(plain, 'sqlite')));
    const db = kyselyOver('sqlite', flavour, execute, { integrity });
    reader = new SqliteFile(file, { isReadOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS });
    if (serviceLockFile === undefined) storeLog(writer, file, 'TRUNCATE');
    else if (!isLocked(serviceLockFile)) storeLog(writer, file, 'PASSIVE');
    log = openLog(options);
    if (serviceLockFile === undefined && !isLacking) markOpen(writer);
    const { dataModel, onLogFailure = endProcess } = options;
    const foldLog = folding(writer, serviceLockFile);
    return new SqliteStorage({ lock, writer, reader, db, log, dataModel, integrity, onLogFailure, foldLog });
  } catch (error) {
    log?.close();
    reader?.close();
    writer?.close();
    lock.close();
    if (sqliteErrorName(error) === undefined) throw error;
    throw new StartError(`cannot use the database ${file}: ${(error as Error).message}`);
  }
}

/**
 * Whatever was committed is in the database file then, or in the log, and synced. A log whose sync once failed may read well from the
 * system's memory and have a hole on the disk, behind which nothing would be found after a power cut. A command leaves the log as
 * long as it is: the database of a service that was killed has one that is not empty.
 */
function storeLog(writer: SqliteFile, file: string, how: 'TRUNCATE' | 'PASSIVE'): void {
  const [done] = writer.prepare(`PRAGMA wal_checkpoint(${how})`).all();
  if (done?.['busy'] === 0 && done['log'] === done['checkpointed']) return;
  // Somebody reads what only the log has, as a backup does: it stays, and is written anew where it is.
  writer.exec('BEGIN IMMEDIATE');
  try {
    rewriteLogFile(file);
  } catch (error) {
    throw new StartError(`cannot use the database ${file}: its log cannot be written: ${(error as Error).message}`);
  } finally {
    writer.exec('ROLLBACK');
  }
}

function openLog({ file, openLog: open = openLogFile }: SqliteOptions): LogFile {
  try {
    return open(file);
  } catch (error) {
    throw new StartError(`cannot open the log of the database ${file}: ${(error as Error).message}`);
  }
}

/**
 * Without closing anything: to close the database would move the log into it, and nobody knows which parts of the log the
 * system still has (docs/decisions/0002).
 */
function endProcess(error: unknown): void {
  writeSync(
    2,
    `custos: the disk did not store the log of the database (${(error as Error).message}); the service ends\n`,
  );
  process.kill(process.pid, 'SIGKILL');
}

/**
 * Moves the write-ahead log into the database file. SQLite does so when the last connection closes, but statements that
 * the driver has not collected yet put that off until the process has ended. A copy of this file alone would miss rows.
 *
 * The last connection removes the log, so the file must say before that it is whole. A command does that for a service that
 * was killed, while no other can start; the log of one that runs stays as it is.
 */
function folding(writer: SqliteFile, serviceLockFile: string | undefined): () => void {
  const fold = (): void => {
    markWhole(writer);
    writer.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  };
  return () => {
    let lock: SqliteFile | undefined;
    try {
      // A folder without that file has seen no service.
      if (serviceLockFile !== undefined && existsSync(serviceLockFile)) lock = takeLock(serviceLockFile);
      fold();
    } catch {
      // The log is durable where it is; the next start reads it.
    } finally {
      lock?.close();
    }
  };
}

/** An exclusive transaction on a file of its own is a lock that the operating system releases even after kill -9. */
export function takeLock(file: string): SqliteFile {
  let lock: SqliteFile | undefined;
  try {
    lock = new SqliteFile(file, { busyTimeoutMs: 0 });
    lock.exec('PRAGMA journal_mode = DELETE');
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (sqliteErrorName(error) === 'busy') {
      throw new StartError(`the data directory is in use by another Custos process (${file} is locked)`);
    }
    throw new StartError(`cannot lock the data directory: ${file}: ${(error as Error).message}`);
  }
}

/** Whether a service is running. Emptying the log beside one would have its commits wait for whoever reads it. */
function isLocked(file: string): boolean {
  try {
    using probe = new SqliteFile(file, { isReadOnly: true, busyTimeoutMs: 0 });
    probe.prepare('SELECT 1 FROM sqlite_master').all();
    return false;
  } catch (error) {
    return sqliteErrorName(error) === 'busy';
  }
}

function openFile(file: string): SqliteFile {
  try {
    const db = new SqliteFile(file, { busyTimeoutMs: BUSY_TIMEOUT_MS });
    // NORMAL syncs the log only before it is moved into the database file; what is acknowledged, `DurableLog` has synced
    // before. What a savepoint could undo is noted in memory, and not in files that would be written and deleted beside
    // the database.
    db.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = ${LOG_PAGES};
       PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY`,
    );
    return db;
  } catch (error) {
    throw new StartError(`cannot open the database ${file}: ${(error as Error).message}`);
  }
}

async function migrateInside(
  writer: SqliteFile,
  db: Kysely<Schema>,
  { nowMs, serviceLockFile }: SqliteOptions,
  then: () => Promise<void>,
): Promise<void> {
  // A command finds the schema as it has to be, so that nothing is written; a service beside it does not wait.
  writer.exec(serviceLockFile === undefined ? 'BEGIN IMMEDIATE' : 'BEGIN');
  try {
    await migrate(db, 'sqlite', nowMs);
    await then();
    writer.exec('COMMIT');
  } catch (error) {
    writer.exec('ROLLBACK');
    throw error;
  }
}
