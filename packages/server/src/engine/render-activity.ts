import type { Activity, AppProof, Organization, StoredError, Vote } from '../core/model.ts';
import type { UserSnapshot } from '../core/user-snapshot.ts';
import { toRfc3339, toTimestamp } from '../lib/clock.ts';
import { storedErrorCode } from '../lib/error-codes.ts';
import { ApiError, toErrorBody } from '../lib/errors.ts';
import type { UserId } from '../lib/ids.ts';
import { approvers, liveVotes, owesProofs } from './activities/rounds.ts';
import { isTerminal } from './activities/status.ts';

/** Whose view it is: the flags of an activity are relative to the reader (protocol/consensus 3). */
export interface Reader {
  /** The reader's own. */
  readonly organization: Pick<Organization, 'id' | 'rootUserIds'>;
  /** Undefined for a webhook, which can approve nothing. */
  readonly userId: UserId | undefined;
  readonly nowMs: number;
  readonly vendorNames: boolean;
  /** Names of the intent and the result of an activity type. */
  readonly keysOf: (type: string) => { readonly intentKey: string; readonly resultKey: string };
}

export type WireActivity = ReturnType<typeof renderActivity>;

/** An activity with what belongs to it. */
export interface RenderedActivity {
  readonly activity: Activity;
  readonly votes: readonly Vote[];
  readonly proofs: readonly AppProof[];
}

/** The activity object. `parameters` replaces the stored copy in the direct answer, which echoes secrets. */
export function renderActivity(
  { activity, votes, proofs }: RenderedActivity,
  reader: Reader,
  parameters: unknown = activity.parameters,
) {
  const { intentKey, resultKey } = reader.keysOf(activity.type);
  const { canApprove, canReject } = voteFlags(activity, votes, reader);
  return {
    id: activity.id,
    organizationId: activity.organizationId,
    status: activity.status,
    type: activity.type,
    intent: { [intentKey]: parameters },
    result: activity.status === 'ACTIVITY_STATUS_COMPLETED' ? { [resultKey]: activity.result ?? {} } : {},
    votes: votes.filter((vote) => vote.counts).map((vote) => renderVote(vote, isOthers(activity, reader))),
    fingerprint: activity.fingerprint,
    canApprove,
    canReject,
    createdAt: toRfc3339(activity.createdAtMs),
    updatedAt: toRfc3339(activity.updatedAtMs),
    ...(proofs.length > 0 && { appProofs: proofs.map((proof) => ({ ...proof })) }),
    ...(activity.failure !== undefined && { failure: renderFailure(activity.failure, reader.vendorNames) }),
  };
}

function voteFlags(
  activity: Activity,
  votes: readonly Vote[],
  { organization, userId, nowMs }: Reader,
): { canApprove: boolean; canReject: boolean } {
  const concernsReader = (activity.authorityId ?? activity.organizationId) === organization.id;
  if (isTerminal(activity.status) || !concernsReader || userId === undefined)
    return { canApprove: false, canReject: false };
  const live = liveVotes(activity, votes, nowMs);
  const isProposer = activity.proposerId === userId;
  const { openTo } = activity;
  const eligible =
    organization.rootUserIds.includes(userId) ||
    openTo?.anyone === true ||
    openTo?.userIds.includes(userId) === true ||
    // Whoever has approved once may do so again when approvals have lapsed.
    approvers(votes).includes(userId);
  if (activity.status === 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED') {
    return { canApprove: isProposer || owesProofs(live, userId), canReject: isProposer || eligible };
  }
  const isOpen = activity.status === 'ACTIVITY_STATUS_CONSENSUS_NEEDED';
  return {
    canApprove: isOpen && eligible && !approvers(live).includes(userId),
    canReject: isOpen && (eligible || isProposer),
  };
}

/** Whether another organization than the reader's decided it: its users are named here, and no more is told of them. */
const isOthers = ({ authorityId }: Activity, { organization }: Reader): boolean =>
  authorityId !== undefined && authorityId !== organization.id;

const nameOnly = ({ userId, userName, createdAt, updatedAt }: UserSnapshot): UserSnapshot => ({
  userId,
  userName,
  authenticators: [],
  apiKeys: [],
  userTags: [],
  oauthProviders: [],
  createdAt,
  updatedAt,
  mfaPolicies: [],
});

function renderVote(vote: Vote, isStrangers: boolean) {
  const user = vote.userSnapshot as UserSnapshot;
  return {
    id: vote.id,
    userId: vote.userId,
    user: isStrangers ? nameOnly(user) : user,
    activityId: vote.activityId,
    selection: vote.selection,
    message: vote.message,
    publicKey: vote.publicKey,
    signature: vote.signature,
    scheme: vote.scheme,
    createdAt: toTimestamp(vote.createdAtMs),
    // A passkey signs more than the body; with these anyone can verify the vote.
    ...(vote.webauthn !== undefined && { webauthn: vote.webauthn }),
  };
}

function renderFailure(failure: StoredError, vendorNames: boolean) {
  const { code, message, details } = toErrorBody(
    new ApiError(storedErrorCode(failure.errorCode), failure.message),
    vendorNames,
  );
  return { code, message, details: [...details] };
}
