import { base32nopad } from '@scure/base';
import type { Format } from './format.ts';
import { crc16 } from './hash.ts';

/** SEP-23: the version byte of an account id, which makes the text start with G. */
const VERSION_ACCOUNT_ID = 6 << 3;

/** SEP-23: base32 of the version byte, the key and their checksum, little-endian. */
export const XLM = {
  name: 'ADDRESS_FORMAT_XLM',
  curves: ['CURVE_ED25519'],
  caip2Prefix: 'stellar',
  usualPath: "m/44'/148'/0'",
  looksLike: '`G…`',
  encode(key) {
    const payload = Uint8Array.of(VERSION_ACCOUNT_ID, ...key.bytes);
    const checksum = crc16(payload);
    return base32nopad.encode(Uint8Array.of(...payload, checksum & 0xff, checksum >>> 8));
  },
} as const satisfies Format;
