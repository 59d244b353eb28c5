import { Buffer } from 'node:buffer';
import { KeyringError } from './errors.ts';
import * as envelope from './seal/envelope.ts';
import * as layout from './seal/layout.ts';
import { OrganizationKeyCache } from './seal/organization-key-cache.ts';
import type { RootKeyRing } from './seal/root-key.ts';

/**
 * Bytes in, bytes out, nothing stored: the caller keeps what it is given and brings it back. Every refusal is a
 * KeyringError.
 */
export interface Keyring extends AsyncDisposable {
  /** The id of the root key that new organization keys are wrapped under. It changes when a changed ring is read. */
  readonly rootKeyId: string;
  /** Whether the ring, as last read, holds this key. */
  hasRootKey(id: string): boolean;
  /** A new key for an organization, wrapped under the active root key. */
  createOrganizationKey(organizationId: string): Promise<Uint8Array>;
  /** Seals the plaintext for its owner, under a data key of its own. */
  seal(organizationKey: Uint8Array, binding: layout.Binding, plaintext: Uint8Array): Promise<Uint8Array>;
  /** Opens what `seal` made. NOT_OPENED when any byte or any part of the binding differs. */
  open(organizationKey: Uint8Array, binding: layout.Binding, blob: Uint8Array): Promise<Uint8Array>;
  /** Wipes every key in memory. Calls made later are refused. */
  close(): Promise<void>;
}

/** The keyring inside the calling process. */
export class LocalKeyring implements Keyring {
  readonly #ring: RootKeyRing;
  readonly #random: envelope.RandomBytes;
  readonly #cache = new OrganizationKeyCache();
  #closed = false;

  constructor(ring: RootKeyRing, random: envelope.RandomBytes) {
    this.#ring = ring;
    this.#random = random;
  }

  get rootKeyId(): string {
    return this.#ring.activeId;
  }

  hasRootKey(id: string): boolean {
    return this.#ring.has(id);
  }

  async createOrganizationKey(organizationId: string): Promise<Uint8Array> {
    this.#checkOpen();
    layout.checkName(organizationId, 'organizationId');
    const root = this.#ring.get(this.#ring.activeId);
    return envelope.wrapNewOrganizationKey(root, organizationId, this.#random);
  }

  async seal(organizationKey: Uint8Array, binding: layout.Binding, plaintext: Uint8Array): Promise<Uint8Array> {
    this.#checkOpen();
    const bound = layout.checkBinding(binding);
    layout.checkBytes(plaintext, 'plaintext');
    if (plaintext.length > layout.PLAINTEXT_BYTES_MAX) {
      throw new KeyringError('INVALID_INPUT', `plaintext is longer than ${layout.PLAINTEXT_BYTES_MAX} bytes`);
    }
    return this.#withOrganizationKey(organizationKey, bound.organizationId, (key) =>
      envelope.sealSecret(key, bound, plaintext, this.#random),
    );
  }

  async open(organizationKey: Uint8Array, binding: layout.Binding, blob: Uint8Array): Promise<Uint8Array> {
    this.#checkOpen();
    const bound = layout.checkBinding(binding);
    layout.checkBytes(blob, 'blob');
    const sealed = layout.decodeSealedSecret(blob);
    return this.#withOrganizationKey(organizationKey, bound.organizationId, (key) =>
      envelope.openSecret(key, bound, sealed),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cache.clear();
    this.#ring.wipe();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Lends the opened key for one synchronous use, so that it cannot be wiped under its user. */
  async #withOrganizationKey<T>(
    organizationKey: Uint8Array,
    organizationId: string,
    use: (key: envelope.OrganizationKey) => T,
  ): Promise<T> {
    layout.checkBytes(organizationKey, 'organizationKey');
    // A copy, because the name in the cache and the bytes that are opened must be the same after the await. Not by
    // slice, which shares memory when the caller's array is a Buffer.
    const bytes = new Uint8Array(organizationKey);
    const wrapped = layout.decodeOrganizationKey(bytes);
    const rootKeyId = layout.keyIdText(wrapped.rootKeyId);
    await this.#ring.ensure(rootKeyId);
    this.#checkOpen();
    const root = this.#ring.get(rootKeyId);
    const name = `${Buffer.from(bytes.buffer).toString('latin1')}${organizationId}`;
    const known = this.#cache.get(name);
    const key = known ?? this.#cache.put(name, envelope.unwrapOrganizationKey(root, organizationId, wrapped));
    return use(key);
  }

  #checkOpen(): void {
    if (this.#closed) throw new KeyringError('INVALID_INPUT', 'the keyring is closed');
  }
}
