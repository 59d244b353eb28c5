import { type Kysely, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/**
 * Activities are found by who proposed them, when, and whether somebody voted on them, and open ones in the order in
 * which their approvals lapse; a vote keeps the address that it came from.
 */
export const inbox: Migration = {
  name: '0023-inbox',
  // An older process gives votes no address and marks nothing as voted on: the list of what was decided misses that.
  compatibility: 'expand',
  endsSessions: true,
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    await sql`ALTER TABLE vote ADD COLUMN source_address ${text}`.execute(db);
    await sql`CREATE INDEX ix_activity_proposer ON activity (organization_id, proposer_id, id)`.execute(db);
    await sql`CREATE INDEX ix_activity_created ON activity (organization_id, created_at_ms, id)`.execute(db);
    await sql`ALTER TABLE activity ADD COLUMN voted_on integer`.execute(db);
    await sql`UPDATE activity SET voted_on = 1 WHERE EXISTS (SELECT 1 FROM vote
      WHERE vote.organization_id = activity.organization_id AND vote.activity_id = activity.id
        AND (vote.user_id <> activity.proposer_id OR vote.selection = 'VOTE_SELECTION_REJECTED'))`.execute(db);
    await sql`CREATE INDEX ix_activity_voted_on ON activity (organization_id, id) WHERE voted_on = 1`.execute(db);
    await sql`CREATE INDEX ix_activity_open_round ON activity (organization_id, round_started_at_ms, id)
      WHERE status IN ('ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED')`.execute(db);
  },
};
