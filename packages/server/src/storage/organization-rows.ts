import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { chunks } from '../lib/collections.ts';
import type { OrganizationId } from '../lib/ids.ts';
import type { Page, PageRequest } from '../lib/pagination.ts';
import { bytesOf } from './bytes-of.ts';
import { fetchPage, type Range, type RowSize } from './keyset.ts';
import type { Schema } from './schema.ts';
import { isTombstone } from './tombstones.ts';

/** Tables whose rows belong to one organization and are listed by id. */
type ListedTable = {
  [Name in keyof Schema]: Schema[Name] extends { organization_id: string; id: string } ? Name : never;
}[keyof Schema];

interface SizedOptions<Name extends ListedTable> {
  /** Columns that may hold more than a name or two; the list looks at their sizes first, and reads a few rows at a time. */
  readonly large: readonly (keyof Schema[Name] & string)[];
  /** Whether the answer has next to nothing of each row, so that the bytes of all together need no bound. */
  readonly isUnbounded?: true;
}

type ListOptions<Name extends ListedTable> = (
  | SizedOptions<Name>
  | { readonly large?: never; readonly isUnbounded?: never }
) & {
  /** The bytes of a row, where they are not those of its own columns alone. */
  readonly bytes?: RawBuilder<number>;
  readonly order?: 'asc' | 'desc';
  /** A further condition on the rows, though not on cursors: it starts with AND. */
  readonly filter?: RawBuilder<unknown>;
};

const NOTHING = sql``;

/** A row by its id, locked if a clause says so. */
export async function findRow<Name extends ListedTable>(
  db: Kysely<Schema>,
  table: Name,
  organizationId: OrganizationId,
  id: string,
  lock: RawBuilder<unknown> = NOTHING,
): Promise<Selectable<Schema[Name]> | undefined> {
  const { rows } = await sql<Selectable<Schema[Name]>>`SELECT * FROM ${sql.table(table)}
    WHERE organization_id = ${organizationId} AND id = ${id} ${lock}`.execute(db);
  return rows[0];
}

/** Tables whose rows have a name that somebody gave them. */
type NamedTable = {
  [Name in ListedTable]: Schema[Name] extends { name: string } ? Name : never;
}[ListedTable];

/** The names of those rows that are there, by id. */
export async function namesOfRows(
  db: Kysely<Schema>,
  table: NamedTable,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const some of chunks([...new Set(ids)])) {
    const { rows } = await sql<{ id: string; name: string }>`SELECT id, name FROM ${sql.table(table)}
      WHERE organization_id = ${organizationId} AND id IN (${sql.join(some)})`.execute(db);
    for (const { id, name } of rows) names.set(id, name);
  }
  return names;
}

/** One page of an organization's rows by id. */
export async function pageOfRows<Name extends ListedTable, Item extends { readonly id: string }>(
  db: Kysely<Schema>,
  table: Name,
  organizationId: OrganizationId,
  request: PageRequest,
  toItems: (rows: Selectable<Schema[Name]>[]) => Item[] | Promise<Item[]>,
  {
    order = 'asc',
    filter = NOTHING,
    large,
    bytes = large && bytesOf(table, large),
    isUnbounded,
  }: ListOptions<Name> = {},
): Promise<Page<Item>> {
  const rowsOf = async <Row>(columns: RawBuilder<unknown>, range: Range): Promise<Row[]> => {
    const { greaterThan, lessThan, order: direction, limit } = range;
    const { rows } = await sql<Row>`SELECT ${columns} FROM ${sql.table(table)}
      WHERE organization_id = ${organizationId} ${filter}
      ${greaterThan === undefined ? NOTHING : sql`AND id > ${greaterThan}`}
      ${lessThan === undefined ? NOTHING : sql`AND id < ${lessThan}`}
      ORDER BY id ${sql.raw(direction)} LIMIT ${limit}`.execute(db);
    return rows;
  };
  return await fetchPage(request, {
    order,
    owns: async (cursor) => {
      const { rows } = await sql`SELECT id FROM ${sql.table(table)}
        WHERE organization_id = ${organizationId} AND id = ${cursor}`.execute(db);
      return rows.length > 0 || (await isTombstone(db, organizationId, cursor));
    },
    fetch: async (range) => await toItems(await rowsOf(sql`*`, range)),
    isUnbounded,
    weigh: bytes && ((range) => rowsOf<RowSize>(sql`id, ${bytes} AS bytes`, range)),
  });
}
