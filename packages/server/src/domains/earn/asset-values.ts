import { toChecksum } from '../../chains/ethereum/address.ts';
import type { ChainSettings } from '../../chains/settings.ts';
import type { QueryContext } from '../../engine/define.ts';
import { formatUnits, usdOf } from '../../lib/amount.ts';

interface Display {
  readonly usd: string;
  readonly crypto: string;
}

/** An asset of a chain, and how amounts of it are shown. */
export interface AssetValues {
  readonly caip19: string;
  /** Empty for an amount that nobody tells. */
  readonly display: (amount: bigint | undefined) => Display;
}

export interface Token {
  readonly caip2: string;
  readonly assetAddress: string;
  readonly assetDecimals: number;
}

export const tokenName = (caip2: string, assetAddress: string): string => `${caip2}/erc20:${toChecksum(assetAddress)}`;

/** A chain that is not configured any more tells no price. */
export async function assetValues(
  { earn }: QueryContext,
  chain: ChainSettings | undefined,
  { caip2, assetAddress, assetDecimals }: Token,
): Promise<AssetValues> {
  const caip19 = tokenName(caip2, assetAddress);
  const price = chain && (await earn.priceOf(chain, caip19));
  return {
    caip19,
    display: (amount) =>
      amount === undefined
        ? { usd: '', crypto: '' }
        : { usd: usdOf(amount, assetDecimals, price), crypto: formatUnits(amount, assetDecimals) },
  };
}

const FRACTION_DIGITS = 18;

/** Whether an amount is worth so many US dollars; one without a price is, since nobody can tell. */
export function isWorth({ display }: AssetValues, amount: bigint, least: string | undefined): boolean {
  const { usd } = display(amount);
  return usd === '' || least === undefined || inFractions(usd) >= inFractions(least);
}

function inFractions(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(FRACTION_DIGITS, '0'));
}
