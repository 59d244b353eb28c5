import { type Selectable, sql } from 'kysely';
import type { ApiKeyPlace, CredentialPlace, LastUse } from '../../../core/directory.ts';
import type { ApiKey, ApiKeyType, Authenticator } from '../../../core/model.ts';
import { assert } from '../../../lib/assert.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId, UserId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { together } from '../../../lib/together.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { amendOne, keepHeld, release } from '../../../storage/integrity/amend.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { wholeRows } from '../../../storage/integrity/whole-rows.ts';
import { jsonRows } from '../../../storage/json-rows.ts';
import { pageOfRows } from '../../../storage/organization-rows.ts';
import type { KeptValues } from '../../../storage/revisions.ts';
import type { Schema } from '../../../storage/schema.ts';
import { byIds, insertion, statement, unnamed } from '../../../storage/statement.ts';
import { type Connection, keptValues, type ReadAhead, Reader, type Transaction } from '../../../storage/store.ts';
import type { RemovalReason } from '../../../storage/tombstones.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { AuthenticatorTable } from '../tables.ts';
import {
  type ApiKeyRow,
  byId,
  fromApiKey,
  fromAuthenticator,
  insertAuthenticators,
  insertKeys,
  toApiKey,
  toAuthenticator,
} from './credential-rows.ts';
import { forgetUses, noteUses } from './last-uses.ts';

type CredentialTable = 'api_key' | 'authenticator';

interface Scope extends Record<string, unknown> {
  readonly organizationId: string;
}
interface Key extends Scope {
  readonly id: string;
}

/** Whoever asks has verified the row before; that it is gone can only refuse. */
const IS_THERE = partial('whether it is still there');

const apiKeyExists = statement('api-key-exists', (db, { organizationId, id }: Key) =>
  db
    .selectFrom('api_key')
    .modifyFront(IS_THERE)
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id),
);
const authenticatorExists = statement('authenticator-exists', (db, { organizationId, id }: Key) =>
  db
    .selectFrom('authenticator')
    .modifyFront(IS_THERE)
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id),
);

const keysOfUser = wholeRows(
  'api-keys-of-user',
  'api_key',
  (_db, columns, { organizationId, userId }: { readonly organizationId: string; readonly userId: string }) =>
    sql<ApiKeyRow>`SELECT ${columns} FROM api_key WHERE organization_id = ${organizationId} AND user_id = ${userId}
      ORDER BY id`,
);
const deletions = {
  api_key: byIds('api-key-delete', (db, { organizationId }: Scope, ids) =>
    db.deleteFrom('api_key').where('organization_id', '=', organizationId).where('id', 'in', ids),
  ),
  authenticator: byIds('authenticator-delete', (db, { organizationId }: Scope, ids) =>
    db.deleteFrom('authenticator').where('organization_id', '=', organizationId).where('id', 'in', ids),
  ),
};

const authenticatorsOf = unnamed(
  (db, { organizationId, userId }: { readonly organizationId: string; readonly userId: string }) =>
    db
      .selectFrom('authenticator')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .orderBy('id'),
);

const insertReadSessions = insertion('read-session-insert', 'read_session', [
  'organization_id',
  'token_hash',
  'user_id',
  'expires_at_ms',
]);

const aheadKey = (organizationId: OrganizationId, userId: string): string => `${organizationId} ${userId}`;

export class CredentialReader extends Reader {
  /** API keys that are there. */
  readonly #present: KeptValues<true> | undefined;

  constructor(connection: Connection) {
    super(connection);
    this.#present = keptValues(connection);
  }

  async getApiKey(organizationId: OrganizationId, apiKeyId: string): Promise<ApiKey> {
    const row = await this.db
      .selectFrom('api_key')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', '=', apiKeyId)
      .executeTakeFirst();
    if (row === undefined) throw new ApiError('RESOURCE_NOT_FOUND', 'API key not found in this organization');
    return toApiKey(row);
  }

  async getAuthenticator(organizationId: OrganizationId, authenticatorId: string): Promise<Authenticator> {
    const row = await this.db
      .selectFrom('authenticator')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('id', '=', authenticatorId)
      .executeTakeFirst();
    if (row === undefined) throw new ApiError('RESOURCE_NOT_FOUND', 'authenticator not found in this organization');
    return toAuthenticator(row);
  }

  async apiKeys(
    organizationId: OrganizationId,
    userId: string | undefined,
    request: PageRequest,
  ): Promise<Page<ApiKey>> {
    const filter = userId === undefined ? sql`` : sql`AND user_id = ${userId}`;
    return await pageOfRows(this.db, 'api_key', organizationId, request, (rows) => rows.map(toApiKey), { filter });
  }

