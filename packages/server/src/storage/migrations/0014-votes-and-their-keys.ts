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
  /** The user of a login proves something in its own organization; everybody else is of the one that decides. */
  readonly home_id: string;
}

interface OldCredential {
  readonly apiKeyId?: string;
  readonly authenticatorId?: string;
  readonly credential: { readonly type: string; readonly sessionProfileId?: string };
}

/** A vote names its credential, and a credential that was removed says why; results that are secrets get a place. */
export const votesAndTheirKeys: Migration = {
  name: '0014-votes-and-their-keys',
  compatibility: 'contract',
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
  },
};

const VOTES_AT_ONCE = 200;

/** Votes that may still count. One whose credential its own record does not name stays without a kind and fails. */
async function completeOpenVotes(db: Kysely<Schema>): Promise<void> {
  for (let after = ''; ; ) {
    const { rows } = await sql<OldVote>`
      SELECT vote.organization_id, vote.activity_id, vote.id, vote.credential_id, vote.scheme, vote.user_snapshot,
        CASE WHEN app_user.id IS NULL THEN COALESCE(activity.authority_id, vote.organization_id)
          ELSE vote.organization_id END AS home_id
      FROM activity
      JOIN vote ON vote.organization_id = activity.organization_id AND vote.activity_id = activity.id
      LEFT JOIN app_user ON app_user.organization_id = vote.organization_id AND app_user.id = vote.user_id
      WHERE activity.status IN ${OPEN} AND vote.id > ${after} ORDER BY vote.id LIMIT ${VOTES_AT_ONCE}`.execute(db);
    for (const row of rows) await complete(db, row);
    if (rows.length < VOTES_AT_ONCE) return;
    after = rows.at(-1)?.id ?? '';
  }
}

async function complete(db: Kysely<Schema>, row: OldVote): Promise<void> {
  const { apiKeys, authenticators } = JSON.parse(row.user_snapshot) as Record<string, readonly OldCredential[]>;
  const key = apiKeys?.find(({ apiKeyId }) => apiKeyId === row.credential_id);
  const passkey = authenticators?.find(({ authenticatorId }) => authenticatorId === row.credential_id);
  const isAttested = row.scheme === 'SIGNATURE_SCHEME_TK_ATTESTED_P256';
  const credentialKind = key ? 'api-key' : passkey ? 'passkey' : isAttested ? 'attested' : null;
  await sql`UPDATE vote SET home_id = ${row.home_id}, credential_kind = ${credentialKind},
      credential_type = ${(key ?? passkey)?.credential.type ?? null},
      session_profile_id = ${key?.credential.sessionProfileId ?? null}
    WHERE organization_id = ${row.organization_id} AND activity_id = ${row.activity_id} AND id = ${row.id}`.execute(db);
}
