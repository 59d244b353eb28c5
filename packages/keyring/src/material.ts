import { Buffer } from 'node:buffer';
import type { Curve } from './curve.ts';
import type { MnemonicLanguage } from './derive/languages.ts';
import { PRIVATE_KEY_BYTES } from './derive/public-key.ts';
import { notOpened } from './errors.ts';
import type { ServiceRole } from './keyring.ts';
import { CALLER_KINDS, KIND } from './kinds.ts';

// What sealed key material looks like once it is open: SPEC.md, section 6. A plaintext that opened and is not of its
// layout was written by something else than this program, so it counts as not opened.

const VERSION = 1;

/** Each kind's own layout, as a check that throws; what callers sealed may be anything. */
const LAYOUTS: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  [KIND.walletSeed]: decodeSeed,
  [KIND.privateKey]: decodePrivateKey,
  [KIND.importTarget]: decodeTarget,
  [KIND.secretTarget]: decodeTarget,
  [KIND.secret]: decodePlain,
  [KIND.otp]: decodeOtp,
  [KIND.oauthSecret]: decodeProviderSecret,
  [KIND.onRampSecret]: decodeProviderSecret,
  [KIND.serviceKey]: decodeServiceKey,
  [KIND.integrityKey]: decodeIntegrityKey,
};

const LANGUAGE_CODES: Readonly<Record<MnemonicLanguage, number>> = {
  MNEMONIC_LANGUAGE_ENGLISH: 1,
  MNEMONIC_LANGUAGE_SIMPLIFIED_CHINESE: 2,
  MNEMONIC_LANGUAGE_TRADITIONAL_CHINESE: 3,
  MNEMONIC_LANGUAGE_CZECH: 4,
  MNEMONIC_LANGUAGE_FRENCH: 5,
  MNEMONIC_LANGUAGE_ITALIAN: 6,
  MNEMONIC_LANGUAGE_JAPANESE: 7,
  MNEMONIC_LANGUAGE_KOREAN: 8,
  MNEMONIC_LANGUAGE_SPANISH: 9,
};

const CURVE_CODES: Readonly<Record<Curve, number>> = { CURVE_SECP256K1: 1, CURVE_ED25519: 2, CURVE_P256: 3 };

const ROLE_CODES: Readonly<Record<ServiceRole, number>> = {
  'bundle-signer': 1,
  'session-signer': 2,
  otp: 3,
  'oauth-secret': 4,
  'on-ramp-secret': 5,
  'oidc-issuer': 6,
  'webhook-signer': 7,
};

const SEED_HEADER_BYTES = 3;
const PASSPHRASE_LENGTH_BYTES = 2;
const ENTROPY_BYTES = new Set([16, 20, 24, 28, 32]);

const OTP_HASH_BYTES = 32;
export const INTEGRITY_KEY_BYTES = 32;

/** What a one-time code leaves behind. */
export interface OtpMaterial {
  readonly hashKey: Uint8Array;
  /** HMAC-SHA-256 of the code. */
  readonly hash: Uint8Array;
  /** The private key of the target. */
  readonly target: Uint8Array;
}

export interface WalletSeed {
  readonly entropy: Uint8Array;
  readonly language: MnemonicLanguage;
  /** UTF-8 as it was given, empty when there is none. */
  readonly passphrase: Uint8Array;
}

/** The caller wipes it. */
export function encodeSeed({ entropy, language, passphrase }: WalletSeed): Uint8Array {
  const passphraseAt = SEED_HEADER_BYTES + entropy.length + PASSPHRASE_LENGTH_BYTES;
  const bytes = new Uint8Array(passphraseAt + passphrase.length);
  bytes.set([VERSION, LANGUAGE_CODES[language], entropy.length]);
  bytes.set(entropy, SEED_HEADER_BYTES);
  new DataView(bytes.buffer).setUint16(passphraseAt - PASSPHRASE_LENGTH_BYTES, passphrase.length);
  bytes.set(passphrase, passphraseAt);
  return bytes;
}

/** Views of the bytes, which the caller wipes. */
export function decodeSeed(bytes: Uint8Array): WalletSeed {
  const [version, languageCode, entropyLength = 0] = bytes;
  const passphraseAt = SEED_HEADER_BYTES + entropyLength + PASSPHRASE_LENGTH_BYTES;
  if (version !== VERSION || !ENTROPY_BYTES.has(entropyLength) || bytes.length < passphraseAt) throw notOpened();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (bytes.length !== passphraseAt + view.getUint16(passphraseAt - PASSPHRASE_LENGTH_BYTES)) throw notOpened();
  return {
    entropy: bytes.subarray(SEED_HEADER_BYTES, SEED_HEADER_BYTES + entropyLength),
    language: nameOf(LANGUAGE_CODES, languageCode),
    passphrase: bytes.subarray(passphraseAt),
  };
}

