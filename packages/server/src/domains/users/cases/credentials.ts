import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { AUDIENCE } from '../../../../test/fixtures/outside.ts';
import { browserStyle, currentStyle, newPasskey } from '../../../../test/fixtures/passkey.ts';
import {
  newApiKey,
  newIdentity,
  newOauthPerson,
  newPerson,
  newProvider,
  oldApiKey,
} from '../../../../test/fixtures/users.ts';
import { createUser, type TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import {
  type Arranged,
  anId,
  EMPTY_PAGE,
  notFound,
  PAGE_INFO,
  TIMES,
  TIMESTAMP,
  type World,
  withId,
} from '../../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../../test/operations/hostile-case.ts';

function addedApiKey(make: () => ReturnType<typeof oldApiKey>) {
  return async ({ root }: World): Promise<Arranged> => {
    const owner = await createUser(root, 'Owner');
    const key = make();
    const keys = async (reader: TestClient) =>
      (await reader.query('get_api_keys', { userId: owner.userId })).body.apiKeys;
    return {
      parameters: { userId: owner.userId, apiKeys: [key] },
      result: { apiKeyIds: [anId] },
      holds: async (reader) =>
        expect(await keys(reader)).toMatchObject([
          {},
          {
            apiKeyName: key.apiKeyName,
            credential: { publicKey: key.publicKey, type: 'CREDENTIAL_TYPE_API_KEY_P256' },
          },
        ]),
      absent: async (reader) => expect(await keys(reader)).toHaveLength(1),
    };
  };
}

function addedPasskey(shape: typeof browserStyle | typeof currentStyle) {
  return async ({ root }: World): Promise<Arranged> => {
    const owner = await createUser(root, 'Owner');
    const { passkey, publicKey, registration } = newPasskey('Laptop');
    const read = async (reader: TestClient) =>
      (await reader.query('get_authenticators', { userId: owner.userId })).body.authenticators;
    return {
      parameters: { userId: owner.userId, authenticators: [shape(registration, owner.userId)] },
      result: { authenticatorIds: [anId] },
      holds: async (reader) =>
        expect(await read(reader)).toEqual([
          {
            authenticatorId: anId,
            authenticatorName: 'Laptop',
            transports: expect.any(Array),
            attestationType: 'none',
            aaguid: '00000000-0000-0000-0000-000000000000',
            credentialId: passkey.credentialId,
            model: '',
            credential: { publicKey, type: 'CREDENTIAL_TYPE_WEBAUTHN_AUTHENTICATOR' },
            createdAt: TIMESTAMP,
            updatedAt: TIMESTAMP,
          },
        ]),
      absent: async (reader) => expect(await read(reader)).toEqual([]),
    };
  };
}

const newAuthenticator = async ({ root }: World): Promise<string> => {
  const authenticators = [currentStyle(newPasskey(randomUUID()).registration)];
  return (await root.run('create_authenticators', { userId: root.userId, authenticators })).authenticatorIds[0];
};

const aProvider = ({ outside }: World, subject: string) => ({
  providerId: anId,
  providerName: 'Issuer',
  issuer: outside.issuer,
  audience: AUDIENCE,
  subject,
  ...TIMES,
});

const providersOf = async (reader: TestClient, userId: string) =>
  (await reader.query('get_oauth_providers', { userId })).body.oauthProviders;

async function createProviders(world: World): Promise<Arranged> {
  const { userId } = await newPerson(world.root);
  const { subject, provider } = await newIdentity(world);
  return {
    parameters: { userId, oauthProviders: [provider] },
    result: { providerIds: [anId] },
    holds: async (reader) => expect(await providersOf(reader, userId)).toEqual([aProvider(world, subject)]),
    absent: async (reader) => expect(await providersOf(reader, userId)).toEqual([]),
  };
}

export const credentialCases: DomainCases = {
  create_api_keys: {
    activity: {
      intentKey: 'createApiKeysIntentV2',
      resultKey: 'createApiKeysResult',
      arrange: addedApiKey(newApiKey),
      legacy: {
        ACTIVITY_TYPE_CREATE_API_KEYS: {
          intentKey: 'createApiKeysIntent',
          resultKey: 'createApiKeysResult',
          arrange: addedApiKey(oldApiKey),
        },
      },
      foreign: async (_world, other) => notFound({ userId: other.root.userId, apiKeys: [newApiKey()] }),
    },
    hostile: byRoot((tenant) => ({ userId: tenant.second.userId, apiKeys: [newApiKey(fresh(tenant))] })),
  },
  create_authenticators: {
    activity: {
      intentKey: 'createAuthenticatorsIntentV2',
      resultKey: 'createAuthenticatorsResult',
      arrange: addedPasskey(currentStyle),
      legacy: {
        ACTIVITY_TYPE_CREATE_AUTHENTICATORS: {
          intentKey: 'createAuthenticatorsIntent',
          resultKey: 'createAuthenticatorsResult',
          arrange: addedPasskey(browserStyle),
        },
      },
      foreign: async (_world, other) =>
        notFound({ userId: other.root.userId, authenticators: [currentStyle(newPasskey('Laptop').registration)] }),
    },
    hostile: byRoot((tenant) => ({
      userId: tenant.second.userId,
      authenticators: [{ ...newPasskey(fresh(tenant)).registration, userId: tenant.second.userId }],
    })),
  },
  delete_api_keys: {
    activity: {
      intentKey: 'deleteApiKeysIntent',
      resultKey: 'deleteApiKeysResult',
      arrange: async ({ root }) => {
        const { userId } = await createUser(root, 'Owner');
        const [{ apiKeyId }] = (await root.query('get_api_keys', { userId })).body.apiKeys;
        return {
          parameters: { userId, apiKeyIds: [apiKeyId] },
          result: { apiKeyIds: [apiKeyId] },
          holds: async (reader) => expect((await reader.query('get_api_key', { apiKeyId })).status).toBe(404),
          absent: async (reader) => expect((await reader.query('get_api_key', { apiKeyId })).status).toBe(200),
        };
      },
      foreign: async ({ root, plain }, other) => {
        const { apiKeys } = (await other.root.query('get_api_keys', { userId: other.plain.userId })).body;
        const foreign = { userId: plain.userId, apiKeyIds: [apiKeys[0].apiKeyId] };
        // A key of another user of the same organization is no better.
        const own = (await root.query('get_api_keys', { userId: root.userId })).body.apiKeys[0].apiKeyId;
        expect((await root.submit('delete_api_keys', { userId: plain.userId, apiKeyIds: [own] })).status).toBe(404);
        return notFound(foreign);
      },
    },
    hostile: byRoot(async (tenant) => {
      const userId = tenant.second.userId;
      const { apiKeyIds } = await tenant.root.run('create_api_keys', { userId, apiKeys: [newApiKey(fresh(tenant))] });
      return { userId, apiKeyIds };
    }),
  },
  delete_authenticators: {
    activity: {
      intentKey: 'deleteAuthenticatorsIntent',
      resultKey: 'deleteAuthenticatorsResult',
      arrange: async ({ root }) => {
        const { userId } = await createUser(root, 'Owner');
        const authenticators = [currentStyle(newPasskey('Laptop').registration)];
        const { authenticatorIds } = await root.run('create_authenticators', { userId, authenticators });
        const [authenticatorId] = authenticatorIds;
        const status = async (reader: TestClient) =>
          (await reader.query('get_authenticator', { authenticatorId })).status;
        return {
          parameters: { userId, authenticatorIds },
          result: { authenticatorIds },
          holds: async (reader) => expect(await status(reader)).toBe(404),
          absent: async (reader) => expect(await status(reader)).toBe(200),
        };
      },
      foreign: async ({ plain }) => notFound({ userId: plain.userId, authenticatorIds: [randomUUID()] }),
    },
    hostile: byRoot(async (tenant) => {
      const userId = tenant.second.userId;
      const authenticators = [newPasskey(fresh(tenant)).registration];
      const { authenticatorIds } = await tenant.root.run('create_authenticators', { userId, authenticators });
      return { userId, authenticatorIds };
    }),
  },
  get_api_key: {
    query: {
      parameters: withId(
        'apiKeyId',
        async ({ root }) => (await root.query('get_api_keys')).body.apiKeys[0].apiKeyId as string,
      ),
      answer: ({ root }) => ({
        apiKey: {
          apiKeyId: anId,
          apiKeyName: 'key',
          credential: { publicKey: root.key.publicKey, type: 'CREDENTIAL_TYPE_API_KEY_P256' },
          createdAt: TIMESTAMP,
          updatedAt: TIMESTAMP,
        },
      }),
    },
    hostile: byRoot((tenant) => ({ apiKeyId: tenant.ids.apiKey })),
  },
  get_api_keys: {
    query: {
      parameters: withId('userId', ({ root }) => root.userId),
      answer: () => ({ apiKeys: [expect.objectContaining({ apiKeyName: 'key' })], pageInfo: PAGE_INFO }),
    },
    hostile: byRoot((tenant) => ({ userId: tenant.second.userId })),
  },
  get_authenticator: {
    query: {
      parameters: withId('authenticatorId', newAuthenticator),
      answer: () => ({ authenticator: expect.objectContaining({ attestationType: 'none' }) }),
    },
    hostile: byRoot((tenant) => ({ authenticatorId: tenant.ids.authenticator })),
  },
  get_authenticators: {
    query: {
      parameters: withId('userId', ({ plain }) => plain.userId),
      answer: () => ({ authenticators: [], pageInfo: EMPTY_PAGE }),
    },
    hostile: byRoot((tenant) => ({ userId: tenant.second.userId })),
  },
  create_oauth_providers: {
    activity: {
      intentKey: 'createOauthProvidersIntentV2',
      resultKey: 'createOauthProvidersResultV2',
      arrange: createProviders,
      legacy: {
        ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS: {
          intentKey: 'createOauthProvidersIntent',
          resultKey: 'createOauthProvidersResult',
          arrange: createProviders,
        },
      },
      foreign: async (world, other) => {
        const { provider } = await newIdentity(world);
        return notFound({ userId: other.plain.userId, oauthProviders: [provider] });
      },
    },
    hostile: byRoot((tenant) => ({
      userId: tenant.second.userId,
      oauthProviders: [newProvider(tenant)],
    })),
  },
  delete_oauth_providers: {
    activity: {
      intentKey: 'deleteOauthProvidersIntent',
      resultKey: 'deleteOauthProvidersResult',
      arrange: async (world) => {
        const { userId, subject } = await newOauthPerson(world);
        const providerIds = (await providersOf(world.root, userId)).map(
          ({ providerId }: { providerId: string }) => providerId,
        );
        return {
          parameters: { userId, providerIds },
          result: { providerIds },
          holds: async (reader) => expect(await providersOf(reader, userId)).toEqual([]),
          absent: async (reader) => expect(await providersOf(reader, userId)).toEqual([aProvider(world, subject)]),
        };
      },
      foreign: async ({ plain }, other) => {
        const { userId } = await newOauthPerson(other);
        const [{ providerId }] = await providersOf(other.root, userId);
        return notFound({ userId: plain.userId, providerIds: [providerId] });
      },
    },
    hostile: byRoot(async (tenant) => {
      const { userId } = await newPerson(tenant.root, fresh(tenant));
      await tenant.root.run('create_oauth_providers', { userId, oauthProviders: [newProvider(tenant)] });
      const [provider] = (await tenant.root.query('get_oauth_providers', { userId })).body.oauthProviders;
      return { userId, providerIds: [provider.providerId] };
    }),
  },
  get_oauth_providers: {
    query: {
      parameters: async (world) => ({ userId: (await newOauthPerson(world)).userId }),
      answer: (world) => ({
        oauthProviders: [{ ...aProvider(world, ''), subject: expect.any(String) }],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot((tenant) => ({ userId: tenant.second.userId })),
  },
  list_credentials: {
    query: {
      parameters: withId('userId', ({ plain }) => plain.userId),
      answer: ({ plain }) => ({
        credentials: [
          expect.objectContaining({
            credentialId: anId,
            userId: plain.userId,
            kind: 'API_KEY',
            name: expect.any(String),
            publicKey: plain.key.publicKey,
            createdAt: expect.any(String),
          }),
        ],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot((tenant) => ({ userId: tenant.second.userId })),
  },
};
