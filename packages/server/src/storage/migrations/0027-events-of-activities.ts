import { type Kysely, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Events of webhooks are found by the activity that they come of, and can say in words what it does. */
export const eventsOfActivities: Migration = {
  name: '0027-events-of-activities',
  // What an older process announces names no activity, and neither do events of before: they are not found by one.
  // Descriptions are missing where an older process announces or sends.
  compatibility: 'expand',
  endsSessions: true,
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    await sql`ALTER TABLE webhook_event ADD COLUMN activity_id ${text}`.execute(db);
    await sql`CREATE INDEX ix_webhook_event_activity ON webhook_event (organization_id, activity_id, id)
      WHERE activity_id IS NOT NULL`.execute(db);
    await sql`ALTER TABLE webhook_endpoint ADD COLUMN includes_description integer NOT NULL DEFAULT 0`.execute(db);
    await sql`ALTER TABLE webhook_delivery ADD COLUMN includes_description integer NOT NULL DEFAULT 0`.execute(db);
    await sql`ALTER TABLE webhook_event ADD COLUMN description text`.execute(db);
  },
};
