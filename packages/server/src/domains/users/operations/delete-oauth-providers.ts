import Type from 'typebox';
import { TreeStore } from '../../../core/store/tree.ts';
import { nameOf, namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdListShape, IdShape } from '../../../lib/shapes.ts';
import { OauthStore } from '../store/oauth.ts';
import { UserStore } from '../store/users.ts';

export const deleteOauthProviders = defineActivity({
  name: 'delete_oauth_providers',
  type: 'ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS',
  summary: 'Delete OAuth providers of a user, all or nothing.',
  policy: { governedBy: 'policy', resource: 'CREDENTIAL', action: 'DELETE' },
  credentials: 'removes',
  parameters: Type.Object({ userId: IdShape, providerIds: IdListShape }),
  sentence: ({ userId, providerIds }, { names }) =>
    lookClosely(
      say`Take login ${namesOf(names, 'oauthProvider', providerIds)} away from ${nameOf(names, 'user', userId)}.`,
      'takes a credential away',
      'What this user can still log in with is enough, or should end. I want that.',
    ),
  result: Type.Object({ providerIds: Type.Array(Type.String()) }),
  ownAccount: 'any-credential',
  managesCredentialsOf: ({ userId }) => userId,
  async execute({ store, actor, nowMs }, { userId, providerIds }) {
    const { organizationId } = actor;
    const ids = [...new Set(providerIds)];
    await store(UserStore).lock(organizationId, userId, nowMs);
    const owned = new Set<string>(
      (await store(OauthStore).providersOfUser(organizationId, userId)).map(({ id }) => id),
    );
    if (ids.some((id) => !owned.has(id))) {
      throw new ApiError('RESOURCE_NOT_FOUND', 'OAuth provider not found on this user');
    }
    await store(OauthStore).deleteProviders(organizationId, userId, ids);
    await store(TreeStore).remove(organizationId, ids);
    return { providerIds: ids };
  },
});
