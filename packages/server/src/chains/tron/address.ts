import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';

const base58check = createBase58check(sha256);

/** Base58check of 0x41 and the 20 bytes of the account. */
export function tronAddress(bytes: Uint8Array): string {
  return base58check.encode(bytes);
}

/** Base58check, or the same bytes in hex. */
export function readTronAddress(text: string): string | undefined {
  const [, digits] = /^(?:0x|(?:0x)?41)([0-9a-fA-F]{40})$/.exec(text) ?? [];
  if (digits !== undefined) return tronAddress(Buffer.from(`41${digits}`, 'hex'));
  return tronAccountHex(text) === undefined ? undefined : text;
}

/** The 20 bytes of a Tron address, in hex. */
export function tronAccountHex(address: string): string | undefined {
  if (!/^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(address)) return undefined;
  try {
    return Buffer.from(base58check.decode(address)).subarray(1).toString('hex');
  } catch {
    return undefined;
  }
}
