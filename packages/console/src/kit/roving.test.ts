import { describe, expect, it } from 'vitest';
import { placeOf, rangeWith, rowAfter } from './roving.ts';

describe('the row that keeps the focus', () => {
  const range = { startIndex: 50, endIndex: 60, overscan: 2, count: 100 };

  it('exists wherever the rest is scrolled to', () => {
    expect(rangeWith(range, 3).slice(0, 2)).toEqual([3, 48]);
    expect(rangeWith(range, 99).slice(-2)).toEqual([62, 99]);
    expect(rangeWith(range, 55)).toEqual(rangeWith(range, 56));
    expect(rangeWith(range, -1)).not.toContain(-1);
    expect(rangeWith(range, 100)).not.toContain(100);
  });

  it('stays itself when others come before it, and gives way when it is gone', () => {
    const key = (row: string): string => row;
    expect(placeOf(['a', 'b', 'c'], key, { index: 1, key: 'b' })).toBe(1);
    expect(placeOf(['new', 'a', 'b', 'c'], key, { index: 1, key: 'b' })).toBe(2);
    expect(placeOf(['a', 'c'], key, { index: 1, key: 'b' })).toBe(1);
    expect(placeOf(['a'], key, { index: 4, key: 'z' })).toBe(0);
    expect(placeOf(['a', 'b'], key, { index: 0, key: undefined })).toBe(0);
  });

  it.each([
    ['ArrowDown', 6],
    ['k', 4],
    ['PageDown', 17],
    ['PageUp', 0],
    ['Home', 0],
    ['End', 99_999],
  ])('moves by %s', (pressed, expected) => {
    expect(rowAfter(pressed, 5, { count: 100_000, page: 12 })).toBe(expected);
  });

  it('stays for any other key', () => {
    expect(rowAfter('x', 5, { count: 10, page: 3 })).toBeUndefined();
  });
});
