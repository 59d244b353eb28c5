import { type RawBuilder, sql } from 'kysely';
import type { ApiKeyType } from '../../../core/model.ts';
import { groupBy } from '../../../lib/collections.ts';
import { toHex } from '../../../lib/encoding.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { fetchPage, type Range } from '../../../storage/keyset.ts';
import { pageOfRows } from '../../../storage/organization-rows.ts';
import { Reader } from '../../../storage/store.ts';
import { hasText, oldestSearched } from '../../../storage/text-match.ts';
import { isTombstone } from '../../../storage/tombstones.ts';
import type { UserRow } from './users.ts';

export type CredentialKind = 'API_KEY' | 'PASSKEY' | 'SESSION' | 'OAUTH';

/** What a list shows of any credential. */
export interface CredentialSummary {
  readonly id: string;
  readonly userId: string;
  readonly kind: CredentialKind;
  readonly name: string;
  readonly publicKey: string | undefined;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | undefined;
  readonly lastUsedAtMs: number | undefined;
}

/** What a list shows of a user instead of everything that belongs to it. */
export interface UserSummary {
  readonly id: string;
  readonly name: string;
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly tagIds: readonly string[];
  readonly passkeyCount: number;
  readonly apiKeyCount: number;
  readonly sessionCount: number;
  readonly oauthCount: number;
  readonly mfaPolicyCount: number;
  readonly lastSeenAtMs: number | undefined;
  readonly credentialExpiresAtMs: number | undefined;
}

/** Keys that somebody registered to keep; the others are made by logins and end by themselves. */
const LASTING_TYPES: readonly ApiKeyType[] = [
  'CREDENTIAL_TYPE_API_KEY_P256',
  'CREDENTIAL_TYPE_API_KEY_SECP256K1',
  'CREDENTIAL_TYPE_API_KEY_ED25519',
];
const isLasting = sql`type IN (${sql.join(LASTING_TYPES.map((type) => sql.lit(type)))})`;

interface CredentialRow {
  readonly id: string;
  readonly user_id: string;
  readonly kind: CredentialKind;
  readonly name: string;
  readonly public_key: string | Uint8Array | null;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
  readonly used_at_ms: number | null;
}

/** How each table says what all of them are listed by. */
const SOURCES = [
  {
    table: 'api_key',
    columns: sql`CASE WHEN ${isLasting} THEN 'API_KEY' ELSE 'SESSION' END AS kind, held.public_key, held.expires_at_ms,
      COALESCE(last_use.used_at_ms, held.first_used_at_ms) AS used_at_ms`,
  },
  {
    table: 'authenticator',
    columns: sql`'PASSKEY' AS kind, held.public_key, NULL AS expires_at_ms,
      COALESCE(last_use.used_at_ms, held.first_used_at_ms) AS used_at_ms`,
  },
  {
    table: 'oauth_provider',
    columns: sql`'OAUTH' AS kind, NULL AS public_key, NULL AS expires_at_ms, last_use.used_at_ms`,
  },
] as const;

const toCredential = (row: CredentialRow): CredentialSummary => ({
  id: row.id,
  userId: row.user_id,
  kind: row.kind,
  name: row.name,
  publicKey:
    typeof row.public_key === 'string' ? row.public_key : row.public_key === null ? undefined : toHex(row.public_key),
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms ?? undefined,
  lastUsedAtMs: row.used_at_ms ?? undefined,
});

interface Counts {
  readonly user_id: string;
  readonly count: number | string;
  readonly sessions?: number | string;
  readonly expires_at_ms?: number | null;
  readonly used_at_ms?: number | null;
}

