import { nativeCaip19, tokenAssets } from '../chains/assets.ts';
import { knownChain } from '../chains/known-chains.ts';
import { networkOf } from '../chains/networks.ts';
import type { ConfiguredChains } from '../chains/settings.ts';
import { ADDRESS_TABLE_LOOKUP } from '../chains/solana/message.ts';
import type { Unit } from './values.ts';

/** Families of which a transaction does not say the chain. */
const FAMILIES: Readonly<Record<string, string>> = { solana: 'Solana', tron: 'Tron', bip122: 'Bitcoin' };

export const evmCaip2 = (chainId: bigint): string => `eip155:${chainId}`;

/** CAIP-2 names chains by numbers and hashes: `Ethereum`, or `eip155:31337` where no name is known. */
export const chainTitle = (caip2: string): string => knownChain(caip2)?.name ?? FAMILIES[caip2] ?? caip2;

/** What the fees of a chain are paid in. */
export function nativeUnit(chains: ConfiguredChains, caip2: string): Unit {
  const { decimals, symbol } = networkOf(caip2).coin;
  const configured = chains.get(caip2);
  const own = configured?.assets.find(({ caip19 }) => caip19 === nativeCaip19(configured));
  if (own !== undefined) return own;
  const known = knownChain(caip2);
  return { decimals, symbol: known?.symbol ?? ((known ?? configured) ? symbol : 'native coins') };
}

/** A token that the operator has configured: its decimals are known, and its name is not the contract's own claim. */
export function configuredToken(chains: ConfiguredChains, caip2: string, address: string): Unit | undefined {
  const chain = chains.get(caip2);
  return chain && tokenAssets(chain).get(networkOf(caip2).address.canonical(address));
}

/** A mint is a key: whoever configured it on one chain of Solana knows it wherever a transaction without a chain may go. */
export function mintUnit(chains: ConfiguredChains, caip2: string | undefined, mint: string): Unit | undefined {
  if (mint === '' || mint === ADDRESS_TABLE_LOOKUP) return undefined;
  if (caip2 !== undefined) return configuredToken(chains, caip2, mint);
  for (const chain of chains.values()) {
    const unit = chain.namespace === 'solana' ? configuredToken(chains, chain.caip2, mint) : undefined;
    if (unit !== undefined) return unit;
  }
  return undefined;
}
