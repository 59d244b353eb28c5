import { ApiError } from '../lib/errors.ts';
import { type KeyCurve, normalizePublicKey } from './public-key.ts';

/** The values of `scheme` in an API key stamp, with the curve each one needs (protocol/stamps 2.2). */
const SCHEME_CURVES = {
  SIGNATURE_SCHEME_TK_API_P256: 'P256',
  SIGNATURE_SCHEME_TK_API_SECP256K1: 'SECP256K1',
  SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191: 'SECP256K1',
  SIGNATURE_SCHEME_TK_API_ED25519: 'ED25519',
} as const satisfies Record<string, KeyCurve>;

export type ApiKeyScheme = keyof typeof SCHEME_CURVES;

export interface ApiKeyStamp {
  readonly kind: 'api-key';
  readonly scheme: ApiKeyScheme;
  readonly curve: KeyCurve;
  /** Canonical: compressed lower-case hex, or 64 digits for Ed25519. */
  readonly publicKey: string;
  /** 64 bytes: r and s, or the Ed25519 signature. */
  readonly signature: Uint8Array;
  /** The signature as it was sent, for the record of a vote. */
  readonly signatureText: string;
}

export interface WebauthnStamp {
  readonly kind: 'webauthn';
  /** base64url of the raw id, without padding. */
  readonly credentialId: string;
  readonly authenticatorData: Uint8Array;
  readonly clientDataJson: Uint8Array;
  readonly signature: Uint8Array;
  /** base64url of the signature, without padding. */
  readonly signatureText: string;
}

/** What attests the key of such a stamp (protocol/stamps 5.2). */
const ATTESTED_SCHEMES = {
  STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN: 'verification-token',
  STAMP_ATTESTED_SCHEME_P256_OIDC: 'oidc',
} as const;

/** A stamp by a key that a token attests. */
export interface AttestedStamp {
  readonly kind: 'attested';
  readonly by: (typeof ATTESTED_SCHEMES)[keyof typeof ATTESTED_SCHEMES];
  readonly token: string;
  /** Canonical: compressed lower-case hex of a P-256 key. */
  readonly publicKey: string;
  /** As it was sent: an OpenID nonce is of this spelling. */
  readonly publicKeyText: string;
  readonly signature: Uint8Array;
  readonly signatureText: string;
}

export interface SessionStamp {
  readonly kind: 'session';
  readonly token: string;
}

export type Stamp = ApiKeyStamp | WebauthnStamp | AttestedStamp | SessionStamp;

const AUTH_HEADERS = ['x-stamp', 'x-stamp-webauthn', 'x-stamp-attested', 'x-session'] as const;
type AuthHeader = (typeof AUTH_HEADERS)[number];

const HEADER_CHARACTERS_MAX = 8192;
const CREDENTIAL_ID_BYTES_MAX = 1023;
const COMPONENT_BYTES = 32;

const HEX_PATTERN = /^(?:[0-9a-f]{2})+$/i;
const BASE64_PATTERN = /^[A-Za-z0-9+/_-]*={0,2}$/;
const TOKEN_PATTERN = /^[\x21-\x7e]+$/;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Finds and reads the one authentication header of a request. Nothing is verified here. */
export function parseStamp(headers: Record<string, string | string[] | undefined>): Stamp {
  const present = AUTH_HEADERS.filter((name) => headers[name] !== undefined);
  const [name] = present;
  if (name === undefined) {
    throw new ApiError('SIGNATURE_MISSING', 'no valid authentication signature found for request');
  }
  if (present.length > 1) {
    throw new ApiError('REQUEST_INVALID', `more than one authentication header: ${present.join(', ')}`);
  }
  const value = headers[name];
  if (typeof value !== 'string') throw repeated(name);
  if (value.length > HEADER_CHARACTERS_MAX) {
    throw new ApiError('HEADER_TOO_LARGE', `header ${name} is larger than ${HEADER_CHARACTERS_MAX} bytes`);
  }
  if (isJoined(name, value)) throw repeated(name);
  switch (name) {
    case 'x-stamp':
      return parseApiKeyStamp(value);
    case 'x-stamp-webauthn':
      return parseWebauthnStamp(value);
    case 'x-stamp-attested':
      return parseAttestedStamp(value);
    case 'x-session':
      if (!TOKEN_PATTERN.test(value)) throw new ApiError('SIGNATURE_INVALID', 'could not extract session token');
      return { kind: 'session', token: value };
  }
}

/** Both base64 alphabets, also mixed, padding optional. Answers undefined for anything else. */
export function decodeBase64(text: string): Buffer | undefined {
  if (!BASE64_PATTERN.test(text)) return undefined;
  const digits = text.endsWith('=') ? text.replace(/=+$/, '') : text;
  // One digit left over holds six bits, which is no whole byte.
  return digits.length % 4 === 1 ? undefined : Buffer.from(digits, 'base64');
}

// Node joins a repeated header with a comma instead of handing over an array.
function isJoined(name: AuthHeader, value: string): boolean {
  return name === 'x-stamp-webauthn' || (name === 'x-stamp-attested' && value.startsWith('{'))
    ? /\}\s*,\s*\{/.test(value)
    : value.includes(',') && !value.startsWith('{');
}

function repeated(name: AuthHeader): ApiError {
  return new ApiError('REQUEST_INVALID', `authentication header ${name} is repeated`);
}

