import type { Actor } from '../core/actor.ts';
import type { MfaRequirement, StoredError, Vote, VoteSelection } from '../core/model.ts';
import { MfaPolicies } from '../core/rules.ts';
import type { ActivityWithVotes } from '../core/store/activity-reader.ts';
import { ApiError } from '../lib/errors.ts';
import type { UserId } from '../lib/ids.ts';
import type { Approval } from '../policy/index.ts';
import type { ReadStores } from '../storage/stores.ts';
import type { AccessRules } from './access-rules.ts';
import { approvals, approvers, inRound, liveVotes, owesProofs, roundIsOpen } from './activities/rounds.ts';
import { isTerminal } from './activities/status.ts';
import type { App } from './app.ts';
import {
  type Approver,
  type Authorization,
  authorize,
  enforcedMfa,
  isInScope,
  type MfaSubject,
  type Outcome,
  openAuthorization,
  ruleInputsOf,
  subjectOf,
} from './authorize.ts';
import { standingOf } from './decide-by-rules.ts';
import { denialError, denialReason } from './denial.ts';
import type { Authority } from './hold.ts';
import type { Intent } from './intent.ts';
import { toApprovals } from './members.ts';
import { isSatisfied } from './rules/mfa.ts';

const USELESS_VOTES_MAX = 50;

/** What a vote would do, decided on one state of organization and activity. */
export type VoteOutcome =
  | { readonly kind: 'read' }
  /** The activity can no longer run, whatever the vote says. */
  | { readonly kind: 'fail'; readonly failure: StoredError }
  | { readonly kind: 'reject' }
  | {
      readonly kind: 'approve';
      readonly outcome: Outcome;
      readonly rules: AccessRules;
      /** The earlier votes that are alive. */
      readonly live: readonly Vote[];
      /** Whether the user's approval counts from now on; a further one of the same user adds only its credential. */
      readonly counts: boolean;
      readonly startsRound: boolean;
    };

/** Whether a submission leads to the same; its reasons may have changed, and those of the transaction are kept. */
export const isSameVoteOutcome = (now: VoteOutcome, before: VoteOutcome): boolean =>
  now.kind === 'approve' &&
  before.kind === 'approve' &&
  now.outcome.kind === before.outcome.kind &&
  askedBy(now.outcome).join() === askedBy(before.outcome).join();

const askedBy = (outcome: Outcome): string[] =>
  outcome.kind === 'deny' ? [] : outcome.requirements.map(({ mfaPolicyId }) => mfaPolicyId);

export interface CastVote {
  readonly approver: Approver;
  readonly selection: VoteSelection;
  readonly digest: string;
  /** The API key or authenticator that stamped the vote. */
  readonly credentialId: string;
  readonly isLive: boolean;
  readonly nowMs: number;
}

/** The state that a vote is decided on: outside the transaction first, and again in it. */
export interface VoteContext {
  readonly app: App;
  readonly read: ReadStores;
  readonly authority: Authority;
  readonly found: ActivityWithVotes;
  /** What a pending activity would run; undefined where nothing is pending. */
  readonly intent: Intent | undefined;
  /** Why a pending activity cannot run any more. */
  readonly ended: StoredError | undefined;
}

/** Throws what the voter must be told; a stale or repeated body only reads (protocol/consensus 2.3). */
export async function decideVote(context: VoteContext, cast: CastVote): Promise<VoteOutcome> {
  const { activity, votes } = context.found;
  const { selection, digest, nowMs } = cast;
  const { userId } = cast.approver.actor;
  const mine = votes.filter((vote) => vote.userId === userId);
  if (!cast.isLive || mine.some((vote) => vote.messageDigest === digest)) return { kind: 'read' };
  const live = liveVotes(activity, votes, nowMs);
  const isOpen =
    activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' ||
    activity.status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';
  if (isOpen && context.ended !== undefined) return { kind: 'fail', failure: context.ended };
  if (!isOpen || context.intent === undefined) {
    // The bytes of the activity itself are also how its state is asked for.
    const asksForState = digest === activity.fingerprint;
    if (asksForState || live.some((vote) => vote.userId === userId && vote.selection === selection)) {
      return { kind: 'read' };
    }
    const state = isTerminal(activity.status) ? 'already decided' : 'not open for votes';
    throw new ApiError('ACTIVITY_ALREADY_DECIDED', `the activity is ${state}: ${activity.status}`);
  }
  const { app, read, authority, intent } = context;
  const authorization = await openAuthorization(app, { read, authority, intent, activityId: activity.id, nowMs });
  if (!(await isInScope(authorization, cast.approver.actor))) throw denialError(denialReason(undefined), []);
  if (selection === 'VOTE_SELECTION_REJECTED') return await decideRejection(authorization, cast, context.found);
  const voteOutcome = await decideApproval(authorization, cast, context.found);
  // It was allowed to wait, and is not denied because what it is about is gone or cannot be described any more.
  const refusal = intent.refusal();
  if (voteOutcome.kind === 'approve' && voteOutcome.outcome.kind === 'deny' && refusal !== undefined) throw refusal;
  return voteOutcome;
}

