import { expect, test } from 'vitest';
import { nextAttemptAt } from './backoff.ts';

const HOUR = 3_600_000;

test('the waits grow to an hour, and a day is enough', () => {
  const createdAtMs = 1_700_000_000_000;
  const delays: number[] = [];
  let nowMs = createdAtMs;
  for (let attempts = 1; ; attempts += 1) {
    const next = nextAttemptAt({ attempts, createdAtMs, notAfterMs: undefined }, nowMs);
    if (next === undefined) break;
    delays.push(next - nowMs);
    nowMs = next;
  }
  expect(delays.slice(0, 8)).toEqual([5000, 30_000, 120_000, 600_000, 1_800_000, HOUR, HOUR, HOUR]);
  expect(nowMs - createdAtMs).toBeLessThan(24 * HOUR);
  expect(nowMs - createdAtMs).toBeGreaterThan(23 * HOUR - 1);
});

test('a message is not tried when it is of no use any more', () => {
  const waiting = { attempts: 2, createdAtMs: 0, notAfterMs: 40_001 };
  expect(nextAttemptAt(waiting, 10_000)).toBe(40_000);
  expect(nextAttemptAt(waiting, 10_001)).toBeUndefined();
});
