import { type Keyring, SERVICE_ROLES, type ServiceRole } from '@custos/keyring';
import { byUse } from './core/service-keys.ts';
import { InstallationReader, InstallationStore, type ServiceProcess } from './core/store/installation.ts';
import { FenceFollower } from './fence/follow.ts';
import { openInstallationKey } from './installation-key.ts';
import { type IntegrityOptions, openIntegrity } from './integrity/open.ts';
import { announceProcess, followRotations, type Opened } from './key-rotation/follow.ts';
import { type Clock, monotonicClock, steadyClock, systemClock } from './lib/clock.ts';
import type { ServiceKey } from './storage/service-key.ts';
import type { Storage } from './storage/storage.ts';

export interface ServiceKeyOptions extends IntegrityOptions {
  /** By which keys come into use and expire; those of the machine unless a test says otherwise. */
  readonly clock?: Clock;
  readonly elapsed?: Clock;
  /** This process, where the database knows it since it was opened. */
  readonly process?: ServiceProcess;
  readonly opened?: Opened | undefined;
  /** Called when a backup was restored over the database. */
  readonly onRestored?: () => void;
}

/** The service's own keys as they are now: another list once they change. Of each role the one in use comes first. */
export interface ServiceKeySet {
  readonly current: () => readonly ServiceKey[];
}

/**
 * Opens the integrity key, which everything after it is verified with, and loads the fence. Makes the service's own keys at the first start, and those of roles that came with a later version; lets the keyring
 * use them at every start and after every rotation of the root key, for as long as the keyring is open.
 */
export async function openServiceKeys(
  storage: Storage,
  keyring: Keyring,
  nowMs: number,
  { clock = systemClock, elapsed = monotonicClock, process, opened, onRestored, ...options }: ServiceKeyOptions = {},
): Promise<ServiceKeySet> {
  const processId = await announceProcess(storage, keyring, process);
  const integrity = await openIntegrity(storage, keyring, nowMs, options);
  const fence = new FenceFollower(storage);
  await fence.follow();
  const wrapped = await createMissingKeys(storage, keyring, nowMs);
  const steady = steadyClock(clock, elapsed);
  const keys = await loadServiceKeys(storage, keyring, wrapped, steady);
  let current: readonly ServiceKey[] = keys;
  const load = async (rewrapped: string): Promise<readonly ServiceKey[]> => {
    current = await loadServiceKeys(storage, keyring, rewrapped, steady);
    return current;
  };
  await followRotations(storage, keyring, { wrapped, keys }, load, {
    steady,
    elapsed,
    integrity,
    fence,
    processId,
    opened,
    onRestored,
  });
  return { current: () => current };
}

/** Lets the keyring use the keys that are stored. It signs with the first of each role, and opens with all of them. */
export async function loadServiceKeys(
  storage: Storage,
  keyring: Keyring,
  wrapped: string,
  clock: Clock = systemClock,
): Promise<ServiceKey[]> {
  const keys = byUse(await storage.read(InstallationReader).serviceKeys(), clock());
  await keyring.loadServiceKeys(
    Buffer.from(wrapped, 'hex'),
    keys.map(({ role, keyId, sealedKey }) => ({ role: role as ServiceRole, keyId, sealed: sealedKey })),
  );
  return keys;
}

/** Answers with the wrapped key of the deployment. */
async function createMissingKeys(storage: Storage, keyring: Keyring, nowMs: number): Promise<string> {
  for (;;) {
    const wrapped = await openInstallationKey(storage, keyring);
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

function missingRoles(keys: readonly ServiceKey[]): ServiceRole[] {
  return SERVICE_ROLES.filter((role) => !keys.some((key) => key.role === role));
}
