import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { getAddress } from 'viem/utils';
import { toHex } from '../../lib/encoding.ts';

export const ADDRESS_PATTERN = '0x[0-9a-fA-F]{40}';

const ADDRESS = new RegExp(`^${ADDRESS_PATTERN}$`);

export const isEthereumAddress = (text: string): boolean => ADDRESS.test(text);

/** The spelling with the checksum of EIP-55, in which addresses are answered. */
export const toChecksum = (address: string): string => getAddress(address.toLowerCase());

/** Whether it is written with a checksum (EIP-55) that is not its own: a digit is wrong. */
export function hasWrongChecksum(address: string): boolean {
  const digits = address.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return false;
  return toChecksum(address) !== address;
}

/** The address of a key, in lower case: whose transaction it is, whatever address the request names the key by. */
export function ethereumAddress(publicKey: Uint8Array): string {
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  return `0x${toHex(keccak_256(point.subarray(1)).subarray(12))}`;
}
