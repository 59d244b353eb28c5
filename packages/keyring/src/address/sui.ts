import { Buffer } from 'node:buffer';
import { blake2b } from '@noble/hashes/blake2.js';

/** The byte that Sui puts before an Ed25519 key. */
const FLAG_ED25519 = 0x00;

export function suiAddress(publicKey: Uint8Array): string {
  const digest = blake2b(Uint8Array.of(FLAG_ED25519, ...publicKey), { dkLen: 32 });
  return `0x${Buffer.from(digest).toString('hex')}`;
}
