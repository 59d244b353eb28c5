import type { ChainAsset, ChainSettings } from '../../lib/chain.ts';
import { toChecksum } from '../shapes/chain.ts';

const NATIVE = {
  eip155: { coinType: '60', symbol: 'ETH', name: 'Ether', decimals: 18 },
  solana: { coinType: '501', symbol: 'SOL', name: 'Solana', decimals: 9 },
} as const;

/** The coin in which a chain takes its fees, as the operator named it or else by its best known name. */
export function nativeAsset({ caip2, namespace, assets }: ChainSettings): ChainAsset {
  const { coinType, ...known } = NATIVE[namespace];
  const caip19 = `${caip2}/slip44:${coinType}`;
  return assets.find((asset) => asset.caip19 === caip19) ?? { caip19, ...known };
}

/** The configured tokens of a chain, by address in lower case, or on Solana by mint. */
export function tokenAssets({ assets }: ChainSettings): ReadonlyMap<string, ChainAsset> {
  return new Map(
    assets.flatMap((asset): (readonly [string, ChainAsset])[] => {
      const [, place = '', kind, reference = ''] = /^(.*\/)(erc20|token):(.+)$/.exec(asset.caip19) ?? [];
      if (kind === undefined) return [];
      if (kind === 'token') return [[reference, asset]];
      // Answers have the spelling with the checksum, whatever the operator wrote.
      return [[reference.toLowerCase(), { ...asset, caip19: `${place}erc20:${toChecksum(reference)}` }]];
    }),
  );
}
