import { assert } from '../../lib/assert.ts';
import { type Evaluation, type Expression, evaluate, explain, type FactsByKind } from '../evaluate/expression.ts';
import type { TraceNode } from '../evaluate/trace.ts';
import type { ExpressionKind } from '../language/checker.ts';
import type { RuntimeError, RuntimeErrorCode, Span, StaticErrorCode } from '../language/errors.ts';
import type { ConditionFacts, ConsensusFacts, TimeFacts } from '../language/structs.ts';
import { POLICY_LIMITS } from '../limits.ts';
import { consensusShape, type PolicyEffect, type PreparedPolicy } from './policy-set.ts';
import { type Approved, type Budget, isIncluded, type Member, reachabilityOf } from './reachability.ts';

/** What one policy says (protocol/policies 8.1); the names are those of the wire. */
export type PolicyOutcome =
  | 'OUTCOME_ALLOW'
  | 'OUTCOME_DENY_EXPLICIT'
  | 'OUTCOME_DENY_IMPLICIT'
  | 'OUTCOME_REQUIRES_CONSENSUS'
  | 'OUTCOME_ERROR'
  | 'OUTCOME_TIME_INACTIVE';

/** Why it says so. */
export type PolicyReason =
  | 'APPLIES'
  | 'TIME_INACTIVE'
  | 'CONDITION_FALSE'
  | 'CONSENSUS_PENDING'
  /** It waits, because finding out whether anybody could complete it would take too long. */
  | 'CONSENSUS_UNDECIDED'
  | 'CONSENSUS_UNREACHABLE'
  /** No approval so far counts for its consensus. */
  | 'APPROVER_NOT_INCLUDED'
  /** Of a DENY policy whose own consensus is not met. */
  | 'CONSENSUS_NOT_MET'
  | 'EVALUATION_ERROR'
  /** A DENY policy that ends in this error denies (protocol/policies 8.1). */
  | 'ERROR_DENIES'
  /** Stored, but not in the language of this version: an ALLOW does not allow, a DENY denies. */
  | 'EXPRESSION_INVALID';

export interface EvaluationError extends Span {
  readonly expression: ExpressionKind;
  readonly code: RuntimeErrorCode | StaticErrorCode;
  readonly message: string;
}

/** What one policy came to at a vote: MFA is asked for after policies have spoken, and a rejection ends what waits. */
export interface VoteEvaluation extends Omit<PolicyEvaluation, 'outcome'> {
  readonly outcome: PolicyOutcome | 'OUTCOME_REQUIRES_AUTHENTICATORS' | 'OUTCOME_REJECTED';
}

/**
 * The trees of a policy's expressions, as far as they were evaluated and there was room; a condition for each element.
 */
export interface PolicyTrace {
  readonly time?: TraceNode;
  readonly conditions: readonly TraceNode[];
  readonly consensus?: TraceNode;
}

/** One policy's part in a decision: plain data that can be stored and shown. */
export interface PolicyEvaluation {
  readonly policyId: string;
  readonly policyName?: string;
  readonly effect: PolicyEffect;
  readonly outcome: PolicyOutcome;
  readonly reason: PolicyReason;
  readonly error?: EvaluationError;
  /** Which element of a request with several gave this outcome. */
  readonly element?: number;
  readonly trace?: PolicyTrace;
}

interface ElementOutcome {
  readonly outcome: PolicyOutcome;
  readonly reason: PolicyReason;
  readonly error?: EvaluationError;
}

/** A policy's outcome for each element of the request, and the one that stands for all. */
export interface PolicyResult {
  readonly evaluation: PolicyEvaluation;
  /** By element; just one where it is the same for all. */
  readonly outcomes: readonly PolicyOutcome[];
  /** Whether it applies but for further approvals, and somebody has begun its consensus. */
  readonly isAwaited: boolean;
}

/** What all policies of a decision are evaluated on. */
export interface Circumstances {
  readonly time: TimeFacts;
  /** One for each element of the request. */
  readonly conditions: readonly ConditionFacts[];
  readonly consensus: ConsensusFacts;
  readonly approved: Approved;
  readonly members: readonly Member[];
  readonly budget: Budget;
  /** For finding out whether a consensus could still be reached. */
  readonly search: Budget;
  /** How much to explain of one expression and, still, of all; undefined for nothing. */
  readonly tracing: { readonly nodesMax: number; nodesLeft: number } | undefined;
}

