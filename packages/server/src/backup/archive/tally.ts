import { createHash, type Hash } from 'node:crypto';
import type { ContentPart, TableSum } from './parts.ts';

interface OpenTable {
  readonly name: string;
  readonly columns: number;
  readonly hash: Hash;
  rows: number;
}

/** Counts and sums what goes by, for who writes and who reads. What is out of order is an error that says so. */
export class Tally {
  readonly #sums: TableSum[] = [];
  readonly #names = new Set<string>();
  #table: OpenTable | undefined;
  #state: 'start' | 'tables' | 'keys' | 'end' = 'start';
  #rows = 0;

  get rows(): number {
    return this.#rows;
  }

  get hasKeys(): boolean {
    return this.#state === 'keys';
  }

  /** A part and the line that it is in the archive. */
  add(part: ContentPart, line: Uint8Array): void {
    if (part.part === 'header') this.#move('start', 'tables', 'header');
    else if (part.part === 'keys') this.#move('tables', 'keys', 'key ring');
    else this.#addToTable(part, line);
  }

  #addToTable(part: Exclude<ContentPart, { readonly part: 'header' | 'keys' }>, line: Uint8Array): void {
    if (this.#state !== 'tables') throw new Error(`there is a part "${part.part}" out of place`);
    if (part.part === 'table') {
      if (this.#names.has(part.name)) throw new Error(`the table ${part.name} is there twice`);
      this.#closeTable();
      this.#names.add(part.name);
      this.#table = { name: part.name, columns: part.columns.length, hash: createHash('sha256'), rows: 0 };
      this.#table.hash.update(line);
      return;
    }
    const table = this.#table;
    if (table === undefined) throw new Error('there are rows outside a table');
    if (!part.rows.every(({ length }) => length === table.columns))
      throw new Error(`a row of the table ${table.name} has not as many values as there are columns`);
    table.hash.update(line);
    table.rows += part.rows.length;
    this.#rows += part.rows.length;
  }

  /** What there was, once there is nothing more. */
  end(): TableSum[] {
    if (this.#state !== 'tables' && this.#state !== 'keys') throw new Error('the end is out of place');
    this.#closeTable();
    this.#state = 'end';
    return this.#sums;
  }

  #move(from: 'start' | 'tables', to: 'tables' | 'keys', what: string): void {
    if (this.#state !== from) throw new Error(`the ${what} is out of place`);
    this.#closeTable();
    this.#state = to;
  }

  #closeTable(): void {
    if (this.#table === undefined) return;
    const { name, rows, hash } = this.#table;
    this.#sums.push({ name, rows, sha256: hash.digest('hex') });
    this.#table = undefined;
  }
}
