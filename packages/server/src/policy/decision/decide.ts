import { assert } from '../../lib/assert.ts';
import { ownAccountRule, RECOVERY_CREDENTIAL_TYPE } from '../catalog/activity-types.ts';
import { type RootQuorum, requireSound, rootQuorumOf, withPolicies } from './circumstances.ts';
import type {
  ActivityFacts,
  Approval,
  Decision,
  DecisionInput,
  DecisionOptions,
  DecisionOutcome,
  DecisionReason,
  PendingPolicy,
} from './decision.ts';
import { type Circumstances, evaluatePolicy, outcomeFor, type PolicyOutcome, type PolicyResult } from './outcome.ts';
import { consensusShape, type PreparedPolicy } from './policy-set.ts';
import { type Approved, couldContribute } from './reachability.ts';

type Settled = Pick<Decision, 'outcome' | 'reason' | 'decidingPolicyIds' | 'ownAccountRule'>;

/** The decision procedure (protocol/policies 8.3, steps 2 to 9). Pure: the same input always gives the same answer. */
export function decide(input: DecisionInput, options: DecisionOptions = {}): Decision {
  requireSound(input);
  const roots = rootQuorumOf(input);
  const without = ({ outcome, reason, decidingPolicyIds, ownAccountRule }: Settled): Decision => ({
    outcome,
    reason,
    decidingPolicyIds,
    ownAccountRule,
    organizationId: input.organization.id,
    evaluations: [],
    unconcernedCount: 0,
    rootQuorum: roots.summary,
    openTo: { rootUserIds: outcome === 'OUTCOME_REQUIRES_CONSENSUS' ? roots.missingUserIds : [], policies: [] },
  });
  // Step 2: a met root quorum overrides every policy.
  if (roots.isMet) return without(settle('OUTCOME_ALLOW', 'ROOT_QUORUM'));
  // Step 3: some activities belong to the root quorum alone.
  if (input.activity.governedBy === 'rootQuorum') {
    const waits = input.phase === 'VOTE' || roots.isWaiting;
    return without(
      waits
        ? settle('OUTCOME_REQUIRES_CONSENSUS', 'ROOT_QUORUM_PENDING')
        : settle('OUTCOME_DENY_IMPLICIT', 'ROOT_QUORUM_ONLY'),
    );
  }
  const actor = input.approvals.at(-1)?.userId;
  assert(
    input.members.some(({ id }) => id === actor),
    'whoever submits or votes is among the members',
  );
  return withPolicies(
    input,
    input.activity,
    options,
    (policies, circumstances) => decideBy(input, roots, policies, circumstances),
    // Where nothing allows a request, what does not apply is the explanation.
    ({ reason }) => reason === 'NO_POLICY_ALLOWS',
  );
}

/** Steps 4 to 9, by these policies. */
function decideBy(
  input: DecisionInput,
  roots: RootQuorum,
  policies: readonly PreparedPolicy[],
  circumstances: Circumstances,
): Decision {
  const results = policies.map((policy) => evaluatePolicy(policy, circumstances));
  const settled = settleElements(input, circumstances, roots, results);
  const { outcome, reason, decidingPolicyIds, ownAccountRule } = settled;
  const isOpen = outcome === 'OUTCOME_REQUIRES_CONSENSUS';
  // While a denial stands, only the root quorum can get past it.
  const isOpenToPolicies = isOpen && reason !== 'ROOT_QUORUM_PENDING';
  return {
    outcome,
    reason,
    decidingPolicyIds,
    ownAccountRule,
    organizationId: input.organization.id,
    evaluations: results.map(({ evaluation }) => evaluation),
    unconcernedCount: input.policies.policies.length - policies.length,
    rootQuorum: roots.summary,
    openTo: {
      rootUserIds: isOpen ? roots.missingUserIds : [],
      policies: isOpenToPolicies ? pendingPolicies(policies, results, circumstances) : [],
    },
  };
}

const settle = (
  outcome: DecisionOutcome,
  reason: DecisionReason,
  decidingPolicyIds: readonly string[] = [],
  ownAccountRule: Decision['ownAccountRule'] = 'NOT_APPLICABLE',
): Settled => ({ outcome, reason, decidingPolicyIds, ownAccountRule });

/** The worst of the elements decides: all must be allowed, and one denial denies all (protocol/policies 8.6). */
const ORDER: readonly DecisionOutcome[] = [
  'OUTCOME_DENY_EXPLICIT',
  'OUTCOME_DENY_IMPLICIT',
  'OUTCOME_REQUIRES_CONSENSUS',
  'OUTCOME_ALLOW',
];

