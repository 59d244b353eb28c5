import { constants, createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';
import { decodeCredentialPublicKey } from '@simplewebauthn/server/helpers';
import { lruCache } from '../lib/lru.ts';
import { parseUrl } from '../lib/url.ts';
import { verifyOnPool } from './public-key.ts';
import { decodeBase64, type WebauthnStamp } from './stamp-headers.ts';

export type WebauthnCheck =
  | { readonly ok: true; readonly signCount: number }
  | { readonly ok: false; readonly reason: string };

/** What registration kept of a passkey; `origins` is null when the organization allows any origin. */
export interface StoredPasskey {
  /** COSE_Key bytes. */
  readonly publicKey: Uint8Array;
  readonly rpIdHash: Uint8Array;
  readonly origins: readonly string[] | null;
}

/** COSE algorithm numbers: ES256, EdDSA, RS256. */
export type PasskeyAlgorithm = -7 | -8 | -257;

export interface PasskeyKey {
  readonly algorithm: PasskeyAlgorithm;
  readonly key: KeyObject;
}

export interface ClientData {
  readonly type: string;
  readonly challenge: string;
  readonly origin: string;
}

const KEY_CACHE_ENTRIES_MAX = 10_000;
const COSE_KEY_BYTES_MAX = 2048;
const AUTHENTICATOR_DATA_BYTES_MIN = 37;
const RSA_MODULUS_BYTES_MIN = 256;
const RSA_MODULUS_BYTES_MAX = 512;
const RSA_EXPONENT_BYTES_MAX = 4;
const FLAG_USER_PRESENT = 0x01;
const ANDROID_ORIGIN_PATTERN = /^android:apk-key-hash:[A-Za-z0-9_-]{1,128}$/;

const keys = lruCache<PasskeyKey>(KEY_CACHE_ENTRIES_MAX);
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Checks a passkey's signature over a request body (protocol/stamps 3.3). The reason of a refusal names the step that
 * failed.
 */
export async function verifyWebauthnStamp(
  stamp: WebauthnStamp,
  body: Uint8Array,
  stored: StoredPasskey,
): Promise<WebauthnCheck> {
  const { authenticatorData, clientDataJson, signature } = stamp;
  const clientData = parseClientData(clientDataJson);
  if (clientData === undefined) return refuse('client data is not a JSON object with type, challenge and origin');
  if (clientData.type !== 'webauthn.get') return refuse('client data type is not webauthn.get');
  if (!isChallengeOf(clientData.challenge, body)) return refuse('challenge does not match the request body');
  const originProblem = checkOrigin(clientData.origin, stored.rpIdHash, stored.origins);
  if (originProblem !== undefined) return refuse(originProblem);
  if (authenticatorData.length < AUTHENTICATOR_DATA_BYTES_MIN) return refuse('authenticator data is too short');
  if (!equalBytes(authenticatorData.subarray(0, 32), stored.rpIdHash)) {
    return refuse('relying party differs from the registered one');
  }
  if (((authenticatorData[32] ?? 0) & FLAG_USER_PRESENT) === 0) return refuse('user was not present');
  const signed = Buffer.concat([authenticatorData, sha256(clientDataJson)]);
  if (!(await verifyWithPasskey(cachedKey(stored.publicKey), signed, signature)))
    return refuse('signature is not valid');
  const view = new DataView(authenticatorData.buffer, authenticatorData.byteOffset, authenticatorData.byteLength);
  return { ok: true, signCount: view.getUint32(33) };
}

/** The members of client data that we read; undefined when it is malformed. Others are ignored. */
export function parseClientData(bytes: Uint8Array): ClientData | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    if (typeof value !== 'object' || value === null) return undefined;
    const { type, challenge, origin } = value as Record<string, unknown>;
    if (typeof type !== 'string' || typeof challenge !== 'string' || typeof origin !== 'string') return undefined;
    return { type, challenge, origin };
  } catch {
    return undefined;
  }
}

/**
 * Says what is wrong with an origin, if anything: it must be in the list when there is one, and the RP id must be its
 * host or a parent domain. An Android application has no host, so only the list can judge it.
 */
export function checkOrigin(
  origin: string,
  rpIdHash: Uint8Array,
  origins: readonly string[] | null,
): string | undefined {
  if (origins !== null && !origins.includes(origin)) return 'origin is not allowed';
  if (ANDROID_ORIGIN_PATTERN.test(origin)) return undefined;
  const host = webHost(origin);
  if (host === undefined) return 'origin is neither a web origin nor an Android application';
  const found = rpIdCandidates(host).some((rpId) => equalBytes(sha256(rpId), rpIdHash));
  return found ? undefined : 'relying party is neither the host of the origin nor a parent domain of it';
}

