import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { newEmail, newPhone, newVerification } from '../../../../test/fixtures/outside.ts';
import { browserStyle, currentStyle, newPasskey } from '../../../../test/fixtures/passkey.ts';
import { known, newApiKey, oldApiKey, readUser, someone, userParams } from '../../../../test/fixtures/users.ts';
import { createUser, newKeyPair, type TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import {
  type Arranged,
  anId,
  notFound,
  PAGE_INFO,
  TIMESTAMP,
  type World,
  withId,
} from '../../../../test/operations/every-case.ts';
import { another, byRoot, fresh } from '../../../../test/operations/hostile-case.ts';
import type { Tenant } from '../../../../test/operations/tenant.ts';

async function userNames(reader: TestClient): Promise<string[]> {
  return (await reader.query('list_users')).body.users.map((user: { userName: string }) => user.userName);
}

/** create_users in any of its versions: the effect is the same. */
function newUser(make: (tagId: string, name: string, world: World) => Record<string, unknown>, list = 'users') {
  return async (world: World): Promise<Arranged> => {
    const { root } = world;
    const name = `User ${randomUUID()}`;
    const { userTagId } = await root.run('create_user_tag', { userTagName: name, userIds: [] });
    const made = make(userTagId, name, world);
    const providers = ((made.oauthProviders ?? []) as object[]).map(() => ({ issuer: world.outside.issuer }));
    return {
      parameters: { [list]: [made] },
      result: { userIds: [anId] },
      holds: async (reader) => {
        const { users } = (await reader.query('list_users')).body;
        const user = users.find((candidate: { userName: string }) => candidate.userName === name);
        expect(user).toMatchObject({
          userTags: [userTagId],
          apiKeys: [{ credential: { type: expect.any(String) } }],
          oauthProviders: providers,
        });
        expect(user.userEmail).toBe(`${name.slice(5)}@example.com`);
      },
      absent: async (reader) => expect(await userNames(reader)).not.toContain(name),
    };
  };
}

/** An update of one field of a user. */
function changedUser(field: string, before: unknown, after: unknown, parameter = field) {
  return async ({ root }: World): Promise<Arranged> => {
    const { userId } = await createUser(root, 'Before', { userEmail: `${randomUUID()}@example.com` });
    return {
      parameters: { userId, [parameter]: after },
      result: { userId },
      holds: async (reader) => expect(await readUser(reader, userId)).toMatchObject({ [field]: after }),
      absent: async (reader) => {
        const value = (await readUser(reader, userId))[field];
        if (before !== undefined) expect(value).toBe(before);
        expect(value).not.toBe(after);
      },
    };
  };
}

/** A contact of a user that a token proves. */
function provenContact(field: 'userEmail' | 'userPhoneNumber', filterType: string, newContact: () => string) {
  return async (world: World): Promise<Arranged> => {
    const { root, parent } = world;
    const contact = newContact();
    const verificationToken = await newVerification(root, newKeyPair(), contact);
    const { parameters, holds, ...rest } = await changedUser(field, undefined, contact)(world);
    return {
      ...rest,
      parameters: { ...parameters, verificationToken },
      holds: async (reader) => {
        await holds(reader);
        const { body } = await parent.query('list_verified_suborgs', { filterType, filterValue: contact });
        expect(body.organizationIds).toEqual([root.organizationId]);
      },
    };
  };
}

const tags = async (reader: TestClient) => (await reader.query('list_user_tags')).body.userTags;

const userWithOldKeys = (tagId: string, userName: string, extra: Record<string, unknown> = {}) => ({
  userName,
  userEmail: `${userName.slice(5)}@example.com`,
  userTags: [tagId],
  apiKeys: [oldApiKey()],
  ...extra,
});

const newTag = async (tenant: Tenant): Promise<string> =>
  (await tenant.root.run('create_user_tag', { userTagName: fresh(tenant), userIds: [tenant.second.userId] })).userTagId;

/** A token that proves a contact, for the user who is to have it. */
const proofOf = async ({ root }: Tenant, contact: string) => ({
  verificationToken: await newVerification(root, newKeyPair(), contact),
});

export const userCases: DomainCases = {
  create_api_only_users: {
    activity: {
      intentKey: 'createApiOnlyUsersIntent',
      resultKey: 'createApiOnlyUsersResult',
      arrange: newUser((tagId, name) => userWithOldKeys(tagId, name), 'apiOnlyUsers'),
      foreign: async (_world, other) => {
        const { userTagId } = await other.root.run('create_user_tag', { userTagName: randomUUID(), userIds: [] });
        return notFound({ apiOnlyUsers: [userWithOldKeys(userTagId, 'User x')] });
      },
    },
    hostile: byRoot((tenant) => ({ apiOnlyUsers: [userParams(tenant)] })),
  },
  create_user_tag: {
    activity: {
      intentKey: 'createUserTagIntent',
      resultKey: 'createUserTagResult',
      arrange: async ({ plain }) => {
        const userTagName = `Tag ${randomUUID()}`;
        return {
          parameters: { userTagName, userIds: [plain.userId] },
          result: { userTagId: anId, userIds: [plain.userId] },
          holds: async (reader) => {
            const [tag] = await tags(reader);
            const shape = { tagId: anId, tagName: userTagName, tagType: 'TAG_TYPE_USER' };
            expect(tag).toEqual({ ...shape, createdAt: TIMESTAMP, updatedAt: TIMESTAMP });
            expect((await readUser(reader, plain.userId)).userTags).toEqual([tag.tagId]);
          },
          absent: async (reader) => expect(await tags(reader)).toEqual([]),
        };
      },
      foreign: async (_world, other) => notFound({ userTagName: 'x', userIds: [other.plain.userId] }),
    },
    hostile: byRoot((tenant) => ({ userTagName: fresh(tenant), userIds: [tenant.second.userId] })),
  },
  create_users: {
    activity: {
      intentKey: 'createUsersIntentV4',
      resultKey: 'createUsersResult',
      arrange: newUser((tagId, name, world) =>
        known(world, userWithOldKeys(tagId, name, { apiKeys: [newApiKey()], userPhoneNumber: '+15550100300' })),
      ),
      legacy: {
        ACTIVITY_TYPE_CREATE_USERS_V3: {
          intentKey: 'createUsersIntentV3',
          resultKey: 'createUsersResult',
          arrange: newUser((tagId, name, world) =>
            known(world, userWithOldKeys(tagId, name, { apiKeys: [newApiKey()], userPhoneNumber: '+15550100400' })),
          ),
        },
        ACTIVITY_TYPE_CREATE_USERS_V2: {
          intentKey: 'createUsersIntentV2',
          resultKey: 'createUsersResult',
          arrange: newUser((tagId, name) =>
            userWithOldKeys(tagId, name, { authenticators: [currentStyle(newPasskey('p').registration)] }),
          ),
        },
        ACTIVITY_TYPE_CREATE_USERS: {
          intentKey: 'createUsersIntent',
          resultKey: 'createUsersResult',
          arrange: newUser((tagId, name) =>
            userWithOldKeys(tagId, name, {
              accessType: 'ACCESS_TYPE_ALL',
              authenticators: [browserStyle(newPasskey('p').registration, randomUUID())],
            }),
          ),
        },
      },
      foreign: async (_world, other) => {
        const { userTagId } = await other.root.run('create_user_tag', { userTagName: randomUUID(), userIds: [] });
        return notFound({ users: [someone({ userTags: [userTagId] })] });
      },
    },
    hostile: byRoot((tenant) => ({ users: [userParams(tenant)] })),
  },
  delete_user_tags: {
    activity: {
      intentKey: 'deleteUserTagsIntent',
      resultKey: 'deleteUserTagsResult',
      arrange: async ({ root, plain }) => {
        const { userTagId } = await root.run('create_user_tag', { userTagName: 'Tag', userIds: [plain.userId] });
        return {
          parameters: { userTagIds: [userTagId] },
          result: { userTagIds: [userTagId], userIds: [plain.userId] },
          holds: async (reader) => {
            expect(await tags(reader)).toEqual([]);
            expect((await readUser(reader, plain.userId)).userTags).toEqual([]);
          },
          absent: async (reader) => expect(await tags(reader)).toHaveLength(1),
        };
      },
      foreign: async (_world, other) => {
        const { userTagId } = await other.root.run('create_user_tag', { userTagName: 'x', userIds: [] });
        return notFound({ userTagIds: [userTagId] });
      },
    },
    hostile: byRoot(async (tenant) => ({ userTagIds: [await newTag(tenant)] })),
  },
  delete_users: {
    activity: {
      intentKey: 'deleteUsersIntent',
      resultKey: 'deleteUsersResult',
      arrange: async ({ root }) => {
        const gone = await createUser(root, 'Gone');
        return {
          parameters: { userIds: [gone.userId] },
          result: { userIds: [gone.userId] },
          holds: async (reader) => {
            expect((await reader.query('get_user', { userId: gone.userId })).status).toBe(404);
            expect((await gone.query('whoami')).body.errorCode).toBe('PUBLIC_KEY_NOT_FOUND');
          },
          absent: async (reader) => expect((await reader.query('get_user', { userId: gone.userId })).status).toBe(200),
        };
      },
      foreign: async ({ plain }, other) => notFound({ userIds: [plain.userId, other.plain.userId] }),
    },
    hostile: byRoot(async (tenant) => ({ userIds: [(await createUser(tenant.root, fresh(tenant))).userId] })),
  },
  update_user_email: {
    activity: {
      intentKey: 'updateUserEmailIntent',
      resultKey: 'updateUserEmailResult',
      arrange: provenContact('userEmail', 'EMAIL', newEmail),
      foreign: async (_world, { plain }) => notFound({ userId: plain.userId, userEmail: 'x@example.com' }),
    },
    hostile: byRoot(async (tenant) => {
      const userEmail = `new${another()}@${tenant.marker}.example`;
      return { userId: tenant.second.userId, userEmail, ...(await proofOf(tenant, userEmail)) };
    }),
  },
  update_user_name: {
    activity: {
      intentKey: 'updateUserNameIntent',
      resultKey: 'updateUserNameResult',
      arrange: changedUser('userName', 'Before', 'After'),
      foreign: async (_world, { plain }) => notFound({ userId: plain.userId, userName: 'x' }),
    },
    hostile: byRoot((tenant) => ({ userId: tenant.second.userId, userName: fresh(tenant) })),
  },
  update_user_phone_number: {
    activity: {
      intentKey: 'updateUserPhoneNumberIntent',
      resultKey: 'updateUserPhoneNumberResult',
      arrange: provenContact('userPhoneNumber', 'PHONE_NUMBER', newPhone),
      foreign: async (_world, { plain }) => notFound({ userId: plain.userId, userPhoneNumber: '+15550100501' }),
    },
    hostile: byRoot(async (tenant) => {
      const userPhoneNumber = newPhone();
      return { userId: tenant.second.userId, userPhoneNumber, ...(await proofOf(tenant, userPhoneNumber)) };
    }),
  },
  update_user_tag: {
    activity: {
      intentKey: 'updateUserTagIntent',
      resultKey: 'updateUserTagResult',
      arrange: async ({ root, plain }) => {
        const { userTagId } = await root.run('create_user_tag', { userTagName: 'Old', userIds: [root.userId] });
        return {
          parameters: { userTagId, newUserTagName: 'New', addUserIds: [plain.userId], removeUserIds: [root.userId] },
          result: { userTagId },
          holds: async (reader) => {
            expect((await tags(reader))[0].tagName).toBe('New');
            expect((await readUser(reader, plain.userId)).userTags).toEqual([userTagId]);
            expect((await readUser(reader, root.userId)).userTags).toEqual([]);
          },
          absent: async (reader) => expect((await tags(reader))[0].tagName).toBe('Old'),
        };
      },
      foreign: async ({ root }, { plain }) => {
        const { userTagId } = await root.run('create_user_tag', { userTagName: randomUUID(), userIds: [] });
        return notFound({ userTagId, addUserIds: [plain.userId], removeUserIds: [] });
      },
    },
    hostile: byRoot((tenant) => ({
      userTagId: tenant.ids.tag,
      newUserTagName: fresh(tenant),
      addUserIds: [tenant.member.userId],
      removeUserIds: [tenant.root.userId],
    })),
  },
  update_user: {
    activity: {
      intentKey: 'updateUserIntent',
      resultKey: 'updateUserResult',
      arrange: changedUser('userName', 'Before', 'After'),
      foreign: async (_world, { plain }) => notFound({ userId: plain.userId, userName: 'x' }),
    },
    hostile: byRoot((tenant) => ({
      userId: tenant.second.userId,
      userName: fresh(tenant),
      userEmail: `new${another()}@${tenant.marker}.example`,
      userTagIds: [tenant.ids.tag],
      userPhoneNumber: newPhone(),
    })),
  },
  get_user: {
    query: {
      parameters: withId('userId', ({ plain }) => plain.userId),
      answer: ({ plain }) => ({
        user: {
          userId: plain.userId,
          userName: 'plain',
          authenticators: [],
          apiKeys: [expect.objectContaining({ apiKeyId: anId })],
          userTags: [],
          oauthProviders: [],
          createdAt: TIMESTAMP,
          updatedAt: TIMESTAMP,
          mfaPolicies: [],
        },
      }),
    },
    hostile: byRoot((tenant) => ({ userId: tenant.second.userId })),
  },
  list_user_tags: {
    query: { answer: () => ({ userTags: [], pageInfo: PAGE_INFO }) },
    hostile: byRoot(() => ({})),
  },
  list_user_summaries: {
    query: {
      answer: ({ root, plain }) => ({
        users: [root, plain].map(({ userId }) =>
          expect.objectContaining({ userId, isRoot: userId === root.userId, isProgram: true, apiKeyCount: 1 }),
        ),
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot((tenant) => ({ text: tenant.marker })),
  },
  list_users: {
    query: { answer: () => ({ users: [expect.anything(), expect.anything()], pageInfo: PAGE_INFO }) },
    hostile: byRoot(() => ({})),
  },
};
