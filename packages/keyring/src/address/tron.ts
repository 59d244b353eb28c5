import { accountOf } from './ethereum.ts';
import type { Format } from './format.ts';
import { base58checkOf } from './hash.ts';

const VERSION = 0x41;

/** The account bytes of Ethereum in base58. */
export const TRON = {
  name: 'ADDRESS_FORMAT_TRON',
  curves: ['CURVE_SECP256K1'],
  caip2Prefix: 'tron',
  usualPath: "m/44'/195'/0'/0/0",
  looksLike: '`T…`',
  encode: (key) => base58checkOf(VERSION, accountOf(key.uncompressed())),
} as const satisfies Format;