function settleElements(
  input: DecisionInput,
  circumstances: Circumstances,
  roots: RootQuorum,
  results: readonly PolicyResult[],
): Settled {
  const isOwn = isOwnAccount(input.activity, input.approvals, circumstances.approved);
  // Where no policy tells the elements apart, one stands for all.
  const isUniform = results.every(({ outcomes }) => outcomes.length === 1);
  const settled = (isUniform ? [0] : [...circumstances.conditions.keys()]).map((element) =>
    settleElement(input, isOwn, roots, results, element),
  );
  return settled.reduce((worst, next) => (ORDER.indexOf(next.outcome) < ORDER.indexOf(worst.outcome) ? next : worst));
}

function settleElement(
  input: DecisionInput,
  isOwn: boolean,
  roots: RootQuorum,
  results: readonly PolicyResult[],
  element: number,
): Settled {
  const idsWith = (outcome: PolicyOutcome): string[] =>
    results.filter((result) => outcomeFor(result, element) === outcome).map(({ evaluation }) => evaluation.policyId);
  const replaced = isOwn ? 'REPLACED_BY_POLICY' : 'NOT_APPLICABLE';

  // Step 4: a denial wins, except over a root quorum that is gathering: it must be able to repair bad policies.
  const denying = idsWith('OUTCOME_DENY_EXPLICIT');
  if (denying.length > 0) {
    return roots.isWaiting
      ? settle('OUTCOME_REQUIRES_CONSENSUS', 'ROOT_QUORUM_PENDING', [], replaced)
      : settle('OUTCOME_DENY_EXPLICIT', 'POLICY_DENIED', denying, replaced);
  }
  if (input.grantedByService === true) return settle('OUTCOME_ALLOW', 'GRANTED_BY_SERVICE');
  // Step 5.
  const allowing = idsWith('OUTCOME_ALLOW');
  if (allowing.length > 0) return settle('OUTCOME_ALLOW', 'POLICY_ALLOWED', allowing, replaced);
  // Step 6.
  const pending = idsWith('OUTCOME_REQUIRES_CONSENSUS');
  if (pending.length > 0) return settle('OUTCOME_REQUIRES_CONSENSUS', 'POLICY_PENDING', pending, replaced);
  // Step 7: users manage their own account.
  if (isOwn) return settle('OUTCOME_ALLOW', 'OWN_ACCOUNT', [], 'APPLIED');
  // Step 8: the rest of the quorum may still agree.
  if (roots.isWaiting) return settle('OUTCOME_REQUIRES_CONSENSUS', 'ROOT_QUORUM_PENDING');
  // Step 9: a vote completes, denies explicitly or leaves pending; it never denies implicitly.
  return input.phase === 'VOTE'
    ? settle('OUTCOME_REQUIRES_CONSENSUS', 'STILL_PENDING')
    : settle('OUTCOME_DENY_IMPLICIT', 'NO_POLICY_ALLOWS');
}

/** Whether a user who approved is the one whose account the activity is about. */
function isOwnAccount(activity: ActivityFacts, approvals: readonly Approval[], { users }: Approved): boolean {
  if (activity.governedBy !== 'policy' || activity.subjectUserId === undefined) return false;
  const { kind, subjectUserId } = activity;
  if (!users.some(({ id }) => id === subjectUserId)) return false;
  const isRecovering = ({ userId, credential }: Approval): boolean =>
    userId === subjectUserId && credential.type === RECOVERY_CREDENTIAL_TYPE;
  switch (ownAccountRule(kind)) {
    case 'any-credential':
      return true;
    case 'recovery-key':
      return approvals.some(isRecovering);
    case undefined:
      return false;
  }
}

/** For each policy that waits, the users who have not approved and whose approval would serve it. */
function pendingPolicies(
  selected: readonly PreparedPolicy[],
  results: readonly PolicyResult[],
  { approved, members, search: budget }: Circumstances,
): PendingPolicy[] {
  const approvers = new Set(approved.users.map(({ id }) => id));
  const others = members.filter(({ id }) => !approvers.has(id));
  return results.flatMap(({ evaluation, outcomes }, index) => {
    const consensus = selected[index]?.consensus;
    if (consensus === undefined || !outcomes.includes('OUTCOME_REQUIRES_CONSENSUS')) return [];
    const shape = consensusShape(consensus);
    const userIds: string[] = [];
    for (const member of others) {
      if (budget.steps <= 0) break;
      if (couldContribute(consensus, shape, member, budget)) userIds.push(member.id);
    }
    return [{ policyId: evaluation.policyId, userIds, anyone: shape.countsEveryone }];
  });
}

/** What the caller of a denied request reads (protocol/policies 8.4). */
export function explainDenial(decision: Pick<Decision, 'reason' | 'decidingPolicyIds'>): string {
  if (decision.reason === 'ROOT_QUORUM_ONLY') return 'Only the root quorum can take this action';
  if (decision.reason === 'POLICY_DENIED') {
    return `The following policies denied this action: ${decision.decidingPolicyIds.join(', ')}`;
  }
  return 'No policies evaluated to outcome: Allow';
}
