import { moveTo } from '../activities/status.ts';
import type { Authenticated } from '../authn/authenticate.ts';
import type { Actor } from '../lib/actor.ts';
import { assert } from '../lib/assert.ts';
import { ApiError, invalidField, notServed } from '../lib/errors.ts';
import type { ActivityId } from '../lib/ids.ts';
import type { Activity, Organization, Vote } from '../lib/model.ts';
import { redactValue } from '../lib/strict-json.ts';
import type { ActivityOperation, ActivityVersion } from '../operations/define.ts';
import type { PolicyEvaluation } from '../policy/index.ts';
import type { ReadStores, Stores } from '../storage/stores.ts';
import { renderActivity } from '../wire/activity.ts';
import { admit } from './admit.ts';
import type { App } from './app.ts';
import { type ActivityAnswer, draftVote, readerFor, type Submission } from './ballot.ts';
import { denialError, denialReason } from './denial.ts';
import { callerOf, type Effect, prepareEffect } from './effect.ts';
import { approverOf } from './evidence.ts';
import { hear, isInScope, openHearing, type Verdict } from './hearing.ts';
import { lockFor, Stale } from './hold.ts';
import { type Matter, openMatter } from './matter.ts';
import { afterVerdict, evaluationsOf, keepGrounds } from './outcome.ts';
import { parseSubmitBody, type RawRequest, requireLive } from './request.ts';
import type { Rulebook } from './rulebooks.ts';
import { castVote } from './vote.ts';

/** How often a decision is taken again because the organization changed under it. */
const ATTEMPTS_MAX = 20;

/** authenticate, parse, authorize, prepare, one transaction: the order of every activity, written once. */
export async function submit(app: App, operation: ActivityOperation, request: RawRequest): Promise<ActivityAnswer> {
  const body = parseSubmitBody(request.body);
  const version = versionOf(operation, body.type);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const caller = await admit(app, request, {
      organizationId: body.organizationId,
      fingerprint: body.fingerprint,
      findsSubOrganization: false,
    });
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
  const { body, request } = submission;
  requireLive(body.timestampMs, nowMs);
  const parameters = version.decode(body.parameters);
  requireScope(operation, actor.organization);
  const { read } = app.storage;
  const matter = openMatter(app, read, { operation, type: body.type, parameters, proposer: actor, nowMs });
  await matter.describe();

  const draft = await draftActivity(app, operation, version, caller, submission, nowMs);
  const approver = approverOf(actor, body.fingerprint);
  const judge: Judge = async (stores, organization, about) => {
    const hearing = await openHearing(app, stores, organization, about, draft.activity.id, nowMs);
    const verdict: Verdict = (await isInScope(hearing, actor))
      ? await hear(hearing, approver, [], undefined, 'SUBMISSION')
      : { kind: 'deny', decision: undefined };
    return { rules: hearing.rules, verdict };
  };
  const expected = await judge(read, actor.organization, matter);
  const vote: Vote = { ...draft.vote, counts: expected.verdict.kind !== 'authenticate' };
  const effect =
    expected.verdict.kind === 'execute'
      ? await prepareEffect(app, {
          matter,
          version,
          activity: draft.activity,
          votes: [vote],
          caller: callerOf(actor, request.clientAddress),
          hasControls: expected.rules.controls.length > 0,
          nowMs,
        })
      : undefined;
  const stored = await store(app, actor, { activity: draft.activity, vote }, { matter, expected, judge, effect });
  if (stored === 'AGAIN') return stored;
  const { activity, verdict } = stored;
  if (verdict.kind === 'deny') throw denialError(denialReason(verdict.decision), evaluationsOf(verdict), activity.id);
  const rendered = { activity, votes: [vote], proofs: effect?.proofs ?? [] };
  return { activity: renderActivity(rendered, readerFor(app, actor, nowMs), body.parameters) };
}

/** Parents act on their children only through operations that say so (RES 3.3). */
function requireHome(actor: Actor): void {
  if (actor.homeId !== actor.organizationId) {
    throw new ApiError('ORGANIZATION_MISMATCH', 'this activity needs a credential of the organization that it acts on');
  }
}

