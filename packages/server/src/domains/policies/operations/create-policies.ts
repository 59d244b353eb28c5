import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { requireModest } from '../../../engine/expressions.ts';
import { listShape } from '../../../lib/shapes.ts';
import { addPolicies, checkPolicy, draftPolicies, textsOf } from '../new-policies.ts';
import { newPoliciesSentence } from '../sentences.ts';
import { PolicyParamsShape, WarningsShape } from '../shapes.ts';

export const createPolicies = defineActivity({
  name: 'create_policies',
  type: 'ACTIVITY_TYPE_CREATE_POLICIES',
  summary: 'Create several policies, all or nothing.',
  bodyLimit: 1024 * 1024,
  policy: { governedBy: 'policy', resource: 'POLICY', action: 'CREATE' },
  credentials: 'none',
  parameters: Type.Object({ policies: listShape(PolicyParamsShape, 1) }),
  sentence: ({ policies }) => newPoliciesSentence(policies),
  result: Type.Object({ policyIds: Type.Array(Type.String()), warnings: WarningsShape }),
  check({ policies }) {
    requireModest(policies.flatMap(textsOf), 'parameters.policies');
    for (const [index, policy] of policies.entries()) checkPolicy(policy, `parameters.policies.${index}`);
  },
  prepare: (context, { policies }) => draftPolicies(context, policies),
  async execute(context, _parameters, { policies, warnings }) {
    return { policyIds: await addPolicies(context, policies), warnings: [...warnings] };
  },
});
