import type { Authenticated } from '../authn/stamped.ts';
import type { Actor } from '../core/actor.ts';
import type { Activity, Vote, VoteSelection } from '../core/model.ts';
import { TreeTrust } from '../core/rules.ts';
import type { ActivityWithVotes } from '../core/store/activity-reader.ts';
import { ActivityReader } from '../core/store/activity-reader.ts';
import { OrganizationReader } from '../core/store/organizations.ts';
import { assert } from '../lib/assert.ts';
import { ApiError, invalidField } from '../lib/errors.ts';
import type { ActivityId } from '../lib/ids.ts';
import { LIMITS } from '../lib/limits.ts';
import { turnAfter } from '../lib/turn.ts';
import type { ReadStores } from '../storage/stores.ts';
import { liveVotes, owesProofs } from './activities/rounds.ts';
import { isTerminal } from './activities/status.ts';
import type { App } from './app.ts';
import { activityNotFound, decideAndCommit } from './decide-and-commit.ts';
import { type CastVote, decideVote, type VoteOutcome } from './decide-vote.ts';
import type { VoteOperation } from './define.ts';
import { approverOf } from './evidence.ts';
import type { Authority } from './hold.ts';
import { openIntent } from './intent.ts';
import { type Proposal, proposalOf } from './proposal.ts';
import { renderActivity } from './render-activity.ts';
import { isLive, parseSubmitBody, type RawRequest } from './request.ts';
import { type ActivityAnswer, draftVote, readerFor, type Submission } from './vote-draft.ts';
import type { Target, VoteRequest } from './vote-request.ts';

/** approve_activity and reject_activity: the answer is the target activity (protocol/consensus 2.1). */
export async function vote(app: App, operation: VoteOperation, request: RawRequest): Promise<ActivityAnswer> {
  const body = parseSubmitBody(request.body);
  if (body.type !== operation.type) throw invalidField('type', `must be ${operation.type} on this path`);
  const { selection } = operation;
  return await decideAndCommit(app, {
    request,
    asked: {
      organizationId: body.organizationId,
      fingerprint: body.fingerprint,
      findsSubOrganization: false,
      // As a proof of its own user, never as a vote (protocol/stamps 5.4).
      acceptsAttested: selection === 'VOTE_SELECTION_APPROVED',
      acceptsRecovery: false,
      waitsOutside: false,
    },
    timestampMs: body.timestampMs,
    changing: 'activity',
    open: async (caller) => {
      const { fingerprint } = operation.decode(body.parameters);
      const activityId = await app.storage
        .read(ActivityReader)
        .idByFingerprint(caller.actor.organizationId, fingerprint);
      if (activityId === undefined) {
        throw new ApiError(
          'ACTIVITY_NOT_FOUND',
          'No activity found with fingerprint. Consensus activities must target an existing activity by fingerprint',
        );
      }
      return await furtherVote(app, caller, { request, body }, { activityId, selection, secrets: [] });
    },
  });
}

interface Further {
  readonly activityId: ActivityId;
  readonly selection: VoteSelection;
  /** Parameters of the signed body that never rest in the clear. */
  readonly secrets: readonly string[];
}

/** A vote on an activity that was proposed before. */
export async function furtherVote(
  app: App,
  caller: Authenticated,
  submission: Submission,
  { activityId, selection, secrets }: Further,
): Promise<VoteRequest> {
  const { read } = app.storage;
  const found = await read(ActivityReader).find(caller.actor.organizationId, activityId);
  if (found === undefined) throw activityNotFound();
  // It may have been approved and done after the backup was made, and this approval would do it once more.
  if (selection === 'VOTE_SELECTION_APPROVED') app.storage.fence.requireNew('the activity', found.activity.createdAtMs);
  const bytes = found.activity.body?.length ?? 0;
  await turnAfter(bytes);
  const authority = await authorityOf(read, found.activity);
  const actor = actorBefore(caller.actor, authority);
  const nowMs = app.clock();
  const { request, body } = submission;
  const cast: CastVote = {
    approver: approverOf(actor, body.fingerprint),
    selection,
    digest: body.fingerprint,
    credentialId: caller.evidence?.credentialId ?? '',
    isLive: isLive(body.timestampMs, nowMs),
    nowMs,
  };
  const proposal = await openProposal(read, authority, found);
  return {
    actor,
    submission,
    authority,
    target: proposal?.proposer && (await targetOf(app, { proposer: proposal.proposer, authority, found, nowMs })),
    found,
    bytes,
    nowMs,
    decide: async ({ found: current, ...state }) => {
      assert(current !== undefined, 'a further vote is about an activity');
      const now = current === found ? proposal : await openProposal(state.read, state.authority, current);
      return await decideVote({ ...state, app, found: current, ended: now?.ended }, cast);
    },
    draft: async ({ kind }) => {
      if (kind === 'approve') requireRoom(found, request);
      const { activity } = found;
      const about = { activity, selection, secrets, nowMs };
      return { activity, vote: await draftVote(app, { ...caller, actor }, submission, about) };
    },
    answer: (shown, voteOutcome) => answer(app, actor, { shown, voteOutcome, nowMs }),
  };
}

