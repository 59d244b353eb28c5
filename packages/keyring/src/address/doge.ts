import type { Format } from './format.ts';
import { base58checkOf, hash160, walletImportFormat } from './hash.ts';

const COMMON = { curves: ['CURVE_SECP256K1'], caip2Prefix: 'bip122' } as const;

/** Dogecoin Core, chainparams: PUBKEY_ADDRESS. */
const VERSION_MAINNET = 0x1e;
const VERSION_TESTNET = 0x71;
/** SECRET_KEY. */
const KEY_VERSION_MAINNET = 0x9e;
const KEY_VERSION_TESTNET = 0xf1;

export const DOGE_MAINNET = {
  ...COMMON,
  name: 'ADDRESS_FORMAT_DOGE_MAINNET',
  usualPath: "m/44'/3'/0'/0/0",
  looksLike: '`D…`',
  encode: (key) => base58checkOf(VERSION_MAINNET, hash160(key.bytes)),
  keyText: walletImportFormat(KEY_VERSION_MAINNET),
} as const satisfies Format;

export const DOGE_TESTNET = {
  ...COMMON,
  name: 'ADDRESS_FORMAT_DOGE_TESTNET',
  usualPath: "m/44'/1'/0'/0/0",
  looksLike: '`n…`',
  encode: (key) => base58checkOf(VERSION_TESTNET, hash160(key.bytes)),
  keyText: walletImportFormat(KEY_VERSION_TESTNET),
} as const satisfies Format;
