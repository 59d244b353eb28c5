import { describe, expect, test } from 'vitest';
import type { Approval } from '../../api/approvals.ts';
import { type InboxRow, keepOrder, settle } from './steady-order.ts';

const approval = (id: string): Approval => ({ activity: { id }, progress: {} }) as unknown as Approval;
const some = (...ids: string[]): Approval[] => ids.map(approval);
const ids = (rows: readonly InboxRow[]): string =>
  rows.map(({ approval: { activity }, isGone }) => activity.id + (isGone ? '-' : '')).join(' ');

describe('the order of the inbox', () => {
  test('is that of the service', () => {
    expect(ids(keepOrder([], some('soon', 'later', 'never')))).toBe('soon later never');
  });

  test('news neither move nor remove a row', () => {
    const before = keepOrder([], some('b', 'c'));
    expect(ids(keepOrder(before, some('a', 'c')))).toBe('b- c a');
  });

  test('what comes back is no longer gone', () => {
    const gone = keepOrder(keepOrder([], some('a')), []);
    expect(ids(gone)).toBe('a-');
    expect(ids(keepOrder(gone, some('a')))).toBe('a');
  });

  test('moving on takes the order of the service, without what is gone', () => {
    const fresh = some('a', 'c', 'b');
    const rows = keepOrder(keepOrder([], some('b', 'x', 'c')), fresh);
    expect(ids(rows)).toBe('b x- c a');
    expect(ids(settle(rows, fresh, undefined))).toBe('a c b');
  });

  test('the open one stays behind the row that it stood behind, or first', () => {
    const fresh = some('a', 'b', 'c');
    const rows = keepOrder(keepOrder([], some('b', 'x', 'c')), fresh);
    expect(ids(settle(rows, fresh, 'x'))).toBe('a b x- c');
    expect(ids(settle(keepOrder(keepOrder([], some('x', 'b')), fresh), fresh, 'x'))).toBe('x- a b c');
    expect(ids(settle(rows, fresh, 'c'))).toBe('a b c');
  });
});
