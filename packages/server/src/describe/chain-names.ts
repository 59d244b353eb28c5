import { nativeCaip19, tokenAssets } from '../chains/assets.ts';
import { networkOf } from '../chains/networks.ts';
import type { ConfiguredChains } from '../chains/settings.ts';
import type { Unit } from './values.ts';

// CAIP-2 names chains by numbers and hashes. People know these by a name; others are shown as they are.

interface KnownChain {
  readonly name: string;
  /** What its native coin is called; that of its family where it is left out. */
  readonly symbol?: string;
}

const KNOWN: Readonly<Record<string, KnownChain>> = {
  'eip155:1': { name: 'Ethereum' },
  'eip155:10': { name: 'Optimism' },
  'eip155:56': { name: 'BNB Smart Chain', symbol: 'BNB' },
  'eip155:100': { name: 'Gnosis', symbol: 'xDAI' },
  'eip155:130': { name: 'Unichain' },
  'eip155:137': { name: 'Polygon', symbol: 'POL' },
  'eip155:146': { name: 'Sonic', symbol: 'S' },
  'eip155:324': { name: 'ZKsync Era' },
  'eip155:480': { name: 'World Chain' },
  'eip155:1329': { name: 'Sei', symbol: 'SEI' },
  'eip155:4217': { name: 'Tempo', symbol: 'USD' },
  'eip155:5000': { name: 'Mantle', symbol: 'MNT' },
  'eip155:8453': { name: 'Base' },
  'eip155:42161': { name: 'Arbitrum' },
  'eip155:42220': { name: 'Celo', symbol: 'CELO' },
  'eip155:42431': { name: 'Tempo test network', symbol: 'USD' },
  'eip155:43114': { name: 'Avalanche', symbol: 'AVAX' },
  'eip155:57073': { name: 'Ink' },
  'eip155:59144': { name: 'Linea' },
  'eip155:81457': { name: 'Blast' },
  'eip155:84532': { name: 'Base Sepolia' },
  'eip155:421614': { name: 'Arbitrum Sepolia' },
  'eip155:534352': { name: 'Scroll' },
  'eip155:560048': { name: 'Hoodi' },
  'eip155:11155111': { name: 'Sepolia' },
  'eip155:11155420': { name: 'Optimism Sepolia' },
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': { name: 'Solana' },
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': { name: 'Solana devnet' },
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': { name: 'Solana testnet' },
};

/** Families of which a transaction does not say the chain. */
const FAMILIES: Readonly<Record<string, string>> = { solana: 'Solana', tron: 'Tron', bip122: 'Bitcoin' };

export const evmCaip2 = (chainId: bigint): string => `eip155:${chainId}`;

/** `Ethereum`, or `eip155:31337` where no name is known. */
export const chainTitle = (caip2: string): string => KNOWN[caip2]?.name ?? FAMILIES[caip2] ?? caip2;

/** What the fees of a chain are paid in. */
export function nativeUnit(chains: ConfiguredChains, caip2: string): Unit {
  const { decimals, symbol } = networkOf(caip2).coin;
  const configured = chains.get(caip2);
  const own = configured?.assets.find(({ caip19 }) => caip19 === nativeCaip19(configured));
  if (own !== undefined) return own;
  const known = KNOWN[caip2];
  return { decimals, symbol: known?.symbol ?? ((known ?? configured) ? symbol : 'native coins') };
}

/** A token that the operator has configured: its decimals are known, and its name is not the contract's own claim. */
export function configuredToken(chains: ConfiguredChains, caip2: string, address: string): Unit | undefined {
  const chain = chains.get(caip2);
  return chain && tokenAssets(chain).get(networkOf(caip2).address.canonical(address));
}
