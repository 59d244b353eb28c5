import { expect, test } from 'vitest';
import { CLOCK_CHANGES } from './generators/time-expressions.ts';
import { verdict } from './reference/language.ts';
import { offsetMsAt } from './reference/time-zone.ts';
import { daysInMonth, parseTimestamp } from './reference/timestamp.ts';

test.each(CLOCK_CHANGES)('the clock of $zone changes at $at', ({ zone, at }) => {
  const atMs = Date.parse(at);
  expect(offsetMsAt(zone, atMs)).not.toBe(offsetMsAt(zone, atMs - 1));
});

test.each([
  // Samoa had no 30 December 2011: what was due on that Friday comes a day later.
  ['0 9 30 12 *', '1h', 'Pacific/Apia', '2011-12-30T19:00:00Z', 'true'],
  ['0 9 * * 5', '1h', 'Pacific/Apia', '2011-12-30T19:59:59Z', 'true'],
  ['0 9 * * 5', '1h', 'Pacific/Apia', '2011-12-29T19:00:00Z', 'false'],
  ['30 * 30 12 *', '1h', 'Pacific/Apia', '2011-12-30T19:30:00Z', 'false'],
  ['0 9 30 12 *', '7d', 'Pacific/Apia', '2012-01-06T18:59:59Z', 'true'],
  ['0 9 30 12 *', '7d', 'Pacific/Apia', '2012-01-06T19:00:00Z', 'false'],
  // Lord Howe skips half an hour: 02:15 becomes 02:45.
  ['15 2 * * *', '1m', 'Australia/Lord_Howe', '2022-10-01T15:45:00Z', 'true'],
  ['15 2 * * *', '1m', 'Australia/Lord_Howe', '2022-10-01T15:15:00Z', 'false'],
  ['15 * * * *', '1m', 'Australia/Lord_Howe', '2022-10-01T15:45:00Z', 'false'],
  // Brazil skipped midnight and repeated the hour before it.
  ['0 0 * * *', '1m', 'America/Sao_Paulo', '2018-11-04T03:00:00Z', 'true'],
  ['30 23 * * *', '1m', 'America/Sao_Paulo', '2019-02-17T01:30:00Z', 'true'],
  ['30 23 * * *', '1m', 'America/Sao_Paulo', '2019-02-17T02:30:00Z', 'false'],
  ['30 * * * *', '1m', 'America/Sao_Paulo', '2019-02-17T02:30:00Z', 'true'],
  // An hour field that lists every hour is restricted all the same.
  ['30 0-23 * * *', '1m', 'America/Sao_Paulo', '2019-02-17T02:30:00Z', 'false'],
  // A day of the month and a day of the week: either; with one of them open: both.
  ['0 0 13 * 5', '1d', 'UTC', '2024-12-13T12:00:00Z', 'true'],
  ['0 0 13 * 5', '1d', 'UTC', '2024-12-20T12:00:00Z', 'true'],
  ['0 0 13 * *', '1d', 'UTC', '2024-12-20T12:00:00Z', 'false'],
  ['0 0 31 2 *', '7d', 'UTC', '2024-03-02T12:00:00Z', 'false'],
])('CronSpan %s %s %s at %s is %s', (cron, duration, zone, now, expected) => {
  expect(verdict(`CronSpan('${cron}', '${duration}', '${zone}')`, 'time', { time: { now } })).toBe(expected);
});

test.each([
  ['1970-01-01T00:00:00Z', 0n],
  ['1970-01-01T00:00:00.000000001z', 1n],
  ['1969-12-31t23:59:59.5-00:00', -500_000_000n],
  ['2000-02-29T00:00:00+00:00', 951_782_400_000_000_000n],
  ['0000-02-29T00:00:00Z', -62_162_121_600_000_000_000n],
  ['0099-12-31T00:00:00Z', -59_011_545_600_000_000_000n],
  ['1900-02-29T00:00:00Z', undefined],
])('Timestamp %s', (text, expected) => expect(parseTimestamp(text)).toBe(expected));

test('February has 29 days in leap years only', () => {
  expect([2023, 2024, 2000, 1900].map((year) => daysInMonth(year, 2))).toEqual([28, 29, 29, 28]);
});
