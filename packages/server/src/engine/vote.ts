import type { Authenticated } from '../authn/stamped.ts';
import type { Actor } from '../core/actor.ts';
import type { Activity, Organization, Vote, VoteSelection } from '../core/model.ts';
import type { ActivityWithVotes } from '../core/store/activities.ts';
import { ActivityReader, ActivityStore } from '../core/store/activities.ts';
import { OrganizationReader } from '../core/store/organizations.ts';
import { SealedResultStore } from '../core/store/sealed-results.ts';
import { AuthProxyReader } from '../domains/sign-up-proxy/store.ts';
import { assert } from '../lib/assert.ts';
import { ApiError, invalidField } from '../lib/errors.ts';
import type { ActivityId, WebhookEndpointId } from '../lib/ids.ts';
import { LIMITS } from '../lib/limits.ts';
import { turnAfter } from '../lib/turn.ts';
import { isProxyRun } from '../policy/index.ts';
import { operationOfType } from '../registry.ts';
import type { ReadStores, Stores } from '../storage/stores.ts';
import { approvers, liveVotes, owesProofs } from './activities/rounds.ts';
import { isTerminal, moveTo } from './activities/status.ts';
import { admit } from './admit.ts';
import { announceActivity } from './announce-activity.ts';
import type { App } from './app.ts';
import { type ActivityAnswer, draftVote, readerFor, type Submission } from './ballot.ts';
import type { ActivityVersion, VoteOperation } from './define.ts';
import { denialError, denialReason } from './denial.ts';
import { callerOf, type Effect, type Grounds, lockOf, prepareEffect } from './effect.ts';
import { approverOf } from './evidence.ts';
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
import { type Ballot, type Bench, type Judgement, judgeVote } from './judge-vote.ts';
import { type Matter, openMatter } from './matter.ts';
import { afterVerdict, evaluationsOf, failedWith, keepGrounds } from './outcome.ts';
import { proposalOf } from './proposal.ts';
import { renderActivity } from './render-activity.ts';
import { isLive, parseSubmitBody, type RawRequest } from './request.ts';
import { revealResult, withoutSecrets } from './secret-result.ts';

const ATTEMPTS_MAX = 10;

/** approve_activity and reject_activity: the answer is the target activity (protocol/consensus 2.1). */
export async function vote(app: App, operation: VoteOperation, request: RawRequest): Promise<ActivityAnswer> {
  const body = parseSubmitBody(request.body);
  if (body.type !== operation.type) throw invalidField('type', `must be ${operation.type} on this path`);
  const note: AttemptNote = { isNoted: false };
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const caller = await admit(app, request, {
      organizationId: body.organizationId,
      fingerprint: body.fingerprint,
      findsSubOrganization: false,
      // As a proof of its own user, never as a vote (protocol/stamps 5.4).
      acceptsAttested: operation.selection === 'VOTE_SELECTION_APPROVED',
      acceptsRecovery: false,
      waitsOutside: false,
    });
    const { fingerprint } = operation.decode(body.parameters);
    const activityId = await app.storage.read(ActivityReader).idByFingerprint(caller.actor.organizationId, fingerprint);
    if (activityId === undefined) {
      throw new ApiError(
        'ACTIVITY_NOT_FOUND',
        'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
      );
    }
    const answer = await castVote(app, caller, { request, body }, activityId, operation.selection, [], note);
    if (answer !== 'AGAIN') return answer;
  }
  throw new ApiError('CONFLICT', 'the activity keeps changing, try again', { retryAfterSeconds: 1 });
}

/**
 * Records a vote under the activity's row lock and, if it completes the consensus, executes in the same transaction. AGAIN
 * means that something changed meanwhile and nothing was done: the voter has to be authenticated again.
 */
export async function castVote(
  app: App,
  caller: Authenticated,
  submission: Submission,
  activityId: ActivityId,
  selection: VoteSelection,
  secrets: readonly string[],
  note: AttemptNote,
): Promise<ActivityAnswer | 'AGAIN'> {
  try {
    return await castOnce(app, caller, submission, activityId, selection, secrets, note);
  } catch (error) {
    if (error instanceof Stale) return 'AGAIN';
    throw error;
  }
}

