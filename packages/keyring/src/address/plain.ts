import { hex } from '@scure/base';
import type { Format } from './format.ts';

// The key itself is the address: lower-case hexadecimal without a prefix.

export const UNCOMPRESSED = {
  name: 'ADDRESS_FORMAT_UNCOMPRESSED',
  curves: ['CURVE_SECP256K1', 'CURVE_P256'],
  looksLike: 'the public key in hex, 65 bytes',
  encode: (key) => hex.encode(key.uncompressed()),
} as const satisfies Format;

export const COMPRESSED = {
  name: 'ADDRESS_FORMAT_COMPRESSED',
  curves: ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'],
  looksLike: 'the public key in hex: 33 bytes, on Ed25519 32',
  encode: (key) => hex.encode(key.bytes),
} as const satisfies Format;
