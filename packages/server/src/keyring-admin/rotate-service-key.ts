import { setTimeout as sleep } from 'node:timers/promises';
import { type Keyring, SERVICE_ROLES, type ServiceRole } from '@custos/keyring';
import type { Config } from '../config/config.ts';
import { serviceKeyTimes } from '../core/service-keys.ts';
import { InstallationReader, InstallationStore } from '../core/store/installation.ts';
import { type ClockDoubt, doubtByDatabase, doubtByStored } from '../key-rotation/clock-doubt.ts';
import { StartError } from '../lib/start-error.ts';
import type { ServiceKey } from '../storage/service-key.ts';
import type { Storage } from '../storage/storage.ts';
import type { ReadStores, Stores } from '../storage/stores.ts';
import { openBeside, writeBeside } from './beside.ts';
import { openKeyringBeside } from './open-keyring.ts';
import { requireNewProcessesLocked } from './processes.ts';

/** Long enough for every process, which look for keys each second, to publish the new one before any signs with it. */
const COMPROMISED_SIGNS_AFTER_MS = 5000;

export interface KeyRotationOptions {
  readonly role: string;
  /** How long the new key is published before it is used; as the role has it unless told. */
  readonly publishedMs?: number;
  /** The old keys are not to be trusted: they are destroyed as soon as the new one can sign. */
  readonly isCompromised: boolean;
  /** Told what is waited for, a line each. */
  readonly say: (line: string) => void;
  /** Asked before anything is changed; granted where it is absent. */
  readonly confirm?: (plan: KeyRotationPlan) => Promise<boolean>;
}

interface KeyRotationPlan {
  readonly role: string;
  /** How long the new key is published before it is used. */
  readonly usedAfterMs: number;
  /** Keys that are destroyed. */
  readonly destroys: readonly string[];
  /** Why the clock may be wrong, by which the moments of the new key are set. */
  readonly doubt?: string;
}

export interface RotatedServiceKey {
  readonly keyId: string;
  readonly signsFromMs: number;
  /** Keys that were destroyed. */
  readonly removed: readonly string[];
}

/** A key that was just stored. */
interface NextKey {
  readonly keyId: string;
  readonly signsFromMs: number;
  /** All that were there before it. */
  readonly before: readonly string[];
}

/**
 * Makes the next service key of a role beside a running service. It is published at once and used when clients must have
 * it; the one before stays until nothing of it is under way. Every process sees both moments by its own clock.
 * Of compromised keys none is left: another run, after one that was killed while it waited, destroys what that left.
 * Undefined when it was not confirmed.
 */