const AWAITED: ReadonlySet<PolicyReason> = new Set([
  'CONSENSUS_PENDING',
  'CONSENSUS_UNDECIDED',
  'CONSENSUS_UNREACHABLE',
]);

/** For requests with several elements the worst outcome stands, in this order (protocol/policies 8.6). */
const WORST_FIRST: readonly PolicyOutcome[] = [
  'OUTCOME_DENY_EXPLICIT',
  'OUTCOME_ERROR',
  'OUTCOME_REQUIRES_CONSENSUS',
  'OUTCOME_DENY_IMPLICIT',
  'OUTCOME_TIME_INACTIVE',
  'OUTCOME_ALLOW',
];

export const outcomeFor = ({ outcomes }: PolicyResult, element: number): PolicyOutcome =>
  (outcomes[element] ?? outcomes[0]) as PolicyOutcome;

/** Time, then condition, then consensus; each only when the one before holds (protocol/policies 8.1). */
export function evaluatePolicy(prepared: PreparedPolicy, circumstances: Circumstances): PolicyResult {
  const { policy, invalid } = prepared;
  if (invalid !== undefined) return summarize(prepared, circumstances, [invalidOutcome(prepared)], { conditions: [] });
  const exhausted = failed(policy.effect, 'condition', EXHAUSTED);
  if (circumstances.budget.steps <= 0) return summarize(prepared, circumstances, [exhausted], { conditions: [] });
  const trace: { time?: TraceNode; conditions: TraceNode[]; consensus?: TraceNode } = { conditions: [] };
  const watch = <K extends ExpressionKind>(
    expression: Expression<K> | undefined,
    facts: FactsByKind[K],
    keep: (tree: TraceNode) => void,
  ): Evaluation => {
    if (expression === undefined) return HOLDS;
    const { evaluation, tree } = run(expression, facts, circumstances);
    if (tree !== undefined) keep(tree);
    return evaluation;
  };

  const time = watch(prepared.time, circumstances.time, (tree) => {
    trace.time = tree;
  });
  if (!time.ok) return summarize(prepared, circumstances, [failed(policy.effect, 'time', time.error)], trace);
  if (!time.value) {
    const inactive: ElementOutcome = { outcome: 'OUTCOME_TIME_INACTIVE', reason: 'TIME_INACTIVE' };
    return summarize(prepared, circumstances, [inactive], trace);
  }
  let agreed: ElementOutcome | undefined;
  const consensus = (): ElementOutcome => {
    agreed ??= evaluateConsensus(prepared, circumstances, (expression) =>
      watch(expression, circumstances.consensus, (tree) => {
        trace.consensus = tree;
      }),
    );
    return agreed;
  };
  const elements = circumstances.conditions.map((facts): ElementOutcome => {
    if (circumstances.budget.steps <= 0) return exhausted;
    const condition = watch(prepared.condition, facts, (tree) => trace.conditions.push(tree));
    if (!condition.ok) return failed(policy.effect, 'condition', condition.error);
    return condition.value ? consensus() : { outcome: 'OUTCOME_DENY_IMPLICIT', reason: 'CONDITION_FALSE' };
  });
  return summarize(prepared, circumstances, elements, trace);
}

const HOLDS: Evaluation = { ok: true, value: true, steps: 0 };

/** When the policies before have used up what one decision may cost. */
const EXHAUSTED: RuntimeError = {
  code: 'R_LIMIT',
  message: 'the policies together take too many steps',
  start: 0,
  end: 0,
};

function run<K extends ExpressionKind>(
  expression: Expression<K>,
  facts: FactsByKind[K],
  { budget, tracing }: Circumstances,
): { readonly evaluation: Evaluation; readonly tree?: TraceNode } {
  const spent = (evaluation: Evaluation): void => {
    budget.steps = Math.max(0, budget.steps - evaluation.steps - POLICY_LIMITS.evaluationSteps);
  };
  if (tracing === undefined || tracing.nodesLeft <= 0) {
    const evaluation = evaluate(expression, facts, budget.steps);
    spent(evaluation);
    return { evaluation };
  }
  const { evaluation, trace } = explain(expression, facts, budget.steps, tracing.nodesMax);
  spent(evaluation);
  tracing.nodesLeft -= Math.min(expression.tree.nodeCount, tracing.nodesMax);
  return { evaluation, tree: trace };
}

