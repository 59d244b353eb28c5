import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Wallets, private keys, secrets and what importing and proving them needs. */
export const wallets: Migration = {
  name: '0002-wallets',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const blob = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');

    await run(sql`CREATE TABLE wallet (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name ${text} NOT NULL, sealed_seed ${blob} NOT NULL,
      exported integer NOT NULL, imported integer NOT NULL, created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_wallet_unexported ON wallet (organization_id) WHERE exported = 0`);
    await run(sql`CREATE TABLE wallet_account (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, wallet_id ${text} NOT NULL, name ${text},
      curve ${text} NOT NULL, path text NOT NULL, path_key ${text} NOT NULL, address_format ${text} NOT NULL,
      address text NOT NULL, address_key ${text} NOT NULL, public_key ${text} NOT NULL, exported integer NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_wallet_account_wallet ON wallet_account (organization_id, wallet_id, id)`);
    await run(sql`CREATE INDEX ix_wallet_account_address ON wallet_account (organization_id, address_key, id)`);
    await run(sql`CREATE TABLE private_key (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name ${text} NOT NULL, curve ${text} NOT NULL,
      public_key ${text} NOT NULL, sealed_key ${blob} NOT NULL, exported integer NOT NULL, imported integer NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_private_key_unexported ON private_key (organization_id) WHERE exported = 0`);
    await run(sql`CREATE TABLE private_key_address (
      organization_id ${text} NOT NULL, private_key_id ${text} NOT NULL, address_format ${text} NOT NULL,
      position integer NOT NULL, address text NOT NULL, address_key ${text} NOT NULL,
      PRIMARY KEY (organization_id, private_key_id, address_format))`);
    await run(
      sql`CREATE INDEX ix_private_key_address ON private_key_address (organization_id, address_key, private_key_id)`,
    );
    await run(sql`CREATE TABLE private_key_tag (
      organization_id ${text} NOT NULL, private_key_id ${text} NOT NULL, tag_id ${text} NOT NULL,
      PRIMARY KEY (organization_id, private_key_id, tag_id))`);
    await run(sql`CREATE INDEX ix_private_key_tag_tag ON private_key_tag (organization_id, tag_id, private_key_id)`);
    await run(sql`CREATE TABLE import_target (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, user_id ${text} NOT NULL, kind ${text} NOT NULL,
      target_public_key ${text} NOT NULL, sealed_target ${blob} NOT NULL, expires_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_import_target_user ON import_target (organization_id, user_id, kind, id)`);
    await run(sql`CREATE TABLE secret (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name ${text}, sealed_secret ${blob} NOT NULL,
      static_properties text NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE app_proof (
      organization_id ${text} NOT NULL, activity_id ${text} NOT NULL, position integer NOT NULL, scheme text NOT NULL,
      public_key text NOT NULL, proof_payload text NOT NULL, signature text NOT NULL,
      PRIMARY KEY (organization_id, activity_id, position))`);
    await run(sql`ALTER TABLE activity ADD COLUMN wants_proofs integer NOT NULL DEFAULT 0`);
    await run(sql`CREATE TABLE service_key (
      role ${text} NOT NULL, key_id ${text} NOT NULL, public_key text NOT NULL, encoding text NOT NULL,
      sealed_key ${blob} NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (role, key_id))`);

    await run(sql`CREATE UNIQUE INDEX ux_wallet_name ON wallet (organization_id, name)`);
    await run(
      sql`CREATE UNIQUE INDEX ux_wallet_account_path ON wallet_account (organization_id, wallet_id, curve, path_key, address_format)`,
    );
    await run(sql`CREATE UNIQUE INDEX ux_wallet_account_name ON wallet_account (organization_id, name)`);
    await run(sql`CREATE UNIQUE INDEX ux_private_key_name ON private_key (organization_id, name)`);
    await run(sql`CREATE UNIQUE INDEX ux_secret_name ON secret (organization_id, name)`);
  },
};
