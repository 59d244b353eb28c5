import { blake2b } from '@noble/hashes/blake2.js';
import { bech32, hex } from '@scure/base';
import type { Format } from './format.ts';

/** The byte that Sui puts before an Ed25519 key. */
const FLAG_ED25519 = 0x00;

export const SUI = {
  name: 'ADDRESS_FORMAT_SUI',
  curves: ['CURVE_ED25519'],
  caip2Prefix: 'sui',
  usualPath: "m/44'/784'/0'/0'/0'",
  looksLike: '`0x…`, 64 digits',
  encode(key) {
    const digest = blake2b(Uint8Array.of(FLAG_ED25519, ...key.bytes), { dkLen: 32 });
    return `0x${hex.encode(digest)}`;
  },
  // SIP-15.
  keyText: {
    name: 'Private key',
    encode: (privateKey) => bech32.encode('suiprivkey', bech32.toWords(Uint8Array.of(FLAG_ED25519, ...privateKey))),
  },
} as const satisfies Format;
