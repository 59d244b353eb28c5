import { daysFromCivil, daysInMonth } from './calendar.ts';

const RFC3339 =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?(?:[Zz]|[+-]00:00)$/;

/** Instants are nanoseconds since 1970, because a literal may carry nine fraction digits (protocol/policies 7.1). */
export const instantFromMs = (ms: number): bigint => BigInt(ms) * 1_000_000n;

/** An RFC 3339 text with offset zero, as an instant; undefined when it is none. */
export function parseTimestamp(text: string): bigint | undefined {
  const found = RFC3339.exec(text);
  if (found === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = found.slice(1, 7).map(Number);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const seconds = ((daysFromCivil(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
  return BigInt(seconds) * 1_000_000_000n + BigInt((found[7] ?? '').padEnd(9, '0'));
}
