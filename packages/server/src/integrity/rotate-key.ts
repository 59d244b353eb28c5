import { setTimeout as sleep } from 'node:timers/promises';
import type { Keyring } from '@custos/keyring';
import { openRootKey } from '../bootstrap.ts';
import type { Config } from '../config/config.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import { MarkedRowReader, MarkedRowStore } from '../core/store/marked-rows.ts';
import { type IntegrityState, isMove, parseRotation } from '../key-rotation/rotation.ts';
import { openBeside, writeBeside } from '../keyring-admin/beside.ts';
import { lockRotations, type RotationLock } from '../keyring-admin/lock.ts';
import {
  type LiveProcess,
  liveProcesses,
  nameOf,
  requireAnswers,
  requireNewProcesses,
} from '../keyring-admin/processes.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Violation } from '../storage/integrity/integrity.ts';
import type { Storage } from '../storage/storage.ts';
import { type LoadedIntegrity, recordInRing, requireLoadedIntegrity } from './load.ts';
import { makeKey } from './make-key.ts';
import { remarkRows } from './remark.ts';

const LOOK_EVERY_MS = 100;
/** A running process looks every second. */
const ANSWER_MS_MAX = 5000;
/** A command that runs meanwhile looks as often, and tells nobody. */
const COMMANDS_MS = 3000;
/** For what a process has computed and not sent yet. */
const DRAIN_MS = 1000;
/** The longest that transactions of a service may take. */
const TRANSACTION_MS_MAX = 15 * 60_000;
/** Of integrity keys that a key ring holds the ids of. */
const RING_IDS_MAX = 16;

export interface IntegrityRotationOptions {
  /** Told what is going on, a line each. */
  readonly say: (line: string) => void;
  /** Hears of each row or set that does not verify. */
  readonly report: (violation: Violation) => void;
  /** Asked before anything is changed. */
  readonly confirm: (plan: IntegrityRotationPlan) => Promise<boolean>;
  /** For tests. */
  readonly drainMs?: number;
  readonly commandsMs?: number;
}

export interface IntegrityRotationPlan {
  readonly ring: string;
  readonly from: string;
  /** The key of an interrupted run, which is finished instead of making another. */
  readonly resumes: string | undefined;
  readonly processes: readonly string[];
}

export interface RotatedIntegrity {
  readonly keyId: string;
  readonly marked: number;
  /** Rows and sets that were reported; then the earlier key stays in use. */
  readonly bad: number;
  /** Running processes whose machine's key ring does not require the new key yet. */
  readonly withoutRing: readonly string[];
}

interface Parts {
  readonly storage: Storage;
  readonly keyring: Keyring;
  readonly lock: RotationLock;
  readonly options: IntegrityRotationOptions;
}

/**
 * Puts another integrity key in the place of the one in use, beside running services. Every process learns the new key before
 * anything is marked with it, everything is marked with it before the earlier one is refused, and each step leaves a state from
 * which the next run goes on (docs/decisions/0060). Undefined when it was not confirmed.
 */
