import type { Actor } from '../../../core/actor.ts';
import { Members } from '../../../core/directory.ts';
import type { Activity, MfaRequirement, Organization, Vote } from '../../../core/model.ts';
import type { ActivityWithVotes } from '../../../core/store/activity-reader.ts';
import type { UserSnapshot } from '../../../core/user-snapshot.ts';
import { approvers, liveVotes, roundIsOpen } from '../../../engine/activities/rounds.ts';
import { isTerminal } from '../../../engine/activities/status.ts';
import type { Rehearsal } from '../../../engine/rehearsal.ts';
import { toRfc3339 } from '../../../lib/clock.ts';
import { LIMITS } from '../../../lib/limits.ts';
import type { AwaitedPolicy } from '../../../policy/index.ts';
import type { ReadStores } from '../../../storage/stores.ts';
import type { Progress } from './shapes.ts';
import { factorText, missingText } from './words.ts';

export interface ProgressInputs {
  readonly read: ReadStores;
  readonly actor: Actor;
  readonly nowMs: number;
  readonly rehearseVote: (found: ActivityWithVotes) => Promise<Rehearsal | undefined>;
}

type Way = Progress['ways'][number];

/** More users than this are not named with a way. */
const NAMED_MAX = 100;

/** How far an activity is on its way to a decision, as the reader sees it. */
export async function progressOf(inputs: ProgressInputs, found: ActivityWithVotes): Promise<Progress> {
  const { actor, nowMs } = inputs;
  const { activity, votes } = found;
  const rehearsal = await inputs.rehearseVote(found);
  const isDecided = isTerminal(activity.status);
  const isLapsed = !isDecided && !roundIsOpen(activity, nowMs);
  const live = liveVotes(activity, votes, nowMs);
  const ways = rehearsal === undefined ? [] : await waysOf(inputs, rehearsal, isLapsed);
  const mine = live.findLast(({ userId }) => userId === actor.userId);
  const submission = votes.find((vote) => vote.userId === activity.proposerId);
  return {
    waitsForMe: rehearsal?.isAwaited ?? false,
    ...nearest(ways, approvers(live).length, isDecided),
    ways,
    completes: rehearsal?.completes ?? false,
    votes: live.filter(isShown).map((vote) => ({
      voteId: vote.id,
      selection: selectionOf(vote),
      at: toRfc3339(vote.createdAtMs),
      ...cameFrom(vote, activity, actor),
    })),
    ...(mine !== undefined && { myVote: selectionOf(mine) }),
    ...(rehearsal !== undefined && (await authenticationOf(inputs, rehearsal))),
    ...(!isDecided && !isLapsed && { lapsesAt: toRfc3339(activity.roundStartedAtMs + LIMITS.approvalWindowMs) }),
    ...(isLapsed && { isLapsed }),
    ...(submission !== undefined && { submitter: cameFrom(submission, activity, actor) }),
    ...(isDecided && { decidedAt: toRfc3339(activity.updatedAtMs), outcome: activity.status }),
  };
}

/** A vote whose factors are missing is not shown (protocol/consensus 1.1). */
const isShown = ({ counts }: Vote): boolean => counts;

const selectionOf = ({ selection }: Vote): 'APPROVED' | 'REJECTED' =>
  selection === 'VOTE_SELECTION_APPROVED' ? 'APPROVED' : 'REJECTED';

/** The seal shows the way that lacks least; what a policy does not count lacks one. */
function nearest(ways: readonly Way[], approved: number, isDecided: boolean): Pick<Progress, 'given' | 'required'> {
  const sums = ways.map(({ given, required }) => ({ given, required: required ?? given + 1 }));
  const [first] = sums.sort((one, other) => one.required - one.given - (other.required - other.given));
  if (first !== undefined) return first;
  return { given: approved, required: isDecided ? approved : approved + 1 };
}

async function waysOf(inputs: ProgressInputs, rehearsal: Rehearsal, isLapsed: boolean): Promise<Way[]> {
  const { awaited, decider } = rehearsal;
  if (awaited === undefined || !isTold(inputs.actor, decider)) return [];
  const { decision, policies } = awaited;
  const roots = decision.rootQuorum;
  // After a round has lapsed everybody is asked again.
  const missingRoots = isLapsed ? decider.rootUserIds : decision.openTo.rootUserIds;
  const named = [...missingRoots, ...policies.flatMap(({ userIds }) => userIds)].slice(0, NAMED_MAX);
  const names = await namesOf(inputs, rehearsal, named);
  const way = (about: Omit<Way, 'text'>): Way => {
    const { given, required, missing } = about;
    const said = missing.userIds.flatMap((userId) => names.get(userId) ?? []);
    const lacking = required === undefined ? undefined : Math.max(1, required - given);
    return { ...about, text: missingText(lacking, missing.anyone, said) };
  };
  const ofPolicy = ({ policyId, policyName, anyone, userIds, given, required }: AwaitedPolicy): Way =>
    way({
      kind: 'POLICY',
      policyId,
      given: isLapsed ? 0 : given,
      missing: { anyone, userIds: anyone ? [] : userIds.slice(0, NAMED_MAX) },
      ...(policyName !== undefined && { policyName }),
      ...(required !== undefined && { required }),
    });
  return [
    ...policies.map(ofPolicy),
    ...(roots.isReachable
      ? [
          way({
            kind: 'ROOT_QUORUM',
            given: isLapsed ? 0 : roots.given,
            required: roots.required,
            missing: { anyone: false, userIds: missingRoots.slice(0, NAMED_MAX) },
          }),
        ]
      : []),
  ];
}

