import type { Actor } from '../core/actor.ts';
import type { MfaRequirement } from '../core/model.ts';
import type { ActivityWithVotes } from '../core/store/activity-reader.ts';
import { ApiError } from '../lib/errors.ts';
import type { UserId } from '../lib/ids.ts';
import { approvals, liveVotes, roundIsOpen } from './activities/rounds.ts';
import { isTerminal } from './activities/status.ts';
import type { App } from './app.ts';
import { openAuthorization, ruleInputsOf, subjectOf } from './authorize.ts';
import { awaitedByRules } from './decide-by-rules.ts';
import { decideVote, type Known, requirementsOf, type VoteOutcome } from './decide-vote.ts';
import { approverOf } from './evidence.ts';
import type { Authority } from './hold.ts';
import type { Intent } from './intent.ts';
import { toApprovals } from './members.ts';
import type { Rehearsal } from './rehearsal.ts';
import { isSatisfied } from './rules/mfa.ts';
import { actorBefore, authorityOf, openProposal, targetOf } from './vote.ts';

/** Nobody's vote changes anything. */
const NOBODY = { awaited: undefined, isAwaited: false, completes: false, owed: [] } as const;

/** No body has it: nothing is stored of a rehearsal. */
const NO_DIGEST = 'rehearsal';

/**
 * Decides on a vote that is not cast, by the same code as one that is, so that nobody is asked for a vote that would be
 * refused. It only reads.
 */
export async function rehearseVote(
  app: App,
  actor: Actor,
  found: ActivityWithVotes,
  nowMs: number,
): Promise<Rehearsal | undefined> {
  const { activity, votes } = found;
  if (isTerminal(activity.status)) return undefined;
  const { read } = app.storage;
  const authority = await authorityOf(read, activity);
  const { decider } = authority;
  const known = await requirementsOf({ read }, found, !roundIsOpen(activity, nowMs), nowMs);
  const { proposer } = (await openProposal(read, authority, found)) ?? {};
  if (proposer === undefined) return { ...NOBODY, decider };
  const target = await orNothing(() => targetOf(app, { proposer, authority, found, nowMs }));
  if (target === undefined) return { ...NOBODY, decider };
  const { intent } = target;
  const authorization = await openAuthorization(app, { read, authority, intent, activityId: activity.id, nowMs });
  // What has lapsed tells who is asked again.
  const given = toApprovals(approvals(votes.filter((vote) => !vote.revoked && isOfRound(activity, vote))));
  const awaited = await orNothing(async () =>
    given.length === 0 ? undefined : await awaitedByRules(ruleInputsOf(authorization), given),
  );
  const vote = await orNothing(() => castBy(app, actor, { authority, intent, found, nowMs }));
  const subject = await orNothing(() => subjectOf(authorization, proposer, activity.fingerprint));
  const askedIds = [activity.proposerId, subject?.userId, actor.userId];
  const isAwaited = counts(vote, actor.userId);
  const completes = isAwaited && vote?.kind === 'approve' && vote.outcome.kind === 'execute';
  return { decider, awaited, isAwaited, completes, owed: owedOf(known, askedIds, found, nowMs) };
}

/** Whether the reader's approval would be taken and count, or the reader has to prove what was asked for. */
function counts(vote: VoteOutcome | undefined, readerId: UserId): boolean {
  if (vote?.kind !== 'approve' || vote.outcome.kind === 'deny') return false;
  return vote.counts || (vote.outcome.kind === 'authenticate' && vote.outcome.owedBy === readerId);
}

const isOfRound = (
  { roundStartedAtMs }: ActivityWithVotes['activity'],
  vote: ActivityWithVotes['votes'][number],
): boolean => vote.roundStartedAtMs === roundStartedAtMs;

interface Cast {
  readonly authority: Authority;
  readonly intent: Intent;
  readonly found: ActivityWithVotes;
  readonly nowMs: number;
}

async function castBy(app: App, actor: Actor, cast: Cast): Promise<VoteOutcome | undefined> {
  const { authority, intent, found, nowMs } = cast;
  // Whoever may only read is not asked for a vote.
  if (actor.credential.kind === 'read-session') return undefined;
  const voter = actorBefore(actor, authority);
  const approver = approverOf(voter, NO_DIGEST);
  return await decideVote(
    { app, read: app.storage.read, authority, found, intent, ended: undefined },
    {
      approver,
      selection: 'VOTE_SELECTION_APPROVED',
      digest: NO_DIGEST,
      credentialId: approver.approval.credential.id,
      isLive: true,
      nowMs,
    },
  );
}

/** What was asked for in this round and is not proven. */
function owedOf(
  known: Known,
  userIds: readonly (UserId | undefined)[],
  { activity, votes }: ActivityWithVotes,
  nowMs: number,
): MfaRequirement[] {
  const voters = new Set(liveVotes(activity, votes, nowMs).map(({ userId }) => userId));
  const isAwaited = activity.status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED';
  return [...new Set(userIds)].flatMap((userId) => {
    const requirement = userId === undefined ? undefined : known(userId);
    if (requirement === undefined || isSatisfied(requirement)) return [];
    return isAwaited || voters.has(requirement.userId) ? [requirement] : [];
  });
}

/** A refusal is an answer here. What says that the service cannot work is none. */
async function orNothing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError && error.httpStatus < 500) return undefined;
    throw error;
  }
}