  async authenticators(
    organizationId: OrganizationId,
    userId: string,
    request: PageRequest,
  ): Promise<Page<Authenticator>> {
    const filter = sql`AND user_id = ${userId}`;
    const toItems = (rows: Selectable<AuthenticatorTable>[]): Authenticator[] => rows.map(toAuthenticator);
    return await pageOfRows(this.db, 'authenticator', organizationId, request, toItems, {
      filter,
      large: ['name', 'credential_id', 'public_key', 'transports'],
    });
  }

  async exists(table: CredentialTable, organizationId: OrganizationId, id: string): Promise<boolean> {
    if (table === 'authenticator') return (await authenticatorExists(this.db, { organizationId, id })).length > 0;
    const name = `${organizationId} ${id}`;
    if (this.#present?.get(name)) return true;
    const moment = this.#present?.moment ?? 0;
    const isPresent = (await apiKeyExists(this.db, { organizationId, id })).length > 0;
    if (isPresent) this.#present?.keep(name, true, [id], moment);
    return isPresent;
  }

  async apiKeyEnds(keys: readonly ApiKeyPlace[]): Promise<ReadonlyMap<string, number | undefined>> {
    if (keys.length === 0) return new Map();
    const json = JSON.stringify(keys.map(({ organizationId, id }) => ({ organization_id: organizationId, id })));
    const asked = jsonRows(this.kind, 'asked', { organization_id: 'text', id: 'text' }, json);
    const { rows } = await sql<{ id: string; expires_at_ms: number | null }>`
      SELECT api_key.* FROM ${asked}
      JOIN api_key ON api_key.organization_id = asked.organization_id AND api_key.id = asked.id`.execute(this.db);
    return new Map(rows.map(({ id, expires_at_ms }) => [id, expires_at_ms ?? undefined]));
  }

  async hasApiKey(organizationId: OrganizationId, publicKey: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('api_key')
      .modifyFront(partial('whether the name is taken'))
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('public_key', '=', publicKey)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** A user's keys, oldest first; a user has few. */
  async apiKeysOfUser(organizationId: OrganizationId, userId: string): Promise<ApiKey[]> {
    return (await keysOfUser(this.db, { organizationId, userId })).map(toApiKey);
  }

  async authenticatorsOfUser(organizationId: OrganizationId, userId: string): Promise<Authenticator[]> {
    return (await authenticatorsOf(this.db, { organizationId, userId })).map(toAuthenticator);
  }

  /** Whether one of these users has a passkey, or an API key of these types that lasts until then. */
  async someHaveLasting(
    organizationId: OrganizationId,
    userIds: readonly string[],
    types: readonly ApiKeyType[],
    untilMs: number,
  ): Promise<boolean> {
    if (userIds.length === 0) return false;
    const passkey = await this.db
      .selectFrom('authenticator')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('user_id', 'in', [...userIds])
      .limit(1)
      .executeTakeFirst();
    if (passkey !== undefined) return true;
    const key = await this.db
      .selectFrom('api_key')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('user_id', 'in', [...userIds])
      .where('type', 'in', [...types])
      .where((eb) => eb.or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>=', untilMs)]))
      .limit(1)
      .executeTakeFirst();
    return key !== undefined;
  }
}

export class CredentialStore extends CredentialReader {
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

  /** Holds a user and reads its keys, for `keysOfHeldUser`. On SQLite nobody else writes meanwhile. */
  async readKeysAhead(organizationId: OrganizationId, userId: string): Promise<void> {
    if (this.kind === 'sqlite') return;
    const [, keys] = await together([
      this.#owned.readAhead('api_key', organizationId, userId),
      keysOfUser(this.db, { organizationId, userId }),
    ]);
    this.#ahead.keep('api_key', aheadKey(organizationId, userId), this.#held(keys));
  }

  /**
   * The keys of a user who was held before the caller's credential was looked for. An operation that makes session keys and
   * does not read ahead therefore fails in its first test, and opens no race with a login that removes the caller's key.
   */
  async keysOfHeldUser(organizationId: OrganizationId, userId: string): Promise<readonly ApiKey[]> {
    if (this.kind === 'sqlite') {
      const known = await this.#owned.rows('api_key', organizationId, userId);
      return this.#held(known?.sort(byId) ?? (await keysOfUser(this.db, { organizationId, userId })));
    }
    const held = this.#ahead.get('api_key', aheadKey(organizationId, userId));
    assert(held !== undefined, 'the user was not held, or keys were changed since');
    return held as readonly ApiKey[];
  }

  /** Every change of a key holds its user first. While the user is held, the keys stay as they are and need no second read. */
  #held(rows: readonly ApiKeyRow[]): ApiKey[] {
    for (const row of rows) keepHeld(this.db, 'api_key', row);
    return rows.map(toApiKey);
  }

  async insertApiKeys(organizationId: OrganizationId, keys: readonly ApiKey[]): Promise<void> {
    this.#ahead.forget('api_key');
    const rows = keys.map((key) => fromApiKey(organizationId, key));
    await this.#open('api_key', organizationId, rows);
    await insertKeys(this.db, rows);
  }

  async insertAuthenticators(organizationId: OrganizationId, authenticators: readonly Authenticator[]): Promise<void> {
    const rows = authenticators.map((authenticator) => fromAuthenticator(organizationId, authenticator));
    await this.#open('authenticator', organizationId, rows);
    await insertAuthenticators(this.db, rows);
  }

  /** All of them are this user's. */
  async deleteCredentials(
    table: CredentialTable,
    organizationId: OrganizationId,
    userId: string,
    ids: readonly string[],
    reasonOf: (id: string) => RemovalReason,
  ): Promise<void> {
    if (ids.length === 0) return;
    await this.#authority.alters(organizationId, 'facts');
    await this.#delete(table, organizationId, userId, ids, reasonOf);
  }

  /**
   * Removes keys that a login or a recovery of the same user replaces, also while the organization is held shared: the
   * user's row is held, and a request that such a key has stamped is checked for it in its own transaction. What is
   * being committed at the same moment counts as done before.
   */
  async deleteReplacedKeys(
    organizationId: OrganizationId,
    userId: string,
    apiKeyIds: readonly string[],
    reasonOf: (id: string) => RemovalReason,
  ): Promise<void> {
    if (apiKeyIds.length > 0) await this.#delete('api_key', organizationId, userId, apiKeyIds, reasonOf);
  }

  /** Gives a key another life under the same id; whose it is and which key it is stays. */
  async extendApiKey(organizationId: OrganizationId, key: ApiKey): Promise<void> {
    this.#ahead.forget('api_key');
    // A column that a statement names is written to its indexes anew, also where its value stays.
    const { organization_id, id, user_id, public_key, ...life } = fromApiKey(organizationId, key);
    await this.#open('api_key', organizationId, [{ user_id }]);
    await amendOne(this.db, 'api_key', { organization_id, id }, (row) => {
      assert(row.user_id === user_id && row.public_key === public_key, 'another key');
      return life;
    });
  }

  /** Their users are verified with what they have. */
  async #open(
    table: CredentialTable,
    organizationId: OrganizationId,
    rows: readonly { readonly user_id: string }[],
  ): Promise<void> {
    for (const userId of new Set(rows.map(({ user_id }) => user_id)))
      await this.#owned.open(table, organizationId, userId);
  }

  async #delete(
    table: CredentialTable,
    organizationId: OrganizationId,
    userId: string,
    ids: readonly string[],
    reasonOf: (id: string) => RemovalReason,
  ): Promise<void> {
    this.#ahead.forget('api_key');
    await this.#owned.open(table, organizationId, userId);
    this.#owned.remove(table, [organizationId, userId], ids);
    await deletions[table](this.db, { organizationId }, ids);
    release(this.db, table);
    await forgetUses(this.db, organizationId, ids);
    await bury(this.db, organizationId, ids, reasonOf);
  }

