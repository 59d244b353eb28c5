import { Buffer } from 'node:buffer';
import { stat } from 'node:fs/promises';
import { closed, KeyringError } from '../errors.ts';
import { RETIRED_KEY_KEPT_MS, type RingState } from '../keyring.ts';
import { EntryKeys } from './entry-keys.ts';
import type { RandomBytes, RootKey } from './envelope.ts';
import { keyIdText } from './layout.ts';
import { createPrivateFile, readPrivateFile, replacePrivateFile, targetOf } from './private-file.ts';
import * as ringFile from './ring-file.ts';
import { withRingLock } from './ring-lock.ts';
import { parseRootKeySetting, type RootKeySource } from './root-key-setting.ts';

/** The root keys of a ring file, in memory. Keys are lent, never given: nobody keeps one across an await. */
export class RootKeyRing {
  readonly #source: RootKeySource;
  #keys = new Map<string, RootKey>();
  #retired: ReadonlyMap<string, number> = new Map();
  #requiresIntegrity: readonly string[] = [];
  #activeId = '';
  #state: RingState | undefined;
  /** Of the file that the keys were read from. */
  #mark: string | undefined;
  #closed = false;
  #reloading: Promise<void> = Promise.resolve();
  #changing: Promise<void> = Promise.resolve();

  private constructor(source: RootKeySource) {
    this.#source = source;
  }

  static async open(setting: unknown, create: boolean, random: RandomBytes): Promise<RootKeyRing> {
    const source = parseRootKeySetting(setting);
    const ring = new RootKeyRing(source);
    try {
      await ring.#load();
    } catch (error) {
      const missing = error instanceof KeyringError && error.code === 'ROOT_KEY_MISSING';
      if (!create || !missing) throw error;
      await createRing(source, random);
      await ring.#load();
    }
    return ring;
  }

  get activeId(): string {
    return this.#activeId;
  }

  has(id: string): boolean {
    return this.#keys.has(id);
  }

