import { type Kysely, type Selectable, sql } from 'kysely';
import type { CredentialTable, Principal } from '../../../core/directory.ts';
import { type ApiKey, type Authenticator, treeRoot, type User } from '../../../core/model.ts';
import { toOrganization } from '../../../core/store/organizations.ts';
import type { ActivityId, OrganizationId } from '../../../lib/ids.ts';
import { markColumn } from '../../../storage/integrity/marked-table.ts';
import { type Owned, readOwned } from '../../../storage/integrity/owned-rows.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import type { Row } from '../../../storage/integrity/row.ts';
import type { KeptValues } from '../../../storage/revisions.ts';
import type { OrganizationTable, Schema } from '../../../storage/schema.ts';
import { quickStatement, statement } from '../../../storage/statement.ts';
import { type Connection, keptValues, Reader } from '../../../storage/store.ts';
import { type ApiKeyRow, type AuthenticatorRow, toApiKey, toAuthenticator } from './credential-rows.ts';
import { toUser, type UserRow } from './users.ts';

type Prefixed<Row, Prefix extends string> = { [Key in keyof Row & string as `${Prefix}${Key}`]: Row[Key] | null };

const ORGANIZATION_COLUMNS = [
  'organization.id',
  'organization.parent_id',
  'organization.name',
  'organization.root_threshold',
  'organization.root_user_ids',
  'organization.authority_version',
  'organization.rules_version',
  'organization.rules_digest',
  'organization.wrapped_key',
  'organization.created_at_ms',
  'organization.updated_at_ms',
  'organization.deleted_at_ms',
  'organization.accepted_restoration',
] as const;

const USER_COLUMNS = [
  'app_user.organization_id as u_organization_id',
  'app_user.id as u_id',
  'app_user.name as u_name',
  'app_user.email as u_email',
  'app_user.email_key as u_email_key',
  'app_user.email_verified as u_email_verified',
  'app_user.phone as u_phone',
  'app_user.phone_verified as u_phone_verified',
  'app_user.revision as u_revision',
  'app_user.owned_digest as u_owned_digest',
  'app_user.created_at_ms as u_created_at_ms',
  'app_user.updated_at_ms as u_updated_at_ms',
] as const;

/** The marks of all three: whoever reads them so has them verified. */
const marksOf = (credential: CredentialTable) =>
  [
    sql<string | null>`organization.organization_mac`.as('organization_mac'),
    sql<string | null>`app_user.app_user_mac`.as('u_app_user_mac'),
    sql<string | null>`${sql.ref(`${credential}.${credential}_mac`)}`.as(`k_${credential}_mac`),
  ] as const;

const USER_FIELDS = [
  'organization_id',
  'id',
  'name',
  'email',
  'email_verified',
  'phone',
  'phone_verified',
  'revision',
  'owned_digest',
  'created_at_ms',
  'updated_at_ms',
] as const satisfies readonly (keyof UserRow)[];

const API_KEY_COLUMNS = [
  'id',
  'user_id',
  'name',
  'type',
  'public_key',
  'session_profile_id',
  'expiration_seconds',
  'expires_at_ms',
  'first_used_at_ms',
  'created_at_ms',
  'updated_at_ms',
] as const satisfies readonly (keyof ApiKeyRow)[];

const AUTHENTICATOR_COLUMNS = [
  'id',
  'user_id',
  'name',
  'credential_id',
  'public_key',
  'rp_id_hash',
  'aaguid',
  'attestation_type',
  'transports',
  'sign_count',
  'first_used_at_ms',
  'created_at_ms',
  'updated_at_ms',
] as const satisfies readonly (keyof AuthenticatorRow)[];

interface KeyLookup extends Record<string, unknown> {
  readonly organizationId: string;
  readonly key: string;
}

interface Lookup extends KeyLookup {
  /** Empty for a query, which has none. */
  readonly fingerprint: string;
}

// The named organization or its parent; where both hold the key, the caller prefers the former (protocol/stamps 7.1).
const holdersOf = (db: Kysely<Schema>, { organizationId, key }: KeyLookup) =>
  db
    .selectFrom('organization')
    .leftJoin('api_key', (join) =>
      join
        .on((eb) => eb('api_key.organization_id', 'in', [eb.ref('organization.id'), eb.ref('organization.parent_id')]))
        .on('api_key.public_key', '=', key),
    )
    .leftJoin('app_user', (join) =>
      join
        .onRef('app_user.organization_id', '=', 'api_key.organization_id')
        .onRef('app_user.id', '=', 'api_key.user_id'),
    )
    .select(ORGANIZATION_COLUMNS)
    .select(USER_COLUMNS)
    .select(marksOf('api_key'))
    .select([
      'api_key.organization_id as k_organization_id',
      'api_key.id as k_id',
      'api_key.user_id as k_user_id',
      'api_key.name as k_name',
      'api_key.type as k_type',
      'api_key.public_key as k_public_key',
      'api_key.session_profile_id as k_session_profile_id',
      'api_key.expiration_seconds as k_expiration_seconds',
      'api_key.expires_at_ms as k_expires_at_ms',
      'api_key.first_used_at_ms as k_first_used_at_ms',
      'api_key.created_at_ms as k_created_at_ms',
      'api_key.updated_at_ms as k_updated_at_ms',
    ])
    .where('organization.id', '=', organizationId);

