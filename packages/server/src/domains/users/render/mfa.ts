import type { MfaPolicy, MfaStep } from '../../../core/model.ts';
import { times } from '../../../lib/render-times.ts';

export const renderSteps = (steps: readonly MfaStep[]) =>
  steps.map(({ any }) => ({ any: any.map((method) => ({ ...method })) }));

export const renderMfaPolicy = (policy: MfaPolicy) => ({
  mfaPolicyId: policy.id,
  mfaPolicyName: policy.name,
  condition: policy.condition,
  requiredAuthenticationMethods: renderSteps(policy.steps),
  order: policy.order,
  ...(policy.notes !== '' && { notes: policy.notes }),
  ...times(policy),
});
