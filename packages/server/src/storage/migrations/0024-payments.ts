import { type Kysely, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Whom an organization has paid on which chain, found by address and by what people compare of one. */
export const payments: Migration = {
  name: '0024-payments',
  // An older process notes no payments: somebody whom it pays counts as never paid, which asks for more care and not less.
  compatibility: 'expand',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    await sql`CREATE TABLE payment (
      organization_id ${text} NOT NULL, looks ${text} NOT NULL, recipient ${text} NOT NULL, chain ${text} NOT NULL,
      activity_id ${text} NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, looks, recipient, chain, activity_id))`.execute(db);
  },
};
