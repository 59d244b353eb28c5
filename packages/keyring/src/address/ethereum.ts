import { keccak_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import type { Format } from './format.ts';

export const ETHEREUM = {
  name: 'ADDRESS_FORMAT_ETHEREUM',
  curves: ['CURVE_SECP256K1'],
  caip2Prefix: 'eip155',
  usualPath: "m/44'/60'/0'/0/0",
  looksLike: '`0x…` with EIP-55 capitals',
  encode: (key) => checksummed(accountOf(key.uncompressed())),
  keyText: { name: 'Private key', encode: (privateKey) => `0x${hex.encode(privateKey)}` },
} as const satisfies Format;

/** The last 20 bytes of Keccak-256 over the point's coordinates, without the SEC1 prefix byte. */
export function accountOf(uncompressedKey: Uint8Array): Uint8Array {
  return keccak_256(uncompressedKey.subarray(1)).subarray(12);
}

/** EIP-55: a letter is upper-case where the same digit of Keccak-256 over the lower-case text is 8 or more. */
function checksummed(account: Uint8Array): string {
  const lower = hex.encode(account);
  const mask = hex.encode(keccak_256(new TextEncoder().encode(lower)));
  let address = '0x';
  for (let i = 0; i < lower.length; i += 1) {
    address += mask.charAt(i) >= '8' ? lower.charAt(i).toUpperCase() : lower.charAt(i);
  }
  return address;
}
