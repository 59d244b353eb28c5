/** How rates become text. They are floating-point numbers, since nothing is paid by them. */
export const SECONDS_PER_YEAR = 31_536_000;
export const WAD = 10n ** 18n;
const RAY_DIGITS = 27;
const WAD_DIGITS = 18;
const DECIMALS_SHOWN = 12;
/** A million percent. What claims more is no rate. */
const RATE_MAX = 10_000;

/** How large a part is; 0 of nothing. */
export const ratio = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : Number((part * 10n ** 21n) / whole) / 1e21;

export const fromWad = (value: bigint): number => Number(value) / 10 ** WAD_DIGITS;
export const fromRay = (value: bigint): number => Number(value) / 10 ** RAY_DIGITS;

/** A year of a rate per second that is compounded all the time. */
export const compounded = (perSecond: number): number => Math.expm1(perSecond * SECONDS_PER_YEAR);

/** A year of a yearly rate that is compounded every second (protocol/earn 3.3, Aave). */
export const compoundedEverySecond = (perYear: number): number =>
  Math.expm1(SECONDS_PER_YEAR * Math.log1p(perYear / SECONDS_PER_YEAR));

/** A year at the pace at which a price went from one value to another within some seconds. */
export const annualised = (before: bigint, after: bigint, seconds: number): number =>
  Math.expm1((Math.log1p(ratio(after - before, before)) * SECONDS_PER_YEAR) / seconds);

/** A decimal fraction without exponent; empty for what is not known or cannot be. */
export function rateText(rate: number | undefined): string {
  if (rate === undefined || !Number.isFinite(rate) || rate < -1 || rate > RATE_MAX) return '';
  const text = rate.toFixed(DECIMALS_SHOWN).replace(/\.?0+$/, '');
  return text === '-0' ? '0' : text;
}
