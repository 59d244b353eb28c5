import { expect, test } from 'vitest';
import { createSlots } from './slots.ts';

test('each slot has one value until it is taken, and is used again', () => {
  const slots = createSlots<{ name: string }>();
  const [a, b, c] = ['a', 'b', 'c'].map((name) => slots.put({ name }));
  expect(new Set([a, b, c]).size).toBe(3);
  expect(slots.take(b!)).toEqual({ name: 'b' });
  expect(slots.take(b!)).toBeUndefined();
  expect(slots.put({ name: 'd' })).toBe(b);
  expect(slots.take(a!)).toEqual({ name: 'a' });
  expect(slots.takeAll()).toEqual([{ name: 'd' }, { name: 'c' }]);
  expect(slots.takeAll()).toEqual([]);
  expect(slots.take(c!)).toBeUndefined();
});
