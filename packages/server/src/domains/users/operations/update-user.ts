import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { nameOf, namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { listOf, named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdListOrEmptyShape, IdShape, NameShape } from '../../../lib/shapes.ts';
import { changeEmail, changeName, changePhone } from '../changes.ts';
import { normalizeEmail, normalizePhone } from '../new-users.ts';
import { EmailOrEmptyShape, PhoneOrEmptyShape } from '../shapes/users.ts';
import { TagStore } from '../store/tags.ts';
import { UserStore } from '../store/users.ts';
import { pairs } from '../user-tags.ts';

export const updateUser = defineActivity({
  name: 'update_user',
  type: 'ACTIVITY_TYPE_UPDATE_USER',
  summary:
    'Change a user. An absent field stays; a non-empty userTagIds replaces the tags; an empty contact removes it.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'UPDATE' },
  credentials: 'redirects',
  parameters: Type.Object({
    userId: IdShape,
    userName: Type.Optional(NameShape),
    userEmail: Type.Optional(EmailOrEmptyShape),
    userTagIds: Type.Optional(IdListOrEmptyShape),
    userPhoneNumber: Type.Optional(PhoneOrEmptyShape),
  }),
  sentence: ({ userId, userName, userEmail, userTagIds, userPhoneNumber }, { names }) => {
    const changes = [
      ...(userName === undefined ? [] : [say`name ${named(userName)}`]),
      ...(userEmail === undefined ? [] : [userEmail === '' ? say`no email` : say`email ${named(userEmail)}`]),
      ...(userPhoneNumber === undefined
        ? []
        : [userPhoneNumber === '' ? say`no phone number` : say`phone number ${named(userPhoneNumber)}`]),
      ...(userTagIds === undefined
        ? []
        : [userTagIds.length === 0 ? say`no tags` : say`tags ${namesOf(names, 'tag', userTagIds)}`]),
    ];
    const user = nameOf(names, 'user', userId);
    if (changes.length === 0) return say`Leave user ${user} unchanged.`;
    const said = say`Change user ${user}: ${listOf(changes)}.`;
    return userName !== undefined && changes.length === 1
      ? said
      : lookClosely(
          said,
          'changes how somebody logs in or what policies apply',
          'I know that this contact and these tags belong to this user.',
        );
  },
  result: Type.Object({ userId: Type.String() }),
  async execute({ store, actor, nowMs }, { userId, userName, userEmail, userTagIds, userPhoneNumber }) {
    const { organizationId } = actor;
    const place = { organizationId, rootId: treeRoot(actor.organization) };
    await store(UserStore).get(organizationId, userId);
    if (userName !== undefined) await changeName(store, place, userId, userName, nowMs);
    if (userEmail !== undefined) await changeEmail(store, place, userId, normalizeEmail(userEmail), nowMs);
    if (userPhoneNumber !== undefined) await changePhone(store, place, userId, normalizePhone(userPhoneNumber), nowMs);
    // Clients that do not mean to change tags are told to send an empty list (protocol/organizations 3.4).
    if (userTagIds !== undefined && userTagIds.length > 0) {
      await store(TagStore).requireAll(organizationId, 'TAG_TYPE_USER', userTagIds);
      await store(TagStore).clearTags(organizationId, userId);
      await store(TagStore).tagUsers(organizationId, pairs([userId], userTagIds));
      await store(UserStore).touch(organizationId, [userId], nowMs);
    }
    return { userId };
  },
});
