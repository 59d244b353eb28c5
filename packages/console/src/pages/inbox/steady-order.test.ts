import { describe, expect, test } from 'vitest';
import type { Approval } from '../../api/approvals.ts';
import { byTimeLeft, type InboxRow, keepOrder, settle } from './steady-order.ts';

const approval = (id: string, lapsesAt?: string, createdAt = '1'): Approval =>
  ({ activity: { id, createdAt }, progress: lapsesAt === undefined ? {} : { lapsesAt } }) as unknown as Approval;
const ids = (rows: readonly InboxRow[]): string =>
  rows.map(({ approval: { activity }, isGone }) => activity.id + (isGone ? '-' : '')).join(' ');

const SOON = '2026-11-17T10:00:00Z';
const LATER = '2026-11-17T22:00:00Z';

describe('the order of the inbox', () => {
  test('least time left comes first, and what never lapses last', () => {
    const sorted = [approval('never'), approval('later', LATER), approval('soon', SOON)].sort(byTimeLeft);
    expect(sorted.map(({ activity }) => activity.id)).toEqual(['soon', 'later', 'never']);
  });

  test('of two with the same time left, the older comes first', () => {
    const sorted = [approval('young', SOON, '2'), approval('old', SOON, '1')].sort(byTimeLeft);
    expect(sorted[0]?.activity.id).toBe('old');
  });

  test('news neither move nor remove a row', () => {
    const before = keepOrder([], [approval('b', LATER), approval('c', LATER, '2')]);
    const after = keepOrder(before, [approval('c', LATER, '2'), approval('a', SOON)]);
    expect(ids(after)).toBe('b- c a');
  });

  test('what comes back is no longer gone', () => {
    const gone = keepOrder(keepOrder([], [approval('a', SOON)]), []);
    expect(ids(gone)).toBe('a-');
    expect(ids(keepOrder(gone, [approval('a', SOON)]))).toBe('a');
  });

  test('moving on removes what is gone, but not what is open, and sorts', () => {
    const rows = keepOrder(keepOrder([], [approval('b', LATER), approval('x', LATER, '2')]), [approval('a', SOON)]);
    expect(ids(settle(rows, 'x'))).toBe('a x-');
    expect(ids(settle(rows, undefined))).toBe('a');
  });
});
