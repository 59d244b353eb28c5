import { bech32m } from '@scure/base';

const PREFIXES = { MAINNET: 'spark', REGTEST: 'sparkrt' } as const;

/** Field 1 of the protobuf message, of wire type 2, with the 33 bytes of the identity key. */
const IDENTITY_KEY_HEADER = [0x0a, 0x21] as const;

export function sparkAddress(network: keyof typeof PREFIXES, publicKey: Uint8Array): string {
  const message = Uint8Array.of(...IDENTITY_KEY_HEADER, ...publicKey);
  return bech32m.encode(PREFIXES[network], bech32m.toWords(message), false);
}
