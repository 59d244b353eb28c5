import type { Selectable } from 'kysely';
import { ApiError } from '../../lib/errors.ts';
import type { FiatOnRampCredentialId, OnRampTransactionId, OrganizationId } from '../../lib/ids.ts';
import type { Page, PageRequest } from '../../lib/pagination.ts';
import { amendOne } from '../../storage/integrity/amend.ts';
import { findRow, pageOfRows } from '../../storage/organization-rows.ts';
import { insertion } from '../../storage/statement.ts';
import { Reader } from '../../storage/store.ts';
import { bury } from '../../storage/tombstones.ts';
import type { OnRampCredential, OnRampProvider, OnRampStatus, OnRampTransaction } from './model.ts';
import type { OnRampCredentialTable, OnRampTransactionTable } from './tables.ts';

const toCredential = (row: Selectable<OnRampCredentialTable>): OnRampCredential => ({
  id: row.id as FiatOnRampCredentialId,
  provider: row.provider as OnRampProvider,
  projectId: row.project_id ?? undefined,
  publishableApiKey: row.publishable_api_key,
  encryptedSecretApiKey: row.encrypted_secret_api_key,
  encryptedPrivateApiKey: row.encrypted_private_api_key ?? undefined,
  sealedSecretKey: row.sealed_secret_key,
  sealedPrivateKey: row.sealed_private_key ?? undefined,
  isSandbox: row.is_sandbox === 1,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

/** What an update replaces. */
const toChange = (credential: OnRampCredential) => ({
  provider: credential.provider,
  project_id: credential.projectId ?? null,
  publishable_api_key: credential.publishableApiKey,
  encrypted_secret_api_key: credential.encryptedSecretApiKey,
  encrypted_private_api_key: credential.encryptedPrivateApiKey ?? null,
  sealed_secret_key: credential.sealedSecretKey,
  sealed_private_key: credential.sealedPrivateKey ?? null,
  updated_at_ms: credential.updatedAtMs,
});

const insertCredentials = insertion('on-ramp-credential-insert', 'on_ramp_credential', [
  'organization_id',
  'id',
  'provider',
  'project_id',
  'publishable_api_key',
  'encrypted_secret_api_key',
  'encrypted_private_api_key',
  'sealed_secret_key',
  'sealed_private_key',
  'is_sandbox',
  'created_at_ms',
  'updated_at_ms',
]);

const toTransaction = (row: Selectable<OnRampTransactionTable>): OnRampTransaction => ({
  id: row.id as OnRampTransactionId,
  credentialId: row.credential_id,
  provider: row.provider as OnRampProvider,
  isSandbox: row.is_sandbox === 1,
  status: row.status as OnRampStatus,
  createdAtMs: row.created_at_ms,
  updatedAtMs: row.updated_at_ms,
});

const credentialNotFound = (): ApiError =>
  new ApiError('RESOURCE_NOT_FOUND', 'fiat on-ramp credential not found in this organization');

/** Credentials at on-ramp providers, and purchases that were begun with them. */
export class OnRampReader extends Reader {
  async findCredential(organizationId: OrganizationId, credentialId: string): Promise<OnRampCredential | undefined> {
    const row = await findRow(this.db, 'on_ramp_credential', organizationId, credentialId);
    return row && toCredential(row);
  }

  async getCredential(organizationId: OrganizationId, credentialId: string): Promise<OnRampCredential> {
    const credential = await this.findCredential(organizationId, credentialId);
    if (credential === undefined) throw credentialNotFound();
    return credential;
  }

  async newestCredential(
    organizationId: OrganizationId,
    provider: OnRampProvider,
    isSandbox: boolean,
  ): Promise<OnRampCredential | undefined> {
    const row = await this.db
      .selectFrom('on_ramp_credential')
      .selectAll()
      .where('organization_id', '=', organizationId)
      .where('provider', '=', provider)
      .where('is_sandbox', '=', isSandbox ? 1 : 0)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row && toCredential(row);
  }

  async credentials(organizationId: OrganizationId, request: PageRequest): Promise<Page<OnRampCredential>> {
    return await pageOfRows(this.db, 'on_ramp_credential', organizationId, request, (rows) => rows.map(toCredential));
  }

  async getTransaction(organizationId: OrganizationId, transactionId: string): Promise<OnRampTransaction> {
    const row = await findRow(this.db, 'on_ramp_transaction', organizationId, transactionId);
    if (row === undefined) {
      throw new ApiError('RESOURCE_NOT_FOUND', 'on-ramp transaction not found in this organization');
    }
    return toTransaction(row);
  }
}

export class OnRampStore extends OnRampReader {
  static readonly writes = true;

  async insertCredential(organizationId: OrganizationId, credential: OnRampCredential): Promise<void> {
    const row = {
      organization_id: organizationId,
      id: credential.id,
      ...toChange(credential),
      is_sandbox: credential.isSandbox ? 1 : 0,
      created_at_ms: credential.createdAtMs,
    };
    await insertCredentials(this.db, [row]);
  }

  async updateCredential(organizationId: OrganizationId, credential: OnRampCredential): Promise<void> {
    const key = { organization_id: organizationId, id: credential.id };
    const updated = await amendOne(this.db, 'on_ramp_credential', key, () => toChange(credential));
    if (updated === undefined) throw credentialNotFound();
  }

  async deleteCredential(organizationId: OrganizationId, credentialId: string): Promise<void> {
    const deleted = await this.db
      .deleteFrom('on_ramp_credential')
      .where('organization_id', '=', organizationId)
      .where('id', '=', credentialId)
      .executeTakeFirst();
    if (deleted.numDeletedRows === 0n) throw credentialNotFound();
    await bury(this.db, organizationId, [credentialId]);
  }

  async insertTransaction(organizationId: OrganizationId, transaction: OnRampTransaction): Promise<void> {
    await this.db
      .insertInto('on_ramp_transaction')
      .values({
        organization_id: organizationId,
        id: transaction.id,
        credential_id: transaction.credentialId,
        provider: transaction.provider,
        is_sandbox: transaction.isSandbox ? 1 : 0,
        status: transaction.status,
        created_at_ms: transaction.createdAtMs,
        updated_at_ms: transaction.updatedAtMs,
      })
      .execute();
  }

  /** What was completed stays so, and what failed until it is: an answer that took longer may be of the time before. */
  async setStatus(
    organizationId: OrganizationId,
    transactionId: string,
    status: OnRampStatus,
    nowMs: number,
  ): Promise<void> {
    await this.db
      .updateTable('on_ramp_transaction')
      .set({ status, updated_at_ms: nowMs })
      .where('organization_id', '=', organizationId)
      .where('id', '=', transactionId)
      .where('status', 'not in', status === 'COMPLETED' ? ['COMPLETED'] : ['COMPLETED', 'FAILED'])
      .execute();
  }
}
