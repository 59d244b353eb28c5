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

test('what is there is told in characters that a terminal shows', async () => {
  const { organizationId, organizationName } = await describe(async (text) => {
    if (text.includes("'bootstrap'")) return [{ value: 'id\u001b[2J' }];
    return text.includes('SELECT /* partial: told') ? [{ id: 'id\u001b[2J', name: 'name\u001b[2J' }] : [];
  });
  expect(`${organizationId} ${organizationName}`).not.toContain('\u001b');
});
