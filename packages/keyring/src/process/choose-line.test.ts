import { expect, test } from 'vitest';
import { type Burden, chooseLine } from './choose-line.ts';

const line = (pendingCount: number, pendingItems = pendingCount, pendingBytes = 400 * pendingItems): Burden => ({
  pendingCount,
  pendingItems,
  pendingBytes,
});

test('a few small calls stay with the first thread', () => {
  for (const count of [0, 1, 2, 3]) {
    const first = line(count);
    expect(chooseLine(first, [first, line(0)])).toBe(first);
  }
});

test('more go to the thread with the fewest calls, of equal ones the first', () => {
  const first = line(4);
  const idle = line(0);
  expect(chooseLine(first, [first, line(2), idle])).toBe(idle);
  expect(chooseLine(first, [first, line(4), line(4)])).toBe(first);
});

test('nobody waits behind a list or a large call while another thread is idle', () => {
  const idle = line(0);
  for (const first of [line(1, 16), line(1, 1, 4 * 1024 * 1024)]) expect(chooseLine(first, [first, idle])).toBe(idle);
});
