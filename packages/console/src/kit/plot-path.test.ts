import { describe, expect, it } from 'vitest';
import { axisOf, pathOf } from './plot-path.ts';

describe('plots', () => {
  it('have round steps that reach above the highest value', () => {
    expect(axisOf([214, 3])).toEqual({ max: 240, ticks: [0, 80, 160, 240] });
    expect(axisOf([])).toEqual({ max: 1, ticks: [0, 1] });
    for (const highest of [0.004, 1, 7, 95, 1234, 9_999_999]) {
      const { max, ticks } = axisOf([highest]);
      expect(max).toBeGreaterThanOrEqual(highest);
      expect(ticks).toHaveLength(4);
    }
  });

  it('leave gaps where values are missing', () => {
    expect(pathOf([0, undefined, 10, 10], 10, 30, 12).line).toBe('M0 12M20 2L30 2');
    expect(pathOf([0, undefined, 10, 10], 10, 30, 12).area).toBe('M20 12L20 2L30 2L30 12Z');
    expect(pathOf([Number.NaN], 1, 10, 10).line).toBe('');
  });
});

it('has whole numbers on the axis of what is counted', () => {
  expect(axisOf([1], true)).toEqual({ max: 3, ticks: [0, 1, 2, 3] });
  expect(axisOf([10], true).ticks.every((tick) => Number.isInteger(tick))).toBe(true);
});
