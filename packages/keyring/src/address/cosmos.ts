import { bech32 } from '@scure/base';
import { hash160 } from './hash.ts';

/** The bech32 account address of the Cosmos SDK (ADR-028, secp256k1 keys); Sei differs only in the prefix. */
export function cosmosAddress(hrp: 'cosmos' | 'sei', publicKey: Uint8Array): string {
  return bech32.encode(hrp, bech32.toWords(hash160(publicKey)));
}
