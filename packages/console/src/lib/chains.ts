import type { CreateWalletParameters } from '@custos/sdk';

export type NewAccount = CreateWalletParameters['accounts'][number];
export type AddressFormat = NewAccount['addressFormat'];
export type Curve = NewAccount['curve'];

/** What a wallet can be made for, and the path of the first account in most wallets of that chain. */
export interface ChainPreset {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  /** Three or four letters for the mark. */
  readonly mark: string;
  readonly curve: Curve;
  readonly addressFormat: AddressFormat;
  /** `#` is the number of the account. */
  readonly path: string;
  /** Among the first ones that are shown. */
  readonly isCommon?: boolean;
}

const secp256k1 = 'CURVE_SECP256K1';
const ed25519 = 'CURVE_ED25519';

export const PRESETS: readonly ChainPreset[] = [
  preset(
    'ethereum',
    'Ethereum and EVM',
    'one address on every chain',
    'ETH',
    secp256k1,
    'ETHEREUM',
    "m/44'/60'/0'/0/#",
    true,
  ),
  preset('solana', 'Solana', 'SOL and SPL tokens', 'SOL', ed25519, 'SOLANA', "m/44'/501'/#'/0'", true),
  preset(
    'bitcoin-p2tr',
    'Bitcoin (P2TR)',
    'Taproot, bc1p…',
    'BTC',
    secp256k1,
    'BITCOIN_MAINNET_P2TR',
    "m/86'/0'/0'/0/#",
    true,
  ),
  preset(
    'bitcoin-p2wpkh',
    'Bitcoin (P2WPKH)',
    'Segwit, bc1q…',
    'BTC',
    secp256k1,
    'BITCOIN_MAINNET_P2WPKH',
    "m/84'/0'/0'/0/#",
    true,
  ),
  preset('tron', 'Tron', 'TRX and TRC-20', 'TRX', secp256k1, 'TRON', "m/44'/195'/0'/0/#", true),
  preset('cosmos', 'Cosmos', 'cosmos1…', 'ATOM', secp256k1, 'COSMOS', "m/44'/118'/0'/0/#", true),
  preset('sui', 'Sui', '0x…, 64 digits', 'SUI', ed25519, 'SUI', "m/44'/784'/#'/0'/0'", true),
  preset('aptos', 'Aptos', '0x…, 64 digits', 'APT', ed25519, 'APTOS', "m/44'/637'/#'/0'/0'", true),
  preset('sei', 'Sei', 'sei1…', 'SEI', secp256k1, 'SEI', "m/44'/118'/0'/0/#"),
  preset('xrp', 'XRP Ledger', 'r…', 'XRP', secp256k1, 'XRP', "m/44'/144'/0'/0/#"),
  preset('stellar', 'Stellar', 'G…', 'XLM', ed25519, 'XLM', "m/44'/148'/#'"),
  preset('ton', 'TON (v5)', 'UQ…, wallet version 5', 'TON', ed25519, 'TON_V5R1', "m/44'/607'/#'/0'/0'"),
  preset('ton-v4', 'TON (v4)', 'UQ…, wallet version 4', 'TON', ed25519, 'TON_V4R2', "m/44'/607'/#'/0'/0'"),
  preset('dogecoin', 'Dogecoin', 'D…', 'DOGE', secp256k1, 'DOGE_MAINNET', "m/44'/3'/0'/0/#"),
  preset('spark', 'Spark', 'spark1…', 'SPK', secp256k1, 'SPARK_MAINNET', "m/8797555'/#'/0'"),
  preset(
    'bitcoin-p2pkh',
    'Bitcoin (P2PKH)',
    'the oldest form, 1…',
    'BTC',
    secp256k1,
    'BITCOIN_MAINNET_P2PKH',
    "m/44'/0'/0'/0/#",
  ),
  preset(
    'bitcoin-p2sh',
    'Bitcoin (P2SH)',
    'Segwit inside P2SH, 3…',
    'BTC',
    secp256k1,
    'BITCOIN_MAINNET_P2SH',
    "m/49'/0'/0'/0/#",
  ),
  preset(
    'bitcoin-test',
    'Bitcoin testnet',
    'Taproot, tb1p…',
    'tBTC',
    secp256k1,
    'BITCOIN_TESTNET_P2TR',
    "m/86'/1'/0'/0/#",
  ),
];

