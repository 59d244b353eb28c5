import { normalizePublicKey } from './authn/public-key.ts';
import { createFirstOrganization, openRootKey } from './bootstrap.ts';
import { readConfig } from './config/config.ts';
import { dataModel } from './domains.ts';
import {
  type ImportedOperatorKey,
  importOperatorKey as importKey,
  type OperatorKeyOptions,
} from './keyring-admin/import-operator-key.ts';
import { type ListedChain, listConfiguredChains } from './keyring-admin/list-chains.ts';
import { type Rotated, type RotationOptions, rotateKeyring } from './keyring-admin/rotate.ts';
import {
  type KeyRotationOptions,
  type RotatedWebhookKey,
  rotateWebhookKey,
} from './keyring-admin/rotate-webhook-key.ts';
import { type Unopened, type Verified, verifyKeyring } from './keyring-admin/verify.ts';
import { LIMITS } from './lib/limits.ts';
import { StartError } from './lib/start-error.ts';
import { openStorage } from './storage/open.ts';

export { SettingError } from './config/settings.ts';
export { credentialsPath, type RootCredentials } from './credentials-file.ts';
export { ApiError } from './lib/errors.ts';
export { type Rotated, type RotationOptions, readConfig, StartError, type Unopened, type Verified };

export interface Initialization {
  readonly organizationName: string;
  readonly userName: string;
  readonly publicKey: string;
}

export interface Initialized {
  readonly organizationId: string;
  readonly userId: string;
  readonly authProxyConfigId: string;
}

/** Creates the first organization for production: the private key stays with whoever made it (`custos init`). */
export async function initialize(environment: NodeJS.ProcessEnv, wanted: Initialization): Promise<Initialized> {
  const config = readConfig(environment);
  const publicKey = normalizePublicKey('P256', wanted.publicKey);
  for (const [what, name] of [
    ['organization', wanted.organizationName],
    ['user', wanted.userName],
  ] as const) {
    if (name.trim() === '' || name.length > LIMITS.nameLength)
      throw new StartError(`the ${what} name must have 1 to ${LIMITS.nameLength} characters`);
  }
  const nowMs = Date.now();
  const storage = await openStorage({ dataModel, ...config, databaseWaitSeconds: 0, nowMs, onIdleError: () => {} });
  try {
    const keyring = await openRootKey(storage, config.rootKey, 'inline');
    const { organizationName, userName } = wanted;
    const created = await createFirstOrganization(
      storage,
      keyring,
      { organizationName, userName, apiKeyName: 'Root API key', publicKey },
      nowMs,
    );
    await keyring.close();
    if (created === undefined) throw new StartError('the database already holds an organization; nothing was changed');
    return created;
  } finally {
    await storage.close();
  }
}

/** Re-wraps everything under a new root key, beside a running service (`custos keyring rotate`). */
export async function rotate(environment: NodeJS.ProcessEnv, options: RotationOptions): Promise<Rotated> {
  return await rotateKeyring(readConfig(environment), options);
}

/** Opens every stored secret and reports what does not open (`custos keyring verify`). */
export async function verify(environment: NodeJS.ProcessEnv, report: (unopened: Unopened) => void): Promise<Verified> {
  return await verifyKeyring(readConfig(environment), report);
}

/** Publishes the next key for webhooks, beside a running service (`custos webhooks rotate-key`). */
export async function rotateWebhookSigner(
  environment: NodeJS.ProcessEnv,
  options: KeyRotationOptions,
): Promise<RotatedWebhookKey> {
  return await rotateWebhookKey(readConfig(environment), options);
}

/**
 * Takes the key that pays for the operator on a chain into the keyring, beside a running service (`custos chains
 * import-key`).
 */
export async function importOperatorKey(
  environment: NodeJS.ProcessEnv,
  options: OperatorKeyOptions,
): Promise<ImportedOperatorKey> {
  return await importKey(readConfig(environment), options);
}

/** The configured chains, and where the operator's key is missing (`custos chains list`). */
export async function listChains(environment: NodeJS.ProcessEnv): Promise<ListedChain[]> {
  return await listConfiguredChains(readConfig(environment));
}
