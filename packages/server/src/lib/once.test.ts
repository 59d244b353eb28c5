import { expect, test } from 'vitest';
import { once } from './once.ts';

test('it is computed at the first question, and once', () => {
  let computed = 0;
  const value = once(() => {
    computed += 1;
    return undefined;
  });
  expect(computed).toBe(0);
  expect([value(), value()]).toEqual([undefined, undefined]);
  expect(computed).toBe(1);
});

test('one that failed is computed again', () => {
  let computed = 0;
  const value = once(() => {
    computed += 1;
    if (computed === 1) throw new Error('not yet');
    return computed;
  });
  expect(value).toThrow('not yet');
  expect([value(), value()]).toEqual([2, 2]);
});
