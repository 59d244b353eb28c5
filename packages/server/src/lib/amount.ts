const CENTS_DIGITS = 2;
const PRICE = /^([0-9]+)(?:\.([0-9]+))?$/;

/** An amount in whole units: 1500000 of a token with 6 decimals is `1.5`. No zeros at the end, no exponent. */
export function formatUnits(amount: bigint, decimals: number): string {
  const fixed = toFixed(amount, decimals);
  return fixed.includes('.') ? fixed.replace(/\.?0+$/, '') : fixed;
}

/** The other way round, for a decimal number with no more digits behind its point than there are decimals. */
export function toUnits(text: string, decimals: number): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** What an amount is worth at a price for one whole unit, to the nearest cent. Empty where there is no price. */
export function usdOf(amount: bigint, decimals: number, price: string | undefined): string {
  const [, whole, fraction = ''] = PRICE.exec(price ?? '') ?? [];
  if (whole === undefined) return '';
  const digits = decimals + fraction.length;
  const worth = amount * BigInt(whole + fraction);
  const unit = 10n ** BigInt(digits);
  const magnitude = worth < 0n ? -worth : worth;
  const cents = (magnitude * 10n ** BigInt(CENTS_DIGITS) + unit / 2n) / unit;
  return toFixed(worth < 0n ? -cents : cents, CENTS_DIGITS);
}

/** A whole number with its point moved to the left. */
function toFixed(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? '-' : '';
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
