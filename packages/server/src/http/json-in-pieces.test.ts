import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonInPieces } from './json-in-pieces.ts';

test('writes what JSON.stringify writes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.object({ withNullPrototype: false, values: [fc.jsonValue(), fc.constant(undefined)] }),
      async (value) => {
        expect(await jsonInPieces(value)).toBe(JSON.stringify(value));
      },
    ),
  );
  for (const value of [[], {}, { a: [] }, { a: { b: [1, undefined, { c: [] }] } }, null, 'x', 1, [undefined]]) {
    expect(await jsonInPieces(value)).toBe(JSON.stringify(value));
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
