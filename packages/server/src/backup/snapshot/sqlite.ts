import { StartError } from '../../lib/start-error.ts';
import type { AppliedMigration } from '../../storage/migrate.ts';
import { SqliteFile, type SqliteStatement, sqliteErrorName } from '../../storage/sqlite-driver.ts';
import type { ArchiveRow } from '../archive/parts.ts';
import { BATCH_BYTES, BATCH_ROWS, bytesOf, type Snapshot } from './snapshot.ts';

/** A read never waits for those who write; another program may hold the whole file. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * One transaction on a connection of its own that only reads. What is committed later goes to the log, which keeps what this
 * one reads until it has ended.
 */
export function openSqliteSnapshot(file: string): Snapshot {
  let db: SqliteFile | undefined;
  try {
    db = new SqliteFile(file, { isReadOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS });
    db.exec('BEGIN');
    // The first read takes the snapshot.
    const migrations = db.prepare('SELECT * FROM schema_migration ORDER BY name').all();
    return new SqliteSnapshot(db, file, migrations as unknown as AppliedMigration[]);
  } catch (error) {
    db?.close();
    throw explain(file, error);
  }
}

class SqliteSnapshot implements Snapshot {
  readonly kind = 'sqlite';
  readonly atMs = Date.now();
  readonly position = undefined;
  readonly migrations;
  readonly #db: SqliteFile;
  readonly #file: string;

  constructor(db: SqliteFile, file: string, migrations: readonly AppliedMigration[]) {
    this.#db = db;
    this.#file = file;
    this.migrations = migrations;
  }

  async columnsOf(table: string): Promise<readonly string[]> {
    // A view would answer too.
    const known = this.#prepare("SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?").get(table);
    if (known === undefined) throw new StartError(`the database ${this.#file} has no table ${table}: it is damaged`);
    return this.#prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid')
      .all(table)
      .map(({ name }) => String(name));
  }

  async *rows(table: string, columns: readonly string[]): AsyncGenerator<ArchiveRow[], void, undefined> {
    const names = columns.map((column) => `"${column}"`).join(', ');
    let batch: ArchiveRow[] = [];
    let bytes = 0;
    const rows = this.#prepare(`SELECT ${names} FROM main."${table}"`).iterate() as Iterator<ArchiveRow>;
    try {
      for (let next = this.#next(rows); next.done !== true; next = this.#next(rows)) {
        batch.push(next.value);
        for (const value of next.value) bytes += bytesOf(value);
        if (bytes < BATCH_BYTES && batch.length < BATCH_ROWS) continue;
        yield batch;
        batch = [];
        bytes = 0;
      }
      if (batch.length > 0) yield batch;
    } finally {
      rows.return?.();
    }
  }

  /**
   * What was committed meanwhile is then moved from the log into the database file, as far as nobody waits for that. The log
   * could not be moved before, and otherwise the next commit of the service would do it, with everybody waiting.
   */
  async close(): Promise<void> {
    let mover: SqliteFile | undefined;
    try {
      mover = new SqliteFile(this.#file, { busyTimeoutMs: 0 });
      // The log is opened with the first read.
      mover.exec('PRAGMA synchronous = NORMAL; SELECT 1 FROM sqlite_master');
      const move = mover.prepare('PRAGMA wal_checkpoint(PASSIVE)');
      this.#db.close();
      move.all();
    } catch {
      // A log that stays as it is does no harm.
    } finally {
      this.#db.close();
      mover?.close();
    }
  }

  #prepare(sql: string): SqliteStatement {
    try {
      return this.#db.prepare(sql);
    } catch (error) {
      throw explain(this.#file, error);
    }
  }

  #next(rows: Iterator<ArchiveRow>): IteratorResult<ArchiveRow> {
    try {
      return rows.next();
    } catch (error) {
      throw explain(this.#file, error);
    }
  }
}

function explain(file: string, error: unknown): unknown {
  const name = sqliteErrorName(error);
  if (name === undefined) return error;
  const advice =
    name === 'busy' || name === 'locked'
      ? 'another program holds it, so end that one and run this again'
      : 'see `custos verify`, and make sure that the disk is well';
  return new StartError(`cannot read the database ${file}: ${(error as Error).message}: ${advice}`);
}
