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

test('a page names its first and its last item', () => {
  const items = ['a', 'b', 'c'].map((name) => ({ id: name }));
  expect(toPage(items, { next: true, previous: false })).toEqual({
    items,
    pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: 'a', endCursor: 'c' },
  });
  const nothing = { hasNextPage: false, hasPreviousPage: true, startCursor: '', endCursor: '' };
  expect(toPage([], { next: false, previous: true }).pageInfo).toEqual(nothing);
});