async function castOnce(
  app: App,
  caller: Authenticated,
  submission: Submission,
  activityId: ActivityId,
  selection: VoteSelection,
  secrets: readonly string[],
  attempt: AttemptNote,
): Promise<ActivityAnswer> {
  const { read } = app.storage;
  const found = await read(ActivityReader).find(caller.actor.organizationId, activityId);
  if (found === undefined) throw activityNotFound();
  const large = found.activity.body?.length ?? 0;
  await turnAfter(large);
  const court = await courtOf(read, found.activity);
  const actor = actorBefore(caller.actor, court);
  const nowMs = app.clock();
  const { request, body } = submission;
  const ballot: Ballot = {
    approver: approverOf(actor, body.fingerprint),
    selection,
    digest: body.fingerprint,
    credentialId: caller.evidence?.credentialId ?? '',
    isLive: isLive(body.timestampMs, nowMs),
    nowMs,
  };
  const proposal = isTerminal(found.activity.status) ? undefined : await proposalOf(read, court, found);
  const target = proposal?.proposer && (await targetOf(app, read, proposal.proposer, court, found, nowMs));
  const ended = proposal?.ended;
  const expected = await judgeVote({ app, read, court, found, matter: target?.matter, ended }, ballot);
  if (expected.kind === 'read') return answer(app, actor, found, nowMs);

  if (expected.kind === 'approve') requireRoom(found, request);
  await turnAfter(large);
  const drafted = await draftVote(app, { ...caller, actor }, request, body, found.activity, selection, secrets, nowMs);
  const effect =
    expected.kind === 'approve' && expected.verdict.kind === 'execute' && target !== undefined
      ? await prepareTarget(
          app,
          target,
          found,
          { ...drafted, counts: expected.counts },
          expected,
          actor,
          request,
          attempt,
          nowMs,
        )
      : undefined;

  const mode = effect?.lock ?? 'shared';
  const outcome = await app.storage.write(
    async (stores): Promise<Outcome> => {
      if (!hasBegun(attempt)) request.passage?.requireClient();
      const current = await lockFor(stores, actor, mode, court.authority.id);
      const locked = await stores(ActivityStore).lock(actor.organizationId, activityId);
      if (locked === undefined) throw activityNotFound();
      const isUnchanged = isSameCourt(current, court);
      if (!isUnchanged) await requireUnchanged(stores, actor);
      if (!isUnchanged && proposal?.proposer !== undefined) await requireUnchanged(stores, proposal.proposer);
      const matter = target?.matter.inside(stores, isUnchanged);
      const ended = isTerminal(locked.activity.status) ? undefined : (await proposalOf(stores, current, locked)).ended;
      const bench: Bench = { app, read: stores, court: current, found: locked, matter, ended };
      const judgement = await judgeVote(bench, ballot);
      if (judgement.kind === 'read') return { judgement, ...locked, told: [] };
      if (judgement.kind === 'fail') {
        const after = failedWith({ ...locked.activity, updatedAtMs: nowMs }, judgement.failure);
        await stores(ActivityStore).update(after);
        const told = await announceActivity(app, stores, { ...locked, activity: after }, current.target, nowMs);
        return { judgement, ...locked, activity: after, told };
      }
      const isPrepared = effect !== undefined && judgement.kind === 'approve' && judgement.verdict.kind === 'execute';
      if (!isUnchanged && isPrepared && effect.isDescribed && target !== undefined && matter !== undefined) {
        await requireSameDescription(target.matter, matter);
      }
      const startsRound = judgement.kind === 'approve' && judgement.startsRound;
      const round = startsRound ? nowMs : locked.activity.roundStartedAtMs;
      const paper: Vote = {
        ...drafted,
        roundStartedAtMs: round,
        counts: judgement.kind === 'reject' || judgement.counts,
      };
      const before: Activity = { ...locked.activity, roundStartedAtMs: round, updatedAtMs: nowMs };
      const votes = [...locked.votes, paper];
      const after = await nextState(stores, current.target, judgement, before, paper, effect);
      await stores(ActivityStore).insertVote(after, paper);
      await stores(ActivityStore).update(after);
      const proofs = after.status === 'ACTIVITY_STATUS_COMPLETED' ? (effect?.proofs ?? []) : [];
      await stores(ActivityStore).insertProofs(actor.organizationId, activityId, proofs);
      if (judgement.kind === 'approve') await keepGrounds(stores, after, paper, judgement.verdict);
      const told = await announceActivity(app, stores, { activity: after, votes, proofs }, current.target, nowMs);
      return { judgement, id: activityId, activity: after, votes, proofs, told };
    },
    inTurn(actor, mode, effect?.isLong, attempt),
  );
  app.webhooks.wake(outcome.told);
  effect?.announce();
  await turnAfter(large);
  if (outcome.activity.status !== found.activity.status) app.observe.activity(outcome.activity);
  if (effect?.sends === true) app.outbox.wake();
  if (effect?.broadcasts === true) app.sends.wake(effect.lanes);
  const { judgement } = outcome;
  if (judgement.kind === 'approve' && judgement.verdict.kind === 'deny') {
    const { verdict } = judgement;
    // Why another organization refused is not for everybody who proves something to it.
    const isTold = actor.homeId === court.authority.id;
    const reason = denialReason(isTold ? verdict.decision : undefined);
    throw denialError(reason, isTold ? evaluationsOf(verdict) : [], activityId);
  }
  const owesMore =
    judgement.kind === 'approve' &&
    judgement.verdict.kind === 'authenticate' &&
    judgement.verdict.owedBy === actor.userId;
  return answer(app, actor, await revealResult(app, actor, outcome, nowMs), nowMs, owesMore);
}

