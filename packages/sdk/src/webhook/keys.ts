import { type Bytes, fromBase64url, fromHex } from '../bytes.ts';
import { failure, memberOf, type WebhookFailure } from './result.ts';

/** A public key that deliveries are signed with. */
export interface WebhookKey {
  readonly keyId: string;
  /** Hex of the 32 bytes. */
  readonly publicKey: string;
  readonly algorithm?: 'ed25519';
}

/** The same as an entry of the key set that the service publishes (RFC 8037). */
export interface WebhookJwk {
  readonly kid: string;
  readonly kty: string;
  readonly crv: string;
  /** Base64url of the 32 bytes. */
  readonly x: string;
  readonly alg?: string;
  readonly use?: string;
}

/** Keys, entries of a key set, or a key set as a whole. */
export type WebhookKeys = readonly (WebhookKey | WebhookJwk)[] | { readonly keys: readonly WebhookJwk[] };

export interface PublicKey {
  readonly ok: true;
  readonly bytes: Bytes;
}

const PUBLIC_KEY_BYTES = 32;
const KEYS_MAX = 10_000;

/** The first key with that id, if it can be used. */
export function findKey(keys: unknown, keyId: string): PublicKey | WebhookFailure {
  try {
    const list = Array.isArray(keys) ? keys : memberOf(keys, 'keys');
    if (!Array.isArray(list) || list.length > KEYS_MAX) return failure('invalid_keys');
    for (const entry of list as readonly unknown[]) {
      if (memberOf(entry, 'keyId') === keyId) return readKey(entry);
      if (memberOf(entry, 'kid') === keyId) return readJwk(entry);
    }
  } catch {
    return failure('invalid_keys');
  }
  return failure('missing_key');
}

/** The keys of a key set by their id; what is no key for signatures by Ed25519 is left out. */
export function readKeySet(entries: readonly unknown[]): ReadonlyMap<string, PublicKey> {
  const keys = new Map<string, PublicKey>();
  for (const entry of entries) {
    const keyId = memberOf(entry, 'kid');
    const key = readJwk(entry);
    if (typeof keyId === 'string' && key.ok && !keys.has(keyId)) keys.set(keyId, key);
  }
  return keys;
}

function readKey(entry: unknown): PublicKey | WebhookFailure {
  const algorithm = memberOf(entry, 'algorithm');
  if (algorithm !== undefined && algorithm !== 'ed25519') return failure('invalid_verification_key_algorithm');
  const text = memberOf(entry, 'publicKey');
  return usable(typeof text === 'string' && text.length === 2 * PUBLIC_KEY_BYTES ? fromHex(text) : undefined);
}

function readJwk(entry: unknown): PublicKey | WebhookFailure {
  const isFor = (name: string, ...allowed: readonly unknown[]): boolean => allowed.includes(memberOf(entry, name));
  const isEd25519 = isFor('kty', 'OKP') && isFor('crv', 'Ed25519') && isFor('alg', undefined, 'EdDSA', 'Ed25519');
  if (!isEd25519 || !isFor('use', undefined, 'sig')) return failure('invalid_verification_key_algorithm');
  const text = memberOf(entry, 'x');
  return usable(typeof text === 'string' && text.length < 2 * PUBLIC_KEY_BYTES ? fromBase64url(text) : undefined);
}

const usable = (bytes: Bytes | undefined): PublicKey | WebhookFailure =>
  bytes?.length === PUBLIC_KEY_BYTES ? { ok: true, bytes } : failure('invalid_verification_key');
