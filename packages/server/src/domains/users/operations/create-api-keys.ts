import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import type { UserId } from '../../../lib/ids.ts';
import { IdShape, listShape } from '../../../lib/shapes.ts';
import { addApiKeys, checkApiKeys } from '../new-credentials.ts';
import { newCredentialSentence } from '../sentences.ts';
import { ApiKeyParamsShape, ApiKeyParamsV1Shape, withP256 } from '../shapes/credentials.ts';
import { UserStore } from '../store/users.ts';

export const createApiKeys = defineActivity({
  name: 'create_api_keys',
  type: 'ACTIVITY_TYPE_CREATE_API_KEYS_V2',
  summary: 'Add API keys to a user. An eleventh expiring key replaces the oldest.',
  policy: { governedBy: 'policy', resource: 'CREDENTIAL', action: 'CREATE', params: ['user_id'] },
  credentials: 'mints',
  // The user's row is held; a new key changes no decision that is being taken.
  lock: 'shared',
  parameters: Type.Object({ userId: IdShape, apiKeys: listShape(ApiKeyParamsShape, 1) }),
  older: [
    legacy(
      'ACTIVITY_TYPE_CREATE_API_KEYS',
      Type.Object({ userId: IdShape, apiKeys: listShape(ApiKeyParamsV1Shape, 1) }),
      ({ userId, apiKeys }) => ({
        userId,
        apiKeys: withP256(apiKeys),
      }),
    ),
  ],
  sentence: ({ userId, apiKeys }, context) =>
    newCredentialSentence(
      context,
      userId,
      apiKeys.map(({ apiKeyName }) => apiKeyName),
      'API key',
    ),
  result: Type.Object({ apiKeyIds: Type.Array(Type.String()) }),
  ownAccount: 'any-credential',
  managesCredentialsOf: ({ userId }) => userId,
  exposes: ({ userId }) => ({ user_id: userId }),
  check: ({ apiKeys }) => checkApiKeys(apiKeys, 'parameters.apiKeys'),
  async execute(context, { userId, apiKeys }) {
    const { store, actor, nowMs } = context;
    const { organizationId } = actor;
    await store(UserStore).lock(organizationId, userId, nowMs);
    const added = await addApiKeys(
      context,
      { organizationId, rootId: treeRoot(actor.organization) },
      userId as UserId,
      apiKeys,
    );
    return { apiKeyIds: added.map((key) => key.id) };
  },
});
