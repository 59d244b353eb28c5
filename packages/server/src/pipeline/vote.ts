import { approvers, liveVotes } from '../activities/rounds.ts';
import { isTerminal, moveTo } from '../activities/status.ts';
import { type Authenticated, authenticate } from '../authn/authenticate.ts';
import { parseStamp } from '../authn/stamp-headers.ts';
import type { Actor } from '../lib/actor.ts';
import { assert } from '../lib/assert.ts';
import { ApiError, invalidField } from '../lib/errors.ts';
import type { ActivityId, UserId } from '../lib/ids.ts';
import type { Activity, AppProof, Organization, Vote, VoteSelection } from '../lib/model.ts';
import type { ActivityOperation, VoteOperation } from '../operations/define.ts';
import { operationOfType } from '../operations/registry.ts';
import type { ActivityWithVotes } from '../storage/stores/activities.ts';
import type { Stores } from '../storage/stores.ts';
import { renderActivity } from '../wire/activity.ts';
import type { App } from './app.ts';
import { makeProofs } from './app-proofs.ts';
import { type ActivityAnswer, draftVote, readerFor, type Submission } from './ballot.ts';
import { guardAuthentication } from './guard.ts';
import { type Ballot, type Judgement, judgeVote, type Target } from './judge-vote.ts';
import { withKeyringErrors } from './keyring-errors.ts';
import { isLive, parseSubmitBody, type RawRequest } from './request.ts';
import { lockFor } from './still-stands.ts';

const ATTEMPTS_MAX = 10;

/** approve_activity and reject_activity: the answer is the target activity (RES 1.8). */
export async function vote(app: App, operation: VoteOperation, request: RawRequest): Promise<ActivityAnswer> {
  const body = parseSubmitBody(request.body);
  if (body.type !== operation.type) throw invalidField('type', `must be ${operation.type} on this path`);
  const caller = await guardAuthentication(app, request, async () =>
    authenticate(app, {
      stamp: parseStamp(request.headers),
      body: request.body,
      organizationId: body.organizationId,
      fingerprint: body.fingerprint,
      findsSubOrganization: false,
    }),
  );
  const { actor } = caller;
  if (actor.homeId !== actor.organizationId) {
    throw new ApiError('ORGANIZATION_MISMATCH', 'a vote needs a credential of the organization that it acts on');
  }
  const { fingerprint } = operation.decode(body.parameters);
  const activityId = await app.storage.read.activities.idByFingerprint(actor.organizationId, fingerprint);
  if (activityId === undefined) {
    throw new ApiError(
      'ACTIVITY_NOT_FOUND',
      'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
    );
  }
  return await castVote(app, caller, { request, body }, activityId, operation.selection, []);
}

/** Between judging and locking, votes of others made this the one that completes the consensus. */
class CompletesNow extends Error {}

/** Records a vote under the activity's row lock and, if it completes the consensus, executes in the same transaction. */
export async function castVote(
  app: App,
  caller: Authenticated,
  submission: Submission,
  activityId: ActivityId,
  selection: VoteSelection,
  secrets: readonly string[],
): Promise<ActivityAnswer> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    try {
      return await castOnce(app, caller, submission, activityId, selection, secrets);
    } catch (error) {
      if (!(error instanceof CompletesNow)) throw error;
    }
  }
  throw new ApiError('CONFLICT', 'the activity keeps changing, try again', { retryAfterSeconds: 1 });
}

