import type { Authenticated } from '../authn/stamped.ts';
import type { Actor } from '../core/actor.ts';
import type { Activity, Vote, VoteSelection } from '../core/model.ts';
import { TreeTrust } from '../core/rules.ts';
import type { ActivityWithVotes } from '../core/store/activities.ts';
import { ActivityReader } from '../core/store/activities.ts';
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
import { type ActivityAnswer, draftVote, readerFor, type Submission } from './ballot.ts';
import { activityNotFound, decideAndCommit } from './decide-and-commit.ts';
import type { VoteOperation } from './define.ts';
import { approverOf } from './evidence.ts';
import type { Court } from './hold.ts';
import { type Ballot, type Judgement, judgeVote } from './judge-vote.ts';
import { openMatter } from './matter.ts';
import { type Proposal, proposalOf } from './proposal.ts';
import { renderActivity } from './render-activity.ts';
import { isLive, parseSubmitBody, type RawRequest } from './request.ts';
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
  const bytes = found.activity.body?.length ?? 0;
  await turnAfter(bytes);
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
  const proposal = await openProposal(read, court, found);
  return {
    actor,
    submission,
    court,
    target: proposal?.proposer && (await targetOf(app, { proposer: proposal.proposer, court, found, nowMs })),
    found,
    bytes,
    nowMs,
    judge: async ({ found: current, ...state }) => {
      assert(current !== undefined, 'a further vote is about an activity');
      const now = current === found ? proposal : await openProposal(state.read, state.court, current);
      return await judgeVote({ ...state, app, found: current, ended: now?.ended }, ballot);
    },
    draft: async ({ kind }) => {
      if (kind === 'approve') requireRoom(found, request);
      const { activity } = found;
      const about = { activity, selection, secrets, nowMs };
      return { activity, vote: await draftVote(app, { ...caller, actor }, submission, about) };
    },
    answer: (shown, judgement) => answer(app, actor, { shown, judgement, nowMs }),
  };
}

const openProposal = async (read: ReadStores, court: Court, found: ActivityWithVotes): Promise<Proposal | undefined> =>
  isTerminal(found.activity.status) ? undefined : await proposalOf(read, court, found);

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

/** Whether the sign-up proxy proposed it, whose rights its configuration gives (protocol/sign-up-proxy 4.2). */
async function isGranted(
  read: ReadStores,
  { authority }: Court,
  { activity, votes }: ActivityWithVotes,
): Promise<boolean> {
  const { enabled, identity } = (await read(TreeTrust).ofOrganization(authority.id)) ?? {};
  const isProxys = ({ userId, publicKey }: Vote): boolean =>
    userId === identity?.userId && publicKey === identity.publicKey;
  return enabled === true && activity.proposerId === identity?.userId && votes.some(isProxys);
}

interface Proposed {
  readonly proposer: Actor;
  readonly court: Court;
  readonly found: ActivityWithVotes;
  readonly nowMs: number;
}

/** The sealed parameters are opened only when they may be needed. */
async function targetOf(app: App, { proposer, court, found, nowMs }: Proposed): Promise<Target> {
  const { read } = app.storage;
  const { activity } = found;
  const { type } = activity;
  const operation = app.operations.get(type);
  const version = operation.versions.find((candidate) => candidate.type === type);
  assert(version !== undefined, `an operation has a version for ${type}`);
  const parameters = version.decode(await openParameters(app, proposer, activity));
  const grantedByService = operation.proxyRuns && (await isGranted(read, court, found));
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

interface Shown {
  readonly shown: ActivityWithVotes;
  readonly judgement: Judgement;
  readonly nowMs: number;
}

/**
 * A voter who has to prove more before the vote counts is told so, whatever others have to do (protocol/login 10.2).
 */
function answer(app: App, actor: Actor, { shown, judgement, nowMs }: Shown): ActivityAnswer {
  const { activity, votes } = shown;
  const owes =
    activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED' &&
    (judgement.kind === 'read'
      ? owesProofs(liveVotes(activity, votes, nowMs), actor.userId)
      : isOwedBy(actor, judgement));
  const told: Activity = owes ? { ...activity, status: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED' } : activity;
  return { activity: renderActivity({ ...shown, activity: told }, readerFor(app, actor, nowMs)) };
}

const isOwedBy = ({ userId }: Actor, judgement: Judgement): boolean =>
  judgement.kind === 'approve' && judgement.verdict.kind === 'authenticate' && judgement.verdict.owedBy === userId;
