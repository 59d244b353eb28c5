import { setTimeout as sleep } from 'node:timers/promises';
import { openRootKey } from '../bootstrap.ts';
import type { Config } from '../config/config.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import { isMove, parseRotation } from '../key-rotation/rotation.ts';
import { openBeside, writeBeside } from '../keyring-admin/beside.ts';
import { lockRotations, type RotationLock } from '../keyring-admin/lock.ts';
import { liveProcesses, nameOf, requireNewProcesses } from '../keyring-admin/processes.ts';
import { StartError } from '../lib/start-error.ts';
import type { Violation } from '../storage/integrity/integrity.ts';
import type { Storage } from '../storage/storage.ts';
import { type LoadedIntegrity, recordInRing, requireLoadedIntegrity } from './load.ts';
import { markRows } from './passes.ts';

const LOOK_EVERY_MS = 100;
/** A running process looks every second. */
const ANSWER_MS_MAX = 5000;
/** Transactions that began before their process knew that rows get marks have ended by then. */
const DRAIN_MS = 10_000;

export interface EnableOptions {
  /** Told what is going on, a line each. */
  readonly say: (line: string) => void;
  /** Hears of each row that has a mark that does not fit. */
  readonly report: (violation: Violation) => void;
  /** Asked before anything is changed. */
  readonly confirm: (plan: EnablePlan) => Promise<boolean>;
  /** For tests. */
  readonly drainMs?: number;
}

export interface EnablePlan {
  readonly ring: string;
  readonly keyId: string;
  /** It was enabled before: only this machine's key ring is told. */
  readonly isEnabled: boolean;
  readonly processes: readonly string[];
}

export interface Enabled {
  readonly keyId: string;
  readonly marked: number;
  /** Rows that were reported; then marks are not required. */
  readonly bad: number;
}

/**
 * Marks every row of a PostgreSQL database beside running services, and requires marks from then on: in this machine's key
 * ring, and by a note in the database in those of all others. It can be killed at any moment and run again. Once either says
 * that marks are required, nothing is marked any more: what has no mark then was not written by a service. Undefined when it
 * was not confirmed.
 */
export async function enableIntegrity(config: Config, options: EnableOptions): Promise<Enabled | undefined> {
  const lock = await lockRotations(config.databaseUrl);
  try {
    const storage = await openBeside(config, 'integrity enable');
    try {
      if ((await storage.read(InstallationReader).get('root_key_id')) === undefined)
        throw new StartError('the database is under no root key yet: start the service first');
      const keyring = await openRootKey(storage, config.rootKey, config.keyring);
      try {
        const loaded = await requireLoadedIntegrity(storage, keyring);
        const { integrity } = storage;
        const { keyId, notes } = loaded.current;
        const plan = {
          ring: config.rootKey,
          keyId,
          isEnabled: integrity.isRequired,
          processes: (await liveProcesses(storage)).map(nameOf),
        };
        if (!(await options.confirm(plan))) return undefined;
        let outcome = { marked: 0, bad: 0 };
        if (!integrity.isRequired) {
          if (storage.kind === 'sqlite')
            throw new StartError(
              'a start of the service marks the rows of the embedded database: start it, and see what it says',
            );
          outcome = await markBeside(storage, lock, loaded, options);
          if (outcome.bad > 0) return { keyId, ...outcome };
        }
        // First, because it is what may fail; whoever begins again finds that nothing is to be marked.
        await recordInRing(keyring, keyId, options.say);
        await writeBeside(storage, (store) => store(InstallationStore).put('integrity', notes.required));
        return { keyId, ...outcome };
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

async function markBeside(
  storage: Storage,
  lock: RotationLock,
  { current: { notes } }: LoadedIntegrity,
  { say, report, drainMs = DRAIN_MS }: EnableOptions,
): Promise<{ readonly marked: number; readonly bad: number }> {
  const { read, integrity } = storage;
  if (isMove(parseRotation(await read(InstallationReader).get('rotation'))))
    throw new StartError('a rotation was interrupted: run `custos keyring rotate` again first; nothing was changed');
  await requireNewProcesses(storage, lock, say, 'knowsMarks');
  await lock.requireHeld();
  await writeBeside(storage, (store) => store(InstallationStore).put('integrity', notes.active));
  integrity.activate();
  await waitForMarks(storage, lock, say);
  if ((await liveProcesses(storage)).length > 0) await sleep(drainMs);
  await lock.requireHeld();
  const outcome = await markRows(storage, { report, say });
  await lock.requireHeld();
  // One of an older version that was started meanwhile has left rows without marks, and would go on.
  await requireNewProcesses(storage, lock, say, 'knowsMarks');
  await waitForMarks(storage, lock, say);
  return outcome;
}

async function waitForMarks(storage: Storage, lock: RotationLock, say: (line: string) => void): Promise<void> {
  const givesUpAtMs = performance.now() + ANSWER_MS_MAX;
  for (let told = false; ; told = true) {
    const silent = (await liveProcesses(storage)).filter(({ writesMarks }) => writesMarks !== true);
    if (silent.length === 0) return;
    // It may have been killed, and is asked whether it runs.
    if (performance.now() > givesUpAtMs) return await requireNewProcesses(storage, lock, say, 'writesMarks');
    if (!told) say(`waiting for ${silent.map(nameOf).join(', ')} to mark rows`);
    await sleep(LOOK_EVERY_MS);
  }
}
