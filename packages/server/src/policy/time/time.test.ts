import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { civilFromDays, daysFromCivil, daysInMonth, weekdayFromDays } from './calendar.ts';
import { type Cron, inCronSpan, parseCron } from './cron.ts';
import { parseTimestamp } from './timestamp.ts';
import { createZone, findZone, type Zone } from './zone.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('calendar', () => {
  test('agrees with Date where Date is right', () => {
    fc.assert(
      fc.property(fc.integer({ min: -700_000, max: 2_900_000 }), (days) => {
        const date = new Date(days * DAY);
        const { month, day } = civilFromDays(days);
        expect([month, day]).toEqual([date.getUTCMonth() + 1, date.getUTCDate()]);
        expect(weekdayFromDays(days)).toBe(date.getUTCDay());
        expect(daysFromCivil(date.getUTCFullYear(), month, day)).toBe(days);
        expect(day).toBeLessThanOrEqual(daysInMonth(date.getUTCFullYear(), month));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('timestamps', () => {
  test.each([
    ['1970-01-01T00:00:00Z', 0n],
    ['2026-03-01t00:00:00z', BigInt(Date.UTC(2026, 2, 1)) * 1_000_000n],
    ['2024-02-29T23:59:59.123456789Z', BigInt(Date.UTC(2024, 1, 29, 23, 59, 59)) * 1_000_000n + 123_456_789n],
    ['2026-03-01T00:00:00.5+00:00', BigInt(Date.UTC(2026, 2, 1)) * 1_000_000n + 500_000_000n],
    ['0001-01-01T00:00:00Z', -62_135_596_800_000_000_000n],
    ['0099-12-31T00:00:00Z', BigInt(Date.parse('0099-12-31T00:00:00Z')) * 1_000_000n],
    ['9999-12-31T23:59:59.999999999-00:00', 253_402_300_799_999_999_999n],
  ])('%s', (text, instant) => {
    expect(parseTimestamp(text)).toBe(instant);
  });

  test.each([
    '2026-03-01',
    '2026-03-01 00:00:00Z',
    '2026-03-01T00:00:00',
    '2026-03-01T00:00Z',
    '2026-03-01T00:00:00+01:00',
    '2026-03-01T00:00:00.Z',
    '2026-03-01T00:00:00.1234567890Z',
    '2026-03-01T24:00:00Z',
    '2026-03-01T23:60:00Z',
    '2016-12-31T23:59:60Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-03-00T00:00:00Z',
    '26-03-01T00:00:00Z',
    '2026-03-01T00:00:00Z ',
    '２０２６-03-01T00:00:00Z',
  ])('%s is none', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });
});

const zoneOf = (name: string): Zone => {
  const zone = findZone(name);
  if (zone === undefined) throw new Error(`no zone ${name}`);
  return zone;
};

describe('zones', () => {
  test.each(['UTC', 'Europe/Berlin', 'america/new_york', 'Etc/GMT+5', 'America/Argentina/Buenos_Aires', 'EST5EDT'])(
    '%s is known',
    (name) => {
      expect(findZone(name)).toBeDefined();
    },
  );

  test.each([
    '',
    '+01:00',
    '-05',
    'Z+1',
    'Europe',
    'Europe/',
    '/Berlin',
    'Europe/Berlin ',
    'Mars/Olympus',
    '..',
    "a'b",
  ])('%j is not', (name) => {
    expect(findZone(name)).toBeUndefined();
  });

  test('segments cover the time without holes and change where the clocks do', () => {
    const from = Date.parse('2025-03-05T00:00:00Z');
    const segments = zoneOf('America/New_York').segments(from, from + 9 * DAY);
    expect(segments.map(({ offsetMs }) => offsetMs / HOUR)).toEqual([-5, -4]);
    expect(segments[0]?.startMs).toBeLessThanOrEqual(from);
    expect(segments[0]?.endMs).toBe(Date.parse('2025-03-09T07:00:00Z'));
    expect(segments[1]?.startMs).toBe(segments[0]?.endMs);
    expect(segments[1]?.endMs).toBeGreaterThan(from + 9 * DAY);
  });

  test('a change at midnight UTC is found, and many days may be asked for', () => {
    const change = 20_000 * DAY;
    const zone = createZone((atMs) => (atMs < change ? 0 : HOUR));
    for (let day = 19_900; day < 20_100; day += 1) zone.segments(day * DAY, (day + 8) * DAY);
    const segments = zone.segments(change - 3 * DAY, change + DAY);
    expect(segments.map(({ endMs, offsetMs }) => [endMs, offsetMs])[0]).toEqual([change, 0]);
    expect(segments[1]?.offsetMs).toBe(HOUR);
  });
});

/**
 * What a clock on the wall shows, as minutes since 1970; asked from the runtime in another way than the engine does.
 */
function wallClock(timeZone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return (atMs) => Math.floor(Date.parse(`${format.format(atMs).replace(' ', 'T')}Z`) / MINUTE);
}

function matches(cron: Cron, wallMinutes: number): boolean {
  const date = new Date(wallMinutes * MINUTE);
  const has = (field: Cron['minute'], value: number) => field.isAny || ((field.bits >> BigInt(value)) & 1n) === 1n;
  const byMonth = has(cron.dayOfMonth, date.getUTCDate());
  const byWeek = has(cron.dayOfWeek, date.getUTCDay());
  const isDay = cron.dayOfMonth.isAny || cron.dayOfWeek.isAny ? byMonth && byWeek : byMonth || byWeek;
  return (
    isDay &&
    has(cron.month, date.getUTCMonth() + 1) &&
    has(cron.hour, date.getUTCHours()) &&
    has(cron.minute, date.getUTCMinutes())
  );
}

/** Every fire between two instants, found by walking through the minutes: slow and plain. */
function firesByWalking(cron: Cron, timeZone: string, fromMs: number, toMs: number): number[] {
  const wall = wallClock(timeZone);
  const fires: number[] = [];
  const lookBack = 26 * HOUR;
  const seen = new Set<number>();
  let before: number | undefined;
  for (let at = fromMs - lookBack; at <= toMs; at += MINUTE) {
    const shown = wall(at);
    if (cron.hour.isAny) {
      if (matches(cron, shown)) fires.push(at);
    } else {
      if (!seen.has(shown) && matches(cron, shown)) fires.push(at);
      // A clock set forward skips wall times: they fire when they would have come.
      for (let skipped = (before ?? shown) + 1; skipped < shown; skipped += 1) {
        if (matches(cron, skipped) && !seen.has(skipped))
          fires.push(at + (skipped - ((before as number) + 1)) * MINUTE);
        seen.add(skipped);
      }
      seen.add(shown);
    }
    before = shown;
  }
  return fires.filter((fire) => fire >= fromMs && fire <= toMs);
}

const cronOf = (text: string): Cron => {
  const cron = parseCron(text);
  if (typeof cron === 'string') throw new Error(cron);
  return cron;
};

describe('windows', () => {
  /** Instants around which clocks were changed, by an hour, by half an hour, by a whole day, or not at all. */
  const places = [
    ['America/New_York', '2025-03-09T07:00:00Z'],
    ['America/New_York', '2025-11-02T06:00:00Z'],
    ['Europe/Berlin', '2026-03-29T01:00:00Z'],
    ['Europe/Berlin', '2026-10-25T01:00:00Z'],
    ['Australia/Lord_Howe', '2025-04-05T15:00:00Z'],
    ['Australia/Lord_Howe', '2025-10-04T15:30:00Z'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z'],
    ['Asia/Kathmandu', '2025-06-01T00:00:00Z'],
    ['America/Santiago', '2025-09-07T04:00:00Z'],
  ] as const;
  const schedules = fc
    .tuple(
      fc.constantFrom('*', '0', '30', '15,45', '0-59', '59'),
      fc.constantFrom('*', '0', '1', '2', '1-3', '23', '0,12', '0-23'),
      fc.constantFrom('*', '*', '1', '30', '9,25'),
      fc.constant('*'),
      fc.constantFrom('*', '*', '0', '1-5', '6'),
    )
    .map((fields) => fields.join(' '));

  test('a window is open exactly when a fire lies less than its length back', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...places),
        schedules,
        fc.integer({ min: -26 * 60, max: 26 * 60 }),
        fc.constantFrom(1, 10, 59, 60, 150),
        fc.integer({ min: -1, max: 1 }),
        ([timeZone, around], schedule, shift, minutes, nudgeMs) => {
          const nowMs = Date.parse(around) + shift * MINUTE + nudgeMs;
          const cron = cronOf(schedule);
          const durationMs = minutes * MINUTE;
          // The walk runs on whole minutes, the fires; now may lie between them.
          const first = Math.floor((nowMs - durationMs) / MINUTE) * MINUTE;
          const fires = firesByWalking(cron, timeZone, first, nowMs + HOUR);
          const expected = fires.some((fire) => fire <= nowMs && nowMs < fire + durationMs);
          expect(inCronSpan(cron, durationMs, zoneOf(timeZone), nowMs)).toBe(expected);
        },
      ),
      { numRuns: 200 },
    );
  });

  test.each([
    // The whole of 30 December 2011 was skipped in Samoa; what was due then ran a day later on the new side.
    ['Pacific/Apia', '0 9 30 12 *', '10m', '2011-12-30T19:00:00Z', true],
    ['Pacific/Apia', '0 9 30 12 *', '10m', '2011-12-29T19:00:00Z', false],
    // Half an hour forward in Lord Howe: 02:00 becomes 02:30, so 02:15 fires at 02:45 by the new clock.
    ['Australia/Lord_Howe', '15 2 * * *', '5m', '2025-10-04T15:45:00Z', true],
    ['Australia/Lord_Howe', '15 2 * * *', '5m', '2025-10-04T15:40:00Z', false],
    // A zone that is never on the hour.
    ['Asia/Kathmandu', '0 9 * * *', '1m', '2025-06-01T03:15:00Z', true],
    // The longest window, from its first to its last millisecond.
    ['UTC', '0 0 1 1 *', '7d', '2025-01-01T00:00:00.000Z', true],
    ['UTC', '0 0 1 1 *', '7d', '2025-01-07T23:59:59.999Z', true],
    ['UTC', '0 0 1 1 *', '7d', '2025-01-08T00:00:00.000Z', false],
    ['UTC', '0 0 30 2 *', '7d', '2025-03-01T00:00:00.000Z', false],
  ])('%s %s %s at %s: %s', (timeZone, schedule, duration, now, expected) => {
    const durationMs = duration.endsWith('d')
      ? Number.parseInt(duration, 10) * DAY
      : Number.parseInt(duration, 10) * MINUTE;
    expect(inCronSpan(cronOf(schedule), durationMs, zoneOf(timeZone), Date.parse(now))).toBe(expected);
  });
});
