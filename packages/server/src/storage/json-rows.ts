import { type RawBuilder, sql } from 'kysely';
import type { DatabaseKind } from './dialect.ts';

type ColumnType = 'text' | 'bigint';

/**
 * Rows that a statement reads like a table, in their order. They travel as one parameter, the JSON text of an array of
 * objects, so that the statement is the same for any number of them.
 */
export function jsonRows(
  kind: DatabaseKind,
  name: string,
  columns: Readonly<Record<string, ColumnType>>,
  json: string,
): RawBuilder<unknown> {
  const entries = Object.entries(columns);
  if (kind === 'postgres') {
    const typed = entries.map(([column, type]) => sql`${sql.ref(column)} ${sql.raw(type)}`);
    return sql`json_to_recordset(CAST(${json} AS json)) AS ${sql.table(name)} (${sql.join(typed)})`;
  }
  const read = entries.map(([column]) => sql`value ->> ${sql.lit(column)} AS ${sql.ref(column)}`);
  return sql`(SELECT ${sql.join(read)} FROM json_each(${json})) AS ${sql.table(name)}`;
}
