import { Buffer } from 'node:buffer';
import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { KeyringError } from '../errors.ts';
import type { CoinbaseCall } from '../keyring.ts';
import { ed25519PublicKey, importEd25519Key } from '../sign/ed25519.ts';
import { hexOf } from './encoding.ts';

// The bearer token of one call to Coinbase: a JSON Web Signature (RFC 7515), compact serialisation, with ES256 (RFC
// 7518) or EdDSA (RFC 8037) by what the key is.

export const NONCE_BYTES = 16;
const LIFETIME_SECONDS = 120;

const PEM_BEGIN = Buffer.from('-----BEGIN ', 'ascii');
/** A newline as JSON spells it, which is how a key file of the provider shows it. */
const ESCAPED_NEWLINE = Buffer.from('\\n', 'ascii');
const NEWLINE = 0x0a;
/** Tab, newline, carriage return and space, which come along when a key is copied. */
const WHITE_SPACE: ReadonlySet<number> = new Set([0x09, NEWLINE, 0x0d, 0x20]);
const ED25519_SEED_BYTES = 32;
/** Of 64 bytes. */
const ED25519_TEXT = /^[A-Za-z0-9+/]{86}==$/;

interface CoinbaseKey {
  readonly algorithm: 'ES256' | 'EdDSA';
  readonly key: KeyObject;
}

/** The secret is as the provider gave it out: an EC key in PEM, or seed and public key of Ed25519 in base64. */
export function signCoinbaseToken(secret: Uint8Array, call: CoinbaseCall, nonce: Uint8Array): string {
  const { keyId, method, host, path, nowMs } = call;
  const { algorithm, key } = importKey(secret);
  const issuedAt = Math.floor(nowMs / 1000);
  const header = { alg: algorithm, kid: keyId, typ: 'JWT', nonce: hexOf(nonce) };
  const claims = {
    sub: keyId,
    iss: 'cdp',
    aud: ['cdp_service'],
    uris: [`${method} ${host}${path}`],
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + LIFETIME_SECONDS,
  };
  const input = `${base64Url(header)}.${base64Url(claims)}`;
  const message = Buffer.from(input, 'ascii');
  const signature =
    algorithm === 'ES256' ? sign('sha256', message, { key, dsaEncoding: 'ieee-p1363' }) : sign(null, message, key);
  return `${input}.${signature.toString('base64url')}`;
}

function importKey(secret: Uint8Array): CoinbaseKey {
  const bytes = Buffer.from(secret.buffer, secret.byteOffset, secret.length);
  const text = bytes.subarray(bytes.findIndex((byte) => !WHITE_SPACE.has(byte)));
  const pem = text.indexOf(PEM_BEGIN) === 0 ? importPem(text) : undefined;
  const key = pem ?? importEd25519(bytes);
  if (key === undefined) {
    throw new KeyringError(
      'INVALID_KEY',
      'the secret is no key of the provider: neither a P-256 key in PEM nor 64 bytes of Ed25519 in base64',
    );
  }
  return key;
}

/** PKCS #8 or SEC1, of P-256 and without a passphrase; undefined for everything else. */
function importPem(text: Buffer): CoinbaseKey | undefined {
  const pem = unescapeNewlines(text);
  try {
    const key = createPrivateKey({ key: pem, format: 'pem' });
    const isP256 = key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
    return isP256 ? { algorithm: 'ES256', key } : undefined;
  } catch {
    return undefined;
  } finally {
    pem.fill(0);
  }
}

/** A copy, which the caller wipes. */
function unescapeNewlines(text: Buffer): Buffer {
  const copy = Buffer.alloc(text.length);
  let length = 0;
  for (let from = 0; from < text.length; ) {
    const isEscape = text.subarray(from, from + ESCAPED_NEWLINE.length).equals(ESCAPED_NEWLINE);
    copy[length] = isEscape ? NEWLINE : (text[from] as number);
    length += 1;
    from += isEscape ? ESCAPED_NEWLINE.length : 1;
  }
  return copy.subarray(0, length);
}

/** Seed and public key, 32 bytes each, which must belong together. */
function importEd25519(secret: Buffer): CoinbaseKey | undefined {
  const text = secret.toString('latin1').trim();
  if (!ED25519_TEXT.test(text)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  try {
    const seed = bytes.subarray(0, ED25519_SEED_BYTES);
    const isPair = Buffer.from(ed25519PublicKey(seed)).equals(bytes.subarray(ED25519_SEED_BYTES));
    return isPair ? { algorithm: 'EdDSA', key: importEd25519Key(seed) } : undefined;
  } finally {
    bytes.fill(0);
  }
}

function base64Url(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
}
