import type { Activity, MfaRequirement, Vote } from '../../core/model.ts';
import type { UserId } from '../../lib/ids.ts';
import { LIMITS } from '../../lib/limits.ts';
import { isTerminal } from './status.ts';

/**
 * Approvals hold for 24 h from the first one of their round; then they lapse and must be given again
 * (protocol/consensus 2.4).
 */
export const roundIsOpen = (activity: Activity, nowMs: number): boolean =>
  nowMs < activity.roundStartedAtMs + LIMITS.approvalWindowMs;

/**
 * Votes that are alive now. A decided activity keeps the votes of the round that decided it; an open one loses those
 * whose credential was taken away. Where that happened to a user, `isProven` says whether the other credentials prove
 * everything that the user has to prove.
 */
export function liveVotes(
  activity: Activity,
  votes: readonly Vote[],
  nowMs: number,
  isProven: (userId: UserId) => boolean = () => true,
): Vote[] {
  const isDecided = isTerminal(activity.status);
  if (!isDecided && !roundIsOpen(activity, nowMs)) return [];
  const ofRound = votes.filter((vote) => vote.roundStartedAtMs === activity.roundStartedAtMs);
  return isDecided ? ofRound : withoutRevoked(ofRound, isProven);
}

/**
 * A user's approval counts by one vote. When a vote of the user was revoked, the first that is left takes its place, if
 * there is one and the user owes no proof any more.
 */
function withoutRevoked(votes: readonly Vote[], isProven: (userId: UserId) => boolean): Vote[] {
  const concerned = new Set(votes.filter(({ revoked }) => revoked).map(({ userId }) => userId));
  const left = votes.filter(({ revoked }) => !revoked);
  const counted = new Set<UserId>();
  return left.map((vote) => {
    const { userId } = vote;
    if (!concerned.has(userId)) return vote;
    const counts = isProven(userId) && !counted.has(userId);
    counted.add(userId);
    return { ...vote, counts };
  });
}

/** Users whose approval counts, each once. */
export function approvers(live: readonly Vote[]): UserId[] {
  return live.filter((vote) => vote.counts && vote.selection === 'VOTE_SELECTION_APPROVED').map((vote) => vote.userId);
}

/** Votes by which users approved whose approval counts; further ones of the same user add their credentials. */
export function approvals(live: readonly Vote[], alsoOf?: UserId): Vote[] {
  const counted = new Set([...approvers(live), ...(alsoOf === undefined ? [] : [alsoOf])]);
  return live.filter((vote) => vote.selection === 'VOTE_SELECTION_APPROVED' && counted.has(vote.userId));
}

/** Whether the user approved but has yet to prove more before it counts. */
export function owesProofs(live: readonly Vote[], userId: UserId): boolean {
  const mine = live.filter((vote) => vote.userId === userId && vote.selection === 'VOTE_SELECTION_APPROVED');
  return mine.length > 0 && mine.every((vote) => !vote.counts);
}

/** What a user has to prove in the current round: the policy stays frozen, proofs lapse as approvals do. */
export function inRound(
  requirement: MfaRequirement,
  activity: Activity,
  startsRound: boolean,
  nowMs: number,
): MfaRequirement {
  if (!startsRound && requirement.createdAtMs >= activity.roundStartedAtMs) return requirement;
  return { ...requirement, proofs: [], satisfiedAtMs: undefined, createdAtMs: nowMs };
}
