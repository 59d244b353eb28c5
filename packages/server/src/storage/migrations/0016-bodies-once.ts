import { type Kysely, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/**
 * A signed body is stored once, with its activity. Rows that there are keep it as parameters and as message, and are
 * read so: to rewrite them would take as long as the table is large.
 */
export const bodiesOnce: Migration = {
  name: '0016-bodies-once',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const blob = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');
    await sql`ALTER TABLE activity ADD COLUMN body ${text}`.execute(db);
    await sql`ALTER TABLE activity ADD COLUMN sealed_body ${blob}`.execute(db);
  },
};
