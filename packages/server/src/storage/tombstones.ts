import { type Kysely, sql } from 'kysely';

import type { OrganizationId } from '../lib/ids.ts';
import type { Schema } from './schema.ts';
import { deferredInsertion } from './statement.ts';

/** A deleted object keeps its place in lists, so that a client that holds it as a cursor can page on. */
export async function isTombstone(db: Kysely<Schema>, organizationId: OrganizationId, id: string): Promise<boolean> {
  const row = await db
    .selectFrom('tombstone')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row !== undefined;
}

const insertTombstones = deferredInsertion(
  'tombstone-insert',
  'tombstone',
  ['organization_id', 'id', 'reason'],
  (query) => query.onConflict((conflict) => conflict.doNothing()),
);

export async function bury(
  db: Kysely<Schema>,
  organizationId: OrganizationId,
  ids: readonly string[],
  reasonOf: (id: string) => RemovalReason | undefined = () => undefined,
): Promise<void> {
  const rows = ids.map((id) => ({ organization_id: organizationId, id, reason: reasonOf(id) ?? null }));
  await insertTombstones(db, rows);
}

/**
 * Whether a vote lost what it stood on: its user, or its credential by the will of somebody else. A tombstone without a
 * reason is older than reasons are, and then the vote does not count.
 */
export const voteIsRevoked = sql<number>`CASE WHEN EXISTS (
  SELECT 1 FROM tombstone WHERE tombstone.organization_id = COALESCE(vote.home_id, vote.organization_id)
    AND tombstone.id IN (vote.credential_id, vote.user_id)
    AND (tombstone.reason IS NULL OR tombstone.reason = 'revoked')) THEN 1 ELSE 0 END`.as('is_revoked');

/**
 * Why a credential is gone. Votes that it gave stop counting only when it was revoked: by another credential, with its
 * user, or by a login that invalidates what was there.
 */
export type RemovalReason = 'revoked' | 'replaced' | 'signed-out';
