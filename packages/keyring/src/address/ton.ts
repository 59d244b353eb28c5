import { base64url, hex } from '@scure/base';
import type { Format } from './format.ts';
import { crc16, sha256 } from './hash.ts';

interface Wallet {
  /** Representation hash and depth of the cell that holds the contract's code. */
  readonly codeHash: Uint8Array;
  readonly codeDepth: number;
  readonly walletId: number;
  /** The bits that the contract's data has before the sequence number and after the key. */
  readonly before: string;
  readonly after: string;
}

/** The default wallet id of versions 3 and 4 in workchain 0. */
const WALLET_ID = 698983191;
/** Version 5: network -239 xor the context of workchain 0, subwallet 0. */
const WALLET_ID_V5 = 2147483409;

const V3R2: Wallet = {
  codeHash: hex.decode('84dafa449f98a6987789ba232358072bc0f76dc4524002a5d0918b9a75d2d599'),
  codeDepth: 0,
  walletId: WALLET_ID,
  before: '',
  after: '',
};

const V4R2: Wallet = {
  codeHash: hex.decode('feb5ff6820e2ff0d9483e7e0d62c817d846789fb4ae580c878866d959dabd5c0'),
  codeDepth: 7,
  walletId: WALLET_ID,
  before: '',
  after: '0',
};

const V5R1: Wallet = {
  codeHash: hex.decode('20834b7b72b112147e1b2fb457b84e74d1a30f04f737d4f62a668e9552d2b72f'),
  codeDepth: 6,
  walletId: WALLET_ID_V5,
  before: '1',
  after: '0',
};

const TAG_NON_BOUNCEABLE = 0x51;
const WORKCHAIN = 0x00;
/** No split depth, not special, code and data present, no libraries (block.tlb, StateInit). */
const STATE_INIT_BITS = '00110';

const COMMON = {
  curves: ['CURVE_ED25519'],
  caip2Prefix: 'tvm',
  usualPath: "m/44'/607'/0'/0'/0'",
  looksLike: '`UQ…`, for mainnet, not bounceable',
} as const;

export const TON_V3R2 = {
  ...COMMON,
  name: 'ADDRESS_FORMAT_TON_V3R2',
  encode: (key) => tonAddress(V3R2, key.bytes),
} as const satisfies Format;

export const TON_V4R2 = {
  ...COMMON,
  name: 'ADDRESS_FORMAT_TON_V4R2',
  encode: (key) => tonAddress(V4R2, key.bytes),
} as const satisfies Format;

export const TON_V5R1 = {
  ...COMMON,
  name: 'ADDRESS_FORMAT_TON_V5R1',
  encode: (key) => tonAddress(V5R1, key.bytes),
} as const satisfies Format;

/** The text form of TEP-2, non-bounceable and safe in URLs, of the account that the wallet contract will have. */
function tonAddress(wallet: Wallet, publicKey: Uint8Array): string {
  const sequence = bitsOf(new Uint8Array(4));
  const walletId = wallet.walletId.toString(2).padStart(32, '0');
  const data = cellHash(wallet.before + sequence + walletId + bitsOf(publicKey) + wallet.after, []);
  const account = cellHash(STATE_INIT_BITS, [
    { hash: wallet.codeHash, depth: wallet.codeDepth },
    { hash: data, depth: 0 },
  ]);
  const payload = Uint8Array.of(TAG_NON_BOUNCEABLE, WORKCHAIN, ...account);
  const checksum = crc16(payload);
  return base64url.encode(Uint8Array.of(...payload, checksum >>> 8, checksum & 0xff));
}

function bitsOf(bytes: Uint8Array): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return bits;
}

/**
 * TON whitepaper 3.1.5, the standard representation hash of an ordinary cell: two descriptor bytes, the data with a
 * one bit and zeros up to the next byte when it ends inside one, then the depths and the hashes of the references.
 */
function cellHash(bits: string, references: readonly { hash: Uint8Array; depth: number }[]): Uint8Array {
  const padded = bits.length % 8 === 0 ? bits : `${bits}1`.padEnd(Math.ceil(bits.length / 8) * 8, '0');
  const parts = [references.length, Math.floor(bits.length / 8) + Math.ceil(bits.length / 8)];
  for (let i = 0; i < padded.length; i += 8) parts.push(Number.parseInt(padded.slice(i, i + 8), 2));
  for (const { depth } of references) parts.push(depth >>> 8, depth & 0xff);
  for (const { hash } of references) parts.push(...hash);
  return sha256(Uint8Array.from(parts));
}
