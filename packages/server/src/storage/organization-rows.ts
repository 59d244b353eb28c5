import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import type { OrganizationId } from '../lib/ids.ts';
import type { Page, PageRequest } from '../lib/pagination.ts';
import { fetchPage } from './keyset.ts';
import type { Schema } from './schema.ts';
import { isTombstone } from './stores/tombstones.ts';

/** Tables whose rows belong to one organization and are listed by id. */
type ListedTable = {
  [Name in keyof Schema]: Schema[Name] extends { organization_id: string; id: string } ? Name : never;
}[keyof Schema];

interface ListOptions {
  readonly order?: 'asc' | 'desc';
  /** A further condition on the rows, though not on cursors: it starts with AND. */
  readonly filter?: RawBuilder<unknown>;
}

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

/** One page of an organization's rows by id. */
export async function pageOfRows<Name extends ListedTable, Item extends { readonly id: string }>(
  db: Kysely<Schema>,
  table: Name,
  organizationId: OrganizationId,
  request: PageRequest,
  toItems: (rows: Selectable<Schema[Name]>[]) => Item[] | Promise<Item[]>,
  { order = 'asc', filter = NOTHING }: ListOptions = {},
): Promise<Page<Item>> {
  const owns = async (cursor: string): Promise<boolean> => {
    const { rows } = await sql`SELECT id FROM ${sql.table(table)}
      WHERE organization_id = ${organizationId} AND id = ${cursor}`.execute(db);
    return rows.length > 0 || (await isTombstone(db, organizationId, cursor));
  };
  return await fetchPage(request, order, owns, async ({ greaterThan, lessThan, order: direction, limit }) => {
    const { rows } = await sql<Selectable<Schema[Name]>>`SELECT * FROM ${sql.table(table)}
      WHERE organization_id = ${organizationId} ${filter}
      ${greaterThan === undefined ? NOTHING : sql`AND id > ${greaterThan}`}
      ${lessThan === undefined ? NOTHING : sql`AND id < ${lessThan}`}
      ORDER BY id ${sql.raw(direction)} LIMIT ${limit}`.execute(db);
    return await toItems(rows);
  });
}
