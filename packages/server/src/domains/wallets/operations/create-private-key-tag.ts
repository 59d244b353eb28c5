import Type from 'typebox';
import { namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdListOrEmptyShape, NameShape } from '../../../lib/shapes.ts';
import { addTag } from '../../users/new-tag.ts';
import { PrivateKeyStore, privateKeyNotFound } from '../store/private-keys.ts';

export const createPrivateKeyTag = defineActivity({
  name: 'create_private_key_tag',
  type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
  summary: 'Create a private key tag and give it to private keys.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'CREATE' },
  credentials: 'none',
  parameters: Type.Object({ privateKeyTagName: NameShape, privateKeyIds: IdListOrEmptyShape }),
  sentence: ({ privateKeyTagName, privateKeyIds }, { names }) =>
    privateKeyIds.length === 0
      ? say`Create key tag ${named(privateKeyTagName)}.`
      : lookClosely(
          say`Create key tag ${named(privateKeyTagName)} and give it to ${namesOf(names, 'privateKey', privateKeyIds)}.`,
          'policies may go by tags',
          'Policies that go by this tag then apply to these keys. I want that.',
        ),
  result: Type.Object({ privateKeyTagId: Type.String(), privateKeyIds: Type.Array(Type.String()) }),
  async execute(context, { privateKeyTagName, privateKeyIds }) {
    const { store, actor } = context;
    const { organizationId } = actor;
    const ids = [...new Set(privateKeyIds)];
    if ((await store(PrivateKeyStore).many(organizationId, ids)).length !== ids.length) throw privateKeyNotFound();
    const privateKeyTagId = await addTag(context, 'TAG_TYPE_PRIVATE_KEY', privateKeyTagName);
    await store(PrivateKeyStore).tag(organizationId, ids, privateKeyTagId);
    return { privateKeyTagId, privateKeyIds: ids };
  },
});
