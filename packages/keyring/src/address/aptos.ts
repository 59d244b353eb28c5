import { sha3_256 } from '@noble/hashes/sha3.js';
import { hex } from '@scure/base';
import type { Format } from './format.ts';

/** The byte that Aptos puts behind the key of a single-signer Ed25519 account. */
const SCHEME_ED25519 = 0x00;

/** All 64 digits, leading zeros included (AIP-40). */
export const APTOS = {
  name: 'ADDRESS_FORMAT_APTOS',
  curves: ['CURVE_ED25519'],
  caip2Prefix: 'aptos',
  usualPath: "m/44'/637'/0'/0'/0'",
  looksLike: '`0x…`, 64 digits',
  encode: (key) => `0x${hex.encode(sha3_256(Uint8Array.of(...key.bytes, SCHEME_ED25519)))}`,
  // AIP-80.
  keyText: { name: 'Private key', encode: (privateKey) => `ed25519-priv-0x${hex.encode(privateKey)}` },
} as const satisfies Format;
