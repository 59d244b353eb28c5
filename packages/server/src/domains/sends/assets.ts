import { type ChainAsset, type ChainSettings, nativeCaip19 } from '../../chains/settings.ts';
import { toChecksum } from '../../chains/shapes.ts';

const NATIVE = {
  eip155: { symbol: 'ETH', name: 'Ether', decimals: 18 },
  solana: { symbol: 'SOL', name: 'Solana', decimals: 9 },
} as const;

/** The coin in which a chain takes its fees, as the operator named it or else by its best known name. */
export function nativeAsset(chain: ChainSettings): ChainAsset {
  const caip19 = nativeCaip19(chain);
  return chain.assets.find((asset) => asset.caip19 === caip19) ?? { caip19, ...NATIVE[chain.namespace] };
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
