/** What a chain and its coin are called by everybody. */
interface KnownChain {
  readonly name: string;
  readonly symbol: string;
  readonly decimals: number;
}

const known = (name: string, symbol = 'ETH', decimals = 18): KnownChain => ({ name, symbol, decimals });

/** Chains that sentences call by their name. Anything about their nodes and assets is the operator's to say. */
const CHAINS: Readonly<Record<string, KnownChain>> = {
  'eip155:1': known('Ethereum'),
  'eip155:10': known('OP Mainnet'),
  'eip155:56': known('BNB Smart Chain', 'BNB'),
  'eip155:100': known('Gnosis', 'xDAI'),
  'eip155:137': known('Polygon', 'POL'),
  'eip155:130': known('Unichain'),
  'eip155:324': known('ZKsync Era'),
  'eip155:4217': known('Tempo', 'USD'),
  'eip155:5000': known('Mantle', 'MNT'),
  'eip155:8453': known('Base'),
  'eip155:42161': known('Arbitrum One'),
  'eip155:42220': known('Celo', 'CELO'),
  'eip155:43114': known('Avalanche', 'AVAX'),
  'eip155:59144': known('Linea'),
  'eip155:534352': known('Scroll'),
  'eip155:17000': known('Holesky'),
  'eip155:560048': known('Hoodi'),
  'eip155:11155111': known('Sepolia'),
  'eip155:84532': known('Base Sepolia'),
  'eip155:421614': known('Arbitrum Sepolia'),
  'eip155:11155420': known('OP Sepolia'),
  'eip155:80002': known('Polygon Amoy', 'POL'),
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': known('Solana', 'SOL', 9),
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': known('Solana Devnet', 'SOL', 9),
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': known('Solana Testnet', 'SOL', 9),
  'tron:0x2b6653dc': known('Tron', 'TRX', 6),
  'bip122:000000000019d6689c085ae165831e93': known('Bitcoin', 'BTC', 8),
};

export const knownChain = (caip2: string): KnownChain | undefined =>
  Object.hasOwn(CHAINS, caip2) ? CHAINS[caip2] : undefined;
