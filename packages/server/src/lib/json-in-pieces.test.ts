import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonInPieces } from './json-in-pieces.ts';

test('writes what JSON.stringify writes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.object({ withNullPrototype: false, values: [fc.jsonValue(), fc.constant(undefined)] }),
      async (value) => {
        expect((await jsonInPieces(value)).join('')).toBe(JSON.stringify(value));
      },
    ),
  );
  for (const value of [[], {}, { a: [] }, { a: { b: [1, undefined, { c: [] }] } }, null, 'x', 1, [undefined]]) {
    expect((await jsonInPieces(value)).join('')).toBe(JSON.stringify(value));
  }
});

test('lets others have their turn', async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  await jsonInPieces({ list: Array.from({ length: 200 }, () => ({ text: '"'.repeat(100_000) })) });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});

test('a long answer is several pieces, a short one is one', async () => {
  const value = { list: Array.from({ length: 10 }, () => 'x'.repeat(40_000)) };
  const pieces = await jsonInPieces(value);
  expect(pieces.length).toBe(6);
  expect((await jsonInPieces({ a: 'x'.repeat(100_000), b: 1 })).map(({ length }) => length)).toEqual([5, 100_002, 7]);
  expect(pieces.join('')).toBe(JSON.stringify(value));
  expect(await jsonInPieces({ a: 1 })).toEqual(['{"a":1}']);
});
