import { scrypt } from 'node:crypto';
import { closed, KeyringError } from '../errors.ts';
import type { RingState } from '../keyring.ts';
import type { RandomBytes, RootKey } from './envelope.ts';
import { KEY_BYTES, KEY_ID_BYTES, keyIdText } from './layout.ts';
import { createPrivateFile, readPrivateFile, replacePrivateFile } from './private-file.ts';
import * as ringFile from './ring-file.ts';
import { withRingLock } from './ring-lock.ts';
import { parseRootKeySetting, type RootKeySource } from './root-key-setting.ts';

const PASSPHRASE_BYTES_MIN = 16;
const PASSPHRASE_BYTES_MAX = 1024;
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 } as const;

/** The root keys of a ring file, in memory. Keys are lent, never given: nobody keeps one across an await. */
export class RootKeyRing {
  readonly #source: RootKeySource;
  #keys = new Map<string, RootKey>();
  #activeId = '';
  #state: RingState | undefined;
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
    if (key === undefined) throw unknownRootKey(id);
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
    this.#state ??= { active: this.#activeId, ids: [...this.#keys.keys()] };
    return this.#state;
  }

  /** Reads the file again in any case. */
  async refresh(): Promise<RingState> {
    const reloaded = this.#reloading.then(() => this.#load());
    this.#reloading = reloaded.catch(() => undefined);
    await reloaded;
    return this.state;
  }

  /** Adds a new key to the file and makes it the active one. */
  async add(random: RandomBytes): Promise<string> {
    const { provider, passphrasePath } = this.#source;
    const id = random(KEY_ID_BYTES);
    const material = random(KEY_BYTES);
    const key = await deriveKey(material, passphrasePath);
    try {
      const entry = { id, material, check: ringFile.checkValue(provider, id, key) };
      await this.#rewrite((ring) => {
        if (ring.entries.length >= ringFile.KEYS_MAX) {
          throw new KeyringError('INVALID_INPUT', `the key ring holds ${ringFile.KEYS_MAX} keys already`);
        }
        return { ...ring, activeId: id, entries: [...ring.entries, entry] };
      });
    } finally {
      material.fill(0);
      key.fill(0);
    }
    return keyIdText(id);
  }

  /** Takes a key that is not the active one out of the file. */
  async remove(id: string): Promise<void> {
    await this.#rewrite((ring) => {
      const entries = ring.entries.filter((entry) => keyIdText(entry.id) !== id);
      if (entries.length === ring.entries.length) throw unknownRootKey(id);
      if (keyIdText(ring.activeId) === id) throw new KeyringError('INVALID_INPUT', 'the active root key stays');
      return { ...ring, entries };
    });
  }

  /** The file is read under its lock, and every key in it checked, before it is written anew. */
  async #rewrite(change: (ring: ringFile.Ring) => ringFile.Ring): Promise<void> {
    const changed = this.#changing.then(() => this.#rewriteFile(change));
    this.#changing = changed.catch(() => undefined);
    await changed;
  }

  async #rewriteFile(change: (ring: ringFile.Ring) => ringFile.Ring): Promise<void> {
    const { ringPath, provider } = this.#source;
    await withRingLock(ringPath, async (checkLock) => {
      await this.refresh();
      const bytes = await readPrivateFile(ringPath, ringFile.RING_BYTES_MAX);
      let changed: Uint8Array | undefined;
      try {
        changed = ringFile.encodeRing(change(ringFile.decodeRing(bytes, provider, ringPath)));
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

  #replace(keys: Map<string, RootKey>): void {
    for (const { key } of this.#keys.values()) key.fill(0);
    this.#keys = keys;
    this.#state = undefined;
  }

  /** A file that cannot be read leaves the keys in memory as they are. */
  async #load(): Promise<void> {
    const { ringPath, provider, passphrasePath } = this.#source;
    const bytes = await readPrivateFile(ringPath, ringFile.RING_BYTES_MAX);
    const keys = new Map<string, RootKey>();
    try {
      const ring = ringFile.decodeRing(bytes, provider, ringPath);
      for (const entry of ring.entries) {
        const key = await this.#unlock(entry);
        keys.set(keyIdText(entry.id), { id: new Uint8Array(entry.id), key });
        if (!ringFile.isRightKey(provider, entry, key)) {
          const doubt =
            passphrasePath === undefined ? 'is damaged' : `is damaged, or ${passphrasePath} is not its passphrase`;
          throw new KeyringError('ROOT_KEY_INVALID', `${ringPath} ${doubt}`);
        }
      }
      if (this.#closed) throw closed();
      this.#activeId = keyIdText(ring.activeId);
    } catch (error) {
      for (const { key } of keys.values()) key.fill(0);
      throw error;
    } finally {
      bytes.fill(0);
    }
    this.#replace(keys);
  }

  /** A passphrase is stretched once for each key: what is already in memory is taken from there. */
  async #unlock(entry: ringFile.RingEntry): Promise<Uint8Array> {
    const { provider, passphrasePath } = this.#source;
    const known = this.#keys.get(keyIdText(entry.id));
    if (passphrasePath !== undefined && known !== undefined && ringFile.isRightKey(provider, entry, known.key)) {
      return new Uint8Array(known.key);
    }
    return deriveKey(entry.material, passphrasePath);
  }
}

function unknownRootKey(id: string): KeyringError {
  return new KeyringError('UNKNOWN_ROOT_KEY', `root key ${id} is not in the key ring`);
}

/** Writes a ring of one new key, unless another process was faster. */
async function createRing(source: RootKeySource, random: RandomBytes): Promise<void> {
  const id = random(KEY_ID_BYTES);
  const material = random(KEY_BYTES);
  const key = await deriveKey(material, source.passphrasePath);
  const check = ringFile.checkValue(source.provider, id, key);
  const bytes = ringFile.encodeRing({ provider: source.provider, activeId: id, entries: [{ id, material, check }] });
  try {
    await createPrivateFile(source.ringPath, bytes);
  } finally {
    for (const secret of [bytes, key, material]) secret.fill(0);
  }
}

async function deriveKey(material: Uint8Array, passphrasePath: string | undefined): Promise<Uint8Array> {
  if (passphrasePath === undefined) return new Uint8Array(material);
  const file = await readPrivateFile(passphrasePath, PASSPHRASE_BYTES_MAX);
  try {
    const passphrase = withoutNewline(file);
    if (passphrase.length < PASSPHRASE_BYTES_MIN) {
      const problem = `holds fewer than ${PASSPHRASE_BYTES_MIN} bytes`;
      throw new KeyringError('ROOT_KEY_INVALID', `${passphrasePath} ${problem}`);
    }
    return await stretch(passphrase, material);
  } finally {
    file.fill(0);
  }
}

/** Editors end a file with a newline that is not part of the passphrase: one, as LF or CR LF, is left out. */
function withoutNewline(bytes: Uint8Array): Uint8Array {
  if (bytes.at(-1) !== 0x0a) return bytes;
  return bytes.subarray(0, bytes.at(-2) === 0x0d ? -2 : -1);
}

/** scrypt as in RFC 7914. */
function stretch(passphrase: Uint8Array, salt: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    scrypt(passphrase, salt, KEY_BYTES, SCRYPT, (error, key) => {
      if (error) reject(error);
      else resolve(new Uint8Array(key.buffer, key.byteOffset, key.length));
    });
  });
}
