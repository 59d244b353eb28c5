import Type from 'typebox';
import { nameOf } from '../../../describe/names.ts';
import { tagChangeSentence } from '../../../describe/tags.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdListOrEmptyShape, IdShape, NameShape } from '../../../lib/shapes.ts';
import { TagStore } from '../store/tags.ts';
import { UserStore } from '../store/users.ts';
import { pairs, requireUsers } from '../user-tags.ts';

export const updateUserTag = defineActivity({
  name: 'update_user_tag',
  type: 'ACTIVITY_TYPE_UPDATE_USER_TAG',
  summary: 'Rename a user tag, and give it to or take it from users.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'UPDATE' },
  credentials: 'none',
  parameters: Type.Object({
    userTagId: IdShape,
    newUserTagName: Type.Optional(NameShape),
    addUserIds: IdListOrEmptyShape,
    removeUserIds: IdListOrEmptyShape,
  }),
  sentence: ({ userTagId, newUserTagName, addUserIds, removeUserIds }, { names }) =>
    tagChangeSentence({
      tag: nameOf(names, 'tag', userTagId),
      noun: 'user tag',
      newName: newUserTagName,
      added: addUserIds.map((id) => nameOf(names, 'user', id)),
      removed: removeUserIds.map((id) => nameOf(names, 'user', id)),
    }),
  result: Type.Object({ userTagId: Type.String() }),
  async execute({ store, actor, nowMs }, { userTagId, newUserTagName, addUserIds, removeUserIds }) {
    const { organizationId } = actor;
    await store(TagStore).get(organizationId, 'TAG_TYPE_USER', userTagId);
    const touched = [...new Set([...addUserIds, ...removeUserIds])];
    await requireUsers(store, organizationId, touched);
    await store(TagStore).rename(organizationId, userTagId, newUserTagName, nowMs);
    await store(TagStore).tagUsers(organizationId, pairs(addUserIds, [userTagId]));
    await store(TagStore).untagUsers(organizationId, userTagId, removeUserIds);
    await store(UserStore).touch(organizationId, touched, nowMs);
    return { userTagId };
  },
});
