import { approvals, approvers, inRound, liveVotes, roundIsOpen } from '../activities/rounds.ts';
import { isTerminal } from '../activities/status.ts';
import type { Actor } from '../lib/actor.ts';
import { ApiError } from '../lib/errors.ts';
import type { MfaRequirement, Organization, VoteSelection } from '../lib/model.ts';
import type { ActivityWithVotes } from '../storage/stores/activities.ts';
import type { ReadStores } from '../storage/stores.ts';
import type { App } from './app.ts';
import { denialError, denialReason } from './denial.ts';
import { type Approver, type Hearing, hear, isInScope, openHearing, scalesOf, type Verdict } from './hearing.ts';
import type { Matter } from './matter.ts';
import { toApproval } from './members.ts';
import type { Rulebook } from './rulebooks.ts';
import { standingOf } from './weigh.ts';

const USELESS_VOTES_MAX = 50;

/** What a vote would do, judged on one state of organization and activity. */
export type Judgement =
  | { readonly kind: 'read' }
  | { readonly kind: 'reject' }
  | {
      readonly kind: 'approve';
      readonly verdict: Verdict;
      readonly rules: Rulebook;
      /** Whether the user's approval counts from now on; a further one of the same user adds only its credential. */
      readonly counts: boolean;
      readonly startsRound: boolean;
    };

export interface Ballot {
  readonly approver: Approver;
  readonly selection: VoteSelection;
  readonly digest: string;
  /** The API key or authenticator that stamped the vote. */
  readonly credentialId: string;
  readonly isLive: boolean;
  readonly nowMs: number;
}

/** The state that a vote is judged on: outside the transaction first, and again in it. */
export interface Bench {
  readonly app: App;
  readonly read: ReadStores;
  readonly organization: Organization;
  readonly found: ActivityWithVotes;
  /** What a pending activity would run; undefined where nothing is pending. */
  readonly matter: Matter | undefined;
}

/** Throws what the voter must be told; a stale or repeated body only reads (decision 5). */
export async function judgeVote(bench: Bench, ballot: Ballot): Promise<Judgement> {
  const { activity, votes } = bench.found;
  const { selection, digest, nowMs } = ballot;
  const { userId } = ballot.approver.actor;
  const mine = votes.filter((vote) => vote.userId === userId);
  if (!ballot.isLive || mine.some((vote) => vote.messageDigest === digest)) return { kind: 'read' };
  const live = liveVotes(activity, votes, nowMs);
  const isOpen =
    activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' ||
    activity.status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';
  if (!isOpen || bench.matter === undefined) {
    // The bytes of the activity itself are also how its state is asked for.
    const asksForState = digest === activity.fingerprint;
    if (asksForState || live.some((vote) => vote.userId === userId && vote.selection === selection)) {
      return { kind: 'read' };
    }
    const state = isTerminal(activity.status) ? 'already decided' : 'not open for votes';
    throw new ApiError('ACTIVITY_ALREADY_DECIDED', `the activity is ${state}: ${activity.status}`);
  }
  const hearing = await openHearing(bench.app, bench.read, bench.organization, bench.matter, activity.id, nowMs);
  if (!(await isInScope(hearing, ballot.approver.actor))) throw denialError(denialReason(undefined), []);
  return selection === 'VOTE_SELECTION_REJECTED'
    ? await judgeRejection(hearing, ballot, bench.found)
    : await judgeApproval(hearing, ballot, bench.found);
}

/** Anyone whose approval could count may reject, and so may the proposer (RES 1.8). */
async function judgeRejection(
  hearing: Hearing,
  ballot: Ballot,
  { activity, votes }: ActivityWithVotes,
): Promise<Judgement> {
  const { approval, actor } = ballot.approver;
  const isEntitled = activity.proposerId === actor.userId || servesRootQuorum(hearing, actor);
  const earlier = approvals(liveVotes(activity, votes, ballot.nowMs)).map(toApproval);
  if (!isEntitled && !(await standingOf(scalesOf(hearing), earlier, approval)).counts) throw notEligible();
  return { kind: 'reject' };
}

async function judgeApproval(hearing: Hearing, ballot: Ballot, found: ActivityWithVotes): Promise<Judgement> {
  const { activity, votes } = found;
  const { approver, nowMs } = ballot;
  const { userId } = approver.actor;
  const live = liveVotes(activity, votes, nowMs);
  // One's own earlier approvals count with this one, once what is to be proven is proven.
  const earlier = approvals(live, userId).map(toApproval);
  const awaitsProposer = activity.status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';
  if (awaitsProposer && activity.proposerId !== userId) {
    throw new ApiError('FAILED_PRECONDITION', 'nobody else can vote before the proposer has completed MFA');
  }
  // The quorum can act even where what the activity is about is gone and no policy can be asked.
  const isEntitled = awaitsProposer || servesRootQuorum(hearing, approver.actor);
  if (!isEntitled && !(await standingOf(scalesOf(hearing), earlier, approver.approval)).counts) throw notEligible();
  const startsRound = !roundIsOpen(activity, nowMs);
  const requirement = await requirementOf(hearing, found, userId, startsRound, nowMs);
  // While the proposer proves who it is, the activity is still being submitted.
  const verdict = await hear(hearing, approver, earlier, requirement, awaitsProposer ? 'SUBMISSION' : 'VOTE');
  const isCounted = approvers(live).includes(userId);
  const isKnown = live.some((vote) => vote.userId === userId && vote.credentialId === ballot.credentialId);
  if (verdict.kind === 'wait' && isCounted && isKnown) return { kind: 'read' };
  // A factor that proves nothing new is kept as a vote without weight, though not any number of them.
  if (verdict.kind === 'authenticate' && verdict.requirement.proofs.length === (requirement?.proofs.length ?? 0)) {
    const own = live.filter((vote) => vote.userId === userId).length;
    if (isKnown && own >= USELESS_VOTES_MAX) return { kind: 'read' };
  }
  const counts = verdict.kind !== 'authenticate' && !isCounted;
  return { kind: 'approve', verdict, rules: hearing.rules, counts, startsRound };
}

const servesRootQuorum = ({ organization }: Hearing, { userId }: Actor): boolean =>
  organization.rootUserIds.includes(userId) && organization.rootUserIds.length >= organization.rootThreshold;

async function requirementOf(
  { read }: Hearing,
  { activity }: ActivityWithVotes,
  userId: string,
  startsRound: boolean,
  nowMs: number,
): Promise<MfaRequirement | undefined> {
  if (!activity.hasMfa) return undefined;
  const requirements = await read.mfa.requirements(activity.organizationId, activity.id);
  const mine = requirements.find((requirement) => requirement.userId === userId);
  return mine && inRound(mine, activity, startsRound, nowMs);
}

const notEligible = (): ApiError =>
  denialError(
    'Your vote does not count for this activity: the user is not part of any consensus that this activity waits for',
    [],
  );
