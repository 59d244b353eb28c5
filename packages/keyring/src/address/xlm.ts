import { base32nopad } from '@scure/base';
import { crc16 } from './hash.ts';

/** SEP-23: the version byte of an account id, which makes the text start with G. */
const VERSION_ACCOUNT_ID = 6 << 3;

/** SEP-23: base32 of the version byte, the key and their checksum, little-endian. */
export function xlmAddress(publicKey: Uint8Array): string {
  const payload = Uint8Array.of(VERSION_ACCOUNT_ID, ...publicKey);
  const checksum = crc16(payload);
  return base32nopad.encode(Uint8Array.of(...payload, checksum & 0xff, checksum >>> 8));
}
