import { ripemd160 } from '@noble/hashes/legacy.js';
import { bech32, bech32m, createBase58check } from '@scure/base';
import { taprootTweakPubkey } from '@scure/btc-signer/utils.js';
import { sha256 } from '../../lib/encoding.ts';

export type BitcoinNetwork = 'MAINNET' | 'TESTNET' | 'SIGNET' | 'REGTEST';
export type BitcoinAddressType = 'P2PKH' | 'P2SH' | 'P2WPKH' | 'P2WSH' | 'P2TR';

interface NetworkPrefixes {
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  readonly hrp: string;
}

const TESTNET: NetworkPrefixes = { pubKeyHash: 0x6f, scriptHash: 0xc4, hrp: 'tb' };

const NETWORKS: Readonly<Record<BitcoinNetwork, NetworkPrefixes>> = {
  MAINNET: { pubKeyHash: 0x00, scriptHash: 0x05, hrp: 'bc' },
  TESTNET,
  SIGNET: TESTNET,
  REGTEST: { ...TESTNET, hrp: 'bcrt' },
};

/** The standard output scripts, as the bytes around the hash or key that tells one from another. */
const TEMPLATES: Readonly<Record<BitcoinAddressType, { prefix: Uint8Array; size: number; suffix: Uint8Array }>> = {
  P2PKH: { prefix: Uint8Array.of(0x76, 0xa9, 0x14), size: 20, suffix: Uint8Array.of(0x88, 0xac) },
  P2SH: { prefix: Uint8Array.of(0xa9, 0x14), size: 20, suffix: Uint8Array.of(0x87) },
  P2WPKH: { prefix: Uint8Array.of(0x00, 0x14), size: 20, suffix: Uint8Array.of() },
  P2WSH: { prefix: Uint8Array.of(0x00, 0x20), size: 32, suffix: Uint8Array.of() },
  P2TR: { prefix: Uint8Array.of(0x51, 0x20), size: 32, suffix: Uint8Array.of() },
};

const OP_CHECKSIG = 0xac;

const base58check = createBase58check((bytes: Uint8Array) => Uint8Array.from(sha256(bytes)));

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** RIPEMD-160 of SHA-256. */
function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes));
}

/** The output script of a type around its hash or key. */
export function outputScript(type: BitcoinAddressType, program: Uint8Array): Uint8Array {
  const { prefix, suffix } = TEMPLATES[type];
  return Uint8Array.of(...prefix, ...program, ...suffix);
}

/** The key and OP_CHECKSIG: the script behind a P2WSH address of ours, and the only P2SH script that gets signed. */
export function keyScript(publicKey: Uint8Array): Uint8Array {
  return Uint8Array.of(publicKey.length, ...publicKey, OP_CHECKSIG);
}

/** The scripts by which a compressed key owns an output. */
export interface KeyScripts {
  /** What an output of this account has to say. For P2SH this is the legacy form. */
  readonly output: Uint8Array;
  /** BIP-49, the address of a P2SH account: segwit inside P2SH. */
  readonly wrapped?: Uint8Array;
  /** What BIP-143 calls scriptCode and legacy inputs are hashed with; taproot's key path has none. */
  readonly code?: Uint8Array;
}

export function keyScripts(type: BitcoinAddressType, publicKey: Uint8Array): KeyScripts {
  const keyHash = hash160(publicKey);
  switch (type) {
    case 'P2PKH': {
      const output = outputScript('P2PKH', keyHash);
      return { output, code: output };
    }
    case 'P2SH':
      return {
        output: outputScript('P2SH', hash160(keyScript(publicKey))),
        wrapped: outputScript('P2SH', hash160(outputScript('P2WPKH', keyHash))),
        code: keyScript(publicKey),
      };
    case 'P2WPKH':
      return { output: outputScript('P2WPKH', keyHash), code: outputScript('P2PKH', keyHash) };
    case 'P2WSH':
      return { output: outputScript('P2WSH', sha256(keyScript(publicKey))), code: keyScript(publicKey) };
    case 'P2TR':
      // BIP-86: the internal key is the account's, and there is no script tree.
      return { output: outputScript('P2TR', taprootTweakPubkey(publicKey.subarray(1), new Uint8Array())[0]) };
  }
}

/** The address of an output script, with both empty when the script has none. */
export function scriptAddress(
  network: BitcoinNetwork,
  script: Uint8Array,
): { readonly address: string; readonly addressType: BitcoinAddressType | '' } {
  const addressType = scriptType(script);
  if (addressType === '') return { address: '', addressType };
  const { prefix, size } = TEMPLATES[addressType];
  const program = script.subarray(prefix.length, prefix.length + size);
  return { address: encodeAddress(NETWORKS[network], addressType, program), addressType };
}

/** The type of a standard output script, and nothing for any other. */
export function scriptType(script: Uint8Array): BitcoinAddressType | '' {
  for (const type of ['P2PKH', 'P2SH', 'P2WPKH', 'P2WSH', 'P2TR'] as const) {
    const { prefix, size } = TEMPLATES[type];
    const program = script.subarray(prefix.length, prefix.length + size);
    if (program.length === size && equalBytes(script, outputScript(type, program))) return type;
  }
  return '';
}

/** Base58Check, BIP-173 for witness version 0 and BIP-350 for version 1. */
function encodeAddress(network: NetworkPrefixes, type: BitcoinAddressType, program: Uint8Array): string {
  switch (type) {
    case 'P2PKH':
      return base58check.encode(Uint8Array.of(network.pubKeyHash, ...program));
    case 'P2SH':
      return base58check.encode(Uint8Array.of(network.scriptHash, ...program));
    case 'P2WPKH':
    case 'P2WSH':
      return bech32.encode(network.hrp, [0, ...bech32.toWords(program)]);
    case 'P2TR':
      return bech32m.encode(network.hrp, [1, ...bech32m.toWords(program)]);
  }
}
