import { base58checkOf, hash160 } from './hash.ts';

/** Dogecoin Core, chainparams: PUBKEY_ADDRESS. */
const VERSIONS = { MAINNET: 0x1e, TESTNET: 0x71 } as const;

export function dogeAddress(network: keyof typeof VERSIONS, publicKey: Uint8Array): string {
  return base58checkOf(VERSIONS[network], hash160(publicKey));
}
