import { describe, expect, test } from 'vitest';
import { reasonsOf, resultOf, type VoteEvaluation } from './reasons.ts';

const vote = (...outcomes: readonly string[]): VoteEvaluation =>
  ({
    policyEvaluations: outcomes.map((outcome, index) => ({
      policyId: `p${index}`,
      effect: outcome.includes('EXPLICIT') ? 'EFFECT_DENY' : 'EFFECT_ALLOW',
      outcome,
      reason: 'because',
    })),
  }) as unknown as VoteEvaluation;

describe('reasons of a vote', () => {
  test('a deny decides, and what allows would have', () => {
    const said = vote('OUTCOME_ALLOW', 'OUTCOME_DENY_EXPLICIT', 'OUTCOME_DENY_IMPLICIT', 'OUTCOME_ERROR');
    const result = resultOf(said, true, 'ACTIVITY_STATUS_REJECTED');
    expect(result).toBe('denied');
    expect(reasonsOf(said, result).map(({ outcome, decided }) => [outcome, decided])).toEqual([
      ['WOULD_ALLOW', false],
      ['DENIES', true],
      ['DOES_NOT_APPLY', false],
      ['NO_ANSWER', false],
    ]);
  });

  test('the last vote of what was done allowed it, an earlier one waited', () => {
    expect(resultOf(vote('OUTCOME_REQUIRES_CONSENSUS'), false, 'ACTIVITY_STATUS_COMPLETED')).toBe('waits');
    const last = vote('OUTCOME_ALLOW');
    expect(reasonsOf(last, resultOf(last, true, 'ACTIVITY_STATUS_COMPLETED'))[0]).toMatchObject({
      outcome: 'ALLOWS',
      decided: true,
    });
  });
});
