import type { Authenticated } from '../authn/stamped.ts';
import type { Actor } from '../core/actor.ts';
import type { Activity, Organization } from '../core/model.ts';
import { Evaluations } from '../core/rules.ts';
import { ActivityReader } from '../core/store/activity-reader.ts';
import { assert } from '../lib/assert.ts';
import { ApiError, invalidField, notServed } from '../lib/errors.ts';
import type { ActivityId } from '../lib/ids.ts';
import { turnAfter } from '../lib/turn.ts';
import type { PolicyEvaluation } from '../policy/index.ts';
import type { App } from './app.ts';
import { authorize, isInScope, type MfaSubject, type Outcome, openAuthorization, subjectOf } from './authorize.ts';
import { activityNotFound, decideAndCommit } from './decide-and-commit.ts';
import type { VoteOutcome } from './decide-vote.ts';
import type { ActivityOperation, ActivityVersion } from './define.ts';
import { denialError } from './denial.ts';
import { approverOf } from './evidence.ts';
import { Stale } from './hold.ts';
import { openIntent } from './intent.ts';
import { keepsBody, orRefusal } from './rejection.ts';
import { renderActivity } from './render-activity.ts';
import { parseSubmitBody, type RawRequest, requireLive } from './request.ts';
import { revealResult } from './secret-result.ts';
import { furtherVote } from './vote.ts';
import { type ActivityAnswer, draftVote, keptText, readerFor, type Submission } from './vote-draft.ts';
import type { Draft, VoteRequest } from './vote-request.ts';

/** A submission: the first vote on the activity that it describes. */
export async function submit(app: App, operation: ActivityOperation, request: RawRequest): Promise<ActivityAnswer> {
  const body = parseSubmitBody(request.body);
  const version = versionOf(operation, body.type);
  await turnAfter(request.body.length);
  return await decideAndCommit(app, {
    request,
    asked: {
      organizationId: body.organizationId,
      fingerprint: body.fingerprint,
      findsSubOrganization: operation.findsSubOrganization,
      acceptsAttested: operation.accepts.attested,
      acceptsRecovery: operation.accepts.recovery,
      waitsOutside: operation.waitsOutside,
    },
    timestampMs: body.timestampMs,
    changing: 'organization',
    open: async (caller) => {
      const submitted: Submitted = { operation, version, caller, submission: { request, body } };
      requireHome(caller.actor, operation);
      const { existingActivityId: known } = caller;
      return known === undefined ? await firstVote(app, submitted) : await revisit(app, known, submitted);
    },
  });
}

/** What was asked for, and by whom. */
interface Submitted {
  readonly operation: ActivityOperation;
  readonly version: ActivityVersion;
  readonly caller: Authenticated;
  readonly submission: Submission;
}

function versionOf(operation: ActivityOperation, type: string): ActivityVersion {
  const version = operation.versions.find((candidate) => candidate.type === type);
  if (version !== undefined) return version;
  if (operation.unserved.includes(type)) throw notServed(type);
  const accepted = operation.versions.map((candidate) => candidate.type).join(', ');
  throw invalidField('type', `must be one of ${accepted} on this path`);
}

/**
 * What cannot be read is refused before anybody is asked: that says nothing about what is stored (docs/decisions/0031).
 */
async function firstVote(app: App, submitted: Submitted): Promise<VoteRequest> {
  const { operation, version, caller, submission } = submitted;
  const { actor } = caller;
  const { body, request } = submission;
  const nowMs = app.clock();
  requireLive(body.timestampMs, nowMs);
  const parameters = version.decode(body.parameters);
  requireScope(operation, actor.organization);
  const grantedByService = request.byService === true && operation.proxyRuns;
  const about = { operation, type: body.type, parameters, proposer: actor, grantedByService, nowMs };
  const intent = openIntent(app, app.storage.read, about);
  await intent.lookUp();
  const id: ActivityId = app.newId();
  return {
    actor,
    submission,
    authority: { decider: actor.home, target: actor.organization },
    target: { intent, version },
    found: undefined,
    bytes: request.body.length,
    nowMs,
    decide: decideSubmission(app, submitted, { id, nowMs }),
    draft: (voteOutcome) => draftSubmission(app, submitted, { id, voteOutcome, nowMs }),
    answer: (found) => ({ activity: renderActivity(found, readerFor(app, actor, nowMs), body.parameters) }),
  };
}

