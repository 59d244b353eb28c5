import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Logins and sign-ups: one-time codes, used tokens, OAuth identities and credentials, the sign-up proxy. */
export const login: Migration = {
  name: '0005-login',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const bytes = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');

    await run(sql`CREATE TABLE otp (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, type text NOT NULL, contact text NOT NULL,
      contact_key ${text} NOT NULL, user_id ${text}, is_encrypted integer NOT NULL, sealed_otp ${bytes} NOT NULL,
      attempts_left integer NOT NULL, expires_at_ms bigint NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_otp_contact ON otp (organization_id, contact_key, id)`);
    await run(sql`CREATE INDEX ix_otp_expiry ON otp (organization_id, expires_at_ms)`);
    await run(sql`CREATE TABLE rate_window (
      organization_id ${text} NOT NULL, name ${text} NOT NULL, times text NOT NULL, stale_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, name))`);
    await run(sql`CREATE INDEX ix_rate_window_stale ON rate_window (organization_id, stale_at_ms)`);
    await run(sql`CREATE TABLE used_token (
      organization_id ${text} NOT NULL, token_id ${text} NOT NULL, purpose ${text} NOT NULL,
      activity_id ${text} NOT NULL, expires_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, token_id, purpose))`);
    await run(sql`CREATE INDEX ix_used_token_expiry ON used_token (organization_id, expires_at_ms)`);
    await run(sql`CREATE TABLE oauth_provider (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, user_id ${text} NOT NULL, name text NOT NULL,
      issuer ${text} NOT NULL, audience ${text} NOT NULL, subject ${text} NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_oauth_provider_user ON oauth_provider (organization_id, user_id, id)`);
    await run(sql`CREATE TABLE oauth2_credential (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, provider ${text} NOT NULL, client_id ${text} NOT NULL,
      encrypted_client_secret text NOT NULL, sealed_secret ${bytes} NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);

    await run(sql`ALTER TABLE auth_proxy_config ADD COLUMN user_id ${text}`);
    await run(sql`ALTER TABLE auth_proxy_config ADD COLUMN public_key ${text}`);
    await run(sql`ALTER TABLE auth_proxy_config ADD COLUMN sealed_key ${bytes}`);
    await run(sql`ALTER TABLE auth_proxy_config ADD COLUMN enabled integer NOT NULL DEFAULT 1`);
    await run(sql`ALTER TABLE auth_proxy_config ADD COLUMN settings text NOT NULL DEFAULT '{}'`);
    await run(sql`ALTER TABLE activity ADD COLUMN authority_id ${text}`);

    await run(
      sql`CREATE UNIQUE INDEX ux_oauth_provider ON oauth_provider (organization_id, issuer, subject, audience)`,
    );
    await run(
      sql`CREATE UNIQUE INDEX ux_oauth2_credential ON oauth2_credential (organization_id, provider, client_id)`,
    );
    await run(sql`CREATE UNIQUE INDEX ux_auth_proxy_config ON auth_proxy_config (id)`);
  },
};
