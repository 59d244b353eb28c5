import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** What organizations cost the operator by sponsored sends, and what their parents let them cost. */
export const sponsorship: Migration = {
  name: '0013-sponsorship',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');

    await run(sql`CREATE TABLE gas_usage_config (
      organization_id ${text} PRIMARY KEY, id ${text} NOT NULL, tree_limit_usd text NOT NULL,
      sub_organization_limit_usd text NOT NULL, window_minutes integer NOT NULL, is_enabled integer NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL)`);
    await run(sql`CREATE TABLE sponsored_cost (
      organization_id ${text} NOT NULL, caip2 ${text} NOT NULL, minute bigint NOT NULL, native_cost bigint NOT NULL,
      usd_micros bigint NOT NULL,
      PRIMARY KEY (organization_id, caip2, minute))`);
    await run(sql`CREATE INDEX ix_sponsored_cost_minute ON sponsored_cost (minute)`);
  },
};
