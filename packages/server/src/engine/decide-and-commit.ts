import type { Authenticated } from '../authn/stamped.ts';
import type { Actor } from '../core/actor.ts';
import type { Activity, Vote } from '../core/model.ts';
import type { ActivityWithVotes } from '../core/store/activities.ts';
import { ActivityReader, ActivityStore } from '../core/store/activities.ts';
import { SealedResultStore } from '../core/store/sealed-results.ts';
import { assert } from '../lib/assert.ts';
import { ApiError } from '../lib/errors.ts';
import type { WebhookEndpointId } from '../lib/ids.ts';
import { turnAfter } from '../lib/turn.ts';
import type { Stores } from '../storage/stores.ts';
import { type ActivityMover, isTerminal } from './activities/status.ts';
import { type Asked, admit } from './admit.ts';
import { announceActivity } from './announce-activity.ts';
import type { App } from './app.ts';
import type { ActivityAnswer, Submission } from './ballot.ts';
import { denialError, denialReason } from './denial.ts';
import type { Effect } from './effect.ts';
import {
  type AttemptNote,
  type Court,
  hasBegun,
  inTurn,
  isSameCourt,
  lockFor,
  requireSameDescription,
  requireUnchanged,
  Stale,
} from './hold.ts';
import { isSameJudgement, type Judgement } from './judge-vote.ts';
import { spendLoginToken } from './login-token.ts';
import { nextState } from './next-state.ts';
import { abandonedWith, evaluationsOf, keepGrounds } from './outcome.ts';
import { prepareVote } from './prepare-vote.ts';
import { revealResult } from './secret-result.ts';
import type { Prepared, Target, VoteRequest } from './vote-request.ts';

/** How often a request is decided anew because something changed under it. */
const ATTEMPTS_MAX = 20;

interface Way {
  readonly request: Submission['request'];
  /** Whom to admit. */
  readonly asked: Asked;
  /** What the caller is told that keeps changing, when it is decided anew too often. */
  readonly changing: 'organization' | 'activity';
  /** What the caller's request comes to: a vote, or just an answer. */
  readonly open: (caller: Authenticated) => Promise<VoteRequest | ActivityAnswer>;
}

/**
 * admit, decide, prepare, commit: the order of every activity and vote, written once. Where the organization or the activity
 * changed under a decision nothing is done, and it begins again with the caller's stamp: its credential may be gone.
 */
export async function decideAndCommit(app: App, { request, asked, changing, open }: Way): Promise<ActivityAnswer> {
  // One for the request, not for each attempt: what was tried or done outside is not tried or done again.
  const note: AttemptNote = { isNoted: false };
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const caller = await admit(app, request, asked);
    const opened = await open(caller);
    if (!('judge' in opened)) return opened;
    try {
      return await attemptOnce(app, opened, note);
    } catch (error) {
      if (!(error instanceof Stale)) throw error;
    }
  }
  throw new ApiError('CONFLICT', `the ${changing} keeps changing, try again`, { retryAfterSeconds: 1 });
}

async function attemptOnce(app: App, request: VoteRequest, note: AttemptNote): Promise<ActivityAnswer> {
  const { actor, court, found, target, bytes } = request;
  const decided = await request.judge({ read: app.storage.read, court, matter: target?.matter, found });
  if (decided.kind === 'read') {
    assert(found !== undefined, 'a submission that is judged is new');
    return request.answer(found, decided);
  }
  await turnAfter(bytes);
  const draft = await request.draft(decided);
  // Keys are used and bytes are sealed before the transaction, which waits for nothing but the database.
  const prepared = await prepareVote(app, request, { draft, decided, note });
  const outcome = await commit(app, request, prepared, note);
  wakeUp(app, outcome, prepared.effect, target);
  await turnAfter(bytes);
  const { judgement } = outcome;
  if (judgement.kind === 'approve' && judgement.verdict.kind === 'deny') {
    const { verdict } = judgement;
    // Why another organization refused is not for everybody who proves something to it.
    const isTold = actor.homeId === court.authority.id;
    const why = isTold ? (verdict.why ?? denialReason(verdict.decision)) : denialReason(undefined);
    throw denialError(why, isTold ? evaluationsOf(verdict) : [], outcome.id);
  }
  const shown = found === undefined ? outcome.direct : await revealResult(app, actor, outcome, request.nowMs);
  return request.answer(shown, judgement);
}

/** What the transaction left, and whom it is to be told. */
type Outcome = ActivityWithVotes & {
  readonly judgement: Judgement;
  /** With the secrets of the result, which only the direct answer to the proposer shows. */
  readonly direct: ActivityWithVotes;
  readonly hasMoved: boolean;
  /** The webhook endpoints that are to be told. */
  readonly told: readonly WebhookEndpointId[];
};

/** Commits the vote if what was decided still stands. */
async function commit(app: App, request: VoteRequest, prepared: Prepared, note: AttemptNote): Promise<Outcome> {
  const { actor, submission, found } = request;
  const { effect } = prepared;
  const mode = effect?.lock ?? 'shared';
  const options = inTurn(actor, { mode, isLong: effect?.isLong ?? false, note });
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
  readonly court: Court;
  /** Undefined before the first vote. */
  readonly locked: ActivityWithVotes | undefined;
  readonly judgement: Judgement;
  /** Throws Stale where the parameters are by now about something else than what was prepared. */
  readonly requireSame: () => Promise<void>;
}

