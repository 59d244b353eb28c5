import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Tables whose rows carry authority. A later table that does brings its column with it. */
const MARKED = [
  'organization',
  'organization_feature',
  'tree_entry',
  'activity',
  'vote',
  'service_key',
  'used_token',
  'app_user',
  'api_key',
  'authenticator',
  'read_session',
  'tag',
  'user_tag',
  'mfa_policy',
  'mfa_requirement',
  'oauth_provider',
  'invitation',
  'auth_proxy_config',
  'policy',
  'ip_allowlist',
  'contract_interface',
  'velocity_control',
  'velocity_entry',
  'session_profile',
  'otp',
  'oauth2_credential',
  'wallet',
  'wallet_account',
  'private_key',
  'private_key_address',
  'private_key_tag',
  'import_target',
  'secret',
  'earn_wrapper',
  'earn_request',
  'outbox_message',
  'webhook_endpoint',
  'webhook_event',
  'webhook_delivery',
  'balance_cursor',
  'balance_block',
  'chain_send',
  'chain_lane',
  'chain_operator_key',
  'gas_usage_config',
  'on_ramp_credential',
  'tvc_operator',
  'tvc_operator_set',
  'tvc_app',
  'tvc_deployment',
] as const;

/** Rows that carry authority have a mark, and sets of them a digest (docs/decisions/0060). */
export const integrity: Migration = {
  name: '0028-integrity',
  // What an older process writes has no mark, or one that no longer fits; marks are required only once none is left.
  compatibility: 'expand',
  endsSessions: true,
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const blob = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');
    for (const table of MARKED)
      await run(sql`ALTER TABLE ${sql.table(table)} ADD COLUMN ${sql.ref(`${table}_mac`)} text`);
    await run(sql`ALTER TABLE organization ADD COLUMN rules_digest text`);
    for (const owner of ['app_user', 'private_key'])
      await run(sql`ALTER TABLE ${sql.table(owner)} ADD COLUMN owned_digest text`);
    await run(sql`CREATE TABLE integrity_key (
      key_id ${text} NOT NULL, generation integer NOT NULL, sealed_key ${blob} NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (key_id, generation))`);
    await run(sql`CREATE UNIQUE INDEX ux_integrity_key_generation ON integrity_key (generation)`);
  },
};
