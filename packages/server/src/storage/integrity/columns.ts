import { type Kysely, sql } from 'kysely';
import type { DatabaseKind } from '../dialect.ts';
import type { Schema } from '../schema.ts';
import type { ColumnInfo } from './marked-table.ts';

/** Every column of the database, as it is now; generated ones too, which somebody may have put in another's place. */
export const COLUMN_QUERIES: Readonly<Record<DatabaseKind, string>> = {
  sqlite: `SELECT m.name AS "table", c.name AS "column", c.pk AS position
    FROM sqlite_master m, pragma_table_xinfo(m.name) c WHERE m.type = 'table'`,
  postgres: `SELECT t.relname AS "table", a.attname AS "column",
      array_position(k.conkey, a.attnum) AS position
    FROM pg_class t
      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = 'p'
    WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace`,
};

export async function columnsOf(db: Kysely<Schema>, kind: DatabaseKind): Promise<readonly ColumnInfo[]> {
  return (await sql.raw<ColumnInfo>(COLUMN_QUERIES[kind]).execute(db)).rows;
}
