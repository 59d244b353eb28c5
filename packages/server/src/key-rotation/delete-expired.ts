import { expiredKeys } from '../core/service-keys.ts';
import { InstallationStore } from '../core/store/installation.ts';
import { type Clock, DAY_MS } from '../lib/clock.ts';
import type { ServiceKey } from '../storage/service-key.ts';
import type { Storage } from '../storage/storage.ts';
import { doubtByDatabase, doubtByStored } from './clock-doubt.ts';

/** One process deletes for all of them: long enough to notice and mend its clock. */
const SEEN_MS = DAY_MS;
/** To look at all organizations for their newest times takes a while where there are many. */
const TRY_AGAIN_MS = 5 * 60_000;

/**
 * Deletes service keys that are out of use. Each process decides by its clock which those are, and one that starts with a
 * wrong clock must not take keys from the others. So it deletes only what it has seen as expired for a whole day that passed,
 * by a clock that fits what is stored and the database's, when it first saw that and at the end. A key that it has once
 * doubted stays for as long as it runs: that costs nothing, because nobody uses it (docs/decisions/0058).
 */
export function createKeyRemoval(
  storage: Storage,
  clock: Clock,
  elapsed: Clock,
): (stored: readonly ServiceKey[]) => Promise<void> {
  /** When each was first seen, by the time that passes; never for those that are doubted. */
  const seenAtMs = new Map<string, number>();
  const isDoubtful = async (): Promise<boolean> => {
    const { read } = storage;
    return ((await doubtByDatabase(read, clock())) ?? (await doubtByStored(read, clock()))) !== undefined;
  };
  const remove = async (stored: readonly ServiceKey[]): Promise<void> => {
    const expired = expiredKeys(stored, clock()).map(({ keyId }) => keyId);
    for (const keyId of seenAtMs.keys()) if (!expired.includes(keyId)) seenAtMs.delete(keyId);
    const unseen = expired.filter((keyId) => !seenAtMs.has(keyId));
    if (unseen.length > 0) {
      const atMs = (await isDoubtful()) ? Number.POSITIVE_INFINITY : elapsed();
      for (const keyId of unseen) seenAtMs.set(keyId, atMs);
    }
    const going = expired.filter((keyId) => elapsed() - (seenAtMs.get(keyId) ?? elapsed()) >= SEEN_MS);
    if (going.length === 0) return;
    if (await isDoubtful()) {
      for (const keyId of going) seenAtMs.set(keyId, Number.POSITIVE_INFINITY);
      return;
    }
    await storage.write(async (store) => {
      const installation = store(InstallationStore);
      for (const { role, keyId } of expiredKeys(await installation.serviceKeys(), clock()))
        if (going.includes(keyId)) await installation.deleteServiceKeys(role, [keyId]);
    });
  };
  let notBeforeMs = Number.NEGATIVE_INFINITY;
  return async (stored) => {
    if (elapsed() < notBeforeMs) return;
    try {
      await remove(stored);
    } catch (error) {
      notBeforeMs = elapsed() + TRY_AGAIN_MS;
      throw error;
    }
  };
}
