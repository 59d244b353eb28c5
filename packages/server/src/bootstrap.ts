import { createKeyring, type Keyring, KeyringError, type KeyringObserver } from '@custos/keyring';
import type { LaunchedKeyring } from '@custos/keyring/launch';
import { ActivityStore } from './core/store/activities.ts';
import { InstallationReader, InstallationStore } from './core/store/installation.ts';
import { OrganizationStore } from './core/store/organizations.ts';
import { DEFAULT_PROXY_SETTINGS, SignUpProxyStore } from './domains/sign-up-proxy/store.ts';
import { CredentialStore } from './domains/users/store/credentials.ts';
import { UserStore } from './domains/users/store/users.ts';
import { unproposedActivity } from './engine/activities/unproposed.ts';
import { sha256Hex } from './lib/encoding.ts';
import { type NewId, type OrganizationId, randomId, type UserId } from './lib/ids.ts';
import { StartError } from './lib/start-error.ts';
import { BOOTSTRAP_TYPE } from './registry.ts';
import { FIRST_RULES_VERSION } from './storage/authority.ts';
import type { Storage } from './storage/storage.ts';

/** How a keyring runs, if it has a process of its own. */
export interface KeyringRun {
  readonly observer?: KeyringObserver;
  /** The process to take over, where one was started ahead. */
  readonly launched?: LaunchedKeyring | undefined;
}

/**
 * Opens the root key that this database is under; a database that has none yet gets the one that is there or a new one.
 */
export async function openRootKey(
  storage: Storage,
  rootKey: string,
  mode: 'process' | 'inline',
  run: KeyringRun = {},
): Promise<Keyring> {
  const recorded = await storage.read(InstallationReader).get('root_key_id');
  const keyring = await openKeyring(rootKey, recorded, { ...run, mode });
  try {
    await requireRecorded(storage, keyring, rootKey, recorded);
    return keyring;
  } catch (error) {
    await keyring.close();
    throw error;
  }
}

async function openKeyring(
  rootKey: string,
  recorded: string | undefined,
  options: KeyringRun & { readonly mode: 'process' | 'inline' },
): Promise<Keyring> {
  try {
    return await createKeyring({ ...options, rootKey, create: recorded === undefined });
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    const hint = recorded === undefined ? '' : ` (the database is under root key ${recorded}: restore that key)`;
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
    if (await storage.write((store) => store(InstallationStore).claim('root_key_id', rootKeyId))) return;
  } else if (keyring.hasRootKey(recorded)) return;
  // Another process was first, or a rotation ended while the ring was opened, which takes seconds with a passphrase.
  const required = (await storage.read(InstallationReader).get('root_key_id')) ?? '';
  if (keyring.hasRootKey(required)) return;
  throw new StartError(`the database is under root key ${required}, which ${rootKey} does not hold`);
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