export class SummaryReader extends Reader {
  /** API keys, sessions, passkeys and OAuth identities together, oldest first. */
  async credentials(
    organizationId: OrganizationId,
    userId: string | undefined,
    request: PageRequest,
  ): Promise<Page<CredentialSummary>> {
    return await fetchPage(request, {
      order: 'asc',
      owns: async (cursor) => {
        const found = await Promise.all(
          SOURCES.map(({ table }) =>
            this.db
              .selectFrom(table)
              .modifyFront(partial('a cursor'))
              .select('id')
              .where('organization_id', '=', organizationId)
              .where('id', '=', cursor)
              .executeTakeFirst(),
          ),
        );
        return found.some((row) => row !== undefined) || (await isTombstone(this.db, organizationId, cursor));
      },
      fetch: async (range) => {
        const found = await Promise.all(
          SOURCES.map(({ table, columns }) => this.#credentialRows(table, columns, organizationId, userId, range)),
        );
        const rows = found.flat().sort((one, other) => (one.id < other.id ? -1 : 1));
        if (range.order === 'desc') rows.reverse();
        return rows.slice(0, range.limit).map(toCredential);
      },
    });
  }

  /** Users, oldest first; with a text those that have it in their name or email, of the newest ones. */
  async users(
    organizationId: OrganizationId,
    text: string | undefined,
    request: PageRequest,
    nowMs: number,
  ): Promise<Page<UserSummary> & { readonly isPartial: boolean }> {
    const oldest = text === undefined ? undefined : await oldestSearched(this.db, 'app_user', organizationId);
    const matches = text === undefined ? sql`` : sql`AND ${hasText(this.kind, ['name', 'email'], text)}`;
    const filter = oldest === undefined ? matches : sql`${matches} AND id >= ${oldest}`;
    const page = await pageOfRows(
      this.db,
      'app_user',
      organizationId,
      request,
      (rows) => this.#summaries(organizationId, rows, nowMs),
      { filter },
    );
    return { ...page, isPartial: oldest !== undefined };
  }

  async #credentialRows(
    table: string,
    columns: RawBuilder<unknown>,
    organizationId: OrganizationId,
    userId: string | undefined,
    { greaterThan, lessThan, order, limit }: Range,
  ): Promise<CredentialRow[]> {
    const { rows } =
      await sql<CredentialRow>`SELECT /* partial: a list to look at */ held.id, held.user_id, held.name, held.created_at_ms, ${columns}
      FROM ${sql.table(table)} AS held
      LEFT JOIN last_use ON last_use.organization_id = held.organization_id AND last_use.id = held.id
      WHERE held.organization_id = ${organizationId}
      ${userId === undefined ? sql`` : sql`AND held.user_id = ${userId}`}
      ${greaterThan === undefined ? sql`` : sql`AND held.id > ${greaterThan}`}
      ${lessThan === undefined ? sql`` : sql`AND held.id < ${lessThan}`}
      ORDER BY held.id ${sql.raw(order)} LIMIT ${limit}`.execute(this.db);
    return rows;
  }

  async #summaries(organizationId: OrganizationId, users: readonly UserRow[], nowMs: number): Promise<UserSummary[]> {
    if (users.length === 0) return [];
    const ids = users.map(({ id }) => id);
    const counted = async (table: string, columns = sql`COUNT(*) AS count`): Promise<Map<string, Counts>> => {
      const { rows } = await sql<Counts>`SELECT /* partial: counts */ user_id, ${columns} FROM ${sql.table(table)}
        WHERE organization_id = ${organizationId} AND user_id IN (${sql.join(ids)}) GROUP BY user_id`.execute(this.db);
      return new Map(rows.map((row) => [row.user_id, row]));
    };
    const isAlive = sql`(expires_at_ms IS NULL OR expires_at_ms > ${nowMs})`;
    const countIf = (condition: RawBuilder<unknown>) => sql`SUM(CASE WHEN ${condition} THEN 1 ELSE 0 END)`;
    const [apiKeys, readSessions, passkeys, providers, mfaPolicies, tags, uses] = await Promise.all([
      counted(
        'api_key',
        sql`${countIf(isLasting)} AS count, ${countIf(sql`NOT (${isLasting}) AND ${isAlive}`)} AS sessions,
          MIN(CASE WHEN ${isLasting} AND ${isAlive} THEN expires_at_ms END) AS expires_at_ms,
          MAX(first_used_at_ms) AS used_at_ms`,
      ),
      counted('read_session', sql`${countIf(isAlive)} AS count`),
      counted('authenticator', sql`COUNT(*) AS count, MAX(first_used_at_ms) AS used_at_ms`),
      counted('oauth_provider'),
      counted('mfa_policy'),
      this.db
        .selectFrom('user_tag')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('user_id', 'in', ids)
        .orderBy('tag_id')
        .execute(),
      this.db
        .selectFrom('last_use')
        .select(['id', 'used_at_ms'])
        .where('organization_id', '=', organizationId)
        .where('id', 'in', ids)
        .execute(),
    ]);
    const tagsOf = groupBy(tags, ({ user_id }) => user_id);
    const usedAt = new Map(uses.map(({ id, used_at_ms }) => [id, used_at_ms]));
    const count = (of: Map<string, Counts>, id: string): number => Number(of.get(id)?.count ?? 0);
    return users.map((user) => {
      const keys = apiKeys.get(user.id);
      // What is noted behind the requests comes a little late; the first use of a credential is stored at once.
      const seen = [usedAt.get(user.id), keys?.used_at_ms, passkeys.get(user.id)?.used_at_ms].map((at) => at ?? 0);
      return {
        id: user.id,
        name: user.name,
        email: user.email ?? undefined,
        phone: user.phone ?? undefined,
        tagIds: (tagsOf.get(user.id) ?? []).map(({ tag_id }) => tag_id),
        passkeyCount: count(passkeys, user.id),
        apiKeyCount: count(apiKeys, user.id),
        sessionCount: Number(keys?.sessions ?? 0) + count(readSessions, user.id),
        oauthCount: count(providers, user.id),
        mfaPolicyCount: count(mfaPolicies, user.id),
        lastSeenAtMs: Math.max(...seen) || undefined,
        credentialExpiresAtMs: keys?.expires_at_ms ?? undefined,
      };
    });
  }
}
