import type { Explanation, TextPart } from '../../api/types.ts';
import type { AnswerOf } from '../../api/use-api.ts';
import type { Reason, ReasonOutcome } from '../../kit/reason-tree.tsx';

type Entry = AnswerOf<'getPolicyEvaluations'>['policyEvaluations'][number];
type Evaluation = Entry['policyEvaluations'][number] & { readonly explanation?: Explanation };

/** What the policies said at one vote. */
export type VoteEvaluation = Omit<Entry, 'policyEvaluations'> & {
  readonly policyEvaluations: readonly Evaluation[];
  readonly explanation?: { readonly sentence: readonly TextPart[]; readonly whatWouldPass?: string };
};

export type VoteResult = 'denied' | 'allowed' | 'waits';

const has = (vote: VoteEvaluation, outcome: Evaluation['outcome']): boolean =>
  vote.policyEvaluations.some((evaluation) => evaluation.outcome === outcome);

/** What became of the activity at a vote: the last one stands for how it ended. */
export function resultOf(vote: VoteEvaluation, isLast: boolean, status: string): VoteResult {
  if (isLast && status === 'ACTIVITY_STATUS_REJECTED') return 'denied';
  if (isLast && (status === 'ACTIVITY_STATUS_COMPLETED' || status === 'ACTIVITY_STATUS_FAILED')) return 'allowed';
  if (has(vote, 'OUTCOME_DENY_EXPLICIT')) return 'denied';
  if (has(vote, 'OUTCOME_ALLOW') && isLast) return 'allowed';
  return 'waits';
}

/** The policies of one vote for the tree of reasons. */
export function reasonsOf(vote: VoteEvaluation, result: VoteResult): readonly Reason[] {
  return vote.policyEvaluations.map((evaluation, index): Reason => {
    const outcome = outcomeOf(evaluation, result);
    return {
      id: `${evaluation.policyId} ${evaluation.element ?? ''} ${index}`,
      name: evaluation.policyName ?? 'A policy that is gone',
      effect: evaluation.effect === 'EFFECT_DENY' ? 'DENY' : 'ALLOW',
      outcome,
      decided: isDecisive(outcome, result),
      ...(evaluation.explanation !== undefined && { explanation: evaluation.explanation }),
      text: evaluation.error?.message ?? evaluation.reason,
    };
  });
}

function outcomeOf({ outcome }: Evaluation, result: VoteResult): ReasonOutcome {
  switch (outcome) {
    case 'OUTCOME_ALLOW':
      return result === 'denied' ? 'WOULD_ALLOW' : 'ALLOWS';
    case 'OUTCOME_DENY_EXPLICIT':
    case 'OUTCOME_REJECTED':
      return 'DENIES';
    case 'OUTCOME_REQUIRES_CONSENSUS':
    case 'OUTCOME_REQUIRES_AUTHENTICATORS':
      return 'WAITS';
    case 'OUTCOME_ERROR':
      return 'NO_ANSWER';
    default:
      return 'DOES_NOT_APPLY';
  }
}

const isDecisive = (outcome: ReasonOutcome, result: VoteResult): boolean =>
  (result === 'denied' && outcome === 'DENIES') ||
  (result === 'allowed' && outcome === 'ALLOWS') ||
  (result === 'waits' && outcome === 'WAITS');
