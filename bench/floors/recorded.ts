// The tables, indexes and triggers that one update_user_name wrote to in November 2026 (commit fdedb090), and what it wrote:
// a floor that stays where it was when the service learns to write less.
import { type FloorDatabase, openSqlite, pg } from './drivers.ts';
import { idAt, type Unit } from './unit.ts';

const TABLES = `
  CREATE TABLE deployment (name text PRIMARY KEY, value text NOT NULL);
  CREATE TABLE tree_entry (
    root_id text NOT NULL, kind text NOT NULL, value text NOT NULL, organization_id text NOT NULL,
    owner_id text NOT NULL, unique_value text, PRIMARY KEY (root_id, kind, value, organization_id, owner_id));
  CREATE INDEX ix_tree_entry_owner ON tree_entry (organization_id, owner_id);
  CREATE INDEX ix_tree_entry_kind ON tree_entry (root_id, kind, organization_id);
  CREATE UNIQUE INDEX ux_tree_value ON tree_entry (root_id, kind, unique_value);
  CREATE TABLE app_user (
    organization_id text NOT NULL, id text NOT NULL, name text NOT NULL,
    email text, email_key text, email_verified integer NOT NULL, phone text, phone_verified integer NOT NULL,
    revision bigint NOT NULL, created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL,
    PRIMARY KEY (organization_id, id));
  CREATE UNIQUE INDEX ux_user_email ON app_user (organization_id, email_key);
  CREATE UNIQUE INDEX ux_user_phone ON app_user (organization_id, phone);
  CREATE TABLE activity (
    organization_id text NOT NULL, id text NOT NULL, fingerprint text NOT NULL, operation text NOT NULL,
    type text NOT NULL, status text NOT NULL, proposer_id text, parameters text NOT NULL,
    sealed_parameters BYTES, result text, failure text, denial text, round_started_at_ms bigint NOT NULL,
    created_at_ms bigint NOT NULL, updated_at_ms bigint NOT NULL, wants_proofs integer NOT NULL DEFAULT 0, open_to text,
    has_mfa integer NOT NULL DEFAULT 0, authority_id text, body text, sealed_body BYTES, voted_on integer,
    changed_in bigint, PRIMARY KEY (organization_id, id));
  CREATE INDEX ix_activity_id ON activity (id);
  CREATE INDEX ix_activity_status ON activity (organization_id, status, id);
  CREATE INDEX ix_activity_type ON activity (organization_id, type, id);
  CREATE INDEX ix_activity_proposer ON activity (organization_id, proposer_id, id);
  CREATE INDEX ix_activity_created ON activity (organization_id, created_at_ms, id);
  CREATE INDEX ix_activity_changed ON activity (organization_id, changed_in, id) WHERE changed_in IS NOT NULL;
  CREATE INDEX ix_activity_voted_on ON activity (organization_id, id) WHERE voted_on = 1;
  CREATE INDEX ix_activity_open_proposer ON activity (proposer_id)
    WHERE status IN ('ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
  CREATE INDEX ix_activity_open_round ON activity (organization_id, round_started_at_ms, id)
    WHERE status IN ('ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
  CREATE UNIQUE INDEX ux_activity_fingerprint ON activity (organization_id, fingerprint);
  CREATE TABLE vote (
    organization_id text NOT NULL, activity_id text NOT NULL, id text NOT NULL, user_id text NOT NULL,
    selection text NOT NULL, message_digest text NOT NULL, message text NOT NULL, sealed_message BYTES,
    public_key text NOT NULL, signature text NOT NULL, scheme text NOT NULL, credential_id text NOT NULL,
    webauthn text, user_snapshot text NOT NULL, counts integer NOT NULL, round_started_at_ms bigint NOT NULL,
    created_at_ms bigint NOT NULL, home_id text, credential_kind text, credential_type text, session_profile_id text,
    source_address text, PRIMARY KEY (organization_id, activity_id, id));
  CREATE UNIQUE INDEX ux_vote_message ON vote (organization_id, activity_id, user_id, message_digest);
  INSERT INTO deployment (name, value) VALUES ('change_number', '0');
`;

