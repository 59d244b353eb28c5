import { moveTo } from '../activities/status.ts';
import { type Authenticated, authenticate } from '../authn/authenticate.ts';
import { parseStamp } from '../authn/stamp-headers.ts';
import { type Decision, type DenyReason, decide, explainDenial } from '../authz/decide.ts';
import type { Actor } from '../lib/actor.ts';
import { ApiError, invalidField, notServed } from '../lib/errors.ts';
import type { ActivityId } from '../lib/ids.ts';
import type { Activity, AppProof, Organization, Vote } from '../lib/model.ts';
import { redactValue } from '../lib/strict-json.ts';
import type { ActivityOperation, ActivityVersion } from '../operations/define.ts';
import type { Stores } from '../storage/stores.ts';
import { renderActivity } from '../wire/activity.ts';
import type { App } from './app.ts';
import { makeProofs } from './app-proofs.ts';
import { type ActivityAnswer, draftVote, readerFor, type Submission } from './ballot.ts';
import { guardAuthentication } from './guard.ts';
import { withKeyringErrors } from './keyring-errors.ts';
import { parseSubmitBody, type RawRequest, requireLive } from './request.ts';
import { lockFor, stillStands } from './still-stands.ts';
import { castVote } from './vote.ts';

/** How often a decision is taken again because the organization changed under it. */
const ATTEMPTS_MAX = 20;

/** authenticate, parse, authorize, prepare, one transaction: the order of every activity, written once. */
export async function submit(app: App, operation: ActivityOperation, request: RawRequest): Promise<ActivityAnswer> {
  const body = parseSubmitBody(request.body);
  const version = versionOf(operation, body.type);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const caller = await guardAuthentication(app, request, async () =>
      authenticate(app, {
        stamp: parseStamp(request.headers),
        body: request.body,
        organizationId: body.organizationId,
        fingerprint: body.fingerprint,
        findsSubOrganization: false,
      }),
    );
    const answer = await attemptOnce(app, operation, version, caller, { request, body });
    if (answer !== 'AGAIN') return answer;
  }
  throw new ApiError('CONFLICT', 'the organization keeps changing, try again', { retryAfterSeconds: 1 });
}

function versionOf(operation: ActivityOperation, type: string): ActivityVersion {
  const version = operation.versions.find((candidate) => candidate.type === type);
  if (version !== undefined) return version;
  if (operation.unserved.includes(type)) throw notServed(type);
  const accepted = operation.versions.map((candidate) => candidate.type).join(', ');
  throw invalidField('type', `must be one of ${accepted} on this path`);
}