  async noteLastUses(uses: readonly LastUse[]): Promise<void> {
    await noteUses(this.db, this.kind, uses);
  }

  /** Notes that a credential has stamped a request; only the first use is a write. */
  async markUsed(
    table: CredentialTable,
    { organizationId, userId, id }: CredentialPlace,
    nowMs: number,
  ): Promise<void> {
    await this.#amend(table, organizationId, userId, id, (row) =>
      row.first_used_at_ms === null ? { first_used_at_ms: nowMs } : undefined,
    );
  }

  /** Keeps the highest signature counter that a passkey has shown. */
  async raiseSignCount({ organizationId, userId, id }: CredentialPlace, signCount: number): Promise<void> {
    await this.#amend('authenticator', organizationId, userId, id, (row) =>
      row.sign_count < signCount ? { sign_count: signCount } : undefined,
    );
  }

  /** The user is held first, as by everybody who changes what it has. */
  async #amend<Table extends CredentialTable>(
    table: Table,
    organizationId: OrganizationId,
    userId: string,
    id: string,
    change: (row: Selectable<Schema[Table]>) => Partial<Selectable<Schema[Table]>> | undefined,
  ): Promise<void> {
    this.#ahead.forget('api_key');
    await this.#owned.open(table, organizationId, userId);
    await amendOne(this.db, table, { organization_id: organizationId, id }, change);
  }

  async insertReadSession(
    organizationId: OrganizationId,
    session: { readonly tokenHash: string; readonly userId: UserId; readonly expiresAtMs: number },
    nowMs: number,
  ): Promise<void> {
    await this.db
      .deleteFrom('read_session')
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', session.userId)
      .where('expires_at_ms', '<=', nowMs)
      .execute();
    const row = {
      organization_id: organizationId,
      token_hash: session.tokenHash,
      user_id: session.userId,
      expires_at_ms: session.expiresAtMs,
    };
    await insertReadSessions(this.db, [row]);
  }
}
