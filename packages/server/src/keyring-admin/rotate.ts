import { INSTALLATION_ID, type Keyring, KeyringError } from '@custos/keyring';
import { openRootKey } from '../bootstrap.ts';
import type { Config } from '../config/config.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import type { OrganizationKey } from '../core/store/sealed.ts';
import { SealedReader, SealedStore } from '../core/store/sealed.ts';
import { requireLoadedIntegrity } from '../integrity/load.ts';
import { isMove, parseKeyTimes, parseRetired, parseRotation, type Rotation } from '../key-rotation/rotation.ts';
import { randomId } from '../lib/ids.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';
import type { Stores } from '../storage/stores.ts';
import { openBeside, writeBeside } from './beside.ts';
import { addRootKey, cleanRing } from './change-ring.ts';
import { type ExpiredKeys, findExpiredKeys, removeExpiredKeys, unlessAsked } from './expired-keys.ts';
import { lockRotations, type RotationLock } from './lock.ts';
import {
  liveProcesses,
  nameOf,
  requireNewProcesses,
  requireOurs,
  requireStillOurs,
  takenOver,
  takeRecord,
  type Waiting,
  waitForProcesses,
} from './processes.ts';
import { requireWholeRing } from './whole-ring.ts';

/** Small, so that a service on the embedded database never waits long for its turn to write. */
const BATCH = 100;
const SHOWN_MAX = 10;

export interface RotationOptions extends Waiting {
  /** Asked before anything is changed, with what is about to be done; nothing is changed unless it is granted. */
  readonly confirm: (plan: RotationPlan) => Promise<boolean>;
  /** Whether a person reads the plan. Retired keys are destroyed only then. */
  readonly asksPerson: boolean;
}

export interface RotationPlan {
  /** The setting of the ring that gets the new key. */
  readonly ring: string;
  /** The key of an interrupted rotation, which is finished instead of making another. */
  readonly resumes: string | undefined;
  readonly from: string;
  readonly organizations: number;
  readonly processes: readonly string[];
  /** Retired keys that are removed for good on the way. */
  readonly expired: ExpiredKeys;
}

export interface Rotated {
  readonly rootKeyId: string;
  readonly rewrapped: number;
  /** Earlier keys, which stay in the ring. */
  readonly kept: readonly string[];
  /** Whether an interrupted rotation was finished instead of a new one made. */
  readonly resumed: boolean;
}

/**
 * Moves everything to a new root key, beside a running service. Each step leaves a state that a start
 * accepts and that the next run goes on from: the new key is in the ring before anything is under it, everything is
 * under it before it is the recorded one, and the old ones stay in the ring. Undefined when it was not confirmed.
 */
export async function rotateKeyring(config: Config, options: RotationOptions): Promise<Rotated | undefined> {
  const lock = await lockRotations(config.databaseUrl);
  try {
    return await rotateAlone(config, lock, options);
  } finally {
    await lock.release();
  }
}

