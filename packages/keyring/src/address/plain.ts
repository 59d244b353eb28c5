import { Buffer } from 'node:buffer';

/** Lower-case hexadecimal without a prefix: the key itself is the address. */
export function plainAddress(publicKey: Uint8Array): string {
  return Buffer.from(publicKey).toString('hex');
}
