import { type Kysely, sql } from 'kysely';
import { sha256Hex } from '../../lib/encoding.ts';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

/** What credentials of either kind were accepted with, in the spelling that counts. */
const ACCEPTED = [
  ['on_ramp_credential', 'encrypted_secret_api_key'],
  ['on_ramp_credential', 'encrypted_private_api_key'],
  ['oauth2_credential', 'lower(encrypted_client_secret)'],
] as const;

/** Which organization has sent a bundle first, with what is there already. */
export const acceptedBundles: Migration = {
  name: '0011-accepted-bundles',
  compatibility: 'contract',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    await sql`CREATE TABLE accepted_bundle (
      digest ${text} NOT NULL PRIMARY KEY, organization_id ${text} NOT NULL, created_at_ms bigint NOT NULL)`.execute(
      db,
    );
    for (const [table, bundle] of ACCEPTED) {
      const { rows } = await sql<{ organization_id: string; bundle: string; created_at_ms: number }>`
        SELECT organization_id, ${sql.raw(bundle)} AS bundle, created_at_ms FROM ${sql.table(table)}
        WHERE ${sql.raw(bundle)} IS NOT NULL ORDER BY created_at_ms, id`.execute(db);
      for (const row of rows) {
        await sql`INSERT INTO accepted_bundle (digest, organization_id, created_at_ms)
          VALUES (${sha256Hex(row.bundle)}, ${row.organization_id}, ${row.created_at_ms})
          ON CONFLICT (digest) DO NOTHING`.execute(db);
      }
    }
  },
};
