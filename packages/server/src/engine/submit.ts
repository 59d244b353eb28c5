import type { TokenUse } from '../authn/identity/tokens.ts';
import type { Authenticated } from '../authn/stamped.ts';
import type { Actor } from '../core/actor.ts';
import type { Activity, AppProof, Organization, Vote } from '../core/model.ts';
import { ActivityReader, ActivityStore } from '../core/store/activities.ts';
import { SealedResultStore } from '../core/store/sealed-results.ts';
import { useOidcToken } from '../domains/login/oauth/token-uses.ts';
import { LoginStore } from '../domains/login/store/logins.ts';
import { PolicyReader } from '../domains/policies/store/policies.ts';
import { assert } from '../lib/assert.ts';
import { ApiError, invalidField, notServed } from '../lib/errors.ts';
import type { ActivityId, WebhookEndpointId } from '../lib/ids.ts';
import { turnAfter } from '../lib/turn.ts';
import { isParentRun, isProxyRun, type PolicyEvaluation } from '../policy/index.ts';
import type { ReadStores, Stores } from '../storage/stores.ts';
import { moveTo } from './activities/status.ts';
import { admit } from './admit.ts';
import { announceActivity } from './announce-activity.ts';
import type { App } from './app.ts';
import { type ActivityAnswer, draftVote, keptText, readerFor, type Submission } from './ballot.ts';
import type { ActivityOperation, ActivityVersion } from './define.ts';
import { denialError, denialReason } from './denial.ts';
import { callerOf, type Effect, prepareEffect } from './effect.ts';
import { approverOf } from './evidence.ts';
import { hear, isInScope, openHearing, type Party, subjectOf, type Verdict } from './hearing.ts';
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
import { type Matter, openMatter } from './matter.ts';
import { afterVerdict, evaluationsOf, keepGrounds } from './outcome.ts';
import { keepsBody, orRefusal, shortenRejected } from './rejection.ts';
import { renderActivity } from './render-activity.ts';
import { parseSubmitBody, type RawRequest, requireLive } from './request.ts';
import type { Rulebook } from './rulebooks.ts';
import { revealResult, shownAtOnce, withoutSecrets } from './secret-result.ts';
import { castVote } from './vote.ts';

/** How often a decision is taken again because the organization changed under it. */
const ATTEMPTS_MAX = 20;

/** authenticate, parse, authorize, prepare, one transaction: the order of every activity, written once. */
export async function submit(app: App, operation: ActivityOperation, request: RawRequest): Promise<ActivityAnswer> {
  const body = parseSubmitBody(request.body);
  const version = versionOf(operation, body.type);
  await turnAfter(request.body.length);
  const note: AttemptNote = { isNoted: false };
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const caller = await admit(app, request, {
      organizationId: body.organizationId,
      fingerprint: body.fingerprint,
      findsSubOrganization: operation.findsSubOrganization,
      acceptsAttested: operation.accepts.attested,
      acceptsRecovery: operation.accepts.recovery,
      waitsOutside: operation.waitsOutside,
    });
    const answer = await attemptOnce(app, operation, version, caller, { request, body }, note);
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
  note: AttemptNote,
): Promise<ActivityAnswer | 'AGAIN'> {
  const { actor, existingActivityId } = caller;
  requireHome(actor, version);
  if (existingActivityId !== undefined)
    return await revisit(app, existingActivityId, caller, version, submission, note);
  const nowMs = app.clock();
  const { body, request } = submission;
  requireLive(body.timestampMs, nowMs);
  const parameters = version.decode(body.parameters);
  requireScope(operation, actor.organization);
  const { read } = app.storage;
  const grantedByService = request.byService === true && isProxyRun(body.type);
  const about = { operation, type: body.type, parameters, proposer: actor, grantedByService, nowMs };
  const matter = openMatter(app, read, about);
  await matter.lookUp();

  const activityId: ActivityId = app.newId();
  const approver = approverOf(actor, body.fingerprint);
  let isDescribed = false;
  const judge: Judge = async (stores, court, asked) => {
    const hearing = await openHearing(app, stores, court, asked, activityId, nowMs);
    if (!(await isInScope(hearing, actor))) {
      return { rules: hearing.rules, verdict: { kind: 'deny', decision: undefined } };
    }
    const own: Party = { organization: court.authority, userId: actor.userId, evidence: approver.evidence };
    const parties = async (): Promise<Party[]> => {
      // To describe a login may take a call to its issuer, for which no transaction waits.
      if (stores !== read && !isDescribed) throw new Stale();
      await asked.describe();
      isDescribed = true;
      const subject = await subjectOf(hearing, actor, body.fingerprint);
      return subject === undefined ? [own] : [own, subject];
    };
    const verdict = await orRefusal(() => hear(hearing, [approver.approval], parties, () => undefined, 'SUBMISSION'));
    return { rules: hearing.rules, verdict };
  };
  const decided = await judge(read, { authority: actor.home, target: actor.organization }, matter);
  const { verdict: before } = decided;
  await turnAfter(request.body.length);
  const draft = await draftActivity(app, activityId, operation, version, caller, submission, before, nowMs);
  // Proofs that somebody else owes do not hold back the proposer's own approval.
  const isOwing = before.kind === 'authenticate' && before.owedBy === actor.userId;
  const vote: Vote = { ...draft.vote, counts: !isOwing };
  // What the request proves is checked and used up now, also where its result has to wait.
  const executes = before.kind === 'execute';
  const isProven = operation.useProof !== undefined && before.kind !== 'deny';
  if (!hasBegun(note)) request.passage?.requireClient();
  const prepared =
    executes || isProven
      ? await orRefusal(() =>
          prepareEffect(app, {
            matter,
            version,
            activity: draft.activity,
            votes: [vote],
            caller: callerOf(actor, request.clientAddress),
            hasControls: decided.rules.controls.length > 0,
            executes,
            attempt: note,
            nowMs,
          }),
        )
      : undefined;
  const isRefused = prepared !== undefined && 'kind' in prepared;
  const effect = isRefused ? undefined : prepared;
  const expected: Judged = isRefused ? { rules: decided.rules, verdict: prepared } : decided;
  const draftWithVote = shortenRejected({ activity: draft.activity, vote }, expected.verdict, request, body);
  const stored = await store(app, actor, draftWithVote, {
    matter,
    version,
    expected,
    judge,
    effect,
    attempt: note,
    passage: request.passage,
  });
  if (stored === 'AGAIN') return stored;
  if (executes && operation.sends) app.outbox.wake();
  if (executes && operation.broadcasts && effect !== undefined) app.sends.wake(effect.lanes);
  const { activity, verdict, result, proofs } = stored;
  await turnAfter(request.body.length);
  if (verdict.kind === 'deny') {
    throw denialError(verdict.why ?? denialReason(verdict.decision), evaluationsOf(verdict), activity.id);
  }
  const rendered = { activity: { ...activity, result }, votes: [vote], proofs };
  return { activity: renderActivity(rendered, readerFor(app, actor, nowMs), body.parameters) };
}

