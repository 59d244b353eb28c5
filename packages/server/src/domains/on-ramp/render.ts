import { toTimestamp } from '../../lib/clock.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { OnRampCredential } from './model.ts';

/** Secrets are shown as they were submitted: encrypted to the service. */
export function renderOnRampCredential(organizationId: OrganizationId, credential: OnRampCredential) {
  const { projectId, encryptedPrivateApiKey } = credential;
  return {
    fiatOnrampCredentialId: credential.id as string,
    organizationId: organizationId as string,
    onrampProvider: credential.provider,
    ...(projectId !== undefined && { projectId }),
    publishableApiKey: credential.publishableApiKey,
    encryptedSecretApiKey: credential.encryptedSecretApiKey,
    ...(encryptedPrivateApiKey !== undefined && { encryptedPrivateApiKey }),
    sandboxMode: credential.isSandbox,
    createdAt: toTimestamp(credential.createdAtMs),
    updatedAt: toTimestamp(credential.updatedAtMs),
  };
}
