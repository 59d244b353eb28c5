import { approvals, approvers, inRound, liveVotes, owesProofs, roundIsOpen } from '../activities/rounds.ts';
import { isTerminal } from '../activities/status.ts';
import type { Actor } from '../lib/actor.ts';
import { ApiError } from '../lib/errors.ts';
import type { MfaRequirement, VoteSelection } from '../lib/model.ts';
import type { ActivityWithVotes } from '../storage/stores/activities.ts';
import type { ReadStores } from '../storage/stores.ts';
import type { App } from './app.ts';
import { denialError, denialReason } from './denial.ts';
import { type Approver, type Hearing, hear, isInScope, openHearing, scalesOf, type Verdict } from './hearing.ts';
import type { Court } from './hold.ts';
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
  readonly court: Court;
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
  const hearing = await openHearing(bench.app, bench.read, bench.court, bench.matter, activity.id, nowMs);
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
  if (actor.credential.kind === 'attested' || actor.homeId !== hearing.organization.id) throw notEligible();
  const isEntitled = activity.proposerId === actor.userId || servesRootQuorum(hearing, actor);
  const earlier = approvals(liveVotes(activity, votes, ballot.nowMs)).map(toApproval);
  if (!isEntitled && !(await standingOf(scalesOf(hearing), earlier, approval)).counts) throw notEligible();
  return { kind: 'reject' };
}

async function judgeApproval(hearing: Hearing, ballot: Ballot, found: ActivityWithVotes): Promise<Judgement> {
  const { activity, votes } = found;
  const { approver, nowMs } = ballot;
  const { actor } = approver;
  const { userId } = actor;
  const live = liveVotes(activity, votes, nowMs);
  // One's own earlier approvals count with this one, once what is to be proven is proven.
  const earlier = approvals(live, userId).map(toApproval);
  const isAwaited = activity.status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';
  const subject = await hearing.matter.subject();
  const awaitedId = subject?.userId ?? activity.proposerId;
  if (isAwaited && awaitedId !== userId) {
    throw new ApiError('FAILED_PRECONDITION', 'nobody else can vote before the required factors are proven');
  }
  if (isAwaited && subject !== undefined && activity.proposerId !== userId) {
    return await judgeProof(hearing, ballot, found);
  }
  // Who decides is of the organization that decides; a key that nobody registered completes a vote and never is one.
  if (actor.homeId !== hearing.organization.id) throw notEligible();
  if (actor.credential.kind === 'attested' && !isAwaited && !owesProofs(live, userId)) {
    throw new ApiError('UNAUTHENTICATED', 'an attested stamp proves a factor that is asked for; it is no vote');
  }
  const awaitsProposer = isAwaited;
  // The quorum can act even where what the activity is about is gone and no policy can be asked.
  const isEntitled = awaitsProposer || servesRootQuorum(hearing, actor);
  if (!isEntitled && !(await standingOf(scalesOf(hearing), earlier, approver.approval)).counts) throw notEligible();
  const startsRound = !roundIsOpen(activity, nowMs);
  const requirement = await requirementOf(hearing, found, userId, startsRound, nowMs);
  // While the proposer proves who it is, the activity is still being submitted.
  const { organization } = hearing;
  const party = { organization, userId, evidence: approver.evidence };
  const approved = [...earlier, approver.approval];
  const verdict = await hear(hearing, approved, party, requirement, awaitsProposer ? 'SUBMISSION' : 'VOTE');
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

/** The user of a login proves who it is. That is no approval: those of the proposer and others decide. */
async function judgeProof(hearing: Hearing, ballot: Ballot, found: ActivityWithVotes): Promise<Judgement> {
  const { activity, votes } = found;
  const { approver, nowMs } = ballot;
  const { userId } = approver.actor;
  const live = liveVotes(activity, votes, nowMs);
  const startsRound = !roundIsOpen(activity, nowMs);
  // Its proposer's approval lapsed with the round, and a login is asked for again sooner than approved again.
  if (startsRound) throw new ApiError('FAILED_PRECONDITION', 'the login was not completed in time');
  const requirement = await requirementOf(hearing, found, userId, startsRound, nowMs);
  const party = { organization: hearing.target, userId, evidence: approver.evidence };
  const verdict = await hear(hearing, approvals(live).map(toApproval), party, requirement, 'SUBMISSION');
  if (verdict.kind === 'authenticate' && verdict.requirement.proofs.length === (requirement?.proofs.length ?? 0)) {
    if (live.filter((vote) => vote.userId === userId).length >= USELESS_VOTES_MAX) return { kind: 'read' };
  }
  return { kind: 'approve', verdict, rules: hearing.rules, counts: false, startsRound };
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
