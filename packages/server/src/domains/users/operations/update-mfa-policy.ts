import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { requireExpression } from '../../../engine/expressions.ts';
import { ExpressionShape, NotesShape } from '../../../engine/shapes/rules.ts';
import { IdShape, NameShape } from '../../../lib/shapes.ts';
import { checkSteps, requireRoom, toSteps } from '../mfa-methods.ts';
import { OrderShape, RequiredMethodsShape } from '../shapes/mfa.ts';
import { MfaStore } from '../store/mfa.ts';
import { UserStore } from '../store/users.ts';

export const updateMfaPolicy = defineActivity({
  name: 'update_mfa_policy',
  type: 'ACTIVITY_TYPE_UPDATE_MFA_POLICY',
  summary: 'Change an MFA policy. Activities that already wait for proofs keep the steps they began with.',
  policy: { governedBy: 'policy', resource: 'MFA_POLICY', action: 'UPDATE' },
  credentials: 'redirects',
  parameters: Type.Object({
    userId: IdShape,
    mfaPolicyId: IdShape,
    mfaPolicyName: Type.Optional(NameShape),
    condition: Type.Optional(ExpressionShape),
    requiredAuthenticationMethods: Type.Optional(RequiredMethodsShape),
    order: Type.Optional(OrderShape),
    notes: Type.Optional(NotesShape),
  }),
  sentence: ({ userId, mfaPolicyId }, { names }) =>
    lookClosely(
      say`Change ${nameOf(names, 'mfaPolicy', mfaPolicyId)}: what ${nameOf(names, 'user', userId)} has to prove.`,
      'changes what somebody has to prove',
      'I have read what this user then has to prove and want that.',
    ),
  result: Type.Object({ mfaPolicyId: Type.String() }),
  check({ condition, requiredAuthenticationMethods }) {
    if (condition !== undefined) requireExpression('mfa', condition, 'parameters.condition');
    checkSteps(requiredAuthenticationMethods ?? [], 'parameters.requiredAuthenticationMethods');
  },
  async execute({ store, actor, nowMs }, parameters) {
    const { organizationId } = actor;
    const policy = await store(MfaStore).getToChange(organizationId, parameters.userId, parameters.mfaPolicyId);
    await store(MfaStore).update(organizationId, {
      ...policy,
      name: parameters.mfaPolicyName ?? policy.name,
      condition: parameters.condition ?? policy.condition,
      steps: parameters.requiredAuthenticationMethods
        ? toSteps(parameters.requiredAuthenticationMethods)
        : policy.steps,
      order: parameters.order ?? policy.order,
      notes: parameters.notes ?? policy.notes,
      updatedAtMs: nowMs,
    });
    await requireRoom(store, organizationId, policy.userId);
    await store(UserStore).touch(organizationId, [policy.userId], nowMs);
    return { mfaPolicyId: policy.id };
  },
});
