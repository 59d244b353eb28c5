import { type Kysely, sql } from 'kysely';
import type { LastUse } from '../../../core/directory.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { DatabaseKind } from '../../../storage/dialect.ts';
import { jsonRows } from '../../../storage/json-rows.ts';
import type { Schema } from '../../../storage/schema.ts';
import { byIds } from '../../../storage/statement.ts';

const deleteUses = byIds('last-use-delete', (db, { organizationId }: { readonly organizationId: string }, ids) =>
  db.deleteFrom('last_use').where('organization_id', '=', organizationId).where('id', 'in', ids),
);

/** Forgets when credentials or users that are deleted were last used. */
export async function forgetUses(
  db: Kysely<Schema>,
  organizationId: OrganizationId,
  ids: readonly string[],
): Promise<void> {
  await deleteUses(db, { organizationId }, ids);
}

/** Notes when credentials and their users were last used. */
export async function noteUses(db: Kysely<Schema>, kind: DatabaseKind, uses: readonly LastUse[]): Promise<void> {
  const moments = new Map<string, { organization_id: string; id: string; used_at_ms: number }>();
  for (const { organizationId, credentialId, userId, atMs } of uses) {
    for (const id of credentialId === undefined ? [userId] : [userId, credentialId]) {
      const known = moments.get(id)?.used_at_ms ?? 0;
      moments.set(id, { organization_id: organizationId, id, used_at_ms: Math.max(known, atMs) });
    }
  }
  // In one order, so that two processes do not wait for each other.
  const rows = [...moments.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
  const columns = { organization_id: 'text', id: 'text', used_at_ms: 'bigint' } as const;
  const owned = (table: string) =>
    sql`EXISTS (SELECT 1 FROM ${sql.table(table)} AS owner
      WHERE owner.organization_id = noted.organization_id AND owner.id = noted.id)`;
  // What was deleted meanwhile must not come back.
  await sql`INSERT INTO last_use (organization_id, id, used_at_ms)
    SELECT noted.organization_id, noted.id, noted.used_at_ms
    FROM ${jsonRows(kind, 'noted', columns, JSON.stringify(rows))}
    WHERE ${sql.join(['app_user', 'api_key', 'authenticator', 'oauth_provider'].map(owned), sql` OR `)}
    ORDER BY noted.id
    ON CONFLICT (organization_id, id) DO UPDATE SET used_at_ms = excluded.used_at_ms
      WHERE excluded.used_at_ms > last_use.used_at_ms`.execute(db);
}