function parseApiKeyStamp(value: string): ApiKeyStamp {
  const refuse = (why: string, cause?: unknown) =>
    new ApiError('SIGNATURE_INVALID', `could not extract api key stamp: ${why}`, { cause });
  const bytes = decodeBase64(value);
  if (bytes === undefined) throw refuse('not base64');
  const fields = parseFields(decodeUtf8(bytes), ['publicKey', 'scheme', 'signature'], refuse);
  const { publicKey, scheme, signature: signatureText } = fields;
  if (!isScheme(scheme)) throw refuse('unknown scheme');
  const curve = SCHEME_CURVES[scheme];
  if (!HEX_PATTERN.test(signatureText)) throw refuse('signature is not hexadecimal');
  const sent = Buffer.from(signatureText, 'hex');
  const signature = curve === 'ED25519' ? sent : parseDerSignature(sent);
  if (signature === undefined) throw refuse('signature is not the DER form of two positive integers of 32 bytes');
  if (signature.length !== 2 * COMPONENT_BYTES) throw refuse('signature must be 64 bytes');
  return { kind: 'api-key', scheme, curve, publicKey: stampKey(curve, publicKey, refuse), signature, signatureText };
}

/** Clients send base64url of the JSON, and plain JSON is accepted too. */
function parseAttestedStamp(value: string): AttestedStamp {
  const refuse = (why: string, cause?: unknown) =>
    new ApiError('SIGNATURE_INVALID', `could not extract attested stamp: ${why}`, { cause });
  const text = value.startsWith('{') ? value : decodeUtf8(decodeBase64(value) ?? new Uint8Array(0));
  const fields = parseFields(text, ['publicKeyAttestation', 'scheme', 'publicKey', 'signature'], refuse);
  const { scheme, signature: signatureText, publicKey, publicKeyAttestation: token } = fields;
  if (!Object.hasOwn(ATTESTED_SCHEMES, scheme)) throw refuse('unknown scheme');
  if (!HEX_PATTERN.test(signatureText)) throw refuse('signature is not hexadecimal');
  const signature = parseDerSignature(Buffer.from(signatureText, 'hex'));
  if (signature === undefined) throw refuse('signature is not the DER form of two positive integers of 32 bytes');
  return {
    kind: 'attested',
    by: ATTESTED_SCHEMES[scheme as keyof typeof ATTESTED_SCHEMES],
    token,
    publicKey: stampKey('P256', publicKey, refuse),
    publicKeyText: publicKey,
    signature,
    signatureText,
  };
}

function parseWebauthnStamp(value: string): WebauthnStamp {
  const refuse = (why: string) => new ApiError('SIGNATURE_INVALID', `could not extract webauthn stamp: ${why}`);
  const fields = parseFields(value, ['authenticatorData', 'clientDataJson', 'credentialId', 'signature'], refuse);
  const bytesOf = (field: keyof typeof fields) => {
    const bytes = decodeBase64(fields[field]);
    if (bytes === undefined || bytes.length === 0) throw refuse(`${field} is not base64url`);
    return bytes;
  };
  const signature = bytesOf('signature');
  const credentialId = bytesOf('credentialId');
  if (credentialId.length > CREDENTIAL_ID_BYTES_MAX) throw refuse('credentialId is too long');
  return {
    kind: 'webauthn',
    credentialId: credentialId.toString('base64url'),
    authenticatorData: bytesOf('authenticatorData'),
    clientDataJson: bytesOf('clientDataJson'),
    signature,
    signatureText: signature.toString('base64url'),
  };
}

function parseFields<Field extends string>(
  text: string | undefined,
  names: readonly Field[],
  refuse: (why: string, cause?: unknown) => ApiError,
): Record<Field, string> {
  const object = parseObject(text);
  if (object === undefined) throw refuse('not a JSON object');
  const fields: Partial<Record<Field, string>> = {};
  for (const name of names) {
    const value = object[name];
    if (typeof value !== 'string') throw refuse(`${name} must be a string`);
    fields[name] = value;
  }
  return fields as Record<Field, string>;
}

function parseObject(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function isScheme(text: string): text is ApiKeyScheme {
  return Object.hasOwn(SCHEME_CURVES, text);
}

function stampKey(curve: KeyCurve, hex: string, refuse: (why: string, cause?: unknown) => ApiError): string {
  try {
    return normalizePublicKey(curve, hex);
  } catch (error) {
    if (error instanceof ApiError) throw refuse(error.message, error);
    throw error;
  }
}

/**
 * ECDSA-Sig-Value (RFC 3279, 2.2.3) as r and s of 32 bytes each. Superfluous leading zeros are accepted, because a
 * widely used client leaves them in (protocol/stamps 2.4) and strict verifiers then refuse a good signature.
 */
export function parseDerSignature(der: Uint8Array): Uint8Array | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2) return undefined;
  const signature = new Uint8Array(2 * COMPONENT_BYTES);
  let offset = 2;
  for (const end of [COMPONENT_BYTES, 2 * COMPONENT_BYTES]) {
    const length = der[offset + 1] ?? 0;
    const first = der[offset + 2] ?? 0;
    let integer = der.subarray(offset + 2, offset + 2 + length);
    if (der[offset] !== 0x02 || length === 0 || integer.length !== length) return undefined;
    // A set top bit would make the integer negative.
    if (first >= 0x80) return undefined;
    if (length === COMPONENT_BYTES + 1 && first === 0) integer = integer.subarray(1);
    if (integer.length > COMPONENT_BYTES || integer.every((byte) => byte === 0)) return undefined;
    signature.set(integer, end - integer.length);
    offset += 2 + length;
  }
  return offset === der.length ? signature : undefined;
}
