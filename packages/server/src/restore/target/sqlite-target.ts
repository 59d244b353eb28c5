import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { commandLock, requireNoLink } from '../../keyring-admin/beside.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { StartError } from '../../lib/start-error.ts';
import { takeLock } from '../../storage/sqlite.ts';
import { SqliteFile, sqliteErrorName } from '../../storage/sqlite-driver.ts';
import { keptNames, keptPath } from '../../storage/sqlite-kept.ts';
import { lacksLog, markWhole } from '../../storage/sqlite-open-mark.ts';
import { giveToOwnerOf, SqlitePlace, syncPath } from '../place/sqlite-place.ts';
import { type Ask, backupsSince, type Described, describe, requireKnownTables, type StoredFact } from './present.ts';
import { type At, type Kept, stampOf, type Target } from './target.ts';

const BUSY_TIMEOUT_MS = 2000;
const COPY_BYTES = 1024 * 1024;

/**
 * The database file of a data directory, with the locks of a service and of commands about keys. One connection looks at it and holds it
 * to the end: statements of another one would keep that from having the file alone.
 */
export class SqliteTarget implements Target<SqlitePlace> {
  readonly name: string;
  readonly present: Described | undefined;
  readonly #old: SqliteFile | undefined;
  readonly #locks: readonly SqliteFile[];

  private constructor(file: string, old: Looked | undefined, locks: readonly SqliteFile[]) {
    this.name = file;
    this.present = old?.present;
    this.#old = old?.db;
    this.#locks = locks;
  }

  static async open(dataDir: string): Promise<SqliteTarget> {
    const file = join(dataDir, 'custos.db');
    const locks: SqliteFile[] = [];
    requireNoLink(file);
    try {
      locks.push(
        lockFor(
          dataDir,
          'custos-restore.lock',
          'another `custos restore` is running on this data directory: wait until it has ended',
        ),
      );
      locks.push(lockFor(dataDir, 'custos.lock', `a Custos service is running on ${dataDir}: stop it first`));
      // Nobody takes a key away that the backup needs: the database that is there may not know of it.
      locks.push(
        lockFor(
          dataDir,
          commandLock('keyring rotate'),
          'another command is changing the keys of this data directory: wait until it has ended',
        ),
      );
      forgetHalfDone(file);
      return new SqliteTarget(file, await look(file), locks);
    } catch (error) {
      for (const lock of locks) lock.close();
      throw error;
    }
  }

  async makePlace(): Promise<SqlitePlace> {
    return new SqlitePlace(`${this.name}.restoring`);
  }

  async backupsSince(sinceMs: number): Promise<readonly StoredFact[]> {
    return this.#old === undefined ? [] : await backupsSince(askOf(this.#old), sinceMs);
  }

  async swap(place: SqlitePlace, { discard, at }: { discard: boolean; at: At }): Promise<Kept | undefined> {
    const { name: file } = this;
    if (this.#old !== undefined) foldAndHold(this.#old, file);
    requireAlone(file);
    place.seal();
    await at('folded');
    const kept = this.#old === undefined ? undefined : keep(file);
    await at('kept');
    renameSync(place.file, file);
    await at('moved');
    syncPath(dirname(file));
    await at('swapped');
    if (kept === undefined) return undefined;
    if (!discard) return { place: kept, remove: `rm ${shellWord(kept)}`, against: shellWord(kept) };
    rmSync(kept);
    return undefined;
  }

  async release(): Promise<void> {
    if (this.#old?.isInTransaction) this.#old.exec('ROLLBACK');
    this.#old?.close();
    for (const lock of this.#locks) lock.close();
  }
}

/** A lock of a file, which the system releases with the process. */
function lockFor(dataDir: string, name: string, refusal: string): SqliteFile {
  const file = join(dataDir, name);
  requireNoLink(file);
  const isNew = !existsSync(file);
  try {
    const lock = takeLock(file);
    // Otherwise a restore by root would keep the service from its own lock.
    if (isNew) giveToOwnerOf(dataDir, file);
    return lock;
  } catch (error) {
    if (!(error instanceof StartError && error.message.endsWith('is locked)'))) throw error;
    throw new StartError(`${refusal}; nothing was changed`);
  }
}

/** A second name of the database is left where a restore was killed just before it exchanged the file. */
function forgetHalfDone(file: string): void {
  for (const kept of keptNames(file)) rmSync(kept);
}

interface Looked {
  readonly db: SqliteFile;
  readonly present: Described;
}

async function look(file: string): Promise<Looked | undefined> {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    requireAlone(file);
    return undefined;
  }
  const isLacking = lacksLog(file);
  let db: SqliteFile | undefined;
  try {
    db = new SqliteFile(file, { busyTimeoutMs: BUSY_TIMEOUT_MS });
    const ask: Ask = async (text) => db?.prepare(text).all() ?? [];
    if ((await ask("SELECT 1 FROM sqlite_master WHERE name = 'schema_migration'")).length === 0)
      throw new StartError(`${file} is not a Custos database: move it away first; nothing was changed`);
    await requireKnownTables(ask, file);
    // No service runs. Should this connection be the last, it removes the log of one that was killed.
    if (!isLacking) markWhole(db);
    return { db, present: await describe(ask) };
  } catch (error) {
    db?.close();
    if (error instanceof StartError) throw error;
    throw new StartError(
      `the database ${file} cannot be read (${(error as Error).message}): move it away, with the files ${file}-wal and ${file}-shm if they are there, and run this again; nothing was changed`,
    );
  }
}

const askOf =
  (db: SqliteFile): Ask =>
  async (text) =>
    db.prepare(text).all();

/**
 * Moves the log of the old database into it and removes it: it must not meet the new file, of which it would be taken for the
 * log. Nobody else has the file open from then on.
 */
function foldAndHold(old: SqliteFile, file: string): void {
  try {
    old.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  } catch (error) {
    const name = sqliteErrorName(error);
    if (name !== 'busy' && name !== 'locked') throw error;
    throw new StartError(
      `another program has the database ${file} open, as a command of Custos or sqlite3: end it, and run this again; nothing was changed`,
    );
  }
}

/** SQLite takes whatever stands there for a part of the database. */
function requireAlone(file: string): void {
  for (const suffix of ['-wal', '-journal']) {
    const left = `${file}${suffix}`;
    if (existsSync(left))
      throw new StartError(
        `${left} is there, and does not belong to what is to be restored: move it away first; nothing was changed`,
      );
  }
  rmSync(`${file}-shm`, { force: true });
}

/** Under a second name, so that the first is never without a database. */
function keep(file: string): string {
  const kept = keptPath(file, stampOf(Date.now()));
  try {
    linkSync(file, kept);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK'].includes(code)) throw error;
    copyHeld(file, kept);
    giveToOwnerOf(dirname(file), kept);
  }
  syncPath(dirname(file));
  return kept;
}

/** The file stays open: to close it would release the lock that this process has on it. */
function copyHeld(file: string, to: string): void {
  const from = openSync(file, 'r');
  const copy = openSync(to, 'wx', 0o600);
  try {
    const buffer = Buffer.alloc(COPY_BYTES);
    for (let length = readSync(from, buffer); length > 0; length = readSync(from, buffer))
      writeSync(copy, buffer, 0, length);
    fsyncSync(copy);
  } finally {
    closeSync(copy);
  }
}
