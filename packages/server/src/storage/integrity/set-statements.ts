import { type Kysely, type RawBuilder, sql } from 'kysely';
import { driverOf } from '../connection-dialect.ts';
import type { Schema } from '../schema.ts';
import { type QuickStatement, quickStatement } from '../statement.ts';
import { markColumn } from './marked-table.ts';
import type { Row } from './row.ts';
import { OWNER_ID, type RowSet, type SetMark } from './sets.ts';

/** Owners of one organization; an organization that owns is the only one. */
interface Owners extends Record<string, unknown> {
  readonly organizationId: string;
  /** A JSON list, so that the statements are the same for any number of them. */
  readonly ids: string;
}

export const ownersOf = (keys: readonly (readonly string[])[]): Owners => ({
  organizationId: String(keys[0]?.[0]),
  ids: JSON.stringify(keys.map((key) => key.at(-1))),
});

/** A list that travels as JSON. */
export const listed = (db: Kysely<Schema>, ids: string): RawBuilder<unknown> =>
  driverOf(db).kind === 'postgres'
    ? sql`SELECT json_array_elements_text(CAST(${ids} AS json))`
    : sql`SELECT value FROM json_each(${ids})`;

/** They are as many as there are sets. */
function made<Values extends Record<string, unknown>, Found>(
  build: (set: RowSet) => QuickStatement<Values, Found>,
): (set: RowSet) => QuickStatement<Values, Found> {
  const known = new Map<string, QuickStatement<Values, Found>>();
  return (set) => {
    const name = `${set.owner} ${[...set.tables.keys()]}`;
    let found = known.get(name);
    if (found === undefined) {
      found = build(set);
      known.set(name, found);
    }
    return found;
  };
}

/** The owners' rows. Without a name: a newer version may add a column while this one runs. */
export const ownerRows = made<Owners, Row>(({ owner, key }) =>
  quickStatement(undefined, (db, { organizationId, ids }: Owners) => {
    const ofOrganization = key.length === 1 ? sql`` : sql`organization_id = ${organizationId} AND`;
    return sql<Row>`SELECT * FROM ${sql.table(owner)} WHERE ${ofOrganization} ${sql.ref(OWNER_ID)} IN (${listed(db, ids)})`;
  }),
);

/** With the id of the owner. */
interface OwnedMark extends SetMark {
  readonly owner: string;
}

/** The marks of everything in a set, or in several of one table, of some owners. */
export const marksOfOwners = made<Owners, OwnedMark>((set) =>
  quickStatement(`marks-of-${[...set.tables.keys()].join('-')}`, (db, { organizationId, ids }: Owners) =>
    marksWhere(
      set,
      sql.ref(set.key.at(-1) as string),
      sql`${set.key.length === 1 ? sql`` : sql`organization_id = ${organizationId} AND`}
        ${sql.ref(set.key.at(-1) as string)} IN (${listed(db, ids)})`,
    ),
  ),
);

/** The same of owners that are neighbours by their keys, from the first to the last; `owner` is the whole key. */
export const marksBetween = (
  set: RowSet,
  first: readonly (string | number)[],
  last: readonly (string | number)[],
): RawBuilder<OwnedMark> => {
  const key = sql.join(set.key.map((column) => sql.ref(column)));
  const where = sql`(${key}) >= (${sql.join([...first])}) AND (${key}) <= (${sql.join([...last])})`;
  return marksWhere(set, textOf(set.key), where);
};

const marksWhere = (
  { tables }: RowSet,
  owner: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
): RawBuilder<OwnedMark> =>
  sql`/* partial: marks, which digests are made of */ ${sql.join(
    [...tables].map(
      ([table, place]) => sql`SELECT ${sql.lit(table)} AS "of", ${textOf(place)} AS place, ${owner} AS owner,
        ${sql.ref(markColumn(table))} AS mark FROM ${sql.table(table)} WHERE ${where}`,
    ),
    sql` UNION ALL `,
  )}`;

const textOf = (columns: readonly string[]): RawBuilder<string> =>
  sql.join(
    columns.map((column) => sql.ref(column)),
    sql` || ' ' || `,
  );
