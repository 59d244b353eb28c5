import { describe, expect, test } from 'vitest';
import { formatUnits, toUnits, usdOf } from './amount.ts';

const UINT256_MAX = 2n ** 256n - 1n;

describe('an amount in whole units', () => {
  test.each([
    [0n, 18, '0'],
    [1n, 18, '0.000000000000000001'],
    [1_500_000n, 6, '1.5'],
    [1_000_000n, 6, '1'],
    [10_000_000n, 6, '10'],
    [1_000_001n, 6, '1.000001'],
    [100n, 0, '100'],
    [0n, 0, '0'],
    [-2_500n, 3, '-2.5'],
    [UINT256_MAX, 0, UINT256_MAX.toString()],
    [2n ** 64n, 18, '18.446744073709551616'],
  ])('%d with %d decimals is %s', (amount, decimals, text) => {
    expect(formatUnits(amount, decimals)).toBe(text);
  });
});

test.each([
  ['0', 6, 0n],
  ['1.50', 6, 1_500_000n],
  ['0.000001', 6, 1n],
  ['999999999.999999', 6, 999_999_999_999_999n],
  ['12', 0, 12n],
])('%s with %d decimals is %d of the smallest unit', (text, decimals, amount) => {
  expect(toUnits(text, decimals)).toBe(amount);
});

describe('what an amount is worth', () => {
  test.each([
    [1_000_000n, 6, '1.00', '1.00'],
    [1_500_000_000_000_000_000n, 18, '2345.67', '3518.51'],
    [1n, 18, '2345.67', '0.00'],
    [5_000n, 6, '1', '0.01'],
    [4_999n, 6, '1', '0.00'],
    [0n, 18, '2345.67', '0.00'],
    [123n, 0, '0.000000000000000001', '0.00'],
    [10n ** 30n, 18, '1', '1000000000000.00'],
    [-1_234_000n, 6, '1', '-1.23'],
    [1_000_000n, 6, undefined, ''],
    [1_000_000n, 6, '', ''],
    [1_000_000n, 6, '1e3', ''],
    [1_000_000n, 6, '-1', ''],
  ])('%d with %d decimals at %s is %s', (amount, decimals, price, usd) => {
    expect(usdOf(amount, decimals, price)).toBe(usd);
  });
});
