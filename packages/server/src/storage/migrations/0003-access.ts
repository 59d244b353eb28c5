import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/**
 * Policies and what else limits access: MFA, session profiles, IP allowlists, contract interfaces, velocity controls.
 */
export const access: Migration = {
  name: '0003-access',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');

    await run(sql`CREATE TABLE policy (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name ${text} NOT NULL, effect text NOT NULL,
      condition text NOT NULL, consensus text NOT NULL, time text NOT NULL, notes text NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE policy_evaluation (
      organization_id ${text} NOT NULL, activity_id ${text} NOT NULL, vote_id ${text} NOT NULL,
      evaluations text NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, activity_id, vote_id))`);
    await run(sql`CREATE TABLE mfa_policy (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, user_id ${text} NOT NULL, name text NOT NULL,
      condition text NOT NULL, steps text NOT NULL, position bigint NOT NULL, notes text NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_mfa_policy_user ON mfa_policy (organization_id, user_id, position, id)`);
    await run(sql`CREATE TABLE mfa_requirement (
      organization_id ${text} NOT NULL, activity_id ${text} NOT NULL, user_id ${text} NOT NULL,
      mfa_policy_id ${text} NOT NULL, steps text NOT NULL, proofs text NOT NULL, satisfied_at_ms bigint,
      created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, activity_id, user_id))`);
    await run(sql`CREATE TABLE session_profile (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name ${text} NOT NULL, scope text NOT NULL,
      expiration_seconds bigint, notes text NOT NULL, created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE ip_allowlist (
      organization_id ${text} NOT NULL, public_key ${text} NOT NULL, enabled integer NOT NULL,
      on_evaluation_error text NOT NULL, rules text NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, public_key))`);
    await run(sql`CREATE TABLE contract_interface (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, type ${text} NOT NULL, address text NOT NULL,
      address_key ${text} NOT NULL, definition text NOT NULL, label text NOT NULL, notes text NOT NULL,
      created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE velocity_control (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name text NOT NULL, identifier ${text} NOT NULL,
      data_source text NOT NULL, aggregation text NOT NULL, created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE velocity_entry (
      organization_id ${text} NOT NULL, control_id ${text} NOT NULL, group_key ${text} NOT NULL, id ${text} NOT NULL,
      activity_id ${text} NOT NULL, amount text NOT NULL, total text NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, control_id, group_key, id))`);
    await run(
      sql`CREATE INDEX ix_velocity_entry_time ON velocity_entry (organization_id, control_id, group_key, created_at_ms, id)`,
    );
    await run(sql`CREATE INDEX ix_velocity_entry_activity ON velocity_entry (organization_id, activity_id)`);

    await run(sql`ALTER TABLE organization ADD COLUMN rules_version bigint NOT NULL DEFAULT 1`);
    await run(sql`ALTER TABLE activity ADD COLUMN open_to text`);
    await run(sql`ALTER TABLE activity ADD COLUMN has_mfa integer NOT NULL DEFAULT 0`);

    await run(sql`CREATE UNIQUE INDEX ux_policy_name ON policy (organization_id, name)`);
    await run(sql`CREATE UNIQUE INDEX ux_session_profile_name ON session_profile (organization_id, name)`);
    await run(
      sql`CREATE UNIQUE INDEX ux_contract_interface ON contract_interface (organization_id, type, address_key)`,
    );
    await run(sql`CREATE UNIQUE INDEX ux_velocity_identifier ON velocity_control (organization_id, identifier)`);
  },
};
