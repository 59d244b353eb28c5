import { type Keyring, RETIRED_KEY_KEPT_MS } from '@custos/keyring';
import { describeUses, usesOf } from '../key-rotation/uses.ts';
import type { Storage } from '../storage/storage.ts';
import { changeRing } from './change-ring.ts';
import { doubtOf, readTimes } from './clock.ts';

export interface ExpiredKeys {
  /** Retired keys whose 30 days are over and that nothing is known to need. */
  readonly ids: readonly string[];
  /** Such keys that stay because nobody is asked about them. */
  readonly left?: readonly string[];
  /** Why such keys stay nevertheless. */
  readonly doubt?: string;
}

/** Only a person who has read which keys go may let them go (docs/decisions/0058). */
export const unlessAsked = ({ ids, ...rest }: ExpiredKeys, asksPerson: boolean): ExpiredKeys =>
  asksPerson || ids.length === 0 ? { ids, ...rest } : { ids: [], left: ids, ...rest };

/**
 * The keys that can go for good. One that something needs again, because a backup was restored, stays; all stay where the
 * clock, which alone says that 30 days are over, does not fit what is stored (docs/decisions/0058).
 */
export async function findExpiredKeys(storage: Storage, keyring: Keyring): Promise<ExpiredKeys> {
  const ring = await keyring.refreshRing();
  const times = await readTimes(storage, ring);
  const ids: string[] = [];
  for (const { id, retiredAtMs } of ring.retired ?? []) {
    if (times.nowMs - retiredAtMs < RETIRED_KEY_KEPT_MS) continue;
    if (describeUses(await usesOf(storage, id)).length === 0) ids.push(id);
  }
  if (ids.length === 0) return { ids };
  const doubt = doubtOf(times);
  return doubt === undefined ? { ids } : { ids: [], doubt: `${ids.join(', ')} stays in the key ring: ${doubt}` };
}

/** Takes out the keys that were agreed on, unless something needs one by now. */
export async function removeExpiredKeys(
  storage: Storage,
  keyring: Keyring,
  agreed: readonly string[],
  say: (line: string) => void,
): Promise<void> {
  if (agreed.length === 0) return;
  const { ids } = await findExpiredKeys(storage, keyring);
  const going = ids.filter((id) => agreed.includes(id));
  const removed = await changeRing(() => keyring.removeExpiredRootKeys(going), say);
  for (const id of removed) say(`root key ${id} was retired 30 days ago and is gone from the key ring`);
}
