import { writeSync } from 'node:fs';
import type { Kysely } from 'kysely';
import { StartError } from '../lib/start-error.ts';
import { kyselyOver } from './connection-dialect.ts';
import { migrate } from './migrate.ts';
import type { Schema } from './schema.ts';
import { SqliteFile, sqliteErrorName } from './sqlite-driver.ts';
import { brokenColumns, executeInside, flavour } from './sqlite-execute.ts';
import { type LogFile, openLogFile } from './sqlite-log.ts';
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
  readonly dataModel: DataModel;
  readonly nowMs: number;
  /** What syncs the log of the database; tests bring one that fails. */
  readonly openLog?: ((databaseFile: string) => LogFile) | undefined;
  /** What happens when it could not be synced; by default the process ends. */
  readonly onLogFailure?: ((error: unknown) => void) | undefined;
}

export async function openSqlite(options: SqliteOptions): Promise<Storage> {
  const lock = takeLock(options.lockFile);
  let writer: SqliteFile | undefined;
  let reader: SqliteFile | undefined;
  let log: LogFile | undefined;
  try {
    writer = openFile(options.file);
    const rules = new UniqueRules(options.dataModel.tables);
    const db = kyselyOver(flavour, rules.over(executeInside(writer), brokenColumns));
    await migrateInside(writer, db, options.nowMs);
    reader = new SqliteFile(options.file, { isReadOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS });
    emptyLog(writer, options.file);
    log = openLog(options);
    const { dataModel, onLogFailure = endProcess } = options;
    return new SqliteStorage({ lock, writer, reader, db, log, dataModel, onLogFailure });
  } catch (error) {
    log?.close();
    reader?.close();
    writer?.close();
    lock.close();
    if (sqliteErrorName(error) === undefined) throw error;
    throw new StartError(`cannot use the database ${options.file}: ${(error as Error).message}`);
  }
}

/**
 * Whatever was committed is in the database file then, and synced. A log whose sync once failed may read well from the
 * system's memory and have a hole on the disk, behind which nothing would be found after a power cut.
 */
function emptyLog(writer: SqliteFile, file: string): void {
  const [done] = writer.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  if (done?.['busy'] === 0) return;
  throw new StartError(`cannot use the database ${file}: another program is reading it; end that one and start again`);
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

/** An exclusive transaction on a file of its own is a lock that the operating system releases even after kill -9. */
function takeLock(file: string): SqliteFile {
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

async function migrateInside(writer: SqliteFile, db: Kysely<Schema>, nowMs: number): Promise<void> {
  writer.exec('BEGIN IMMEDIATE');
  try {
    await migrate(db, 'sqlite', nowMs);
    writer.exec('COMMIT');
  } catch (error) {
    writer.exec('ROLLBACK');
    throw error;
  }
}
