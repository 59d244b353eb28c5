import { type Holder, INSTALLATION_ID } from '../keyring.ts';

/** Of a key that belongs to the service itself. */
export const installationHolder = (organizationKey: Uint8Array, keyId: string): Holder => ({
  organizationKey,
  organizationId: INSTALLATION_ID,
  ownerId: keyId,
});
