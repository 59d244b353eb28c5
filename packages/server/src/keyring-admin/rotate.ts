import { setTimeout as sleep } from 'node:timers/promises';
import { INSTALLATION_ID, type Keyring, KeyringError } from '@custos/keyring';
import { openRootKey } from '../bootstrap.ts';
import type { Config } from '../config/config.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import type { OrganizationKey } from '../core/store/sealed.ts';
import { SealedReader, SealedStore } from '../core/store/sealed.ts';
import {
  formatRotation,
  type ProcessState,
  parseRetired,
  parseRotation,
  type Rotation,
} from '../key-rotation/rotation.ts';
import { randomId } from '../lib/ids.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';
import type { Stores } from '../storage/stores.ts';
import { openBeside, writeBeside } from './beside.ts';
import { lockRotations, type RotationLock } from './lock.ts';

/** Small, so that a service on the embedded database never waits long for its turn to write. */
const BATCH = 100;
const LOOK_EVERY_MS = 100;
/** A running process looks every second; one that has not answered by then was killed. */
const SILENT_MS_MAX = 10_000;
/** Longer than requests take that have read an organization's old wrapped key and are about to use it. */
const DRAIN_MS = 2000;
/** A killed process leaves the ring's lock behind; it counts as abandoned after a minute. */
const RING_LOCK_MS_MAX = 90_000;
const SHOWN_MAX = 10;

export interface RotationOptions {
  /** How long running processes are given to hold the new key. */
  readonly waitSeconds: number;
  /** Told what is going on, a line each. */
  readonly say: (line: string) => void;
}

export interface Rotated {
  readonly rootKeyId: string;
  readonly rewrapped: number;
  readonly removed: readonly string[];
  /** Whether an interrupted rotation was finished instead of a new one made. */
  readonly resumed: boolean;
}

/**
 * Moves everything to a new root key, beside a running service. Each step leaves a state that a start
 * accepts and that the next run goes on from: the new key is in the ring before anything is under it, everything is
 * under it before it is the recorded one, and the old one leaves the ring last.
 */
export async function rotateKeyring(config: Config, options: RotationOptions): Promise<Rotated> {
  const lock = await lockRotations(config.databaseUrl);
  try {
    return await rotateAlone(config, lock, options);
  } finally {
    await lock.release();
  }
}