function invalidOutcome({ policy, invalid }: PreparedPolicy): ElementOutcome {
  assert(invalid !== undefined, 'the policy has an invalid expression');
  const { code, message, start, end } = invalid.error;
  return {
    outcome: policy.effect === 'EFFECT_DENY' ? 'OUTCOME_DENY_EXPLICIT' : 'OUTCOME_ERROR',
    reason: 'EXPRESSION_INVALID',
    error: { expression: invalid.kind, code, message, start, end },
  };
}

/**
 * A huge transaction must not switch a DENY off; a request that merely lacks what it reads does
 * (protocol/policies 8.1).
 */
function failed(effect: PolicyEffect, expression: ExpressionKind, cause: RuntimeError): ElementOutcome {
  const { code, message, start, end } = cause;
  const error: EvaluationError = { expression, code, message, start, end };
  const denies = effect === 'EFFECT_DENY' && (code === 'R_LIMIT' || code === 'R_INT_RANGE');
  return denies
    ? { outcome: 'OUTCOME_DENY_EXPLICIT', reason: 'ERROR_DENIES', error }
    : { outcome: 'OUTCOME_ERROR', reason: 'EVALUATION_ERROR', error };
}

function evaluateConsensus(
  { policy, consensus }: PreparedPolicy,
  circumstances: Circumstances,
  watch: (expression: Expression<'consensus'> | undefined) => Evaluation,
): ElementOutcome {
  const evaluation = watch(consensus);
  if (!evaluation.ok) return failed(policy.effect, 'consensus', evaluation.error);
  const isDeny = policy.effect === 'EFFECT_DENY';
  if (evaluation.value) {
    return { outcome: isDeny ? 'OUTCOME_DENY_EXPLICIT' : 'OUTCOME_ALLOW', reason: 'APPLIES' };
  }
  if (isDeny) return { outcome: 'OUTCOME_DENY_IMPLICIT', reason: 'CONSENSUS_NOT_MET' };
  assert(consensus !== undefined, 'an absent consensus holds');
  return awaitConsensus(consensus, circumstances);
}

/** An ALLOW policy whose consensus is not met yet: it waits if somebody has begun it and others could complete it. */
function awaitConsensus(
  consensus: Expression<'consensus'>,
  { approved, members, search }: Circumstances,
): ElementOutcome {
  const shape = consensusShape(consensus);
  const granted = Math.min(search.steps, POLICY_LIMITS.steps);
  const own: Budget = { steps: granted };
  const included = approved.users.some((user) => {
    const credentials = approved.credentials.filter((credential) => credential.user_id === user.id);
    return isIncluded(consensus, shape, user, credentials, own);
  });
  const reachability = included ? reachabilityOf(consensus, shape, approved, members, own) : 'unreachable';
  search.steps -= granted - Math.max(0, own.steps);
  if (!included && own.steps > 0) return { outcome: 'OUTCOME_DENY_IMPLICIT', reason: 'APPROVER_NOT_INCLUDED' };
  if (included && reachability === 'unreachable') {
    return { outcome: 'OUTCOME_DENY_IMPLICIT', reason: 'CONSENSUS_UNREACHABLE' };
  }
  // Undecided waits: to park a request grants nothing, to deny one that could be agreed on would be wrong.
  const isDecided = included && reachability === 'reachable';
  return { outcome: 'OUTCOME_REQUIRES_CONSENSUS', reason: isDecided ? 'CONSENSUS_PENDING' : 'CONSENSUS_UNDECIDED' };
}

function summarize(
  { policy }: PreparedPolicy,
  { conditions, tracing }: Circumstances,
  elements: readonly ElementOutcome[],
  trace: PolicyTrace,
): PolicyResult {
  const rank = ({ outcome }: ElementOutcome): number => WORST_FIRST.indexOf(outcome);
  const worst = elements.reduce((worse, element) => (rank(element) < rank(worse) ? element : worse));
  const isPerElement = conditions.length > 1 && elements.length > 1;
  const outcomes = elements.map(({ outcome }) => outcome);
  return {
    evaluation: {
      policyId: policy.id,
      ...(policy.name !== undefined && { policyName: policy.name }),
      effect: policy.effect,
      outcome: worst.outcome,
      reason: worst.reason,
      ...(worst.error !== undefined && { error: worst.error }),
      ...(isPerElement && { element: elements.indexOf(worst) }),
      ...(tracing !== undefined && { trace }),
    },
    outcomes: outcomes.every((outcome) => outcome === worst.outcome) ? [worst.outcome] : outcomes,
    isAwaited: elements.some(({ reason }) => AWAITED.has(reason)),
  };
}
