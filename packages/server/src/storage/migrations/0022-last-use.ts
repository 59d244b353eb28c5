import { type Kysely, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** When a credential, and when a user by any credential, stamped a request last. */
export const lastUse: Migration = {
  name: '0022-last-use',
  // An older process notes no use, and a row that it leaves behind with a credential it deletes is shown to nobody.
  compatibility: 'expand',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    // A table of its own: the rows of credentials are read by every request, and a write to each would bloat them.
    await sql`CREATE TABLE last_use (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, used_at_ms bigint NOT NULL,
      PRIMARY KEY (organization_id, id))`.execute(db);
  },
};
