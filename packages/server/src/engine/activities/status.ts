import { ACTIVITY_STATUSES, type ActivityStatus } from '../../core/model.ts';
import { assert } from '../../lib/assert.ts';

/** What happens to an activity, as the guide explains it. */
export const ACTIVITY_EVENTS = {
  'proofs-missing': 'somebody has to prove more before the approval counts',
  'approvals-missing': 'the approvals so far are not enough',
  executed: 'it was allowed and done',
  failed: 'it was allowed but could not be done',
  denied: 'a policy denies it, or none allows it',
  rejected: 'somebody votes against it',
  abandoned: 'its proposer was deleted, or the key that proposed it revoked',
} as const;
export type ActivityEvent = keyof typeof ACTIVITY_EVENTS;

/** Whose doing an event is. */
export const ACTIVITY_MOVERS = {
  proposer: 'the proposer',
  'login-user': 'the login user',
  voter: 'an eligible voter',
  service: 'the service',
} as const;
export type ActivityMover = keyof typeof ACTIVITY_MOVERS;

interface Transition {
  readonly to: ActivityStatus;
  readonly by: readonly ActivityMover[];
}

type Transitions = { readonly [E in ActivityEvent]?: Transition };

/** While factors are missing, only those who owe them approve; the others may only reject. */
const PROVERS = ['proposer', 'login-user'] as const;
const VOTERS = ['proposer', 'voter'] as const;
const ABANDONED: Transition = { to: 'ACTIVITY_STATUS_FAILED', by: ['service'] };
const REJECTED: Transition = { to: 'ACTIVITY_STATUS_REJECTED', by: VOTERS };

/**
 * Where an activity goes from each status. The engine moves along this table only, the guide shows it, and tests run over all
 * of it. No event leads to PENDING: the wire protocol keeps it for operations that finish later, and there are none.
 */
export const TRANSITIONS: Readonly<Record<ActivityStatus, Transitions>> = {
  ACTIVITY_STATUS_CREATED: {
    'proofs-missing': { to: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED', by: ['proposer'] },
    'approvals-missing': { to: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', by: ['proposer'] },
    // What fails in its submission is not stored.
    executed: { to: 'ACTIVITY_STATUS_COMPLETED', by: ['proposer'] },
    denied: { to: 'ACTIVITY_STATUS_REJECTED', by: ['proposer'] },
  },
  ACTIVITY_STATUS_AUTHENTICATORS_NEEDED: {
    'proofs-missing': { to: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED', by: PROVERS },
    'approvals-missing': { to: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', by: PROVERS },
    executed: { to: 'ACTIVITY_STATUS_COMPLETED', by: PROVERS },
    failed: { to: 'ACTIVITY_STATUS_FAILED', by: PROVERS },
    denied: { to: 'ACTIVITY_STATUS_REJECTED', by: PROVERS },
    rejected: REJECTED,
    abandoned: ABANDONED,
  },
  ACTIVITY_STATUS_CONSENSUS_NEEDED: {
    // One voter's missing proofs keep nobody else from voting, so they do not show in the status.
    'proofs-missing': { to: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', by: VOTERS },
    'approvals-missing': { to: 'ACTIVITY_STATUS_CONSENSUS_NEEDED', by: VOTERS },
    executed: { to: 'ACTIVITY_STATUS_COMPLETED', by: VOTERS },
    failed: { to: 'ACTIVITY_STATUS_FAILED', by: VOTERS },
    denied: { to: 'ACTIVITY_STATUS_REJECTED', by: VOTERS },
    rejected: REJECTED,
    abandoned: ABANDONED,
  },
  ACTIVITY_STATUS_PENDING: {},
  ACTIVITY_STATUS_COMPLETED: {},
  ACTIVITY_STATUS_FAILED: {},
  ACTIVITY_STATUS_REJECTED: {},
};

const transitionsFrom = (status: ActivityStatus): readonly Transition[] => Object.values(TRANSITIONS[status]);

/** Reached by some event and left by none. */
const TERMINAL: ReadonlySet<ActivityStatus> = new Set(
  ACTIVITY_STATUSES.flatMap(transitionsFrom)
    .map(({ to }) => to)
    .filter((status) => transitionsFrom(status).length === 0),
);

export const isTerminal = (status: ActivityStatus): boolean => TERMINAL.has(status);

/** The next status, or a bug: nothing leaves a terminal status, and nobody does what only others may. */
export function moveOn(from: ActivityStatus, event: ActivityEvent, by: ActivityMover): ActivityStatus {
  const transition = TRANSITIONS[from][event];
  assert(transition?.by.includes(by) === true, `an activity in ${from} is not ${event} by ${by}`);
  return transition.to;
}