  get(id: string): RootKey {
    const key = this.#keys.get(id);
    if (key === undefined) throw unknownRootKey(id, this.#retired.get(id));
    return key;
  }

  /**
   * Reads the file again when the id is unknown, because another process may have added a key. Readings follow one
   * another: joining one that has begun could miss a key that was added since.
   */
  async ensure(id: string): Promise<void> {
    if (this.has(id)) return;
    const reloaded = this.#reloading.then(() => (this.has(id) ? undefined : this.#load()));
    this.#reloading = reloaded.catch(() => undefined);
    await reloaded;
  }

  /** The same object until the ring is read again. */
  get state(): RingState {
    const retired = [...this.#retired].map(([id, retiredAtMs]) => ({ id, retiredAtMs }));
    this.#state ??= {
      active: this.#activeId,
      ids: [...this.#keys.keys()],
      ...(retired.length > 0 && { retired }),
      ...(this.#requiresIntegrity.length > 0 && { requiresIntegrity: this.#requiresIntegrity }),
    };
    return this.#state;
  }

  /** The ids of the integrity keys whose rows must be authenticated, as the file was last read. */
  get requiresIntegrity(): readonly string[] {
    return this.#requiresIntegrity;
  }

  /** Reads the file again in any case. */
  async refresh(): Promise<RingState> {
    const reloaded = this.#reloading.then(() => this.#load());
    this.#reloading = reloaded.catch(() => undefined);
    await reloaded;
    return this.state;
  }

  /**
   * Reads the file again if it is not the one that was read. Nobody asked for it, so one that is missing, or that lacks the
   * active key or a required integrity key, is taken for a mistake: it fails, and the keys stay.
   */
  async follow(): Promise<void> {
    const { ringPath } = this.#source;
    const mark = await markOf(ringPath);
    if (mark === undefined) throw new KeyringError('ROOT_KEY_MISSING', `${ringPath} cannot be looked at`);
    if (mark === this.#mark) return;
    // Of several that look at once the first one reads it.
    const reloaded = this.#reloading.then(() =>
      mark === this.#mark ? undefined : this.#load({ activeId: this.#activeId, required: this.#requiresIntegrity }),
    );
    this.#reloading = reloaded.catch(() => undefined);
    await reloaded;
  }

  /** Adds a new key to the file and makes it the active one. */
  async add(random: RandomBytes): Promise<string> {
    const { passphrasePath } = this.#source;
    let id = '';
    let material: Uint8Array = new Uint8Array(0);
    try {
      await this.#rewrite(async (ring) => {
        if (ring.entries.length >= ringFile.KEYS_MAX) {
          const problem = `the key ring holds ${ringFile.KEYS_MAX} keys already: retire some first`;
          throw new KeyringError('INVALID_INPUT', problem);
        }
        const entryKeys = new EntryKeys(ring, passphrasePath);
        try {
          const { entry, key } = await entryKeys.make(random);
          key.fill(0);
          id = keyIdText(entry.id);
          material = entry.material;
          return { ...ring, activeId: entry.id, entries: [...ring.entries, entry] };
        } finally {
          entryKeys.wipe();
        }
      });
      return id;
    } finally {
      material.fill(0);
    }
  }

  /** Takes a key that is not the active one out of the file. */
  async remove(id: string): Promise<void> {
    await this.#rewrite((ring) => {
      const { entries } = others(ring, id);
      return { ...ring, entries };
    });
  }

  /** Keeps a key that is not the active one in the file, where it opens nothing. One that is retired stays so. */
  async retire(id: string, nowMs: number): Promise<void> {
    await this.#rewrite((ring) => {
      others(ring, id);
      return {
        ...ring,
        entries: ring.entries.map((entry) =>
          keyIdText(entry.id) === id ? { ...entry, retiredAtMs: entry.retiredAtMs ?? nowMs } : entry,
        ),
      };
    });
  }

  async restore(id: string): Promise<void> {
    await this.#rewrite((ring) => {
      if (!ring.entries.some((entry) => keyIdText(entry.id) === id)) throw unknownRootKey(id);
      return {
        ...ring,
        entries: ring.entries.map(({ retiredAtMs, ...entry }) =>
          keyIdText(entry.id) === id || retiredAtMs === undefined ? entry : { ...entry, retiredAtMs },
        ),
      };
    });
  }

  /** By the times in the file, whoever asks: a key that was retired a moment ago cannot be named away. */
  async removeExpired(ids: readonly string[], nowMs: number): Promise<string[]> {
    const removed: string[] = [];
    await this.#rewrite((ring) => {
      const entries = ring.entries.filter(({ id, retiredAtMs = nowMs }) => {
        const isExpired = ids.includes(keyIdText(id)) && nowMs - retiredAtMs >= RETIRED_KEY_KEPT_MS;
        if (isExpired) removed.push(keyIdText(id));
        return !isExpired;
      });
      return removed.length === 0 ? undefined : { ...ring, entries };
    });
    return removed;
  }

  /**
   * Adds an integrity key to those whose rows must be authenticated. A service may call this as often as it likes: what
   * changes nothing is found out without the lock, which would keep commands from the ring.
   */
  async requireIntegrity(id: string): Promise<void> {
    await this.follow();
    if (this.#requiresIntegrity.includes(id)) return;
    checkRoomForIntegrity(this.#requiresIntegrity.length);
    await this.#rewrite((ring) => {
      const { requiresIntegrity = [] } = ring;
      if (requiresIntegrity.some((known) => keyIdText(known) === id)) return undefined;
      checkRoomForIntegrity(requiresIntegrity.length);
      return { ...ring, requiresIntegrity: [...requiresIntegrity, Buffer.from(id, 'hex')] };
    });
  }

  /** The file is read under its lock, and every key in it checked, before it is written anew. */
  async #rewrite(change: Change): Promise<void> {
    const changed = this.#changing.then(() => this.#rewriteFile(change));
    this.#changing = changed.catch(() => undefined);
    await changed;
  }

  async #rewriteFile(change: Change): Promise<void> {
    const { provider } = this.#source;
    const ringPath = targetOf(this.#source.ringPath);
    await withRingLock(ringPath, async (checkLock) => {
      await this.refresh();
      const bytes = await readPrivateFile(ringPath, ringFile.RING_BYTES_MAX);
      let changed: Uint8Array | undefined;
      try {
        const ring = await change(ringFile.decodeRing(bytes, provider, ringPath));
        if (ring === undefined) return;
        changed = ringFile.encodeRing(ring);
        await replacePrivateFile(ringPath, changed, checkLock);
      } finally {
        bytes.fill(0);
        changed?.fill(0);
      }
    });
    await this.refresh();
  }

  wipe(): void {
    this.#closed = true;
    this.#replace(new Map());
  }

  #replace(
    keys: Map<string, RootKey>,
    retired: ReadonlyMap<string, number> = new Map(),
    requiresIntegrity: readonly string[] = [],
  ): void {
    for (const { key } of this.#keys.values()) key.fill(0);
    this.#keys = keys;
    this.#retired = retired;
    this.#requiresIntegrity = requiresIntegrity;
    this.#state = undefined;
  }

  /** A file that cannot be read leaves the keys in memory as they are. Retired keys are left in the file. */
  async #load(needed?: Needed): Promise<void> {
    const { ringPath, provider, passphrasePath } = this.#source;
    // Before the bytes: a file that is replaced in between is read once more, never taken for the other.
    const mark = await markOf(ringPath);
    const bytes = await readPrivateFile(ringPath, ringFile.RING_BYTES_MAX);
    const keys = new Map<string, RootKey>();
    const retired = new Map<string, number>();
    let requiresIntegrity: readonly string[] = [];
    let entryKeys: EntryKeys | undefined;
    try {
      const ring = ringFile.decodeRing(bytes, provider, ringPath);
      requiresIntegrity = (ring.requiresIntegrity ?? []).map(keyIdText);
      if (needed !== undefined) checkNeeded(ring, needed, ringPath);
      entryKeys = new EntryKeys(ring, passphrasePath);
      for (const entry of ring.entries) {
        const id = keyIdText(entry.id);
        if (entry.retiredAtMs !== undefined) {
          retired.set(id, entry.retiredAtMs);
          continue;
        }
        const { key, isRight } = await this.#unlock(ring.provider, entry, entryKeys);
        keys.set(id, { id: new Uint8Array(entry.id), key });
        if (!isRight) throw wrongKey(this.#source);
      }
      if (this.#closed) throw closed();
      // Nobody asked to begin with another one.
      this.#activeId = needed !== undefined && keys.has(needed.activeId) ? needed.activeId : keyIdText(ring.activeId);
    } catch (error) {
      for (const { key } of keys.values()) key.fill(0);
      throw error;
    } finally {
      entryKeys?.wipe();
      bytes.fill(0);
    }
    this.#mark = mark;
    this.#replace(keys, retired, requiresIntegrity);
  }

  /** A passphrase is stretched once for each key: what is already in memory is taken from there. */
  async #unlock(provider: ringFile.RingProvider, entry: ringFile.RingEntry, entryKeys: EntryKeys) {
    const known = this.#keys.get(keyIdText(entry.id));
    if (provider !== 'file' && known !== undefined && ringFile.isRightKey(provider, entry, known.key)) {
      return { key: new Uint8Array(known.key), isRight: true };
    }
    return entryKeys.open(entry);
  }
}

