import { cosmosAddress } from './cosmos.ts';
import type { Format } from './format.ts';

export const SEI = {
  name: 'ADDRESS_FORMAT_SEI',
  curves: ['CURVE_SECP256K1'],
  caip2Prefix: 'cosmos',
  usualPath: "m/44'/118'/0'/0/0",
  looksLike: '`sei1…`',
  encode: (key) => cosmosAddress('sei', key.bytes),
} as const satisfies Format;
