import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { OauthIdentity, OauthProvider } from '../../../core/model.ts';
import type { OauthProviderId, OrganizationId, UserId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { findRow, pageOfRows } from '../../../storage/organization-rows.ts';
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

/** OAuth identities of users, and credentials of the organization at OAuth 2.0 providers. */
export class OauthReader extends Reader {
  async findProvider(
    organizationId: OrganizationId,
    { issuer, subject, audience }: OauthIdentity,
  ): Promise<OauthProvider | undefined> {
    const row = await this.db
      .selectFrom('oauth_provider')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .where('audience', '=', audience)
      .executeTakeFirst();
    return row && toOauthProvider(row);
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

  constructor(transaction: Transaction) {
    super(transaction);
    this.#authority = transaction.authority;
  }

  async insertProviders(organizationId: OrganizationId, providers: readonly OauthProvider[]): Promise<void> {
    if (providers.length === 0) return;
    await this.db
      .insertInto('oauth_provider')
      .values(
        providers.map((provider) => ({
          organization_id: organizationId,
          id: provider.id,
          user_id: provider.userId,
          name: provider.name,
          issuer: provider.issuer,
          audience: provider.audience,
          subject: provider.subject,
          created_at_ms: provider.createdAtMs,
          updated_at_ms: provider.updatedAtMs,
        })),
      )
      .execute();
  }

  async deleteProviders(organizationId: OrganizationId, providerIds: readonly string[]): Promise<void> {
    await this.#authority.alters(organizationId, 'facts');
    const ids = [...providerIds];
    if (ids.length === 0) return;
    await this.db
      .deleteFrom('oauth_provider')
      .where('organization_id', '=', organizationId)
      .where('id', 'in', ids)
      .execute();
    await forgetUses(this.db, organizationId, ids);
    await bury(this.db, organizationId, ids);
  }
}
