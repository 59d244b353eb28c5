import { Buffer } from 'node:buffer';
import { KeyringError, notOpened } from '../errors.ts';

// The byte layouts of SPEC.md, sections 1, 3 and 4.

export const KEY_BYTES = 32;
export const KEY_ID_BYTES = 16;
export const NONCE_BYTES = 12;
export const TAG_BYTES = 16;
export const LAYOUT_VERSION = 1;
/** A request body of 2 MiB is sealed whole, with room for what is kept beside it. */
export const PLAINTEXT_BYTES_MAX = 4 * 1024 * 1024;

const TYPE_ORGANIZATION_KEY = 1;
const TYPE_SEALED_SECRET = 2;
const HEADER_BYTES = 2;
const WRAPPED_KEY_BYTES = KEY_BYTES + TAG_BYTES;
const ORGANIZATION_KEY_BYTES = HEADER_BYTES + 2 * KEY_ID_BYTES + NONCE_BYTES + WRAPPED_KEY_BYTES;
const SEALED_SECRET_OVERHEAD_BYTES =
  HEADER_BYTES + 2 * KEY_ID_BYTES + NONCE_BYTES + WRAPPED_KEY_BYTES + NONCE_BYTES + TAG_BYTES;
const NAME_BYTES_MAX = 256;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** What a secret belongs to. A blob opens only with the binding it was sealed with. */
export interface Binding {
  readonly organizationId: string;
  readonly ownerId: string;
  readonly kind: string;
}

export interface WrappedOrganizationKey {
  readonly rootKeyId: Uint8Array;
  readonly organizationKeyId: Uint8Array;
  readonly nonce: Uint8Array;
  readonly box: Uint8Array;
}

export interface SealedSecret {
  readonly organizationKeyId: Uint8Array;
  readonly dataKeyId: Uint8Array;
  readonly dataKeyNonce: Uint8Array;
  readonly dataKeyBox: Uint8Array;
  readonly secretNonce: Uint8Array;
  readonly secretBox: Uint8Array;
}

/** Each field behind its length in two bytes, so that no two lists of fields give the same bytes. */
export function encodeFields(fields: readonly (string | Uint8Array)[]): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const field of fields) {
    const bytes = typeof field === 'string' ? Buffer.from(field, 'utf8') : field;
    parts.push(Uint8Array.of(bytes.length >>> 8, bytes.length & 0xff), bytes);
  }
  return concat(parts);
}

export function organizationKeyData(organizationId: string, rootKeyId: Uint8Array, keyId: Uint8Array): Uint8Array {
  const version = Uint8Array.of(LAYOUT_VERSION);
  return encodeFields(['custos.keyring.organization-key', version, organizationId, rootKeyId, keyId]);
}

export function dataKeyData(binding: Binding, organizationKeyId: Uint8Array, dataKeyId: Uint8Array): Uint8Array {
  const { organizationId, ownerId, kind } = binding;
  const version = Uint8Array.of(LAYOUT_VERSION);
  return encodeFields([
    'custos.keyring.data-key',
    version,
    organizationId,
    ownerId,
    kind,
    organizationKeyId,
    dataKeyId,
  ]);
}

/** Leaves the organization key's id out, so that a new organization key re-wraps data keys without touching secrets. */
export function secretData(binding: Binding, dataKeyId: Uint8Array): Uint8Array {
  const { organizationId, ownerId, kind } = binding;
  const version = Uint8Array.of(LAYOUT_VERSION);
  return encodeFields(['custos.keyring.secret', version, organizationId, ownerId, kind, dataKeyId]);
}

export function encodeOrganizationKey(key: WrappedOrganizationKey): Uint8Array {
  const header = Uint8Array.of(TYPE_ORGANIZATION_KEY, LAYOUT_VERSION);
  return concat([header, key.rootKeyId, key.organizationKeyId, key.nonce, key.box]);
}

export function decodeOrganizationKey(bytes: Uint8Array): WrappedOrganizationKey {
  if (bytes.length !== ORGANIZATION_KEY_BYTES) throw notOpened();
  const take = reader(bytes, TYPE_ORGANIZATION_KEY);
  return {
    rootKeyId: take(KEY_ID_BYTES),
    organizationKeyId: take(KEY_ID_BYTES),
    nonce: take(NONCE_BYTES),
    box: take(WRAPPED_KEY_BYTES),
  };
}

