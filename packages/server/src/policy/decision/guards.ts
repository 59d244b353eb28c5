import { type Evaluation, type Expression, evaluate } from '../evaluate/expression.ts';
import type { RuntimeError } from '../language/errors.ts';
import type { ConditionFacts } from '../language/structs.ts';
import { POLICY_LIMITS } from '../limits.ts';
import type { Budget } from './reachability.ts';

/** Whether a rule beside the policies holds for a request, and the error that settled it, if one did. */
export interface GuardResult {
  readonly holds: boolean;
  readonly error?: RuntimeError;
}

/** The steps that all rules beside the policies may take for one request; with none left a rule fails with R_LIMIT. */
export const newGuardBudget = (): Budget => ({ steps: POLICY_LIMITS.decisionSteps });

function spend(rule: Expression<'condition'>, facts: ConditionFacts, budget: Budget): Evaluation {
  const evaluation = evaluate(rule, facts, budget.steps);
  budget.steps = Math.max(0, budget.steps - evaluation.steps);
  return evaluation;
}

/**
 * Whether an MFA policy is enforced on a request (protocol/policies 9.2): if its condition is true for any element.
 * What the request does not have at all, a namespace or a parameter that the activity does not expose, makes it false;
 * any other error enforces.
 */
export function mfaApplies(
  condition: Expression<'condition'>,
  elements: readonly ConditionFacts[],
  budget: Budget = newGuardBudget(),
): GuardResult {
  let result: GuardResult = { holds: false };
  for (const facts of elements) {
    const evaluation = spend(condition, facts, budget);
    if (evaluation.ok) {
      if (evaluation.value) return { holds: true };
      continue;
    }
    const { error } = evaluation;
    const isForeign = error.missing === 'keyword' || error.missing === 'parameter';
    if (!isForeign) return { holds: true, error };
    result = { holds: false, error };
  }
  return result;
}

/**
 * Whether the scope of a session covers a request (protocol/policies 10.2): it must be true for every element; any error
 * is a no.
 */
export function scopeCovers(
  scope: Expression<'condition'>,
  elements: readonly ConditionFacts[],
  budget: Budget = newGuardBudget(),
): GuardResult {
  for (const facts of elements) {
    const evaluation = spend(scope, facts, budget);
    if (!evaluation.ok) return { holds: false, error: evaluation.error };
    if (!evaluation.value) return { holds: false };
  }
  return { holds: elements.length > 0 };
}
