import { Buffer } from 'node:buffer';
import { base58xrp } from '@scure/base';
import { hash160, sha256 } from './hash.ts';

/** The XRP Ledger's account id: type byte 0, key hash, four bytes of double SHA-256, in the ledger's own alphabet. */
export function xrpAddress(publicKey: Uint8Array): string {
  const payload = Uint8Array.of(0x00, ...hash160(publicKey));
  return base58xrp.encode(Buffer.concat([payload, sha256(sha256(payload)).subarray(0, 4)]));
}
