import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from './errors.ts';
import { randomId } from './ids.ts';
import { type PageRequest, type PaginationOptions, toPage, toPageRequest } from './pagination.ts';

const id: string = randomId();

function violation(options: PaginationOptions): string {
  try {
    toPageRequest(options, 100);
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.violations[0]?.field}`;
  }
  return 'accepted';
}

describe('what a list query asks for', () => {
  test.each<[PaginationOptions | undefined, PageRequest]>([
    [undefined, { kind: 'all', max: 7 }],
    [{}, { kind: 'page', limit: 10 }],
    [
      { limit: '', before: '', after: '' },
      { kind: 'page', limit: 10 },
    ],
    [{ limit: '1' }, { kind: 'page', limit: 1 }],
    [{ limit: '100' }, { kind: 'page', limit: 100 }],
    [{ limit: '007' }, { kind: 'page', limit: 7 }],
    [{ after: id }, { kind: 'page', limit: 10, after: id }],
    [
      { before: id, limit: '5' },
      { kind: 'page', limit: 5, before: id },
    ],
    [
      { before: id, after: '' },
      { kind: 'page', limit: 10, before: id },
    ],
  ])('%j', (options, expected) => expect(toPageRequest(options, 7)).toEqual(expected));

  test.each(['0', '101', '-1', '1.5', '1e1', ' 1', '1 ', '+1', '0x1', 'ten', '٣', '9999999999'])(
    'limit %j is refused',
    (limit) => expect(violation({ limit })).toBe('REQUEST_INVALID paginationOptions.limit'),
  );

  test.each(['x', id.slice(1), `${id} `, `{${id}}`])('cursor %j is refused', (cursor) => {
    expect(violation({ after: cursor })).toBe('REQUEST_INVALID paginationOptions.after');
    expect(violation({ before: cursor })).toBe('REQUEST_INVALID paginationOptions.before');
  });

  test('both cursors are refused', () => {
    expect(violation({ after: id, before: id })).toBe('REQUEST_INVALID paginationOptions');
  });
});

describe('cutting the extra row', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, index) => ({ id: String(index) }));

  test('everything has no neighbours', () => {
    expect(toPage(rows(3), { kind: 'all', max: 10 }, false)).toEqual({
      items: rows(3),
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: '0', endCursor: '2' },
    });
  });

  test('an empty page has empty cursors', () => {
    expect(toPage([], { kind: 'page', limit: 5 }, false).pageInfo).toEqual({
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: '',
      endCursor: '',
    });
  });

  test('the extra row is the last one forwards and the first one backwards', () => {
    const forwards = toPage(rows(4), { kind: 'page', limit: 3, after: id }, true);
    expect(forwards.items.map((row) => row.id)).toEqual(['0', '1', '2']);
    expect(forwards.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
    const backwards = toPage(rows(4), { kind: 'page', limit: 3, before: id }, true);
    expect(backwards.items.map((row) => row.id)).toEqual(['1', '2', '3']);
    expect(backwards.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: true });
  });

  test('a page never has more than its limit, and says whether more follow', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.integer({ min: 1, max: 20 }), (count, limit) => {
        const fetched = Math.min(count, limit + 1);
        const { items, pageInfo } = toPage(rows(fetched), { kind: 'page', limit }, false);
        expect(items).toHaveLength(Math.min(count, limit));
        expect(pageInfo.hasNextPage).toBe(count > limit);
        expect(pageInfo.hasPreviousPage).toBe(false);
      }),
    );
  });
});
