import { createKeyring, type Keyring, RETIRED_KEY_KEPT_MS, type RingState } from '@custos/keyring';
import type { Config } from '../config/config.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import { isMove, parseRetired, parseRotation, type Rotation } from '../key-rotation/rotation.ts';
import { describeUses, usesOf } from '../key-rotation/uses.ts';
import { randomId } from '../lib/ids.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';
import { openBeside, writeBeside } from './beside.ts';
import { changeRing, cleanRing, removeRootKey } from './change-ring.ts';
import { doubtByDatabase, doubtOf, readTimes } from './clock.ts';
import { type ExpiredKeys, findExpiredKeys, removeExpiredKeys, unlessAsked } from './expired-keys.ts';
import { lockBackups, lockRotations, type RotationLock } from './lock.ts';
import { openKeyringBeside } from './open-keyring.ts';
import {
  dropRecord,
  nameOf,
  requireNewProcesses,
  requireOurs,
  takenOver,
  takeRecord,
  tellRingChanged,
  type Waiting,
  waitForProcesses,
} from './processes.ts';

const KEY_ID = /^[0-9a-f]{32}$/;

export interface RetireOptions extends Waiting {
  readonly keyId: string;
  /** Removes the key at once instead of keeping it for 30 days. */
  readonly isNow: boolean;
  /** Asked before anything is changed. */
  readonly confirm: (plan: RetirePlan) => Promise<boolean>;
  /** Whether a person reads the plan. Other retired keys are destroyed only then. */
  readonly asksPerson: boolean;
}

export interface RetirePlan {
  readonly ring: string;
  readonly keyId: string;
  /** Whether the key is destroyed: because that is wanted, or because it was retired 30 days ago. */
  readonly isNow: boolean;
  /** Until then it stays in the ring, unless it is destroyed. */
  readonly keptUntilMs?: number;
  /** Why that time may be wrong. */
  readonly doubt?: string;
  /** Other retired keys that are removed for good on the way. */
  readonly expired: ExpiredKeys;
}

export interface Retired {
  readonly keyId: string;
  /** Until then it can be brought back; absent when it is gone. */
  readonly keptUntilMs?: number;
  /** Running processes whose copy of the ring still opens the key. */
  readonly stillHeldBy: readonly string[];
  /** Files beside the ring, left by killed commands, that may still hold the key and could not be removed. */
  readonly leftovers: readonly string[];
}

/**
 * Takes an earlier root key out of use, beside a running service: first it makes sure that neither the database, nor a
 * running process, nor a recorded backup needs it. Undefined when it was not confirmed.
 */
export async function retireKey(config: Config, options: RetireOptions): Promise<Retired | undefined> {
  requireKeyId(options.keyId);
  const lock = await lockRotations(config.databaseUrl);
  try {
    const storage = await openBeside(config, 'keyring rotate');
    try {
      const recorded = await storage.read(InstallationReader).get('root_key_id');
      if (recorded === undefined)
        throw new StartError('the database is under no root key yet: start the service first');
      const keyring = await openKeyringBeside(storage, config);
      try {
        const holdBackups = () => keepBackupsAway(config);
        return await retireAlone({ storage, keyring, lock, ring: config.rootKey, recorded, holdBackups }, options);
      } finally {
        await keyring.close();
      }
    } finally {
      await storage.close();
    }
  } finally {
    await lock.release();
  }
}

interface Retirement {
  readonly storage: Storage;
  readonly keyring: Keyring;
  readonly lock: RotationLock;
  readonly ring: string;
  /** The root key that the database is under. */
  readonly recorded: string;
  readonly holdBackups: () => Promise<Pick<RotationLock, 'release'>>;
}

/** A backup is recorded when it is whole, and may have begun before the rotation: nobody knows of it until then. */
async function keepBackupsAway(config: Config): Promise<Pick<RotationLock, 'release'>> {
  if (config.databaseUrl !== undefined) return await lockBackups(config.databaseUrl);
  // The embedded database is opened with a lock file, which is the one of that command.
  const storage = await openBeside(config, 'backup');
  return { release: () => storage.close() };
}

