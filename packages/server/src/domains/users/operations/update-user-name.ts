import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { nameOf } from '../../../describe/names.ts';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdShape, NameShape } from '../../../lib/shapes.ts';
import { changeName } from '../changes.ts';
import { UserStore } from '../store/users.ts';

export const updateUserName = defineActivity({
  name: 'update_user_name',
  type: 'ACTIVITY_TYPE_UPDATE_USER_NAME',
  summary: 'Change the display name of a user.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'UPDATE' },
  credentials: 'none',
  // Policies may know approvers by their names.
  lock: 'exclusive-with-rules',
  parameters: Type.Object({ userId: IdShape, userName: NameShape }),
  sentence: ({ userId, userName }, { names }) =>
    say`Rename user ${nameOf(names, 'user', userId)} to ${named(userName)}.`,
  result: Type.Object({ userId: Type.String() }),
  readAhead: ({ store, actor }, _prepared, { userId }) => store(UserStore).hold(actor.organizationId, userId),
  async execute({ store, actor, nowMs }, { userId, userName }) {
    const { organizationId } = actor;
    await changeName(store, { organizationId, rootId: treeRoot(actor.organization) }, userId, userName, nowMs);
    return { userId };
  },
});
