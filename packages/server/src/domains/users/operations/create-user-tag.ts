import Type from 'typebox';
import { namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { named, say } from '../../../describe/text.ts';
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
  sentence: ({ userTagName, userIds }, { names }) =>
    userIds.length === 0
      ? say`Create user tag ${named(userTagName)}.`
      : lookClosely(
          say`Create user tag ${named(userTagName)} and give it to ${namesOf(names, 'user', userIds)}.`,
          'policies may go by tags',
          'Policies that go by this tag then apply to these users. I want that.',
        ),
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
