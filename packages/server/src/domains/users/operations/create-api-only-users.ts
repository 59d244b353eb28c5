import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { listOf, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { IdListOrEmptyShape, listShape, NameShape } from '../../../lib/shapes.ts';
import { addUsers, checkNewUsers } from '../new-users.ts';
import { newUserPart } from '../sentences.ts';
import { ApiKeyParamsV1Shape, withP256 } from '../shapes/credentials.ts';
import { EmailOrEmptyShape, type UserParams } from '../shapes/users.ts';
import { TagStore } from '../store/tags.ts';
import { pairs } from '../user-tags.ts';

const ApiOnlyUserShape = Type.Object({
  userName: NameShape,
  userEmail: Type.Optional(EmailOrEmptyShape),
  userTags: IdListOrEmptyShape,
  apiKeys: listShape(ApiKeyParamsV1Shape),
});

const toUsers = (users: readonly Type.Static<typeof ApiOnlyUserShape>[]): UserParams[] =>
  users.map((user) => ({ ...user, apiKeys: withP256(user.apiKeys), authenticators: [], oauthProviders: [] }));

export const createApiOnlyUsers = defineActivity({
  name: 'create_api_only_users',
  type: 'ACTIVITY_TYPE_CREATE_API_ONLY_USERS',
  summary: 'Create users that authenticate by P-256 API keys only.',
  policy: { governedBy: 'policy', resource: 'USER', action: 'CREATE' },
  credentials: 'mints',
  parameters: Type.Object({ apiOnlyUsers: listShape(ApiOnlyUserShape, 1) }),
  sentence: ({ apiOnlyUsers }, { names }) =>
    lookClosely(
      say`Add ${apiOnlyUsers.length === 1 ? 'program' : 'programs'} ${listOf(apiOnlyUsers.map((user) => newUserPart(names, user)))}.`,
      'a new program',
      'Whoever holds these keys can then act here as far as policies let them. I want that.',
    ),
  result: Type.Object({ userIds: Type.Array(Type.String()) }),
  check: ({ apiOnlyUsers }) => checkNewUsers(toUsers(apiOnlyUsers), 'parameters.apiOnlyUsers'),
  async execute(context, { apiOnlyUsers }) {
    const { store, actor } = context;
    const { organizationId } = actor;
    const users = toUsers(apiOnlyUsers);
    await store(TagStore).requireAll(organizationId, 'TAG_TYPE_USER', [
      ...new Set(users.flatMap((user) => user.userTags)),
    ]);
    const userIds = await addUsers(context, { organizationId, rootId: treeRoot(actor.organization) }, users, []);
    await store(TagStore).tagUsers(
      organizationId,
      userIds.flatMap((userId, index) => pairs([userId], users[index]?.userTags ?? [])),
    );
    return { userIds };
  },
});
