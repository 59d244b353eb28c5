import { scrypt } from 'node:crypto';
import { KeyringError, notOpened } from '../errors.ts';
import { decrypt, encrypt, type RandomBytes } from './envelope.ts';
import { encodeFields, KEY_BYTES, KEY_ID_BYTES, NONCE_BYTES } from './layout.ts';
import { readPrivateFile } from './private-file.ts';
import { checkValue, isRightKey, type RingEntry, type RingProvider, SALT_BYTES } from './ring-file.ts';

const PASSPHRASE_BYTES_MIN = 16;
const PASSPHRASE_BYTES_MAX = 1024;
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 } as const;

/** A new entry and its key, which the caller wipes. */
export interface NewEntry {
  readonly entry: RingEntry;
  readonly key: Uint8Array;
}

/** Makes and opens the entries of one ring. Wiped after each reading or writing of the file. */
export class EntryKeys {
  readonly #provider: RingProvider;
  readonly #salt: Uint8Array | undefined;
  readonly #passphrasePath: string | undefined;
  #wrapper: Uint8Array | undefined;

  constructor(
    { provider, salt }: { readonly provider: RingProvider; readonly salt?: Uint8Array },
    passphrasePath: string | undefined,
  ) {
    this.#provider = provider;
    this.#salt = salt && new Uint8Array(salt);
    this.#passphrasePath = passphrasePath;
  }

  /** The key of an entry, checked or not as `isRight` says: the caller tells what a wrong one means. */
  async open(entry: RingEntry): Promise<{ readonly key: Uint8Array; readonly isRight: boolean }> {
    const key = await this.#open(entry);
    return { key, isRight: isRightKey(this.#provider, entry, key) };
  }

  /** An entry for a new key. */
  async make(random: RandomBytes): Promise<NewEntry> {
    const id = random(KEY_ID_BYTES);
    if (this.#provider === 'wrapped') {
      const key = random(KEY_BYTES);
      return { entry: await this.seal({ id, key }, random), key };
    }
    const material = random(KEY_BYTES);
    const key = await this.#open({ id, material, check: id });
    return { entry: { id, material, check: checkValue(this.#provider, id, key) }, key };
  }

  /** An entry for a key that is there already; not for a ring whose keys come from the passphrase itself. */
  async seal({ id, key }: { readonly id: Uint8Array; readonly key: Uint8Array }, random: RandomBytes) {
    const check = checkValue(this.#provider, id, key);
    if (this.#provider === 'file') return { id, material: new Uint8Array(key), check };
    const nonce = random(NONCE_BYTES);
    const box = encrypt(await this.#wrappingKey(), nonce, wrapData(id), key);
    const material = new Uint8Array(nonce.length + box.length);
    material.set(nonce);
    material.set(box, nonce.length);
    return { id, material, check };
  }

  wipe(): void {
    this.#wrapper?.fill(0);
    this.#wrapper = undefined;
  }

  async #open({ id, material }: RingEntry): Promise<Uint8Array> {
    if (this.#provider === 'file') return new Uint8Array(material);
    if (this.#provider === 'passphrase') return await this.#stretch(material);
    const wrapper = await this.#wrappingKey();
    try {
      return decrypt(wrapper, material.subarray(0, NONCE_BYTES), wrapData(id), material.subarray(NONCE_BYTES));
    } catch (error) {
      if (!(error instanceof KeyringError && error.code === notOpened().code)) throw error;
      // No key has this check value, so that the ring is refused like one with any other wrong key.
      return new Uint8Array(KEY_BYTES);
    }
  }

  /** Stretched once for all keys of the ring. */
  async #wrappingKey(): Promise<Uint8Array> {
    this.#wrapper ??= await this.#stretch(this.#salt ?? new Uint8Array(SALT_BYTES));
    return this.#wrapper;
  }

  async #stretch(salt: Uint8Array): Promise<Uint8Array> {
    const path = this.#passphrasePath;
    if (path === undefined) throw new KeyringError('INVALID_INPUT', 'the key ring needs a passphrase');
    const file = await readPrivateFile(path, PASSPHRASE_BYTES_MAX);
    try {
      const passphrase = withoutNewline(file);
      if (passphrase.length < PASSPHRASE_BYTES_MIN) {
        throw new KeyringError('ROOT_KEY_INVALID', `${path} holds fewer than ${PASSPHRASE_BYTES_MIN} bytes`);
      }
      return await stretch(passphrase, salt);
    } finally {
      file.fill(0);
    }
  }
}

const wrapData = (id: Uint8Array): Uint8Array => encodeFields(['custos.keyring.root-key', Uint8Array.of(1), id]);

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
