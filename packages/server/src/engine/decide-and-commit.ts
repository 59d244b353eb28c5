import type { Authenticated } from '../authn/stamped.ts';
import type { Actor } from '../core/actor.ts';
import { Events } from '../core/events.ts';
import type { Activity, Vote } from '../core/model.ts';
import { ActivityStore } from '../core/store/activities.ts';
import type { ActivityWithVotes } from '../core/store/activity-reader.ts';
import { ActivityReader } from '../core/store/activity-reader.ts';
import { SealedResultStore } from '../core/store/sealed-results.ts';
import { assert } from '../lib/assert.ts';
import { ApiError } from '../lib/errors.ts';
import type { WebhookEndpointId } from '../lib/ids.ts';
import { together } from '../lib/together.ts';
import { turnAfter } from '../lib/turn.ts';
import type { Stores } from '../storage/stores.ts';
import { type ActivityMover, isTerminal } from './activities/status.ts';
import { type Asked, admit } from './admit.ts';
import { announceActivity } from './announce-activity.ts';
import type { App } from './app.ts';
import { isSameVoteOutcome, type VoteOutcome } from './decide-vote.ts';
import { denialError, denialReason } from './denial.ts';
import type { Execution } from './execution.ts';
import {
  type AttemptNote,
  type Authority,
  hasBegun,
  inTurn,
  isSameAuthority,
  lockFor,
  requireSameDescription,
  requireSameKey,
  requireUnchanged,
  Stale,
  takeLater,
} from './hold.ts';
import { spendLoginToken } from './login-token.ts';
import { nextState } from './next-state.ts';
import { abandonedWith, evaluationsOf, keepReasons } from './outcome.ts';
import { prepareVote } from './prepare-vote.ts';
import { revealResult } from './secret-result.ts';
import type { ActivityAnswer, Submission } from './vote-draft.ts';
import type { Prepared, Target, VoteRequest } from './vote-request.ts';

/** How often a request is decided anew because something changed under it. */
const ATTEMPTS_MAX = 20;
/** After so many it waits in line with others of its organization, so that they no longer change things under each other. */
const ATTEMPTS_FREE = 3;

interface Way {
  readonly request: Submission['request'];
  /** Whom to admit. */
  readonly asked: Asked;
  /** When the body says that it was signed. */
  readonly timestampMs: number;
  /** What the caller is told that keeps changing, when it is decided anew too often. */
  readonly changing: 'organization' | 'activity';
  /** What the caller's request comes to: a vote, or just an answer. */
  readonly open: (caller: Authenticated) => Promise<VoteRequest | ActivityAnswer>;
}

/**
 * admit, decide, prepare, commit: the order of every activity and vote, written once. Where the organization or the activity
 * changed under a decision nothing is done, and it begins again with the caller's stamp: its credential may be gone.
 */
export async function decideAndCommit(
  app: App,
  { request, asked, timestampMs, changing, open }: Way,
): Promise<ActivityAnswer> {
  // One for the request, not for each attempt: what was tried or done outside is not tried or done again.
  const note: AttemptNote = { isNoted: false };
  const attempts = async (count: number): Promise<ActivityAnswer | undefined> => {
    for (let attempt = 1; attempt <= count; attempt += 1) {
      const caller = await admit(app, request, asked);
      requireBeyondFence(app, caller.actor, request, timestampMs);
      const opened = await open(caller);
      if (!('decide' in opened)) return opened;
      try {
        return await attemptOnce(app, opened, note);
      } catch (error) {
        if (!(error instanceof Stale)) throw error;
      }
    }
    return undefined;
  };
  const answer =
    (await attempts(ATTEMPTS_FREE)) ??
    (await app.late.run(asked.organizationId, () => attempts(ATTEMPTS_MAX - ATTEMPTS_FREE)));
  if (answer !== undefined) return answer;
  throw new ApiError('CONFLICT', `the ${changing} keeps changing, try again`, { retryAfterSeconds: 1 });
}

/**
 * After a restore nothing is decided or stored for an organization, or by one, until that is accepted, and no body of before
 * counts again (docs/decisions/0063). What the sign-up proxy asks for was made by this process just now.
 */
function requireBeyondFence(
  { storage: { fence } }: App,
  { organization, home }: Actor,
  { byService }: Way['request'],
  timestampMs: number,
): void {
  fence.requireLifted(organization);
  fence.requireLifted(home);
  if (byService !== true) fence.requireNewBody(timestampMs);
}

