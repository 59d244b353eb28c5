import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Fiat on-ramp: credentials at providers, and the purchases that were begun. */
export const onRamp: Migration = {
  name: '0007-on-ramp',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const bytes = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');

    await run(sql`CREATE TABLE on_ramp_credential (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, provider ${text} NOT NULL, project_id text,
      publishable_api_key text NOT NULL, encrypted_secret_api_key text NOT NULL, encrypted_private_api_key text,
      sealed_secret_key ${bytes} NOT NULL, sealed_private_key ${bytes}, is_sandbox integer NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    // The newest of a provider is the one that is used.
    await run(sql`CREATE INDEX ix_on_ramp_credential_newest
      ON on_ramp_credential (organization_id, provider, is_sandbox, id)`);
    await run(sql`CREATE TABLE on_ramp_transaction (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, credential_id ${text} NOT NULL, provider ${text} NOT NULL,
      is_sandbox integer NOT NULL, status ${text} NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
  },
};
