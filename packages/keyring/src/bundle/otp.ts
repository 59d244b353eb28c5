import { KeyringError } from '../errors.ts';
import { hexOf, parseHex, parseJsonObject, parseUtf8 } from './encoding.ts';
import { COMPRESSED_BYTES, uncompressPoint } from './p256.ts';

const PLAINTEXT_BYTES_MAX = 1024;
const CODE_LENGTH_MAX = 64;

export interface OtpAttempt {
  readonly otpCode: string;
  /** Compressed, lower-case hexadecimal. */
  readonly publicKey: string;
}

/** The plaintext of an encrypted one-time code: `{"otp_code": <text>, "public_key": <compressed hex>}`. */
export function parseOtpPlaintext(plaintext: Uint8Array): OtpAttempt {
  if (plaintext.length > PLAINTEXT_BYTES_MAX) throw new KeyringError('INVALID_INPUT', 'the attempt is too long');
  const { otp_code, public_key } = parseJsonObject(parseUtf8(plaintext, 'the attempt'), 'the attempt');
  if (typeof otp_code !== 'string' || otp_code === '' || otp_code.length > CODE_LENGTH_MAX) {
    throw new KeyringError('INVALID_INPUT', 'otp_code must be a text of 1 to 64 characters');
  }
  const publicKey = parseHex(public_key, 'public_key', COMPRESSED_BYTES, COMPRESSED_BYTES);
  uncompressPoint(publicKey);
  return { otpCode: otp_code, publicKey: hexOf(publicKey) };
}
