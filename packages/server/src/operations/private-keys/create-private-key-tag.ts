import Type from 'typebox';
import { ApiError } from '../../lib/errors.ts';
import { privateKeyNotFound } from '../../storage/stores/private-keys.ts';
import { defineActivity } from '../define.ts';
import { IdListOrEmptyShape, NameShape } from '../shapes/basic.ts';

export const createPrivateKeyTag = defineActivity({
  name: 'create_private_key_tag',
  type: 'ACTIVITY_TYPE_CREATE_PRIVATE_KEY_TAG',
  summary: 'Create a private key tag and give it to private keys.',
  policy: { governedBy: 'policy', resource: 'PRIVATE_KEY', action: 'CREATE' },
  parameters: Type.Object({ privateKeyTagName: NameShape, privateKeyIds: IdListOrEmptyShape }),
  result: Type.Object({ privateKeyTagId: Type.String(), privateKeyIds: Type.Array(Type.String()) }),
  async execute({ store, actor, newId, nowMs, config }, { privateKeyTagName, privateKeyIds }) {
    const { organizationId } = actor;
    const ids = [...new Set(privateKeyIds)];
    if ((await store.privateKeys.many(organizationId, ids)).length !== ids.length) throw privateKeyNotFound();
    if (config.limitTags !== undefined && (await store.tags.count(organizationId)) >= config.limitTags) {
      throw new ApiError('RESOURCE_LIMIT_EXCEEDED', `an organization can have at most ${config.limitTags} tags`);
    }
    const privateKeyTagId = newId<'tag'>();
    await store.tags.insert(organizationId, {
      id: privateKeyTagId,
      type: 'TAG_TYPE_PRIVATE_KEY',
      name: privateKeyTagName,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    await store.privateKeys.tag(organizationId, ids, privateKeyTagId);
    return { privateKeyTagId, privateKeyIds: ids };
  },
});