/** Every vote shows what was signed, so many approvals of a large body by the same bytes would be too long to read. */
function requireRoom({ votes }: ActivityWithVotes, { body }: RawRequest): void {
  const bytes = votes.reduce((sum, { message }) => sum + message.length, body.length);
  if (bytes <= LIMITS.votesBytes) return;
  throw new ApiError(
    'FAILED_PRECONDITION',
    `the votes on this activity would have more than ${LIMITS.votesBytes} bytes: approve it with approve_activity`,
  );
}

type Outcome = ActivityWithVotes & {
  readonly judgement: Judgement;
  /** The webhook endpoints that are to be told. */
  readonly told: readonly WebhookEndpointId[];
};

/** Who decides an activity that was proposed before. */
async function courtOf(read: ReadStores, { organizationId, authorityId }: Activity): Promise<Court> {
  const target = await read(OrganizationReader).get(organizationId);
  const authority = authorityId === undefined ? target : await read(OrganizationReader).get(authorityId);
  return { authority, target };
}

/** The voter, with its organizations as they are now. A parent's user votes only on what the parent decides. */
function actorBefore(actor: Actor, { authority, target }: Court): Actor {
  if (actor.homeId === target.id) return { ...actor, organization: target, home: target };
  if (actor.homeId !== authority.id) {
    throw new ApiError('ORGANIZATION_MISMATCH', 'a vote needs a credential of the organization that it acts on');
  }
  return { ...actor, organization: target, home: authority };
}

const activityNotFound = (): ApiError => new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');

async function nextState(
  stores: Stores,
  target: Organization,
  judgement: Extract<Judgement, { kind: 'approve' | 'reject' }>,
  activity: Activity,
  paper: Vote,
  effect: TargetEffect | undefined,
): Promise<Activity> {
  if (judgement.kind === 'reject') {
    return { ...activity, status: moveTo(activity.status, 'ACTIVITY_STATUS_REJECTED'), openTo: undefined };
  }
  const { verdict, rules, live } = judgement;
  switch (verdict.kind) {
    case 'deny':
    case 'wait':
      return afterVerdict(activity, verdict);
    case 'authenticate':
      // One user's missing proofs keep nobody else from voting, so only the proposer's show in the status.
      return { ...activity, hasMfa: true };
    case 'execute': {
      if (effect === undefined) throw new Stale();
      const byRootQuorum = verdict.decision.reason === 'ROOT_QUORUM';
      const counted = approvers([...live, paper]);
      const after = await finish(stores, effect, activity, {
        target,
        approvers: counted,
        rules,
        byRootQuorum,
      });
      const hasMfa = activity.hasMfa || verdict.requirements.length > 0;
      return { ...after, openTo: undefined, hasMfa };
    }
  }
}

/** What a pending activity would run, with its parameters as they were sent. */
interface Target {
  readonly matter: Matter;
  readonly version: ActivityVersion;
}

/** What the completed consensus runs inside the transaction, or why it cannot. */
type TargetEffect = Effect & {
  readonly sends: boolean;
  readonly broadcasts: boolean;
  readonly secretResults: readonly string[];
  /** False where it failed before, or where nothing is prepared any more. */
  readonly isDescribed: boolean;
};

async function prepareTarget(
  app: App,
  { matter, version }: Target,
  { activity }: ActivityWithVotes,
  drafted: Vote,
  { rules, live }: Extract<Judgement, { kind: 'approve' }>,
  actor: Actor,
  request: RawRequest,
  note: AttemptNote,
  nowMs: number,
): Promise<TargetEffect> {
  const { sends, broadcasts } = matter.operation;
  const { secretResults } = version;
  const prepared = await attempt(() =>
    prepareEffect(app, {
      matter,
      version,
      activity,
      votes: [...live, drafted],
      caller: callerOf(actor, request.clientAddress),
      hasControls: rules.controls.length > 0,
      executes: true,
      attempt: note,
      nowMs,
    }),
  );
  const isDescribed = matter.operation.useProof === undefined;
  if (!prepared.failed) return { ...prepared.value, sends, broadcasts, secretResults, isDescribed };
  const { error } = prepared;
  const lock = lockOf(matter.operation, actor.organization);
  const nothing = { proofs: [], lanes: [], announce: () => {}, secret: undefined, sends: false, broadcasts: false };
  return {
    ...nothing,
    lock,
    isLong: false,
    prove: async () => {},
    run: () => Promise.reject(error),
    secretResults,
    isDescribed: false,
  };
}

