import type { Selectable } from 'kysely';
import { ApiError } from '../../../lib/errors.ts';
import type { Oauth2CredentialId, OrganizationId } from '../../../lib/ids.ts';
import type { Page, PageRequest } from '../../../lib/pagination.ts';
import { amendOne, release } from '../../../storage/integrity/amend.ts';
import { partial } from '../../../storage/integrity/partial.ts';
import { findRow, pageOfRows } from '../../../storage/organization-rows.ts';
import { insertion } from '../../../storage/statement.ts';
import { Reader } from '../../../storage/store.ts';
import { bury } from '../../../storage/tombstones.ts';
import type { Oauth2Credential, Oauth2Provider } from '../model.ts';
import type { Oauth2CredentialTable } from '../tables.ts';

const toCredential = (row: Selectable<Oauth2CredentialTable>): Oauth2Credential => ({
  id: row.id as Oauth2CredentialId,
  provider: row.provider as Oauth2Provider,
  clientId: row.client_id,
  encryptedClientSecret: row.encrypted_client_secret,
  sealedSecret: row.sealed_secret,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const insertCredentials = insertion('oauth2-credential-insert', 'oauth2_credential', [
  'organization_id',
  'id',
  'provider',
  'client_id',
  'encrypted_client_secret',
  'sealed_secret',
  'created_at_ms',
  'updated_at_ms',
]);

const credentialNotFound = (): ApiError =>
  new ApiError('OAUTH2_CREDENTIAL_NOT_FOUND', 'OAuth 2.0 credential not found in this organization');

export class Oauth2CredentialReader extends Reader {
  async getCredential(organizationId: OrganizationId, credentialId: string): Promise<Oauth2Credential> {
    const row = await findRow(this.db, 'oauth2_credential', organizationId, credentialId);
    if (row === undefined) throw credentialNotFound();
    return toCredential(row);
  }

  /** Whether the organization has any client at the provider. */
  async hasCredentialAt(organizationId: OrganizationId, provider: string): Promise<boolean> {
    const row = await this.db
      .selectFrom('oauth2_credential')
      .modifyFront(partial('says only why a request is refused'))
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
    return await pageOfRows(this.db, 'oauth2_credential', organizationId, request, (rows) => rows.map(toCredential), {
      large: ['client_id', 'encrypted_client_secret', 'sealed_secret'],
    });
  }
}

export class Oauth2CredentialStore extends Oauth2CredentialReader {
  static readonly writes = true;

  async insertCredential(organizationId: OrganizationId, credential: Oauth2Credential): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: credential.id,
      provider: credential.provider,
      client_id: credential.clientId,
      encrypted_client_secret: credential.encryptedClientSecret,
      sealed_secret: credential.sealedSecret,
      created_at_ms: credential.createdAtMs,
      updated_at_ms: credential.updatedAtMs,
    };
    await insertCredentials(this.db, [row]);
  }

  async updateCredential(organizationId: OrganizationId, credential: Oauth2Credential): Promise<void> {
    const key = { organization_id: organizationId, id: credential.id };
    const updated = await amendOne(this.db, 'oauth2_credential', key, () => ({
      provider: credential.provider,
      client_id: credential.clientId,
      encrypted_client_secret: credential.encryptedClientSecret,
      sealed_secret: credential.sealedSecret,
      updated_at_ms: credential.updatedAtMs,
    }));
    if (updated === undefined) throw credentialNotFound();
  }

  async deleteCredential(organizationId: OrganizationId, credentialId: string): Promise<void> {
    release(this.db, 'oauth2_credential');
    const deleted = await this.db
      .deleteFrom('oauth2_credential')
      .where('organization_id', '=', organizationId)
      .where('id', '=', credentialId)
      .executeTakeFirst();
    if (deleted.numDeletedRows === 0n) throw credentialNotFound();
    await bury(this.db, organizationId, [credentialId]);
  }
}
