import { type Bytes, concat, toUtf8 } from '../bytes.ts';
import { BundleError } from '../errors.ts';
import { type Agreement, agree, newAgreement } from './agreement.ts';

// HPKE of RFC 9180 in base mode, one message: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.

const VERSION = toUtf8('HPKE-v1');
const KEM_ID = concat(toUtf8('KEM'), Uint8Array.of(0x00, 0x10));
const SUITE_ID = concat(toUtf8('HPKE'), Uint8Array.of(0x00, 0x10, 0x00, 0x01, 0x00, 0x02));
const MODE_BASE = Uint8Array.of(0x00);
const NOTHING: Bytes = new Uint8Array(0);
/** RFC 5869, 2.2: what an absent salt stands for. WebCrypto takes no empty key. */
const NO_SALT: Bytes = new Uint8Array(32);

const INFO = toUtf8('turnkey_hpke');
const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const;

export interface Sealed {
  /** The encapsulated key, SEC1 uncompressed. */
  readonly enc: Bytes;
  /** The ciphertext with its tag. */
  readonly ciphertext: Bytes;
}

export interface KeySchedule {
  readonly key: CryptoKey;
  readonly baseNonce: Bytes;
}

/**
 * Encrypts to an uncompressed key. The ephemeral key is for published vectors: used twice, it repeats key and nonce.
 */
export async function seal(receiver: Bytes, plaintext: Bytes, ephemeral?: Agreement): Promise<Sealed> {
  const own = ephemeral ?? (await newAgreement());
  const bothKeys = concat(own.publicKey, receiver);
  const { key, baseNonce } = await scheduleOf(own, receiver, bothKeys, INFO);
  return { enc: own.publicKey, ciphertext: await encrypt(key, baseNonce, bothKeys, plaintext) };
}

/** Opens what was sealed to the receiver. The caller wipes the plaintext. */
export async function open(receiver: Agreement, { enc, ciphertext }: Sealed): Promise<Bytes> {
  const bothKeys = concat(enc, receiver.publicKey);
  const { key, baseNonce } = await scheduleOf(receiver, enc, bothKeys, INFO);
  return await decrypt(key, baseNonce, bothKeys, ciphertext);
}

/** RFC 9180, 4.1 and 5.1: what both sides compute from their own key, the peer's, and `enc` with the receiver's key. */
export async function scheduleOf(own: Agreement, peer: Bytes, bothKeys: Bytes, info: Bytes): Promise<KeySchedule> {
  const shared = await agree(own, peer);
  const eaePrk = await labeledExtract(KEM_ID, NO_SALT, 'eae_prk', shared);
  const sharedSecret = await labeledExpand(KEM_ID, eaePrk, 'shared_secret', bothKeys, 32);
  const context = concat(
    MODE_BASE,
    await labeledExtract(SUITE_ID, NO_SALT, 'psk_id_hash', NOTHING),
    await labeledExtract(SUITE_ID, NO_SALT, 'info_hash', info),
  );
  const secret = await labeledExtract(SUITE_ID, sharedSecret, 'secret', NOTHING);
  const key = await labeledExpand(SUITE_ID, secret, 'key', context, 32);
  const schedule = {
    key: await globalThis.crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt']),
    baseNonce: await labeledExpand(SUITE_ID, secret, 'base_nonce', context, 12),
  };
  for (const bytes of [shared, eaePrk, sharedSecret, secret, key]) bytes.fill(0);
  return schedule;
}

export async function encrypt(key: CryptoKey, iv: Bytes, additionalData: Bytes, plaintext: Bytes): Promise<Bytes> {
  const algorithm = { name: 'AES-GCM', iv, additionalData } as const;
  return new Uint8Array(await globalThis.crypto.subtle.encrypt(algorithm, key, plaintext));
}

export async function decrypt(key: CryptoKey, iv: Bytes, additionalData: Bytes, ciphertext: Bytes): Promise<Bytes> {
  const algorithm = { name: 'AES-GCM', iv, additionalData } as const;
  try {
    return new Uint8Array(await globalThis.crypto.subtle.decrypt(algorithm, key, ciphertext));
  } catch {
    throw new BundleError('decryption', 'the bundle does not open with this key');
  }
}

/** RFC 9180, 4. */
async function labeledExtract(suiteId: Bytes, salt: Bytes, label: string, ikm: Bytes): Promise<Bytes> {
  return await hmac(salt, concat(VERSION, suiteId, toUtf8(label), ikm));
}

/** RFC 9180, 4, for at most 32 bytes, which are one block of RFC 5869, 2.3. */
async function labeledExpand(suiteId: Bytes, prk: Bytes, label: string, info: Bytes, length: number): Promise<Bytes> {
  const labeledInfo = concat(Uint8Array.of(0, length), VERSION, suiteId, toUtf8(label), info);
  return (await hmac(prk, concat(labeledInfo, Uint8Array.of(1)))).slice(0, length);
}

async function hmac(key: Bytes, data: Bytes): Promise<Bytes> {
  const imported = await globalThis.crypto.subtle.importKey('raw', key, HMAC, false, ['sign']);
  return new Uint8Array(await globalThis.crypto.subtle.sign(HMAC, imported, data));
}
