import { describe, expect, it } from 'vitest';
import { duration, exact, relative, timeLeft, toDate, utc } from './time.ts';

const NOW = Date.parse('2026-11-17T12:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('times', () => {
  it('are read in every form of the service', () => {
    const expected = '2026-11-17T12:00:00.500Z';
    expect(utc('2026-11-17T12:00:00.5Z')).toBe(expected);
    expect(utc(String(NOW + 500))).toBe(expected);
    expect(utc({ seconds: String(NOW / 1000), nanos: '500000000' })).toBe(expected);
    expect(toDate(new Date(NOW)).getTime()).toBe(NOW);
  });

  it('are told from now', () => {
    expect(relative(NOW - 10_000, NOW)).toBe('now');
    expect(relative(NOW - 59_999, NOW)).toBe('now');
    expect(relative(NOW + 15_000, NOW)).toBe('now');
    expect(relative(NOW + 30_000, NOW)).toBe('in 30 s');
    expect(relative(NOW - 14 * MINUTE, NOW)).toBe('14 min ago');
    expect(relative(NOW - 2 * HOUR, NOW)).toBe('2 h ago');
    expect(relative(NOW - 30 * HOUR, NOW)).toBe('yesterday');
    expect(relative(NOW - 61 * DAY, NOW)).toBe('61 days ago');
    expect(relative(NOW + 3 * DAY + MINUTE, NOW)).toBe('in 3 days');
  });

  it('say how long something lasts', () => {
    expect(duration(23 * HOUR + 46 * MINUTE)).toBe('23 h 46 min');
    expect(duration(22 * HOUR + 4 * MINUTE)).toBe('22 h 04 min');
    expect(duration(2 * DAY + 3 * HOUR)).toBe('2 days 3 h');
    expect(duration(20_000)).toBe('less than a minute');
    expect(timeLeft(NOW + 51 * MINUTE, NOW)).toEqual({ text: '51 min left', isShort: true, isOver: false });
    expect(timeLeft(NOW - 1, NOW)).toEqual({ text: 'lapsed', isShort: true, isOver: true });
  });

  it('survive what is no time', () => {
    expect(exact('never')).toBe('unknown');
    expect(relative('never', NOW)).toBe('unknown');
    expect(utc('never')).toBe('');
  });
});
