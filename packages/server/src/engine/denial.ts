import { ApiError } from '../lib/errors.ts';
import { type Decision, explainDenial, type PolicyEvaluation } from '../policy/index.ts';

/**
 * What the caller of a denied request reads. A session whose scope does not cover it learns no more
 * (protocol/policies 10.2).
 */
export const denialReason = (decision: Decision | undefined): string =>
  explainDenial(decision ?? { reason: 'NO_POLICY_ALLOWS', decidingPolicyIds: [] });

/**
 * 403 with the outcome of each policy, in the form that the client packages know a denial by (protocol/policies 8.4).
 */
export const denialError = (why: string, evaluations: readonly PolicyEvaluation[], activityId?: string): ApiError =>
  new ApiError('REQUEST_NOT_AUTHORIZED', `You don't have sufficient permissions to take this action. ${why}`, {
    details: [
      {
        '@type': 'type.googleapis.com/errors.v1.PolicyEnginePermissionError',
        message: why,
        policyEvaluations: evaluations.map(({ policyId, outcome, reason, error }) => ({
          policyId,
          outcome,
          reason,
          ...(error !== undefined && { error: `${error.code} in ${error.expression}: ${error.message}` }),
        })),
        ...(activityId !== undefined && { activityId }),
      },
    ],
  });