const SQLITE = `${TABLES.replaceAll('BYTES', 'blob')}
  CREATE TRIGGER tg_activity_made AFTER INSERT ON activity BEGIN
    UPDATE deployment SET value = CAST(value AS integer) + 1 WHERE name = 'change_number';
    UPDATE activity SET changed_in = (SELECT CAST(value AS integer) FROM deployment WHERE name = 'change_number')
      WHERE rowid = NEW.rowid;
  END;
  CREATE TRIGGER tg_activity_changed AFTER UPDATE OF status, updated_at_ms ON activity BEGIN
    UPDATE deployment SET value = CAST(value AS integer) + 1 WHERE name = 'change_number';
    UPDATE activity SET changed_in = (SELECT CAST(value AS integer) FROM deployment WHERE name = 'change_number')
      WHERE rowid = NEW.rowid;
  END;
`;

/** The transaction's number was a default of the column, and a trigger of updates alone. */
const POSTGRES = `${TABLES.replaceAll('BYTES', 'bytea')}
  ALTER TABLE activity ALTER COLUMN changed_in SET DEFAULT pg_current_xact_id()::text::bigint;
`;

const RENAMED_USERS = 64;
const NOW_MS = 1_794_970_982_097;
const [ROOT, ORGANIZATION, PROPOSER, ACTIVITY, VOTE, CREDENTIAL] = Array.from({ length: 6 }, (_, index) =>
  idAt(NOW_MS + index),
) as [string, string, string, string, string, string];
const FINGERPRINT = `sha256:${'4f'.repeat(32)}`;

const ACTIVITY_ROW = {
  organization_id: ORGANIZATION,
  id: ACTIVITY,
  fingerprint: FINGERPRINT,
  operation: 'update_user_name',
  type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
  status: 'ACTIVITY_STATUS_COMPLETED',
  proposer_id: PROPOSER,
  parameters: '',
  sealed_parameters: null,
  result: JSON.stringify({ userId: PROPOSER }),
  failure: null,
  denial: null,
  round_started_at_ms: NOW_MS,
  created_at_ms: NOW_MS,
  updated_at_ms: NOW_MS,
  wants_proofs: 0,
  open_to: null,
  has_mfa: 0,
  authority_id: null,
  body: 'x'.repeat(221),
  sealed_body: null,
  voted_on: null,
  changed_in: 83,
};

const VOTE_ROW = {
  organization_id: ORGANIZATION,
  activity_id: ACTIVITY,
  id: VOTE,
  user_id: PROPOSER,
  selection: 'VOTE_SELECTION_APPROVED',
  message_digest: FINGERPRINT,
  message: '',
  sealed_message: null,
  public_key: `03${'cb'.repeat(32)}`,
  signature: '30'.repeat(72),
  scheme: 'SIGNATURE_SCHEME_TK_API_P256',
  credential_id: CREDENTIAL,
  webauthn: null,
  user_snapshot: 'x'.repeat(594),
  counts: 1,
  round_started_at_ms: NOW_MS,
  created_at_ms: NOW_MS,
  home_id: ORGANIZATION,
  credential_kind: 'api-key',
  credential_type: 'CREDENTIAL_TYPE_API_KEY_P256',
  session_profile_id: null,
  source_address: '127.0.0.1',
};

export const RECORDED_UNIT: Unit = {
  inserts: Object.entries({ activity: ACTIVITY_ROW, vote: VOTE_ROW }).map(([table, row]) => ({
    table,
    columns: Object.keys(row),
    values: Object.values(row),
  })),
  fresh: [ACTIVITY, FINGERPRINT, VOTE],
  users: Array.from({ length: RENAMED_USERS }, (_, index) => ({
    organizationId: ORGANIZATION,
    userId: idAt(NOW_MS + 100 + index),
  })),
};

/** The recorded tables, and the users that are renamed, in a database that is empty. */
export async function createRecorded(database: FloorDatabase): Promise<void> {
  const users = RECORDED_UNIT.users.map(
    ({ organizationId, userId }, index) =>
      `INSERT INTO app_user VALUES ('${organizationId}', '${userId}', 'User ${index}', NULL, NULL, 0, NULL, 0, 1, ${NOW_MS}, ${NOW_MS});
       INSERT INTO tree_entry VALUES ('${ROOT}', 'USERNAME', 'User ${index}', '${organizationId}', '${userId}', NULL);`,
  );
  const sql = `${database.kind === 'sqlite' ? SQLITE : POSTGRES}${users.join('\n')}`;
  if (database.kind === 'sqlite') {
    const db = openSqlite(database.file);
    db.exec(sql);
    db.close();
    return;
  }
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(sql);
  await client.end();
}
