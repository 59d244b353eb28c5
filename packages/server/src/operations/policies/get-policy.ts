import Type from 'typebox';
import { renderPolicy } from '../../wire/access.ts';
import { defineQuery } from '../define.ts';
import { PolicyShape } from '../shapes/access.ts';
import { IdShape } from '../shapes/basic.ts';

export const getPolicy = defineQuery({
  name: 'get_policy',
  summary: 'One policy.',
  parameters: Type.Object({ organizationId: IdShape, policyId: IdShape }),
  response: Type.Object({ policy: PolicyShape }),
  async run({ read, actor }, { policyId }) {
    return { policy: renderPolicy(await read.policies.get(actor.organizationId, policyId)) };
  },
});
