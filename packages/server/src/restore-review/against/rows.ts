import { sql } from 'kysely';
import { MarkedRowReader } from '../../core/store/marked-rows.ts';
import type { ColumnInfo, MarkedTable } from '../../storage/integrity/marked-table.ts';
import type { Row } from '../../storage/integrity/row.ts';
import type { Storage } from '../../storage/storage.ts';

/** Behind a key, of one organization, or of a tree of them, or changed since a moment; all of them narrow it further. */
export interface RowWish {
  readonly after?: readonly unknown[] | undefined;
  readonly organizationId?: string | undefined;
  /** Of an organization and its sub-organizations. */
  readonly treeId?: string | undefined;
  readonly changedSinceMs?: number | undefined;
}

export interface StoredRow {
  readonly row: Row;
  /** Whether a service of this database wrote it; undefined where that cannot be told. */
  readonly isGenuine: boolean | undefined;
}

/** The rows of a database, as data: of this one, or of another that it is compared with. */
export interface Rows {
  /** Rows of a table in the order of its key; undefined where there is no such table. */
  page(table: MarkedTable, wish: RowWish, limit: number): Promise<readonly StoredRow[] | undefined>;
  close(): Promise<void>;
}

/** A database that is compared with this one. */
export interface OtherDatabase extends Rows {
  readonly name: string;
  /** Why nobody can tell whether its rows are genuine; undefined where that is told. */
  readonly doubt: string | undefined;
}

/** All rows of a table, a page at a time, so that there may be any number. */
export async function* allRows(
  rows: Rows,
  table: MarkedTable,
  wish: RowWish = {},
  size = 500,
): AsyncGenerator<StoredRow> {
  let after: readonly unknown[] | undefined;
  for (;;) {
    const page = await rows.page(table, { ...wish, after }, size);
    if (page === undefined) return;
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < size) return;
    after = table.key.map((column) => last.row[column]);
  }
}

/** The rows of the database that is reviewed. */
export const ownRows = (storage: Pick<Storage, 'read' | 'integrity'>): Rows => ({
  async page(table, { after, organizationId, treeId, changedSinceMs }, limit) {
    const terms = [
      ...(treeId === undefined || table.organization === undefined
        ? []
        : [
            sql`${sql.ref(table.organization)} IN (SELECT id FROM organization WHERE id = ${treeId} OR parent_id = ${treeId})`,
          ]),
      ...(organizationId === undefined || table.organization === undefined
        ? []
        : [sql`${sql.ref(table.organization)} = ${organizationId}`]),
      ...(changedSinceMs === undefined ? [] : [sql`updated_at_ms >= ${changedSinceMs}`]),
    ];
    const where = terms.length === 0 ? undefined : sql.join(terms, sql` AND `);
    const found = await storage
      .read(MarkedRowReader)
      .page(table, { after: after as readonly string[] | undefined, where }, limit);
    return found.map(({ row, mark }) => ({
      row,
      isGenuine: storage.integrity.verify(table, row, table.columns, mark),
    }));
  },
  close: async () => {},
});

/** One statement of a database that is only read; its values stand for question marks. */
export type Query = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

export type Verify = (table: MarkedTable, row: Row) => boolean | undefined;

/** The rows of another database. What it has beyond this one's tables and columns is left out. */
export function rowsThrough(query: Query, columns: readonly ColumnInfo[], verify: Verify): Pick<Rows, 'page'> {
  const known = new Map<string, Set<string>>();
  for (const { table, column } of columns) {
    const names = known.get(table) ?? new Set();
    known.set(table, names.add(column));
  }
  return {
    async page(table, { after, organizationId, treeId, changedSinceMs }, limit) {
      const names = known.get(table.name);
      if (names === undefined || !table.key.every((column) => names.has(column))) return undefined;
      const key = table.key.map(quoted).join(', ');
      const terms: string[] = [];
      const values: unknown[] = [];
      if (after !== undefined) {
        terms.push(`(${key}) > (${table.key.map(() => '?').join(', ')})`);
        values.push(...after);
      }
      if (organizationId !== undefined && table.organization !== undefined) {
        terms.push(`${quoted(table.organization)} = ?`);
        values.push(organizationId);
      }
      if (treeId !== undefined && table.organization !== undefined) {
        terms.push(`${quoted(table.organization)} IN (SELECT id FROM organization WHERE id = ? OR parent_id = ?)`);
        values.push(treeId, treeId);
      }
      if (changedSinceMs !== undefined && names.has('updated_at_ms')) {
        terms.push('updated_at_ms >= ?');
        values.push(changedSinceMs);
      }
      const where = terms.length === 0 ? '' : `WHERE ${terms.join(' AND ')}`;
      const rows = await query(`SELECT * FROM ${quoted(table.name)} ${where} ORDER BY ${key} LIMIT ${limit}`, values);
      return rows.map((row) => ({ row, isGenuine: verify(table, row) }));
    },
  };
}

/** Names are this program's own. */
const quoted = (name: string): string => `"${name}"`;