/** Anyone whose approval could count may reject, and so may the proposer (protocol/consensus 2.5). */
async function decideRejection(
  authorization: Authorization,
  cast: CastVote,
  { activity, votes }: ActivityWithVotes,
): Promise<VoteOutcome> {
  const { approval, actor } = cast.approver;
  if (actor.credential.kind === 'attested' || actor.homeId !== authorization.organization.id) throw notEligible();
  const isEntitled = activity.proposerId === actor.userId || servesRootQuorum(authorization, actor);
  const earlier = toApprovals(approvals(liveVotes(activity, votes, cast.nowMs)));
  if (!isEntitled && !(await standingOf(ruleInputsOf(authorization), earlier, approval)).counts)
    throw notEligible(authorization);
  return { kind: 'reject' };
}

async function decideApproval(
  authorization: Authorization,
  cast: CastVote,
  found: ActivityWithVotes,
): Promise<VoteOutcome> {
  const { activity, votes } = found;
  const { approver, nowMs } = cast;
  const { actor, evidence } = approver;
  const { userId } = actor;
  const startsRound = !roundIsOpen(activity, nowMs);
  const known = await requirementsOf(authorization, found, startsRound, nowMs);
  const live = liveVotes(activity, votes, nowMs, (voterId) => !owes(known(voterId)));
  const subject = await subjectOf(authorization, authorization.intent.proposer, activity.fingerprint);
  const isAwaited = activity.status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';
  const proposerOwes = activity.proposerId !== undefined && owes(known(activity.proposerId));
  const awaitedId = proposerOwes || subject === undefined ? activity.proposerId : subject.userId;
  if (isAwaited && awaitedId !== userId) {
    throw new ApiError('FAILED_PRECONDITION', 'nobody else can vote before the required factors are proven');
  }
  const provesOnly = subject?.userId === userId;
  if (isAwaited && provesOnly) return await decideProof(authorization, cast, found, known);
  // Who decides is of the organization that decides.
  if (actor.homeId !== authorization.organization.id) throw notEligible();
  const { credential } = actor;
  if (credential.kind === 'attested' && (provesOnly || !owesProofs(live, userId))) {
    throw new ApiError('UNAUTHENTICATED', 'an attested stamp proves a factor that is asked for; it is no vote');
  }
  const isRecovery =
    credential.kind === 'api-key' && credential.apiKey.type === 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256';
  if (isRecovery && activity.proposerId !== userId) throw notEligible();
  // One's own earlier approvals count with this one, once what is to be proven is proven; proofs of a login do not.
  const earlier = toApprovals(approvals(live, provesOnly ? undefined : userId));
  // The quorum can act even where what the activity is about is gone and no policy can be asked.
  const isEntitled = isAwaited || servesRootQuorum(authorization, actor);
  if (!isEntitled && !(await standingOf(ruleInputsOf(authorization), earlier, approver.approval)).counts) {
    throw notEligible(authorization);
  }
  const own: MfaSubject = { organization: authorization.organization, userId, evidence };
  const mfaSubjects = isAwaited && subject !== undefined ? [own, subject] : [own];
  // While the proposer proves who it is, the activity is still being submitted.
  const outcome = await authorize(authorization, {
    approvals: withApproval(earlier, approver),
    mfaSubjects: async () => mfaSubjects,
    known,
    phase: isAwaited ? 'SUBMISSION' : 'VOTE',
  });
  if (outcome.kind === 'execute' && !isAwaited) await requireProvenLogin(authorization, subject, known);
  const isCounted = approvers(live).includes(userId);
  const isKnown = live.some((vote) => vote.userId === userId && vote.credentialId === cast.credentialId);
  if (outcome.kind === 'wait' && isCounted && isKnown) return { kind: 'read' };
  if (isUseless(outcome, userId, known) && isKnown && countOf(live, userId) >= USELESS_VOTES_MAX) {
    return { kind: 'read' };
  }
  const counts = !(outcome.kind === 'authenticate' && outcome.owedBy === userId) && !isCounted;
  return { kind: 'approve', outcome, rules: authorization.rules, live, counts, startsRound };
}

