/** Formats whose names do not say it by themselves. */
const CHAINS: Readonly<Record<string, string>> = {
  ETHEREUM: 'Ethereum and other EVM chains',
  SOLANA: 'Solana',
  COSMOS: 'Cosmos',
  TRON: 'Tron',
  SUI: 'Sui',
  APTOS: 'Aptos',
  SEI: 'Sei',
  XLM: 'Stellar',
  DOGE_MAINNET: 'Dogecoin',
  DOGE_TESTNET: 'Dogecoin testnet',
  TON_V3R2: 'TON, wallet v3R2',
  TON_V4R2: 'TON, wallet v4R2',
  TON_V5R1: 'TON, wallet v5R1',
  XRP: 'XRP Ledger',
  SPARK_MAINNET: 'Spark',
  SPARK_REGTEST: 'Spark regtest',
  COMPRESSED: 'Public key',
  UNCOMPRESSED: 'Public key, uncompressed',
};

const SCRIPTS: Readonly<Record<string, string>> = {
  P2PKH: 'legacy (P2PKH)',
  P2SH: 'nested SegWit (P2SH)',
  P2WPKH: 'native SegWit (P2WPKH)',
  P2WSH: 'SegWit script (P2WSH)',
  P2TR: 'Taproot (P2TR)',
};

/** The chain of an address format, as people call it. */
export function chainOf(addressFormat: string): string {
  const name = addressFormat.replace(/^ADDRESS_FORMAT_/, '');
  // A kit may name anything, also what every object has.
  if (Object.hasOwn(CHAINS, name)) return CHAINS[name] as string;
  const [, network = '', script = ''] = /^BITCOIN_([A-Z]+)_([A-Z0-9]+)$/.exec(name) ?? [];
  const spelled = SCRIPTS[script];
  if (spelled === undefined) return name;
  return network === 'MAINNET' ? `Bitcoin, ${spelled}` : `Bitcoin ${network.toLowerCase()}, ${spelled}`;
}
