import { type Keyring, KeyringError } from '@custos/keyring';
import { InstallationReader } from '../core/store/installation.ts';
import { MarkedRowReader, type StoredIntegrityKey } from '../core/store/marked-rows.ts';
import { changeRing } from '../keyring-admin/change-ring.ts';
import { printable } from '../lib/printable.ts';
import { StartError } from '../lib/start-error.ts';
import type { Storage } from '../storage/storage.ts';
import { type IntegrityNotes, notesUnder } from './notes.ts';

/** Several processes may start at once, and each writes the ring for some milliseconds. */
const RING_EVERY_MS = 50;

interface LoadedKey {
  readonly keyId: string;
  readonly generation: number;
  readonly notes: IntegrityNotes;
}

/** The integrity keys of a database, as they were loaded. */
export interface LoadedIntegrity {
  /** Rows under an earlier key are refused. */
  readonly current: LoadedKey;
  /** What rows are marked with: the current one, or the next while it takes its place. */
  readonly marking: LoadedKey;
  /** From the current one on, the newest last; there is more than one only during a rotation. */
  readonly keys: readonly LoadedKey[];
  /** Whether this machine's key ring says that marks under the current key are required. */
  readonly isInRing: boolean;
}

/**
 * Loads the integrity keys of a database, as every service and command must before it reads or writes rows. Undefined where
 * there is none yet. The last key that the ring of this machine requires is the earliest that counts, whatever the database
 * says; what was `known` before is never taken back either.
 */
export async function loadIntegrity(
  storage: Storage,
  keyring: Keyring,
  known?: LoadedIntegrity,
): Promise<LoadedIntegrity | undefined> {
  const stored = await storage.read(MarkedRowReader).keys();
  const required = await changeRing(
    () => keyring.integrityRequired(),
    () => {},
    { everyMs: RING_EVERY_MS },
  );
  const last = required.at(-1);
  const earliest = last === undefined ? stored[0] : stored.find(({ keyId }) => keyId === last);
  // A process that has followed the replacement of its ring's last key goes on, and writes the next one there when it can.
  if (earliest === undefined && known === undefined) {
    if (last === undefined) return undefined;
    throw lacksKey(last, stored);
  }
  const floor = Math.max(earliest?.generation ?? 0, known?.current.generation ?? 0);
  const usable = stored.filter(({ generation }) => generation >= floor);
  if (usable.length === 0) throw lacksKey(known?.current.keyId ?? '', stored);
  const lent = await lendAll(storage, keyring, usable);
  try {
    const facts = await storage.read(InstallationReader).facts(['integrity', 'integrity_rotation']);
    const note = facts.get('integrity');
    const all = usable.map(({ keyId, generation }, index): LoadedKey => {
      return { keyId, generation, notes: notesUnder(keyId, lent[index] as Uint8Array) };
    });
    // A key that is required by its own note has taken the place of those before it.
    const since = all.findLastIndex(({ notes }) => note === notes.required);
    const first = Math.max(since, 0);
    const keys = all.slice(first);
    const current = keys[0] as LoadedKey;
    const marks = ({ generation, notes }: LoadedKey): boolean =>
      facts.get('integrity_rotation') === notes.marking || generation === known?.marking.generation;
    const marking = keys.findLast(marks) ?? current;
    const isInRing = last === current.keyId;
    const generations = keys.map(({ generation }, index) => ({ generation, bytes: lent[first + index] as Uint8Array }));
    storage.integrity.load(generations, {
      marksWith: marking.generation,
      isRequired: isInRing || required.length > 0 || note === current.notes.required,
      isActive: storage.kind === 'sqlite' || note === current.notes.active,
    });
    return { current, marking, keys, isInRing };
  } finally {
    for (const bytes of lent) bytes.fill(0);
  }
}

/** The same for a command that cannot do without it. */
export async function requireLoadedIntegrity(
  storage: Storage,
  keyring: Keyring,
  known?: LoadedIntegrity,
): Promise<LoadedIntegrity> {
  const loaded = await loadIntegrity(storage, keyring, known);
  if (loaded !== undefined) return loaded;
  throw new StartError('the database has no integrity key yet: start this version of the service first');
}

/** Records in the key ring of this machine that marks under a key are required. Nothing takes that back. */
export async function recordInRing(
  keyring: Keyring,
  keyId: string,
  say: (line: string) => void = () => {},
): Promise<void> {
  await changeRing(() => keyring.requireIntegrity(keyId), say, { everyMs: RING_EVERY_MS });
}

async function lendAll(storage: Storage, keyring: Keyring, keys: readonly StoredIntegrityKey[]): Promise<Uint8Array[]> {
  for (let before: string | undefined; ; ) {
    const wrapped = await storage.read(InstallationReader).get('deployment_key');
    if (wrapped === undefined)
      throw new StartError(
        'the database has an integrity key and lacks the key of the deployment, which that is under: restore the row deployment_key of the table deployment from a backup',
      );
    const lent: Uint8Array[] = [];
    try {
      for (const { keyId, generation, sealedKey } of keys)
        lent.push(await keyring.lendIntegrityKey(Buffer.from(wrapped, 'hex'), keyId, generation, sealedKey));
      return lent;
    } catch (error) {
      for (const bytes of lent) bytes.fill(0);
      // A root key that the ring lacks is explained by whoever knows since when it is in use.
      const isExplained = error instanceof KeyringError && !['UNAVAILABLE', 'UNKNOWN_ROOT_KEY'].includes(error.code);
      if (!isExplained) throw error;
      // A rotation may have wrapped the key anew meanwhile.
      if (wrapped === before) {
        const id = printable(keys[lent.length]?.keyId ?? '');
        throw new StartError(
          `integrity key ${id} of the database does not open (${error.message}): somebody changed or added the row in integrity_key, or changed deployment_key in the table deployment. Delete a row that was added (DELETE FROM integrity_key WHERE key_id = '${id}'), and restore what was changed from a backup`,
        );
      }
      before = wrapped;
      await keyring.refreshRing();
    }
  }
}

function lacksKey(missing: string, keys: readonly StoredIntegrityKey[]): StartError {
  const has = keys.length === 0 ? 'has none' : `has ${keys.map(({ keyId }) => printable(keyId)).join(', ')}`;
  return new StartError(
    `the key ring says that rows are authenticated under integrity key ${missing}, and the database ${has}: it is another database, or one from before that key was made, or somebody removed the row from integrity_key, or the key was replaced (\`custos integrity rotate-key\`) while this machine was off. Use the database that belongs to the key ring, or restore a backup of it that has the key; after a replacement copy the key ring of a machine that was on; for a new database use a new key ring (docs/guides/integrity.md)`,
  );
}