export const openProposal = async (
  read: ReadStores,
  authority: Authority,
  found: ActivityWithVotes,
): Promise<Proposal | undefined> =>
  isTerminal(found.activity.status) ? undefined : await proposalOf(read, authority, found);

/** Every vote shows what was signed, so many approvals of a large body by the same bytes would be too long to read. */
function requireRoom({ votes }: ActivityWithVotes, { body }: RawRequest): void {
  const bytes = votes.reduce((sum, { message }) => sum + message.length, body.length);
  if (bytes <= LIMITS.votesBytes) return;
  throw new ApiError(
    'FAILED_PRECONDITION',
    `the votes on this activity would have more than ${LIMITS.votesBytes} bytes: approve it with approve_activity`,
  );
}

/** Who decides an activity that was proposed before. */
export async function authorityOf(read: ReadStores, { organizationId, authorityId }: Activity): Promise<Authority> {
  const target = await read(OrganizationReader).get(organizationId);
  const decider = authorityId === undefined ? target : await read(OrganizationReader).get(authorityId);
  return { decider, target };
}

/** The voter, with its organizations as they are now. A parent's user votes only on what the parent decides. */
export function actorBefore(actor: Actor, { decider, target }: Authority): Actor {
  if (actor.homeId === target.id) return { ...actor, organization: target, home: target };
  if (actor.homeId !== decider.id) {
    throw new ApiError('ORGANIZATION_MISMATCH', 'a vote needs a credential of the organization that it acts on');
  }
  return { ...actor, organization: target, home: decider };
}

/** Whether the sign-up proxy proposed it, whose rights its configuration gives (protocol/sign-up-proxy 4.2). */
async function isGranted(
  read: ReadStores,
  { decider }: Authority,
  { activity, votes }: ActivityWithVotes,
): Promise<boolean> {
  const { enabled, identity } = (await read(TreeTrust).ofOrganization(decider.id)) ?? {};
  const isProxys = ({ userId, publicKey }: Vote): boolean =>
    userId === identity?.userId && publicKey === identity.publicKey;
  return enabled === true && activity.proposerId === identity?.userId && votes.some(isProxys);
}

interface Proposed {
  readonly proposer: Actor;
  readonly authority: Authority;
  readonly found: ActivityWithVotes;
  readonly nowMs: number;
}

/** The sealed parameters are opened only when they may be needed. */
export async function targetOf(app: App, { proposer, authority, found, nowMs }: Proposed): Promise<Target> {
  const { read } = app.storage;
  const { activity } = found;
  const { type } = activity;
  const operation = app.operations.get(type);
  const version = operation.versions.find((candidate) => candidate.type === type);
  assert(version !== undefined, `an operation has a version for ${type}`);
  const parameters = version.decode(await openParameters(app, proposer, activity));
  const grantedByService = operation.proxyRuns && (await isGranted(read, authority, found));
  const intent = openIntent(app, read, { operation, type, parameters, proposer, grantedByService, nowMs });
  return { version, intent };
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

interface Shown {
  readonly shown: ActivityWithVotes;
  readonly voteOutcome: VoteOutcome;
  readonly nowMs: number;
}

/**
 * A voter who has to prove more before the vote counts is told so, whatever others have to do (protocol/login 10.2).
 */
function answer(app: App, actor: Actor, { shown, voteOutcome, nowMs }: Shown): ActivityAnswer {
  const { activity, votes } = shown;
  const owes =
    activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' &&
    (voteOutcome.kind === 'read'
      ? owesProofs(liveVotes(activity, votes, nowMs), actor.userId)
      : isOwedBy(actor, voteOutcome));
  const told: Activity = owes ? { ...activity, status: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED' } : activity;
  return { activity: renderActivity({ ...shown, activity: told }, readerFor(app, actor, nowMs)) };
}

const isOwedBy = ({ userId }: Actor, voteOutcome: VoteOutcome): boolean =>
  voteOutcome.kind === 'approve' &&
  voteOutcome.outcome.kind === 'authenticate' &&
  voteOutcome.outcome.owedBy === userId;
