import { approvers, liveVotes, roundIsOpen } from '../activities/rounds.ts';
import { isTerminal, moveTo } from '../activities/status.ts';
import { type Authenticated, authenticate } from '../authn/authenticate.ts';
import { parseStamp } from '../authn/stamp-headers.ts';
import { decide, mayVote } from '../authz/decide.ts';
import type { Actor } from '../lib/actor.ts';
import { ApiError, invalidField } from '../lib/errors.ts';
import type { ActivityId } from '../lib/ids.ts';
import type { Activity, Organization, Vote, VoteSelection } from '../lib/model.ts';
import type { ActivityOperation, VoteOperation } from '../operations/define.ts';
import { operationOfType } from '../operations/registry.ts';
import type { ActivityWithVotes } from '../storage/stores/activities.ts';
import type { Stores } from '../storage/stores.ts';
import { renderActivity } from '../wire/activity.ts';
import type { App } from './app.ts';
import { type ActivityAnswer, draftVote, readerFor, type Submission } from './ballot.ts';
import { guardAuthentication } from './guard.ts';
import { isLive, parseSubmitBody, type RawRequest } from './request.ts';

const ATTEMPTS_MAX = 50;

/** approve_activity and reject_activity: the answer is the target activity (RES 1.8). */
export async function vote(app: App, operation: VoteOperation, request: RawRequest): Promise<ActivityAnswer> {
  const body = parseSubmitBody(request.body);
  if (body.type !== operation.type) throw invalidField('type', `must be ${operation.type} on this path`);
  const stamp = parseStamp(request.headers);
  const caller = await guardAuthentication(app, request, () =>
    authenticate(app, {
      stamp,
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

/** What a vote would do, judged on one state of organization and activity. */
type Judgement =
  | { readonly kind: 'read' }
  | { readonly kind: 'record'; readonly counts: boolean; readonly startsRound: boolean }
  | { readonly kind: 'execute'; readonly startsRound: boolean }
  | { readonly kind: 'reject' };

interface Ballot {
  readonly actor: Actor;
  readonly selection: VoteSelection;
  readonly digest: string;
  readonly isLive: boolean;
  readonly nowMs: number;
}

/** Pure. Throws what the voter must be told; a stale or repeated body only reads (decision 5). */
function judge(
  ballot: Ballot,
  organization: Organization,
  { activity, votes }: ActivityWithVotes,
  target: ActivityOperation,
  parameters: unknown,
): Judgement {
  const { actor, selection, digest, nowMs } = ballot;
  const mine = votes.filter((vote) => vote.userId === actor.userId);
  if (!ballot.isLive || mine.some((vote) => vote.messageDigest === digest)) return { kind: 'read' };
  const live = liveVotes(activity, votes, nowMs);
  if (activity.status !== 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
    if (live.some((vote) => vote.userId === actor.userId && vote.selection === selection)) return { kind: 'read' };
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
  if (counted.includes(actor.userId)) return { kind: 'record', counts: false, startsRound: false };
  const decision = decide({
    governedBy: target.policy.governedBy,
    rootThreshold: organization.rootThreshold,
    rootUserIds: organization.rootUserIds,
    approvers: [...counted, actor.userId],
    managesCredentialsOf: target.managesCredentialsOf?.(parameters),
  });
  // A vote completes or leaves pending; it never denies implicitly (POL 14, step 9).
  return decision.outcome === 'ALLOW'
    ? { kind: 'execute', startsRound }
    : { kind: 'record', counts: true, startsRound };
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

class Stale extends Error {}

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
      if (!(error instanceof Stale)) throw error;
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
  const target = operationOfType(found.activity.type);
  const parameters = await openParameters(app, organization, found.activity, target);
  const nowMs = app.clock();
  const ballot: Ballot = {
    actor,
    selection,
    digest: submission.body.fingerprint,
    isLive: isLive(submission.body.timestampMs, nowMs),
    nowMs,
  };
  const judgement = judge(ballot, organization, found, target, parameters);
  if (judgement.kind === 'read') return answer(app, actor, found, nowMs);

  const startsRound = 'startsRound' in judgement && judgement.startsRound;
  const round = startsRound ? nowMs : found.activity.roundStartedAtMs;
  const drafted = await draftVote(
    app,
    { ...caller, actor },
    submission.request,
    submission.body,
    found.activity,
    selection,
    secrets,
    nowMs,
  );
  const ballotPaper: Vote = {
    ...drafted,
    roundStartedAtMs: round,
    counts: judgement.kind !== 'record' || judgement.counts,
  };
  const proposer = await proposerOf(app, actor, found.activity);
  const common = { actor: proposer, nowMs, config: app.config };
  const prepared =
    judgement.kind === 'execute'
      ? await attempt(async () =>
          target.prepare?.(
            { ...common, read, keyring: app.keyring, attestations: app.attestations, newId: app.newId },
            parameters,
          ),
        )
      : undefined;

  const outcome = await app.storage.write(async (stores): Promise<ActivityWithVotes> => {
    const current = await stores.organizations.lock(
      actor.organizationId,
      judgement.kind === 'execute' ? target.lock : 'shared',
    );
    if (current.authorityVersion !== organization.authorityVersion || current.deletedAtMs !== undefined)
      throw new Stale();
    const locked = await stores.activities.lock(actor.organizationId, activityId);
    // Another vote came first: judge again on what is there now.
    if (
      locked === undefined ||
      locked.votes.length !== found.votes.length ||
      locked.activity.status !== found.activity.status
    ) {
      throw new Stale();
    }
    const before = { ...locked.activity, roundStartedAtMs: round, updatedAtMs: nowMs };
    const after =
      judgement.kind === 'execute'
        ? await finish(stores, target, before, () => {
            if (prepared?.failed === true) throw prepared.error;
            return target.execute(
              {
                ...common,
                store: stores,
                newId: app.newId,
                approvers: [...approvers(liveVotes(locked.activity, locked.votes, nowMs)), actor.userId],
              },
              parameters,
              prepared?.value,
            );
          })
        : judgement.kind === 'reject'
          ? { ...before, status: moveTo(before.status, 'ACTIVITY_STATUS_REJECTED') }
          : before;
    await stores.activities.insertVote(actor.organizationId, ballotPaper);
    await stores.activities.update(after);
    return { id: activityId, activity: after, votes: [...locked.votes, ballotPaper] };
  });
  if (outcome.activity.status !== found.activity.status) app.observe.activity(outcome.activity);
  return answer(app, actor, outcome, nowMs);
}

type Attempt =
  | { readonly failed: false; readonly value: unknown }
  | { readonly failed: true; readonly error: ApiError };

/** The caller's mistakes in an approved activity make it FAILED; anything else is a bug and stays an error of this call. */
async function attempt(work: () => Promise<unknown>): Promise<Attempt> {
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
  target: ActivityOperation,
  activity: Activity,
  effect: () => Promise<unknown>,
): Promise<Activity> {
  const done = await attempt(() =>
    stores.savepoint(async () => {
      const result = await effect();
      if (target.lock === 'exclusive') await stores.organizations.raiseAuthorityVersion(activity.organizationId);
      return result;
    }),
  );
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

async function openParameters(
  app: App,
  organization: Organization,
  activity: Activity,
  target: ActivityOperation,
): Promise<unknown> {
  const version = target.versions.find((candidate) => candidate.type === activity.type);
  if (version === undefined) throw new Error(`no version for ${activity.type}`);
  if (activity.sealedParameters === undefined) return version.decode(activity.parameters);
  const opened = await app.keyring.open(
    organization.wrappedKey,
    { organizationId: organization.id, ownerId: activity.id, kind: 'activity-parameters' },
    activity.sealedParameters,
  );
  return version.decode(JSON.parse(Buffer.from(opened).toString('utf8')));
}

const answer = (app: App, actor: Actor, { activity, votes }: ActivityWithVotes, nowMs: number): ActivityAnswer => ({
  activity: renderActivity(activity, votes, readerFor(app, actor, nowMs)),
});
