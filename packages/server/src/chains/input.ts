import { ApiError } from '../lib/errors.ts';

/** The bytes are not a transaction of this chain. */
export function unparsable(reason: string): ApiError {
  return new ApiError('INVALID_TRANSACTION', `failed to parse transaction: ${reason}`);
}

/** The bytes are a transaction, but not one that this account may or can sign. */
export function refused(text: string): ApiError {
  return new ApiError('INVALID_TRANSACTION', text);
}

/** Hex with or without 0x, in either case. */
export function bytesOfHex(text: string): Uint8Array {
  const digits = text.startsWith('0x') ? text.slice(2) : text;
  if (digits.length === 0) throw unparsable('it is empty');
  if (digits.length % 2 !== 0 || !/^[0-9a-fA-F]+$/.test(digits)) throw unparsable('it is not hex');
  return new Uint8Array(Buffer.from(digits, 'hex'));
}