/** What a parent decides in its sub-organization it decides by rules and people that are nobody's business there. */
const isTold = ({ homeId }: Actor, decider: Organization): boolean =>
  decider.id === homeId || decider.parentId === homeId;

/** What users are called in sentences, the reader first. */
async function namesOf(
  { read, actor }: ProgressInputs,
  { decider }: Rehearsal,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const records = await read(Members).byIds(decider.id, [...new Set(userIds)]);
  const names = new Map(records.map(({ id, user }) => [id as string, user.name]));
  if (names.has(actor.userId)) names.set(actor.userId, 'you');
  return names;
}

async function authenticationOf(
  inputs: ProgressInputs,
  rehearsal: Rehearsal,
): Promise<Pick<Progress, 'authentication'>> {
  const { actor } = inputs;
  const owed = rehearsal.owed.find(({ userId }) => userId === actor.userId) ?? rehearsal.owed[0];
  const isMine = owed?.userId === actor.userId;
  if (owed === undefined || !(isMine || isTold(actor, rehearsal.decider))) return {};
  const name = isMine ? 'you' : ((await namesOf(inputs, rehearsal, [owed.userId])).get(owed.userId) ?? 'The user');
  return {
    authentication: { isMine, userId: owed.userId, factors: factorsOf(owed), text: factorText(owed, name) },
  };
}

const factorsOf = ({ steps, proofs }: MfaRequirement) =>
  steps.map(({ any }, index) => ({
    any: any.map(({ type, id }) => ({ type, ...(id !== undefined && { id }) })),
    isProven: index < proofs.length,
    isNext: index === proofs.length,
  }));

/** Who voted, with what and from where. Others than users of the voter's organization are told who, and no more. */
function cameFrom(vote: Vote, activity: Activity, actor: Actor): NonNullable<Progress['submitter']> {
  const user = vote.userSnapshot as UserSnapshot;
  const homeId = vote.homeId ?? activity.authorityId ?? activity.organizationId;
  const isTold = homeId === actor.homeId;
  const name = isTold ? credentialNameOf(vote, user) : undefined;
  const kind = isTold ? credentialKindOf(vote) : undefined;
  return {
    userId: vote.userId,
    userName: user.userName,
    isProgram: isTold && isProgram(user),
    ...(name !== undefined && { credentialName: name }),
    ...(kind !== undefined && { credentialKind: kind }),
    ...(isTold && vote.sourceAddress !== undefined && { sourceAddress: vote.sourceAddress }),
  };
}

const isProgram = ({ authenticators, oauthProviders, apiKeys, userEmail, userPhoneNumber }: UserSnapshot): boolean =>
  authenticators.length === 0 &&
  oauthProviders.length === 0 &&
  !userEmail &&
  !userPhoneNumber &&
  apiKeys.length > 0 &&
  apiKeys.every(({ credential }) => credential.type.startsWith('CREDENTIAL_TYPE_API_KEY_'));

const credentialNameOf = ({ credentialId }: Vote, { apiKeys, authenticators }: UserSnapshot): string | undefined =>
  apiKeys.find(({ apiKeyId }) => apiKeyId === credentialId)?.apiKeyName ??
  authenticators.find(({ authenticatorId }) => authenticatorId === credentialId)?.authenticatorName;

function credentialKindOf({
  credentialKind,
  credentialType,
}: Vote): NonNullable<Progress['submitter']>['credentialKind'] {
  switch (credentialKind) {
    case 'passkey':
      return 'PASSKEY';
    case 'attested':
      return 'TOKEN';
    case 'api-key':
      return kindOfKey(credentialType);
    case undefined:
      return undefined;
  }
}

function kindOfKey(type: string): NonNullable<Progress['submitter']>['credentialKind'] {
  if (type.startsWith('CREDENTIAL_TYPE_API_KEY_')) return 'API_KEY';
  return type === 'CREDENTIAL_TYPE_RECOVER_USER_KEY_P256' ? 'RECOVERY' : 'SESSION';
}
