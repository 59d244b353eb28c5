import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { MemberRecord, User } from '../../../core/model.ts';
import { chunks, groupBy } from '../../../lib/collections.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId, TagId, UserId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { together } from '../../../lib/together.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { bytesOf } from '../../../storage/bytes-of.ts';
import { amend, amendOne, hold, release } from '../../../storage/integrity/amend.ts';
import { asRow, knownOwned, type Owned, readOwned } from '../../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { wholeRows } from '../../../storage/integrity/whole-rows.ts';
import { namesOfRows, pageOfRows } from '../../../storage/organization-rows.ts';
import type { Schema } from '../../../storage/schema.ts';
import { ask, insertion, quickStatement, statement, unnamed } from '../../../storage/statement.ts';
import { type ReadAhead, Reader, type Transaction } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { UserRecord } from '../model.ts';
import type { UserTable, UserTagTable } from '../tables.ts';
import { type ApiKeyRow, type AuthenticatorRow, byId, toApiKey, toAuthenticator } from './credential-rows.ts';
import { forgetUses } from './last-uses.ts';
import { toMfaPolicy } from './mfa.ts';
import { toOauthProvider } from './oauth.ts';

export type UserRow = Selectable<UserTable>;

export const toUser = (row: UserRow): User => ({
  id: row.id as UserId,
  name: row.name,
  email: row.email ?? undefined,
  emailVerified: row.email_verified === 1,
  phone: row.phone ?? undefined,
  phoneVerified: row.phone_verified === 1,
  revision: row.revision,
  ownedDigest: row.owned_digest ?? undefined,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

interface Owner extends Record<string, unknown> {
  readonly organizationId: string;
  readonly userId: string;
}

const oneUser = quickStatement('user', (db, { organizationId, userId }: Owner) =>
  db.selectFrom('app_user').selectAll().where('organization_id', '=', organizationId).where('id', '=', userId),
);
const oneUserApiKeys = quickStatement('user-api-keys', (db, { organizationId, userId }: Owner) =>
  db
    .selectFrom('api_key')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .orderBy('id'),
);
const oneUserAuthenticators = quickStatement('user-authenticators', (db, { organizationId, userId }: Owner) =>
  db
    .selectFrom('authenticator')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .orderBy('id'),
);
const oneUserTags = quickStatement('user-tags', (db, { organizationId, userId }: Owner) =>
  db
    .selectFrom('user_tag')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .orderBy('tag_id'),
);
const oneUserOauthProviders = quickStatement('user-oauth-providers', (db, { organizationId, userId }: Owner) =>
  db
    .selectFrom('oauth_provider')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .orderBy('id'),
);
const oneUserMfaPolicies = quickStatement('user-mfa-policies', (db, { organizationId, userId }: Owner) =>
  db
    .selectFrom('mfa_policy')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', userId)
    .orderBy('position')
    .orderBy('id'),
);

const insertUsers = insertion('user-insert', 'app_user', [
  'organization_id',
  'id',
  'name',
  'email',
  'email_key',
  'email_verified',
  'phone',
  'phone_verified',
  'revision',
  'owned_digest',
  'created_at_ms',
  'updated_at_ms',
]);

const holderOf = (column: 'email_key' | 'phone') =>
  unnamed((db, { organizationId, value }: { readonly organizationId: string; readonly value: string }) =>
    db.selectFrom('app_user').selectAll().where('organization_id', '=', organizationId).where(column, '=', value),
  );
const HOLDERS = { email: holderOf('email_key'), phone: holderOf('phone') } as const;

/** Of a row without long texts: indexes count them, so no row is read. */
const SHORT_ROW_BYTES = sql.lit(192);

const ownedBytes = (table: string, bytes: RawBuilder<unknown>): RawBuilder<number> =>
  sql`COALESCE((SELECT ${bytes} FROM ${sql.table(table)} WHERE ${sql.ref(`${table}.organization_id`)} =
    app_user.organization_id AND ${sql.ref(`${table}.user_id`)} = app_user.id), 0)`;

const AUTHENTICATOR_BYTES = bytesOf('authenticator', ['name', 'credential_id', 'public_key', 'transports']);
const PROVIDER_BYTES = bytesOf('oauth_provider', ['name', 'issuer', 'audience', 'subject']);
const MFA_POLICY_BYTES = bytesOf('mfa_policy', ['name', 'condition', 'steps', 'notes']);

/** A user with all that is shown of it. */
const RECORD_BYTES: RawBuilder<number> = sql`(${sql.join(
  [
    SHORT_ROW_BYTES,
    ownedBytes('api_key', sql`COUNT(*) * ${SHORT_ROW_BYTES}`),
    ownedBytes('user_tag', sql`COUNT(*) * ${sql.lit(40)}`),
    ownedBytes('authenticator', sql`SUM(${AUTHENTICATOR_BYTES})`),
    ownedBytes('oauth_provider', sql`SUM(${PROVIDER_BYTES})`),
    ownedBytes('mfa_policy', sql`SUM(${MFA_POLICY_BYTES})`),
  ],
  sql` + `,
)})`;

export const userNotFound = (): ApiError => new ApiError('RESOURCE_NOT_FOUND', 'user not found in this organization');

/** What belongs to users, with the columns that order it. */
const OWNED = {
  api_key: ['id'],
  authenticator: ['id'],
  user_tag: ['tag_id'],
  oauth_provider: ['id'],
  mfa_policy: ['position', 'id'],
} as const;
type OwnedTable = keyof typeof OWNED;

const ownedRows = <Name extends OwnedTable>(
  table: Name,
  organizationId: string,
  filter: RawBuilder<unknown>,
  columns: RawBuilder<unknown> = sql`*`,
) =>
  sql<
    Selectable<Schema[Name]>
  >`SELECT ${columns} FROM ${sql.table(table)} WHERE organization_id = ${organizationId} AND ${filter}
    ORDER BY ${sql.join(['user_id', ...OWNED[table]].map((column) => sql.ref(column)))}`;

const rowsOf = (has: Owned['has'] | object): Owned['has'] => has as Owned['has'];

/** Users of a page are a range of ids, so what they own is fetched by range rather than by a list of any length. */
interface UserRange extends Record<string, unknown> {
  readonly organizationId: string;
  readonly firstId: string;
  readonly lastId: string;
}
const ownedInRange = <Name extends OwnedTable>(table: Name) =>
  wholeRows(`${table}-of-users`, table, (_db, columns, { organizationId, firstId, lastId }: UserRange) =>
    ownedRows(table, organizationId, sql`user_id >= ${firstId} AND user_id <= ${lastId}`, columns),
  );
const OWNED_IN_RANGE = {
  apiKeys: ownedInRange('api_key'),
  authenticators: ownedInRange('authenticator'),
  tags: ownedInRange('user_tag'),
  providers: ownedInRange('oauth_provider'),
  mfaPolicies: ownedInRange('mfa_policy'),
};

/** All that the users of a range own, together. */
const bytesInRange = statement('bytes owned by users', (_db, { organizationId, firstId, lastId }: UserRange) => {
  const sum = (table: OwnedTable, bytes: RawBuilder<unknown>): RawBuilder<unknown> =>
    sql`COALESCE((SELECT ${bytes} FROM ${sql.table(table)} WHERE organization_id = ${organizationId}
      AND user_id >= ${firstId} AND user_id <= ${lastId}), 0)`;
  return sql<{ bytes: number | string }>`SELECT /* partial: sizes */ ${sql.join(
    [
      sum('api_key', sql`COUNT(*) * ${SHORT_ROW_BYTES}`),
      sum('user_tag', sql`COUNT(*) * ${sql.lit(40)}`),
      sum('authenticator', sql`SUM(${AUTHENTICATOR_BYTES})`),
      sum('oauth_provider', sql`SUM(${PROVIDER_BYTES})`),
      sum('mfa_policy', sql`SUM(${MFA_POLICY_BYTES})`),
    ],
    sql` + `,
  )} AS bytes`;
});
const SMALL_BYTES = 256 * 1024;

/** The range of ids that these users are in. */
function rangeOf(organizationId: OrganizationId, rows: readonly UserRow[]): UserRange {
  const ids = rows.map((row) => row.id).sort();
  return { organizationId, firstId: ids[0] ?? '', lastId: ids.at(-1) ?? '' };
}

interface Credentials {
  readonly apiKeys: readonly ApiKeyRow[];
  readonly authenticators: readonly AuthenticatorRow[];
  readonly tags: readonly Selectable<UserTagTable>[];
}

function withCredentials(rows: readonly UserRow[], { apiKeys, authenticators, tags }: Credentials): MemberRecord[] {
  const keysOf = groupBy(apiKeys, (row) => row.user_id);
  const authenticatorsOf = groupBy(authenticators, (row) => row.user_id);
  const tagsOf = groupBy(tags, (row) => row.user_id);
  return rows.map((row) => ({
    id: row.id as UserId,
    user: toUser(row),
    apiKeys: (keysOf.get(row.id) ?? []).map(toApiKey),
    authenticators: (authenticatorsOf.get(row.id) ?? []).map(toAuthenticator),
    tagIds: (tagsOf.get(row.id) ?? []).map((tag) => tag.tag_id as TagId),
  }));
}

type SetTable = 'api_key' | 'authenticator' | 'oauth_provider' | 'user_tag';

/** Read in several statements. */
interface FoundRecord extends UserRecord {
  /** Whether the user was the same before and after them, so that they belong together. */
  readonly isWhole: boolean;
}

export class UserReader extends Reader {
  async find(organizationId: OrganizationId, userId: string): Promise<User | undefined> {
    const [row] = await oneUser(this.db, { organizationId, userId });
    return row === undefined ? undefined : toUser(row);
  }

  async get(organizationId: OrganizationId, userId: string): Promise<User> {
    const user = await this.find(organizationId, userId);
    if (user === undefined) throw userNotFound();
    return user;
  }

  /** The user with this email, compared without case, or this phone number. */
  async byContact(
    organizationId: OrganizationId,
    contact: 'email' | 'phone',
    value: string,
  ): Promise<User | undefined> {
    const asked = contact === 'email' ? value.toLowerCase() : value;
    const [row] = await HOLDERS[contact](this.db, { organizationId, value: asked });
    return row && toUser(row);
  }

  /** The user with its credentials, tags and MFA policies. */
  async record(organizationId: OrganizationId, userId: string): Promise<FoundRecord> {
    const owner = { organizationId, userId };
    const read = () =>
      ask(this.db, [
        oneUser.of(owner),
        oneUserApiKeys.of(owner),
        oneUserAuthenticators.of(owner),
        oneUserOauthProviders.of(owner),
        oneUserTags.of(owner),
        oneUserMfaPolicies.of(owner),
        oneUser.of(owner),
      ]);
    const found = await readOwned(
      this.db,
      read,
      ([[row], api_key, authenticator, oauth_provider, user_tag, mfa_policy]) =>
        row === undefined
          ? []
          : [
              {
                owner: asRow(row),
                has: rowsOf({ api_key, authenticator, oauth_provider, user_tag, mfa_policy }),
                isAll: true,
              },
            ],
    );
    const [[user], apiKeys, authenticators, providers, tags, mfaPolicies, [after]] = found;
    if (user === undefined) throw userNotFound();
    return {
      id: user.id as UserId,
      user: toUser(user),
      apiKeys: apiKeys.map(toApiKey),
      authenticators: authenticators.map(toAuthenticator),
      oauthProviders: providers.map(toOauthProvider),
      tagIds: tags.map((tag) => tag.tag_id as TagId),
      mfaPolicies: mfaPolicies.map(toMfaPolicy),
      isWhole: user.revision === after?.revision,
    };
  }

  /**
   * The same but for MFA policies, as it was when the user was read, where all of it is known by the user's digest; a login
   * changes one key of many (docs/decisions/0060).
   */
  knownRecord(organizationId: OrganizationId, user: User): Omit<UserRecord, 'mfaPolicies'> | undefined {
    const has = knownOwned(this.db, 'app_user', [organizationId, user.id], user.ownedDigest);
    if (has === undefined) return undefined;
    const rows = <Table extends SetTable>(table: Table) =>
      has[table] as readonly unknown[] as Selectable<Schema[Table]>[];
    return {
      id: user.id,
      user,
      apiKeys: rows('api_key').map(toApiKey).sort(byId),
      authenticators: rows('authenticator').map(toAuthenticator).sort(byId),
      oauthProviders: rows('oauth_provider').map(toOauthProvider).sort(byId),
      tagIds: rows('user_tag')
        .map((tag) => tag.tag_id as TagId)
        .sort(),
    };
  }

  async page(organizationId: OrganizationId, request: PageRequest): Promise<Page<UserRecord>> {
    const toItems = (rows: UserRow[]): Promise<UserRecord[]> => this.#withAll(organizationId, rows);
    return await pageOfRows(this.db, 'app_user', organizationId, request, toItems, {
      bytes: RECORD_BYTES,
      areSmall: async (rows) => await this.#areSmall(organizationId, rows),
    });
  }

  async #areSmall(organizationId: OrganizationId, rows: readonly UserRow[]): Promise<boolean> {
    const [owned] = await bytesInRange(this.db, rangeOf(organizationId, rows));
    return Number(owned?.bytes ?? 0) <= SMALL_BYTES;
  }

  /** Those of the users that exist, in the order of their ids, without their MFA policies. */
  async members(organizationId: OrganizationId, userIds: readonly string[]): Promise<MemberRecord[]> {
    const records: MemberRecord[] = [];
    for (const ids of chunks(userIds)) {
      const read = () => this.#some(organizationId, ids);
      const { rows, ...owned } = await readOwned(this.db, read, (found) =>
        found.rows.map((row): Owned => {
          const own = (all: readonly { user_id: string }[]) => all.filter(({ user_id }) => user_id === row.id);
          const has = {
            api_key: own(found.apiKeys),
            authenticator: own(found.authenticators),
            user_tag: own(found.tags),
          };
          return { owner: asRow(row), has: rowsOf(has), isAll: true };
        }),
      );
      records.push(...withCredentials(rows, owned));
    }
    return records;
  }

  async #some(organizationId: OrganizationId, ids: readonly string[]) {
    const filter = sql`user_id IN (${sql.join(ids)})`;
    const owned = async <Name extends OwnedTable>(table: Name) =>
      (await ownedRows(table, organizationId, filter).execute(this.db)).rows;
    const users = this.db
      .selectFrom('app_user')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', 'in', ids)
      .orderBy('id');
    const [rows, apiKeys, authenticators, tags] = await together([
      users.execute(),
      owned('api_key'),
      owned('authenticator'),
      owned('user_tag'),
    ]);
    return { rows, apiKeys, authenticators, tags };
  }

  async #withAll(organizationId: OrganizationId, rows: readonly UserRow[]): Promise<UserRecord[]> {
    if (rows.length === 0) return [];
    const range = rangeOf(organizationId, rows);
    const [apiKeys, authenticators, tags, providers, mfaPolicies] = await ask(this.db, [
      OWNED_IN_RANGE.apiKeys.of(range),
      OWNED_IN_RANGE.authenticators.of(range),
      OWNED_IN_RANGE.tags.of(range),
      OWNED_IN_RANGE.providers.of(range),
      OWNED_IN_RANGE.mfaPolicies.of(range),
    ]);
    const members = withCredentials(rows, { apiKeys, authenticators, tags });
    const policiesOf = groupBy(mfaPolicies, (row) => row.user_id);
    const providersOf = groupBy(providers, (row) => row.user_id);
    return members.map((member) => ({
      ...member,
      oauthProviders: (providersOf.get(member.id) ?? []).map(toOauthProvider),
      mfaPolicies: (policiesOf.get(member.id) ?? []).map(toMfaPolicy),
    }));
  }

  async count(organizationId: OrganizationId): Promise<number> {
    const row = await this.db
      .selectFrom('app_user')
      .modifyFront(partial('a count'))
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow();
    return row.count;
  }

  /** What users are called, of those ids that are users of the organization. */
  async namesOf(organizationId: OrganizationId, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await namesOfRows(this.db, 'app_user', organizationId, ids);
  }

  /** Which of these ids are users of the organization. */
  async existing(organizationId: OrganizationId, userIds: readonly string[]): Promise<Set<string>> {
    if (userIds.length === 0) return new Set();
    const rows = await this.db
      .selectFrom('app_user')
      .modifyFront(partial('which are there'))
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('id', 'in', [...userIds])
      .execute();
    return new Set(rows.map((row) => row.id));
  }
}

