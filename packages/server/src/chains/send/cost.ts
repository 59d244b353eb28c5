import { nativeCaip19 } from '../assets.ts';
import { networkOf } from '../networks.ts';
import type { ChainSettings } from '../settings.ts';
import { NATIVE_DIGITS } from '../settings.ts';
import type { Send, SendAttempt } from './model.ts';

/** More than any limit: sums of it stay within what databases count with. */
const COUNTED_MAX = 10n ** 15n;

/** Whether the operator's key pays for a send, and not an address of the organization. */
export const isPaidByOperator = ({ request, purpose }: Pick<Send, 'request' | 'purpose'>): boolean =>
  purpose === 'earn-deploy' ||
  (request.kind === 'ethereum' && request.sponsored !== undefined) ||
  (request.kind === 'solana' && request.isSponsored);

/**
 * What an attempt has to say about its cost. The price of the first one serves for all, so that differences cancel out.
 */
export function costTerms(chain: ChainSettings, send: Send, most: bigint): Pick<SendAttempt, 'maxCost' | 'usdPrice'> {
  if (!isPaidByOperator(send)) return {};
  const [first] = send.attempts;
  const usdPrice = first === undefined ? chain.prices.get(nativeCaip19(chain).toLowerCase()) : first.usdPrice;
  return { maxCost: String(most), ...(usdPrice !== undefined && { usdPrice }) };
}

/**
 * What a send costs the operator as it stands: what was paid for it once it is in a block, the most that it can come to
 * while it may still land, and nothing once it is let go without a block. What a node refused may still land: on Solana
 * the sender is told the operator's signature and can hand it over. A node is not believed that more was paid than was
 * offered.
 */
export function costOf(send: Pick<Send, 'caip2' | 'state' | 'attempts' | 'block' | 'isOpen'>): SponsoredCost {
  const { caip2, state, attempts, block, isOpen } = send;
  const offered = attempts.reduce((highest, { maxCost = '0' }) => larger(highest, BigInt(maxCost)), 0n);
  const paid = block === undefined || block.fee === '' ? offered : smaller(BigInt(block.fee), offered);
  const smallest = block === undefined && state === 'FAILED' && !isOpen ? 0n : paid;
  const { smallestPerBillionth } = networkOf(caip2).coin;
  const native = smaller(roundedUp(smallest, smallestPerBillionth), COUNTED_MAX);
  return { native, usdMicros: smaller(worthOf(native, attempts[0]?.usdPrice), COUNTED_MAX) };
}

/** In millionths of a dollar, rounded up. */
function worthOf(native: bigint, usdPrice = '0'): bigint {
  const [whole = '', fraction = ''] = usdPrice.split('.');
  const digits = fraction.length + NATIVE_DIGITS - USD_DIGITS;
  return roundedUp(native * BigInt(whole + fraction), 10n ** BigInt(digits));
}

const roundedUp = (amount: bigint, unit: bigint): bigint => (amount + unit - 1n) / unit;
const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** What sends cost the operator. */
export interface SponsoredCost {
  /** In billionths of the native asset: gwei, lamports. */
  readonly native: bigint;
  /** In millionths of a US dollar, at the operator's price; 0 where there was none. */
  readonly usdMicros: bigint;
}

export const USD_DIGITS = 6;