export async function rotateIntegrityKey(
  config: Config,
  options: IntegrityRotationOptions,
): Promise<RotatedIntegrity | undefined> {
  const lock = await lockRotations(config.databaseUrl);
  try {
    const storage = await openBeside(config, 'keyring rotate');
    try {
      if ((await storage.read(InstallationReader).get('root_key_id')) === undefined)
        throw new StartError('the database is under no root key yet: start the service first');
      const keyring = await openRootKey(storage, config.rootKey, config.keyring);
      try {
        return await rotateAlone({ storage, keyring, lock, options }, config.rootKey);
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

async function rotateAlone(parts: Parts, ring: string): Promise<RotatedIntegrity | undefined> {
  const { storage, keyring, lock, options } = parts;
  const loaded = await requireLoadedIntegrity(storage, keyring);
  if (!storage.integrity.isRequired)
    throw new StartError(
      'marks are not required yet, so there is nothing to replace: run `custos integrity enable` first',
    );
  const { current } = loaded;
  const interrupted = await interruptedRun(storage, loaded);
  const added = interrupted?.isInRing === false ? 2 : 1;
  if ((await keyring.integrityRequired()).length + added > RING_IDS_MAX)
    throw new StartError(
      `the key ring holds the ids of ${RING_IDS_MAX} integrity keys at most, and has no room for another`,
    );
  const processes = (await liveProcesses(storage)).map(nameOf);
  const resumes = interrupted?.key.keyId;
  if (!(await options.confirm({ ring, from: current.keyId, resumes, processes }))) return undefined;
  if (isMove(parseRotation(await storage.read(InstallationReader).get('rotation'))))
    throw new StartError('a rotation was interrupted: run `custos keyring rotate` again first; nothing was changed');
  await requireNewProcesses(storage, lock, options.say, 'knowsMarks');
  await lock.requireHeld();
  if (interrupted === undefined) return await replace(parts, await begin(parts, loaded));
  // Nobody can tell who made the key of an interrupted run, so it is finished and then replaced in its turn.
  const finished = interrupted.isEnding ? await finish(parts, loaded, 0) : await replace(parts, loaded);
  if (finished.bad > 0) return finished;
  options.say(`the interrupted run has ended with integrity key ${finished.keyId}; another key takes its place now`);
  const replaced = await replace(parts, await begin(parts, await requireLoadedIntegrity(storage, keyring, loaded)));
  return { ...replaced, marked: finished.marked + replaced.marked };
}

interface InterruptedRun {
  readonly key: LoadedIntegrity['current'];
  /** All but the end of it was done: its key is in use already. */
  readonly isEnding: boolean;
  readonly isInRing: boolean;
}

/** A run that left a key behind, unless somebody else has put one there. */
async function interruptedRun(
  storage: Storage,
  { current, keys, isInRing }: LoadedIntegrity,
): Promise<InterruptedRun | undefined> {
  const stored = await storage.read(MarkedRowReader).keys();
  const [next, ...others] = keys.filter(({ generation }) => generation > current.generation);
  const [odd] = next === undefined || next.generation === current.generation + 1 ? others : [next];
  if (odd !== undefined)
    throw new StartError(
      `integrity_key has a key that no run of this command made: delete it (DELETE FROM integrity_key WHERE key_id = '${printable(odd.keyId)}'), treat it as an intrusion, and replace the keys that it was sealed under first (docs/guides/key-rotation.md, after a theft)`,
    );
  if (next !== undefined) return { key: next, isEnding: false, isInRing: false };
  // A note alone may be one of an earlier run, which somebody put back.
  const isEnding =
    stored.some(({ generation }) => generation < current.generation) &&
    (await storage.read(InstallationReader).get('integrity_rotation')) === current.notes.marking;
  return isEnding ? { key: current, isEnding, isInRing } : undefined;
}

/** The last key of those that are loaded takes the place of the one in use. */
async function replace(parts: Parts, loaded: LoadedIntegrity): Promise<RotatedIntegrity> {
  const { storage, lock, options } = parts;
  const marking = await learn(parts, loaded);
  const { keyId } = marking.marking;
  const { marked, bad } = await remarkRows(storage, options);
  if (bad > 0) return { keyId, marked, bad, withoutRing: [] };
  await lock.requireHeld();
  // One that was started meanwhile marks with the new key too.
  await waitFor(parts, 'to mark with the new key', ({ marks }) => marks === keyId);
  return await finish(parts, marking, marked);
}

/** The next key is there, and nothing is marked with it. */
async function begin({ storage, keyring, options }: Parts, known: LoadedIntegrity): Promise<LoadedIntegrity> {
  const { current } = known;
  // A key from before the current one counts for nothing; it may be left over, or put back by somebody.
  await writeBeside(storage, async (store) => {
    await store(MarkedRowStore).removeKeysBefore(current.generation);
    await store(InstallationStore).remove('integrity_rotation');
  });
  const keyId = await makeKey(storage, keyring, current.generation + 1, Date.now());
  const loaded = await requireLoadedIntegrity(storage, keyring, known);
  if (keyId === undefined || loaded.keys.at(-1)?.keyId !== keyId)
    throw new StartError(
      'the database did not keep the new integrity key: something in it, such as a trigger or a rule, changes what is written to integrity_key; nothing was replaced',
    );
  options.say(`integrity key ${keyId} is made`);
  return loaded;
}

/** Every process knows the next key, then each marks with it. */
async function learn(parts: Parts, loaded: LoadedIntegrity): Promise<LoadedIntegrity> {
  const { storage, keyring, options } = parts;
  const { drainMs = DRAIN_MS, commandsMs = COMMANDS_MS } = options;
  const next = loaded.keys.at(-1) ?? loaded.current;
  if (loaded.marking !== next) {
    await note(parts, next.notes.next);
    await waitFor(parts, 'to learn the new key', ({ newest }) => newest === next.keyId);
    await sleep(commandsMs);
    await parts.lock.requireHeld();
    await note(parts, next.notes.marking);
  }
  const marking = await requireLoadedIntegrity(storage, keyring, loaded);
  await waitFor(parts, 'to mark with the new key', ({ marks }) => marks === next.keyId);
  await drain(parts, drainMs);
  await parts.lock.requireHeld();
  return marking;
}

/**
 * Transactions that began before every process marked with the new key may still write an earlier mark. The embedded database
 * has none: its process says that it marks with the new key in the line of its own writes.
 */
async function drain({ storage, options }: Parts, drainMs: number): Promise<void> {
  if (storage.kind === 'sqlite') return;
  await sleep(drainMs);
  const since = await storage.read(InstallationReader).transactionClock();
  const givesUpAtMs = performance.now() + TRANSACTION_MS_MAX;
  for (let told = false; ; told = true) {
    const open = await storage.read(InstallationReader).transactionsBefore(since);
    if (open === 0) return;
    if (performance.now() > givesUpAtMs)
      throw new StartError(
        `${open} transactions in the database have been open for ${TRANSACTION_MS_MAX / 60_000} minutes: end them (pg_stat_activity), and run the command again`,
      );
    if (!told) options.say(`waiting for transactions from before to end (${open})`);
    await sleep(LOOK_EVERY_MS);
  }
}

/** Nothing is marked with an earlier key any more, so that it can be refused. */
async function finish(parts: Parts, { marking }: LoadedIntegrity, marked: number): Promise<RotatedIntegrity> {
  const { storage, keyring, options } = parts;
  const { keyId, generation, notes } = marking;
  // First, because it is what may fail; from here on this machine refuses the earlier key.
  await recordInRing(keyring, keyId, options.say);
  await writeBeside(storage, (store) => store(InstallationStore).put('integrity', notes.required));
  await waitFor(parts, 'to refuse the earlier key', ({ since }) => since === keyId);
  // A machine whose ring does not name the key needs the earlier one for its next start.
  const withoutRing = await processesWithoutRing(storage);
  await parts.lock.requireHeld();
  await writeBeside(storage, async (store) => {
    await store(MarkedRowStore).removeOtherKeys(generation);
    await store(InstallationStore).remove('integrity_rotation');
  });
  return { keyId, marked, bad: 0, withoutRing: withoutRing.map(nameOf) };
}

/** They are given a moment; a ring that cannot be written never names the key. */
async function processesWithoutRing(storage: Storage): Promise<LiveProcess[]> {
  const givesUpAtMs = performance.now() + ANSWER_MS_MAX;
  for (;;) {
    const without = (await liveProcesses(storage)).filter(({ integrity }) => integrity?.isInRing !== true);
    if (without.length === 0 || performance.now() > givesUpAtMs) return without;
    await sleep(LOOK_EVERY_MS);
  }
}

const note = ({ storage }: Parts, text: string): Promise<void> =>
  writeBeside(storage, (store) => store(InstallationStore).put('integrity_rotation', text));

/** Waits until every running process says so of itself; one that was killed is forgotten. */
async function waitFor(parts: Parts, what: string, isSo: (state: IntegrityState) => boolean): Promise<void> {
  const { storage, lock, options } = parts;
  const { say } = options;
  const isLate = ({ integrity }: LiveProcess): boolean => integrity === undefined || !isSo(integrity);
  const givesUpAtMs = performance.now() + ANSWER_MS_MAX;
  for (let told = false; ; told = true) {
    const late = (await liveProcesses(storage)).filter(isLate);
    if (late.length === 0) return;
    if (performance.now() > givesUpAtMs) break;
    if (!told) say(`waiting for ${late.map(nameOf).join(', ')} ${what}`);
    await sleep(LOOK_EVERY_MS);
  }
  // They may have been killed, and are asked whether they run.
  await requireAnswers(storage, lock, say);
  const late = (await liveProcesses(storage)).filter(isLate);
  if (late.length === 0) return;
  throw new StartError(`${late.map(nameOf).join(', ')} fails ${what}: see its log, and run the command again`);
}
