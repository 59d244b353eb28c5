import { type RawBuilder, sql } from 'kysely';

/** The bytes of columns, which both databases know without reading the values. */
export const bytesOf = (table: string, columns: readonly string[]): RawBuilder<number> =>
  sql`(${sql.join(
    columns.map((column) => sql`COALESCE(octet_length(${sql.ref(`${table}.${column}`)}), 0)`),
    sql` + `,
  )})`;