function preset(
  id: string,
  name: string,
  detail: string,
  mark: string,
  curve: Curve,
  format: string,
  path: string,
  isCommon = false,
): ChainPreset {
  const addressFormat = `ADDRESS_FORMAT_${format}` as AddressFormat;
  return { id, name, detail, mark, curve, addressFormat, path, ...(isCommon && { isCommon }) };
}

/** The account of a preset, the first one unless told. */
export const accountOf = ({ curve, addressFormat, path }: ChainPreset, index = 0): NewAccount => ({
  curve,
  pathFormat: 'PATH_FORMAT_BIP32',
  path: path.replace('#', String(index)),
  addressFormat,
});

/** The first number for which none of these accounts has the path. */
export function nextIndex(
  chosen: ChainPreset,
  accounts: readonly { readonly path: string; readonly addressFormat: string }[],
): number {
  const taken = new Set(
    accounts.filter(({ addressFormat }) => addressFormat === chosen.addressFormat).map(({ path }) => path),
  );
  let index = 0;
  while (taken.has(chosen.path.replace('#', String(index)))) index += 1;
  return index;
}

const CHAINS: Readonly<Record<string, string>> = {
  'eip155:1': 'Ethereum',
  'eip155:10': 'OP Mainnet',
  'eip155:56': 'BNB Smart Chain',
  'eip155:100': 'Gnosis',
  'eip155:137': 'Polygon',
  'eip155:8453': 'Base',
  'eip155:42161': 'Arbitrum One',
  'eip155:43114': 'Avalanche',
  'eip155:59144': 'Linea',
  'eip155:534352': 'Scroll',
  'eip155:17000': 'Holesky',
  'eip155:560048': 'Hoodi',
  'eip155:11155111': 'Sepolia',
  'eip155:84532': 'Base Sepolia',
  'eip155:421614': 'Arbitrum Sepolia',
  'eip155:11155420': 'OP Sepolia',
  'eip155:80002': 'Polygon Amoy',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'Solana',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'Solana Devnet',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': 'Solana Testnet',
};

/** What people call a chain; the number of one that nobody here knows. */
export const chainName = (caip2: string): string =>
  CHAINS[caip2] ?? (caip2.startsWith('eip155:') ? `Chain ${caip2.slice(7)}` : caip2);

interface Family {
  readonly name: string;
  readonly mark: string;
  /** The namespace of CAIP-2. */
  readonly namespace?: string;
}

const FAMILIES: readonly (readonly [RegExp, Family])[] = [
  [/^ETHEREUM$/, { name: 'EVM', mark: 'ETH', namespace: 'eip155' }],
  [/^SOLANA$/, { name: 'Solana', mark: 'SOL', namespace: 'solana' }],
  [/^BITCOIN_MAINNET/, { name: 'Bitcoin', mark: 'BTC' }],
  [/^BITCOIN/, { name: 'Bitcoin test', mark: 'tBTC' }],
  [/^TRON$/, { name: 'Tron', mark: 'TRX' }],
  [/^COSMOS$/, { name: 'Cosmos', mark: 'ATOM' }],
  [/^SUI$/, { name: 'Sui', mark: 'SUI' }],
  [/^APTOS$/, { name: 'Aptos', mark: 'APT' }],
  [/^SEI$/, { name: 'Sei', mark: 'SEI' }],
  [/^XLM$/, { name: 'Stellar', mark: 'XLM' }],
  [/^DOGE/, { name: 'Dogecoin', mark: 'DOGE' }],
  [/^TON/, { name: 'TON', mark: 'TON' }],
  [/^XRP$/, { name: 'XRP Ledger', mark: 'XRP' }],
  [/^SPARK/, { name: 'Spark', mark: 'SPK' }],
];

/** The chain family of an address format. Plain public keys belong to none. */
export function familyOf(addressFormat: string): Family {
  const name = addressFormat.replace(/^ADDRESS_FORMAT_/, '');
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? { name: 'Public key', mark: 'KEY' };
}

const BITCOIN_KINDS = /_(P2[A-Z]+)$/;

/** "Bitcoin P2TR" where one family has several kinds of addresses. */
export const formatName = (addressFormat: string): string => {
  const kind = BITCOIN_KINDS.exec(addressFormat)?.[1];
  const { name } = familyOf(addressFormat);
  return kind === undefined ? name : `${name} ${kind}`;
};
