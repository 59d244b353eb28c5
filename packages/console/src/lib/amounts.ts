/** Amounts are whole numbers of the smallest unit; no floating point touches them. */

const UNLIMITED: ReadonlySet<bigint> = new Set([2n ** 256n - 1n, 2n ** 160n - 1n]);
const LIST_DECIMALS = 6;

/** What contracts take for "no limit". */
export const isUnlimited = (value: bigint): boolean => UNLIMITED.has(value);

/** Thousands by commas. Takes a decimal number as text and leaves its fraction alone. */
export function withThousands(number: string): string {
  const [, sign = '', whole = '', rest = ''] = /^(-?)([0-9]+)(.*)$/s.exec(number) ?? [];
  if (whole === '') return number;
  return sign + whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ',') + rest;
}

/** Exact: every decimal that is not zero. */
export function formatUnits(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return withThousands(`${value < 0n ? '-' : ''}${whole}${fraction && `.${fraction}`}`);
}

/** For lists: cut after six decimals, never rounded; dots say that there is more. */
export function cutDecimals(number: string, decimals = LIST_DECIMALS): string {
  const point = number.indexOf('.');
  if (point < 0) return number;
  const fraction = number.slice(point + 1).replace(/0+$/, '');
  if (fraction.length <= decimals)
    return fraction === '' ? number.slice(0, point) : number.slice(0, point + 1) + fraction;
  const kept = fraction.slice(0, decimals).replace(/0+$/, '');
  return kept === '' ? `${number.slice(0, point)}.0…` : `${number.slice(0, point)}.${kept}…`;
}

/** What somebody typed, in the smallest unit; undefined when it is no number or has too many decimals. */
export function parseUnits(text: string, decimals: number): bigint | undefined {
  const match = /^([0-9]{1,60})(?:\.([0-9]*))?$/.exec(text.trim().replaceAll(',', ''));
  const [, whole, fraction = ''] = match ?? [];
  if (whole === undefined || fraction.length > decimals) return undefined;
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}

/** Bytes for people, with decimal prefixes. */
export function formatBytes(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  if (unit === 0) return `${withThousands(String(bytes))} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** "1 delivery", "3 deliveries". */
export const count = (number: number, one: string, many = `${one}s`): string =>
  `${withThousands(String(number))} ${number === 1 ? one : many}`;