async function retireAlone(parts: Retirement, options: RetireOptions): Promise<Retired | undefined> {
  const { storage, keyring, lock, ring, recorded } = parts;
  const { keyId, say } = options;
  const state = await keyring.refreshRing();
  const before = state.retired?.find(({ id }) => id === keyId);
  if (keyId === recorded || keyId === state.active)
    throw new StartError(`root key ${keyId} is the one in use: \`custos keyring rotate\` makes another one first`);
  const pending = parseRotation(await storage.read(InstallationReader).get('rotation'));
  const isInterrupted = pending?.retires === keyId;
  const isGone = before === undefined && !state.ids.includes(keyId);
  if (isGone && !isInterrupted) throw unknown(ring, keyId, state.ids);
  if (isMove(pending))
    throw new StartError(
      `the rotation to root key ${printable(pending.to)} was interrupted: run \`custos keyring rotate\` again first`,
    );
  await requireUnused(storage, keyId);
  const { ids, ...doubt } = await findExpiredKeys(storage, keyring);
  const isNow = options.isNow || ids.includes(keyId);
  if (before !== undefined && !isNow && !isInterrupted)
    return { keyId, ...keptUntil(before.retiredAtMs), stillHeldBy: [], leftovers: [] };
  const expired = unlessAsked({ ids: ids.filter((id) => id !== keyId), ...doubt }, options.asksPerson);
  const retirement = isNow ? undefined : await planRetirement(storage, state);
  const plan = { ring, keyId, isNow, expired };
  if (!(await options.confirm({ ...plan, ...retirement?.shown }))) return undefined;
  await requireNewProcesses(storage, lock, say);
  await lock.requireHeld();
  await removeExpiredKeys(storage, keyring, expired.ids, say);

  const rotation: Rotation = { id: randomId(), to: recorded, retires: keyId };
  const record = await storage.read(InstallationReader).get('rotation');
  await lock.requireHeld();
  await writeBeside(storage, async (store) => {
    const installation = store(InstallationStore);
    // First, because those who store organizations hold this row: from now on nobody stores one under the key.
    if (!(await installation.exchange('root_key_id', recorded, recorded))) throw takenOver();
    const earlier = parseRetired(await installation.get('retired_root_keys'));
    await installation.put('retired_root_keys', JSON.stringify([...new Set([...earlier, keyId])]));
    await takeRecord(store, record, rotation);
  });
  let backups: Pick<RotationLock, 'release'> | undefined;
  try {
    await waitForProcesses(storage, lock, rotation, options);
    // A key that stays in the ring for 30 days can come back for such a backup.
    if (isNow) backups = await parts.holdBackups();
    await requireUnused(storage, keyId);
    await lock.requireHeld();
  } catch (error) {
    await backups?.release();
    // The ring is as it was. What an interrupted run left is for the next one.
    if (!isInterrupted) await dropRecord(storage, rotation).catch(() => {});
    throw error;
  }
  try {
    const { ids: held, retired = [] } = await keyring.refreshRing();
    if (held.includes(keyId) || retired.some(({ id }) => id === keyId)) {
      if (isNow) await removeRootKey(keyring, keyId, say);
      else await changeRing(() => keyring.retireRootKey(keyId, retirement?.atMs), say);
    }
  } finally {
    await backups?.release();
  }
  const leftovers = await cleanRing(ring, say);
  await writeBeside(storage, async (store) => {
    await requireOurs(store, rotation);
    await store(InstallationStore).remove('rotation');
  });
  const holders = await tellRingChanged(storage, randomId(), keyId);
  const retiredAtMs = (await keyring.refreshRing()).retired?.find(({ id }) => id === keyId)?.retiredAtMs;
  return { keyId, ...keptUntil(retiredAtMs), stillHeldBy: holders.map(nameOf), leftovers };
}

/**
 * When the 30 days begin. A clock that is behind would let them end too early, so that they begin no sooner than the newest
 * time that is known; where the database has another clock, one of the two is wrong.
 */
async function planRetirement(storage: Storage, ring: RingState) {
  const times = await readTimes(storage, ring);
  const wrong = doubtByDatabase(times);
  if (wrong !== undefined)
    throw new StartError(
      `${wrong}: set the right one first, because a key is kept for 30 days by it; nothing was changed`,
    );
  const atMs = Math.max(times.nowMs, times.newestMs);
  const doubt = doubtOf(times);
  return { atMs, shown: { keptUntilMs: atMs + RETIRED_KEY_KEPT_MS, ...(doubt !== undefined && { doubt }) } };
}

const keptUntil = (retiredAtMs: number | undefined): Pick<Retired, 'keptUntilMs'> =>
  retiredAtMs === undefined ? {} : { keptUntilMs: retiredAtMs + RETIRED_KEY_KEPT_MS };

async function requireUnused(storage: Storage, keyId: string): Promise<void> {
  const uses = describeUses(await usesOf(storage, keyId));
  if (uses.length === 0) return;
  throw new StartError(`root key ${keyId} is still needed by ${uses.join(', ')}: the key stays as it was`);
}

/**
 * Brings a retired key back. It needs no database that opens, since a restored one may be why the key is needed; running
 * processes are told if the database can be reached.
 */
export async function unretireKey(config: Config, keyId: string, say: (line: string) => void): Promise<void> {
  requireKeyId(keyId);
  const keyring = await createKeyring({ rootKey: config.rootKey });
  try {
    const { ids, retired = [] } = await keyring.refreshRing();
    if (ids.includes(keyId)) throw new StartError(`root key ${keyId} is not retired: nothing was changed`);
    if (!retired.some(({ id }) => id === keyId)) throw unknown(config.rootKey, keyId, ids);
    await changeRing(() => keyring.restoreRootKey(keyId), say);
  } finally {
    await keyring.close();
  }
  try {
    const storage = await openBeside(config, 'keyring rotate');
    try {
      await writeBeside(storage, (store) => store(InstallationStore).put('ring_change', randomId()));
    } finally {
      await storage.close();
    }
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    say(`running processes were not told and use the key when they start again: ${error.message}`);
  }
}

function requireKeyId(keyId: string): void {
  if (KEY_ID.test(keyId)) return;
  throw new StartError(`${keyId} is not the id of a root key, which has 32 hexadecimal digits`);
}

const unknown = (ring: string, keyId: string, ids: readonly string[]): StartError =>
  new StartError(`root key ${keyId} is not in ${ring}, which holds ${ids.join(', ')}: nothing was changed`);
