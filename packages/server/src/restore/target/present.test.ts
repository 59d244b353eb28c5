import { expect, test } from 'vitest';
import { describe } from './present.ts';

test.each([
  [1_800_000_000_000, 1_800_000_000_000],
  ['1800000000000', 1_800_000_000_000],
  [null, undefined],
  // Safe as a number, and no time that a Date can hold.
  [Number.MAX_SAFE_INTEGER, undefined],
  [-Number.MAX_SAFE_INTEGER, undefined],
])('of a database whose newest time is %s a restore tells %s', async (last, told) => {
  const { lastAtMs } = await describe(async (text) => (text.includes('max(moment)') ? [{ last }] : []));
  expect(lastAtMs).toBe(told);
});
