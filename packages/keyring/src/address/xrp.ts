import { base58xrp } from '@scure/base';
import type { Format } from './format.ts';
import { hash160, sha256 } from './hash.ts';

/** The XRP Ledger's account id: type byte 0, key hash, four bytes of double SHA-256, in the ledger's own alphabet. */
export const XRP = {
  name: 'ADDRESS_FORMAT_XRP',
  curves: ['CURVE_SECP256K1'],
  caip2Prefix: 'xrpl',
  usualPath: "m/44'/144'/0'/0/0",
  looksLike: '`r…`',
  encode(key) {
    const payload = Uint8Array.of(0x00, ...hash160(key.bytes));
    return base58xrp.encode(Uint8Array.of(...payload, ...sha256(sha256(payload)).subarray(0, 4)));
  },
} as const satisfies Format;
