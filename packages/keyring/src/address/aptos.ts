import { Buffer } from 'node:buffer';
import { sha3_256 } from '@noble/hashes/sha3.js';

/** The byte that Aptos puts behind the key of a single-signer Ed25519 account. */
const SCHEME_ED25519 = 0x00;

/** All 64 digits, leading zeros included (AIP-40). */
export function aptosAddress(publicKey: Uint8Array): string {
  return `0x${Buffer.from(sha3_256(Uint8Array.of(...publicKey, SCHEME_ED25519))).toString('hex')}`;
}
