import { type Kysely, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/**
 * What opens an invitation, as a hash, and until when. Invitations from before have neither: nobody has a link to them.
 */
export const invitationLinks: Migration = {
  name: '0020-invitation-links',
  // An older process makes invitations without links, as it always has.
  compatibility: 'expand',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const bytes = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');
    await sql`ALTER TABLE invitation ADD COLUMN secret_hash ${bytes}`.execute(db);
    await sql`ALTER TABLE invitation ADD COLUMN expires_at_ms bigint`.execute(db);
  },
};
