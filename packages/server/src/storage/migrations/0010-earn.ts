import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Earn: fee wrappers of organizations, and what was asked of them. */
export const earn: Migration = {
  name: '0010-earn',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');

    await run(sql`CREATE TABLE earn_wrapper (
      organization_id ${text} NOT NULL, caip2 ${text} NOT NULL, wrapper_address ${text} NOT NULL,
      splitter_address ${text} NOT NULL, vault_address ${text} NOT NULL, provider ${text} NOT NULL,
      asset_address ${text} NOT NULL, asset_symbol text NOT NULL, asset_decimals integer NOT NULL,
      client_fee_bps integer NOT NULL, client_fee_wallet ${text} NOT NULL, service_fee_bps integer NOT NULL,
      service_fee_wallet ${text}, deposits_disabled integer NOT NULL, deploy_request_id ${text} NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, caip2, wrapper_address))`);
    await run(sql`CREATE TABLE earn_request (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, kind ${text} NOT NULL, caip2 ${text} NOT NULL,
      wrapper_address ${text} NOT NULL, wallet_address ${text} NOT NULL, amount text NOT NULL, send_id ${text},
      created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    // The ledger of a wallet in a wrapper.
    await run(sql`CREATE INDEX ix_earn_request_wallet
      ON earn_request (organization_id, wallet_address, caip2, wrapper_address, id)`);
  },
};
