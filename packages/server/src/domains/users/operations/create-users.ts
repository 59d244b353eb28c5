import Type from 'typebox';
import { treeRoot } from '../../../core/model.ts';
import { lookClosely } from '../../../describe/sentence.ts';
import { listOf, say } from '../../../describe/text.ts';
import { defineActivity, legacy } from '../../../engine/define.ts';
import { IdListOrEmptyShape, listShape, NameShape } from '../../../lib/shapes.ts';
import { addUsers, checkNewUsers, verifyNewUsers } from '../new-users.ts';
import { newUserPart } from '../sentences.ts';
import {
  ApiKeyParamsShape,
  ApiKeyParamsV1Shape,
  AuthenticatorParamsShape,
  AuthenticatorParamsV1Shape,
  fromBrowserStyle,
  OauthProviderParamsV1Shape,
  withP256,
} from '../shapes/credentials.ts';
import { AccessTypeShape, EmailOrEmptyShape, PhoneOrEmptyShape, UserParamsShape } from '../shapes/users.ts';
import { TagReader, TagStore } from '../store/tags.ts';
import { requireOwnOrFreshBelow } from '../token-binding.ts';
import { pairs } from '../user-tags.ts';

const common = { userName: NameShape, userEmail: Type.Optional(EmailOrEmptyShape), userTags: IdListOrEmptyShape };
const V3Shape = Type.Object({
  ...common,
  userPhoneNumber: Type.Optional(PhoneOrEmptyShape),
  apiKeys: listShape(ApiKeyParamsShape),
  authenticators: listShape(AuthenticatorParamsShape),
  oauthProviders: listShape(OauthProviderParamsV1Shape),
});
const V2Shape = Type.Object({
  ...common,
  apiKeys: listShape(ApiKeyParamsV1Shape),
  authenticators: listShape(AuthenticatorParamsShape),
});
const V1Shape = Type.Object({
  ...common,
  accessType: AccessTypeShape,
  apiKeys: listShape(ApiKeyParamsV1Shape),
  authenticators: listShape(AuthenticatorParamsV1Shape),
});

const SECRETS = ['users.*.oauthProviders.*.oidcToken'];

export const createUsers = defineActivity({
  name: 'create_users',
  type: 'ACTIVITY_TYPE_CREATE_USERS_V4',
  summary: 'Create users with their credentials and tags, all or nothing.',
  bodyLimit: 1024 * 1024,
  policy: { governedBy: 'policy', resource: 'USER', action: 'CREATE' },
  credentials: 'mints',
  parameters: Type.Object({ users: listShape(UserParamsShape, 1) }),
  secrets: SECRETS,
  older: [
    legacy('ACTIVITY_TYPE_CREATE_USERS_V3', Type.Object({ users: listShape(V3Shape, 1) }), (parameters) => parameters, {
      secrets: SECRETS,
    }),
    legacy('ACTIVITY_TYPE_CREATE_USERS_V2', Type.Object({ users: listShape(V2Shape, 1) }), ({ users }) => ({
      users: users.map((user) => ({ ...user, apiKeys: withP256(user.apiKeys), oauthProviders: [] })),
    })),
    legacy('ACTIVITY_TYPE_CREATE_USERS', Type.Object({ users: listShape(V1Shape, 1) }), ({ users }) => ({
      users: users.map(({ accessType: _accessType, ...user }) => ({
        ...user,
        apiKeys: withP256(user.apiKeys),
        authenticators: fromBrowserStyle(user.authenticators),
        oauthProviders: [],
      })),
    })),
  ],
  sentence: ({ users }, { names }) =>
    lookClosely(
      say`Add ${users.length === 1 ? 'user' : 'users'} ${listOf(users.map((user) => newUserPart(names, user)))}.`,
      'a new person or program',
      'Whoever holds these credentials can then act here as far as policies let them. I want that.',
    ),
  result: Type.Object({ userIds: Type.Array(Type.String()) }),
  check: ({ users }) => checkNewUsers(users, 'parameters.users'),
  describe: ({ read, actor }, { users }) =>
    read(TagReader).requireAll(actor.organizationId, 'TAG_TYPE_USER', tagsOf(users)),
  prepare: (context, { users }) => verifyNewUsers(context, users, 'parameters.users'),
  async execute(context, { users }, verified) {
    const { store, actor } = context;
    const { organizationId } = actor;
    await store(TagStore).requireAll(organizationId, 'TAG_TYPE_USER', tagsOf(users));
    const rootId = treeRoot(actor.organization);
    for (const [index, user] of users.entries()) {
      await requireOwnOrFreshBelow(context, rootId, user, verified[index]?.oauthProviders ?? []);
    }
    const userIds = await addUsers(context, { organizationId, rootId }, users, verified);
    await store(TagStore).tagUsers(
      organizationId,
      userIds.flatMap((userId, index) => pairs([userId], users[index]?.userTags ?? [])),
    );
    return { userIds };
  },
});

const tagsOf = (users: readonly { readonly userTags: readonly string[] }[]): string[] =>
  users.flatMap(({ userTags }) => userTags);
