import { expect, test } from 'vitest';
import { together } from './together.ts';

test('answers with all values in their order', async () => {
  expect(await together([Promise.resolve(1), 'two', undefined])).toEqual([1, 'two', undefined]);
});

test('throws what failed first, after all have ended', async () => {
  let isOver = false;
  const slow = (async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    isOver = true;
    throw new Error('slow');
  })();
  await expect(together([slow, Promise.reject(new Error('fast'))])).rejects.toThrow('fast');
  expect(isOver).toBe(true);
});