type Attempt<T> = { readonly failed: false; readonly value: T } | { readonly failed: true; readonly error: ApiError };

/** What is no fault of the activity: it stays open, and the vote can be given again later. */
const PASSING = new Set<string>(['UNAVAILABLE', 'VELOCITY_EXCEEDED', 'VELOCITY_UNCOUNTED']);

/** The caller's mistakes in an approved activity make it FAILED; anything else is a bug and stays an error of this call. */
async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { failed: false, value: await work() };
  } catch (error) {
    if (error instanceof ApiError && !PASSING.has(error.code)) return { failed: true, error };
    throw error;
  }
}

/**
 * Runs the effect; its failure undoes only its own writes and is stored with the activity (protocol/activities 3.3).
 */
async function finish(stores: Stores, effect: TargetEffect, activity: Activity, grounds: Grounds): Promise<Activity> {
  const done = await attempt(() => stores.savepoint(() => effect.run(stores, grounds)));
  if (done.failed) {
    const failure = { errorCode: done.error.code, message: done.error.message };
    return failedWith(activity, failure);
  }
  const status = moveTo(activity.status, 'ACTIVITY_STATUS_COMPLETED');
  if (effect.secret !== undefined) {
    await stores(SealedResultStore).insert(activity.organizationId, activity.id, effect.secret, activity.updatedAtMs);
  }
  return { ...activity, status, result: withoutSecrets(done.value, effect.secretResults) };
}

/** Whether the sign-up proxy proposed it, whose rights its configuration gives (protocol/sign-up-proxy 4.2). */
async function isGranted(
  read: ReadStores,
  { authority }: Court,
  { activity, votes }: ActivityWithVotes,
): Promise<boolean> {
  if (!isProxyRun(activity.type)) return false;
  const { enabled, identity } = (await read(AuthProxyReader).ofOrganization(authority.id)) ?? {};
  const isProxys = ({ userId, publicKey }: Vote): boolean =>
    userId === identity?.userId && publicKey === identity.publicKey;
  return enabled === true && activity.proposerId === identity?.userId && votes.some(isProxys);
}

/** The sealed parameters are opened only when they may be needed. */
async function targetOf(
  app: App,
  read: ReadStores,
  proposer: Actor,
  court: Court,
  found: ActivityWithVotes,
  nowMs: number,
): Promise<Target> {
  const { activity } = found;
  const { type } = activity;
  const operation = operationOfType(type);
  const version = operation.versions.find((candidate) => candidate.type === type);
  assert(version !== undefined, `an operation has a version for ${type}`);
  const parameters = version.decode(await openParameters(app, proposer, activity));
  const grantedByService = await isGranted(read, court, found);
  const matter = openMatter(app, read, { operation, type, parameters, proposer, grantedByService, nowMs });
  return { version, matter };
}

async function openParameters(app: App, { organization }: Actor, activity: Activity): Promise<unknown> {
  const { id: ownerId, parameters, sealedBody, sealedParameters } = activity;
  const open = async (kind: string, sealed: Uint8Array) => {
    const owner = { organizationId: organization.id, ownerId, kind };
    return JSON.parse(Buffer.from(await app.keyring.open(organization.wrappedKey, owner, sealed)).toString('utf8'));
  };
  if (sealedBody !== undefined) return (await open('activity-body', sealedBody)).parameters;
  return sealedParameters === undefined ? parameters : await open('activity-parameters', sealedParameters);
}

/**
 * A voter who has to prove more before the vote counts is told so, whatever others have to do (protocol/login 10.3).
 */
function answer(app: App, actor: Actor, found: ActivityWithVotes, nowMs: number, owesMore?: boolean): ActivityAnswer {
  const { activity, votes } = found;
  const owes =
    activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' &&
    (owesMore ?? owesProofs(liveVotes(activity, votes, nowMs), actor.userId));
  const shown: Activity = owes ? { ...activity, status: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED' } : activity;
  return { activity: renderActivity({ ...found, activity: shown }, readerFor(app, actor, nowMs)) };
}
