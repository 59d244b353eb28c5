import { createHmac } from 'node:crypto';
import { KeyringError } from '../errors.ts';

// HKDF-SHA256 of RFC 5869, in its two steps, since HPKE uses each alone.

export const HASH_BYTES = 32;
const OUTPUT_BYTES_MAX = 255 * HASH_BYTES;

/** RFC 5869, section 2.2. An empty salt is the same key to HMAC as the block of zeros which the section names. */
export function hkdfExtract(salt: Uint8Array, ikm: readonly Uint8Array[]): Uint8Array {
  const hmac = createHmac('sha256', salt);
  for (const part of ikm) hmac.update(part);
  return hmac.digest();
}

/** RFC 5869, section 2.3: T(i) = HMAC(prk, T(i - 1) || info || i), cut to the length. */
export function hkdfExpand(prk: Uint8Array, info: readonly Uint8Array[], length: number): Uint8Array {
  if (!Number.isInteger(length) || length < 0 || length > OUTPUT_BYTES_MAX) {
    throw new KeyringError('INVALID_INPUT', `HKDF gives from 0 to ${OUTPUT_BYTES_MAX} bytes`);
  }
  const output = new Uint8Array(length);
  let block: Uint8Array = new Uint8Array(0);
  for (let offset = 0, counter = 1; offset < length; offset += HASH_BYTES, counter += 1) {
    const hmac = createHmac('sha256', prk).update(block);
    for (const part of info) hmac.update(part);
    block.fill(0);
    block = hmac.update(Uint8Array.of(counter)).digest();
    output.set(block.subarray(0, length - offset), offset);
  }
  block.fill(0);
  return output;
}
