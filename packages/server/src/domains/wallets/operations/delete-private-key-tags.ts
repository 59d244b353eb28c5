import Type from 'typebox';
import { namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdListShape } from '../../../lib/shapes.ts';
import { TagStore } from '../../users/store/tags.ts';
import { PrivateKeyStore } from '../store/private-keys.ts';

export const deletePrivateKeyTags = defineActivity({
  name: 'delete_private_key_tags',
  type: 'ACTIVITY_TYPE_DELETE_PRIVATE_KEY_TAGS',
  summary: 'Delete private key tags. Policies that name them keep the name and no longer match.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ privateKeyTagIds: IdListShape }),
  sentence: ({ privateKeyTagIds }, { names }) =>
    lookClosely(
      say`Delete key tag ${namesOf(names, 'tag', privateKeyTagIds)}: policies that go by it change.`,
      'policies may go by tags',
      'Policies that go by this tag then apply to other keys than now. I want that.',
    ),
  result: Type.Object({ privateKeyTagIds: Type.Array(Type.String()), privateKeyIds: Type.Array(Type.String()) }),
  async execute({ store, actor }, { privateKeyTagIds }) {
    const { organizationId } = actor;
    const ids = [...new Set(privateKeyTagIds)];
    await store(TagStore).requireAll(organizationId, 'TAG_TYPE_PRIVATE_KEY', ids);
    const privateKeyIds = await store(PrivateKeyStore).keysWithTags(organizationId, ids);
    await store(PrivateKeyStore).untag(organizationId, ids);
    await store(TagStore).delete(organizationId, ids);
    return { privateKeyTagIds: ids, privateKeyIds };
  },
});
