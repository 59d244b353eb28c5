import type { RawBuilder } from 'kysely';
import type { Table } from '../table.ts';

/** A table whose rows carry a mark: a MAC over every column but those that are named as free. */
export interface MarkedTable {
  readonly name: string;
  /** The column that holds the mark. */
  readonly mark: string;
  /** What tells rows apart. */
  readonly key: readonly string[];
  /** The column with the organization by whose key rows are marked; undefined where rows belong to the installation. */
  readonly organization: string | undefined;
  /** What is marked, in alphabetical order. */
  readonly columns: readonly string[];
  /** The columns that the table has. */
  readonly all: readonly string[];
  /** Rows that are done with: those of before there were marks have none. */
  readonly done?: RawBuilder<unknown> | undefined;
}

/** Where the columns of all tables are known from: the database itself. */
export interface ColumnInfo {
  readonly table: string;
  readonly column: string;
  /** The place in the primary key, from 1; 0 or null outside of it. */
  readonly position: number | null;
}

export const markColumn = (table: string): string => `${table}_mac`;

/** The feed numbers changes by a trigger, after a row was marked. */
const FEED_COLUMN = 'changed_in';

/** The tables that say of themselves that their rows are authority, as the database has them. */
export function markedTables(
  tables: readonly Table[],
  columns: readonly ColumnInfo[],
): ReadonlyMap<string, MarkedTable> {
  const marked = new Map<string, MarkedTable>();
  for (const { name, integrity, followed, key: given = [] } of tables) {
    if (integrity.kind !== 'authority') continue;
    const own = columns.filter(({ table }) => table === name);
    const mark = markColumn(name);
    if (!own.some(({ column }) => column === mark))
      throw new Error(`${name} says that its rows carry authority, and has no column for marks`);
    const free = new Set<string>([mark, ...(followed ? [FEED_COLUMN] : []), ...Object.keys(integrity.free ?? {})]);
    const names = own.map(({ column }) => column).filter((column) => !free.has(column));
    const primary = own
      .filter(({ position }) => (position ?? 0) > 0)
      .sort((one, other) => (one.position ?? 0) - (other.position ?? 0));
    const key = given.length > 0 ? given : primary.map(({ column }) => column);
    // Without one, a row could not be told from its neighbours when it is written.
    if (key.length === 0) throw new Error(`rows of ${name} have no key`);
    marked.set(name, {
      name,
      mark,
      key,
      organization: organizationColumn(name, names),
      columns: names.sort(),
      all: own.map(({ column }) => column),
      done: integrity.done,
    });
  }
  return marked;
}

const organizationColumn = (table: string, columns: readonly string[]): string | undefined =>
  table === 'organization' ? 'id' : columns.find((column) => column === 'organization_id');
