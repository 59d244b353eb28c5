import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createPace } from './pace.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('without requests there is no limit', async () => {
  const pace = createPace(() => false);
  await Promise.all(Array.from({ length: 1000 }, () => pace()));
});

test('beside requests eight hundred begin in a second, and all the rest when those have ended', async () => {
  let isBusy = true;
  let begun = 0;
  const pace = createPace(() => isBusy);
  for (let index = 0; index < 3000; index += 1) {
    void pace().then(() => {
      begun += 1;
    });
  }
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toBe(4);
  await vi.advanceTimersByTimeAsync(1000);
  expect(begun).toBe(804);
  isBusy = false;
  await vi.advanceTimersByTimeAsync(5);
  expect(begun).toBe(3000);
  await vi.advanceTimersByTimeAsync(50);
  isBusy = true;
  await pace();
  expect(vi.getTimerCount()).toBe(1);
});
