import { describe, expect, test } from 'vitest';
import { ACTIVITY_STATUSES, type ActivityStatus } from '../../core/model.ts';
import { isTerminal, moveTo, TRANSITIONS } from './status.ts';

const TERMINAL: readonly ActivityStatus[] = [
  'ACTIVITY_STATUS_COMPLETED',
  'ACTIVITY_STATUS_FAILED',
  'ACTIVITY_STATUS_REJECTED',
];

test('every status is in the table, and every target is a status', () => {
  expect(Object.keys(TRANSITIONS).sort()).toEqual([...ACTIVITY_STATUSES].sort());
  for (const targets of Object.values(TRANSITIONS)) {
    for (const target of targets) expect(ACTIVITY_STATUSES).toContain(target);
  }
});

test('exactly completed, failed and rejected are terminal', () => {
  expect(ACTIVITY_STATUSES.filter(isTerminal).sort()).toEqual([...TERMINAL].sort());
});

describe.each(ACTIVITY_STATUSES)('from %s', (from) => {
  test.each(ACTIVITY_STATUSES)('to %s', (to) => {
    if (TRANSITIONS[from].includes(to)) expect(moveTo(from, to)).toBe(to);
    else expect(() => moveTo(from, to)).toThrow(`cannot go from ${from} to ${to}`);
  });
});

test('a pending activity may stay, complete, fail, be rejected or run on; it never goes back', () => {
  expect([...TRANSITIONS.ACTIVITY_STATUS_CONSENSUS_NEEDED].sort()).toEqual(
    [...TERMINAL, 'ACTIVITY_STATUS_CONSENSUS_NEEDED', 'ACTIVITY_STATUS_PENDING'].sort(),
  );
  expect(TRANSITIONS.ACTIVITY_STATUS_PENDING).toEqual(['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_FAILED']);
  // Every status that is not the first is reachable.
  const reachable = new Set(Object.values(TRANSITIONS).flat());
  expect(ACTIVITY_STATUSES.filter((status) => !reachable.has(status))).toEqual(['ACTIVITY_STATUS_CREATED']);
});