/** By which a file that was replaced or written is known; undefined where there is none to look at. */
async function markOf(path: string): Promise<string | undefined> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch {
    return undefined;
  }
}

/** Undefined leaves the file as it is. */
type Change = (ring: ringFile.Ring) => ringFile.Ring | undefined | Promise<ringFile.Ring | undefined>;

/** What a ring that nobody asked to read must not lack. */
interface Needed {
  readonly activeId: string;
  readonly required: readonly string[];
}

function checkNeeded({ entries, requiresIntegrity = [] }: ringFile.Ring, needed: Needed, path: string): void {
  const ids = new Set(entries.map(({ id }) => keyIdText(id)));
  const required = new Set(requiresIntegrity.map(keyIdText));
  const missing = needed.required.find((id) => !required.has(id));
  let lack: string | undefined;
  if (!ids.has(needed.activeId)) lack = `without root key ${needed.activeId}, which is in use`;
  else if (missing !== undefined) lack = `that does not require integrity key ${missing}`;
  if (lack !== undefined)
    throw new KeyringError('ROOT_KEY_INVALID', `${path} was replaced by a ring ${lack}: put it back`);
}

function checkRoomForIntegrity(count: number): void {
  if (count < ringFile.INTEGRITY_IDS_MAX) return;
  const problem = `the key ring requires ${ringFile.INTEGRITY_IDS_MAX} integrity keys already, and holds no more`;
  throw new KeyringError('INVALID_INPUT', problem);
}

/** All entries but one, which must be there and must not be the active one. */
function others({ entries, activeId }: ringFile.Ring, id: string): Pick<ringFile.Ring, 'entries'> {
  const rest = entries.filter((entry) => keyIdText(entry.id) !== id);
  if (rest.length === entries.length) throw unknownRootKey(id);
  if (keyIdText(activeId) === id) throw new KeyringError('INVALID_INPUT', 'the active root key stays');
  return { entries: rest };
}

export function wrongKey({ ringPath, passphrasePath }: RootKeySource): KeyringError {
  const doubt = passphrasePath === undefined ? 'is damaged' : `is damaged, or ${passphrasePath} is not its passphrase`;
  return new KeyringError('ROOT_KEY_INVALID', `${ringPath} ${doubt}`);
}

function unknownRootKey(id: string, retiredAtMs?: number): KeyringError {
  const state =
    retiredAtMs === undefined
      ? 'is not in the key ring'
      : `was retired at ${new Date(retiredAtMs).toISOString()} and opens nothing (\`custos keyring unretire\` brings it back)`;
  return new KeyringError('UNKNOWN_ROOT_KEY', `root key ${id} ${state}`);
}

/** Writes a ring of one new key, unless another process was faster. */
async function createRing(source: RootKeySource, random: RandomBytes): Promise<void> {
  const { provider, passphrasePath, ringPath } = source;
  const { entry, key } = await new EntryKeys({ provider }, passphrasePath).make(random);
  const bytes = ringFile.encodeRing({ provider, activeId: entry.id, entries: [entry] });
  try {
    await createPrivateFile(ringPath, bytes);
  } finally {
    for (const secret of [bytes, key, entry.material]) secret.fill(0);
  }
}
