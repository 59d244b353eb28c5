import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';

// Nothing in this folder but index.ts needs Node.js: a page that opens recovery kits computes addresses with it too.

export { sha256 };

/** RIPEMD-160 of SHA-256. An OpenSSL without its legacy provider has no RIPEMD-160. */
export function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes));
}

const base58check = createBase58check(sha256);

/** Base58 of a version byte and a payload with four bytes of double SHA-256 behind them. */
export function base58checkOf(version: number, payload: Uint8Array): string {
  return base58check.encode(Uint8Array.of(version, ...payload));
}

/** Wallet import format: base58 of a version byte, the key, and a 1 that says its public key is compressed. */
export const walletImportFormat = (version: number) => ({
  name: 'WIF',
  encode: (privateKey: Uint8Array) => base58checkOf(version, Uint8Array.of(...privateKey, 1)),
});

/** CRC-16/XMODEM: polynomial 0x1021, start 0, nothing reflected. */
export function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    crc &= 0xffff;
  }
  return crc;
}
