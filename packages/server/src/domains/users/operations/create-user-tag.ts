import Type from 'typebox';
import { defineActivity } from '../../../engine/define.ts';
import { IdListOrEmptyShape, NameShape } from '../../../lib/shapes.ts';
import { addTag } from '../new-tag.ts';
import { TagStore } from '../store/tags.ts';
import { UserStore } from '../store/users.ts';
import { pairs, requireUsers } from '../user-tags.ts';

export const createUserTag = defineActivity({
  name: 'create_user_tag',
  type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
  summary: 'Create a user tag and give it to users.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'CREATE' },
  credentials: 'none',
  parameters: Type.Object({ userTagName: NameShape, userIds: IdListOrEmptyShape }),
  result: Type.Object({ userTagId: Type.String(), userIds: Type.Array(Type.String()) }),
  async execute(context, { userTagName, userIds }) {
    const { store, actor, nowMs } = context;
    const { organizationId } = actor;
    const ids = [...new Set(userIds)];
    await requireUsers(store, organizationId, ids);
    const userTagId = await addTag(context, 'TAG_TYPE_USER', userTagName);
    await store(TagStore).tagUsers(organizationId, pairs(ids, [userTagId]));
    await store(UserStore).touch(organizationId, ids, nowMs);
    return { userTagId, userIds: ids };
  },
});
