import Type from 'typebox';
import { OrganizationStore } from '../../../core/store/organizations.ts';
import { TreeStore } from '../../../core/store/tree.ts';
import { namesOf } from '../../../describe/names.ts';
import { danger, lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import type { UserId } from '../../../lib/ids.ts';
import { IdListShape } from '../../../lib/shapes.ts';
import { MfaStore } from '../store/mfa.ts';
import { UserStore } from '../store/users.ts';
import { requireUsers } from '../user-tags.ts';

export const deleteUsers = defineActivity({
  name: 'delete_users',
  type: 'ACTIVITY_TYPE_DELETE_USERS',
  summary:
    'Delete users with their credentials and tag memberships, all or nothing. Root quorum members must leave the quorum first.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'DELETE', params: ['user_ids'] },
  // Their credentials go with them.
  credentials: 'removes',
  parameters: Type.Object({ userIds: IdListShape }),
  sentence: ({ userIds }, { names, organization }) => {
    const isRoot = userIds.some((id) => (organization.rootUserIds as readonly string[]).includes(id));
    const said = say`Delete ${userIds.length === 1 ? 'user' : 'users'} ${namesOf(names, 'user', userIds)} with all credentials, for ever.`;
    return isRoot
      ? danger(said, 'deletes a root user', 'A root user is deleted for ever, with all credentials. I want that.')
      : lookClosely(
          said,
          'deletes people or programs',
          'What these users proposed and still waits fails. I want that.',
        );
  },
  result: Type.Object({ userIds: Type.Array(Type.String()) }),
  exposes: ({ userIds }) => ({ user_ids: userIds }),
  async execute({ store, actor, failProposalsOf }, { userIds }) {
    const { organizationId } = actor;
    const ids = [...new Set(userIds)] as UserId[];
    await requireUsers(store, organizationId, ids);
    const { rootUserIds } = await store(OrganizationStore).get(organizationId);
    if (ids.some((userId) => rootUserIds.some((rootId) => rootId === userId))) {
      throw new ApiError('INVALID_QUORUM', 'a member of the root quorum cannot be deleted: change the quorum first');
    }
    for (const userId of ids) {
      const { apiKeys, authenticators, oauthProviders } = await store(UserStore).record(organizationId, userId);
      await store(TreeStore).remove(organizationId, [
        userId,
        ...apiKeys.map((key) => key.id),
        ...authenticators.map((item) => item.id),
        ...oauthProviders.map((provider) => provider.id),
      ]);
    }
    await store(MfaStore).deleteOfUsers(organizationId, ids);
    await store(UserStore).delete(organizationId, ids);
    await failProposalsOf(ids);
    return { userIds: ids };
  },
});