/** One try. AGAIN means that the organization or the activity changed meanwhile and nothing was done. */
async function attemptOnce(
  app: App,
  operation: ActivityOperation,
  version: ActivityVersion,
  caller: Authenticated,
  submission: Submission,
): Promise<ActivityAnswer | 'AGAIN'> {
  const { actor, existingActivityId } = caller;
  requireHome(actor);
  if (existingActivityId !== undefined) return await revisit(app, existingActivityId, caller, version, submission);
  const nowMs = app.clock();
  requireLive(submission.body.timestampMs, nowMs);
  const parameters = version.decode(submission.body.parameters);
  requireScope(operation, actor);
  const { config, storage } = app;
  const described = await operation.describe?.({ actor, nowMs, config, read: storage.read }, parameters);

  const judge = (organization: Organization): Decision =>
    decide({
      governedBy: operation.policy.governedBy,
      rootThreshold: organization.rootThreshold,
      rootUserIds: organization.rootUserIds,
      approvers: [actor.userId],
      managesCredentialsOf: operation.managesCredentialsOf?.(parameters),
    });
  const decision = judge(actor.organization);
  const draft = await draftActivity(app, operation, version, caller, submission, nowMs);
  switch (decision.outcome) {
    case 'ALLOW': {
      const effect = await prepareEffect(app, operation, version, actor, draft, parameters, described);
      return await store(app, caller, submission, draft, judge, effect);
    }
    case 'NEEDS_APPROVAL': {
      const activity: Activity = { ...draft.activity, status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' };
      return await store(app, caller, submission, { ...draft, activity }, judge);
    }
    case 'DENY': {
      const denial = { errorCode: 'REQUEST_NOT_AUTHORIZED', message: decision.reason };
      const activity: Activity = { ...draft.activity, status: 'ACTIVITY_STATUS_REJECTED', denial };
      const stored = await store(app, caller, submission, { ...draft, activity }, judge);
      if (stored === 'AGAIN') return stored;
      throw denialError(decision.reason, activity.id);
    }
  }
}

/** Parents act on their children only through operations that say so (RES 3.3). */
function requireHome(actor: Actor): void {
  if (actor.homeId !== actor.organizationId) {
    throw new ApiError('ORGANIZATION_MISMATCH', 'this activity needs a credential of the organization that it acts on');
  }
}

function requireScope(operation: ActivityOperation, actor: Actor): void {
  const isSub = actor.organization.parentId !== undefined;
  if (operation.scope === 'parent' && isSub) {
    throw new ApiError(
      'INVALID_ACTIVITY_CALLER',
      'a sub-organization cannot run this activity; its parent organization can',
    );
  }
  if (operation.scope === 'sub-organization' && !isSub) {
    throw new ApiError('INVALID_ACTIVITY_CALLER', 'only a sub-organization can run this activity');
  }
}

interface Draft {
  readonly activity: Activity;
  readonly vote: Vote;
}

async function draftActivity(
  app: App,
  operation: ActivityOperation,
  version: ActivityVersion,
  caller: Authenticated,
  { request, body }: Submission,
  nowMs: number,
): Promise<Draft> {
  const { actor } = caller;
  const id: ActivityId = app.newId();
  const secrets = version.secrets;
  const sealedParameters =
    secrets.length === 0
      ? undefined
      : await app.keyring.seal(
          actor.organization.wrappedKey,
          { organizationId: actor.organizationId, ownerId: id, kind: 'activity-parameters' },
          Buffer.from(JSON.stringify(body.parameters)),
        );
  const activity: Activity = {
    id,
    organizationId: actor.organizationId,
    fingerprint: body.fingerprint,
    operation: operation.name,
    type: body.type,
    status: 'ACTIVITY_STATUS_CREATED',
    proposerId: actor.userId,
    parameters: secrets.length === 0 ? body.parameters : redactValue(body.parameters as never, secrets),
    sealedParameters,
    result: undefined,
    failure: undefined,
    denial: undefined,
    wantsProofs: body.wantsProofs,
    roundStartedAtMs: nowMs,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  const vote = await draftVote(app, caller, request, body, activity, 'VOTE_SELECTION_APPROVED', secrets, nowMs);
  return { activity, vote };
}

/** What an allowed activity does inside the transaction. A failure is the caller's answer and stores nothing. */
interface Effect {
  readonly lock: ActivityOperation['lock'];
  readonly proofs: readonly AppProof[];
  readonly run: (stores: Stores) => Promise<unknown>;
}

async function prepareEffect(
  app: App,
  operation: ActivityOperation,
  version: ActivityVersion,
  actor: Actor,
  { activity, vote }: Draft,
  parameters: unknown,
  described: unknown,
): Promise<Effect> {
  const common = { actor, nowMs: activity.createdAtMs, config: app.config, newId: app.newId };
  const { keyring, attestations, storage } = app;
  return await withKeyringErrors(async () => {
    const context = { ...common, read: storage.read, keyring, attestations };
    const prepared = await operation.prepare?.(context, parameters, described);
    const proofs = activity.wantsProofs
      ? await makeProofs(
          app,
          actor,
          activity,
          [vote],
          operation.newAddresses?.(parameters, prepared) ?? [],
          activity.createdAtMs,
        )
      : [];
    return {
      lock: operation.lock,
      proofs,
      run: async (store) => {
        const result = await operation.execute({ ...common, store, approvers: [actor.userId] }, parameters, prepared);
        if (operation.lock === 'exclusive') await store.organizations.raiseAuthorityVersion(actor.organizationId);
        return version.toResult(result);
      },
    };
  });
}

class Stale extends Error {}

/** Commits the activity with its vote, and its effect if it has one, provided that the decision still stands. */
async function store(
  app: App,
  { actor }: Authenticated,
  { body }: Submission,
  { activity, vote }: Draft,
  judge: (organization: Organization) => Decision,
  effect?: Effect,
): Promise<ActivityAnswer | 'AGAIN'> {
  try {
    const stored = await app.storage.write(async (stores): Promise<Activity> => {
      const organization = await lockFor(stores, actor, effect?.lock ?? 'shared');
      if (!stillStands(organization, actor, judge)) throw new Stale();
      const finished: Activity =
        effect === undefined
          ? activity
          : {
              ...activity,
              status: moveTo(activity.status, 'ACTIVITY_STATUS_COMPLETED'),
              result: await effect.run(stores),
            };
      if (!(await stores.activities.insert(finished, [vote]))) throw new Stale();
      if (effect !== undefined)
        await stores.activities.insertProofs(activity.organizationId, activity.id, effect.proofs);
      return finished;
    });
    app.observe.activity(stored);
    const reader = readerFor(app, actor, stored.createdAtMs);
    const rendered = { activity: stored, votes: [vote], proofs: effect?.proofs ?? [] };
    return { activity: renderActivity(rendered, reader, body.parameters) };
  } catch (error) {
    if (error instanceof Stale) return 'AGAIN';
    // The same bytes may have won a race and now stand in their own way; then the answer is that activity.
    if (error instanceof ApiError && error.code !== 'UNAVAILABLE') {
      const { activities } = app.storage.read;
      if ((await activities.idByFingerprint(actor.organizationId, activity.fingerprint)) !== undefined) return 'AGAIN';
    }
    throw error;
  }
}

function denialError(reason: DenyReason, activityId: string): ApiError {
  const why = explainDenial(reason);
  return new ApiError('REQUEST_NOT_AUTHORIZED', `You don't have sufficient permissions to take this action. ${why}`, {
    details: [
      {
        '@type': 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
        message: why,
        policyEvaluations: [],
        activityId,
      },
    ],
  });
}

/** The same bytes again: a retry reads, another user approves, a denied proposer gets the same denial (decisions 5 and 6). */
async function revisit(
  app: App,
  activityId: ActivityId,
  caller: Authenticated,
  version: ActivityVersion,
  submission: Submission,
): Promise<ActivityAnswer | 'AGAIN'> {
  const { actor } = caller;
  const found = await app.storage.read.activities.find(actor.organizationId, activityId);
  if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');
  const { activity, votes } = found;
  if (activity.proposerId === actor.userId && activity.denial !== undefined) {
    throw denialError(activity.denial.message as DenyReason, activity.id);
  }
  const isAnothers = activity.proposerId !== actor.userId && !votes.some((vote) => vote.userId === actor.userId);
  if (isAnothers && activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
    return await castVote(app, caller, submission, activity.id, 'VOTE_SELECTION_APPROVED', version.secrets);
  }
  return { activity: renderActivity(found, readerFor(app, actor, app.clock())) };
}
