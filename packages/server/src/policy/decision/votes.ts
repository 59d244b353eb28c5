import { assert } from '../../lib/assert.ts';
import { evaluate } from '../evaluate/expression.ts';
import { type RootQuorum, requireSound, rootQuorumOf, withPolicies } from './circumstances.ts';
import type { Approval, DecisionInput } from './decision.ts';
import { evaluatePolicy, outcomeFor } from './outcome.ts';
import { consensusShape, type PreparedPolicy } from './policy-set.ts';
import { type Budget, isIncluded, type Member } from './reachability.ts';

/** What a vote counts for; a vote that counts for nothing is refused (protocol/policies 8.5). */
export interface VoteStanding {
  readonly counts: boolean;
  readonly forRootQuorum: boolean;
  readonly policyIds: readonly string[];
}

/**
 * What a vote would count for, evaluated before it is added: `input` holds the live approvals without it. They may be none when
 * all have lapsed; then the vote begins a round as a submission would.
 */
export function voteStanding(input: Omit<DecisionInput, 'phase'>, vote: Approval): VoteStanding {
  const before: DecisionInput = {
    ...input,
    approvals: input.approvals.length === 0 ? [vote] : input.approvals,
    phase: 'VOTE',
  };
  assert(vote.credential.user_id === vote.userId, 'a vote is given with a credential of the voter');
  const roots = rootQuorumOf(before);
  const forRootQuorum = roots.summary.isReachable && input.organization.rootUserIds.includes(vote.userId);
  const policyIds = policiesServed(before, vote, roots);
  return { counts: forRootQuorum || policyIds.length > 0, forRootQuorum, policyIds };
}

function policiesServed(before: DecisionInput, { userId, credential }: Approval, roots: RootQuorum): readonly string[] {
  const voter = before.members.find(({ id }) => id === userId);
  if (before.activity.governedBy !== 'policy' || voter === undefined) return [];
  requireSound(before);
  return withPolicies(before, before.activity, {}, (policies, circumstances) => {
    const credentials = [
      ...circumstances.approved.credentials.filter((used) => used.user_id === userId && used.id !== credential.id),
      credential,
    ];
    const evaluated = policies.map((policy) => ({ policy, result: evaluatePolicy(policy, circumstances) }));
    // While the quorum gathers over a denial, the vote of anyone else could only bring the denial back.
    if (roots.isWaiting && evaluated.some(({ result }) => result.outcomes.includes('OUTCOME_DENY_EXPLICIT'))) return [];
    // A request that policies would already allow waits for any vote that they take.
    const isAllowed = [...circumstances.conditions.keys()].every((element) =>
      evaluated.some(({ result }) => outcomeFor(result, element) === 'OUTCOME_ALLOW'),
    );
    return evaluated
      .filter(({ policy, result: { outcomes } }) => {
        const waits =
          outcomes.includes('OUTCOME_REQUIRES_CONSENSUS') || (isAllowed && outcomes.includes('OUTCOME_ALLOW'));
        return waits && serves(policy, voter, credentials, circumstances.search);
      })
      .map(({ policy }) => policy.policy.id);
  });
}

/** Whether the voter is part of the consensus, or would be the whole of it. */
function serves(
  { consensus }: PreparedPolicy,
  voter: Member,
  credentials: readonly Approval['credential'][],
  budget: Budget,
): boolean {
  if (consensus === undefined) return true;
  if (isIncluded(consensus, consensusShape(consensus), voter, credentials, budget)) return true;
  const alone = evaluate(consensus, { approvers: [voter], credentials }, budget.steps);
  budget.steps = Math.max(0, budget.steps - alone.steps);
  return alone.ok && alone.value;
}
