// protocol/policies 8.1: the outcome of one policy for one request.
import { type Approval, evaluateConsensus, isReachable } from './consensus.ts';
import { compile, evaluate } from './language.ts';
import type { JsonObject } from './values.ts';

export interface PolicyText {
  readonly id: string;
  readonly effect: 'EFFECT_ALLOW' | 'EFFECT_DENY';
  readonly condition?: string;
  readonly consensus?: string;
  readonly time?: string;
}

export type PolicyOutcome =
  | 'OUTCOME_ALLOW'
  | 'OUTCOME_DENY_EXPLICIT'
  | 'OUTCOME_DENY_IMPLICIT'
  | 'OUTCOME_REQUIRES_CONSENSUS'
  | 'OUTCOME_ERROR'
  | 'OUTCOME_TIME_INACTIVE';

export interface PolicyFacts {
  readonly now: string;
  /** The condition keywords. */
  readonly context: JsonObject;
  readonly approvals: readonly Approval[];
  /** Every user of the organization, with every credential. */
  readonly everyone: readonly Approval[];
}

export function policyOutcome(policy: PolicyText, facts: PolicyFacts): PolicyOutcome {
  const time = evaluate(compile(policy.time, 'time'), { time: { now: facts.now } });
  if (!time.ok) return outcomeOfError(policy, time.code);
  if (!time.value) return 'OUTCOME_TIME_INACTIVE';

  const condition = evaluate(compile(policy.condition, 'condition'), facts.context);
  if (!condition.ok) return outcomeOfError(policy, condition.code);
  if (!condition.value) return 'OUTCOME_DENY_IMPLICIT';

  const expression = compile(policy.consensus, 'consensus');
  const consensus = evaluateConsensus(expression, facts.approvals);
  if (!consensus.result.ok) return outcomeOfError(policy, consensus.result.code);
  if (consensus.result.value) return policy.effect === 'EFFECT_ALLOW' ? 'OUTCOME_ALLOW' : 'OUTCOME_DENY_EXPLICIT';
  if (policy.effect === 'EFFECT_DENY') return 'OUTCOME_DENY_IMPLICIT';
  const isIncluded = facts.approvals.some(({ user }) => consensus.includedUserIds.has(user.id));
  const waits = isIncluded && isReachable(expression, facts.approvals, facts.everyone);
  return waits ? 'OUTCOME_REQUIRES_CONSENSUS' : 'OUTCOME_DENY_IMPLICIT';
}

/** protocol/policies 8.1: what the submitter can cause by mere size must not switch a DENY off. */
function outcomeOfError(policy: PolicyText, code: string): PolicyOutcome {
  const denies = policy.effect === 'EFFECT_DENY' && (code === 'R_LIMIT' || code === 'R_INT_RANGE');
  return denies ? 'OUTCOME_DENY_EXPLICIT' : 'OUTCOME_ERROR';
}
