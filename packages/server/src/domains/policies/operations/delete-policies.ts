import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { IdListShape } from '../../../lib/shapes.ts';
import { policiesDeletedSentence } from '../sentences.ts';
import { PolicyStore } from '../store/policies.ts';

export const deletePolicies = defineActivity({
  name: 'delete_policies',
  type: 'ACTIVITY_TYPE_DELETE_POLICIES',
  summary: 'Delete several policies, all or nothing.',
  policy: { governedBy: 'policy', resource: 'POLICY', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ policyIds: IdListShape }),
  sentence: ({ policyIds }, context) => policiesDeletedSentence(policyIds, context),
  result: Type.Object({ policyIds: Type.Array(Type.String()) }),
  async execute({ store, actor }, { policyIds }) {
    const ids = [...new Set(policyIds)];
    await store(PolicyStore).delete(actor.organizationId, ids);
    return { policyIds: ids };
  },
});
