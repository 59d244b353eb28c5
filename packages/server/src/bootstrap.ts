import {
  createKeyring,
  type Keyring,
  KeyringError,
  type KeyringLimits,
  type KeyringObserver,
  type KeyringOptions,
  type RingState,
} from '@custos/keyring';
import type { LaunchedKeyring } from '@custos/keyring/launch';
import type { KeyringPlace } from './config/keyring-settings.ts';
import { ActivityStore } from './core/store/activities.ts';
import { InstallationReader, InstallationStore } from './core/store/installation.ts';
import { OrganizationStore } from './core/store/organizations.ts';
import { DEFAULT_PROXY_SETTINGS, SignUpProxyStore } from './domains/sign-up-proxy/store.ts';
import { CredentialStore } from './domains/users/store/credentials.ts';
import { UserStore } from './domains/users/store/users.ts';
import { unproposedActivity } from './engine/activities/unproposed.ts';
import { parseKeyTimes } from './key-rotation/rotation.ts';
import { rootKeyIdsOf } from './key-rotation/uses.ts';
import { toRfc3339 } from './lib/clock.ts';
import { sha256Hex } from './lib/encoding.ts';
import { type NewId, type OrganizationId, randomId, type UserId } from './lib/ids.ts';
import { printable } from './lib/printable.ts';
import { StartError } from './lib/start-error.ts';
import { BOOTSTRAP_TYPE } from './registry.ts';
import { FIRST_RULES_VERSION } from './storage/authority.ts';
import type { Storage } from './storage/storage.ts';

/** How a keyring runs, if it has a process of its own. */
export interface KeyringRun extends KeyringLimits {
  readonly observer?: KeyringObserver;
  /** The process to take over, where one was started ahead. */
  readonly launched?: LaunchedKeyring | undefined;
  /** Set by the service; commands beside it change the ring. */
  readonly refusesAdministration?: boolean;
  /** Where a keyring that has none logs exports and imports. */
  readonly log?: KeyringOptions['log'];
}

/**
 * Opens the root key that this database is under; a database that has none yet gets the one that is there or a new one.
 */
export async function openRootKey(
  storage: Storage,
  rootKey: string,
  place: KeyringPlace,
  run: KeyringRun = {},
): Promise<Keyring> {
  const recorded = await storage.read(InstallationReader).get('root_key_id');
  const keyring = await openKeyring(storage, rootKey, recorded, place, run);
  try {
    await requireRecorded(storage, keyring, rootKey, recorded);
    return keyring;
  } catch (error) {
    await keyring.close();
    throw error;
  }
}

async function openKeyring(
  storage: Storage,
  rootKey: string,
  recorded: string | undefined,
  place: KeyringPlace,
  run: KeyringRun,
): Promise<Keyring> {
  const where = typeof place === 'object' ? { served: place } : { mode: place };
  try {
    return await createKeyring({ ...run, ...where, rootKey, create: recorded === undefined });
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    if (typeof place === 'object' && !error.code.includes('ROOT_KEY')) {
      throw new StartError(`cannot use the keyring: ${error.message}`);
    }
    const hint = recorded === undefined ? '' : ` (${await describeMissing(storage, recorded)}: ${WHERE_TO_LOOK})`;
    throw new StartError(`cannot open the root key ${rootKey}: ${error.message}${hint}`);
  }
}

async function requireRecorded(
  storage: Storage,
  keyring: Keyring,
  rootKey: string,
  recorded: string | undefined,
): Promise<void> {
  if (recorded === undefined) {
    const { rootKeyId } = keyring;
    const isFirst = await storage.write(async (store) => {
      if (!(await store(InstallationStore).claim('root_key_id', rootKeyId))) return false;
      await store(InstallationStore).put('root_key_times', JSON.stringify({ [rootKeyId]: Date.now() }));
      return true;
    });
    if (isFirst) return;
  } else if (keyring.hasRootKey(recorded)) return;
  // Another process was first, or a rotation ended while the ring was opened, which takes seconds with a passphrase.
  const required = (await storage.read(InstallationReader).get('root_key_id')) ?? '';
  if (keyring.hasRootKey(required)) return;
  const { retired = [] } = await keyring.refreshRing();
  throw missingKey(await describeMissing(storage, required), required, rootKey, retired);
}

/** Refuses a ring that lacks root keys which a backup was made under: each is named, with what brings it back. */
export async function requireRootKeys(
  storage: Storage,
  keyring: Keyring,
  ids: readonly string[],
  rootKey: string,
): Promise<void> {
  const missing = ids.filter((id) => !keyring.hasRootKey(id));
  if (missing.length === 0) return;
  const { retired = [] } = await keyring.refreshRing();
  const reasons: string[] = [];
  for (const id of missing) {
    const described = await describeMissing(storage, id, 'something in the backup is');
    reasons.push(missingKey(described, id, rootKey, retired).message);
  }
  throw new StartError(reasons.join('; '));
}

function missingKey(
  missing: string,
  keyId: string,
  rootKey: string,
  retired: NonNullable<RingState['retired']>,
): StartError {
  const own = retired.find(({ id }) => id === keyId);
  if (own === undefined) return new StartError(`${missing}, which ${rootKey} does not hold: ${WHERE_TO_LOOK}`);
  return new StartError(
    `${missing}, which was retired in ${rootKey} at ${toRfc3339(own.retiredAtMs)}: \`custos keyring unretire ${printable(keyId)}\` brings it back`,
  );
}