export function passphraseText({ passphrase }: WalletSeed): string {
  return Buffer.from(passphrase.buffer, passphrase.byteOffset, passphrase.length).toString('utf8');
}

/** The caller wipes it. */
export function encodePrivateKey(curve: Curve, key: Uint8Array): Uint8Array {
  return encodeTagged(CURVE_CODES[curve], key);
}

export function decodePrivateKey(bytes: Uint8Array): { readonly curve: Curve; readonly key: Uint8Array } {
  const { code, key } = decodeTagged(bytes);
  return { curve: nameOf(CURVE_CODES, code), key };
}

/** The caller wipes it. */
export function encodeServiceKey(role: ServiceRole, key: Uint8Array): Uint8Array {
  return encodeTagged(ROLE_CODES[role], key);
}

export function decodeServiceKey(bytes: Uint8Array): { readonly role: ServiceRole; readonly key: Uint8Array } {
  const { code, key } = decodeTagged(bytes);
  return { role: nameOf(ROLE_CODES, code), key };
}

/** A target's key, or the bytes of a secret. The caller wipes it. */
export function encodePlain(content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(1 + content.length);
  bytes[0] = VERSION;
  bytes.set(content, 1);
  return bytes;
}

/** A view of the bytes, which the caller wipes. */
export function decodePlain(bytes: Uint8Array): Uint8Array {
  if (bytes[0] !== VERSION) throw notOpened();
  return bytes.subarray(1);
}

/** The caller wipes it. */
export function encodeOtp({ hashKey, hash, target }: OtpMaterial): Uint8Array {
  const bytes = new Uint8Array(1 + 2 * OTP_HASH_BYTES + PRIVATE_KEY_BYTES);
  bytes[0] = VERSION;
  bytes.set(hashKey, 1);
  bytes.set(hash, 1 + OTP_HASH_BYTES);
  bytes.set(target, 1 + 2 * OTP_HASH_BYTES);
  return bytes;
}

/** Views of the bytes, which the caller wipes. */
export function decodeOtp(bytes: Uint8Array): OtpMaterial {
  const content = decodePlain(bytes);
  if (content.length !== 2 * OTP_HASH_BYTES + PRIVATE_KEY_BYTES) throw notOpened();
  return {
    hashKey: content.subarray(0, OTP_HASH_BYTES),
    hash: content.subarray(OTP_HASH_BYTES, 2 * OTP_HASH_BYTES),
    target: content.subarray(2 * OTP_HASH_BYTES),
  };
}

/** What a provider knows the service's user by. A view of the bytes, which the caller wipes. */
export function decodeProviderSecret(bytes: Uint8Array): Uint8Array {
  const secret = decodePlain(bytes);
  if (secret.length === 0) throw notOpened();
  return secret;
}

/** What rows are authenticated under. A view of the bytes, which the caller wipes. */
export function decodeIntegrityKey(bytes: Uint8Array): Uint8Array {
  const key = decodePlain(bytes);
  if (key.length !== INTEGRITY_KEY_BYTES) throw notOpened();
  return key;
}

/** Whether an opened plaintext is of the layout of its kind. An unknown kind has none. */
export function checkLayout(kind: string, bytes: Uint8Array): void {
  const layout = Object.hasOwn(LAYOUTS, kind) ? LAYOUTS[kind] : undefined;
  if (layout !== undefined) layout(bytes);
  else if (!CALLER_KINDS.has(kind)) throw notOpened();
}

function decodeTarget(bytes: Uint8Array): void {
  if (decodePlain(bytes).length !== PRIVATE_KEY_BYTES) throw notOpened();
}

function encodeTagged(code: number, key: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(2 + key.length);
  bytes.set([VERSION, code]);
  bytes.set(key, 2);
  return bytes;
}

function decodeTagged(bytes: Uint8Array): { readonly code: number | undefined; readonly key: Uint8Array } {
  if (bytes[0] !== VERSION || bytes.length !== 2 + PRIVATE_KEY_BYTES) throw notOpened();
  return { code: bytes[1], key: bytes.subarray(2) };
}

function nameOf<T extends string>(codes: Readonly<Record<T, number>>, code: number | undefined): T {
  for (const name of Object.keys(codes) as T[]) if (codes[name] === code) return name;
  throw notOpened();
}
