import Type from 'typebox';
import { ApiError } from '../../lib/errors.ts';
import { defineActivity } from '../define.ts';
import { IdListOrEmptyShape, NameShape } from '../shapes/basic.ts';
import { pairs, requireUsers } from './user-tags.ts';

export const createUserTag = defineActivity({
  name: 'create_user_tag',
  type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
  summary: 'Create a user tag and give it to users.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'CREATE' },
  parameters: Type.Object({ userTagName: NameShape, userIds: IdListOrEmptyShape }),
  result: Type.Object({ userTagId: Type.String(), userIds: Type.Array(Type.String()) }),
  async execute({ store, actor, newId, nowMs, config }, { userTagName, userIds }) {
    const { organizationId } = actor;
    const ids = [...new Set(userIds)];
    await requireUsers(store, organizationId, ids);
    if (config.limitTags !== undefined && (await store.tags.count(organizationId)) >= config.limitTags) {
      throw new ApiError('RESOURCE_LIMIT_EXCEEDED', `an organization can have at most ${config.limitTags} tags`);
    }
    const userTagId = newId<'tag'>();
    await store.tags.insert(organizationId, {
      id: userTagId,
      type: 'TAG_TYPE_USER',
      name: userTagName,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    await store.tags.tagUsers(organizationId, pairs(ids, [userTagId]));
    await store.users.touch(organizationId, ids, nowMs);
    return { userTagId, userIds: ids };
  },
});