/** Parents act on their children only to log users in (protocol/consensus 5.2). */
function requireHome(actor: Actor, { type }: ActivityVersion): void {
  if (actor.homeId !== actor.organizationId && !isParentRun(type)) {
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
  id: ActivityId,
  operation: ActivityOperation,
  version: ActivityVersion,
  caller: Authenticated,
  { request, body }: Submission,
  verdict: Verdict,
  nowMs: number,
): Promise<Draft> {
  const { actor } = caller;
  const secrets = keepsBody(verdict, request) ? version.secrets : [];
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
  const vote = await draftVote(app, caller, request, body, activity, 'VOTE_SELECTION_APPROVED', secrets, nowMs);
  return { activity, vote };
}

/** What the rules make of a submission. */
interface Judged {
  readonly rules: Rulebook;
  readonly verdict: Verdict;
}

type Judge = (read: ReadStores, court: Court, matter: Matter) => Promise<Judged>;

interface Case {
  readonly matter: Matter;
  readonly version: ActivityVersion;
  readonly expected: Judged;
  readonly judge: Judge;
  readonly effect: Effect | undefined;
  readonly attempt: AttemptNote;
  readonly passage: RawRequest['passage'];
}

interface Stored {
  readonly activity: Activity;
  /** What it resulted in, with the secrets that only the direct answer shows. */
  readonly result: unknown;
  readonly verdict: Verdict;
  readonly proofs: readonly AppProof[];
  /** The webhook endpoints that are to be told. */
  readonly told: readonly WebhookEndpointId[];
}

/** Commits the activity with its vote, and its effect if it has one, provided that the verdict still stands. */
async function store(
  app: App,
  actor: Actor,
  { activity, vote }: Draft,
  { matter, version, expected, judge, effect, attempt, passage }: Case,
): Promise<Stored | 'AGAIN'> {
  const mode = effect?.lock ?? 'shared';
  try {
    const stored = await app.storage.write(
      async (stores): Promise<Stored> => {
        if (!hasBegun(attempt)) passage?.requireClient();
        const court = await lockFor(stores, actor, mode);
        const isUnchanged = isSameCourt(court, { authority: actor.home, target: actor.organization });
        if (!isUnchanged) await requireUnchanged(stores, actor);
        const inside = matter.inside(stores, isUnchanged);
        const judged = isUnchanged ? expected : await judge(stores, court, inside);
        if (!isSameVerdict(judged.verdict, expected.verdict)) throw new Stale();
        if (!isUnchanged && effect !== undefined) await requireSameDescription(matter, inside);
        const done = await finish(stores, court.target, actor, activity, judged, effect);
        const finished: Activity = { ...done, result: withoutSecrets(done.result, version.secretResults) };
        if (!(await stores(ActivityStore).insert(finished, [vote]))) throw new Stale();
        if (effect?.secret !== undefined) {
          const { secret } = effect;
          const kept = judged.verdict.kind === 'execute' ? shownAtOnce(secret, activity.createdAtMs) : secret;
          await stores(SealedResultStore).insert(activity.organizationId, activity.id, kept, activity.createdAtMs);
        }
        const proofs = judged.verdict.kind === 'execute' ? (effect?.proofs ?? []) : [];
        await stores(ActivityStore).insertProofs(activity.organizationId, activity.id, proofs);
        await keepGrounds(stores, finished, vote, judged.verdict);
        if (judged.verdict.kind === 'authenticate' || judged.verdict.kind === 'wait')
          await noteLogin(stores, actor, finished);
        const announced = { activity: finished, votes: [vote], proofs };
        const told = await announceActivity(app, stores, announced, court.target, finished.updatedAtMs);
        return { activity: finished, verdict: judged.verdict, result: done.result, proofs, told };
      },
      inTurn(actor, mode, effect?.isLong, attempt),
    );
    app.observe.activity(stored.activity);
    app.webhooks.wake(stored.told);
    effect?.announce();
    return stored;
  } catch (error) {
    if (error instanceof Stale) return 'AGAIN';
    // The same bytes may have won a race and now stand in their own way; then the answer is that activity.
    if (error instanceof ApiError && error.code !== 'UNAVAILABLE') {
      const activities = app.storage.read(ActivityReader);
      if ((await activities.idByFingerprint(activity.organizationId, activity.fingerprint)) !== undefined)
        return 'AGAIN';
    }
    throw error;
  }
}

/** A token that asks for a login logs in once, also where others complete it later; they do not have the token then. */
async function noteLogin(stores: Stores, { credential }: Actor, activity: Activity): Promise<void> {
  if (credential.kind !== 'attested') return;
  const { issuerId, tokenId, expiresAtMs } = credential.attested.token as TokenUse;
  if (credential.attested.contact === undefined) {
    const during = { store: stores, activityId: activity.id, nowMs: activity.createdAtMs };
    await useOidcToken(during, issuerId, { tokenId, expiresAtMs }, 'login');
    return;
  }
  const use = { tokenId, purpose: 'login', activityId: activity.id, expiresAtMs };
  if (await stores(LoginStore).useToken(issuerId, use, activity.createdAtMs)) return;
  throw new ApiError('INVALID_VERIFICATION_TOKEN', 'this verification token has already logged in');
}

/** Whether the same is to be done; the grounds may have changed, and those of the transaction are kept. */
const isSameVerdict = (now: Verdict, before: Verdict): boolean =>
  now.kind === before.kind && asked(now).join() === asked(before).join();

const asked = (verdict: Verdict): string[] =>
  verdict.kind === 'deny' ? [] : verdict.requirements.map(({ mfaPolicyId }) => mfaPolicyId);

async function finish(
  stores: Stores,
  target: Organization,
  actor: Actor,
  activity: Activity,
  { rules, verdict }: Judged,
  effect: Effect | undefined,
): Promise<Activity> {
  if (verdict.kind !== 'execute') {
    if (verdict.kind !== 'deny') await effect?.prove(stores);
    return afterVerdict(activity, verdict);
  }
  assert(effect !== undefined, 'an activity executes only after it was prepared');
  const byRootQuorum = verdict.decision.reason === 'ROOT_QUORUM';
  return {
    ...activity,
    status: moveTo(activity.status, 'ACTIVITY_STATUS_COMPLETED'),
    result: await effect.run(stores, { target, approvers: [actor.userId], rules, byRootQuorum }),
    hasMfa: verdict.requirements.length > 0,
  };
}

/**
 * The same bytes again: a retry reads, another user approves, a denied proposer gets the same denial
 * (protocol/activities 4.2).
 */
async function revisit(
  app: App,
  activityId: ActivityId,
  caller: Authenticated,
  version: ActivityVersion,
  submission: Submission,
  note: AttemptNote,
): Promise<ActivityAnswer | 'AGAIN'> {
  const { actor } = caller;
  const found = await app.storage.read(ActivityReader).find(actor.organizationId, activityId);
  if (found === undefined) throw new ApiError('ACTIVITY_NOT_FOUND', 'no such activity in this organization');
  const { activity, votes } = found;
  if (activity.proposerId === actor.userId && activity.denial !== undefined) {
    const said = (await app.storage.read(PolicyReader).evaluations(actor.organizationId, activity.id)).at(-1);
    throw denialError(activity.denial.message, (said?.evaluations ?? []) as PolicyEvaluation[], activity.id);
  }
  const isAnothers = activity.proposerId !== actor.userId && !votes.some((vote) => vote.userId === actor.userId);
  if (isAnothers && activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED') {
    return await castVote(app, caller, submission, activity.id, 'VOTE_SELECTION_APPROVED', version.secrets, note);
  }
  const nowMs = app.clock();
  return { activity: renderActivity(await revealResult(app, actor, found, nowMs), readerFor(app, actor, nowMs)) };
}
