import { describe, expect, it } from 'vitest';
import {
  byPosition,
  chainOf,
  feePercent,
  gainOf,
  type HistoryPoint,
  nowOf,
  percent,
  principalOverTime,
} from './earn-model.ts';

it('reads rates and fees', () => {
  expect(percent('0.0812')).toBe('8.12 %');
  expect(percent('')).toBe('not known');
  expect(feePercent('1000')).toBe('10.00 %');
  expect(chainOf('eip155:1/erc20:0xabc')).toBe('eip155:1');
});

const point = (kind: HistoryPoint['kind'], at: string, more: Partial<HistoryPoint> = {}): HistoryPoint => ({
  caip2: 'eip155:1',
  caip19: 'eip155:1/erc20:0xabc',
  vaultAddress: '0x1',
  wrapperAddress: '0x2',
  address: '0x3',
  at: `2026-01-${at}T00:00:00Z`,
  kind,
  ...more,
});
const HISTORY = [
  point('DEPOSIT', '01', { amount: '100', principal: '100' }),
  point('WITHDRAWAL', '11', { amount: '40', principal: '60' }),
  point('NOW', '31', { principal: '60', assets: '66' }),
];

describe('a position over time', () => {
  it('gained what it is worth above what is in it', () => {
    expect(gainOf(nowOf(HISTORY))).toBe(6n);
    expect(gainOf(point('NOW', '31', { principal: '60' }))).toBeUndefined();
    expect(gainOf(undefined)).toBeUndefined();
  });

  it('changes in steps, at even times', () => {
    const { times, values } = principalOverTime(HISTORY);
    expect(times).toHaveLength(61);
    expect(new Set(times.slice(1).map((time, index) => time - (times[index] ?? 0))).size).toBe(1);
    expect(values.slice(0, 20)).toEqual(Array(20).fill(100n));
    expect(values.slice(20)).toEqual(Array(41).fill(60n));
  });

  it('has a gap where nobody knows, and nothing before the first deposit', () => {
    const { values } = principalOverTime([HISTORY[0] as HistoryPoint, point('WITHDRAWAL', '16'), point('NOW', '31')]);
    expect(values[0]).toBe(100n);
    expect(values.at(-1)).toBeUndefined();
    expect(principalOverTime([])).toEqual({ times: [], values: [] });
    expect(principalOverTime([point('NOW', '31')])).toEqual({ times: [], values: [] });
  });

  it('is one for each wrapper, the largest first', () => {
    const other = point('NOW', '31', { wrapperAddress: '0x9', assets: '1000' });
    expect(byPosition([...HISTORY, other]).map((group) => group.length)).toEqual([1, 3]);
  });
});