const ITS_ID = partial('the activity is read by its id');

const byApiKeyOfQuery = quickStatement('principal-by-api-key-of-query', (db, values: KeyLookup) =>
  holdersOf(db, values),
);
const byApiKey = quickStatement('principal-by-api-key', (db, values: Lookup) =>
  holdersOf(db, values)
    .leftJoin('activity', (join) =>
      join
        .onRef('activity.organization_id', '=', 'organization.id')
        .on('activity.fingerprint', '=', values.fingerprint),
    )
    .modifyFront(ITS_ID)
    .select('activity.id as a_id'),
);

const byAuthenticator = statement('principal-by-authenticator', (db, { organizationId, key, fingerprint }: Lookup) =>
  db
    .selectFrom('organization')
    .leftJoin('authenticator', (join) =>
      join
        .on((eb) =>
          eb('authenticator.organization_id', 'in', [eb.ref('organization.id'), eb.ref('organization.parent_id')]),
        )
        .on('authenticator.credential_id', '=', key),
    )
    .leftJoin('app_user', (join) =>
      join
        .onRef('app_user.organization_id', '=', 'authenticator.organization_id')
        .onRef('app_user.id', '=', 'authenticator.user_id'),
    )
    .leftJoin('activity', (join) =>
      join.onRef('activity.organization_id', '=', 'organization.id').on('activity.fingerprint', '=', fingerprint),
    )
    .modifyFront(ITS_ID)
    .select(ORGANIZATION_COLUMNS)
    .select(USER_COLUMNS)
    .select(marksOf('authenticator'))
    .select([
      'activity.id as a_id',
      'authenticator.organization_id as k_organization_id',
      'authenticator.id as k_id',
      'authenticator.user_id as k_user_id',
      'authenticator.name as k_name',
      'authenticator.credential_id as k_credential_id',
      'authenticator.public_key as k_public_key',
      'authenticator.rp_id_hash as k_rp_id_hash',
      'authenticator.aaguid as k_aaguid',
      'authenticator.attestation_type as k_attestation_type',
      'authenticator.transports as k_transports',
      'authenticator.sign_count as k_sign_count',
      'authenticator.first_used_at_ms as k_first_used_at_ms',
      'authenticator.created_at_ms as k_created_at_ms',
      'authenticator.updated_at_ms as k_updated_at_ms',
    ])
    .where('organization.id', '=', organizationId),
);

const bySession = statement(
  'principal-by-read-session',
  (db, { organizationId, key }: { organizationId: string; key: string }) =>
    db
      .selectFrom('read_session')
      .innerJoin('app_user', (join) =>
        join
          .onRef('app_user.organization_id', '=', 'read_session.organization_id')
          .onRef('app_user.id', '=', 'read_session.user_id'),
      )
      .select(USER_COLUMNS)
      .select(sql<string | null>`app_user.app_user_mac`.as('u_app_user_mac'))
      .select([
        'read_session.organization_id',
        'read_session.token_hash',
        'read_session.user_id',
        'read_session.expires_at_ms',
      ])
      .select(sql<string | null>`read_session.read_session_mac`.as('read_session_mac'))
      .where('read_session.organization_id', '=', organizationId)
      .where('read_session.token_hash', '=', key),
);

const byFingerprint = statement(
  'activity-by-fingerprint',
  (db, { organizationId, fingerprint }: { organizationId: string; fingerprint: string }) =>
    db
      .selectFrom('activity')
      .modifyFront(ITS_ID)
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('fingerprint', '=', fingerprint),
);

export class PrincipalReader extends Reader {
  /** Holders alone, without what belongs to a single request. */
  readonly #known: KeptValues<Principal<ApiKey>> | undefined;

  constructor(connection: Connection) {
    super(connection);
    this.#known = keptValues(connection);
  }

