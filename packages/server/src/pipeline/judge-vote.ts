import { approvers, liveVotes, roundIsOpen } from '../activities/rounds.ts';
import { isTerminal } from '../activities/status.ts';
import { decide, mayVote } from '../authz/decide.ts';
import type { Actor } from '../lib/actor.ts';
import { ApiError } from '../lib/errors.ts';
import type { Organization, VoteSelection } from '../lib/model.ts';
import type { ActivityOperation, ActivityVersion } from '../operations/define.ts';
import type { ActivityWithVotes } from '../storage/stores/activities.ts';

/** What a vote would do, judged on one state of organization and activity. */
export type Judgement =
  | { readonly kind: 'read' }
  | { readonly kind: 'record'; readonly counts: boolean; readonly startsRound: boolean }
  | { readonly kind: 'execute'; readonly counts: boolean; readonly startsRound: boolean }
  | { readonly kind: 'reject' };

export interface Ballot {
  readonly actor: Actor;
  readonly selection: VoteSelection;
  readonly digest: string;
  /** The API key or authenticator that stamped the vote. */
  readonly credentialId: string;
  readonly isLive: boolean;
  readonly nowMs: number;
}

/** What a pending activity would run, with its parameters as they were sent. */
export interface Target {
  readonly operation: ActivityOperation;
  readonly version: ActivityVersion;
  readonly parameters: unknown;
}

/** Pure. Throws what the voter must be told; a stale or repeated body only reads (decision 5). */
export function judgeVote(
  ballot: Ballot,
  organization: Organization,
  { activity, votes }: ActivityWithVotes,
  target: Target | undefined,
): Judgement {
  const { actor, selection, digest, nowMs } = ballot;
  const mine = votes.filter((vote) => vote.userId === actor.userId);
  if (!ballot.isLive || mine.some((vote) => vote.messageDigest === digest)) return { kind: 'read' };
  const live = liveVotes(activity, votes, nowMs);
  if (activity.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED' || target === undefined) {
    // The bytes of the activity itself are also how its state is asked for.
    const asksForState = digest === activity.fingerprint;
    if (asksForState || live.some((vote) => vote.userId === actor.userId && vote.selection === selection)) {
      return { kind: 'read' };
    }
    const state = isTerminal(activity.status) ? 'already decided' : 'not open for votes';
    throw new ApiError('ACTIVITY_ALREADY_DECIDED', `the activity is ${state}: ${activity.status}`);
  }
  const eligible = mayVote(organization.rootUserIds, actor.userId);
  if (selection === 'VOTE_SELECTION_REJECTED') {
    if (!eligible && activity.proposerId !== actor.userId) throw notEligible();
    return { kind: 'reject' };
  }
  if (!eligible) throw notEligible();
  const startsRound = !roundIsOpen(activity, nowMs);
  const counted = approvers(live);
  // A second approval by the same user adds only its credential, but the quorum may have changed since the first.
  const counts = !counted.includes(actor.userId);
  const decision = decide({
    governedBy: target.operation.policy.governedBy,
    rootThreshold: organization.rootThreshold,
    rootUserIds: organization.rootUserIds,
    approvers: counts ? [...counted, actor.userId] : counted,
    managesCredentialsOf: target.operation.managesCredentialsOf?.(target.parameters),
  });
  // A vote completes or leaves pending; it never denies implicitly (POL 14, step 9).
  if (decision.outcome === 'ALLOW') return { kind: 'execute', counts, startsRound };
  const isKnown = live.some((vote) => vote.userId === actor.userId && vote.credentialId === ballot.credentialId);
  return !counts && isKnown ? { kind: 'read' } : { kind: 'record', counts, startsRound };
}

const notEligible = (): ApiError =>
  new ApiError(
    'REQUEST_NOT_AUTHORIZED',
    "You don't have sufficient permissions to take this action. Your vote does not count for this activity",
    {
      details: [
        {
          '@type': 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
          message: 'the user is not part of any consensus that this activity waits for',
          policyEvaluations: [],
        },
      ],
    },
  );
