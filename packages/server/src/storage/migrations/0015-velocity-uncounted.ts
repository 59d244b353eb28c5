import { type Kysely, sql } from 'kysely';
import type { Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Whether a velocity control refuses what nobody can count; those that there are let it pass, as they did before. */
export const velocityUncounted: Migration = {
  name: '0015-velocity-uncounted',
  compatibility: 'contract',
  async up(db: Kysely<Schema>): Promise<void> {
    await sql`ALTER TABLE velocity_control ADD COLUMN refuse_uncounted integer NOT NULL DEFAULT 0`.execute(db);
  },
};
