import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { OauthIdentity, OauthProvider } from '../../../core/model.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { Oauth2CredentialId, OauthProviderId, OrganizationId, UserId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import type { AuthorityVersions } from '../../../storage/authority.ts';
import { findRow, pageOfRows } from '../../../storage/organization-rows.ts';
import type { Oauth2CredentialTable, OauthProviderTable } from '../../../storage/schema.ts';
import { Reader, type Transaction } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { Oauth2Credential, Oauth2Provider } from '../../login/model.ts';

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

const toCredential = (row: Selectable<Oauth2CredentialTable>): Oauth2Credential => ({
  id: row.id as Oauth2CredentialId,
  provider: row.provider as Oauth2Provider,
  clientId: row.client_id,
  encryptedClientSecret: row.encrypted_client_secret,
  sealedSecret: row.sealed_secret,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const credentialNotFound = (): ApiError =>
  new ApiError('OAUTH2_CREDENTIAL_NOT_FOUND', 'OAuth 2.0 credential not found in this organization');

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
    return await pageOfRows(
      this.db,
      'oauth_provider',
      organizationId,
      request,
      (rows) => rows.map(toOauthProvider),
      userId === undefined ? {} : { filter: sql`AND user_id = ${userId}` },
    );
  }

  async getCredential(organizationId: OrganizationId, credentialId: string): Promise<Oauth2Credential> {
    const row = await findRow(this.db, 'oauth2_credential', organizationId, credentialId);
    if (row === undefined) throw credentialNotFound();
    return toCredential(row);
  }

  /** Whether the organization has any client at the provider. */
  async hasCredentialAt(organizationId: OrganizationId, provider: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('oauth2_credential')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('provider', '=', provider)
      .limit(1)
      .executeTakeFirst();
    return row !== undefined;
  }

  async findCredential(
    organizationId: OrganizationId,
    provider: string,
    clientId: string,
  ): Promise<Oauth2Credential | undefined> {
    const row = await this.db
      .selectFrom('oauth2_credential')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('provider', '=', provider)
      .where('client_id', '=', clientId)
      .executeTakeFirst();
    return row && toCredential(row);
  }

  /** There are few. */
  async allCredentials(organizationId: OrganizationId): Promise<Oauth2Credential[]> {
    const rows = await this.db
      .selectFrom('oauth2_credential')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .limit(1000)
      .execute();
    return rows.map(toCredential);
  }

  async credentials(organizationId: OrganizationId, request: PageRequest): Promise<Page<Oauth2Credential>> {
    return await pageOfRows(this.db, 'oauth2_credential', organizationId, request, (rows) => rows.map(toCredential));
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
    await bury(this.db, organizationId, ids);
  }

  async insertCredential(organizationId: OrganizationId, credential: Oauth2Credential): Promise<void> {
    await this.db
      .insertInto('oauth2_credential')
      .values({
        organization_id: organizationId,
        id: credential.id,
        provider: credential.provider,
        client_id: credential.clientId,
        encrypted_client_secret: credential.encryptedClientSecret,
        sealed_secret: credential.sealedSecret,
        created_at_ms: credential.createdAtMs,
        updated_at_ms: credential.updatedAtMs,
      })
      .execute();
  }

  async updateCredential(organizationId: OrganizationId, credential: Oauth2Credential): Promise<void> {
    const updated = await this.db
      .updateTable('oauth2_credential')
      .set({
        provider: credential.provider,
        client_id: credential.clientId,
        encrypted_client_secret: credential.encryptedClientSecret,
        sealed_secret: credential.sealedSecret,
        updated_at_ms: credential.updatedAtMs,
      })
      .where('organization_id', '=', organizationId)
      .where('id', '=', credential.id)
      .executeTakeFirst();
    if (updated.numUpdatedRows === 0n) throw credentialNotFound();
  }

  async deleteCredential(organizationId: OrganizationId, credentialId: string): Promise<void> {
    const deleted = await this.db
      .deleteFrom('oauth2_credential')
      .where('organization_id', '=', organizationId)
      .where('id', '=', credentialId)
      .executeTakeFirst();
    if (deleted.numDeletedRows === 0n) throw credentialNotFound();
    await bury(this.db, organizationId, [credentialId]);
  }
}
