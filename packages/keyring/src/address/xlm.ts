import { base32nopad } from '@scure/base';
import type { Format } from './format.ts';
import { crc16 } from './hash.ts';

/** SEP-23: the version byte of an account id, which makes the text start with G. */
const VERSION_ACCOUNT_ID = 6 << 3;
/** Of a seed, which starts with S. */
const VERSION_SEED = 18 << 3;

/** SEP-23: base32 of the version byte, the key and their checksum, little-endian. */
export const XLM = {
  name: 'ADDRESS_FORMAT_XLM',
  curves: ['CURVE_ED25519'],
  caip2Prefix: 'stellar',
  usualPath: "m/44'/148'/0'",
  looksLike: '`G…`',
  encode: (key) => strkey(VERSION_ACCOUNT_ID, key.bytes),
  keyText: { name: 'Secret key', encode: (privateKey) => strkey(VERSION_SEED, privateKey) },
} as const satisfies Format;

function strkey(version: number, bytes: Uint8Array): string {
  const payload = Uint8Array.of(version, ...bytes);
  const checksum = crc16(payload);
  return base32nopad.encode(Uint8Array.of(...payload, checksum & 0xff, checksum >>> 8));
}
