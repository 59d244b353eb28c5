import Type from 'typebox';
import { defineActivity } from '../define.ts';
import { PolicyParamsShape, WarningsShape } from '../shapes/access.ts';
import { listShape } from '../shapes/basic.ts';
import { requireModest } from './expressions.ts';
import { addPolicies, checkPolicy, draftPolicies, textsOf } from './new-policies.ts';

export const createPolicies = defineActivity({
  name: 'create_policies',
  type: 'ACTIVITY_TYPE_CREATE_POLICIES',
  summary: 'Create several policies, all or nothing.',
  bodyLimit: 1024 * 1024,
  policy: { governedBy: 'policy', resource: 'POLICY', action: 'CREATE' },
  credentials: 'none',
  parameters: Type.Object({ policies: listShape(PolicyParamsShape, 1) }),
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