/** Makes sure, for the rest of the transaction, that what was decided still stands. */
async function hold(stores: Stores, request: VoteRequest, { expected, effect }: Prepared): Promise<Held> {
  const { actor, target } = request;
  // Organizations before the activity, in every transaction: otherwise two of them could wait for each other.
  const court = await lockFor(stores, actor, effect?.lock ?? 'shared', request.court.authority.id);
  const locked = request.found && (await lockActivity(stores, actor, request.found));
  const isUnchanged = isSameCourt(court, request.court);
  if (!isUnchanged) await requireUnchangedUsers(stores, request);
  const matter = target?.matter.inside(stores, isUnchanged);
  const requireSame = async (): Promise<void> => {
    if (isUnchanged || target === undefined || matter === undefined) return;
    await requireSameDescription(target.matter, matter);
  };
  // A first vote depends on the organization alone, so its decision stands while that is unchanged
  // (docs/decisions/0001).
  // Others may have voted since a later one was judged, so it is judged again, with the activity's row held.
  if (locked === undefined && isUnchanged) return { court, locked, judgement: expected, requireSame };
  const judgement = await request.judge({ read: stores, court, matter, found: locked });
  // What a submission has drafted and prepared serves one verdict only.
  if (locked === undefined && !isSameJudgement(judgement, expected)) throw new Stale();
  return { court, locked, judgement, requireSame };
}

/** Writes the vote, and what it makes happen. */
async function record(
  app: App,
  stores: Stores,
  request: VoteRequest,
  { prepared, held }: { readonly prepared: Prepared; readonly held: Held },
): Promise<Outcome> {
  const { actor, target, nowMs } = request;
  const { draft, effect } = prepared;
  const { court, locked, judgement, requireSame } = held;
  const announced = (found: ActivityWithVotes) => announceActivity(app, stores, found, court.target, nowMs);
  if (judgement.kind === 'read' || judgement.kind === 'fail') {
    assert(locked !== undefined, 'a first vote is an approval');
    if (judgement.kind === 'read') return { ...locked, judgement, direct: locked, hasMoved: false, told: [] };
    const activity = abandonedWith({ ...locked.activity, updatedAtMs: nowMs }, judgement.failure);
    await stores(ActivityStore).update(activity);
    const failed = { ...locked, activity };
    return { ...failed, judgement, direct: failed, hasMoved: true, told: await announced(failed) };
  }
  const startsRound = judgement.kind === 'approve' && judgement.startsRound;
  const current = locked?.activity ?? draft.activity;
  const roundStartedAtMs = startsRound ? nowMs : current.roundStartedAtMs;
  const vote: Vote = { ...draft.vote, roundStartedAtMs, counts: judgement.kind === 'reject' || judgement.counts };
  const next = await nextState(stores, {
    activity: { ...current, roundStartedAtMs, updatedAtMs: nowMs },
    vote,
    by: moverOf(actor, current, judgement),
    judgement,
    effect,
    target: court.target,
    secretResults: target?.version.secretResults ?? [],
    requireSame,
  });
  const { activity, secret } = next;
  const { organizationId, id } = activity;
  if (locked === undefined) {
    if (!(await stores(ActivityStore).insert(activity, [vote]))) throw new Stale();
  } else {
    await stores(ActivityStore).insertVote(activity, vote);
    await stores(ActivityStore).update(activity);
  }
  if (secret !== undefined) await stores(SealedResultStore).insert(organizationId, id, secret, nowMs);
  const proofs = activity.status === 'ACTIVITY_STATUS_COMPLETED' ? (effect?.proofs ?? []) : [];
  await stores(ActivityStore).insertProofs(organizationId, id, proofs);
  if (judgement.kind === 'approve') await keepGrounds(stores, activity, vote, judgement.verdict);
  if (locked === undefined && !isTerminal(activity.status)) await spendLoginToken(stores, actor, activity);
  const stored = { id, activity, votes: [...(locked?.votes ?? []), vote], proofs };
  return {
    ...stored,
    judgement,
    direct: { ...stored, activity: { ...activity, result: next.result } },
    hasMoved: activity.status !== current.status,
    // Last: endpoints are told of what stands when all of this is done.
    told: await announced(stored),
  };
}

/** As whom the voter moves the activity. While proofs are missing, only those who owe them approve. */
function moverOf({ userId }: Actor, { status, proposerId }: Activity, { kind }: Judgement): ActivityMover {
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
  const proposer = target?.matter.proposer;
  if (proposer !== undefined && proposer !== actor) await requireUnchanged(stores, proposer);
}

/** Everybody who waits for what was committed; once, and only after the commit. */
function wakeUp(app: App, { activity, hasMoved, told }: Outcome, effect: Effect | undefined, target?: Target): void {
  if (hasMoved) app.observe.activity(activity);
  app.webhooks.wake(told);
  const hasRun = hasMoved && activity.status === 'ACTIVITY_STATUS_COMPLETED';
  if (!hasRun || effect === undefined || target === undefined) return;
  const { operation } = target.matter;
  effect.announce();
  if (operation.sends) app.outbox.wake();
  if (operation.broadcasts) app.sends.wake(effect.lanes);
}
