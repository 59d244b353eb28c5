import type { Kysely } from 'kysely';
import type { OrganizationId } from '../../lib/ids.ts';
import type { Schema } from '../schema.ts';

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

export async function bury(db: Kysely<Schema>, organizationId: OrganizationId, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .insertInto('tombstone')
    .values(ids.map((id) => ({ organization_id: organizationId, id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