export interface NewUser {
  readonly id: UserId;
  readonly name: string;
  readonly email: string | undefined;
  readonly phone: string | undefined;
}

export class UserStore extends UserReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;
  readonly #owned: OwnedSets;
  readonly #ahead: ReadAhead;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
    this.#ahead = transaction.ahead;
  }

  /** Reads the user's row and holds it until the transaction ends, before it is changed. */
  async hold(organizationId: OrganizationId, userId: string): Promise<void> {
    await hold(this.db, 'app_user', { organization_id: organizationId, id: userId });
  }

  /** Holds the user until the transaction ends, for rules that count its credentials. */
  async lock(organizationId: OrganizationId, userId: string, nowMs: number): Promise<void> {
    const isThere = await this.#owned.touch('app_user', [organizationId, userId], (row) => ({
      revision: (row as UserRow).revision + 1,
      updated_at_ms: nowMs,
    }));
    if (!isThere) throw userNotFound();
  }

  async insert(organizationId: OrganizationId, users: readonly NewUser[], nowMs: number): Promise<void> {
    if (users.length === 0) return;
    await this.#authority.alters(organizationId, 'facts');
    await insertUsers(
      this.db,
      users.map((user) => ({
        organization_id: organizationId,
        id: user.id,
        name: user.name,
        email: user.email ?? null,
        email_key: user.email?.toLowerCase() ?? null,
        email_verified: 0,
        phone: user.phone ?? null,
        phone_verified: 0,
        revision: 1,
        owned_digest: this.#owned.bears('app_user', organizationId, user.id),
        created_at_ms: nowMs,
        updated_at_ms: nowMs,
      })),
    );
  }

  /** Changes a user's row, which raises its revision; false where there is no such user. */
  async #change(
    organizationId: OrganizationId,
    userId: string,
    nowMs: number,
    changes: Partial<UserRow> = {},
  ): Promise<boolean> {
    const changed = await amendOne(this.db, 'app_user', { organization_id: organizationId, id: userId }, (row) => ({
      revision: row.revision + 1,
      updated_at_ms: nowMs,
      ...changes,
    }));
    return changed !== undefined;
  }

  /** Answers with the name that the user had. */
  async rename(organizationId: OrganizationId, userId: string, name: string, nowMs: number): Promise<string> {
    await this.#authority.altersWhatRulesRead(organizationId);
    // The same row as the change finds: it stays held.
    const before = await hold(this.db, 'app_user', { organization_id: organizationId, id: userId });
    if (before === undefined) throw userNotFound();
    await this.#change(organizationId, userId, nowMs, { name });
    return before.name;
  }

  /** Changing a contact clears its verified mark; an undefined value removes it. */
  async setEmail(
    organizationId: OrganizationId,
    userId: string,
    email: string | undefined,
    nowMs: number,
  ): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    const changes = { email: email ?? null, email_key: email?.toLowerCase() ?? null, email_verified: 0 };
    await this.#change(organizationId, userId, nowMs, changes);
  }

  async setPhone(
    organizationId: OrganizationId,
    userId: string,
    phone: string | undefined,
    nowMs: number,
  ): Promise<void> {
    await this.#change(organizationId, userId, nowMs, { phone: phone ?? null, phone_verified: 0 });
  }

  /** Marks a contact as proven by its owner. */
  async markVerified(
    organizationId: OrganizationId,
    userId: string,
    contact: 'email' | 'phone',
    nowMs: number,
  ): Promise<void> {
    const changes = contact === 'email' ? { email_verified: 1 } : { phone_verified: 1 };
    await this.#change(organizationId, userId, nowMs, changes);
  }

  /** Raises the revision of users whose tags changed. */
  async touch(organizationId: OrganizationId, userIds: readonly string[], nowMs: number): Promise<void> {
    for (const ids of chunks(userIds)) {
      const condition = sql`organization_id = ${organizationId} AND id IN (${sql.join(ids)}) ORDER BY id`;
      await amend(this.db, 'app_user', condition, (row) => ({ revision: row.revision + 1, updated_at_ms: nowMs }));
    }
  }

  /** Removes users with their credentials, sessions and tag memberships. */
  async delete(organizationId: OrganizationId, userIds: readonly string[]): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    const ids = [...userIds];
    for (const table of ['api_key', 'authenticator', 'oauth_provider'] as const) {
      const owned = this.db
        .selectFrom(table)
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('user_id', 'in', ids);
      await this.db
        .deleteFrom('last_use')
        .where('organization_id', '=', organizationId)
        .where('id', 'in', owned)
        .execute();
    }
    await forgetUses(this.db, organizationId, ids);
    this.#ahead.forget('api_key');
    for (const table of ['api_key', 'authenticator', 'oauth_provider', 'read_session', 'user_tag', 'otp'] as const) {
      await this.db
        .deleteFrom(table)
        .where('organization_id', '=', organizationId)
        .where('user_id', 'in', ids)
        .execute();
    }
    await this.db.deleteFrom('app_user').where('organization_id', '=', organizationId).where('id', 'in', ids).execute();
    release(this.db, 'app_user');
    await bury(this.db, organizationId, ids, () => 'revoked');
  }
}
