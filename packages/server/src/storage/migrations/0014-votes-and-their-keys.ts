import { type Kysely, sql } from 'kysely';
import type { DatabaseKind, Migration } from '../dialect.ts';
import type { Schema } from '../schema.ts';

const OPEN = sql`('ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED')`;

interface OldVote {
  readonly organization_id: string;
  readonly activity_id: string;
  readonly id: string;
  readonly credential_id: string;
  readonly scheme: string;
  readonly user_snapshot: string;
  readonly authority_id: string | null;
  readonly user_id: string;
}

interface OldCredential {
  readonly apiKeyId?: string;
  readonly authenticatorId?: string;
  readonly credential: { readonly type: string; readonly sessionProfileId?: string };
}

/** A vote names its credential, and a credential that was removed says why; results that are secrets get a place. */
export const votesAndTheirKeys: Migration = {
  name: '0014-votes-and-their-keys',
  async up(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
    const text = sql.raw(kind === 'postgres' ? 'text COLLATE "C"' : 'text');
    const blob = sql.raw(kind === 'postgres' ? 'bytea' : 'blob');
    await sql`ALTER TABLE tombstone ADD COLUMN reason ${text}`.execute(db);
    await sql`ALTER TABLE vote ADD COLUMN home_id ${text}`.execute(db);
    await sql`ALTER TABLE vote ADD COLUMN credential_kind ${text}`.execute(db);
    await sql`ALTER TABLE vote ADD COLUMN credential_type ${text}`.execute(db);
    await sql`ALTER TABLE vote ADD COLUMN session_profile_id ${text}`.execute(db);
    await sql`CREATE INDEX ix_activity_open_proposer ON activity (proposer_id) WHERE status IN ${OPEN}`.execute(db);
    await sql`CREATE TABLE sealed_result (
      organization_id ${text} NOT NULL, activity_id ${text} NOT NULL, sealed_result ${blob} NOT NULL,
      expires_at_ms bigint NOT NULL, shown_at_ms bigint, PRIMARY KEY (organization_id, activity_id))`.execute(db);
    await sql`CREATE INDEX ix_sealed_result_expiry ON sealed_result (organization_id, expires_at_ms)`.execute(db);
    await completeOpenVotes(db);
    await dropDigests(db, kind);
  },
};

/** Results used to have a digest in the place of a secret; now nothing stands there. */
async function dropDigests(db: Kysely<Schema>, kind: DatabaseKind): Promise<void> {
  const without = (name: string) =>
    kind === 'postgres'
      ? sql`(result::jsonb - ${sql.lit(name)})::text`
      : sql`json_remove(result, ${sql.lit(`$.${name}`)})`;
  for (const [name, types] of [
    ['verificationToken', ['ACTIVITY_TYPE_VERIFY_OTP', 'ACTIVITY_TYPE_VERIFY_OTP_V2']],
    ['oidcToken', ['ACTIVITY_TYPE_OAUTH2_AUTHENTICATE']],
    ['session', ['ACTIVITY_TYPE_CREATE_READ_ONLY_SESSION']],
  ] as const) {
    await sql`UPDATE activity SET result = ${without(name)}
      WHERE result IS NOT NULL AND type IN (${sql.join([...types])})`.execute(db);
  }
}

/** Votes that may still count. One whose credential its own record does not name stays without a kind and fails. */
async function completeOpenVotes(db: Kysely<Schema>): Promise<void> {
  const { rows } = await sql<OldVote>`
    SELECT vote.organization_id, vote.activity_id, vote.id, vote.user_id, vote.credential_id, vote.scheme,
      vote.user_snapshot, activity.authority_id
    FROM vote JOIN activity ON activity.organization_id = vote.organization_id AND activity.id = vote.activity_id
    WHERE activity.status IN ${OPEN}`.execute(db);
  for (const row of rows) {
    const { apiKeys, authenticators } = JSON.parse(row.user_snapshot) as Record<string, readonly OldCredential[]>;
    const key = apiKeys?.find(({ apiKeyId }) => apiKeyId === row.credential_id);
    const passkey = authenticators?.find(({ authenticatorId }) => authenticatorId === row.credential_id);
    const isAttested = row.scheme === 'SIGNATURE_SCHEME_TK_ATTESTED_P256';
    const credentialKind = key ? 'api-key' : passkey ? 'passkey' : isAttested ? 'attested' : null;
    // The user of a login proves something in its own organization; everybody else is of the one that decides.
    const { rows: homes } = await sql<{ id: string }>`SELECT id FROM app_user
      WHERE organization_id = ${row.organization_id} AND id = ${row.user_id}`.execute(db);
    const homeId = homes.length > 0 ? row.organization_id : (row.authority_id ?? row.organization_id);
    await sql`UPDATE vote SET home_id = ${homeId}, credential_kind = ${credentialKind},
        credential_type = ${(key ?? passkey)?.credential.type ?? null},
        session_profile_id = ${key?.credential.sessionProfileId ?? null}
      WHERE organization_id = ${row.organization_id} AND activity_id = ${row.activity_id} AND id = ${row.id}`.execute(
      db,
    );
  }
}
