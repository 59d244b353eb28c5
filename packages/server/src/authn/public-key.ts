import { createPublicKey, ECDH, type KeyObject, type VerifyKeyObjectInput, verify } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { ApiError, invalidField } from '../lib/errors.ts';
import { lruCache } from '../lib/lru.ts';

/** The curves an API key can be on (protocol/stamps 2.3). */
export type KeyCurve = 'P256' | 'SECP256K1' | 'ED25519';

const KEY_CACHE_ENTRIES_MAX = 10_000;
const SPELLINGS_MAX = 1000;

const EC_CURVES = {
  P256: { openssl: 'prime256v1', jwk: 'P-256', label: 'P-256' },
  SECP256K1: { openssl: 'secp256k1', jwk: 'secp256k1', label: 'secp256k1' },
} as const;

const ED25519_DIGITS = 64;
const HEX_PATTERN = /^(?:[0-9a-f]{2})+$/i;

const keyObjects = lruCache<KeyObject>(KEY_CACHE_ENTRIES_MAX);
/** The spellings of points that were checked lately; strangers may well empty it (docs/decisions/0055). */
const spellings = lruCache<string>(SPELLINGS_MAX);

/**
 * One spelling per key: compressed lower-case hex, or 64 lower-case digits for Ed25519. Throws INVALID_PUBLIC_KEY for
 * anything that is not a usable point of the curve.
 */
export function normalizePublicKey(curve: KeyCurve, hex: string): string {
  // What is in the cache went through the checks below before it was stored.
  if (keyObjects.has(cacheKey(curve, hex))) return hex;
  if (typeof hex !== 'string' || !HEX_PATTERN.test(hex)) {
    throw invalidKey('public key must be hexadecimal without a prefix');
  }
  return curve === 'ED25519' ? normalizeEd25519(hex.toLowerCase()) : normalizeEc(curve, hex.toLowerCase());
}

/** A key of a request in its one spelling, or a refusal that names the field. */
export function parsePublicKey(curve: KeyCurve, text: string, field: string): string {
  try {
    return normalizePublicKey(curve, text);
  } catch (error) {
    if (error instanceof ApiError) throw invalidField(field, error.message, error.code);
    throw error;
  }
}

/**
 * The one spelling of a key whose curve the request leaves open, or undefined for what is no key. The spelling does not
 * depend on the curve, so a compressed point of either curve names the key that is stored.
 */
export function canonicalPublicKey(text: string): string | undefined {
  const curves = text.length === ED25519_DIGITS ? (['ED25519'] as const) : (['P256', 'SECP256K1'] as const);
  for (const curve of curves) {
    try {
      return normalizePublicKey(curve, text);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return undefined;
}

/** Every usual spelling of a key, for what was made from its text. */
export function spellingsOf(curve: KeyCurve, hex: string): readonly string[] {
  const canonical = normalizePublicKey(curve, hex);
  const lower =
    curve === 'ED25519'
      ? [canonical]
      : [canonical, ECDH.convertKey(canonical, EC_CURVES[curve].openssl, 'hex', 'hex', 'uncompressed') as string];
  return [...lower, ...lower.map((text) => text.toUpperCase())];
}

/**
 * The imported form of a canonical key, from a cache. Unknown keys should be looked up in the store first: only keys
 * that are verified with belong in the cache, or strangers could empty it.
 */
export function keyObject(curve: KeyCurve, canonicalHex: string): KeyObject {
  const name = cacheKey(curve, canonicalHex);
  const cached = keyObjects.get(name);
  if (cached !== undefined) return cached;
  if (normalizePublicKey(curve, canonicalHex) !== canonicalHex) throw invalidKey('public key is not in canonical form');
  const imported = curve === 'ED25519' ? importEd25519(canonicalHex) : importEc(curve, canonicalHex);
  keyObjects.set(name, imported);
  return imported;
}

/** One signature check on the thread pool, so that the event loop stays free. */
export function verifyOnPool(
  hash: 'sha256' | 'sha384' | 'sha512' | null,
  data: Uint8Array,
  key: VerifyKeyObjectInput,
  signature: Uint8Array,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    verify(hash, data, key, signature, (error, valid) => (error ? reject(error) : resolve(valid)));
  });
}

function normalizeEc(curve: 'P256' | 'SECP256K1', hex: string): string {
  const { openssl, label } = EC_CURVES[curve];
  const prefix = hex.slice(0, 2);
  const compressed = hex.length === 66 && (prefix === '02' || prefix === '03');
  const uncompressed = hex.length === 130 && prefix === '04';
  if (!compressed && !uncompressed) {
    throw invalidKey(`${label} public key must be a compressed (33 bytes) or uncompressed (65 bytes) point`);
  }
  const known = spellings.get(cacheKey(curve, hex));
  if (known !== undefined) return known;
  try {
    // The conversion fails for a point that is not on the curve.
    const canonical = ECDH.convertKey(hex, openssl, 'hex', 'hex', 'compressed') as string;
    spellings.set(cacheKey(curve, hex), canonical);
    return canonical;
  } catch (cause) {
    throw invalidKey(`public key is not a point on ${label}`, cause);
  }
}

function normalizeEd25519(hex: string): string {
  if (hex.length !== ED25519_DIGITS) throw invalidKey('Ed25519 public key must be 32 bytes');
  let smallOrder: boolean;
  try {
    // RFC 8032, section 5.1.3, strictly: a y that is not reduced modulo p is refused. node:crypto checks nothing when
    // it imports, and a key of small order would accept one signature for many messages.
    smallOrder = ed25519.Point.fromBytes(Buffer.from(hex, 'hex'), false).isSmallOrder();
  } catch (cause) {
    throw invalidKey('public key is not a point on Ed25519', cause);
  }
  if (smallOrder) throw invalidKey('Ed25519 public key has small order');
  return hex;
}

function importEc(curve: 'P256' | 'SECP256K1', canonicalHex: string): KeyObject {
  const { openssl, jwk } = EC_CURVES[curve];
  const point = ECDH.convertKey(canonicalHex, openssl, 'hex', 'hex', 'uncompressed') as string;
  const x = Buffer.from(point.slice(2, 66), 'hex').toString('base64url');
  const y = Buffer.from(point.slice(66), 'hex').toString('base64url');
  return createPublicKey({ key: { kty: 'EC', crv: jwk, x, y }, format: 'jwk' });
}

function importEd25519(canonicalHex: string): KeyObject {
  const x = Buffer.from(canonicalHex, 'hex').toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

function cacheKey(curve: KeyCurve, hex: string): string {
  return `${curve}:${hex}`;
}

function invalidKey(message: string, cause?: unknown): ApiError {
  return new ApiError('INVALID_PUBLIC_KEY', message, { cause });
}
