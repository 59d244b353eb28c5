import { pathToFileURL } from 'node:url';
import { DatabaseSync } from '@photostructure/sqlite';

// The package has the interface of `node:sqlite`, which Node 20 lacks. Nothing else imports it, so that `node:sqlite`
// or a later version can take its place here (docs/decisions/0043).

export interface SqliteFileOptions {
  readonly isReadOnly?: boolean;
  /** Reads the file as it is on the disk, without its log, without a lock and without making anything beside it. */
  readonly isImmutable?: boolean;
  /** How long a statement waits for another program that holds the file. */
  readonly busyTimeoutMs?: number;
}

const BUSY_TIMEOUT_MS = 5000;

/** What SQLite says of its errors in the low byte of their code. */
const ERROR_NAMES: ReadonlyMap<number, SqliteErrorName> = new Map([
  [5, 'busy'],
  [6, 'locked'],
  [8, 'read-only'],
  [10, 'input-output'],
  [13, 'full'],
  [14, 'cannot-open'],
  [15, 'protocol'],
]);
const CONSTRAINT_UNIQUE = 2067;
const CONSTRAINT_PRIMARY_KEY = 1555;

export type SqliteErrorName =
  | 'busy'
  | 'locked'
  | 'read-only'
  | 'input-output'
  | 'full'
  | 'cannot-open'
  | 'protocol'
  | 'unique'
  | 'other';

/** What kind of error of SQLite this is; undefined for an error of something else. */
export function sqliteErrorName(error: unknown): SqliteErrorName | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  const { errcode } = error;
  if (errcode === CONSTRAINT_UNIQUE || errcode === CONSTRAINT_PRIMARY_KEY) return 'unique';
  return ERROR_NAMES.get(errcode & 0xff) ?? 'other';
}

type Database = InstanceType<typeof DatabaseSync>;
type Statement = ReturnType<Database['prepare']>;
type Value = string | number | bigint | Uint8Array | null;
type Row = Record<string, unknown>;

/** Of a statement that changes rows and answers with them: it cannot be run once more because of its answer. */
const CHANGES = /\b(insert|update|delete|replace)\b/i;

/**
 * A prepared statement. Integers are numbers, and bytes are Buffers, as PostgreSQL's driver has them. An integer that no
 * number can hold was written by somebody else: it stays a bigint, because an error would withhold the other rows.
 */
export class SqliteStatement {
  #prepared: Statement | undefined;
  readonly #changes: boolean;
  /** Empty for a statement that answers with no rows. */
  readonly columns: readonly string[];

  constructor(statement: Statement, sql: string) {
    this.#prepared = statement;
    this.#changes = CHANGES.test(sql);
    this.columns = statement.columns().map(({ name }) => name);
    statement.setReturnArrays(true);
  }

  get #statement(): Statement {
    if (this.#prepared === undefined) throw new Error('the database of this statement is closed');
    return this.#prepared;
  }

  /** The driver lets a closed file go only when all its statements have been collected as garbage, so nothing may hold them. */
  release(): void {
    this.#prepared = undefined;
  }

  /** The rows, or none. With the column names at hand, objects are built faster from arrays than by the driver. */
  all(...values: readonly unknown[]): Row[] {
    return this.arrays(...values).map((row) => toRow(this.columns, row));
  }

  arrays(...values: readonly unknown[]): unknown[][] {
    if (this.#changes) return this.#exactly(values);
    try {
      return this.#statement.all(...(values as Value[]));
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      return this.#exactly(values);
    }
  }

  /** Slower, because every integer is made twice. */
  #exactly(values: readonly unknown[]): unknown[][] {
    this.#statement.setReadBigInts(true);
    try {
      const rows: unknown[][] = this.#statement.all(...(values as Value[]));
      return rows.map((row) => row.map(toNumber));
    } finally {
      this.#statement.setReadBigInts(false);
    }
  }

  get(...values: readonly unknown[]): Row | undefined {
    return this.all(...values)[0];
  }

  /** Row by row, as the file is read, with every integer as it is. While it lasts the statement serves nobody else. */
  *iterate(...values: readonly unknown[]): Generator<unknown[], void, undefined> {
    this.#statement.setReadBigInts(true);
    try {
      for (const row of this.#statement.iterate(...(values as Value[])) as Iterable<unknown[]>) yield row.map(toNumber);
    } finally {
      this.#statement.setReadBigInts(false);
    }
  }

  /** How many rows were changed. */
  run(...values: readonly unknown[]): number {
    return Number(this.#statement.run(...(values as Value[])).changes);
  }
}

const toNumber = (value: unknown): unknown =>
  typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value;

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('Value is too large to be represented');

function toRow(columns: readonly string[], values: readonly unknown[]): Row {
  const row: Row = {};
  for (let index = 0; index < columns.length; index += 1) {
    const value = values[index];
    row[columns[index] as string] = value instanceof Uint8Array ? bufferOver(value) : value;
  }
  return row;
}

const bufferOver = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

function immutable(file: string): URL {
  const url = pathToFileURL(file);
  url.searchParams.set('immutable', '1');
  return url;
}

/** The statements of a file, which are collected as before while it is open. */
class ReleasedTogether {
  readonly #references = new Set<WeakRef<SqliteStatement>>();
  #sweepAt = 100;

  add(statement: SqliteStatement): void {
    this.#references.add(new WeakRef(statement));
    if (this.#references.size < this.#sweepAt) return;
    for (const reference of this.#references) if (reference.deref() === undefined) this.#references.delete(reference);
    this.#sweepAt = 2 * this.#references.size + 100;
  }

  release(): void {
    for (const reference of this.#references) reference.deref()?.release();
    this.#references.clear();
  }
}

/** An open database file. */
export class SqliteFile implements Disposable {
  readonly #database: Database;
  readonly #statements = new ReleasedTogether();

  constructor(
    file: string,
    { isReadOnly = false, isImmutable = false, busyTimeoutMs = BUSY_TIMEOUT_MS }: SqliteFileOptions = {},
  ) {
    this.#database = new DatabaseSync(isImmutable ? immutable(file) : file, {
      readOnly: isReadOnly || isImmutable,
      timeout: busyTimeoutMs,
      enableForeignKeyConstraints: false,
    });
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** A function that statements and triggers of this connection can call. */
  define(name: string, call: (value: unknown) => string | number | null): void {
    this.#database.function(name, call);
  }

  prepare(sql: string): SqliteStatement {
    const statement = new SqliteStatement(this.#database.prepare(sql), sql);
    this.#statements.add(statement);
    return statement;
  }

  close(): void {
    this.#statements.release();
    if (this.#database.isOpen) this.#database.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
