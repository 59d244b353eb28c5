import { type Kysely, sql } from 'kysely';
import type { Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/**
 * Every migration leaves its mark, so that a program that does not know it can tell whether it may go on
 * (docs/decisions/0036).
 */
export const compatibleMigrations: Migration = {
  name: '0017-compatible-migrations',
  compatibility: 'expand',
  async up(db: Kysely<Schema>): Promise<void> {
    await sql`ALTER TABLE schema_migration ADD COLUMN compatibility text NOT NULL DEFAULT 'contract'`.execute(db);
  },
};