/** Imports a COSE key (RFC 9053). Throws a plain Error that says which part is not acceptable. */
export function importCoseKey(cose: Uint8Array): PasskeyKey {
  if (cose.length > COSE_KEY_BYTES_MAX) throw new Error('key is too long');
  const decoded: unknown = decodeCredentialPublicKey(new Uint8Array(cose));
  if (!(decoded instanceof Map)) throw new Error('key is not a CBOR map');
  const label = (number: number): unknown => decoded.get(number);
  const algorithm = label(3);
  switch (algorithm) {
    case -7:
      if (label(1) !== 2 || label(-1) !== 1) throw new Error('ES256 key must be on P-256');
      return {
        algorithm,
        key: importJwk({ kty: 'EC', crv: 'P-256', x: coordinate(label(-2)), y: coordinate(label(-3)) }),
      };
    case -8:
      if (label(1) !== 1 || label(-1) !== 6) throw new Error('EdDSA key must be on Ed25519');
      return { algorithm, key: importJwk({ kty: 'OKP', crv: 'Ed25519', x: coordinate(label(-2)) }) };
    case -257:
      if (label(1) !== 3) throw new Error('RS256 key must be an RSA key');
      return { algorithm, key: importJwk({ kty: 'RSA', n: modulus(label(-1)), e: exponent(label(-2)) }) };
    default:
      throw new Error('algorithm is not supported');
  }
}

/** ES256 in DER, RS256 with PKCS #1 v1.5, or EdDSA. */
export function verifyWithPasskey(passkey: PasskeyKey, data: Uint8Array, signature: Uint8Array): Promise<boolean> {
  const { algorithm, key } = passkey;
  switch (algorithm) {
    case -7:
      return verifyOnPool('sha256', data, { key, dsaEncoding: 'der' }, signature);
    case -8:
      return verifyOnPool(null, data, { key }, signature);
    case -257:
      return verifyOnPool('sha256', data, { key, padding: constants.RSA_PKCS1_PADDING }, signature);
  }
}

export function sha256(data: Uint8Array | string): Buffer {
  return createHash('sha256').update(data).digest();
}

export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

function refuse(reason: string): WebauthnCheck {
  return { ok: false, reason };
}

// The authenticator signs the 64 hexadecimal digits as its challenge, which client data then carries in base64url.
function isChallengeOf(challenge: string, body: Uint8Array): boolean {
  const bytes = decodeBase64(challenge);
  return bytes !== undefined && equalBytes(bytes, Buffer.from(sha256(body).toString('hex')));
}

function webHost(origin: string): string | undefined {
  const url = parseUrl(origin);
  if (url === undefined) return undefined;
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  // Clients send the serialized form of an origin; anything else is not one.
  return isWeb && url.origin === origin ? url.hostname : undefined;
}

// A parent of a single label would be a top-level domain, which no browser accepts as an RP id.
function rpIdCandidates(host: string): string[] {
  const candidates = [host];
  if (isIP(host) !== 0 || host.startsWith('[')) return candidates;
  const labels = host.split('.');
  for (let start = 1; start + 1 < labels.length; start += 1) candidates.push(labels.slice(start).join('.'));
  return candidates;
}

function cachedKey(cose: Uint8Array): PasskeyKey {
  const name = Buffer.from(cose.buffer, cose.byteOffset, cose.byteLength).toString('base64');
  const cached = keys.get(name);
  if (cached !== undefined) return cached;
  const imported = importCoseKey(cose);
  keys.set(name, imported);
  return imported;
}

function importJwk(key: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ key, format: 'jwk' });
  } catch (cause) {
    throw new Error('key is not a valid public key', { cause });
  }
}

function coordinate(value: unknown): string {
  if (!(value instanceof Uint8Array) || value.length !== 32) throw new Error('coordinate must be 32 bytes');
  return Buffer.from(value).toString('base64url');
}

function modulus(value: unknown): string {
  if (!(value instanceof Uint8Array) || value.length < RSA_MODULUS_BYTES_MIN || value.length > RSA_MODULUS_BYTES_MAX) {
    throw new Error('RSA modulus must have 2048 to 4096 bits');
  }
  // Leading zeros would make a short modulus look long, and an even one is no product of two primes.
  if (value[0] === 0 || ((value.at(-1) ?? 0) & 1) === 0) throw new Error('RSA modulus is not valid');
  return Buffer.from(value).toString('base64url');
}

function exponent(value: unknown): string {
  if (!(value instanceof Uint8Array) || value.length === 0 || value.length > RSA_EXPONENT_BYTES_MAX) {
    throw new Error('RSA exponent must have 1 to 4 bytes');
  }
  const number = Buffer.from(value).readUIntBE(0, value.length);
  if (number < 3 || number % 2 === 0) throw new Error('RSA exponent must be odd and at least 3');
  return Buffer.from(value).toString('base64url');
}
