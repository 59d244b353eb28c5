import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { addPolicies, checkPolicy, draftPolicies } from '../new-policies.ts';
import { newPolicySentence } from '../sentences.ts';
import { PolicyParamsShape, WarningsShape } from '../shapes.ts';

export const createPolicy = defineActivity({
  name: 'create_policy',
  type: 'ACTIVITY_TYPE_CREATE_POLICY_V3',
  resultKey: 'createPolicyResult',
  summary: 'Create a policy. Its expressions are checked; nothing is stored when one is wrong.',
  policy: { governedBy: 'policy', resource: 'POLICY', action: 'CREATE' },
  credentials: 'none',
  parameters: PolicyParamsShape,
  // Their selectors are not expressions (protocol/activities 2.3).
  unserved: ['ACTIVITY_TYPE_CREATE_POLICY', 'ACTIVITY_TYPE_CREATE_POLICY_V2'],
  sentence: (policy) => newPolicySentence(policy),
  result: Type.Object({ policyId: Type.String(), warnings: WarningsShape }),
  check: (parameters) => checkPolicy(parameters, 'parameters'),
  prepare: (context, parameters) => draftPolicies(context, [parameters]),
  async execute(context, _parameters, { policies, warnings }) {
    const [policyId = ''] = await addPolicies(context, policies);
    return { policyId, warnings: [...warnings] };
  },
});
