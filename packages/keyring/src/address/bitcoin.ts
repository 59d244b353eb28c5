import { bech32, bech32m } from '@scure/base';
import type { Format, PublicKey } from './format.ts';
import { base58checkOf, hash160, sha256, walletImportFormat } from './hash.ts';

interface Network {
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  readonly privateKey: number;
  readonly hrp: string;
  /** SLIP-0044. */
  readonly coin: number;
}

const TEST: Network = { pubKeyHash: 0x6f, scriptHash: 0xc4, privateKey: 0xef, hrp: 'tb', coin: 1 };

const NETWORKS = {
  MAINNET: { pubKeyHash: 0x00, scriptHash: 0x05, privateKey: 0x80, hrp: 'bc', coin: 0 },
  TESTNET: TEST,
  SIGNET: TEST,
  REGTEST: { ...TEST, hrp: 'bcrt' },
} as const satisfies Record<string, Network>;

const OP_CHECKSIG = 0xac;

interface Script {
  readonly usualPath: (coin: number) => string;
  readonly looksLike: (network: Network) => string;
  /** The address of a key alone on its script. */
  readonly address: (network: Network, key: PublicKey) => string;
}

const SCRIPTS = {
  P2PKH: {
    usualPath: (coin) => `m/44'/${coin}'/0'/0/0`,
    looksLike: ({ coin }) => (coin === 0 ? '`1…`' : '`m…` or `n…`'),
    address: ({ pubKeyHash }, { bytes }) => base58checkOf(pubKeyHash, hash160(bytes)),
  },
  P2SH: {
    usualPath: (coin) => `m/49'/${coin}'/0'/0/0`,
    looksLike: ({ coin }) => `\`${coin === 0 ? '3' : '2'}…\`, P2WPKH inside P2SH (BIP-49)`,
    address: ({ scriptHash }, { bytes }) => base58checkOf(scriptHash, hash160(redeemScriptOf(bytes))),
  },
  P2WPKH: {
    usualPath: (coin) => `m/84'/${coin}'/0'/0/0`,
    looksLike: ({ hrp }) => `\`${hrp}1q…\``,
    address: ({ hrp }, { bytes }) => segwitAddress(hrp, 0, hash160(bytes)),
  },
  P2WSH: {
    usualPath: (coin) => `m/48'/${coin}'/0'/2'/0/0`,
    looksLike: ({ hrp }) => `\`${hrp}1q…\`, the script is \`<public key> OP_CHECKSIG\``,
    address: ({ hrp }, { bytes }) => segwitAddress(hrp, 0, sha256(witnessScriptOf(bytes))),
  },
  P2TR: {
    usualPath: (coin) => `m/86'/${coin}'/0'/0/0`,
    looksLike: ({ hrp }) => `\`${hrp}1p…\`, key path only (BIP-86)`,
    address: ({ hrp }, key) => segwitAddress(hrp, 1, key.taproot()),
  },
} as const satisfies Record<string, Script>;

/** Every script on every network. */
export const BITCOIN = keysOf(NETWORKS).flatMap((networkName) =>
  keysOf(SCRIPTS).map((scriptName) => {
    const network: Network = NETWORKS[networkName];
    const { usualPath, looksLike, address }: Script = SCRIPTS[scriptName];
    return {
      name: `ADDRESS_FORMAT_BITCOIN_${networkName}_${scriptName}`,
      curves: ['CURVE_SECP256K1'],
      caip2Prefix: 'bip122',
      usualPath: usualPath(network.coin),
      looksLike: looksLike(network),
      encode: (key) => address(network, key),
      keyText: walletImportFormat(network.privateKey),
    } as const satisfies Format;
  }),
);

function keysOf<T extends object>(table: T): (keyof T)[] {
  return Object.keys(table) as (keyof T)[];
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