async function rotateAlone(config: Config, lock: RotationLock, options: RotationOptions): Promise<Rotated> {
  const storage = await openBeside(config, 'keyring rotate');
  try {
    const recorded = await storage.read(InstallationReader).get('root_key_id');
    if (recorded === undefined) throw new StartError('the database is under no root key yet: start the service first');
    const keyring = await openRootKey(storage, config.rootKey, config.keyring);
    try {
      return await new RotationRun(storage, keyring, lock, options).run(recorded);
    } finally {
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
}

class RotationRun {
  readonly #storage: Storage;
  readonly #keyring: Keyring;
  readonly #lock: RotationLock;
  readonly #options: RotationOptions;
  #rewrapped = 0;

  constructor(storage: Storage, keyring: Keyring, lock: RotationLock, options: RotationOptions) {
    this.#storage = storage;
    this.#keyring = keyring;
    this.#lock = lock;
    this.#options = options;
  }

  async run(recorded: string): Promise<Rotated> {
    const { say } = this.#options;
    const { to, resumed } = await this.#target(recorded);
    say(resumed ? `going on with the rotation to root key ${to}` : `root key ${to} is in the key ring`);
    const rotation = { id: randomId(), to };
    await this.#lock.requireHeld();
    await writeBeside(this.#storage, (store) => store(InstallationStore).put('rotation', formatRotation(rotation)));
    await this.#processes(rotation);
    await this.#rewrapAll(rotation);
    say(`organization keys re-wrapped: ${this.#rewrapped}`);
    // A process that has started since must hold the key too, before a start requires it.
    await this.#processes(rotation);
    const { active, ids } = await this.#keyring.refreshRing();
    if (active !== to)
      throw new StartError(`the key ring was changed meanwhile, to root key ${active}: run the command again`);
    const old = ids.filter((id) => id !== to);
    await this.#retire(rotation, [...new Set([...old, ...(recorded === to ? [] : [recorded])])]);
    say(`the database is under root key ${to}`);
    // What was stored under an old key before that moment is visible now, and nothing can follow it.
    await this.#rewrapAll(rotation);
    await sleep(DRAIN_MS);
    for (const id of old) {
      await this.#requireOurs(rotation);
      await this.#remove(id);
    }
    await writeBeside(this.#storage, async (store) => {
      await requireOurs(store, rotation);
      await store(InstallationStore).remove('rotation');
    });
    return { rootKeyId: to, rewrapped: this.#rewrapped, removed: old, resumed };
  }

  /** The key of an interrupted rotation, wherever that ended, or a new one. */
  async #target(recorded: string): Promise<{ readonly to: string; readonly resumed: boolean }> {
    const facts = await this.#storage.read(InstallationReader).facts(['rotation', 'retired_root_keys']);
    const pending = parseRotation(facts.get('rotation'));
    const { active } = await this.#keyring.refreshRing();
    // Nothing may be stored under a retired key, so that it is no key to move to.
    const isRetired = parseRetired(facts.get('retired_root_keys')).includes(active);
    if (!isRetired && (active !== recorded || pending?.to === active)) return { to: active, resumed: true };
    return { to: await this.#changeRing(() => this.#keyring.addRootKey()), resumed: false };
  }

  /** Waits until every running process can use the new key. */
  async #processes(rotation: Rotation): Promise<void> {
    const { waitSeconds, say } = this.#options;
    const startedAtMs = performance.now();
    let told = '';
    for (;;) {
      await this.#requireOurs(rotation);
      const processes = (await this.#storage.read(InstallationReader).processes()).map(({ id, state }) => ({
        id,
        ...(JSON.parse(state) as ProcessState),
      }));
      const silent = processes.filter((process) => process.rotation !== rotation.id);
      const seen = processes.filter((process) => process.rotation === rotation.id);
      const waitedMs = performance.now() - startedAtMs;
      // One that is still reading its key ring may hold the key; nobody is told to copy it there before that is known.
      const isReading = ({ holdsKey }: ProcessState): boolean => holdsKey === undefined && waitedMs <= SILENT_MS_MAX;
      const reading = seen.filter(isReading);
      const without = seen.filter((process) => process.holdsKey !== true && !isReading(process));
      if (silent.length + reading.length + without.length === 0) {
        if (told !== '') say(`every running process holds the new root key (${processes.length})`);
        return;
      }
      if (silent.length > 0 && waitedMs > SILENT_MS_MAX) {
        await writeBeside(this.#storage, async (store) => {
          // A process that answers another run is not silent.
          await requireOurs(store, rotation);
          for (const { id } of silent) await store(InstallationStore).removeProcess(id);
        });
        continue;
      }
      const names = without.map(({ host, pid }) => `process ${pid} on ${host}`).join(', ');
      if (without.length > 0 && waitedMs > waitSeconds * 1000) {
        throw new StartError(
          `not all running processes hold root key ${rotation.to}: ${names}. Copy the key ring to them and run the command again`,
        );
      }
      const waiting = `waiting for ${names === '' ? `running processes to answer (${silent.length + reading.length})` : names}`;
      if (waiting !== told) say(waiting);
      told = waiting;
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** The lock keeps others away; should it be lost with its connection, the record shows who has come since. */
  async #requireOurs(rotation: Rotation): Promise<void> {
    await this.#lock.requireHeld();
    if ((await this.#storage.read(InstallationReader).get('rotation')) !== formatRotation(rotation)) throw takenOver();
  }

  async #rewrapAll(rotation: Rotation): Promise<void> {
    const { to } = rotation;
    const broken: string[] = [];
    await this.#rewrapInstallationKey(broken);
    for (let after = ''; ; ) {
      const page = await this.#storage.read(SealedReader).organizationKeysNotUnder(to, after, BATCH);
      const last = page.at(-1);
      if (last === undefined) break;
      after = last.organizationId;
      await this.#requireOurs(rotation);
      const changes = await Promise.all(page.map((key) => this.#rewrap(key, broken)));
      await writeBeside(this.#storage, async (store) => {
        for (const change of changes) {
          if (change !== undefined)
            await store(SealedStore).exchangeOrganizationKey(
              change.organizationId,
              change.wrappedKey,
              change.rewrapped,
            );
        }
      });
      this.#rewrapped += changes.filter((change) => change !== undefined).length;
    }
    if (broken.length === 0) return;
    const shown = broken.slice(0, SHOWN_MAX).join(', ');
    const more = broken.length > SHOWN_MAX ? ` and ${broken.length - SHOWN_MAX} more` : '';
    throw new StartError(
      `the keys of these organizations do not open, so that the old root key stays: ${shown}${more} (see \`custos keyring verify\`)`,
    );
  }

  async #rewrap(key: OrganizationKey, broken: string[]) {
    const { organizationId, wrappedKey } = key;
    try {
      return { ...key, rewrapped: await this.#keyring.rewrapOrganizationKey(organizationId, wrappedKey) };
    } catch (error) {
      if (!doesNotOpen(error)) throw error;
      broken.push(organizationId);
      return undefined;
    }
  }

  async #rewrapInstallationKey(broken: string[]): Promise<void> {
    const wrapped = await this.#storage.read(InstallationReader).get('deployment_key');
    if (wrapped === undefined) return;
    const change = await this.#rewrap(
      { organizationId: INSTALLATION_ID, wrappedKey: Buffer.from(wrapped, 'hex') },
      broken,
    );
    const rewrapped = change && Buffer.from(change.rewrapped).toString('hex');
    if (rewrapped === undefined || rewrapped === wrapped) return;
    await writeBeside(this.#storage, (store) =>
      store(InstallationStore).exchange('deployment_key', wrapped, rewrapped),
    );
  }

  /** From here on a start needs the new key, and nothing new can be stored under an old one. */
  async #retire(rotation: Rotation, old: readonly string[]): Promise<void> {
    await writeBeside(this.#storage, async (store) => {
      // First, because those who store organizations hold this row.
      await store(InstallationStore).put('root_key_id', rotation.to);
      await requireOurs(store, rotation);
      const retired = parseRetired(await store(InstallationStore).get('retired_root_keys'));
      await store(InstallationStore).put('retired_root_keys', JSON.stringify([...new Set([...retired, ...old])]));
    });
  }

  async #remove(id: string): Promise<void> {
    try {
      await this.#changeRing(() => this.#keyring.removeRootKey(id));
    } catch (error) {
      // Another run of the command may have been faster.
      if (!(error instanceof KeyringError && error.code === 'UNKNOWN_ROOT_KEY')) throw error;
    }
    this.#options.say(`root key ${id} is gone from the key ring`);
  }

  async #changeRing<T>(change: () => Promise<T>): Promise<T> {
    const givesUpAtMs = performance.now() + RING_LOCK_MS_MAX;
    let told = false;
    for (;;) {
      try {
        return await change();
      } catch (error) {
        const isBusy = error instanceof KeyringError && error.code === 'UNAVAILABLE';
        if (!isBusy || performance.now() > givesUpAtMs) throw error;
        if (!told) this.#options.say(`waiting: ${error.message}`);
        told = true;
      }
      await sleep(10 * LOOK_EVERY_MS);
    }
  }
}

const takenOver = (): StartError =>
  new StartError('another `custos keyring rotate` has taken over: this one has stopped');

/** Holds the record until the end of the transaction, so that nobody else can begin in between. */
async function requireOurs(store: Stores, rotation: Rotation): Promise<void> {
  const ours = formatRotation(rotation);
  if (!(await store(InstallationStore).exchange('rotation', ours, ours))) throw takenOver();
}

const doesNotOpen = (error: unknown): boolean =>
  error instanceof KeyringError && (error.code === 'NOT_OPENED' || error.code === 'UNKNOWN_ROOT_KEY');
