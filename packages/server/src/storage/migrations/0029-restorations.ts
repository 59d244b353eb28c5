import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** A restored database keeps a fence until somebody accepts it (docs/decisions/0063). */
export const restorations: Migration = {
  name: '0029-restorations',
  // Until the database is restored, for which programs that know no fence are too old: `raiseFence` says so.
  compatibility: 'expand',
  endsSessions: true,
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    await run(sql`CREATE TABLE restoration (
      id ${text} PRIMARY KEY, backup_id ${text} NOT NULL, snapshot_at_ms bigint NOT NULL, restored_at_ms bigint NOT NULL,
      exhausts_windows integer NOT NULL, accepted_at_ms bigint, accepted_by ${text}, restoration_mac ${text})`);
    await run(sql`ALTER TABLE organization ADD COLUMN accepted_restoration ${text}`);
    await run(sql`CREATE INDEX ix_organization_accepted ON organization (accepted_restoration)
      WHERE accepted_restoration IS NOT NULL`);
  },
};
