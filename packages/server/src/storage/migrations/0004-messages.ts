import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Mail and text messages that wait to be sent, what became of mails, and the development inbox. */
export const messages: Migration = {
  name: '0004-messages',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const bytes = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');

    await run(sql`CREATE TABLE outbox_message (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, channel ${text} NOT NULL, sealed_message ${bytes} NOT NULL,
      not_after_ms bigint, attempts integer NOT NULL, next_attempt_at_ms bigint NOT NULL,
      claimed_until_ms bigint NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_outbox_message_due ON outbox_message (channel, next_attempt_at_ms, id)`);
    await run(sql`CREATE TABLE email_event (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, message_id text NOT NULL, event_type ${text} NOT NULL,
      from_address text NOT NULL, to_address text NOT NULL, address_key ${text} NOT NULL, details text NOT NULL,
      created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_email_event_address ON email_event (organization_id, address_key, id)`);
    await run(sql`CREATE INDEX ix_email_event_age ON email_event (created_at_ms)`);
    await run(sql`CREATE TABLE dev_message (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, sealed_message ${bytes} NOT NULL,
      created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
  },
};
