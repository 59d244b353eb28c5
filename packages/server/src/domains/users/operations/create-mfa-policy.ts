import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { counted, named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { requireExpression } from '../../../engine/expressions.ts';
import { ExpressionShape, NotesShape } from '../../../engine/shapes/rules.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { MfaPolicyId, UserId } from '../../../lib/ids.ts';
import { IdShape, NameShape } from '../../../lib/shapes.ts';
import { checkSteps, requireRoom, requireUser, toSteps } from '../mfa-methods.ts';
import { OrderShape, RequiredMethodsShape } from '../shapes/mfa.ts';
import { MfaStore } from '../store/mfa.ts';
import { UserStore } from '../store/users.ts';

export const createMfaPolicy = defineActivity({
  name: 'create_mfa_policy',
  type: 'ACTIVITY_TYPE_CREATE_MFA_POLICY',
  summary: 'Require further proofs of a user for the activities that a condition selects.',
  policy: { governedBy: 'policy', resource: 'MFA_POLICY', action: 'CREATE' },
  credentials: 'redirects',
  parameters: Type.Object({
    userId: IdShape,
    mfaPolicyName: NameShape,
    condition: ExpressionShape,
    requiredAuthenticationMethods: RequiredMethodsShape,
    order: OrderShape,
    notes: Type.Optional(NotesShape),
  }),
  sentence: ({ userId, mfaPolicyName, requiredAuthenticationMethods }, { names }) =>
    lookClosely(
      say`Ask ${nameOf(names, 'user', userId)} for ${counted(requiredAuthenticationMethods.length, 'proof')} where ${named(mfaPolicyName)} applies.`,
      'changes what somebody has to prove',
      'This user needs these proofs from then on, and is stuck without them. I want that.',
    ),
  result: Type.Object({ mfaPolicyId: Type.String() }),
  check({ condition, requiredAuthenticationMethods }) {
    requireExpression('mfa', condition, 'parameters.condition');
    checkSteps(requiredAuthenticationMethods, 'parameters.requiredAuthenticationMethods');
  },
  async execute(context, parameters) {
    const { store, actor, newId, nowMs, config } = context;
    await requireUser(context, parameters.userId);
    const most = config.limitMfaPolicies;
    if (most !== undefined && (await store(MfaStore).count(actor.organizationId, parameters.userId)) >= most) {
      throw new ApiError('RESOURCE_LIMIT_EXCEEDED', `a user can have at most ${most} MFA policies`);
    }
    const mfaPolicyId: MfaPolicyId = newId();
    await store(MfaStore).insert(actor.organizationId, {
      id: mfaPolicyId,
      userId: parameters.userId as UserId,
      name: parameters.mfaPolicyName,
      condition: parameters.condition,
      steps: toSteps(parameters.requiredAuthenticationMethods),
      order: parameters.order,
      notes: parameters.notes ?? '',
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    await requireRoom(store, actor.organizationId, parameters.userId);
    await store(UserStore).touch(actor.organizationId, [parameters.userId], nowMs);
    return { mfaPolicyId };
  },
});