/** The user of a login proves who it is. That is no approval: those of the proposer and others decide. */
async function decideProof(
  authorization: Authorization,
  { approver }: CastVote,
  { activity, votes }: ActivityWithVotes,
  known: Known,
): Promise<VoteOutcome> {
  const { evidence, actor } = approver;
  const { userId } = actor;
  const live = liveVotes(activity, votes, authorization.nowMs, (voterId) => !owes(known(voterId)));
  const given = toApprovals(approvals(live));
  // The approval that asked for it lapses with its round, and a login is asked for again sooner than approved again.
  if (given.length === 0) throw new ApiError('FAILED_PRECONDITION', 'the login was not completed in time');
  const mfaSubject: MfaSubject = { organization: authorization.target, userId, evidence };
  const mfaSubjects = async () => [mfaSubject];
  const outcome = await authorize(authorization, { approvals: given, mfaSubjects, known, phase: 'SUBMISSION' });
  if (isUseless(outcome, userId, known) && countOf(live, userId) >= USELESS_VOTES_MAX) return { kind: 'read' };
  return { kind: 'approve', outcome, rules: authorization.rules, live, counts: false, startsRound: false };
}

/** Others completed it: what the user of the login has to prove must be proven, by that user and for this round. */
async function requireProvenLogin(
  authorization: Authorization,
  subject: MfaSubject | undefined,
  known: Known,
): Promise<void> {
  if (subject === undefined) return;
  const requirement = known(subject.userId);
  const isOwed =
    requirement === undefined ? (await enforcedMfa(authorization, subject)) !== undefined : !isSatisfied(requirement);
  if (!isOwed) return;
  throw new ApiError(
    'FAILED_PRECONDITION',
    'the user who is to be logged in has to prove more: ask for the login again',
  );
}

/** A token adds no credential to what its user has approved already; the voter comes last. */
function withApproval(earlier: readonly Approval[], { actor, approval }: Approver): Approval[] {
  if (actor.credential.kind !== 'attested') return [...earlier, approval];
  const own = earlier.filter(({ userId }) => userId === actor.userId);
  const others = earlier.filter(({ userId }) => userId !== actor.userId);
  return [...others, ...(own.length > 0 ? own : [approval])];
}

/** A factor that proves nothing new is kept as a vote without weight, though not any number of them. */
function isUseless(outcome: Outcome, userId: UserId, known: Known): boolean {
  if (outcome.kind !== 'authenticate' || outcome.owedBy !== userId) return false;
  const now = outcome.requirements.find((requirement) => requirement.userId === userId);
  return now?.proofs.length === (known(userId)?.proofs.length ?? 0);
}

const countOf = (live: readonly Vote[], userId: UserId): number => live.filter((vote) => vote.userId === userId).length;

const servesRootQuorum = ({ organization }: Authorization, { userId }: Actor): boolean =>
  organization.rootUserIds.includes(userId) && organization.rootUserIds.length >= organization.rootThreshold;

export type Known = (userId: UserId) => MfaRequirement | undefined;

const owes = (requirement: MfaRequirement | undefined): boolean =>
  requirement !== undefined && !isSatisfied(requirement);

/** What users have to prove in this round, as far as it was asked for. */
export async function requirementsOf(
  { read }: Pick<Authorization, 'read'>,
  { activity, votes }: ActivityWithVotes,
  startsRound: boolean,
  nowMs: number,
): Promise<Known> {
  const requirements = activity.hasMfa
    ? await read(MfaPolicies).requirements(activity.organizationId, activity.id)
    : [];
  const revoked = new Set(votes.filter((vote) => vote.revoked).map(({ credentialId }) => credentialId));
  return (userId) => {
    const found = requirements.find((requirement) => requirement.userId === userId);
    return found && withoutProofsOf(revoked, inRound(found, activity, startsRound, nowMs));
  };
}

/** Steps are proven in sequence, so those after a proof that no longer holds are to be proven again too. */
function withoutProofsOf(revoked: ReadonlySet<string>, requirement: MfaRequirement): MfaRequirement {
  const firstLost = requirement.proofs.findIndex(({ credentialId }) => revoked.has(credentialId));
  if (firstLost < 0) return requirement;
  return { ...requirement, proofs: requirement.proofs.slice(0, firstLost), satisfiedAtMs: undefined };
}

/**
 * Where policies saw nothing of what it is about, because that is gone, nobody can tell whose vote would have counted.
 */
const notEligible = (authorization?: Authorization): ApiError =>
  authorization?.intent.refusal() ??
  denialError(
    'Your vote does not count for this activity: the user is not part of any consensus that this activity waits for',
    [],
  );
