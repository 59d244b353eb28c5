import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/**
 * Webhooks: endpoints, events, their deliveries, and who works on which endpoint's; from when on a service key signs.
 */
export const webhooks: Migration = {
  name: '0006-webhooks',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    // On PostgreSQL it needs no index of its own: nothing is looked up by it alone.
    const seq = sql.raw(kind === 'postgres' ? 'seq bigserial NOT NULL' : 'seq integer PRIMARY KEY');
    const key = sql.raw(kind === 'postgres' ? 'PRIMARY KEY' : 'UNIQUE');
    // Done deliveries stay in the queue's index until a vacuum, which by default waits for a fifth of the table.
    const storage = sql.raw(kind === 'postgres' ? 'WITH (autovacuum_vacuum_scale_factor = 0.05)' : '');

    await run(sql`CREATE TABLE webhook_endpoint (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name ${text} NOT NULL, url text NOT NULL,
      is_active integer NOT NULL, is_feature integer NOT NULL, subscriptions text NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE webhook_event (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, event_type text NOT NULL, about_id ${text} NOT NULL,
      body text NOT NULL, body_length integer NOT NULL, kept_since_ms bigint NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_webhook_event_kept ON webhook_event (kept_since_ms)`);
    await run(sql`CREATE TABLE webhook_delivery (
      ${seq}, organization_id ${text} NOT NULL, id ${text} NOT NULL, endpoint_id ${text} NOT NULL,
      event_id ${text} NOT NULL, state ${text} NOT NULL, failures integer NOT NULL, attempts text NOT NULL,
      next_attempt_at_ms bigint NOT NULL, round_started_at_ms bigint NOT NULL, created_at_ms bigint NOT NULL,
      updated_at_ms bigint NOT NULL,
      ${key} (organization_id, id)) ${storage}`);
    // The queue: it holds nothing of the past. With the id, so that it answers by itself what is next.
    await run(sql`CREATE INDEX ix_webhook_delivery_due ON webhook_delivery (endpoint_id, next_attempt_at_ms, seq, id)
      WHERE state = 'pending'`);
    await run(sql`CREATE INDEX ix_webhook_delivery_event ON webhook_delivery (organization_id, event_id)`);
    // Lists by endpoint, by state and by both; an organization has few endpoints and there are four states.
    await run(sql`CREATE INDEX ix_webhook_delivery_state ON webhook_delivery (endpoint_id, state, id)`);
    await run(sql`CREATE INDEX ix_webhook_delivery_failed ON webhook_delivery (endpoint_id, created_at_ms, seq)
      WHERE state IN ('failed', 'dead')`);
    await run(sql`CREATE TABLE webhook_lane (
      endpoint_id ${text} NOT NULL PRIMARY KEY, organization_id ${text} NOT NULL, owner ${text} NOT NULL,
      claimed_until_ms bigint NOT NULL, resting_until_ms bigint NOT NULL, failures integer NOT NULL,
      is_gone integer NOT NULL)`);
    await run(sql`CREATE INDEX ix_webhook_lane_gone ON webhook_lane (endpoint_id) WHERE is_gone = 1`);
    await run(sql`CREATE INDEX ix_webhook_lane_organization ON webhook_lane (organization_id)`);
    await run(sql`CREATE INDEX ix_webhook_lane_owner ON webhook_lane (owner) WHERE owner <> ''`);

    await run(sql`ALTER TABLE service_key ADD COLUMN signs_from_ms bigint NOT NULL DEFAULT 0`);

    await run(sql`CREATE UNIQUE INDEX ux_webhook_endpoint_name ON webhook_endpoint (organization_id, name)`);
  },
};
