import type { MarkedTable } from './marked-table.ts';
import type { Row } from './row.ts';

/** Far more than one process reads again and again; some megabytes. */
const ROWS_MAX = 8192;
/** A row with longer values is read once or twice and would keep many others out. */
const LENGTH_MAX = 1024;

interface KnownRow {
  readonly table: MarkedTable;
  /** In the order of the table's columns. */
  readonly values: readonly unknown[];
}

/**
 * Rows by their marks, which were verified, or computed when the row was written. A row that is read again is compared with the
 * kept one, value by value, which costs a fraction of its mark. New rows are kept at once only if their set changes often: most
 * others are records that nobody reads again.
 */
export class KnownRows {
  readonly #rows = new Map<string, KnownRow>();

  /** Whether the row with this mark is known, and every value of this one is the same. */
  has(table: MarkedTable, row: Row, names: readonly string[], mark: string): boolean {
    const known = this.#rows.get(mark);
    // A mark that somebody copied to another table is not known there.
    if (known === undefined || known.table !== table) return false;
    const { values } = known;
    for (let index = 0; index < values.length; index += 1) {
      if (!isSame(values[index], row[names[index] as string])) return false;
    }
    return true;
  }

  keep(table: MarkedTable, row: Row, names: readonly string[], mark: string): void {
    const values: unknown[] = [];
    let length = 0;
    for (const name of names) {
      const value = row[name] ?? null;
      if (typeof value === 'string' || value instanceof Uint8Array) length += value.length;
      if (length > LENGTH_MAX) return;
      // Bytes may be wiped by those who read them, and must not be known as what they have become.
      values.push(value instanceof Uint8Array ? Buffer.from(value) : value);
    }
    this.#rows.set(mark, { table, values });
    for (const oldest of this.#rows.keys()) {
      if (this.#rows.size <= ROWS_MAX) break;
      this.#rows.delete(oldest);
    }
  }

  /** The row with this mark, which covers all columns of its table; undefined where it is not known. */
  get(table: MarkedTable, mark: string): Row | undefined {
    const known = this.#rows.get(mark);
    if (known === undefined || known.table !== table) return undefined;
    const { columns } = table;
    const row: Record<string, unknown> = {};
    known.values.forEach((value, index) => {
      row[columns[index] as string] = value instanceof Buffer ? Buffer.from(value) : value;
    });
    row[table.mark] = mark;
    return row;
  }

  /** Forgets a row that is being replaced; false where it was not known. */
  drop(mark: unknown): boolean {
    return typeof mark === 'string' && this.#rows.delete(mark);
  }
}

function isSame(known: unknown, value: unknown): boolean {
  if (known === value) return true;
  if (known === null) return value === undefined;
  return known instanceof Buffer && value instanceof Uint8Array && known.equals(value);
}
