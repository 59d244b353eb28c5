import { bech32 } from '@scure/base';
import type { Format } from './format.ts';
import { hash160 } from './hash.ts';

export const COSMOS = {
  name: 'ADDRESS_FORMAT_COSMOS',
  curves: ['CURVE_SECP256K1'],
  caip2Prefix: 'cosmos',
  usualPath: "m/44'/118'/0'/0/0",
  looksLike: '`cosmos1…`',
  encode: (key) => cosmosAddress('cosmos', key.bytes),
} as const satisfies Format;

/** The bech32 account address of the Cosmos SDK (ADR-028, secp256k1 keys). Chains differ only in the prefix. */
export function cosmosAddress(prefix: string, publicKey: Uint8Array): string {
  return bech32.encode(prefix, bech32.toWords(hash160(publicKey)));
}
