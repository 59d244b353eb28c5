import { base58 } from '@scure/base';
import type { Format } from './format.ts';

export const SOLANA = {
  name: 'ADDRESS_FORMAT_SOLANA',
  curves: ['CURVE_ED25519'],
  caip2Prefix: 'solana',
  usualPath: "m/44'/501'/0'/0'",
  looksLike: 'base58 of the public key',
  encode: (key) => base58.encode(key.bytes),
  keyText: {
    name: 'Private key',
    encode: (privateKey, publicKey) => base58.encode(Uint8Array.of(...privateKey, ...publicKey)),
  },
} as const satisfies Format;
