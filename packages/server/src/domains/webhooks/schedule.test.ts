import { describe, expect, test } from 'vitest';
import { nextAttemptAt, ROUND_MS, retryAfterMs } from './schedule.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const START = 1_800_000_000_000;

describe('the published schedule', () => {
  test('has these delays, and ends within three days', () => {
    const delays: number[] = [];
    let nowMs = START;
    for (let failures = 1; ; failures += 1) {
      const atMs = nextAttemptAt({ failures, roundStartedAtMs: START, retryAfterMs: undefined }, nowMs, 0.5);
      if (atMs === undefined) break;
      delays.push(atMs - nowMs);
      nowMs = atMs;
    }
    const first = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];
    expect(delays.slice(0, 8)).toEqual(first);
    expect(new Set(delays.slice(8))).toEqual(new Set([6 * HOUR]));
    expect(nowMs).toBeLessThanOrEqual(START + ROUND_MS);
    expect(nowMs + 6 * HOUR).toBeGreaterThan(START + ROUND_MS);
  });

  test.each([
    [0, 0.8],
    [0.5, 1],
    [1, 1.2],
  ])('each is a fifth shorter or longer at most: %s', (random, part) => {
    const failed = { failures: 4, roundStartedAtMs: START, retryAfterMs: undefined };
    expect(nextAttemptAt(failed, START, random)).toBe(START + part * 10 * MINUTE);
  });
});

describe('a receiver that asks for time', () => {
  test('gets it where it is longer than the schedule', () => {
    const ask = (retryAfterMs: number) =>
      nextAttemptAt({ failures: 1, roundStartedAtMs: START, retryAfterMs }, START, 0.5);
    expect(ask(SECOND)).toBe(START + 5 * SECOND);
    expect(ask(90 * SECOND)).toBe(START + 90 * SECOND);
  });

  test('and one attempt at the end where it is longer than what is left', () => {
    const failed = { failures: 1, roundStartedAtMs: START, retryAfterMs: 365 * 24 * HOUR };
    expect(nextAttemptAt(failed, START, 0.5)).toBe(START + ROUND_MS);
    expect(nextAttemptAt({ ...failed, failures: 2 }, START + ROUND_MS, 0.5)).toBeUndefined();
  });

  test.each([
    ['120', 120 * SECOND],
    ['0', 0],
    [new Date(START + 30 * SECOND).toUTCString(), 30 * SECOND],
    [new Date(START - 30 * SECOND).toUTCString(), undefined],
    ['soon', undefined],
    ['-5', undefined],
    ['99999999999', undefined],
    [undefined, undefined],
  ])('says so in seconds or as a date: %s', (header, expected) => {
    expect(retryAfterMs(header, START)).toBe(expected);
  });
});
