import Type from 'typebox';
import { namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdListShape } from '../../../lib/shapes.ts';
import { TagStore } from '../store/tags.ts';
import { UserStore } from '../store/users.ts';

export const deleteUserTags = defineActivity({
  name: 'delete_user_tags',
  type: 'ACTIVITY_TYPE_DELETE_USER_TAGS',
  summary: 'Delete user tags. Policies that name them keep the name and no longer match.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'DELETE' },
  credentials: 'none',
  parameters: Type.Object({ userTagIds: IdListShape }),
  sentence: ({ userTagIds }, { names }) =>
    lookClosely(
      say`Delete user tag ${namesOf(names, 'tag', userTagIds)}: policies that go by it change.`,
      'policies may go by tags',
      'Policies that go by this tag then apply to other users than now. I want that.',
    ),
  result: Type.Object({ userTagIds: Type.Array(Type.String()), userIds: Type.Array(Type.String()) }),
  async execute({ store, actor, nowMs }, { userTagIds }) {
    const { organizationId } = actor;
    const ids = [...new Set(userTagIds)];
    await store(TagStore).requireAll(organizationId, 'TAG_TYPE_USER', ids);
    const userIds = await store(TagStore).usersWithTags(organizationId, ids);
    await store(TagStore).delete(organizationId, ids);
    await store(UserStore).touch(organizationId, userIds, nowMs);
    return { userTagIds: ids, userIds };
  },
});
