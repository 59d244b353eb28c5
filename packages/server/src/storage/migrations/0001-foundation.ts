import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Every table is keyed by organization first, so that the organization can become a distribution column. */
export const foundation: Migration = {
  name: '0001-foundation',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    // Byte order on both databases: cursors and ranges must not depend on a locale.
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const blob = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');

    await run(sql`CREATE TABLE deployment (name ${text} PRIMARY KEY, value text NOT NULL)`);
    await run(sql`CREATE TABLE organization (
      id ${text} PRIMARY KEY, parent_id ${text}, name text NOT NULL,
      root_threshold integer NOT NULL, root_user_ids text NOT NULL, authority_version bigint NOT NULL,
      wrapped_key ${blob} NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL, deleted_at_ms bigint)`);
    await run(sql`CREATE INDEX ix_organization_parent ON organization (parent_id, id)`);
    await run(sql`CREATE TABLE organization_feature (
      organization_id ${text} NOT NULL, name ${text} NOT NULL, value text NOT NULL)`);
    await run(sql`CREATE TABLE tree_entry (
      root_id ${text} NOT NULL, kind ${text} NOT NULL, value ${text} NOT NULL, organization_id ${text} NOT NULL,
      owner_id ${text} NOT NULL, unique_value ${text},
      PRIMARY KEY (root_id, kind, value, organization_id, owner_id))`);
    await run(sql`CREATE INDEX ix_tree_entry_owner ON tree_entry (organization_id, owner_id)`);
    await run(sql`CREATE INDEX ix_tree_entry_kind ON tree_entry (root_id, kind, organization_id)`);
    await run(sql`CREATE TABLE app_user (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name text NOT NULL,
      email text, email_key ${text}, email_verified integer NOT NULL, phone ${text}, phone_verified integer NOT NULL,
      revision bigint NOT NULL, created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE api_key (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, user_id ${text} NOT NULL, name ${text} NOT NULL,
      type ${text} NOT NULL, public_key ${text} NOT NULL, session_profile_id ${text},
      expiration_seconds bigint, expires_at_ms bigint, first_used_at_ms bigint,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_api_key_user ON api_key (organization_id, user_id, id)`);
    await run(sql`CREATE TABLE authenticator (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, user_id ${text} NOT NULL, name ${text} NOT NULL,
      credential_id ${text} NOT NULL, public_key ${blob} NOT NULL, rp_id_hash ${blob} NOT NULL, aaguid text NOT NULL,
      attestation_type text NOT NULL, transports text NOT NULL, sign_count bigint NOT NULL, first_used_at_ms bigint,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_authenticator_user ON authenticator (organization_id, user_id, id)`);
    await run(sql`CREATE TABLE read_session (
      organization_id ${text} NOT NULL, token_hash ${text} NOT NULL, user_id ${text} NOT NULL, expires_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, token_hash))`);
    await run(sql`CREATE INDEX ix_read_session_user ON read_session (organization_id, user_id)`);
    await run(sql`CREATE TABLE tag (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, type ${text} NOT NULL, name ${text} NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE user_tag (
      organization_id ${text} NOT NULL, user_id ${text} NOT NULL, tag_id ${text} NOT NULL,
      PRIMARY KEY (organization_id, user_id, tag_id))`);
    await run(sql`CREATE INDEX ix_user_tag_tag ON user_tag (organization_id, tag_id, user_id)`);
    await run(sql`CREATE TABLE invitation (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, receiver_user_name text NOT NULL, receiver_email text NOT NULL,
      receiver_user_tags text NOT NULL, access_type text NOT NULL, status text NOT NULL, sender_user_id ${text} NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE auth_proxy_config (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE activity (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, fingerprint ${text} NOT NULL, operation ${text} NOT NULL,
      type ${text} NOT NULL, status ${text} NOT NULL, proposer_id ${text}, parameters text NOT NULL,
      sealed_parameters ${blob}, result text, failure text, denial text, round_started_at_ms bigint NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_activity_id ON activity (id)`);
    await run(sql`CREATE INDEX ix_activity_status ON activity (organization_id, status, id)`);
    await run(sql`CREATE INDEX ix_activity_type ON activity (organization_id, type, id)`);
    await run(sql`CREATE TABLE vote (
      organization_id ${text} NOT NULL, activity_id ${text} NOT NULL, id ${text} NOT NULL, user_id ${text} NOT NULL,
      selection ${text} NOT NULL, message_digest ${text} NOT NULL, message text NOT NULL, sealed_message ${blob},
      public_key text NOT NULL, signature text NOT NULL, scheme ${text} NOT NULL, credential_id ${text} NOT NULL,
      webauthn text, user_snapshot text NOT NULL, counts integer NOT NULL, round_started_at_ms bigint NOT NULL,
      created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, activity_id, id))`);
    await run(sql`CREATE TABLE tombstone (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, PRIMARY KEY (organization_id, id))`);

    await run(sql`CREATE UNIQUE INDEX ux_organization_feature ON organization_feature (organization_id, name)`);
    await run(sql`CREATE UNIQUE INDEX ux_tree_value ON tree_entry (root_id, kind, unique_value)`);
    await run(sql`CREATE UNIQUE INDEX ux_user_email ON app_user (organization_id, email_key)`);
    await run(sql`CREATE UNIQUE INDEX ux_user_phone ON app_user (organization_id, phone)`);
    await run(sql`CREATE UNIQUE INDEX ux_api_key_public_key ON api_key (organization_id, public_key)`);
    await run(sql`CREATE UNIQUE INDEX ux_api_key_name ON api_key (organization_id, user_id, name)`);
    await run(sql`CREATE UNIQUE INDEX ux_authenticator_credential ON authenticator (organization_id, credential_id)`);
    await run(sql`CREATE UNIQUE INDEX ux_authenticator_name ON authenticator (organization_id, user_id, name)`);
    await run(sql`CREATE UNIQUE INDEX ux_tag_name ON tag (organization_id, type, name)`);
    await run(sql`CREATE UNIQUE INDEX ux_activity_fingerprint ON activity (organization_id, fingerprint)`);
    await run(sql`CREATE UNIQUE INDEX ux_vote_message ON vote (organization_id, activity_id, user_id, message_digest)`);
  },
};
