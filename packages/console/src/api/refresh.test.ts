import { describe, expect, test } from 'vitest';
import { joinPages, keptPage } from './refresh.ts';

const PAGE = 10;
/** The list from its newest number down, in pages. */
const pagesOf = (newest: number, count: number): number[][] =>
  Array.from({ length: count }, (_, page) => Array.from({ length: PAGE }, (_row, row) => newest - page * PAGE - row));

describe('a refresh of a long list', () => {
  test.each([0, 1, 7, PAGE])('asks for few pages and leaves no row out when %i rows are new', (added) => {
    const known = pagesOf(999, 40);
    const current = pagesOf(999 + added, 40);
    let asked = 0;
    const refreshed = known.map((_, position) => {
      const kept = keptPage(known, position);
      if (kept === undefined) asked += 1;
      return kept ?? (current[position] as number[]);
    });
    expect(asked).toBeLessThan(10);
    const rows = joinPages(refreshed, String);
    expect(rows[0]).toBe(999 + added);
    expect(rows).toEqual(Array.from({ length: rows.length }, (_, row) => 999 + added - row));
    expect(rows.length).toBeGreaterThan(38 * PAGE);
  });

  test('asks for every page of a short one', () => {
    const known = pagesOf(99, 5);
    expect(known.map((_, position) => keptPage(known, position))).toEqual(known.map(() => undefined));
  });

  test('keeps rows that have no key as they are', () => {
    expect(joinPages([[1], [1]], undefined)).toEqual([1, 1]);
  });
});
