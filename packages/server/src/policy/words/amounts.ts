import { formatUnits } from '../../lib/amount.ts';
import type { Unit } from './names.ts';

/** Between an amount and its unit, so that no line breaks there. */
const NO_BREAK_SPACE = '\u00a0';

/** Amounts that contracts read as "no limit". */
const UNLIMITED: ReadonlySet<bigint> = new Set([2n ** 256n - 1n, 2n ** 160n - 1n]);

export const isUnlimited = (amount: bigint): boolean => UNLIMITED.has(amount);

/** Digits in groups of three, all decimals that are not zero. */
export function groupDigits(decimal: string): string {
  const [whole = '', fraction] = decimal.split('.');
  const grouped = whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** An amount in whole units; in the smallest unit where its decimals are not known. */
export function formatAmount(amount: bigint, unit: Unit | undefined): string {
  if (isUnlimited(amount)) return unit === undefined ? 'unlimited' : `unlimited ${unit.symbol}`;
  if (unit === undefined) return String(amount);
  return `${groupDigits(formatUnits(amount, unit.decimals))}${NO_BREAK_SPACE}${unit.symbol}`;
}
