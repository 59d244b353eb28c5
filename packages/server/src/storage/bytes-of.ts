import { type RawBuilder, sql } from 'kysely';

const known = new Map<string, RawBuilder<number>>();

/**
 * The bytes of columns, which both databases know without reading the values. The same columns give the same expression, so
 * that statements with it are made once.
 */
export function bytesOf(table: string, columns: readonly string[]): RawBuilder<number> {
  const key = `${table} ${columns.join()}`;
  let bytes = known.get(key);
  if (bytes === undefined) {
    bytes = sql`(${sql.join(
      columns.map((column) => sql`COALESCE(octet_length(${sql.ref(`${table}.${column}`)}), 0)`),
      sql` + `,
    )})`;
    known.set(key, bytes);
  }
  return bytes;
}
