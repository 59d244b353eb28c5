import { INSTALLATION_ID, type Keyring, SERVICE_ROLES, type ServiceRole } from '@custos/keyring';
import { InstallationReader, InstallationStore } from './core/store/installation.ts';
import { followRotations } from './key-rotation/follow.ts';
import type { ServiceKey } from './storage/service-key.ts';
import type { Storage } from './storage/storage.ts';

/** The service's own keys. */
export interface ServiceKeySet {
  /** As they were at the start; only those of webhooks change while the service runs. */
  readonly keys: readonly ServiceKey[];
  /** As they are now. */
  readonly current: () => readonly ServiceKey[];
}

/**
 * Makes the service's own keys at the first start, and those of roles that came with a later version; lets the keyring
 * use them at every start and after every rotation of the root key, for as long as the keyring is open.
 */
export async function openServiceKeys(storage: Storage, keyring: Keyring, nowMs: number): Promise<ServiceKeySet> {
  const wrapped = await createMissingKeys(storage, keyring, nowMs);
  const keys = await loadServiceKeys(storage, keyring, wrapped);
  let current: readonly ServiceKey[] = keys;
  await followRotations(storage, keyring, { wrapped, keys }, async (rewrapped) => {
    current = await loadServiceKeys(storage, keyring, rewrapped);
    return current;
  });
  return { keys, current: () => current };
}

/** Lets the keyring use the keys that are stored. */
export async function loadServiceKeys(storage: Storage, keyring: Keyring, wrapped: string): Promise<ServiceKey[]> {
  const keys = await storage.read(InstallationReader).serviceKeys();
  await keyring.loadServiceKeys(
    Buffer.from(wrapped, 'hex'),
    keys.map(({ role, keyId, sealedKey }) => ({ role: role as ServiceRole, keyId, sealed: sealedKey })),
  );
  return keys;
}

/** Answers with the wrapped key of the deployment. */
async function createMissingKeys(storage: Storage, keyring: Keyring, nowMs: number): Promise<string> {
  for (;;) {
    const stored = await storage.read(InstallationReader).get('deployment_key');
    const wrapped = stored ?? (await createInstallationKey(storage, keyring));
    const missing = missingRoles(await storage.read(InstallationReader).serviceKeys());
    if (missing.length === 0) return wrapped;
    const installationKey = Buffer.from(wrapped, 'hex');
    const made: (Awaited<ReturnType<Keyring['createServiceKey']>> & { readonly role: ServiceRole })[] = [];
    // One after the other: all at once would make the keyring start threads that nobody needs yet (docs/decisions/0051).
    for (const role of missing) made.push({ role, ...(await keyring.createServiceKey(installationKey, role)) });
    const isDone = await storage.write(async (store) => {
      // Writing the row locks it: of several processes that start at once the later ones find what the first added.
      if (!(await store(InstallationStore).exchange('deployment_key', wrapped, wrapped))) return false;
      const stillMissing = new Set(missingRoles(await store(InstallationStore).serviceKeys()));
      for (const { sealed, ...key } of made) {
        if (!stillMissing.has(key.role)) continue;
        await store(InstallationStore).insertServiceKey({
          ...key,
          sealedKey: sealed,
          createdAtMs: nowMs,
          signsFromMs: nowMs,
        });
      }
      return true;
    });
    if (isDone) return wrapped;
    // A rotation wrapped the key anew meanwhile.
  }
}

async function createInstallationKey(storage: Storage, keyring: Keyring): Promise<string> {
  const wrapped = Buffer.from(await keyring.createOrganizationKey(INSTALLATION_ID)).toString('hex');
  return await storage.write(async (store) => {
    // Another process that starts at the same moment may have been first; then its key is the deployment's.
    if (await store(InstallationStore).claim('deployment_key', wrapped)) return wrapped;
    return (await store(InstallationStore).get('deployment_key')) ?? wrapped;
  });
}

function missingRoles(keys: readonly ServiceKey[]): ServiceRole[] {
  return SERVICE_ROLES.filter((role) => !keys.some((key) => key.role === role));
}
