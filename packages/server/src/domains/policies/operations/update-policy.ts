import Type, { type Static } from 'typebox';
import type { Policy } from '../../../core/model.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { EffectShape, ExpressionShape, NotesShape } from '../../../engine/shapes/rules.ts';
import { IdShape, NameShape } from '../../../lib/shapes.ts';
import { checkPolicy, requireRoom } from '../new-policies.ts';
import { policyUpdateSentence } from '../sentences.ts';
import { WarningsShape } from '../shapes.ts';
import { PolicyReader, PolicyStore } from '../store/policies.ts';
import { warningsAbout } from '../warnings.ts';

const fields = {
  policyId: IdShape,
  policyName: Type.Optional(NameShape),
  policyEffect: Type.Optional(EffectShape),
  policyCondition: Type.Optional(ExpressionShape),
  policyConsensus: Type.Optional(ExpressionShape),
  policyNotes: Type.Optional(NotesShape),
};

const Parameters = Type.Object({ ...fields, time: Type.Optional(ExpressionShape) });

export const updatePolicy = defineActivity({
  name: 'update_policy',
  type: 'ACTIVITY_TYPE_UPDATE_POLICY_V2',
  resultKey: 'updatePolicyResultV2',
  summary: 'Change a policy. What is absent stays, an empty expression is cleared and then counts as true.',
  policy: { governedBy: 'policy', resource: 'POLICY', action: 'UPDATE' },
  credentials: 'none',
  parameters: Parameters,
  older: [
    legacy('ACTIVITY_TYPE_UPDATE_POLICY', Type.Object(fields), (parameters) => parameters, {
      resultKey: 'updatePolicyResult',
    }),
  ],
  sentence: (update, context) => policyUpdateSentence(update, context),
  result: Type.Object({ policyId: Type.String(), warnings: WarningsShape }),
  check: ({ policyCondition, policyConsensus, time }) =>
    checkPolicy({ condition: policyCondition, consensus: policyConsensus, time }, 'parameters', {
      condition: 'policyCondition',
      consensus: 'policyConsensus',
      time: 'time',
    }),
  describe: ({ read, actor }, { policyId }) => read(PolicyReader).get(actor.organizationId, policyId),
  prepare: (context, parameters, policy) => warningsAbout(context, [changed(policy, parameters)]),
  async execute({ store, actor, nowMs }, parameters, warnings) {
    const { organizationId } = actor;
    const policy = await store(PolicyStore).getToChange(organizationId, parameters.policyId);
    await store(PolicyStore).update(organizationId, { ...changed(policy, parameters), updatedAtMs: nowMs });
    await requireRoom(store, organizationId);
    return { policyId: policy.id, warnings };
  },
});

const changed = (policy: Policy, parameters: Static<typeof Parameters>): Policy => ({
  ...policy,
  name: parameters.policyName ?? policy.name,
  effect: (parameters.policyEffect as Policy['effect'] | undefined) ?? policy.effect,
  condition: parameters.policyCondition ?? policy.condition,
  consensus: parameters.policyConsensus ?? policy.consensus,
  notes: parameters.policyNotes ?? policy.notes,
  time: parameters.time ?? policy.time,
});
