import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { OauthIdentity, OauthProvider } from '../../../core/model.ts';
import type { OauthProviderId, OrganizationId, UserId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { asRow, ownerOfSet, readOwned } from '../../../storage/integrity/owned-rows.ts';
import type { OwnedSets } from '../../../storage/integrity/owned-sets.ts';
import { findRow, pageOfRows } from '../../../storage/organization-rows.ts';
import { insertion } from '../../../storage/statement.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { OauthProviderTable } from '../tables.ts';
import { forgetUses } from './last-uses.ts';

export const toOauthProvider = (row: Selectable<OauthProviderTable>): OauthProvider => ({
  id: row.id as OauthProviderId,
  userId: row.user_id as UserId,
  name: row.name,
  issuer: row.issuer,
  audience: row.audience,
  subject: row.subject,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const insertProviders = insertion('oauth-provider-insert', 'oauth_provider', [
  'organization_id',
  'id',
  'user_id',
  'name',
  'issuer',
  'audience',
  'subject',
  'created_at_ms',
  'updated_at_ms',
]);

/** OAuth identities of users, and credentials of the organization at OAuth 2.0 providers. */
export class OauthReader extends Reader {
  async findProvider(
    organizationId: OrganizationId,
    { issuer, subject, audience }: OauthIdentity,
  ): Promise<OauthProvider | undefined> {
    const read = async () => {
      const row = await this.db
        .selectFrom('oauth_provider')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .where('issuer', '=', issuer)
        .where('subject', '=', subject)
        .where('audience', '=', audience)
        .executeTakeFirst();
      return row && { row, user: await ownerOfSet(this.db, 'oauth_provider', organizationId, row.user_id) };
    };
    const found = await readOwned(this.db, read, (answer) =>
      answer?.user === undefined
        ? []
        : [{ owner: answer.user, has: { oauth_provider: [asRow(answer.row)] }, isAll: false }],
    );
    // Nothing vouches for an identity whose user is not there.
    return found?.user && toOauthProvider(found.row);
  }

  async hasProvider(organizationId: OrganizationId, providerId: string): Promise<boolean> {
    return (await findRow(this.db, 'oauth_provider', organizationId, providerId)) !== undefined;
  }

  async providersOfUser(organizationId: OrganizationId, userId: string): Promise<OauthProvider[]> {
    const rows = await this.db
      .selectFrom('oauth_provider')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('user_id', '=', userId)
      .orderBy('id')
      .execute();
    return rows.map(toOauthProvider);
  }

  /** Of the whole organization, or of one user. */
  async providers(
    organizationId: OrganizationId,
    userId: string | undefined,
    request: PageRequest,
  ): Promise<Page<OauthProvider>> {
    return await pageOfRows(this.db, 'oauth_provider', organizationId, request, (rows) => rows.map(toOauthProvider), {
      large: ['name', 'issuer', 'audience', 'subject'],
      ...(userId !== undefined && { filter: sql`AND user_id = ${userId}` }),
    });
  }
}

export class OauthStore extends OauthReader {
  static readonly writes = true;
  readonly #authority: AuthorityVersions;
  readonly #owned: OwnedSets;

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
    this.#owned = transaction.owned;
  }

  async insertProviders(organizationId: OrganizationId, providers: readonly OauthProvider[]): Promise<void> {
    if (providers.length === 0) return;
    const rows = providers.map((provider) => ({
      organization_id: organizationId,
      id: provider.id,
      user_id: provider.userId,
      name: provider.name,
      issuer: provider.issuer,
      audience: provider.audience,
      subject: provider.subject,
      created_at_ms: provider.createdAtMs,
      updated_at_ms: provider.updatedAtMs,
    }));
    for (const userId of new Set(providers.map((provider) => provider.userId)))
      await this.#owned.open('oauth_provider', organizationId, userId);
    await insertProviders(this.db, rows);
  }

  /** All of them are this user's. */
  async deleteProviders(organizationId: OrganizationId, userId: string, providerIds: readonly string[]): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    const ids = [...providerIds];
    if (ids.length === 0) return;
    await this.#owned.open('oauth_provider', organizationId, userId);
    this.#owned.remove('oauth_provider', [organizationId, userId], ids);
    await this.db
      .deleteFrom('oauth_provider')
      .where('organization_id', '=', organizationId)
      .where('id', 'in', ids)
      .execute();
    await forgetUses(this.db, organizationId, ids);
    await bury(this.db, organizationId, ids);
  }
}
