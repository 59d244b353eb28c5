import { describe, expect, test } from 'vitest';
import { ACTIVITY_STATUSES, type ActivityStatus } from '../../core/model.ts';
import {
  ACTIVITY_EVENTS,
  ACTIVITY_MOVERS,
  type ActivityEvent,
  type ActivityMover,
  isTerminal,
  moveOn,
  TRANSITIONS,
} from './status.ts';

const EVENTS = Object.keys(ACTIVITY_EVENTS) as ActivityEvent[];
const MOVERS = Object.keys(ACTIVITY_MOVERS) as ActivityMover[];

/** Written out: a table that is computed from itself would prove nothing. */
const EXPECTED: Readonly<Record<string, string>> = {
  'CREATED proofs-missing': 'AUTHENTICATORS_NEEDED proposer',
  'CREATED approvals-missing': 'CONSENSUS_NEEDED proposer',
  'CREATED executed': 'COMPLETED proposer',
  'CREATED denied': 'REJECTED proposer',
  'AUTHENTICATORS_NEEDED proofs-missing': 'AUTHENTICATORS_NEEDED proposer login-user',
  'AUTHENTICATORS_NEEDED approvals-missing': 'CONSENSUS_NEEDED proposer login-user',
  'AUTHENTICATORS_NEEDED executed': 'COMPLETED proposer login-user',
  'AUTHENTICATORS_NEEDED failed': 'FAILED proposer login-user',
  'AUTHENTICATORS_NEEDED denied': 'REJECTED proposer login-user',
  'AUTHENTICATORS_NEEDED rejected': 'REJECTED proposer voter',
  'AUTHENTICATORS_NEEDED abandoned': 'FAILED service',
  'CONSENSUS_NEEDED proofs-missing': 'CONSENSUS_NEEDED proposer voter',
  'CONSENSUS_NEEDED approvals-missing': 'CONSENSUS_NEEDED proposer voter',
  'CONSENSUS_NEEDED executed': 'COMPLETED proposer voter',
  'CONSENSUS_NEEDED failed': 'FAILED proposer voter',
  'CONSENSUS_NEEDED denied': 'REJECTED proposer voter',
  'CONSENSUS_NEEDED rejected': 'REJECTED proposer voter',
  'CONSENSUS_NEEDED abandoned': 'FAILED service',
};

const short = (status: ActivityStatus): string => status.replace('ACTIVITY_STATUS_', '');

describe.each(ACTIVITY_STATUSES)('from %s', (from) => {
  test.each(EVENTS)('when %s', (event) => {
    const [to, ...movers] = EXPECTED[`${short(from)} ${event}`]?.split(' ') ?? [];
    for (const by of MOVERS) {
      if (movers.includes(by)) expect(moveOn(from, event, by)).toBe(`ACTIVITY_STATUS_${to}`);
      else expect(() => moveOn(from, event, by)).toThrow(`an activity in ${from} is not ${event} by ${by}`);
    }
  });
});

test('the table has exactly these rows', () => {
  const rows = ACTIVITY_STATUSES.flatMap((from) =>
    Object.keys(TRANSITIONS[from]).map((event) => `${short(from)} ${event}`),
  );
  expect(rows.sort()).toEqual(Object.keys(EXPECTED).sort());
});

test('exactly completed, failed and rejected are terminal', () => {
  expect(ACTIVITY_STATUSES.filter(isTerminal).map(short).sort()).toEqual(['COMPLETED', 'FAILED', 'REJECTED']);
});

test('every status but the first is reached, and PENDING by nothing yet', () => {
  const reached = new Set(ACTIVITY_STATUSES.flatMap((from) => Object.values(TRANSITIONS[from]).map(({ to }) => to)));
  expect(ACTIVITY_STATUSES.filter((status) => !reached.has(status)).map(short)).toEqual(['CREATED', 'PENDING']);
});
