import { expect, test } from 'vitest';
import { chainText, someAddress, tokenDecimals } from './chain-text.ts';

test.each([
  ['Steady USDC', 'Steady USDC'],
  ['  Two\u0000\u001b[31m lines\r\n ', 'Two[31m lines'],
  ['turned \u202eDCSU', 'turned DCSU'],
  ['zero\u200bwidth\ufeff', 'zerowidth'],
  ['\ud800 half', 'half'],
  ['Größe 😀', 'Größe 😀'],
  [undefined, ''],
])('%j is shown as %j', (text, shown) => {
  expect(chainText(text)).toBe(shown);
});

test('a name is cut between characters', () => {
  expect(chainText('x'.repeat(100_000))).toBe('x'.repeat(100));
  expect(chainText('😀'.repeat(200))).toBe('😀'.repeat(100));
});

test('decimals and addresses that cannot be are none', () => {
  expect([0, 36, 37, 255, undefined].map(tokenDecimals)).toEqual([0, 36, undefined, undefined, undefined]);
  expect(someAddress(`0x${'0'.repeat(40)}`)).toBeUndefined();
  expect(someAddress('0xAB')).toBe('0xab');
});
