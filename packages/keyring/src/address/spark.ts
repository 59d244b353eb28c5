import { bech32m } from '@scure/base';
import type { Format } from './format.ts';

/** Spark has no CAIP-2 namespace registered. */
const COMMON = { curves: ['CURVE_SECP256K1'], usualPath: "m/8797555'/0'/0'" } as const;

/** Field 1 of the protobuf message, of wire type 2, with the 33 bytes of the identity key. */
const IDENTITY_KEY_HEADER = [0x0a, 0x21] as const;

export const SPARK_MAINNET = {
  ...COMMON,
  name: 'ADDRESS_FORMAT_SPARK_MAINNET',
  looksLike: '`spark1…`',
  encode: (key) => sparkAddress('spark', key.bytes),
} as const satisfies Format;

export const SPARK_REGTEST = {
  ...COMMON,
  name: 'ADDRESS_FORMAT_SPARK_REGTEST',
  looksLike: '`sparkrt1…`',
  encode: (key) => sparkAddress('sparkrt', key.bytes),
} as const satisfies Format;

function sparkAddress(prefix: string, publicKey: Uint8Array): string {
  const message = Uint8Array.of(...IDENTITY_KEY_HEADER, ...publicKey);
  return bech32m.encode(prefix, bech32m.toWords(message), false);
}
