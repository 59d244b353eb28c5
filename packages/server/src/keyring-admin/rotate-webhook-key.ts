import { openRootKey } from '../bootstrap.ts';
import type { Config } from '../config/config.ts';
import { StartError } from '../lib/start-error.ts';
import { SIGNS_AFTER_MS, WEBHOOK_ROLE } from '../webhooks/keys.ts';
import { openBeside, writeBeside } from './beside.ts';

export interface KeyRotationOptions {
  /** The old keys are not to be trusted: they are destroyed, and the new one signs at once. */
  readonly isCompromised: boolean;
}

export interface RotatedWebhookKey {
  readonly keyId: string;
  readonly signsFromMs: number;
  /** Keys that were destroyed. */
  readonly removed: readonly string[];
}

/**
 * Makes the next key for webhooks beside a running service. It is published at once and signs when caches of the key
 * set must have it; the one before leaves the key set a day later. Every process sees both moments by its own clock.
 */
export async function rotateWebhookKey(config: Config, options: KeyRotationOptions): Promise<RotatedWebhookKey> {
  const storage = await openBeside(config, 'webhooks rotate-key');
  try {
    if ((await storage.read.deployment.get('root_key_id')) === undefined) {
      throw new StartError('the database is under no root key yet: start the service first');
    }
    const keyring = await openRootKey(storage, config.rootKey, config.keyring);
    try {
      for (;;) {
        const wrapped = await storage.read.deployment.get('deployment_key');
        if (wrapped === undefined) throw new StartError('the service has no keys yet: start the service first');
        const { sealed, ...key } = await keyring.createServiceKey(Buffer.from(wrapped, 'hex'), WEBHOOK_ROLE);
        const rotated = await writeBeside(storage, async (store): Promise<RotatedWebhookKey | undefined> => {
          // Held until the end of the transaction: a rotation of the root key, or another one of these, waits or is seen.
          if (!(await store.deployment.exchange('deployment_key', wrapped, wrapped))) return undefined;
          const nowMs = Date.now();
          const before = (await store.deployment.serviceKeys()).filter(({ role }) => role === WEBHOOK_ROLE);
          const next = before.find(({ signsFromMs }) => signsFromMs > nowMs);
          if (next !== undefined && !options.isCompromised) {
            throw new StartError(
              `key ${next.keyId} is published and begins to sign at ${new Date(next.signsFromMs).toISOString()}: rotate after that`,
            );
          }
          const removed = options.isCompromised ? before.map(({ keyId }) => keyId) : [];
          if (removed.length > 0) await store.deployment.deleteServiceKeys(WEBHOOK_ROLE, removed);
          const signsFromMs = options.isCompromised ? nowMs : nowMs + SIGNS_AFTER_MS;
          await store.deployment.insertServiceKey({
            role: WEBHOOK_ROLE,
            ...key,
            sealedKey: sealed,
            signsFromMs,
            createdAtMs: nowMs,
          });
          return { keyId: key.keyId, signsFromMs, removed };
        });
        if (rotated !== undefined) return rotated;
        // The root key was changed meanwhile.
      }
    } finally {
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
}
