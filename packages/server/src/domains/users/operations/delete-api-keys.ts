import Type from 'typebox';
import { removedBy } from '../../../core/actor.ts';
import { TreeStore } from '../../../core/store/tree.ts';
import { nameOf, namesOf } from '../../../describe/names.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { ApiError } from '../../../lib/errors.ts';
import { IdListShape, IdShape } from '../../../lib/shapes.ts';
import { CredentialStore } from '../store/credentials.ts';
import { UserStore } from '../store/users.ts';

export const deleteApiKeys = defineActivity({
  name: 'delete_api_keys',
  type: 'ACTIVITY_TYPE_DELETE_API_KEYS',
  summary: 'Delete API keys of a user, all or nothing; also the key that stamps the request.',
  policy: { governedBy: 'policy', resource: 'CREDENTIAL', action: 'DELETE', params: ['user_id', 'api_key_ids'] },
  credentials: 'removes',
  parameters: Type.Object({ userId: IdShape, apiKeyIds: IdListShape }),
  sentence: ({ userId, apiKeyIds }, { names }) =>
    lookClosely(
      say`Take API key ${namesOf(names, 'apiKey', apiKeyIds)} away from ${nameOf(names, 'user', userId)}.`,
      'takes a credential away',
      'What this user can still log in with is enough, or should end. I want that.',
    ),
  result: Type.Object({ apiKeyIds: Type.Array(Type.String()) }),
  ownAccount: 'any-credential',
  managesCredentialsOf: ({ userId }) => userId,
  exposes: ({ userId, apiKeyIds }) => ({ user_id: userId, api_key_ids: apiKeyIds }),
  async execute({ store, actor, nowMs }, { userId, apiKeyIds }) {
    const { organizationId } = actor;
    const ids = [...new Set(apiKeyIds)];
    await store(UserStore).lock(organizationId, userId, nowMs);
    const owned = new Set<string>(
      (await store(CredentialStore).apiKeysOfUser(organizationId, userId)).map((key) => key.id),
    );
    if (ids.some((id) => !owned.has(id))) throw new ApiError('RESOURCE_NOT_FOUND', 'API key not found on this user');
    await store(CredentialStore).deleteCredentials('api_key', organizationId, userId, ids, removedBy(actor));
    await store(TreeStore).remove(organizationId, ids);
    return { apiKeyIds: ids };
  },
});
