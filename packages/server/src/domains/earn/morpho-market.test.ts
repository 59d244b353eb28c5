import { expect, test } from 'vitest';
import { accrue, assetsOf, availableIn, supplyRate } from './morpho-market.ts';

// A market of 2,000,000 with six decimals, half of it borrowed, with a fee of a tenth. What it becomes was worked out
// by the contract's formulas in another language.
const MARKET = {
  totalSupplyAssets: 2_000_000_000_000n,
  totalSupplyShares: 2_000_000_000_000_000_000n,
  totalBorrowAssets: 1_000_000_000_000n,
  totalBorrowShares: 1_000_000_000_000_000_000n,
  lastUpdate: 1_000n,
  fee: 100_000_000_000_000_000n,
};
const RATE = 1_000_000_000n;
const LATER = 1_001_000;

test('interest since the last update is added to both sides, and its fee as shares', () => {
  expect(accrue(MARKET, RATE, LATER)).toEqual({
    ...MARKET,
    totalSupplyAssets: 2_001_000_500_166n,
    totalSupplyShares: 2_000_100_004_991_245_316n,
    totalBorrowAssets: 1_001_000_500_166n,
    lastUpdate: 1_001_000n,
  });
});

test('a clock that is behind adds nothing', () => {
  expect(accrue(MARKET, RATE, 1_000)).toEqual(MARKET);
  expect(accrue(MARKET, RATE, 0)).toEqual(MARKET);
});

test('shares are worth their part, with the virtual ones that nobody owns', () => {
  expect(assetsOf(500_000_000_000_000_000n, accrue(MARKET, RATE, LATER))).toBe(500_225_112_537n);
  expect(assetsOf(0n, MARKET)).toBe(0n);
});

test('suppliers earn what borrowers pay, less the fee', () => {
  expect(supplyRate(accrue(MARKET, RATE, LATER), RATE)).toBeCloseTo(0.014424546409525, 13);
  expect(supplyRate({ ...MARKET, totalSupplyAssets: 0n, totalBorrowAssets: 0n }, RATE)).toBe(0);
});

test('what nobody borrowed is there; never less than nothing', () => {
  expect(availableIn(MARKET)).toBe(1_000_000_000_000n);
  expect(availableIn({ ...MARKET, totalBorrowAssets: 3_000_000_000_000n })).toBe(0n);
});
