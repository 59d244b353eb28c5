import { type Kysely, sql } from 'kysely';
import { StartError } from '../lib/start-error.ts';
import type { DatabaseKind, Migration } from './dialect.ts';
import { foundation } from './migrations/0001-foundation.ts';
import { wallets } from './migrations/0002-wallets.ts';
import { access } from './migrations/0003-access.ts';
import { messages } from './migrations/0004-messages.ts';
import { login } from './migrations/0005-login.ts';
import { webhooks } from './migrations/0006-webhooks.ts';
import { onRamp } from './migrations/0007-on-ramp.ts';
import { deployments } from './migrations/0008-deployments.ts';
import { sends } from './migrations/0009-sends.ts';
import { earn } from './migrations/0010-earn.ts';
import { acceptedBundles } from './migrations/0011-accepted-bundles.ts';
import { deploymentReplicas } from './migrations/0012-deployment-replicas.ts';
import { sponsorship } from './migrations/0013-sponsorship.ts';
import { votesAndTheirKeys } from './migrations/0014-votes-and-their-keys.ts';
import { velocityUncounted } from './migrations/0015-velocity-uncounted.ts';
import { subOrganizationsCost } from './migrations/0018-sub-organizations-cost.ts';
import type { Schema } from './schema.ts';

const migrations: readonly Migration[] = [
  foundation,
  wallets,
  access,
  messages,
  login,
  webhooks,
  onRamp,
  deployments,
  sends,
  earn,
  acceptedBundles,
  deploymentReplicas,
  sponsorship,
  votesAndTheirKeys,
  velocityUncounted,
  subOrganizationsCost,
];

export const MIGRATION_NAMES: readonly string[] = migrations.map((migration) => migration.name);

/** Brings the schema up to date inside the caller's transaction; refuses a database that a newer program has changed. */
export async function migrate(db: Kysely<Schema>, kind: DatabaseKind, nowMs: number): Promise<void> {
  await sql`CREATE TABLE IF NOT EXISTS schema_migration (name text PRIMARY KEY, applied_at_ms bigint NOT NULL)`.execute(
    db,
  );
  const { rows } = await sql<{ name: string }>`SELECT name FROM schema_migration ORDER BY name`.execute(db);
  const applied = new Set(rows.map((row) => row.name));
  const known = new Set(migrations.map((migration) => migration.name));
  const unknown = rows.filter((row) => !known.has(row.name)).map((row) => row.name);
  if (unknown.length > 0) {
    throw new StartError(
      `the database is newer than this program (it has ${unknown.join(', ')}); start a newer version`,
    );
  }
  for (const migration of migrations) {
    if (applied.has(migration.name)) continue;
    await migration.up(db, kind);
    await sql`INSERT INTO schema_migration (name, applied_at_ms) VALUES (${migration.name}, ${nowMs})`.execute(db);
  }
}
