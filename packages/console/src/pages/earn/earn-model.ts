import type { ListEarnEnabledVaultsResponse, ListEarnPositionsResponse } from '@custos/sdk';

export type EnabledVault = ListEarnEnabledVaultsResponse['enabledVaults'][number];
export type Position = ListEarnPositionsResponse['positions'][number];

/** One value of a position. */
export interface HistoryPoint {
  readonly wrapperAddress?: string;
  readonly vaultAddress?: string;
  readonly address: string;
  readonly at: string;
  readonly assets: string;
}

export const chainOf = (caip19: string): string => caip19.slice(0, caip19.indexOf('/'));

const PERCENT_DECIMALS = 2;

/** Rates come as fractions, such as 0.0812; an empty one is not known. */
export function percent(fraction: string): string {
  const value = Number(fraction);
  return fraction === '' || !Number.isFinite(value) ? 'not known' : `${(value * 100).toFixed(PERCENT_DECIMALS)} %`;
}

/** Fees are hundredths of a percent. */
export const feePercent = (bps: string): string => `${(Number(bps) / 100).toFixed(PERCENT_DECIMALS)} %`;

export const providerName = (provider: string | undefined): string =>
  provider === 'EARN_PROVIDER_AAVE' ? 'Aave' : provider === 'EARN_PROVIDER_MORPHO' ? 'Morpho' : 'ERC-4626';

/** What a position gained: what it is worth and what came out, less what went in. */
export function gainOf({ currentValue, totalWithdrawn, totalDeposited }: Position): bigint {
  return BigInt(currentValue) + BigInt(totalWithdrawn) - BigInt(totalDeposited);
}
