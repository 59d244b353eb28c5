import { toChecksum } from '../chains/ethereum/address.ts';
import { strong, type TextPart } from './text.ts';

const NO_BREAK = '\u00a0';

/**
 * Whether an amount is as good as no limit: the upper half of what its type holds. Exactly the largest number would not do:
 * one less is worth as much.
 */
export const isUnlimited = (amount: bigint, bits: 256 | 160 | 96 | 64 = 256): boolean =>
  amount >> BigInt(bits - 1) > 0n;

/** What an amount is counted in. */
export interface Unit {
  readonly symbol: string;
  readonly decimals: number;
}

/** Exact: every decimal that is not zero, commas by thousands. */
export function decimalText(amount: bigint, decimals: number): string {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(?:\d{3})+$)/g, ',');
  const fraction = decimals === 0 ? '' : digits.slice(-decimals).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** An amount with its unit, which must not stand alone in the next line. */
export const amountText = (amount: bigint, { symbol, decimals }: Unit): string =>
  `${decimalText(amount, decimals)}${NO_BREAK}${symbol}`;

export const amount = (value: bigint, unit: Unit): TextPart => strong(amountText(value, unit));

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;

/** As it is shown: addresses of EVM chains with their checksum. */
export const shownAddress = (address: string): string => (EVM_ADDRESS.test(address) ? toChecksum(address) : address);

/** `0x`, six, dots, six; other addresses alike without the prefix. */
export function shortAddress(address: string): string {
  const shown = shownAddress(address);
  const head = shown.startsWith('0x') ? 8 : 6;
  return shown.length <= head + 7 ? shown : `${shown.slice(0, head)}…${shown.slice(-6)}`;
}

/** An address that nobody here has a name for. */
export const addressPart = (address: string, caip2?: string): TextPart => ({
  text: shortAddress(address),
  strong: true,
  address: shownAddress(address),
  ...(caip2 !== undefined && { caip2 }),
});

/** What all addresses of a kind begin with. */
const COMMON_START = /^(?:0x|(?:bc|tb|bcrt)1[qp]|T)?/;
const COMPARED = 4;
const ADDRESS_MIN = 16;

/** The beginning of an address with the characters that people compare. */
export const startOf = (address: string): string =>
  address.slice(0, (COMMON_START.exec(address)?.[0].length ?? 0) + COMPARED);

/**
 * What people compare of an address in its one spelling: the four characters behind what all addresses of its kind begin
 * with, and the last four. Undefined for what is too short to be one.
 */
export const looksOf = (address: string): string | undefined =>
  address.length < ADDRESS_MIN ? undefined : `${startOf(address).slice(-COMPARED)}${address.slice(-COMPARED)}`;

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** `1 January 2027`, in UTC; undefined for what no calendar has. */
export function dateText(atMs: number): string | undefined {
  const date = new Date(atMs);
  if (Number.isNaN(date.getTime())) return undefined;
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** `March`, or with its year where that is not this one. */
export function monthText(atMs: number, nowMs: number): string {
  const [date, now] = [new Date(atMs), new Date(nowMs)];
  const month = MONTHS[date.getUTCMonth()] ?? '';
  return date.getUTCFullYear() === now.getUTCFullYear() ? month : `${month} ${date.getUTCFullYear()}`;
}

const SPANS: readonly (readonly [seconds: number, one: string])[] = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** `15 minutes`, `1 day`: in the largest unit that is exact. */
export function durationText(seconds: number): string {
  const [size, one] = SPANS.find(([length]) => seconds >= length && seconds % length === 0) ?? [1, 'second'];
  const many = seconds / size;
  return `${many.toLocaleString('en-US')} ${one}${many === 1 ? '' : 's'}`;
}

/** The text of bytes: how many they are. */
export const byteCount = (hex: string): number => (hex.startsWith('0x') ? hex.length - 2 : hex.length) / 2;