  /** Undefined when there is no such organization. A key of the organization itself counts before one of its parent. */
  async byApiKey(
    organizationId: OrganizationId,
    publicKey: string,
    fingerprint: string,
  ): Promise<Principal<ApiKey> | undefined> {
    const name = `${organizationId} ${publicKey}`;
    const known = this.#known?.get(name);
    if (known !== undefined) {
      if (fingerprint === '') return known;
      const [activity] = await byFingerprint(this.db, { organizationId, fingerprint });
      return activity === undefined ? known : { ...known, activityId: activity.id as ActivityId };
    }
    const moment = this.#known?.moment ?? 0;
    const read =
      fingerprint === ''
        ? () => byApiKeyOfQuery(this.db, { organizationId, key: publicKey })
        : () => byApiKey(this.db, { organizationId, key: publicKey, fingerprint });
    const rows = await readOwned<readonly KeyPrincipalRow[]>(this.db, read, (found) => holdersIn(found, 'api_key'));
    const principal = toPrincipal(rows, isOwn, (row) => toApiKey(pick<ApiKeyRow>(row, 'k_', API_KEY_COLUMNS)));
    if (principal?.holder !== undefined) {
      const dependsOn = [organizationId, publicKey, principal.holder.user.id];
      this.#known?.keep(name, { ...principal, activityId: undefined }, dependsOn, moment);
    }
    return principal;
  }

  /** The same for a key that counts only as one of the tree's root, whoever else has registered it. */
  async byKeyOfTreeRoot(
    organizationId: OrganizationId,
    publicKey: string,
    fingerprint: string,
  ): Promise<Principal<ApiKey> | undefined> {
    const read = () => byApiKey(this.db, { organizationId, key: publicKey, fingerprint });
    const rows = await readOwned(this.db, read, (found) => holdersIn(found, 'api_key'));
    const principal = toPrincipal(rows, isOfTreeRoot, (row) => toApiKey(pick<ApiKeyRow>(row, 'k_', API_KEY_COLUMNS)));
    const { organization, holder } = principal ?? {};
    const isRoot = organization !== undefined && holder?.organizationId === treeRoot(organization);
    return principal && (isRoot ? principal : { ...principal, holder: undefined });
  }

  async byAuthenticator(
    organizationId: OrganizationId,
    credentialId: string,
    fingerprint: string,
  ): Promise<Principal<Authenticator> | undefined> {
    const read = () => byAuthenticator(this.db, { organizationId, key: credentialId, fingerprint });
    const rows = await readOwned(this.db, read, (found) => holdersIn(found, 'authenticator'));
    return toPrincipal(rows, isOwn, (row) => toAuthenticator(pick<AuthenticatorRow>(row, 'k_', AUTHENTICATOR_COLUMNS)));
  }

  async byReadSession(
    organizationId: OrganizationId,
    tokenHash: string,
  ): Promise<{ readonly user: User; readonly expiresAtMs: number } | undefined> {
    const [row] = await bySession(this.db, { organizationId, key: tokenHash });
    if (row === undefined) return undefined;
    return { user: toUser(pick<UserRow>(row, 'u_', USER_FIELDS)), expiresAtMs: row.expires_at_ms };
  }
}

interface PrincipalRow extends Selectable<OrganizationTable>, Prefixed<UserRow, 'u_'> {
  /** Only of a submission. */
  readonly a_id?: string | null;
  readonly k_id: string | null;
  readonly k_user_id: string | null;
  readonly k_organization_id: string | null;
}

type KeyPrincipalRow = PrincipalRow & Prefixed<ApiKeyRow, 'k_'>;

/** Who holds the credential, with the credential, for the digest of all that they have. */
const holdersIn = (rows: readonly PrincipalRow[], credential: CredentialTable): Owned[] =>
  rows
    .filter((row) => row.k_id !== null && row.u_id !== null)
    .map((row) => ({
      owner: pick<Row>(row, 'u_', ['organization_id', 'id', 'owned_digest', markColumn('app_user')]),
      has: { [credential]: [pick<Row>(row, 'k_', ['id', markColumn(credential)])] },
      isAll: false,
    }));

const isOwn = (row: PrincipalRow): boolean => row.k_organization_id === row.id;
const isOfTreeRoot = (row: PrincipalRow): boolean => row.k_organization_id === (row.parent_id ?? row.id);

function toPrincipal<Row extends PrincipalRow, Credential>(
  rows: readonly Row[],
  isPreferred: (row: PrincipalRow) => boolean,
  toCredential: (row: Row) => Credential,
): Principal<Credential> | undefined {
  const row = rows.find(isPreferred) ?? rows[0];
  if (row === undefined) return undefined;
  return {
    organization: toOrganization(row),
    activityId: (row.a_id as ActivityId | null | undefined) ?? undefined,
    holder:
      row.k_id === null || row.u_id === null
        ? undefined
        : {
            organizationId: row.k_organization_id as OrganizationId,
            credential: toCredential(row),
            user: toUser(pick<UserRow>(row, 'u_', USER_FIELDS)),
          },
  };
}

/** Takes the columns of one joined table out of a row; the join decided that they are all there. */
function pick<Row>(row: object, prefix: string, columns: readonly string[]): Row {
  const out: Record<string, unknown> = {};
  for (const column of columns) out[column] = (row as Record<string, unknown>)[prefix + column];
  return out as Row;
}