export function requireScope(operation: ActivityOperation, organization: Organization): void {
  const isSub = organization.parentId !== undefined;
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
    openTo: undefined,
    hasMfa: false,
    roundStartedAtMs: nowMs,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
  const vote = await draftVote(app, caller, request, body, activity, 'VOTE_SELECTION_APPROVED', secrets, nowMs);
  return { activity, vote };
}

/** What the rules make of a submission. */
interface Judged {
  readonly rules: Rulebook;
  readonly verdict: Verdict;
}

type Judge = (read: ReadStores, organization: Organization, matter: Matter) => Promise<Judged>;

interface Case {
  readonly matter: Matter;
  readonly expected: Judged;
  readonly judge: Judge;
  readonly effect: Effect | undefined;
}

interface Stored {
  readonly activity: Activity;
  readonly verdict: Verdict;
}

/** Commits the activity with its vote, and its effect if it has one, provided that the verdict still stands. */
async function store(
  app: App,
  actor: Actor,
  { activity, vote }: Draft,
  { matter, expected, judge, effect }: Case,
): Promise<Stored | 'AGAIN'> {
  try {
    const stored = await app.storage.write(async (stores): Promise<Stored> => {
      const organization = await lockFor(stores, actor, effect?.lock ?? 'shared');
      const judged =
        organization.authorityVersion === actor.organization.authorityVersion
          ? expected
          : await judge(stores, organization, matter.inside(stores, false));
      if (!isSameVerdict(judged.verdict, expected.verdict)) throw new Stale();
      const finished = await finish(stores, organization, actor, activity, judged, effect);
      if (!(await stores.activities.insert(finished, [vote]))) throw new Stale();
      await stores.activities.insertProofs(activity.organizationId, activity.id, effect?.proofs ?? []);
      await keepGrounds(stores, finished, vote, judged.verdict);
      return { activity: finished, verdict: judged.verdict };
    });
    app.observe.activity(stored.activity);
    return stored;
  } catch (error) {
    if (error instanceof Stale) return 'AGAIN';
    // The same bytes may have won a race and now stand in their own way; then the answer is that activity.
    if (error instanceof ApiError && error.code !== 'UNAVAILABLE') {
      const { activities } = app.storage.read;
      if ((await activities.idByFingerprint(activity.organizationId, activity.fingerprint)) !== undefined)
        return 'AGAIN';
    }
    throw error;
  }
}

/** Whether the same is to be done; the grounds may have changed, and those of the transaction are kept. */
const isSameVerdict = (now: Verdict, before: Verdict): boolean =>
  now.kind === before.kind &&
  (now.kind === 'deny' || before.kind === 'deny' || now.requirement?.mfaPolicyId === before.requirement?.mfaPolicyId);

async function finish(
  stores: Stores,
  organization: Organization,
  actor: Actor,
  activity: Activity,
  { rules, verdict }: Judged,
  effect: Effect | undefined,
): Promise<Activity> {
  if (verdict.kind !== 'execute') return afterVerdict(activity, verdict);
  assert(effect !== undefined, 'an activity executes only after it was prepared');
  const byRootQuorum = verdict.decision.reason === 'ROOT_QUORUM';
  return {
    ...activity,
    status: moveTo(activity.status, 'ACTIVITY_STATUS_COMPLETED'),
    result: await effect.run(stores, { organization, approvers: [actor.userId], rules, byRootQuorum }),
    hasMfa: verdict.requirement !== undefined,
  };
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
    const said = (await app.storage.read.policies.evaluations(actor.organizationId, activity.id)).at(-1);
    throw denialError(activity.denial.message, (said?.evaluations ?? []) as PolicyEvaluation[], activity.id);
  }
  const isAnothers = activity.proposerId !== actor.userId && !votes.some((vote) => vote.userId === actor.userId);
  if (isAnothers && activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
    return await castVote(app, caller, submission, activity.id, 'VOTE_SELECTION_APPROVED', version.secrets);
  }
  return { activity: renderActivity(found, readerFor(app, actor, app.clock())) };
}
