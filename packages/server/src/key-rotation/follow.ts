import { hostname } from 'node:os';
import type { Keyring } from '@custos/keyring';
import { byUse } from '../core/service-keys.ts';
import { InstallationReader, InstallationStore, type ServiceProcess } from '../core/store/installation.ts';
import type { FenceFollower } from '../fence/follow.ts';
import { INTEGRITY_FACTS, type IntegrityFollower } from '../integrity/follower.ts';
import type { Clock } from '../lib/clock.ts';
import { randomId } from '../lib/ids.ts';
import type { ServiceKey } from '../storage/service-key.ts';
import type { Storage } from '../storage/storage.ts';
import { createKeyRemoval } from './delete-expired.ts';
import { type ProcessState, parseRetired, parseRotation, processStateOf } from './rotation.ts';

/** Well below the time that a rotation gives a process to answer. */
const LOOK_EVERY_MS = 1000;
const FOLLOWED = [
  'rotation',
  'root_key_id',
  'deployment_key',
  'ring_change',
  'retired_root_keys',
  'restored',
  ...INTEGRITY_FACTS,
] as const;

export interface Opened {
  readonly restored: string | undefined;
}

interface FollowParts {
  readonly steady: Clock;
  readonly elapsed: Clock;
  readonly integrity?: IntegrityFollower;
  readonly fence?: FenceFollower;
  /** Under which the process is known already; it becomes known now unless told. */
  readonly processId?: string;
  /** Which backup had last been restored when the database was opened; as it is at the first look unless told. */
  readonly opened?: Opened | undefined;
  /** Called when a backup was restored over the database: whatever this process remembers is of another one. */
  readonly onRestored?: (() => void) | undefined;
}

/** What every process of this version knows. */
const knowledge = () => ({ host: hostname(), pid: process.pid, knowsEarlierKeys: true, knowsMarks: true });

/** This process, as others are to know it before it has loaded anything. */
export const newProcess = (): ServiceProcess => ({ id: randomId(), state: JSON.stringify(knowledge()) });

/**
 * Makes this process known, before it loads any key: a command that adds one waits until each process that is known has it.
 * Answers with the id. On PostgreSQL a service is known since it opened the database.
 */
export async function announceProcess(
  storage: Storage,
  keyring: Keyring,
  { id, state }: ServiceProcess = newProcess(),
): Promise<string> {
  await storage.write(async (store) => {
    // The embedded database has one process: others in it were killed.
    if (storage.kind === 'sqlite') {
      for (const other of await store(InstallationStore).processes())
        await store(InstallationStore).removeProcess(other.id);
    }
    await store(InstallationStore).putProcess({ id, state });
  });
  keyring.closing.addEventListener('abort', () => {
    void storage.write((store) => store(InstallationStore).removeProcess(id)).catch(() => {});
  });
  return id;
}

/**
 * Makes this process known to rotations and follows them: it reads the key ring when another root key is wanted, says
 * whether it holds that key, and loads the service keys again once their key is wrapped anew, there are others, or another
 * one is to be used. Deletes those that were replaced long ago. Ends with the keyring.
 * `loadServiceKeys` is given the wrapped key; `loaded` is what was loaded, with which one.
 */
export async function followRotations(
  storage: Storage,
  keyring: Keyring,
  loaded: { readonly wrapped: string; readonly keys: readonly ServiceKey[] },
  loadServiceKeys: (wrapped: string) => Promise<readonly ServiceKey[]>,
  { steady, elapsed, integrity, fence, processId, opened, onRestored }: FollowParts,
): Promise<void> {
  const id = processId ?? (await announceProcess(storage, keyring));
  const marking = (): Pick<ProcessState, 'writesMarks' | 'integrity'> => ({
    writesMarks: storage.integrity.isActive,
    ...(integrity && { integrity: integrity.state }),
  });
  const self = (): ProcessState => ({ ...knowledge(), ...marking() });
  let known = { wrapped: loaded.wrapped, ids: idsOf(loaded.keys) };
  let wasRotating = false;
  let ringChange: string | undefined;
  const deleteExpired = createKeyRemoval(storage, steady, elapsed);

  const look = async (): Promise<void> => {
    let said = await storage.read(InstallationReader).process(id);
    const facts = await storage.read(InstallationReader).facts(FOLLOWED);
    opened ??= { restored: facts.get('restored') };
    if (opened.restored !== facts.get('restored')) return onRestored?.();
    const say = async (state: ProcessState): Promise<void> => {
      const text = JSON.stringify(state);
      if (text === said || keyring.closing.aborted) return;
      await storage.write((store) => store(InstallationStore).putProcess({ id, state: text }));
      said = text;
    };
    await integrity?.follow(facts);
    // Where the database is away, the next look tries again.
    await fence?.follow().catch(() => {});
    const rotation = parseRotation(facts.get('rotation'));
    const wanted = rotation?.to ?? facts.get('root_key_id');
    const hasEnded = wasRotating && rotation === undefined;
    const hasRingChanged = facts.get('ring_change') !== ringChange;
    const mustRead = wanted !== undefined && (hasEnded || hasRingChanged || !uses(keyring, wanted));
    // Reading takes a while with a passphrase, and who says nothing counts as killed.
    if (rotation !== undefined && mustRead) await say({ ...self(), rotation: rotation.id });
    // A rotation that took this process for killed has removed it; the next one must know it again.
    if (rotation === undefined && said === undefined) await say(self());
    if (said !== undefined) await say({ ...(processStateOf(said) ?? self()), ...marking() });
    // A ring that cannot be read leaves the keys as they are. Nothing is answered about it: the next look reads it again.
    const isRead =
      !mustRead ||
      (await keyring.refreshRing().then(
        () => true,
        () => false,
      ));
    if (isRead) {
      wasRotating = rotation !== undefined;
      const change = facts.get('ring_change');
      if (hasRingChanged && change !== undefined) {
        const earlierKeys = parseRetired(facts.get('retired_root_keys')).filter((key) => keyring.hasRootKey(key));
        await say({ ...self(), ringChange: change, earlierKeys });
      }
      ringChange = change;
      if (rotation !== undefined) await say({ ...self(), rotation: rotation.id, holdsKey: uses(keyring, rotation.to) });
    }
    const wrapped = facts.get('deployment_key');
    if (wrapped === undefined) return;
    const stored = await storage.read(InstallationReader).serviceKeys();
    // Others are there, or the time of one has come.
    const ids = idsOf(byUse(stored, steady()));
    if (wrapped !== known.wrapped || ids !== known.ids) known = { wrapped, ids: idsOf(await loadServiceKeys(wrapped)) };
    // It does no harm if this fails, and the next look tries again.
    await deleteExpired(stored).catch(() => {});
  };

  let timer: NodeJS.Timeout | undefined;
  const lookAgain = (): void => {
    if (keyring.closing.aborted) return;
    // While database or keyring are away there is nothing to follow.
    timer = setTimeout(
      () =>
        void look()
          .catch(() => {})
          .finally(lookAgain),
      LOOK_EVERY_MS,
    ).unref();
  };

  keyring.closing.addEventListener('abort', () => clearTimeout(timer));
  await look();
  lookAgain();
}

const idsOf = (keys: readonly ServiceKey[]): string => keys.map(({ keyId }) => keyId).join();

const uses = (keyring: Keyring, rootKeyId: string): boolean =>
  keyring.rootKeyId === rootKeyId && keyring.hasRootKey(rootKeyId);
