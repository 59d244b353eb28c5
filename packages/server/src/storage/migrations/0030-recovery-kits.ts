import { type Kysely, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** All keys of an organization in a file that only its recipients open, in pieces (docs/decisions/0064). */
export const recoveryKits: Migration = {
  name: '0030-recovery-kits',
  // An older process makes none, and none of what it does concerns them.
  compatibility: 'expand',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const blob = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');
    await sql`CREATE TABLE recovery_kit (
      organization_id ${text} NOT NULL, id ${text} NOT NULL, activity_id ${text} NOT NULL, recipients text NOT NULL,
      sha256 text NOT NULL, size_bytes bigint NOT NULL, piece_count integer NOT NULL, wallet_count integer NOT NULL,
      private_key_count integer NOT NULL, created_at_ms bigint NOT NULL, recovery_kit_mac text,
      PRIMARY KEY (organization_id, id))`.execute(db);
    await sql`CREATE TABLE recovery_kit_piece (
      organization_id ${text} NOT NULL, kit_id ${text} NOT NULL, position integer NOT NULL, content ${blob} NOT NULL,
      recovery_kit_piece_mac text, PRIMARY KEY (organization_id, kit_id, position))`.execute(db);
  },
};
