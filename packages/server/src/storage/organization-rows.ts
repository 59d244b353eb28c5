import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { chunks } from '../lib/collections.ts';
import type { OrganizationId } from '../lib/ids.ts';
import type { Page, PageRequest } from '../lib/pagination.ts';
import { bytesOf } from './bytes-of.ts';
import { isMarked } from './integrity/amend.ts';
import { wholeRows } from './integrity/whole-rows.ts';
import { fetchPage, type Range, type RowSize } from './keyset.ts';
import type { Schema } from './schema.ts';
import { type Statement, unnamed } from './statement.ts';
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
  /** Tells of a few rows, more cheaply than by weighing each, whether they are not too many bytes. */
  readonly areSmall?: (rows: readonly Selectable<Schema[Name]>[]) => Promise<boolean>;
  /** A further condition on the rows, though not on cursors: it starts with AND. */
  readonly filter?: RawBuilder<unknown>;
};

const NOTHING = sql``;

interface RangeValues extends Record<string, unknown> {
  readonly organizationId: string;
  readonly greaterThan?: string | undefined;
  readonly lessThan?: string | undefined;
  readonly limit: number;
}
type RangeStatement = Statement<RangeValues, unknown>;

/** A range of a table's rows, all of their columns or their sizes. */
const rangeOf = (table: string, columns: RawBuilder<unknown>, filter: RawBuilder<unknown>, range: RangeShape) => {
  const { organizationId, greaterThan, lessThan, limit } = range.values;
  return sql`SELECT ${columns} FROM ${sql.table(table)}
    WHERE organization_id = ${organizationId} ${filter}
    ${range.hasLower ? sql`AND id > ${greaterThan}` : NOTHING}
    ${range.hasUpper ? sql`AND id < ${lessThan}` : NOTHING}
    ORDER BY id ${sql.raw(range.order)} LIMIT ${limit}`;
};

const nameOf = ({ order, hasLower, hasUpper }: Omit<RangeShape, 'values'>): string =>
  `${order}${hasLower ? ' after' : ''}${hasUpper ? ' before' : ''}`;

interface RangeShape {
  readonly order: 'asc' | 'desc';
  readonly hasLower: boolean;
  readonly hasUpper: boolean;
  readonly values: RangeValues;
}

/** Statements of lists without a condition of their own, by what they select. */
const rangeStatements = new WeakMap<RawBuilder<unknown>, Map<string, RangeStatement>>();
const ALL_COLUMNS = sql`*`;

function rangeStatement(table: string, columns: RawBuilder<unknown>, shape: Omit<RangeShape, 'values'>) {
  let known = rangeStatements.get(columns);
  if (known === undefined) {
    known = new Map();
    rangeStatements.set(columns, known);
  }
  const key = `${table} ${nameOf(shape)}`;
  let found = known.get(key);
  if (found === undefined) {
    found = unnamed((_db, values: RangeValues) => rangeOf(table, columns, NOTHING, { ...shape, values }));
    known.set(key, found);
  }
  return found;
}

const pageStatements = new Map<string, RangeStatement>();
/** The same for whole rows that have marks. */
function pageStatement(table: keyof Schema & string, shape: Omit<RangeShape, 'values'>): RangeStatement {
  const key = `${table} ${nameOf(shape)}`;
  let found = pageStatements.get(key);
  if (found === undefined) {
    found = wholeRows(`${table}-page`, table, (_db, columns, values: RangeValues) =>
      rangeOf(table, columns, NOTHING, { ...shape, values }),
    );
    pageStatements.set(key, found);
  }
  return found;
}

const sizes = new WeakMap<RawBuilder<number>, RawBuilder<unknown>>();
/** The same for the same expression, so that its statements are made once. */
function sizesBy(bytes: RawBuilder<number>): RawBuilder<unknown> {
  let columns = sizes.get(bytes);
  if (columns === undefined) {
    columns = sql`/* partial: sizes */ id, ${bytes} AS bytes`;
    sizes.set(bytes, columns);
  }
  return columns;
}

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
    const { rows } = await sql<{
      id: string;
      name: string;
    }>`SELECT /* partial: names to be shown */ id, name FROM ${sql.table(table)}
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
    areSmall,
  }: ListOptions<Name> = {},
): Promise<Page<Item>> {
  const rowsOf = async <Row>(columns: RawBuilder<unknown>, range: Range): Promise<Row[]> => {
    const { greaterThan, lessThan, order: direction, limit } = range;
    const shape = { order: direction, hasLower: greaterThan !== undefined, hasUpper: lessThan !== undefined };
    const values = { organizationId, greaterThan, lessThan, limit };
    const isWhole = columns === ALL_COLUMNS && isMarked(db, table);
    if (filter === NOTHING && isWhole) return (await pageStatement(table, shape)(db, values)) as Row[];
    if (filter === NOTHING) return (await rangeStatement(table, columns, shape)(db, values)) as Row[];
    return (await rangeOf(table, columns, filter, { ...shape, values }).execute(db)).rows as Row[];
  };
  const fetchFew = async (range: Range, isPage: (count: number) => boolean): Promise<Item[] | undefined> => {
    const rows = await rowsOf<Selectable<Schema[Name]>>(ALL_COLUMNS, range);
    return isPage(rows.length) && (await areSmall?.(rows)) ? await toItems(rows) : undefined;
  };
  return await fetchPage(request, {
    order,
    owns: async (cursor) => {
      const { rows } = await sql`SELECT /* partial: a cursor */ id FROM ${sql.table(table)}
        WHERE organization_id = ${organizationId} AND id = ${cursor}`.execute(db);
      return rows.length > 0 || (await isTombstone(db, organizationId, cursor));
    },
    fetch: async (range) => await toItems(await rowsOf(ALL_COLUMNS, range)),
    isUnbounded,
    fetchFew: areSmall && fetchFew,
    weigh: bytes && ((range) => rowsOf<RowSize>(sizesBy(bytes), range)),
  });
}