/** One wrapped key; or two, of which the first is in use and the second opens what was sealed before. */
export function decodeOrganizationKeys(bytes: Uint8Array): readonly WrappedOrganizationKey[] {
  if (bytes.length !== 2 * ORGANIZATION_KEY_BYTES) return [decodeOrganizationKey(bytes)];
  return [
    decodeOrganizationKey(bytes.subarray(0, ORGANIZATION_KEY_BYTES)),
    decodeOrganizationKey(bytes.subarray(ORGANIZATION_KEY_BYTES)),
  ];
}

export const joinOrganizationKeys = (keys: readonly Uint8Array[]): Uint8Array => concat(keys);

/** What is in front of the secret itself: everything that another organization key changes. */
export const SEALED_HEAD_BYTES = HEADER_BYTES + 2 * KEY_ID_BYTES + NONCE_BYTES + WRAPPED_KEY_BYTES;

export function decodeSealedHead(bytes: Uint8Array): Omit<SealedSecret, 'secretNonce' | 'secretBox'> {
  if (bytes.length !== SEALED_HEAD_BYTES) throw notOpened();
  const take = reader(bytes, TYPE_SEALED_SECRET);
  return {
    organizationKeyId: take(KEY_ID_BYTES),
    dataKeyId: take(KEY_ID_BYTES),
    dataKeyNonce: take(NONCE_BYTES),
    dataKeyBox: take(WRAPPED_KEY_BYTES),
  };
}

export function encodeSealedSecret(sealed: SealedSecret): Uint8Array {
  return concat([
    Uint8Array.of(TYPE_SEALED_SECRET, LAYOUT_VERSION),
    sealed.organizationKeyId,
    sealed.dataKeyId,
    sealed.dataKeyNonce,
    sealed.dataKeyBox,
    sealed.secretNonce,
    sealed.secretBox,
  ]);
}

export function decodeSealedSecret(bytes: Uint8Array): SealedSecret {
  const secretBytes = bytes.length - SEALED_SECRET_OVERHEAD_BYTES;
  if (secretBytes < 0 || secretBytes > PLAINTEXT_BYTES_MAX) throw notOpened();
  const take = reader(bytes, TYPE_SEALED_SECRET);
  return {
    organizationKeyId: take(KEY_ID_BYTES),
    dataKeyId: take(KEY_ID_BYTES),
    dataKeyNonce: take(NONCE_BYTES),
    dataKeyBox: take(WRAPPED_KEY_BYTES),
    secretNonce: take(NONCE_BYTES),
    secretBox: take(secretBytes + TAG_BYTES),
  };
}

export function checkBytes(bytes: unknown, name: string): asserts bytes is Uint8Array {
  if (!(bytes instanceof Uint8Array)) throw new KeyringError('INVALID_INPUT', `${name} must be a Uint8Array`);
}

/** A string with a lone surrogate has no UTF-8 form of its own, and two of them would share one. */
export function checkName(value: unknown, name: string): asserts value is string {
  if (typeof value !== 'string' || value === '' || LONE_SURROGATE.test(value)) {
    throw new KeyringError('INVALID_INPUT', `${name} must be well-formed, non-empty text`);
  }
  if (Buffer.byteLength(value) > NAME_BYTES_MAX) {
    throw new KeyringError('INVALID_INPUT', `${name} is longer than ${NAME_BYTES_MAX} bytes`);
  }
}

/** A checked copy, so that what was checked is what is bound, also when the caller changes its object meanwhile. */
export function checkBinding(binding: unknown): Binding {
  if (typeof binding !== 'object' || binding === null) {
    throw new KeyringError('INVALID_INPUT', 'binding must be an object');
  }
  const { organizationId, ownerId, kind } = binding as Partial<Binding>;
  checkName(organizationId, 'organizationId');
  checkName(ownerId, 'ownerId');
  checkName(kind, 'kind');
  return { organizationId, ownerId, kind };
}

export function keyIdText(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString('hex');
}

function reader(bytes: Uint8Array, type: number): (length: number) => Uint8Array {
  if (bytes[0] !== type || bytes[1] !== LAYOUT_VERSION) throw notOpened();
  let offset = HEADER_BYTES;
  return (length) => {
    const start = offset;
    offset += length;
    return bytes.subarray(start, offset);
  };
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
