import { type Kysely, sql } from 'kysely';
import type { Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** What the list of an organization's sends is filtered by, each in the order of the list. */
export const listsOfSends: Migration = {
  name: '0026-lists-of-sends',
  // Indexes alone.
  compatibility: 'expand',
  async up(db: Kysely<Schema>): Promise<void> {
    await sql`CREATE INDEX ix_chain_send_activity ON chain_send (organization_id, activity_id, id)`.execute(db);
    await sql`CREATE INDEX ix_chain_send_state ON chain_send (organization_id, state, id)`.execute(db);
    await sql`CREATE INDEX ix_chain_send_from ON chain_send (organization_id, sender, id)`.execute(db);
    await sql`CREATE INDEX ix_chain_send_chain ON chain_send (organization_id, caip2, id)`.execute(db);
  },
};
