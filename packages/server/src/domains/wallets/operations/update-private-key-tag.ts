import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { tagChangeSentence } from '../../../describe/tags.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdListOrEmptyShape, IdShape, NameShape } from '../../../lib/shapes.ts';
import { TagStore } from '../../users/store/tags.ts';
import { PrivateKeyStore, privateKeyNotFound } from '../store/private-keys.ts';

export const updatePrivateKeyTag = defineActivity({
  name: 'update_private_key_tag',
  type: 'ACTIVITY_TYPE_UPDATE_PRIVATE_KEY_TAG',
  summary: 'Rename a private key tag, and give it to or take it from private keys.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'UPDATE' },
  credentials: 'none',
  parameters: Type.Object({
    privateKeyTagId: IdShape,
    newPrivateKeyTagName: Type.Optional(NameShape),
    addPrivateKeyIds: IdListOrEmptyShape,
    removePrivateKeyIds: IdListOrEmptyShape,
  }),
  sentence: ({ privateKeyTagId, newPrivateKeyTagName, addPrivateKeyIds, removePrivateKeyIds }, { names }) =>
    tagChangeSentence({
      tag: nameOf(names, 'tag', privateKeyTagId),
      noun: 'key tag',
      newName: newPrivateKeyTagName,
      added: addPrivateKeyIds.map((id) => nameOf(names, 'privateKey', id)),
      removed: removePrivateKeyIds.map((id) => nameOf(names, 'privateKey', id)),
    }),
  result: Type.Object({ privateKeyTagId: Type.String() }),
  async execute(
    { store, actor, nowMs },
    { privateKeyTagId, newPrivateKeyTagName, addPrivateKeyIds, removePrivateKeyIds },
  ) {
    const { organizationId } = actor;
    await store(TagStore).get(organizationId, 'TAG_TYPE_PRIVATE_KEY', privateKeyTagId);
    const touched = [...new Set([...addPrivateKeyIds, ...removePrivateKeyIds])];
    if ((await store(PrivateKeyStore).many(organizationId, touched)).length !== touched.length)
      throw privateKeyNotFound();
    await store(TagStore).rename(organizationId, privateKeyTagId, newPrivateKeyTagName, nowMs);
    await store(PrivateKeyStore).tag(organizationId, addPrivateKeyIds, privateKeyTagId);
    await store(PrivateKeyStore).untag(organizationId, [privateKeyTagId], removePrivateKeyIds);
    return { privateKeyTagId };
  },
});
