import { someAddress } from './chain-text.ts';
import type { ContractReader } from './contract-reader.ts';
import { compounded, fromWad, ratio, WAD } from './rates.ts';
import { type Market, type MarketParams, morpho } from './views.ts';

// Morpho Blue's arithmetic (its MathLib, SharesMathLib and accrual), in whole numbers as the contract does it.

const VIRTUAL_SHARES = 10n ** 6n;
const VIRTUAL_ASSETS = 1n;

/** What shares of a market's supply are worth. */
export const assetsOf = (shares: bigint, { totalSupplyAssets, totalSupplyShares }: Market): bigint =>
  (shares * (totalSupplyAssets + VIRTUAL_ASSETS)) / (totalSupplyShares + VIRTUAL_SHARES);

/** What is in the market and nobody has borrowed. */
export const availableIn = ({ totalSupplyAssets, totalBorrowAssets }: Market): bigint =>
  totalSupplyAssets > totalBorrowAssets ? totalSupplyAssets - totalBorrowAssets : 0n;

/** e^(rate x seconds) - 1 by its first three terms. */
function taylorCompounded(ratePerSecond: bigint, seconds: bigint): bigint {
  const first = ratePerSecond * seconds;
  const second = (first * first) / (2n * WAD);
  const third = (second * first) / (3n * WAD);
  return first + second + third;
}

/** The market as it would be had somebody touched it now: it is stored as it was at its last update. */
export function accrue(market: Market, ratePerSecond: bigint, nowSeconds: number): Market {
  const elapsed = BigInt(nowSeconds) - market.lastUpdate;
  if (elapsed <= 0n) return market;
  const interest = (market.totalBorrowAssets * taylorCompounded(ratePerSecond, elapsed)) / WAD;
  const totalSupplyAssets = market.totalSupplyAssets + interest;
  const fee = (interest * market.fee) / WAD;
  const feeShares = (fee * (market.totalSupplyShares + VIRTUAL_SHARES)) / (totalSupplyAssets - fee + VIRTUAL_ASSETS);
  return {
    ...market,
    totalBorrowAssets: market.totalBorrowAssets + interest,
    totalSupplyAssets,
    totalSupplyShares: market.totalSupplyShares + feeShares,
    lastUpdate: BigInt(nowSeconds),
  };
}

/** What suppliers of a market earn in a year at its rate of now (protocol/earn 3.3). */
export function supplyRate({ totalBorrowAssets, totalSupplyAssets, fee }: Market, ratePerSecond: bigint): number {
  const utilization = ratio(totalBorrowAssets, totalSupplyAssets);
  return compounded(fromWad(ratePerSecond)) * utilization * (1 - fromWad(fee));
}

export interface MarketState {
  readonly params: MarketParams;
  /** With the interest up to now. */
  readonly market: Market;
  /** Undefined where the market's own model does not tell. */
  readonly rate: number | undefined;
}

const FEE_MAX = WAD / 4n;

/** A market as it is now; undefined where there is none, or what it says cannot be. */
export async function readMarket(
  reader: ContractReader,
  morphoAddress: string,
  id: `0x${string}`,
  nowSeconds: number,
): Promise<MarketState | undefined> {
  const [market, params] = await Promise.all([
    reader.read(morpho.market, morphoAddress, id),
    reader.read(morpho.idToMarketParams, morphoAddress, id),
  ]);
  if (market === undefined || params === undefined || market.lastUpdate === 0n || market.fee > FEE_MAX)
    return undefined;
  if (someAddress(params.irm) === undefined || market.totalBorrowAssets === 0n) return { params, market, rate: 0 };
  const ratePerSecond = await reader.read(morpho.borrowRateView, params.irm, params, market);
  if (ratePerSecond === undefined) return { params, market, rate: undefined };
  const accrued = accrue(market, ratePerSecond, nowSeconds);
  return { params, market: accrued, rate: supplyRate(accrued, ratePerSecond) };
}
