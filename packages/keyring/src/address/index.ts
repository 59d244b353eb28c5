import { isPointCompressed, pointCompress } from 'tiny-secp256k1';
import { COMPRESSED_BYTES, uncompressPoint } from '../bundle/p256.ts';
import { KeyringError } from '../errors.ts';
import { aptosAddress } from './aptos.ts';
import { bitcoinAddress } from './bitcoin.ts';
import { cosmosAddress } from './cosmos.ts';
import { dogeAddress } from './doge.ts';
import { ethereumAddress, tronAddress } from './ethereum.ts';
import type { AddressFormat, BitcoinNetwork, BitcoinScript, Curve } from './formats.ts';
import { plainAddress } from './plain.ts';
import { solanaAddress } from './solana.ts';
import { sparkAddress } from './spark.ts';
import { suiAddress } from './sui.ts';
import { tonAddress } from './ton.ts';
import { xlmAddress } from './xlm.ts';
import { xrpAddress } from './xrp.ts';

export type { AddressFormat, Curve } from './formats.ts';

/** A public key that is known to be one of its curve. */
export interface PublicKey {
  /** SEC1 compressed, or the 32 bytes of Ed25519. */
  readonly bytes: Uint8Array;
  /** SEC1 uncompressed. Ed25519 has only one form, so here it never gets asked. */
  uncompressed(): Uint8Array;
}

interface Definition {
  readonly curves: readonly Curve[];
  /** The CAIP-2 namespace of the chain, where the registry of the Chain Agnostic Standards Alliance has one. */
  readonly caip2Prefix?: string;
  readonly encode: (key: PublicKey) => string;
}

const SECP256K1: readonly Curve[] = ['CURVE_SECP256K1'];
const ED25519: readonly Curve[] = ['CURVE_ED25519'];

const BITCOIN_NETWORKS: readonly BitcoinNetwork[] = ['MAINNET', 'TESTNET', 'SIGNET', 'REGTEST'];
const BITCOIN_SCRIPTS: readonly BitcoinScript[] = ['P2PKH', 'P2SH', 'P2WPKH', 'P2WSH', 'P2TR'];

type OtherFormat = Exclude<AddressFormat, `ADDRESS_FORMAT_BITCOIN_${string}`>;

const OTHERS: Readonly<Record<OtherFormat, Definition>> = {
  ADDRESS_FORMAT_UNCOMPRESSED: {
    curves: ['CURVE_SECP256K1', 'CURVE_P256'],
    encode: (key) => plainAddress(key.uncompressed()),
  },
  ADDRESS_FORMAT_COMPRESSED: {
    curves: ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'],
    encode: (key) => plainAddress(key.bytes),
  },
  ADDRESS_FORMAT_ETHEREUM: {
    curves: SECP256K1,
    caip2Prefix: 'eip155',
    encode: (key) => ethereumAddress(key.uncompressed()),
  },
  ADDRESS_FORMAT_SOLANA: { curves: ED25519, caip2Prefix: 'solana', encode: (key) => solanaAddress(key.bytes) },
  ADDRESS_FORMAT_COSMOS: {
    curves: SECP256K1,
    caip2Prefix: 'cosmos',
    encode: (key) => cosmosAddress('cosmos', key.bytes),
  },
  ADDRESS_FORMAT_TRON: { curves: SECP256K1, caip2Prefix: 'tron', encode: (key) => tronAddress(key.uncompressed()) },
  ADDRESS_FORMAT_SUI: { curves: ED25519, caip2Prefix: 'sui', encode: (key) => suiAddress(key.bytes) },
  ADDRESS_FORMAT_APTOS: { curves: ED25519, caip2Prefix: 'aptos', encode: (key) => aptosAddress(key.bytes) },
  ADDRESS_FORMAT_SEI: { curves: SECP256K1, caip2Prefix: 'cosmos', encode: (key) => cosmosAddress('sei', key.bytes) },
  ADDRESS_FORMAT_XLM: { curves: ED25519, caip2Prefix: 'stellar', encode: (key) => xlmAddress(key.bytes) },
  ADDRESS_FORMAT_DOGE_MAINNET: {
    curves: SECP256K1,
    caip2Prefix: 'bip122',
    encode: (key) => dogeAddress('MAINNET', key.bytes),
  },
  ADDRESS_FORMAT_DOGE_TESTNET: {
    curves: SECP256K1,
    caip2Prefix: 'bip122',
    encode: (key) => dogeAddress('TESTNET', key.bytes),
  },
  ADDRESS_FORMAT_TON_V3R2: { curves: ED25519, caip2Prefix: 'tvm', encode: (key) => tonAddress('V3R2', key.bytes) },
  ADDRESS_FORMAT_TON_V4R2: { curves: ED25519, caip2Prefix: 'tvm', encode: (key) => tonAddress('V4R2', key.bytes) },
  ADDRESS_FORMAT_TON_V5R1: { curves: ED25519, caip2Prefix: 'tvm', encode: (key) => tonAddress('V5R1', key.bytes) },
  ADDRESS_FORMAT_XRP: { curves: SECP256K1, caip2Prefix: 'xrpl', encode: (key) => xrpAddress(key.bytes) },
  ADDRESS_FORMAT_SPARK_MAINNET: { curves: SECP256K1, encode: (key) => sparkAddress('MAINNET', key.bytes) },
  ADDRESS_FORMAT_SPARK_REGTEST: { curves: SECP256K1, encode: (key) => sparkAddress('REGTEST', key.bytes) },
};

