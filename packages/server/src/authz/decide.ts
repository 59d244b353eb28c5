import type { UserId } from '../lib/ids.ts';

/** The facts that a decision rests on; loaded at one authority version of the organization. */
export interface DecisionFacts {
  readonly governedBy: 'policy' | 'root-quorum';
  readonly rootThreshold: number;
  readonly rootUserIds: readonly UserId[];
  /** Users whose approval counts, each once; the proposer is the first. */
  readonly approvers: readonly UserId[];
  /** The user whose own credentials the activity manages, if it does. */
  readonly managesCredentialsOf: string | undefined;
}

export type AllowReason = 'ROOT_QUORUM' | 'OWN_CREDENTIALS';
export type DenyReason = 'ROOT_QUORUM_ONLY' | 'NO_POLICY_ALLOWS';

/** What a request may do, with the reason. Readers switch over all outcomes. */
export type Decision =
  | { readonly outcome: 'ALLOW'; readonly reason: AllowReason }
  | { readonly outcome: 'NEEDS_APPROVAL'; readonly required: number; readonly given: number }
  | { readonly outcome: 'DENY'; readonly reason: DenyReason };

/** The decision procedure of POL 14. Pure: the same facts always give the same answer. */
export function decide(facts: DecisionFacts): Decision {
  const { governedBy, rootThreshold, rootUserIds, approvers, managesCredentialsOf } = facts;
  const roots = approvers.filter((userId) => rootUserIds.includes(userId));
  // Step 2: a met root quorum overrides everything else.
  if (roots.length >= rootThreshold) return { outcome: 'ALLOW', reason: 'ROOT_QUORUM' };
  const onlyRoots = approvers.length > 0 && roots.length === approvers.length;
  const waitForRoots: Decision = { outcome: 'NEEDS_APPROVAL', required: rootThreshold, given: roots.length };
  // Step 3: some activities belong to the root quorum alone.
  if (governedBy === 'root-quorum') return onlyRoots ? waitForRoots : { outcome: 'DENY', reason: 'ROOT_QUORUM_ONLY' };
  // Step 7: users manage their own credentials.
  if (managesCredentialsOf !== undefined && approvers.some((userId) => userId === managesCredentialsOf)) {
    return { outcome: 'ALLOW', reason: 'OWN_CREDENTIALS' };
  }
  // Step 8: the rest of the quorum may still agree.
  if (onlyRoots) return waitForRoots;
  return { outcome: 'DENY', reason: 'NO_POLICY_ALLOWS' };
}

/** Whether a vote of this user could help a pending activity. */
export const mayVote = (rootUserIds: readonly UserId[], userId: UserId): boolean => rootUserIds.includes(userId);

/** What the caller reads about a denial (POL 14). */
export function explainDenial(reason: DenyReason): string {
  switch (reason) {
    case 'ROOT_QUORUM_ONLY':
      return 'Only the root quorum can take this action';
    case 'NO_POLICY_ALLOWS':
      return 'No policies evaluated to outcome: Allow';
  }
}
