import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape } from '../../../lib/shapes.ts';
import { policiesDeletedSentence } from '../sentences.ts';
import { PolicyStore } from '../store/policies.ts';

export const deletePolicy = defineActivity({
  name: 'delete_policy',
  type: 'ACTIVITY_TYPE_DELETE_POLICY',
  summary: 'Delete a policy.',
  policy: { governedBy: 'policy', resource: 'POLICY', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ policyId: IdShape }),
  sentence: ({ policyId }, context) => policiesDeletedSentence([policyId], context),
  result: Type.Object({ policyId: Type.String() }),
  async execute({ store, actor }, { policyId }) {
    await store(PolicyStore).delete(actor.organizationId, [policyId]);
    return { policyId };
  },
});
