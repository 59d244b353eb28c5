import type pg from 'pg';
import type { ArchiveRow, ArchiveValue } from '../../backup/archive/parts.ts';
import { type Execute, kyselyOver } from '../../storage/connection-dialect.ts';
import { flavour } from '../../storage/postgres.ts';
import type { RawTables } from './raw-tables.ts';

/** So that one statement stays small, whatever a row holds. */
const STATEMENT_BYTES_MAX = 4 * 1024 * 1024;
const ROWS_MAX = 2000;
/** Half of all numbers that there are. */
const NUMBER_MAX = '4611686018427387904';

/** The tables of a schema that is filled over one session, which searches that schema alone. */
export class PostgresTables implements RawTables {
  readonly kind = 'postgres';
  readonly db;
  readonly #client: pg.Client;
  readonly #types = new Map<string, ReadonlyMap<string, string>>();

  constructor(client: pg.Client) {
    this.#client = client;
    const execute: Execute = async (text, values) => {
      const { rows, rowCount } = await client.query(text, [...values]);
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
    };
    this.db = kyselyOver('postgres', flavour, execute);
  }

  /** Here a default numbers rows that say no number, and triggers see updates alone. */
  async still(): Promise<void> {}

  /** New rows are numbered behind those that came in: otherwise new deliveries of webhooks would overtake those that wait. */
  async settle(): Promise<void> {
    const { rows } = await this.#client.query<{ table: string; column: string; sequence: string }>(
      `SELECT * FROM (SELECT relname::text AS table, attname::text AS column,
         pg_get_serial_sequence(quote_ident(relname), attname) AS sequence
       FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
       WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')) AS numbered
       WHERE sequence IS NOT NULL`,
    );
    // A number that somebody else wrote at the end of all numbers would leave none.
    for (const { table, column, sequence } of rows)
      await this.#client.query(
        `SELECT setval($1::regclass, coalesce(max(${quoted(column)}) FILTER (WHERE ${quoted(column)} < ${NUMBER_MAX}), 0) + 1, false)
         FROM ${quoted(table)}`,
        [sequence],
      );
  }

  async insert(table: string, columns: readonly string[], rows: readonly ArchiveRow[]): Promise<void> {
    const types = await this.#typesOf(table);
    const arrays = columns.map((column, index) => `$${index + 1}::${types.get(column) ?? 'text'}[]`);
    const text = `INSERT INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) SELECT * FROM unnest(${arrays.join(', ')})`;
    for (const some of portionsOf(rows)) {
      const values = columns.map((_, index) => some.map((row) => toPostgres(row[index] ?? null)));
      await this.#client.query(text, values);
    }
  }

  async #typesOf(table: string): Promise<ReadonlyMap<string, string>> {
    let types = this.#types.get(table);
    if (types === undefined) {
      const { rows } = await this.#client.query<{ name: string; type: string }>(
        `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
         WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
        [quoted(table)],
      );
      types = new Map(rows.map(({ name, type }) => [name, type]));
      this.#types.set(table, types);
    }
    return types;
  }
}

function* portionsOf(rows: readonly ArchiveRow[]): Generator<ArchiveRow[]> {
  let portion: ArchiveRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    portion.push(row);
    for (const value of row) bytes += sizeOf(value);
    if (bytes < STATEMENT_BYTES_MAX && portion.length < ROWS_MAX) continue;
    yield portion;
    portion = [];
    bytes = 0;
  }
  if (portion.length > 0) yield portion;
}

const sizeOf = (value: ArchiveValue): number =>
  typeof value === 'string' ? value.length : value instanceof Uint8Array ? 2 * value.length : 8;

/** Integers as text: the driver writes large numbers with an exponent. */
function toPostgres(value: ArchiveValue): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
