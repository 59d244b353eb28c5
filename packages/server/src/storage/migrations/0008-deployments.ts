import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** Deployments: operators and their sets, apps, deployments with their manifests, and approvals of those. */
export const deployments: Migration = {
  name: '0008-deployments',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const run = async (statement: RawBuilder<unknown>): Promise<void> => {
      await statement.execute(db);
    };
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const bytes = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');

    await run(sql`CREATE TABLE tvc_operator (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name ${text} NOT NULL, sign_public_key ${text} NOT NULL,
      encrypt_public_key ${text}, key_source text NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE tvc_operator_set (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name ${text} NOT NULL, threshold integer NOT NULL,
      operator_ids text NOT NULL, members_digest ${text} NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE tvc_app (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, name ${text} NOT NULL, quorum_public_key text NOT NULL,
      manifest_set_id ${text} NOT NULL, share_set_id ${text} NOT NULL, enable_egress integer NOT NULL,
      enable_debug_mode integer NOT NULL, live_deployment_id ${text}, created_at_ms bigint NOT NULL,
      updated_at_ms bigint NOT NULL, deleted_at_ms bigint,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE TABLE tvc_deployment (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, app_id ${text} NOT NULL, manifest_id ${text} NOT NULL,
      manifest text NOT NULL, encrypted_pull_secret text, approved_at_ms bigint, created_at_ms bigint NOT NULL,
      updated_at_ms bigint NOT NULL, deleted_at_ms bigint,
      PRIMARY KEY (organization_id, id))`);
    await run(sql`CREATE INDEX ix_tvc_deployment_app ON tvc_deployment (organization_id, app_id, id)`);
    await run(sql`CREATE TABLE tvc_approval (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, deployment_id ${text} NOT NULL,
      operator_id ${text} NOT NULL, signature ${bytes} NOT NULL, created_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`);

    await run(sql`CREATE UNIQUE INDEX ux_tvc_operator_key ON tvc_operator (organization_id, sign_public_key)`);
    await run(
      sql`CREATE UNIQUE INDEX ux_tvc_operator_set ON tvc_operator_set (organization_id, name, threshold, members_digest)`,
    );
    await run(sql`CREATE UNIQUE INDEX ux_tvc_manifest ON tvc_deployment (organization_id, manifest_id)`);
    await run(sql`CREATE UNIQUE INDEX ux_tvc_approval ON tvc_approval (organization_id, deployment_id, operator_id)`);
  },
};
