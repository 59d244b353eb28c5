import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** How far the watch over balances is on each chain, and what it told of blocks that a chain may still undo. */
export const balanceWatch: Migration = {
  name: '0021-balance-watch',
  // An older process watches nothing, and leaves these tables alone.
  compatibility: 'expand',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    await run(sql`CREATE TABLE balance_cursor (
      caip2 ${text} NOT NULL, level ${text} NOT NULL, number bigint NOT NULL, hash text NOT NULL,
      turn bigint NOT NULL, owner ${text} NOT NULL, claimed_until_ms bigint NOT NULL,
      PRIMARY KEY (caip2, level))`);
    await run(sql`CREATE TABLE balance_block (
      caip2 ${text} NOT NULL, level ${text} NOT NULL, number bigint NOT NULL, hash text NOT NULL, told text NOT NULL,
      PRIMARY KEY (caip2, level, number))`);
    // A block names addresses, and whose they are is asked for each block.
    await run(sql`CREATE INDEX ix_wallet_account_any_address ON wallet_account (address_key, organization_id)`);
    await run(sql`CREATE INDEX ix_webhook_endpoint_balances ON webhook_endpoint (organization_id, id)
      WHERE is_active = 1 AND subscriptions LIKE '%"BALANCE_%'`);
  },
};