async function rotateAlone(config: Config, lock: RotationLock, options: RotationOptions): Promise<Rotated | undefined> {
  const storage = await openBeside(config, 'keyring rotate');
  try {
    const recorded = await storage.read(InstallationReader).get('root_key_id');
    if (recorded === undefined) throw new StartError('the database is under no root key yet: start the service first');
    const keyring = await openRootKey(storage, config.rootKey, config.keyring);
    try {
      await requireWholeRing(storage, keyring, config.rootKey);
      // Behind it, because it says more of a key that is missing.
      await requireLoadedIntegrity(storage, keyring);
      const { resumes } = await pendingTarget(storage, keyring, recorded);
      const plan: RotationPlan = {
        ring: config.rootKey,
        resumes,
        from: printable(recorded),
        organizations: await storage.read(SealedReader).countOrganizations(),
        processes: (await liveProcesses(storage)).map(nameOf),
        expired: unlessAsked(await findExpiredKeys(storage, keyring), options.asksPerson),
      };
      if (!(await options.confirm(plan))) return undefined;
      // An older one cannot read a ring that keeps an earlier key; if the ring does so already, it is asked for the key.
      if (resumes === undefined) await requireNewProcesses(storage, lock, options.say);
      await lock.requireHeld();
      // Once more: a person may have taken a while to agree.
      await requireWholeRing(storage, keyring, config.rootKey);
      await cleanUnlessReadOnly(config.rootKey, { isNeeded: resumes === undefined, say: options.say });
      await removeExpiredKeys(storage, keyring, plan.expired.ids, options.say);
      return await new RotationRun(storage, keyring, lock, options).run(recorded);
    } finally {
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
}

/** A rotation that only has to be finished does not write the ring, which may be on a volume that is mounted to be read. */
async function cleanUnlessReadOnly(
  ring: string,
  { isNeeded, say }: { readonly isNeeded: boolean; readonly say: (line: string) => void },
): Promise<void> {
  try {
    await cleanRing(ring, say);
  } catch (error) {
    if (isNeeded || !(error instanceof KeyringError) || error.code !== 'ROOT_KEY_PERMISSIONS') throw error;
    say(`copies of the ring that killed commands may have left are not removed: ${error.message}`);
  }
}

/** The key of an interrupted rotation, wherever that ended. */
async function pendingTarget(
  storage: Storage,
  keyring: Keyring,
  recorded: string,
): Promise<{ readonly resumes: string | undefined; readonly record: string | undefined }> {
  const facts = await storage.read(InstallationReader).facts(['rotation', 'retired_root_keys']);
  const record = facts.get('rotation');
  const pending = parseRotation(record);
  const { active } = await keyring.refreshRing();
  // Nothing may be stored under an earlier key, so that it is no key to move to.
  const isEarlier = parseRetired(facts.get('retired_root_keys')).includes(active);
  const isPending = isMove(pending) && pending.to === active;
  return { resumes: !isEarlier && (active !== recorded || isPending) ? active : undefined, record };
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
    const { resumes, record } = await pendingTarget(this.#storage, this.#keyring, recorded);
    const to = resumes ?? (await addRootKey(this.#keyring, say));
    say(resumes === undefined ? `root key ${to} is in the key ring` : `going on with the rotation to root key ${to}`);
    const rotation = { id: randomId(), to };
    await this.#lock.requireHeld();
    await writeBeside(this.#storage, async (store) => {
      await takeRecord(store, record, rotation);
      // From now on something may be under it.
      await recordTime(store, to);
    });
    await this.#processes(rotation);
    await this.#rewrapAll(rotation);
    say(`organization keys re-wrapped: ${this.#rewrapped}`);
    // A process that has started since must hold the key too, before a start requires it.
    await this.#processes(rotation);
    const { active, ids } = await this.#keyring.refreshRing();
    if (active !== to)
      throw new StartError(`the key ring was changed meanwhile, to root key ${active}: run the command again`);
    const kept = ids.filter((id) => id !== to);
    await this.#supersede(rotation, recorded, [...new Set([...kept, ...(recorded === to ? [] : [recorded])])]);
    say(`the database is under root key ${to}`);
    // What was stored under an old key before that moment is visible now, and nothing can follow it.
    await this.#rewrapAll(rotation);
    await writeBeside(this.#storage, async (store) => {
      await requireOurs(store, rotation);
      await store(InstallationStore).remove('rotation');
    });
    return { rootKeyId: to, rewrapped: this.#rewrapped, kept, resumed: resumes !== undefined };
  }

  #processes(rotation: Rotation): Promise<void> {
    return waitForProcesses(this.#storage, this.#lock, rotation, this.#options);
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
      await requireStillOurs(this.#storage, this.#lock, rotation);
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
    const shown = broken
      .slice(0, SHOWN_MAX)
      .map((id) => printable(id))
      .join(', ');
    const more = broken.length > SHOWN_MAX ? ` and ${broken.length - SHOWN_MAX} more` : '';
    throw new StartError(
      `the keys of these organizations do not open, and stay under the old root key: ${shown}${more} (see \`custos keyring verify\`)`,
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
  async #supersede(rotation: Rotation, recorded: string, old: readonly string[]): Promise<void> {
    await writeBeside(this.#storage, async (store) => {
      const installation = store(InstallationStore);
      // First, because those who store organizations hold this row.
      if (!(await installation.exchange('root_key_id', recorded, rotation.to))) throw takenOver();
      await requireOurs(store, rotation);
      const retired = parseRetired(await installation.get('retired_root_keys'));
      await installation.put('retired_root_keys', JSON.stringify([...new Set([...retired, ...old])]));
      await recordTime(store, rotation.to);
    });
  }
}

async function recordTime(store: Stores, keyId: string): Promise<void> {
  const installation = store(InstallationStore);
  const times = parseKeyTimes(await installation.get('root_key_times'));
  await installation.put('root_key_times', JSON.stringify({ [keyId]: Date.now(), ...times }));
}

const doesNotOpen = (error: unknown): boolean =>
  error instanceof KeyringError && (error.code === 'NOT_OPENED' || error.code === 'UNKNOWN_ROOT_KEY');
