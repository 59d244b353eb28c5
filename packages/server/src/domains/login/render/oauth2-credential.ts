import { toTimestamp } from '../../../lib/clock.ts';
import type { OrganizationId } from '../../../lib/ids.ts';
import type { Oauth2Credential } from '../model.ts';

/** The secret is shown as it was submitted: encrypted to the service. */
export function renderOauth2Credential(organizationId: OrganizationId, credential: Oauth2Credential) {
  return {
    oauth2CredentialId: credential.id as string,
    organizationId: organizationId as string,
    provider: credential.provider,
    clientId: credential.clientId,
    encryptedClientSecret: credential.encryptedClientSecret,
    createdAt: toTimestamp(credential.createdAtMs),
    updatedAt: toTimestamp(credential.updatedAtMs),
  };
}
