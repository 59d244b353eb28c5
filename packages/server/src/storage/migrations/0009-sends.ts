import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Transactions that are sent to chains, and the keys that pay for operators. */
export const sends: Migration = {
  name: '0009-sends',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const bytes = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');

    await run(sql`CREATE TABLE chain_send (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, activity_id ${text} NOT NULL, caip2 ${text} NOT NULL,
      sender ${text} NOT NULL, lane ${text} NOT NULL, purpose ${text} NOT NULL, request text NOT NULL, after_id ${text},
      state ${text} NOT NULL, nonce bigint, attempts text NOT NULL, tx_hash ${text}, block_number bigint,
      block text, error text, is_open integer NOT NULL, created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    // What is under way, in the order of its lane. What is settled is not looked at again.
    await run(sql`CREATE INDEX ix_chain_send_open ON chain_send (caip2, lane, state, id) WHERE is_open = 1`);
    await run(sql`CREATE INDEX ix_chain_send_sender ON chain_send (organization_id, caip2, sender, block_number, id)`);
    await run(sql`CREATE INDEX ix_chain_send_hash ON chain_send (caip2, tx_hash)`);
    await run(sql`CREATE TABLE chain_lane (
      caip2 ${text} NOT NULL, lane ${text} NOT NULL, is_active integer NOT NULL, version bigint NOT NULL,
      owner ${text} NOT NULL, epoch bigint NOT NULL, claimed_until_ms bigint NOT NULL,
      PRIMARY KEY (caip2, lane))`);
    await run(sql`CREATE INDEX ix_chain_lane_active ON chain_lane (claimed_until_ms) WHERE is_active = 1`);
    await run(sql`CREATE TABLE chain_operator_key (
      caip2 ${text} NOT NULL, address ${text} NOT NULL, public_key text NOT NULL, sealed_key ${bytes} NOT NULL,
      created_at_ms bigint NOT NULL,
      PRIMARY KEY (caip2, address))`);
  },
};
