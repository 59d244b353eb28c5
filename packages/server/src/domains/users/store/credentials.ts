import { type Selectable, sql } from 'kysely';
import type { ApiKeyPlace, LastUse } from '../../../core/directory.ts';
import type { ApiKey, ApiKeyType, Authenticator } from '../../../core/model.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { OrganizationId, UserId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { together } from '../../../lib/together.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { jsonRows } from '../../../storage/json-rows.ts';
import { pageOfRows } from '../../../storage/organization-rows.ts';
import type { KeptValues } from '../../../storage/revisions.ts';
import { byIds, change, type NewRow, statement, unnamed } from '../../../storage/statement.ts';
import { type Connection, keptValues, type ReadAhead, Reader, type Transaction } from '../../../storage/store.ts';
import type { RemovalReason } from '../../../storage/tombstones.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { AuthenticatorTable } from '../tables.ts';
import {
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

const apiKeyExists = statement('api-key-exists', (db, { organizationId, id }: Key) =>
  db.selectFrom('api_key').select('id').where('organization_id', '=', organizationId).where('id', '=', id),
);
const authenticatorExists = statement('authenticator-exists', (db, { organizationId, id }: Key) =>
  db.selectFrom('authenticator').select('id').where('organization_id', '=', organizationId).where('id', '=', id),
);

const keysOfUser = unnamed(
  (db, { organizationId, userId }: { readonly organizationId: string; readonly userId: string }) =>
    db
      .selectFrom('api_key')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .orderBy('id'),
);
/** As an update of the user would. */
const holdUser = statement(
  'user-hold',
  (_db, { organizationId, id }: Key) =>
    sql`SELECT id FROM app_user WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE`,
);

const deletions = {
  api_key: byIds('api-key-delete', (db, { organizationId }: Scope, ids) =>
    db.deleteFrom('api_key').where('organization_id', '=', organizationId).where('id', 'in', ids),
  ),
  authenticator: byIds('authenticator-delete', (db, { organizationId }: Scope, ids) =>
    db.deleteFrom('authenticator').where('organization_id', '=', organizationId).where('id', 'in', ids),
  ),
};

const extendKey = change('api-key-extend', (db, row: NewRow<'api_key'>) =>
  db
    .updateTable('api_key')
    .set({
      name: row.name,
      session_profile_id: row.session_profile_id,
      expiration_seconds: row.expiration_seconds,
      expires_at_ms: row.expires_at_ms,
      created_at_ms: row.created_at_ms,
      updated_at_ms: row.updated_at_ms,
    })
    .where('organization_id', '=', row.organization_id)
    .where('id', '=', row.id),
);

const authenticatorsOf = unnamed(
  (db, { organizationId, userId }: { readonly organizationId: string; readonly userId: string }) =>
    db
      .selectFrom('authenticator')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .orderBy('id'),
);

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
      SELECT api_key.id, api_key.expires_at_ms FROM ${asked}
      JOIN api_key ON api_key.organization_id = asked.organization_id AND api_key.id = asked.id`.execute(this.db);
    return new Map(rows.map(({ id, expires_at_ms }) => [id, expires_at_ms ?? undefined]));
  }

  async hasApiKey(organizationId: OrganizationId, publicKey: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('api_key')
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
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('user_id', 'in', [...userIds])
      .limit(1)
      .executeTakeFirst();
    if (passkey !== undefined) return true;
    const key = await this.db
      .selectFrom('api_key')
      .select('id')
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
  readonly #ahead: ReadAhead;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#ahead = transaction.ahead;
  }

  /** Holds a user and reads its keys, for `heldKeys`. On SQLite they can be read later as well. */
  async readKeysAhead(organizationId: OrganizationId, userId: string): Promise<void> {
    if (this.kind === 'sqlite') return;
    const [, keys] = await together([
      holdUser(this.db, { organizationId, id: userId }),
      this.apiKeysOfUser(organizationId, userId),
    ]);
    this.#ahead.keep('api_key', aheadKey(organizationId, userId), keys);
  }

  /** Undefined unless they were read ahead, and the transaction has changed no key since. */
  heldKeys(organizationId: OrganizationId, userId: string): readonly ApiKey[] | undefined {
    return this.#ahead.get('api_key', aheadKey(organizationId, userId)) as readonly ApiKey[] | undefined;
  }

  async insertApiKeys(organizationId: OrganizationId, keys: readonly ApiKey[]): Promise<void> {
    this.#ahead.forget('api_key');
    await insertKeys(
      this.db,
      keys.map((key) => fromApiKey(organizationId, key)),
    );
  }

  async insertAuthenticators(organizationId: OrganizationId, authenticators: readonly Authenticator[]): Promise<void> {
    await insertAuthenticators(
      this.db,
      authenticators.map((authenticator) => fromAuthenticator(organizationId, authenticator)),
    );
  }

  async deleteCredentials(
    table: CredentialTable,
    organizationId: OrganizationId,
    ids: readonly string[],
    reasonOf: (id: string) => RemovalReason,
  ): Promise<void> {
    if (ids.length === 0) return;
    await this.#authority.alters(organizationId, 'facts');
    await this.#delete(table, organizationId, ids, reasonOf);
  }

  /**
   * Removes keys that a login or a recovery of the same user replaces, also while the organization is held shared: the
   * user's row is held, and a request that such a key has stamped is checked for it in its own transaction. What is
   * being committed at the same moment counts as done before.
   */
  async deleteReplacedKeys(
    organizationId: OrganizationId,
    apiKeyIds: readonly string[],
    reasonOf: (id: string) => RemovalReason,
  ): Promise<void> {
    if (apiKeyIds.length > 0) await this.#delete('api_key', organizationId, apiKeyIds, reasonOf);
  }

  /** Gives a key another life under the same id; whose it is and which key it is stays. */
  async extendApiKey(organizationId: OrganizationId, key: ApiKey): Promise<void> {
    this.#ahead.forget('api_key');
    await extendKey(this.db, fromApiKey(organizationId, key));
  }

  async #delete(
    table: CredentialTable,
    organizationId: OrganizationId,
    ids: readonly string[],
    reasonOf: (id: string) => RemovalReason,
  ): Promise<void> {
    this.#ahead.forget('api_key');
    await deletions[table](this.db, { organizationId }, ids);
    await forgetUses(this.db, organizationId, ids);
    await bury(this.db, organizationId, ids, reasonOf);
  }

  async noteLastUses(uses: readonly LastUse[]): Promise<void> {
    await noteUses(this.db, this.kind, uses);
  }

  /** Notes that a credential has stamped a request; only the first use is a write. */
  async markUsed(table: CredentialTable, organizationId: OrganizationId, id: string, nowMs: number): Promise<void> {
    await this.db
      .updateTable(table)
      .set({ first_used_at_ms: nowMs })
      .where('organization_id', '=', organizationId)
      .where('id', '=', id)
      .where('first_used_at_ms', 'is', null)
      .execute();
  }

  /** Keeps the highest signature counter that a passkey has shown. */
  async raiseSignCount(organizationId: OrganizationId, authenticatorId: string, signCount: number): Promise<void> {
    await this.db
      .updateTable('authenticator')
      .set({ sign_count: signCount })
      .where('organization_id', '=', organizationId)
      .where('id', '=', authenticatorId)
      .where('sign_count', '<', signCount)
      .execute();
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
    await this.db
      .insertInto('read_session')
      .values({
        organization_id: organizationId,
        token_hash: session.tokenHash,
        user_id: session.userId,
        expires_at_ms: session.expiresAtMs,
      })
      .execute();
  }
}
