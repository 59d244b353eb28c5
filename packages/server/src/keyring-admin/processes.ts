import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../config/config.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import {
  formatRotation,
  isMove,
  type ProcessState,
  parseProcess,
  parseRotation,
  type Rotation,
} from '../key-rotation/rotation.ts';
import { randomId } from '../lib/ids.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';
import type { Stores } from '../storage/stores.ts';
import { openBeside, writeBeside } from './beside.ts';
import { lockRotations, type RotationLock } from './lock.ts';

const LOOK_EVERY_MS = 100;
/** A running process looks every second; one that has not answered by then was killed. */
const SILENT_MS_MAX = 10_000;

export interface Waiting {
  /** How long running processes are given to hold the new key. */
  readonly waitSeconds: number;
  /** Told what is going on, a line each. */
  readonly say: (line: string) => void;
}

export type LiveProcess = ProcessState & { readonly id: string };

export async function liveProcesses(storage: Storage): Promise<LiveProcess[]> {
  const processes = await storage.read(InstallationReader).processes();
  return processes.map(({ id, state }) => ({ ...parseProcess(id, state), id }));
}

/** As it says itself: whoever can write to the database writes to the terminal of whoever runs a command. */
export const nameOf = ({ host, pid }: ProcessState): string =>
  `process ${Number.isSafeInteger(pid) ? pid : '?'} on ${printable(host)}`;

/** What a process has to know, by what it says of itself. */
export type Knowledge = 'knowsEarlierKeys' | 'knowsMarks' | 'writesMarks';

const olderProcesses = async (storage: Storage, knows: Knowledge = 'knowsEarlierKeys'): Promise<LiveProcess[]> =>
  (await liveProcesses(storage)).filter((process) => process[knows] !== true);

/**
 * Refuses while a process of an older version runs, which would lose what is under a key that stays. One that was killed
 * is still known to the database, so that it is asked whether it runs. That takes the place of the record of a rotation:
 * never of one that moves anything, and of a retirement because that has been interrupted, since we have the lock.
 */
export async function requireNewProcesses(
  storage: Storage,
  lock: RotationLock,
  say: (line: string) => void,
  knows?: Knowledge,
): Promise<void> {
  if ((await olderProcesses(storage, knows)).length === 0) return;
  const pending = await requireAnswers(storage, lock, say);
  const older = await olderProcesses(storage, knows);
  if (older.length === 0) return;
  throw new StartError(
    `${older.map(nameOf).join(', ')} has an older version: replace it first; nothing was changed${isMove(pending) ? ' (one that was killed is forgotten by `custos keyring rotate`, which was interrupted)' : ''}`,
  );
}

/** Asks every process whether it runs, and forgets those that do not answer. Answers with the rotation that was pending. */
export async function requireAnswers(
  storage: Storage,
  lock: RotationLock,
  say: (line: string) => void,
): Promise<Rotation | undefined> {
  const facts = await storage.read(InstallationReader).facts(['rotation', 'root_key_id']);
  const record = facts.get('rotation');
  const pending = parseRotation(record);
  if (isMove(pending)) return pending;
  const question: Rotation = { id: randomId(), to: facts.get('root_key_id') ?? '', isQuestion: true };
  await writeBeside(storage, (store) => takeRecord(store, record, question));
  try {
    await waitForProcesses(storage, lock, question, { waitSeconds: 0, say });
  } finally {
    // One that stays is in nobody's way.
    await dropRecord(storage, question).catch(() => {});
  }
  return pending;
}

/**
 * `requireNewProcesses` for a command that has not got the lock of rotations: it takes it while it asks, since its question would
 * otherwise stand where a rotation that is beginning puts its record.
 */
export async function requireNewProcessesLocked(
  config: Config,
  storage: Storage,
  say: (line: string) => void,
): Promise<void> {
  if ((await olderProcesses(storage)).length === 0) return;
  const lock = await lockRotations(config.databaseUrl);
  try {
    const locked = await openBeside(config, 'keyring rotate');
    try {
      await requireNewProcesses(locked, lock, say);
    } finally {
      await locked.close();
    }
  } finally {
    await lock.release();
  }
}

