// protocol/policies 7.1. Written out by hand because Date.parse accepts more and rolls invalid days over.

const SHAPE = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|[+-]00:00)$/;

/** Nanoseconds since 1970, or undefined when the text is not an RFC 3339 instant with zero offset. */
export function parseTimestamp(text: string): bigint | undefined {
  const match = SHAPE.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const seconds = ((daysSinceEpoch(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
  const nanoseconds = (match[7] ?? '').padEnd(9, '0');
  return BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds);
}

const isLeapYear = (year: number): boolean => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function daysSinceEpoch(year: number, month: number, day: number): number {
  // 400 Gregorian years are 146,097 days; counting from 400 years later keeps Date away from its two-digit years.
  return Date.UTC(year + 400, month - 1, day) / 86_400_000 - 146_097;
}
