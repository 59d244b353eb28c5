import { Members } from '../core/directory.ts';
import type { Organization } from '../core/model.ts';
import { ApiError } from '../lib/errors.ts';
import { together } from '../lib/together.ts';
import {
  type Approval,
  type Awaited,
  awaited,
  type Decision,
  type DecisionInput,
  decide,
  directoryNeeds,
  type Member,
  type PolicyEvaluation,
  type PolicyReason,
  type PolicySet,
  somePolicies,
  type VoteStanding,
  voteStanding,
} from '../policy/index.ts';
import type { ReadStores } from '../storage/stores.ts';
import { activityFacts, type Intent } from './intent.ts';
import { toMember } from './members.ts';

/** What a decision is taken on. */
export interface RuleInputs {
  /** The database as the transaction sees it, or as it is outside of one. */
  readonly read: ReadStores;
  readonly organization: Organization;
  readonly policies: PolicySet;
  readonly intent: Intent;
  readonly nowMs: number;
}

/**
 * Policies and root quorum on the approvals so far (protocol/policies 8.3, steps 2 to 9), with the trees of so many
 * policies.
 */
export async function decideByRules(
  inputs: RuleInputs,
  approvals: readonly Approval[],
  phase: DecisionInput['phase'],
  treesMax: number,
): Promise<Decision> {
  const known = await inputOf(inputs, approvals, phase);
  const first = decide(known);
  // Others have to be known only where their approvals are awaited; most decisions know enough.
  if (!mayAwaitOthers(known, first)) return withTrees(known, first, treesMax);
  const input = await withOthers(inputs, known);
  return withTrees(input, input === known ? first : decide(input), treesMax);
}

const AWAITING: ReadonlySet<PolicyReason> = new Set<PolicyReason>([
  'CONSENSUS_PENDING',
  'CONSENSUS_UNREACHABLE',
  'CONSENSUS_UNDECIDED',
]);

/** Of several elements a policy shows the worst only, so that one that waits for another may not show. */
const mayAwaitOthers = ({ activity }: DecisionInput, { evaluations }: Decision): boolean =>
  evaluations.some(({ reason }) => AWAITING.has(reason)) ||
  (evaluations.length > 0 && activity.governedBy === 'policy' && activity.elements.length > 1);

/** Of the expressions whose trees are made: each is compiled anew for it. */
const TREE_CHARACTERS_MAX = 20_000;

/**
 * Trees cost far more than outcomes: those of the deciding policies come first, then of those that said something. Of several
 * elements they are about the one that decided.
 */
function withTrees(input: DecisionInput, decision: Decision, treesMax: number): Decision {
  const { evaluations, decidingPolicyIds } = decision;
  if (evaluations.length === 0 || treesMax === 0) return decision;
  const deciding = new Set(decidingPolicyIds);
  const rank = ({ policyId, reason }: PolicyEvaluation): number =>
    deciding.has(policyId) ? 0 : reason === 'CONDITION_FALSE' || reason === 'TIME_INACTIVE' ? 2 : 1;
  const chosen = [0, 1, 2].flatMap((wanted) => evaluations.filter((evaluation) => rank(evaluation) === wanted));
  const ids = new Set(chosen.slice(0, treesMax).map(({ policyId }) => policyId));
  const policies = somePolicies(input.policies, ids, TREE_CHARACTERS_MAX);
  const { activity } = input;
  const explained = decide(
    {
      ...input,
      policies,
      activity:
        activity.governedBy === 'policy'
          ? { ...activity, elements: activity.elements.slice(chosen[0]?.element ?? 0).slice(0, 1) }
          : activity,
    },
    { trace: true, listAll: true },
  );
  const trees = new Map(explained.evaluations.map(({ policyId, trace }) => [policyId, trace]));
  return {
    ...decision,
    evaluations: evaluations.map((evaluation) => {
      const trace = trees.get(evaluation.policyId);
      return trace === undefined ? evaluation : { ...evaluation, trace };
    }),
  };
}

/** What a further vote would count for, decided on the approvals without it. */
export async function standingOf(
  inputs: RuleInputs,
  approvals: readonly Approval[],
  vote: Approval,
): Promise<VoteStanding> {
  const known = await inputOf(inputs, approvals.length === 0 ? [vote] : approvals, 'VOTE', [vote.userId]);
  return voteStanding({ ...(await withOthers(inputs, known)), approvals }, vote);
}

/** What the approvals so far lack, and who could give it. */
export async function awaitedByRules(inputs: RuleInputs, approvals: readonly Approval[]): Promise<Awaited> {
  return awaited(await withOthers(inputs, await inputOf(inputs, approvals, 'VOTE')));
}

async function inputOf(
  inputs: RuleInputs,
  approvals: readonly Approval[],
  phase: DecisionInput['phase'],
  alsoUserIds: readonly string[] = [],
): Promise<DecisionInput> {
  const { read, organization, policies, intent, nowMs } = inputs;
  const { id, rootThreshold, rootUserIds } = organization;
  const { grantedByService } = intent;
  const given = (activity: DecisionInput['activity'], members: readonly Member[]): DecisionInput => ({
    organization: { id, rootThreshold, rootUserIds },
    policies,
    approvals,
    phase,
    nowMs,
    grantedByService,
    activity,
    members,
  });
  // A met root quorum asks no policy, so nobody has to be looked up and nothing parsed for it.
  if (isRootQuorumMet(organization, approvals) || policies.policies.length === 0) {
    return given(activityFacts(intent, [{}]), approverStubs(approvals, alsoUserIds));
  }
  const approverIds = [...approvals.map(({ userId }) => userId), ...alsoUserIds];
  const [elements, approvers] = await together([intent.facts(), read(Members).byIds(id, approverIds)]);
  const present = new Set<string>(approvers.map((record) => record.id));
  const actorId = alsoUserIds.at(-1) ?? approvals.at(-1)?.userId ?? '';
  if (!present.has(actorId)) {
    throw new ApiError('UNAUTHENTICATED', 'the user was removed while the request was being handled');
  }
  return given(activityFacts(intent, elements), approvers.map(toMember));
}

/** With the users whom consensus expressions name, as far as they could still intent. */
async function withOthers({ read, organization }: RuleInputs, input: DecisionInput): Promise<DecisionInput> {
  const needs = directoryNeeds(input);
  if (needs === undefined) return input;
  const known = new Set(input.members.map((member) => member.id));
  const more = (await read(Members).find(organization.id, needs)).map(toMember).filter(({ id }) => !known.has(id));
  return { ...input, members: [...input.members, ...more] };
}

function isRootQuorumMet({ rootThreshold, rootUserIds }: Organization, approvals: readonly Approval[]): boolean {
  const given = new Set(approvals.map(({ userId }) => userId));
  return rootUserIds.filter((userId) => given.has(userId)).length >= rootThreshold;
}

/** Without policies only who approved matters, not what is known of them. */
const approverStubs = (approvals: readonly Approval[], alsoUserIds: readonly string[]): Member[] =>
  [...new Set([...approvals.map(({ userId }) => userId), ...alsoUserIds])].map((id) => ({
    id,
    tags: [],
    email: '',
    alias: '',
    credentials: [],
  }));
