import type { AssetFee } from '../asset-types.ts';

/** Tempo, and its test network: fees are paid in a token, whatever the type of the transaction. */
export const TEMPO_CHAIN_IDS = [4217n, 42431n];
/** Prices of gas on Tempo are in 10^-18 dollars, fee tokens in 10^-6. */
const ATTODOLLARS_PER_UNIT = 10n ** 12n;

export const tokenFee = (chainId: bigint, token: string | undefined, attodollars: bigint): AssetFee => ({
  chain: 'eip155',
  chainReference: String(chainId),
  kind: 'erc20',
  assetReference: token,
  amount: (attodollars + ATTODOLLARS_PER_UNIT - 1n) / ATTODOLLARS_PER_UNIT,
});