async function castOnce(
  app: App,
  caller: Authenticated,
  submission: Submission,
  activityId: ActivityId,
  selection: VoteSelection,
  secrets: readonly string[],
): Promise<ActivityAnswer> {
  const { read } = app.storage;
  const organization = await read.organizations.get(caller.actor.organizationId);
  const actor: Actor = { ...caller.actor, organization };
  const found = await read.activities.find(actor.organizationId, activityId);
  if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');
  const nowMs = app.clock();
  const ballot: Ballot = {
    actor,
    selection,
    digest: submission.body.fingerprint,
    credentialId: caller.evidence?.credentialId ?? '',
    isLive: isLive(submission.body.timestampMs, nowMs),
    nowMs,
  };
  const target = await targetOf(app, organization, found.activity);
  const expected = judgeVote(ballot, organization, found, target);
  if (expected.kind === 'read') return answer(app, actor, found, nowMs);

  const { request, body } = submission;
  const drafted = await draftVote(app, { ...caller, actor }, request, body, found.activity, selection, secrets, nowMs);
  const effect =
    expected.kind === 'execute' && target
      ? await prepareTarget(app, actor, found, { ...drafted, counts: expected.counts }, target, nowMs)
      : undefined;

  const outcome = await app.storage.write(async (stores): Promise<ActivityWithVotes> => {
    const current = await lockFor(stores, actor, effect?.lock ?? 'shared');
    const locked = await stores.activities.lock(actor.organizationId, activityId);
    if (locked === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');
    const judgement = judgeVote(ballot, current, locked, target);
    if (judgement.kind === 'read') return locked;
    if (judgement.kind === 'execute' && effect === undefined) throw new CompletesNow();
    const startsRound = judgement.kind !== 'reject' && judgement.startsRound;
    const round = startsRound ? nowMs : locked.activity.roundStartedAtMs;
    const paper: Vote = {
      ...drafted,
      roundStartedAtMs: round,
      counts: judgement.kind === 'reject' || judgement.counts,
    };
    const before: Activity = { ...locked.activity, roundStartedAtMs: round, updatedAtMs: nowMs };
    const after = await nextState(stores, judgement, before, [...locked.votes, paper], effect);
    await stores.activities.insertVote(actor.organizationId, paper);
    await stores.activities.update(after);
    const completed = after.status === 'ACTIVITY_STATUS_COMPLETED';
    const proofs = completed ? (effect?.proofs ?? []) : [];
    await stores.activities.insertProofs(actor.organizationId, activityId, proofs);
    return { id: activityId, activity: after, votes: [...locked.votes, paper], proofs };
  });
  if (outcome.activity.status !== found.activity.status) app.observe.activity(outcome.activity);
  return answer(app, actor, outcome, nowMs);
}

async function nextState(
  stores: Stores,
  judgement: Judgement,
  activity: Activity,
  votes: readonly Vote[],
  effect: TargetEffect | undefined,
): Promise<Activity> {
  switch (judgement.kind) {
    case 'read':
    case 'record':
      return activity;
    case 'reject':
      return { ...activity, status: moveTo(activity.status, 'ACTIVITY_STATUS_REJECTED') };
    case 'execute': {
      assert(effect !== undefined, 'an activity executes only after it was prepared');
      const counted = approvers(liveVotes(activity, votes, activity.updatedAtMs));
      return await finish(stores, effect, activity, counted);
    }
  }
}

/** What the completed consensus runs inside the transaction. */
interface TargetEffect {
  readonly lock: ActivityOperation['lock'];
  readonly proofs: readonly AppProof[];
  readonly run: (stores: Stores, approvers: readonly UserId[]) => Promise<unknown>;
}

async function prepareTarget(
  app: App,
  actor: Actor,
  { activity, votes }: ActivityWithVotes,
  drafted: Vote,
  { operation, version, parameters }: Target,
  nowMs: number,
): Promise<TargetEffect> {
  const { keyring, attestations, storage, newId, config } = app;
  const common = { actor: await proposerOf(app, actor, activity), nowMs, config, newId };
  const prepared = await attempt(() =>
    withKeyringErrors(async () => {
      const context = { ...common, read: storage.read, keyring, attestations };
      const described = await operation.describe?.(context, parameters);
      const value = await operation.prepare?.(context, parameters, described);
      const proofs = activity.wantsProofs
        ? await makeProofs(
            app,
            actor,
            activity,
            [...liveVotes(activity, votes, nowMs), drafted],
            operation.newAddresses?.(parameters, value) ?? [],
            nowMs,
          )
        : [];
      return { value, proofs };
    }),
  );
  return {
    lock: operation.lock,
    proofs: prepared.failed ? [] : prepared.value.proofs,
    run: async (store, counted) => {
      if (prepared.failed) throw prepared.error;
      const result = await operation.execute(
        { ...common, store, approvers: counted },
        parameters,
        prepared.value.value,
      );
      if (operation.lock === 'exclusive') await store.organizations.raiseAuthorityVersion(activity.organizationId);
      return version.toResult(result);
    },
  };
}

type Attempt<T> = { readonly failed: false; readonly value: T } | { readonly failed: true; readonly error: ApiError };

/** The caller's mistakes in an approved activity make it FAILED; anything else is a bug and stays an error of this call. */
async function attempt<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { failed: false, value: await work() };
  } catch (error) {
    if (error instanceof ApiError && error.code !== 'UNAVAILABLE') return { failed: true, error };
    throw error;
  }
}

/** Runs the effect; its failure undoes only its own writes and is stored with the activity (decision 6). */
async function finish(
  stores: Stores,
  effect: TargetEffect,
  activity: Activity,
  counted: readonly UserId[],
): Promise<Activity> {
  const done = await attempt(() => stores.savepoint(() => effect.run(stores, counted)));
  if (done.failed) {
    const failure = { errorCode: done.error.code, message: done.error.message };
    return { ...activity, status: moveTo(activity.status, 'ACTIVITY_STATUS_FAILED'), failure };
  }
  return { ...activity, status: moveTo(activity.status, 'ACTIVITY_STATUS_COMPLETED'), result: done.value };
}

/** Effects run as the proposer's: an approver lends its weight, not its identity. */
async function proposerOf(app: App, actor: Actor, activity: Activity): Promise<Actor> {
  if (activity.proposerId === undefined || activity.proposerId === actor.userId) return actor;
  const user = await app.storage.read.users.find(actor.organizationId, activity.proposerId);
  return user === undefined ? actor : { ...actor, user, userId: user.id };
}

/** Undefined where nothing is pending; the sealed parameters are opened only when they may be needed. */
async function targetOf(app: App, organization: Organization, activity: Activity): Promise<Target | undefined> {
  if (isTerminal(activity.status)) return undefined;
  const operation = operationOfType(activity.type);
  const version = operation.versions.find((candidate) => candidate.type === activity.type);
  assert(version !== undefined, `an operation has a version for ${activity.type}`);
  if (activity.sealedParameters === undefined)
    return { operation, version, parameters: version.decode(activity.parameters) };
  const opened = await app.keyring.open(
    organization.wrappedKey,
    { organizationId: organization.id, ownerId: activity.id, kind: 'activity-parameters' },
    activity.sealedParameters,
  );
  return { operation, version, parameters: version.decode(JSON.parse(Buffer.from(opened).toString('utf8'))) };
}

const answer = (app: App, actor: Actor, found: ActivityWithVotes, nowMs: number): ActivityAnswer => ({
  activity: renderActivity(found, readerFor(app, actor, nowMs)),
});