export async function rotateServiceKey(
  config: Config,
  options: KeyRotationOptions,
): Promise<RotatedServiceKey | undefined> {
  const role = SERVICE_ROLES.find((known) => known === options.role);
  if (role === undefined)
    throw new StartError(`${options.role} is not the role of a service key; the roles are ${SERVICE_ROLES.join(', ')}`);
  // One at a time whatever the role, so that the lock keeps its name.
  const storage = await openBeside(config, 'webhooks rotate-key');
  try {
    if ((await storage.read(InstallationReader).get('root_key_id')) === undefined) {
      throw new StartError('the database is under no root key yet: start the service first');
    }
    const keyring = await openKeyringBeside(storage, config);
    try {
      return await rotateWith(storage, keyring, config, role, options);
    } finally {
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
}

async function rotateWith(
  storage: Storage,
  keyring: Keyring,
  config: Config,
  role: ServiceRole,
  options: KeyRotationOptions,
): Promise<RotatedServiceKey | undefined> {
  const { publishedMs = serviceKeyTimes(role).publishedMs, confirm = async () => true } = options;
  const usedAfterMs = options.isCompromised ? COMPROMISED_SIGNS_AFTER_MS : publishedMs;
  const stored = (await storage.read(InstallationReader).serviceKeys()).filter((key) => key.role === role);
  if (stored.length === 0) throw new StartError('the service has no keys yet: start the service first');
  const destroys = options.isCompromised ? stored.map(({ keyId }) => keyId) : [];
  const doubt = await findDoubt(storage, storage.read, options.isCompromised);
  const plan = { role, usedAfterMs, destroys, ...(doubt !== undefined && { doubt: doubt.reason }) };
  if (!(await confirm(plan))) return undefined;
  // Older versions know several keys of this role alone.
  if (role !== 'webhook-signer') await requireNewProcessesLocked(config, storage, options.say);
  const next = await publishNext(storage, keyring, {
    role,
    isCompromised: options.isCompromised,
    usedAfterMs,
    isDoubtKnown: doubt !== undefined,
  });
  const { keyId, signsFromMs } = next;
  if (!options.isCompromised) return { keyId, signsFromMs, removed: [] };
  options.say(
    `key ${keyId} is published; waiting ${COMPROMISED_SIGNS_AFTER_MS / 1000} seconds until every process has it and signs with it`,
  );
  await sleep(COMPROMISED_SIGNS_AFTER_MS);
  return { keyId, signsFromMs, removed: await destroyBefore(storage, role, next) };
}

interface NextOptions {
  readonly role: ServiceRole;
  /** The key may come before one that is published and not used yet. */
  readonly isCompromised: boolean;
  readonly usedAfterMs: number;
  /** Whether it was agreed to although the clock may be wrong. */
  readonly isDoubtKnown: boolean;
}

/**
 * Why the clock may be wrong. Who is behind would make a key that is used without having been published, or that comes
 * before the one in use, and is refused; but not where all other keys are destroyed, since the new one is then the only one.
 * Who is ahead makes one that is used later than it should be, which a person may accept: where nothing was stored for days,
 * the clock is ahead of everything.
 */
async function findDoubt({ kind }: Storage, read: ReadStores, isCompromised: boolean): Promise<ClockDoubt | undefined> {
  const doubt = await (kind === 'postgres' ? doubtByDatabase : doubtByStored)(read, Date.now());
  if (doubt?.isBehind && !isCompromised)
    throw new StartError(`${doubt.reason}: set the clock first; nothing was changed`);
  return doubt;
}

async function publishNext(storage: Storage, keyring: Keyring, options: NextOptions): Promise<NextKey> {
  const { role, isCompromised, usedAfterMs, isDoubtKnown } = options;
  for (;;) {
    const wrapped = await installationKey(storage);
    const { sealed, ...key } = await keyring.createServiceKey(Buffer.from(wrapped, 'hex'), role);
    const next = await writeBeside(storage, async (store): Promise<NextKey | undefined> => {
      if (!(await lockKeys(store, wrapped))) return undefined;
      // Once more: the clock may have been set since it was agreed to.
      const doubt = await findDoubt(storage, store, isCompromised);
      if (doubt !== undefined && !isDoubtKnown)
        throw new StartError(`${doubt.reason}: run the command again; nothing was changed`);
      const nowMs = Date.now();
      const before = await keysOf(store, role);
      const pending = before.find(({ signsFromMs }) => signsFromMs > nowMs);
      if (pending !== undefined && !isCompromised) {
        throw new StartError(
          `key ${pending.keyId} is published and begins to sign at ${new Date(pending.signsFromMs).toISOString()}: rotate after that`,
        );
      }
      const signsFromMs = nowMs + usedAfterMs;
      await store(InstallationStore).insertServiceKey({
        role,
        ...key,
        sealedKey: sealed,
        signsFromMs,
        createdAtMs: nowMs,
      });
      return { keyId: key.keyId, signsFromMs, before: before.map(({ keyId }) => keyId) };
    });
    if (next !== undefined) return next;
    // The root key was changed meanwhile.
    await keyring.refreshRing();
  }
}

/**
 * Answers with those that it destroyed. What was made after the key stays: nobody said that it is not to be trusted.
 */
async function destroyBefore(storage: Storage, role: ServiceRole, { keyId, before }: NextKey): Promise<string[]> {
  for (;;) {
    // Read anew: the root key may have been changed while this waited.
    const wrapped = await installationKey(storage);
    const removed = await writeBeside(storage, async (store): Promise<string[] | undefined> => {
      if (!(await lockKeys(store, wrapped))) return undefined;
      const stored = (await keysOf(store, role)).map((key) => key.keyId);
      if (!stored.includes(keyId)) {
        throw new StartError(`key ${keyId} was destroyed by another run with --compromised: its key takes the place`);
      }
      const old = stored.filter((id) => before.includes(id));
      await store(InstallationStore).deleteServiceKeys(role, old);
      return old;
    });
    if (removed !== undefined) return removed;
  }
}

async function installationKey(storage: Storage): Promise<string> {
  const wrapped = await storage.read(InstallationReader).get('deployment_key');
  if (wrapped !== undefined) return wrapped;
  throw new StartError('the service has no keys yet: start the service first');
}

/** Until the end of the transaction: a rotation of the root key, or another one of these, waits or is seen. */
const lockKeys = (store: Stores, wrapped: string): Promise<boolean> =>
  store(InstallationStore).exchange('deployment_key', wrapped, wrapped);

const keysOf = async (store: Stores, role: ServiceRole): Promise<ServiceKey[]> =>
  (await store(InstallationStore).serviceKeys()).filter((key) => key.role === role);