async function attemptOnce(app: App, request: VoteRequest, note: AttemptNote): Promise<ActivityAnswer> {
  const { actor, authority, found, target, bytes } = request;
  const decided = await request.decide({ read: app.storage.read, authority, intent: target?.intent, found });
  if (decided.kind === 'read') {
    assert(found !== undefined, 'a submission that is decided is new');
    return request.answer(found, decided);
  }
  await turnAfter(bytes);
  const draft = await request.draft(decided);
  // Keys are used and bytes are sealed before the transaction, which waits for nothing but the database.
  const prepared = await prepareVote(app, request, { draft, decided, note });
  const committed = await commit(app, request, prepared, note);
  wakeUp(app, committed, prepared.execution, target);
  await turnAfter(bytes);
  const { voteOutcome } = committed;
  if (voteOutcome.kind === 'approve' && voteOutcome.outcome.kind === 'deny') {
    const { outcome } = voteOutcome;
    // Why another organization refused is not for everybody who proves something to it.
    const isTold = actor.homeId === authority.decider.id;
    const why = isTold ? (outcome.why ?? denialReason(outcome.decision)) : denialReason(undefined);
    throw denialError(why, isTold ? evaluationsOf(outcome) : [], committed.id);
  }
  const shown = found === undefined ? committed.direct : await revealResult(app, actor, committed, request.nowMs);
  return request.answer(shown, voteOutcome);
}

/** What the transaction left, and whom it is to be told. */
type Committed = ActivityWithVotes & {
  readonly voteOutcome: VoteOutcome;
  /** With the secrets of the result, which only the direct answer to the proposer shows. */
  readonly direct: ActivityWithVotes;
  readonly hasMoved: boolean;
  /** The webhook endpoints that are to be told. */
  readonly told: readonly WebhookEndpointId[];
};

/** Commits the vote if what was decided still stands. */
async function commit(app: App, request: VoteRequest, prepared: Prepared, note: AttemptNote): Promise<Committed> {
  const { actor, submission, found } = request;
  const { execution } = prepared;
  const mode = execution?.lock ?? 'shared';
  const options = inTurn(actor, { mode, isLong: execution?.isLong ?? false, note });
  try {
    return await app.storage.write(async (stores) => {
      // A client that left is not worked for, unless something was done for it that stands.
      if (!hasBegun(note)) submission.request.passage?.requireClient();
      const held = await hold(stores, request, prepared);
      return await record(app, stores, request, { prepared, held });
    }, options);
  } catch (error) {
    // The same bytes may have won a race and now stand in their own way; then the answer is that activity.
    if (found === undefined && error instanceof ApiError && error.code !== 'UNAVAILABLE') {
      const { organizationId } = actor;
      const { fingerprint } = submission.body;
      if ((await app.storage.read(ActivityReader).idByFingerprint(organizationId, fingerprint)) !== undefined) {
        throw new Stale();
      }
    }
    throw error;
  }
}

/** What the transaction found under its locks. */
interface Held {
  readonly authority: Authority;
  /** Undefined before the first vote. */
  readonly locked: ActivityWithVotes | undefined;
  readonly voteOutcome: VoteOutcome;
  /** Throws Stale where the parameters are by now about something else than what was prepared. */
  readonly requireSame: () => Promise<void>;
}

/** Makes sure, for the rest of the transaction, that what was decided still stands. */
async function hold(stores: Stores, request: VoteRequest, { expected, execution }: Prepared): Promise<Held> {
  const { actor, target } = request;
  // Organizations before the activity, in every transaction: otherwise two of them could wait for each other.
  // Who is to be told of a first vote, and what it begins with, is read with the locks; before a later one others may have
  // to be waited for.
  const readAhead = () => together([stores(Events).readAhead(request.authority.target), execution?.readAhead(stores)]);
  const authority = await lockFor(stores, actor, execution?.lock ?? 'shared', {
    authorityId: request.authority.decider.id,
    alongside: () => (request.found ? undefined : readAhead()),
  });
  // Bodies are sealed as the caller's, and whatever is executed as the proposer's.
  requireSameKey(actor.organization, authority);
  requireSameKey(target?.intent.proposer.organization, authority);
  const locked = request.found && (await lockActivity(stores, actor, request.found));
  const ahead = locked && execution?.readAhead(stores);
  if (ahead !== undefined) await takeLater(stores, actor, ahead);
  const isUnchanged = isSameAuthority(authority, request.authority);
  if (!isUnchanged) await requireUnchangedUsers(stores, request);
  const intent = target?.intent.inside(stores, isUnchanged);
  const requireSame = async (): Promise<void> => {
    if (isUnchanged || target === undefined || intent === undefined) return;
    await requireSameDescription(target.intent, intent);
  };
  // A first vote depends on the organization alone, so its decision stands while that is unchanged
  // (docs/decisions/0001).
  // Others may have voted since a later one was decided, so it is decided again, with the activity's row held.
  if (locked === undefined && isUnchanged) return { authority, locked, voteOutcome: expected, requireSame };
  const voteOutcome = await request.decide({ read: stores, authority, intent, found: locked });
  // What a submission has drafted and prepared serves one outcome only.
  if (locked === undefined && !isSameVoteOutcome(voteOutcome, expected)) throw new Stale();
  return { authority, locked, voteOutcome, requireSame };
}