/** Waits until every running process can use the key that the rotation leads to. */
export async function waitForProcesses(
  storage: Storage,
  lock: Pick<RotationLock, 'requireHeld'>,
  rotation: Rotation,
  { waitSeconds, say }: Waiting,
): Promise<void> {
  const startedAtMs = performance.now();
  let told = '';
  for (;;) {
    await requireStillOurs(storage, lock, rotation);
    const processes = await liveProcesses(storage);
    const silent = processes.filter((process) => process.rotation !== rotation.id);
    const seen = processes.filter((process) => process.rotation === rotation.id);
    const waitedMs = performance.now() - startedAtMs;
    // One that is still reading its key ring may hold the key; nobody is told to copy it there before that is known.
    const isReading = ({ holdsKey }: ProcessState): boolean => holdsKey === undefined && waitedMs <= SILENT_MS_MAX;
    const reading = seen.filter(isReading);
    const without = seen.filter((process) => process.holdsKey !== true && !isReading(process));
    if (silent.length + reading.length + without.length === 0) {
      if (told !== '') say(`every running process holds root key ${printable(rotation.to)} (${processes.length})`);
      return;
    }
    if (silent.length > 0 && waitedMs > SILENT_MS_MAX) {
      await writeBeside(storage, async (store) => {
        // A process that answers another run is not silent.
        await requireOurs(store, rotation);
        for (const { id } of silent) await store(InstallationStore).removeProcess(id);
      });
      continue;
    }
    const names = without.map(nameOf).join(', ');
    if (without.length > 0 && waitedMs > waitSeconds * 1000) {
      throw new StartError(
        `not all running processes hold root key ${printable(rotation.to)}: ${names}. Copy the key ring to them and run the command again`,
      );
    }
    const waiting = `waiting for ${names === '' ? `running processes to answer (${silent.length + reading.length})` : names}`;
    if (waiting !== told) say(waiting);
    told = waiting;
    await sleep(LOOK_EVERY_MS);
  }
}

/**
 * Makes running processes read their key rings again, and answers with those whose copy still opens the key some seconds
 * later.
 */
export async function tellRingChanged(storage: Storage, change: string, keyId: string): Promise<LiveProcess[]> {
  await writeBeside(storage, (store) => store(InstallationStore).put('ring_change', change));
  const givesUpAtMs = performance.now() + SILENT_MS_MAX;
  for (;;) {
    const processes = await liveProcesses(storage);
    if (processes.every(({ ringChange }) => ringChange === change) || performance.now() > givesUpAtMs) {
      return processes.filter(
        ({ ringChange, earlierKeys = [] }) => ringChange !== change || earlierKeys.includes(keyId),
      );
    }
    await sleep(LOOK_EVERY_MS);
  }
}

/** The lock keeps others away; should it be lost with its connection, the record shows who has come since. */
export async function requireStillOurs(
  storage: Storage,
  lock: Pick<RotationLock, 'requireHeld'>,
  rotation: Rotation,
): Promise<void> {
  await lock.requireHeld();
  if ((await storage.read(InstallationReader).get('rotation')) !== formatRotation(rotation)) throw takenOver();
}

/** Holds the record until the end of the transaction, so that nobody else can begin in between. */
export async function requireOurs(store: Stores, rotation: Rotation): Promise<void> {
  const ours = formatRotation(rotation);
  if (!(await store(InstallationStore).exchange('rotation', ours, ours))) throw takenOver();
}

/** Puts our record in the place of the one that was seen, or of none. */
export async function takeRecord(store: Stores, seen: string | undefined, rotation: Rotation): Promise<void> {
  const ours = formatRotation(rotation);
  const installation = store(InstallationStore);
  const isTaken =
    seen === undefined
      ? await installation.claim('rotation', ours)
      : await installation.exchange('rotation', seen, ours);
  if (!isTaken) throw takenOver();
}

/** Removes our record, if it is still ours, when nothing came of it. */
export async function dropRecord(storage: Storage, rotation: Rotation): Promise<void> {
  const ours = formatRotation(rotation);
  await writeBeside(storage, async (store) => {
    if (await store(InstallationStore).exchange('rotation', ours, ours))
      await store(InstallationStore).remove('rotation');
  });
}

export const takenOver = (): StartError =>
  new StartError('another `custos keyring rotate` has taken over: this one has stopped');
