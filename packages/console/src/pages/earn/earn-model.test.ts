import { expect, it } from 'vitest';
import { chainOf, feePercent, gainOf, type Position, percent } from './earn-model.ts';

it('reads rates and fees', () => {
  expect(percent('0.0812')).toBe('8.12 %');
  expect(percent('')).toBe('not known');
  expect(feePercent('1000')).toBe('10.00 %');
  expect(chainOf('eip155:1/erc20:0xabc')).toBe('eip155:1');
});

it('counts what was withdrawn as gained', () => {
  const position = { currentValue: '60', totalWithdrawn: '50', totalDeposited: '100' } as Position;
  expect(gainOf(position)).toBe(10n);
});