/** Writes the vote, and what it makes happen. */
async function record(
  app: App,
  stores: Stores,
  request: VoteRequest,
  { prepared, held }: { readonly prepared: Prepared; readonly held: Held },
): Promise<Committed> {
  const { actor, target, nowMs } = request;
  const { draft, execution } = prepared;
  const { authority, locked, voteOutcome, requireSame } = held;
  const announced = (found: ActivityWithVotes) => announceActivity(app, stores, found, authority.target, nowMs);
  if (voteOutcome.kind === 'read' || voteOutcome.kind === 'fail') {
    assert(locked !== undefined, 'a first vote is an approval');
    if (voteOutcome.kind === 'read') return { ...locked, voteOutcome, direct: locked, hasMoved: false, told: [] };
    const activity = abandonedWith({ ...locked.activity, updatedAtMs: nowMs }, voteOutcome.failure);
    await stores(ActivityStore).update(activity);
    const failed = { ...locked, activity };
    return { ...failed, voteOutcome, direct: failed, hasMoved: true, told: await announced(failed) };
  }
  const startsRound = voteOutcome.kind === 'approve' && voteOutcome.startsRound;
  const current = locked?.activity ?? draft.activity;
  const roundStartedAtMs = startsRound ? nowMs : current.roundStartedAtMs;
  const vote: Vote = { ...draft.vote, roundStartedAtMs, counts: voteOutcome.kind === 'reject' || voteOutcome.counts };
  const next = await nextState(stores, {
    activity: { ...current, roundStartedAtMs, updatedAtMs: nowMs },
    vote,
    by: moverOf(actor, current, voteOutcome),
    voteOutcome,
    execution,
    target: authority.target,
    secretResults: target?.version.secretResults ?? [],
    requireSame,
  });
  const { activity, secret } = next;
  const { organizationId, id } = activity;
  const proofs = activity.status === 'ACTIVITY_STATUS_COMPLETED' ? (execution?.proofs ?? []) : [];
  const stored = { id, activity, votes: [...(locked?.votes ?? []), vote], proofs };
  // None of these waits for another, so they travel together.
  const [, told] = await together([
    locked === undefined
      ? stores(ActivityStore).insert(activity, [vote])
      : together([stores(ActivityStore).insertVote(activity, vote), stores(ActivityStore).update(activity)]),
    // Endpoints are told of what stands when the rest of the transaction is done, and nothing below concerns them.
    announced(stored),
    secret && stores(SealedResultStore).insert(organizationId, id, secret, nowMs),
    stores(ActivityStore).insertProofs(organizationId, id, proofs),
    voteOutcome.kind === 'approve' && keepReasons(stores, activity, vote, voteOutcome.outcome),
    locked === undefined && !isTerminal(activity.status) && spendLoginToken(stores, actor, activity),
  ]);
  const { votes } = stored;
  const direct = { id, activity: { ...activity, result: next.result }, votes, proofs };
  return { id, activity, votes, proofs, voteOutcome, direct, hasMoved: activity.status !== current.status, told };
}

/** As whom the voter moves the activity. While proofs are missing, only those who owe them approve. */
function moverOf({ userId }: Actor, { status, proposerId }: Activity, { kind }: VoteOutcome): ActivityMover {
  if (userId === proposerId) return 'proposer';
  return kind === 'approve' && status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED' ? 'login-user' : 'voter';
}

async function lockActivity(
  stores: Stores,
  { organizationId }: Actor,
  { id }: ActivityWithVotes,
): Promise<ActivityWithVotes> {
  const locked = await stores(ActivityStore).lock(organizationId, id);
  if (locked === undefined) throw activityNotFound();
  return locked;
}

export const activityNotFound = (): ApiError =>
  new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');

/** The voter, and the proposer as whom it would run. */
async function requireUnchangedUsers(stores: Stores, { actor, target }: VoteRequest): Promise<void> {
  await requireUnchanged(stores, actor);
  const proposer = target?.intent.proposer;
  if (proposer !== undefined && proposer !== actor) await requireUnchanged(stores, proposer);
}

/** Everybody who waits for what was committed; once, and only after the commit. */
function wakeUp(
  app: App,
  { activity, hasMoved, told }: Committed,
  execution: Execution | undefined,
  target?: Target,
): void {
  if (hasMoved) app.observe.activity(activity);
  app.feed.changed(activity.organizationId);
  app.webhooks.wake(told);
  const hasRun = hasMoved && activity.status === 'ACTIVITY_STATUS_COMPLETED';
  if (!hasRun || execution === undefined || target === undefined) return;
  const { operation } = target.intent;
  execution.announce();
  if (operation.sendsMessages) app.outbox.wake();
  if (operation.sendsTransactions) app.sends.wake(execution.lanes);
}
