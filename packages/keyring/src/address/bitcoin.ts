import { bech32, bech32m } from '@scure/base';
import { taprootPublicKey } from '../sign/secp256k1.ts';
import type { BitcoinNetwork, BitcoinScript } from './formats.ts';
import { base58checkOf, hash160, sha256 } from './hash.ts';

interface Network {
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  readonly hrp: string;
}

const TESTNET: Network = { pubKeyHash: 0x6f, scriptHash: 0xc4, hrp: 'tb' };

const NETWORKS: Readonly<Record<BitcoinNetwork, Network>> = {
  MAINNET: { pubKeyHash: 0x00, scriptHash: 0x05, hrp: 'bc' },
  TESTNET,
  SIGNET: TESTNET,
  REGTEST: { ...TESTNET, hrp: 'bcrt' },
};

const OP_CHECKSIG = 0xac;

/** The address of a compressed key alone on its script. */
export function bitcoinAddress(network: BitcoinNetwork, script: BitcoinScript, publicKey: Uint8Array): string {
  const { pubKeyHash, scriptHash, hrp } = NETWORKS[network];
  switch (script) {
    case 'P2PKH':
      return base58checkOf(pubKeyHash, hash160(publicKey));
    case 'P2SH':
      return base58checkOf(scriptHash, hash160(redeemScriptOf(publicKey)));
    case 'P2WPKH':
      return segwitAddress(hrp, 0, hash160(publicKey));
    case 'P2WSH':
      return segwitAddress(hrp, 0, sha256(witnessScriptOf(publicKey)));
    case 'P2TR':
      // BIP-86: without a script tree.
      return segwitAddress(hrp, 1, taprootPublicKey(publicKey.subarray(1)).xOnly);
  }
}

/** BIP-49: the redeem script is the P2WPKH program, OP_0 and the key hash. */
function redeemScriptOf(publicKey: Uint8Array): Uint8Array {
  return Uint8Array.of(0x00, 0x14, ...hash160(publicKey));
}

/** The witness script is the key and OP_CHECKSIG. */
function witnessScriptOf(publicKey: Uint8Array): Uint8Array {
  return Uint8Array.of(publicKey.length, ...publicKey, OP_CHECKSIG);
}

/** BIP-173 for witness version 0 and BIP-350 for version 1. */
function segwitAddress(hrp: string, version: 0 | 1, program: Uint8Array): string {
  const encoding = version === 0 ? bech32 : bech32m;
  return encoding.encode(hrp, [version, ...encoding.toWords(program)]);
}