/**
 * What the service does first with its own keys. They are the first to be under the new key of a rotation: one that was
 * interrupted leaves a database that is recorded under the old key, and that no ring without the new one serves.
 */
export async function withServiceKeys<T>(
  storage: Storage,
  keyring: Keyring,
  rootKey: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KeyringError) || error.code !== 'UNKNOWN_ROOT_KEY') throw error;
    const wrapped = await storage.read(InstallationReader).get('deployment_key');
    const missing = rootKeyIdsOf(wrapped).find((id) => !keyring.hasRootKey(id));
    if (missing === undefined) throw error;
    const { retired = [] } = await keyring.refreshRing();
    throw missingKey(await describeMissing(storage, missing, 'the service keys are'), missing, rootKey, retired);
  }
}

const WHERE_TO_LOOK =
  'restore that key from a backup of the key ring (docs/guides/key-rotation.md#a-key-that-is-missing)';

/** Which root key something is under, and since when, so that somebody can look for it. */
async function describeMissing(storage: Storage, rootKeyId: string, what = 'the database is'): Promise<string> {
  const facts = await storage.read(InstallationReader).facts(['root_key_times', 'retired_root_keys']);
  // The first key is as old as the database, also where nothing recorded that.
  const isFirst = !facts.has('retired_root_keys');
  const sinceMs =
    parseKeyTimes(facts.get('root_key_times'))[rootKeyId] ??
    (isFirst ? await storage.read(InstallationReader).createdAtMs() : undefined);
  const since = sinceMs === undefined ? '' : ` since ${toRfc3339(sinceMs)}`;
  return `${what} under root key ${printable(rootKeyId)}${since}`;
}

export interface FirstOrganization {
  readonly organizationName: string;
  readonly userName: string;
  readonly apiKeyName: string;
  /** Canonical compressed P-256 key. */
  readonly publicKey: string;
}

export interface Bootstrapped {
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly authProxyConfigId: string;
}

/**
 * Creates the first parent organization if the database holds none, with one root user and one API key. `before` runs
 * inside the transaction with what is about to be created: what it writes elsewhere exists before the commit does.
 */
export async function createFirstOrganization(
  storage: Storage,
  keyring: Keyring,
  first: FirstOrganization,
  nowMs: number,
  before: (bootstrapped: Bootstrapped) => void = () => {},
  newId: NewId = randomId,
): Promise<Bootstrapped | undefined> {
  if (await storage.read(InstallationReader).hasOrganization()) return undefined;
  const organizationId: OrganizationId = newId();
  const userId: UserId = newId();
  const authProxyConfigId: string = newId();
  const wrappedKey = await keyring.createOrganizationKey(organizationId);
  const created: Bootstrapped = { organizationId, userId, authProxyConfigId };
  return await storage.write(async (store) => {
    // Waits for another process that is doing the same, and then finds that it did.
    if (!(await store(InstallationStore).claim('bootstrap', organizationId))) return undefined;
    if (await store(InstallationStore).hasOrganization()) return undefined;
    await store(OrganizationStore).insert({
      id: organizationId,
      parentId: undefined,
      name: first.organizationName,
      rootThreshold: 1,
      rootUserIds: [userId],
      authorityVersion: 1,
      rulesVersion: FIRST_RULES_VERSION,
      wrappedKey,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
      deletedAtMs: undefined,
    });
    await store(UserStore).insert(
      organizationId,
      [{ id: userId, name: first.userName, email: undefined, phone: undefined }],
      nowMs,
    );
    await store(CredentialStore).insertApiKeys(organizationId, [
      {
        id: newId(),
        userId,
        name: first.apiKeyName,
        type: 'CREDENTIAL_TYPE_API_KEY_P256',
        publicKey: first.publicKey,
        sessionProfileId: undefined,
        expirationSeconds: undefined,
        expiresAtMs: undefined,
        firstUsedAtMs: undefined,
        createdAtMs: nowMs,
        updatedAtMs: nowMs,
      },
    ]);
    // Its user and key are made with its first use.
    await store(SignUpProxyStore).insert({
      id: authProxyConfigId,
      organizationId,
      enabled: true,
      identity: undefined,
      settings: DEFAULT_PROXY_SETTINGS,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    await store(OrganizationStore).setFeature(organizationId, 'FEATURE_NAME_AUTH_PROXY', 'true');
    // The audit log starts at genesis: an activity that nobody voted on.
    const parameters = { organizationName: first.organizationName, rootUserId: userId };
    const genesis = unproposedActivity(
      {
        id: newId(),
        organizationId,
        fingerprint: `sha256:${sha256Hex(JSON.stringify({ type: BOOTSTRAP_TYPE, organizationId, parameters }))}`,
        operation: 'create_organization',
        type: BOOTSTRAP_TYPE,
        parameters,
        result: { organizationId },
      },
      nowMs,
    );
    await store(ActivityStore).insert(genesis, []);
    before(created);
    return created;
  });
}
