import type { ActivityStatus } from '../../core/model.ts';
import { assert } from '../../lib/assert.ts';

/** Where an activity may go from each status (protocol/activities 3.2). Terminal ones go nowhere. */
export const TRANSITIONS: Readonly<Record<ActivityStatus, readonly ActivityStatus[]>> = {
  ACTIVITY_STATUS_CREATED: [
    'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED',
    'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    'ACTIVITY_STATUS_PENDING',
    'ACTIVITY_STATUS_COMPLETED',
    'ACTIVITY_STATUS_FAILED',
    'ACTIVITY_STATUS_REJECTED',
  ],
  ACTIVITY_STATUS_AUTHENTICATORS_NEEDED: [
    'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    'ACTIVITY_STATUS_PENDING',
    'ACTIVITY_STATUS_COMPLETED',
    'ACTIVITY_STATUS_FAILED',
    'ACTIVITY_STATUS_REJECTED',
  ],
  ACTIVITY_STATUS_CONSENSUS_NEEDED: [
    'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    'ACTIVITY_STATUS_PENDING',
    'ACTIVITY_STATUS_COMPLETED',
    'ACTIVITY_STATUS_FAILED',
    'ACTIVITY_STATUS_REJECTED',
  ],
  ACTIVITY_STATUS_PENDING: ['ACTIVITY_STATUS_COMPLETED', 'ACTIVITY_STATUS_FAILED'],
  ACTIVITY_STATUS_COMPLETED: [],
  ACTIVITY_STATUS_FAILED: [],
  ACTIVITY_STATUS_REJECTED: [],
};

export const isTerminal = (status: ActivityStatus): boolean => TRANSITIONS[status].length === 0;

/** The next status, or a bug: nothing may leave a terminal status. */
export function moveTo(from: ActivityStatus, to: ActivityStatus): ActivityStatus {
  assert(TRANSITIONS[from].includes(to), `an activity cannot go from ${from} to ${to}`);
  return to;
}
