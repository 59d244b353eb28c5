import { setTimeout as sleep } from 'node:timers/promises';
import { openRootKey } from '../bootstrap.ts';
import type { Config } from '../config/config.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import { SIGNS_AFTER_MS, WEBHOOK_ROLE } from '../domains/webhooks/keys.ts';
import { StartError } from '../lib/start-error.ts';
import type { ServiceKey } from '../storage/service-key.ts';
import type { Storage } from '../storage/storage.ts';
import type { Stores } from '../storage/stores.ts';
import { openBeside, writeBeside } from './beside.ts';

/** Long enough for every process, which look for keys each second, to publish the new one before any signs with it. */
const COMPROMISED_SIGNS_AFTER_MS = 5000;

export interface KeyRotationOptions {
  /** The old keys are not to be trusted: they are destroyed as soon as the new one can sign. */
  readonly isCompromised: boolean;
  /** Told what is waited for, a line each. */
  readonly say: (line: string) => void;
}

export interface RotatedWebhookKey {
  readonly keyId: string;
  readonly signsFromMs: number;
  /** Keys that were destroyed. */
  readonly removed: readonly string[];
}

/** A key that was just stored. */
interface NextKey {
  readonly keyId: string;
  readonly signsFromMs: number;
  /** All that were there before it. */
  readonly before: readonly string[];
}

/**
 * Makes the next key for webhooks beside a running service. It is published at once and signs when caches of the key
 * set must have it; the one before leaves the key set a day later. Every process sees both moments by its own clock.
 * Of compromised keys none is left: another run, after one that was killed while it waited, destroys what that left.
 */
export async function rotateWebhookKey(config: Config, options: KeyRotationOptions): Promise<RotatedWebhookKey> {
  const storage = await openBeside(config, 'webhooks rotate-key');
  try {
    const next = await publishNext(storage, config, options.isCompromised);
    const { keyId, signsFromMs } = next;
    if (!options.isCompromised) return { keyId, signsFromMs, removed: [] };
    options.say(
      `key ${keyId} is published; waiting ${COMPROMISED_SIGNS_AFTER_MS / 1000} seconds until every process has it and signs with it`,
    );
    await sleep(COMPROMISED_SIGNS_AFTER_MS);
    return { keyId, signsFromMs, removed: await destroyBefore(storage, next) };
  } finally {
    await storage.close();
  }
}

async function publishNext(storage: Storage, config: Config, isCompromised: boolean): Promise<NextKey> {
  if ((await storage.read(InstallationReader).get('root_key_id')) === undefined) {
    throw new StartError('the database is under no root key yet: start the service first');
  }
  const keyring = await openRootKey(storage, config.rootKey, config.keyring);
  try {
    for (;;) {
      const wrapped = await installationKey(storage);
      const { sealed, ...key } = await keyring.createServiceKey(Buffer.from(wrapped, 'hex'), WEBHOOK_ROLE);
      const next = await writeBeside(storage, async (store): Promise<NextKey | undefined> => {
        if (!(await lockKeys(store, wrapped))) return undefined;
        const nowMs = Date.now();
        const before = await webhookKeys(store);
        const pending = before.find(({ signsFromMs }) => signsFromMs > nowMs);
        if (pending !== undefined && !isCompromised) {
          throw new StartError(
            `key ${pending.keyId} is published and begins to sign at ${new Date(pending.signsFromMs).toISOString()}: rotate after that`,
          );
        }
        const signsFromMs = nowMs + (isCompromised ? COMPROMISED_SIGNS_AFTER_MS : SIGNS_AFTER_MS);
        await store(InstallationStore).insertServiceKey({
          role: WEBHOOK_ROLE,
          ...key,
          sealedKey: sealed,
          signsFromMs,
          createdAtMs: nowMs,
        });
        return { keyId: key.keyId, signsFromMs, before: before.map(({ keyId }) => keyId) };
      });
      if (next !== undefined) return next;
      // The root key was changed meanwhile.
      await keyring.refreshRing();
    }
  } finally {
    await keyring.close();
  }
}

/**
 * Answers with those that it destroyed. What was made after the key stays: nobody said that it is not to be trusted.
 */
async function destroyBefore(storage: Storage, { keyId, before }: NextKey): Promise<string[]> {
  for (;;) {
    // Read anew: the root key may have been changed while this waited.
    const wrapped = await installationKey(storage);
    const removed = await writeBeside(storage, async (store): Promise<string[] | undefined> => {
      if (!(await lockKeys(store, wrapped))) return undefined;
      const stored = (await webhookKeys(store)).map((key) => key.keyId);
      if (!stored.includes(keyId)) {
        throw new StartError(
          `key ${keyId} was destroyed by another \`custos webhooks rotate-key --compromised\`: its key takes the place`,
        );
      }
      const old = stored.filter((id) => before.includes(id));
      await store(InstallationStore).deleteServiceKeys(WEBHOOK_ROLE, old);
      return old;
    });
    if (removed !== undefined) return removed;
  }
}

async function installationKey(storage: Storage): Promise<string> {
  const wrapped = await storage.read(InstallationReader).get('deployment_key');
  if (wrapped !== undefined) return wrapped;
  throw new StartError('the service has no keys yet: start the service first');
}

/** Until the end of the transaction: a rotation of the root key, or another one of these, waits or is seen. */
const lockKeys = (store: Stores, wrapped: string): Promise<boolean> =>
  store(InstallationStore).exchange('deployment_key', wrapped, wrapped);

const webhookKeys = async (store: Stores): Promise<ServiceKey[]> =>
  (await store(InstallationStore).serviceKeys()).filter(({ role }) => role === WEBHOOK_ROLE);
