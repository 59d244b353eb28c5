import { type Kysely, sql } from 'kysely';
import type { Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** What is open, in the order in which its approvals lapse. */
export const inboxOrder: Migration = {
  name: '0028-inbox-order',
  // An index alone.
  compatibility: 'expand',
  async up(db: Kysely<Schema>): Promise<void> {
    await sql`CREATE INDEX ix_activity_open_round ON activity (organization_id, round_started_at_ms, id)
      WHERE status IN ('ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED')`.execute(db);
  },
};
