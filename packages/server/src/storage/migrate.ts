import { type Kysely, sql } from 'kysely';
import { StartError } from '../lib/start-error.ts';
import type { Compatibility, DatabaseKind, Migration } from './dialect.ts';
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
import { bodiesOnce } from './migrations/0016-bodies-once.ts';
import { compatibleMigrations } from './migrations/0017-compatible-migrations.ts';
import { subOrganizationsCost } from './migrations/0018-sub-organizations-cost.ts';
import { proxyFeature } from './migrations/0019-proxy-feature.ts';
import { invitationLinks } from './migrations/0020-invitation-links.ts';
import { balanceWatch } from './migrations/0021-balance-watch.ts';
import { lastUse } from './migrations/0022-last-use.ts';
import { inbox } from './migrations/0023-inbox.ts';
import { payments } from './migrations/0024-payments.ts';
import { feed } from './migrations/0025-feed.ts';
import { listsOfSends } from './migrations/0026-lists-of-sends.ts';
import { eventsOfActivities } from './migrations/0027-events-of-activities.ts';
import { integrity } from './migrations/0028-integrity.ts';
import { restorations } from './migrations/0029-restorations.ts';
import { recoveryKits } from './migrations/0030-recovery-kits.ts';
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
  bodiesOnce,
  compatibleMigrations,
  subOrganizationsCost,
  proxyFeature,
  invitationLinks,
  balanceWatch,
  lastUse,
  inbox,
  payments,
  feed,
  listsOfSends,
  eventsOfActivities,
  integrity,
  restorations,
  recoveryKits,
];

/** The one mark that lets an older program go on. */
const COMPATIBLE: Compatibility = 'expand';

export const MIGRATION_NAMES: readonly string[] = migrations.map((migration) => migration.name);

/** A migration as the database records it; the mark of one that this program does not know is any text. */
export interface AppliedMigration {
  readonly name: string;
  /** Absent where no program has yet left a mark. */
  readonly compatibility?: string;
}

export interface SchemaDifference {
  /** What this program needs and the database does not have. */
  readonly missing: readonly string[];
  /** What a newer program did and this one cannot work beside. */
  readonly incompatible: readonly string[];
}

/** How a database differs from what this program can use; what is marked compatible is no difference. */
export function compareSchema(
  applied: readonly AppliedMigration[],
  known: readonly string[] = MIGRATION_NAMES,
): SchemaDifference {
  const names = new Set(applied.map(({ name }) => name));
  return {
    missing: known.filter((name) => !names.has(name)),
    incompatible: applied
      .filter(({ name, compatibility }) => !known.includes(name) && compatibility !== COMPATIBLE)
      .map(({ name }) => name),
  };
}

/**
 * Brings the schema up to date inside the caller's transaction; refuses a database that a newer program has changed.
 */
export async function migrate(db: Kysely<Schema>, kind: DatabaseKind, nowMs: number): Promise<void> {
  const rows = await appliedIn(db);
  const { missing, incompatible } = compareSchema(rows);
  if (incompatible.length > 0) {
    throw new StartError(
      `the database is newer than this program (it has ${incompatible.join(', ')}); start a newer version`,
    );
  }
  const wanted = await apply(db, kind, missing, nowMs);
  if (kind === 'postgres' && rows.length > 0 && wanted.some(({ endsSessions }) => endsSessions === true))
    await endOtherSessions(db);
}

/** The same for tables that nobody uses yet, as far as the migrations that are named, or as far as there are any. */
export async function migrateUnused(
  db: Kysely<Schema>,
  kind: DatabaseKind,
  nowMs: number,
  names: readonly string[] = MIGRATION_NAMES,
): Promise<void> {
  const { missing } = compareSchema(await appliedIn(db), names);
  await apply(db, kind, missing, nowMs);
}

async function appliedIn(db: Kysely<Schema>): Promise<readonly AppliedMigration[]> {
  await sql`CREATE TABLE IF NOT EXISTS schema_migration (name text PRIMARY KEY, applied_at_ms bigint NOT NULL)`.execute(
    db,
  );
  // A database from before the marks has no column for them.
  return (await sql<AppliedMigration>`SELECT * FROM schema_migration ORDER BY name`.execute(db)).rows;
}

/** In their order. */
async function apply(
  db: Kysely<Schema>,
  kind: DatabaseKind,
  names: readonly string[],
  nowMs: number,
): Promise<readonly Migration[]> {
  const wanted = migrations.filter(({ name }) => names.includes(name));
  for (const migration of wanted) await migration.up(db, kind);
  // Recorded together at the end, when there is a column for the mark.
  for (const { name, compatibility } of wanted) {
    await sql`INSERT INTO schema_migration (name, applied_at_ms, compatibility)
      VALUES (${name}, ${nowMs}, ${compatibility})`.execute(db);
  }
  return wanted;
}

/**
 * Before the commit: on a new connection a process waits for the tables and finds them as they have become. Those who wait
 * for this migration to end have prepared nothing yet.
 */
async function endOtherSessions(db: Kysely<Schema>): Promise<void> {
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity AS other
    WHERE datname = current_database() AND usename = current_user AND backend_type = 'client backend'
      AND pid <> pg_backend_pid()
      AND NOT EXISTS (SELECT 1 FROM pg_locks WHERE pid = other.pid AND locktype = 'advisory' AND NOT granted)`.execute(
    db,
  );
}
