import { createHmac, timingSafeEqual } from 'node:crypto';
import { KeyringError } from '../errors.ts';
import { hexOf, parseHex, parseJsonObject, parseUtf8 } from './encoding.ts';
import { COMPRESSED_BYTES, uncompressPoint } from './p256.ts';

const PLAINTEXT_BYTES_MAX = 1024;
const CODE_LENGTH_MAX = 64;

interface OtpPlaintext {
  readonly otpCode: string;
  /** Compressed, lower-case hexadecimal. */
  readonly publicKey: string;
}

/** A code as it is compared: people type small letters, and read I, L and O where the alphabet has digits. */
export function normalizeOtpCode(code: string): string {
  return code.trim().toUpperCase().replaceAll(/[IL]/g, '1').replaceAll('O', '0');
}

/** HMAC-SHA-256 of the normalised code. The caller wipes it. */
export function otpHash(key: Uint8Array, code: string): Uint8Array {
  return createHmac('sha256', key).update(normalizeOtpCode(code), 'utf8').digest();
}

export function isOtpCode(hash: Uint8Array, key: Uint8Array, code: string): boolean {
  const given = otpHash(key, code);
  try {
    return timingSafeEqual(given, hash);
  } finally {
    given.fill(0);
  }
}

/** The plaintext of an encrypted one-time code: `{"otp_code": <text>, "public_key": <compressed hex>}`. */
export function parseOtpPlaintext(plaintext: Uint8Array): OtpPlaintext {
  if (plaintext.length > PLAINTEXT_BYTES_MAX) throw new KeyringError('INVALID_INPUT', 'the attempt is too long');
  const { otp_code, public_key } = parseJsonObject(parseUtf8(plaintext, 'the attempt'), 'the attempt');
  if (typeof otp_code !== 'string' || otp_code === '' || otp_code.length > CODE_LENGTH_MAX) {
    throw new KeyringError('INVALID_INPUT', 'otp_code must be a text of 1 to 64 characters');
  }
  const publicKey = parseHex(public_key, 'public_key', COMPRESSED_BYTES, COMPRESSED_BYTES);
  uncompressPoint(publicKey);
  return { otpCode: otp_code, publicKey: hexOf(publicKey) };
}
