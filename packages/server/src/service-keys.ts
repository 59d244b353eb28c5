import { DEPLOYMENT_ID, type Keyring, SERVICE_ROLES, type ServiceRole } from '@custos/keyring';
import { followRotations } from './keyring-admin/follow.ts';
import type { ServiceKey } from './lib/model.ts';
import type { Storage } from './storage/storage.ts';

/**
 * Makes the service's own keys at the first start, and lets the keyring use them at every start and after every
 * rotation of the root key, for as long as the keyring is open.
 */
export async function openServiceKeys(storage: Storage, keyring: Keyring, nowMs: number): Promise<ServiceKey[]> {
  const wrapped =
    (await storage.read.deployment.get('deployment_key')) ?? (await createServiceKeys(storage, keyring, nowMs));
  const keys = await loadServiceKeys(storage, keyring, wrapped);
  await followRotations(storage, keyring, wrapped, async (rewrapped) => {
    await loadServiceKeys(storage, keyring, rewrapped);
  });
  return keys;
}

async function loadServiceKeys(storage: Storage, keyring: Keyring, wrapped: string): Promise<ServiceKey[]> {
  const keys = await storage.read.deployment.serviceKeys();
  await keyring.loadServiceKeys(
    Buffer.from(wrapped, 'hex'),
    keys.map(({ role, keyId, sealedKey }) => ({ role: role as ServiceRole, keyId, sealed: sealedKey })),
  );
  return keys;
}

async function createServiceKeys(storage: Storage, keyring: Keyring, nowMs: number): Promise<string> {
  const deploymentKey = await keyring.createOrganizationKey(DEPLOYMENT_ID);
  const wrapped = Buffer.from(deploymentKey).toString('hex');
  const made = await Promise.all(
    SERVICE_ROLES.map(async (role) => ({ role, ...(await keyring.createServiceKey(deploymentKey, role)) })),
  );
  return await storage.write(async (store) => {
    // Another process that starts at the same moment may have been first; then its keys are the service's.
    if (!(await store.deployment.claim('deployment_key', wrapped))) {
      return (await store.deployment.get('deployment_key')) ?? wrapped;
    }
    for (const { role, keyId, sealed, publicKey, encoding } of made) {
      await store.deployment.insertServiceKey({
        role,
        keyId,
        publicKey,
        encoding,
        sealedKey: sealed,
        createdAtMs: nowMs,
      });
    }
    return wrapped;
  });
}