const DEFINITIONS: ReadonlyMap<string, Definition> = new Map([
  ...Object.entries(OTHERS),
  ...BITCOIN_NETWORKS.flatMap((network) =>
    BITCOIN_SCRIPTS.map((script): [string, Definition] => [
      `ADDRESS_FORMAT_BITCOIN_${network}_${script}`,
      { curves: SECP256K1, caip2Prefix: 'bip122', encode: (key) => bitcoinAddress(network, script, key.bytes) },
    ]),
  ),
]);

/** The address of a public key: 33 bytes compressed for secp256k1 and P-256, 32 bytes for Ed25519. */
export function addressOf(format: AddressFormat, curve: Curve, publicKey: Uint8Array): string {
  return addressOfKey(format, curve, checkPublicKey(curve, publicKey));
}

/** The same for a key that was just computed, and so is one of its curve. */
export function addressOfKey(format: AddressFormat, curve: Curve, key: PublicKey): string {
  const { curves, encode } = definitionOf(format);
  if (!curves.includes(curve)) {
    throw new KeyringError('INVALID_INPUT', `${format} needs ${curves.join(' or ')}, not ${curve}`);
  }
  return encode(key);
}

export function hasFormat(curve: Curve, format: AddressFormat): boolean {
  return DEFINITIONS.get(format)?.curves.includes(curve) ?? false;
}

/** The formats that a key of the curve can have, in the order of the list. */
export function formatsOf(curve: Curve): AddressFormat[] {
  const formats: AddressFormat[] = [];
  for (const [format, { curves }] of DEFINITIONS) if (curves.includes(curve)) formats.push(format as AddressFormat);
  return formats;
}

/** The CAIP-2 namespace of the format's chain; none for bare keys and for Spark, which has no namespace registered. */
export function caip2Prefix(format: AddressFormat): string | undefined {
  return definitionOf(format).caip2Prefix;
}

function definitionOf(format: AddressFormat): Definition {
  const definition = DEFINITIONS.get(format);
  if (definition === undefined) throw new KeyringError('INVALID_INPUT', 'the address format is unknown');
  return definition;
}

function checkPublicKey(curve: Curve, bytes: Uint8Array): PublicKey {
  switch (curve) {
    case 'CURVE_SECP256K1':
      if (!isPointCompressed(bytes)) break;
      return { bytes, uncompressed: () => pointCompress(bytes, false) };
    case 'CURVE_P256': {
      if (bytes.length !== COMPRESSED_BYTES) break;
      const uncompressed = uncompressPoint(bytes);
      return { bytes, uncompressed: () => uncompressed };
    }
    case 'CURVE_ED25519':
      if (bytes.length !== 32) break;
      return { bytes, uncompressed: () => bytes };
  }
  throw new KeyringError('INVALID_INPUT', `the public key is not a compressed key of ${curve}`);
}
