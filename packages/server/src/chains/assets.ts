import { networkOf } from './networks.ts';
import type { ChainAsset, ChainSettings } from './settings.ts';

/** CAIP-19 of the coin in which a chain takes its fees. */
export const nativeCaip19 = ({ caip2 }: Pick<ChainSettings, 'caip2'>): string =>
  `${caip2}/slip44:${networkOf(caip2).coin.type}`;

/** The coin in which a chain takes its fees, as the operator named it or else by its best known name. */
export function nativeAsset(chain: ChainSettings): ChainAsset {
  const caip19 = nativeCaip19(chain);
  const { symbol, name, decimals } = networkOf(chain.caip2).coin;
  return chain.assets.find((asset) => asset.caip19 === caip19) ?? { caip19, symbol, name, decimals };
}

/** The configured tokens of a chain, by address in lower case, or on Solana by mint. */
export function tokenAssets({ caip2, assets }: ChainSettings): ReadonlyMap<string, ChainAsset> {
  const { tokenStandard, address } = networkOf(caip2);
  const prefix = `${caip2}/${tokenStandard}:`;
  return new Map(
    assets
      .filter(({ caip19 }) => caip19.startsWith(prefix))
      .map((asset) => {
        const reference = asset.caip19.slice(prefix.length);
        // Answers have the spelling with the checksum, whatever the operator wrote.
        return [address.canonical(reference), { ...asset, caip19: `${prefix}${address.shown(reference)}` }];
      }),
  );
}