/** A submission is an approval, with none before it. */
function decideSubmission(
  app: App,
  { caller, submission }: Submitted,
  { id, nowMs }: { readonly id: ActivityId; readonly nowMs: number },
): VoteRequest['decide'] {
  const { actor } = caller;
  const { fingerprint } = submission.body;
  const approver = approverOf(actor, fingerprint);
  let isDescribed = false;
  return async ({ read, authority, intent }) => {
    assert(intent !== undefined, 'a submission is about something');
    const authorization = await openAuthorization(app, { read, authority, intent, activityId: id, nowMs });
    const { rules } = authorization;
    const approved = (outcome: Outcome): VoteOutcome => {
      // Proofs that somebody else owes do not hold back the proposer's own approval.
      const counts = !(outcome.kind === 'authenticate' && outcome.owedBy === actor.userId);
      return { kind: 'approve', outcome, rules, live: [], counts, startsRound: false };
    };
    if (!(await isInScope(authorization, actor))) return approved({ kind: 'deny', decision: undefined });
    const own: MfaSubject = { organization: authority.decider, userId: actor.userId, evidence: approver.evidence };
    const mfaSubjects = async (): Promise<MfaSubject[]> => {
      // To describe a login may take a call to its issuer, for which no transaction waits.
      if (read !== app.storage.read && !isDescribed) throw new Stale();
      await intent.describe();
      isDescribed = true;
      const subject = await subjectOf(authorization, actor, fingerprint);
      return subject === undefined ? [own] : [own, subject];
    };
    const given = { approvals: [approver.approval], mfaSubjects, known: () => undefined, phase: 'SUBMISSION' as const };
    return approved(await orRefusal(() => authorize(authorization, given)));
  };
}

/** Parents act on their children only to log users in (protocol/consensus 5.2). */
function requireHome(actor: Actor, { parentRuns }: ActivityOperation): void {
  if (actor.homeId !== actor.organizationId && !parentRuns) {
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

async function draftSubmission(
  app: App,
  { operation, version, caller, submission }: Submitted,
  { id, voteOutcome, nowMs }: { readonly id: ActivityId; readonly voteOutcome: VoteOutcome; readonly nowMs: number },
): Promise<Draft> {
  const { actor } = caller;
  const { request, body } = submission;
  const isKept = voteOutcome.kind !== 'approve' || keepsBody(voteOutcome.outcome, request);
  const secrets = isKept ? version.secrets : [];
  const sealedBody =
    secrets.length === 0
      ? undefined
      : await app.keyring.seal(
          actor.organization.wrappedKey,
          { organizationId: actor.organizationId, ownerId: id, kind: 'activity-body' },
          request.body,
        );
  const text = keptText(request, secrets);
  const activity: Activity = {
    id,
    organizationId: actor.organizationId,
    fingerprint: body.fingerprint,
    operation: operation.name,
    type: body.type,
    status: 'ACTIVITY_STATUS_CREATED',
    proposerId: actor.userId,
    authorityId: actor.homeId === actor.organizationId ? undefined : actor.homeId,
    parameters: secrets.length === 0 ? body.parameters : JSON.parse(text).parameters,
    body: text,
    sealedBody,
    sealedParameters: undefined,
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
  const about = { activity, selection: 'VOTE_SELECTION_APPROVED', secrets, nowMs } as const;
  const vote = await draftVote(app, caller, submission, about);
  return { activity, vote };
}

/**
 * The same bytes again: a retry reads, another user approves, a denied proposer gets the same denial
 * (protocol/activities 4.2).
 */
async function revisit(
  app: App,
  activityId: ActivityId,
  { caller, version, submission }: Submitted,
): Promise<VoteRequest | ActivityAnswer> {
  const { actor } = caller;
  const found = await app.storage.read(ActivityReader).find(actor.organizationId, activityId);
  if (found === undefined) throw activityNotFound();
  const { activity, votes } = found;
  if (activity.proposerId === actor.userId && activity.denial !== undefined) {
    const said = (await app.storage.read(Evaluations).evaluations(actor.organizationId, activity.id)).at(-1);
    throw denialError(activity.denial.message, (said?.evaluations ?? []) as PolicyEvaluation[], activity.id);
  }
  const isAnothers = activity.proposerId !== actor.userId && !votes.some((vote) => vote.userId === actor.userId);
  if (isAnothers && activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
    const { secrets } = version;
    return await furtherVote(app, caller, submission, { activityId, selection: 'VOTE_SELECTION_APPROVED', secrets });
  }
  const nowMs = app.clock();
  return { activity: renderActivity(await revealResult(app, actor, found, nowMs), readerFor(app, actor, nowMs)) };
}
