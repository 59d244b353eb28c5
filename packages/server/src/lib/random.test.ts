import { expect, test } from 'vitest';
import { randomCode } from './random.ts';

const DRAWN = 2000;
const LENGTH = 8;

test.each([
  ['digits', false, '0123456789'],
  ['letters and digits that are not mistaken for each other', true, '0123456789ABCDEFGHJKMNPQRSTVWXYZ'],
] as const)('a code of %s has each of them as often as any other', (_name, alphanumeric, alphabet) => {
  const counts = new Map<string, number>();
  for (let drawn = 0; drawn < DRAWN; drawn += 1) {
    const code = randomCode(LENGTH, alphanumeric);
    expect(code).toHaveLength(LENGTH);
    for (const character of code) counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  expect([...counts.keys()].sort().join('')).toBe(alphabet);
  const expected = (DRAWN * LENGTH) / alphabet.length;
  // Ten standard deviations, far beyond chance; a fold of bytes onto the alphabet, or a shift by one, is farther still.
  const allowed = 10 * Math.sqrt(expected);
  for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(allowed);
});

test('no two codes are alike', () => {
  const codes = new Set(Array.from({ length: 1000 }, () => randomCode(9, true)));
  expect(codes.size).toBe(1000);
});
