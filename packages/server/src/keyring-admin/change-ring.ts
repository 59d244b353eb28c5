import { setTimeout as sleep } from 'node:timers/promises';
import { type Keyring, KeyringError, removeRingLeftovers } from '@custos/keyring';

/** A killed process leaves the ring's lock behind; it counts as abandoned after a minute. */
const RING_LOCK_MS_MAX = 90_000;
const TRY_EVERY_MS = 1000;

interface ChangeOptions<T> {
  readonly findDone?: () => Promise<{ readonly outcome: T } | undefined>;
  readonly everyMs?: number;
}

/**
 * Changes the key ring, once whoever else changes it has ended. An answer can also be lost after the ring was written:
 * `findDone` then finds what came of it, so that it is not done twice.
 */
export async function changeRing<T>(
  change: () => Promise<T>,
  say: (line: string) => void,
  { findDone = async () => undefined, everyMs = TRY_EVERY_MS }: ChangeOptions<T> = {},
): Promise<T> {
  const givesUpAtMs = performance.now() + RING_LOCK_MS_MAX;
  let told = false;
  let isRetry = false;
  for (;;) {
    try {
      const done = isRetry ? await findDone() : undefined;
      isRetry = true;
      return done === undefined ? await change() : done.outcome;
    } catch (error) {
      const isBusy = error instanceof KeyringError && error.code === 'UNAVAILABLE';
      if (!isBusy || performance.now() > givesUpAtMs) throw error;
      if (!told) say(`waiting: ${error.message}`);
      told = true;
    }
    await sleep(everyMs);
  }
}

/** Adds one root key, which is the active one then. */
export async function addRootKey(keyring: Keyring, say: (line: string) => void): Promise<string> {
  const { ids, retired = [] } = await keyring.refreshRing();
  const before = new Set([...ids, ...retired.map(({ id }) => id)]);
  const findAdded = async () => {
    const { active } = await keyring.refreshRing();
    return before.has(active) ? undefined : { outcome: active };
  };
  return await changeRing(() => keyring.addRootKey(), say, { findDone: findAdded });
}

/** Destroys a root key. */
export async function removeRootKey(keyring: Keyring, keyId: string, say: (line: string) => void): Promise<void> {
  const findRemoved = async () => {
    const { ids, retired = [] } = await keyring.refreshRing();
    return ids.includes(keyId) || retired.some(({ id }) => id === keyId) ? undefined : { outcome: undefined };
  };
  await changeRing(() => keyring.removeRootKey(keyId), say, { findDone: findRemoved });
}

/** Removes copies of the ring that killed runs left beside it. Answers with those that may still be there. */
export const cleanRing = (ring: string, say: (line: string) => void): Promise<string[]> =>
  changeRing(() => removeRingLeftovers(ring), say);
