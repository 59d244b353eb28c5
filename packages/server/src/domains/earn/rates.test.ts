import { describe, expect, test } from 'vitest';
import { annualised, compounded, compoundedEverySecond, fromRay, fromWad, rateText, ratio } from './rates.ts';

// Expected values were computed with 60 digits elsewhere.

describe('a year', () => {
  test('of a rate per second', () => {
    expect(compounded(0.05 / 31_536_000)).toBeCloseTo(0.051271096376024, 14);
  });

  test.each([
    [0.01125, 0.011313519221582],
    [0.035, 0.035619708779509],
    [0, 0],
  ])('of %d, compounded every second', (perYear, expected) => {
    expect(compoundedEverySecond(perYear)).toBeCloseTo(expected, 12);
  });

  test('of a ten thousandth a day', () => {
    expect(annualised(1_000_000n, 1_000_100n, 86_400)).toBeCloseTo(0.037172411302552, 12);
    expect(annualised(1_000_000n, 1_000_000n, 86_400)).toBe(0);
    expect(annualised(1_000_000n, 999_900n, 86_400)).toBeLessThan(-0.03);
  });
});

test('numbers of chains keep their first digits', () => {
  expect(fromWad(123_456_789_012_345_678n)).toBeCloseTo(0.123456789012346, 14);
  expect(fromRay(11_250_000_000_000_000_000_000_000n)).toBeCloseTo(0.01125, 15);
  expect(ratio(2n ** 200n, 2n ** 201n)).toBe(0.5);
  expect(ratio(1n, 0n)).toBe(0);
});

describe('as text', () => {
  test.each([
    [0.0812, '0.0812'],
    [1e-7, '0.0000001'],
    [1e-15, '0'],
    [-1e-15, '0'],
    [0, '0'],
    [12, '12'],
    [100, '100'],
    [-0.5, '-0.5'],
    [1 / 3, '0.333333333333'],
  ])('%d is %j', (rate, text) => {
    expect(rateText(rate)).toBe(text);
  });

  test.each([undefined, Number.NaN, Number.POSITIVE_INFINITY, 1e21, 10_001, -1.5])('%d is no rate', (rate) => {
    expect(rateText(rate)).toBe('');
  });
});
