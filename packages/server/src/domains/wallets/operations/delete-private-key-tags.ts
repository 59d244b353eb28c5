import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { IdListShape } from '../../../lib/shapes.ts';

export const deletePrivateKeyTags = defineActivity({
  name: 'delete_private_key_tags',
  type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS',
  summary: 'Delete private key tags. Policies that name them keep the name and no longer match.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ privateKeyTagIds: IdListShape }),
  result: Type.Object({ privateKeyTagIds: Type.Array(Type.String()), privateKeyIds: Type.Array(Type.String()) }),
  async execute({ store, actor }, { privateKeyTagIds }) {
    const { organizationId } = actor;
    const ids = [...new Set(privateKeyTagIds)];
    await store.tags.requireAll(organizationId, 'TAG_TYPE_PRIVATE_KEY', ids);
    const privateKeyIds = await store.privateKeys.keysWithTags(organizationId, ids);
    await store.privateKeys.untag(organizationId, ids);
    await store.tags.delete(organizationId, ids);
    return { privateKeyTagIds: ids, privateKeyIds };
  },
});
