import { KeyringError } from '../errors.ts';
import { parseHex, parseJsonObject, parseUtf8 } from './encoding.ts';
import { clientSafeJson, signCompact, verifyCompact } from './jws.ts';
import { COMPRESSED_BYTES, compressedHex, compressPoint, type Signer } from './p256.ts';

const HEADER = { typ: 'JWT', alg: 'ES256' };

export interface VerificationToken {
  readonly id: string;
  /** The otpType. */
  readonly verificationType: string;
  readonly contact: string;
  /** The issuing organization. */
  readonly organizationId: string;
  readonly expiresAtMs: number;
  /** The key that the token is bound to; a verification of the first version may have none. */
  readonly publicKey?: Uint8Array;
}

/** Standard ES256, unlike a session. Every claim is a string that is not empty, the expiry too. */
export function signVerificationToken(signer: Signer, token: VerificationToken): string {
  const { id, verificationType, contact, organizationId, expiresAtMs, publicKey } = token;
  if (!Number.isSafeInteger(expiresAtMs) || expiresAtMs < 0) {
    throw new KeyringError('INVALID_INPUT', 'the expiry must be whole milliseconds');
  }
  const claims: Record<string, string> = {
    exp: String(expiresAtMs),
    id,
    organization_id: organizationId,
    verification_type: verificationType,
    contact,
    ...(publicKey && { public_key: compressedHex(publicKey) }),
  };
  for (const [name, value] of Object.entries(claims)) {
    if (value === '') throw new KeyringError('INVALID_INPUT', `${name} must not be empty`);
  }
  return signCompact(signer, HEADER, clientSafeJson(claims), 'once');
}

/** What the token says, if the OTP-signing key signed it and its time has not come. */
export function verifyVerificationToken(otpPublicKey: Uint8Array, text: string, nowMs: number): VerificationToken {
  const payload = verifyCompact(otpPublicKey, text);
  if (payload === undefined) throw new KeyringError('INVALID_INPUT', 'the verification token is not valid');
  const claims = parseJsonObject(parseUtf8(payload, 'the token'), 'the token');
  const expiresAtMs = parseMilliseconds(claimOf(claims, 'exp'));
  if (expiresAtMs <= nowMs) throw new KeyringError('INVALID_INPUT', 'the verification token has expired');
  const { public_key } = claims;
  return {
    id: claimOf(claims, 'id'),
    verificationType: claimOf(claims, 'verification_type'),
    contact: claimOf(claims, 'contact'),
    organizationId: claimOf(claims, 'organization_id'),
    expiresAtMs,
    ...(public_key !== undefined && {
      publicKey: compressPoint(parseHex(public_key, 'public_key', COMPRESSED_BYTES, COMPRESSED_BYTES)),
    }),
  };
}

function claimOf(claims: Readonly<Record<string, unknown>>, name: string): string {
  const value = claims[name];
  if (typeof value !== 'string' || value === '') {
    throw new KeyringError('INVALID_INPUT', `the verification token has no ${name}`);
  }
  return value;
}

function parseMilliseconds(text: string): number {
  const value = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value)) {
    throw new KeyringError('INVALID_INPUT', 'the expiry of the verification token is not a time');
  }
  return value;
}
