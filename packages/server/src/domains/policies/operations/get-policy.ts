import Type from 'typebox';
import { defineQuery } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { renderPolicy } from '../render.ts';
import { PolicyShape } from '../shapes.ts';
import { PolicyReader } from '../store/policies.ts';

export const getPolicy = defineQuery({
  name: 'get_policy',
  summary: 'One policy.',
  parameters: Type.Object({ organizationId: IdShape, policyId: IdShape }),
  response: Type.Object({ policy: PolicyShape }),
  async run({ read, actor }, { policyId }) {
    return { policy: renderPolicy(await read(PolicyReader).get(actor.organizationId, policyId)) };
  },
});
