import type { UserId } from '../lib/ids.ts';
import { LIMITS } from '../lib/limits.ts';
import type { Activity, Vote } from '../lib/model.ts';

/** Approvals hold for 24 h from the first one of their round; then they lapse and must be given again (RES 1.2). */
export const roundIsOpen = (activity: Activity, nowMs: number): boolean =>
  nowMs < activity.roundStartedAtMs + LIMITS.approvalWindowMs;

/** Votes that count now. A decided activity keeps the votes of the round that decided it. */
export function liveVotes(activity: Activity, votes: readonly Vote[], nowMs: number): Vote[] {
  if (activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' && !roundIsOpen(activity, nowMs)) return [];
  return votes.filter((vote) => vote.roundStartedAtMs === activity.roundStartedAtMs);
}

/** Users whose approval counts, each once. */
export function approvers(live: readonly Vote[]): UserId[] {
  return live.filter((vote) => vote.counts && vote.selection === 'VOTE_SELECTION_APPROVED').map((vote) => vote.userId);
}
