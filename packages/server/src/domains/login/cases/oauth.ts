import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { credentialParams, newEmail } from '../../../../test/fixtures/outside.ts';
import { newOauthPerson } from '../../../../test/fixtures/users.ts';
import { claimsOf } from '../../../../test/flows/fixtures/logins.ts';
import { OAUTH2_CLIENT } from '../../../../test/flows/fixtures/oauth.ts';
import { Receiver } from '../../../../test/harness/bundles.ts';
import { createSubOrganization, newKeyPair, type TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import { anId, notFound, PAGE_INFO, TIMES } from '../../../../test/operations/every-case.ts';
import { type Build, byRoot, fresh } from '../../../../test/operations/hostile-case.ts';
import type { Tenant } from '../../../../test/operations/tenant.ts';
import { aCredentialFor, aSession, hasKey, keyParams, sessionParams, targetPublicKey } from './shared.ts';

const credentialOf = async (reader: TestClient, oauth2CredentialId: string) =>
  (await reader.query('get_oauth2_credential', { oauth2CredentialId })).body.oauth2Credential;

const newCredential = async (client: TestClient): Promise<string> =>
  (await client.run('create_oauth2_credential', await credentialParams(client, randomUUID()))).oauth2CredentialId;

const aCredential = ({ organizationId }: TestClient, params: object) => ({
  oauth2CredentialId: anId,
  organizationId,
  ...params,
  ...TIMES,
});

const credentialNotFound = (parameters: unknown) => ({ parameters, status: 404, code: 'OAUTH2_CREDENTIAL_NOT_FOUND' });

const knownCredential = async (client: TestClient): Promise<string> =>
  (await client.query('list_oauth2_credentials')).body.oauth2Credentials.find(
    ({ clientId }: { clientId: string }) => clientId === OAUTH2_CLIENT.id,
  ).oauth2CredentialId;

const children = new Map<Tenant, Promise<TestClient>>();

/** Tokens log in the users of sub-organizations only; for a parent it is one of a sub-organization of its own. */
const byToken =
  (parameters: (tenant: Tenant, tokenFor: (publicKey: string) => string) => Record<string, unknown>): Build =>
  async (tenant) => {
    const { marker, outside, root, scope } = tenant;
    const isParent = scope === 'parent';
    const subject = isParent ? `${marker} child` : marker;
    if (isParent && !children.has(tenant)) children.set(tenant, newChild(tenant, subject));
    const client = (await children.get(tenant)) ?? root;
    return { client, parameters: parameters(tenant, (publicKey) => outside.idToken(subject, publicKey)) };
  };

async function newChild({ treeRoot, outside, marker }: Tenant, subject: string): Promise<TestClient> {
  const child = await createSubOrganization(treeRoot, `${marker} child`);
  const oauthProviders = [{ providerName: marker, oidcToken: outside.idToken(subject) }];
  await child.run('create_oauth_providers', { userId: child.userId, oauthProviders });
  return child;
}

/** A credential that may be spoiled; only parents have any. */
async function spareCredential({ root, scope, ids, marker }: Tenant): Promise<string> {
  if (scope !== 'parent') return ids.oauth2Credential;
  const params = await credentialParams(root, `${marker} ${newEmail()}`);
  return (await root.run('create_oauth2_credential', params)).oauth2CredentialId;
}

export const oauthCases: DomainCases = {
  oauth: {
    activity: {
      intentKey: 'oauthIntent',
      resultKey: 'oauthResult',
      arrange: async (world) => {
        const { userId, subject } = await newOauthPerson(world);
        const receiver = new Receiver();
        const targetPublicKey = receiver.publicKey;
        return {
          parameters: { oidcToken: world.outside.idToken(subject, targetPublicKey), targetPublicKey },
          result: { userId, apiKeyId: anId, credentialBundle: aCredentialFor(receiver) },
          ...hasKey(userId, 'CREDENTIAL_TYPE_OAUTH_KEY_P256'),
        };
      },
      foreign: async (_world, other) => {
        const { subject } = await newOauthPerson(other);
        const targetPublicKey = new Receiver().publicKey;
        return notFound({ oidcToken: other.outside.idToken(subject, targetPublicKey), targetPublicKey });
      },
    },
    hostile: byToken((tenant, tokenFor) => ({ oidcToken: tokenFor(targetPublicKey), ...keyParams(tenant) })),
  },
  oauth_login: {
    activity: {
      intentKey: 'oauthLoginIntent',
      resultKey: 'oauthLoginResult',
      arrange: async (world) => {
        const { userId, subject } = await newOauthPerson(world);
        const session = newKeyPair();
        const { publicKey } = session;
        return {
          parameters: { oidcToken: world.outside.idToken(subject, publicKey), publicKey },
          result: { session: aSession(world.root, userId, session) },
          ...hasKey(userId, 'CREDENTIAL_TYPE_LOGIN', { credential: { publicKey } }),
        };
      },
      foreign: async (_world, other) => {
        const { subject } = await newOauthPerson(other);
        const { publicKey } = newKeyPair();
        return notFound({ oidcToken: other.outside.idToken(subject, publicKey), publicKey });
      },
    },
    hostile: byToken((tenant, tokenFor) => {
      const { publicKey } = newKeyPair();
      return { oidcToken: tokenFor(publicKey), ...sessionParams(tenant, publicKey) };
    }),
  },
  create_oauth2_credential: {
    activity: {
      place: 'parent',
      intentKey: 'createOauth2CredentialIntent',
      resultKey: 'createOauth2CredentialResult',
      arrange: async ({ root }) => {
        const params = await credentialParams(root, randomUUID());
        const ofClient = async (reader: TestClient) =>
          (await reader.query('list_oauth2_credentials')).body.oauth2Credentials.filter(
            ({ clientId }: { clientId: string }) => clientId === params.clientId,
          );
        return {
          parameters: params,
          result: { oauth2CredentialId: anId },
          holds: async (reader) => expect(await ofClient(reader)).toEqual([aCredential(root, params)]),
          absent: async (reader) => expect(await ofClient(reader)).toEqual([]),
        };
      },
    },
    hostile: byRoot((tenant) => credentialParams(tenant.root, fresh(tenant))),
  },
  update_oauth2_credential: {
    activity: {
      place: 'parent',
      intentKey: 'updateOauth2CredentialIntent',
      resultKey: 'updateOauth2CredentialResult',
      arrange: async ({ root }) => {
        const oauth2CredentialId = await newCredential(root);
        const params = { ...(await credentialParams(root, randomUUID())), provider: 'OAUTH2_PROVIDER_DISCORD' };
        const read = (reader: TestClient) => credentialOf(reader, oauth2CredentialId);
        return {
          parameters: { oauth2CredentialId, ...params },
          result: { oauth2CredentialId },
          holds: async (reader) => expect(await read(reader)).toEqual(aCredential(root, params)),
          absent: async (reader) => expect(await read(reader)).toMatchObject({ provider: 'OAUTH2_PROVIDER_X' }),
        };
      },
      foreign: async ({ root }) =>
        credentialNotFound({ oauth2CredentialId: randomUUID(), ...(await credentialParams(root, randomUUID())) }),
    },
    hostile: byRoot(async (tenant) => ({
      oauth2CredentialId: await spareCredential(tenant),
      ...(await credentialParams(tenant.root, fresh(tenant))),
    })),
  },
  delete_oauth2_credential: {
    activity: {
      place: 'parent',
      intentKey: 'deleteOauth2CredentialIntent',
      resultKey: 'deleteOauth2CredentialResult',
      arrange: async ({ root }) => {
        const oauth2CredentialId = await newCredential(root);
        return {
          parameters: { oauth2CredentialId },
          result: { oauth2CredentialId },
          holds: async (reader) => expect(await credentialOf(reader, oauth2CredentialId)).toBeUndefined(),
          absent: async (reader) => expect(await credentialOf(reader, oauth2CredentialId)).toBeDefined(),
        };
      },
      foreign: async () => credentialNotFound({ oauth2CredentialId: randomUUID() }),
    },
    hostile: byRoot(async (tenant) => ({ oauth2CredentialId: await spareCredential(tenant) })),
  },
  oauth2_authenticate: {
    activity: {
      place: 'parent',
      intentKey: 'oauth2AuthenticateIntent',
      resultKey: 'oauth2AuthenticateResult',
      arrange: async ({ root, outside }) => {
        const parameters = outside.authorization(await knownCredential(root));
        const { exchanges } = outside.providers;
        return {
          parameters,
          result: {
            oidcToken: expect.toSatisfy((token: string) => {
              const claims = claimsOf(token);
              return claims.sub === 'x:22' && claims.aud === OAUTH2_CLIENT.id && claims.nonce === parameters.nonce;
            }, 'a token about the user of the provider'),
          },
          holds: async () => expect(outside.providers.exchanges).toBe(exchanges + 1),
          absent: async () => expect(outside.providers.exchanges).toBe(exchanges),
        };
      },
      foreign: async ({ outside }) => credentialNotFound(outside.authorization(randomUUID())),
    },
    hostile: byRoot(({ outside, ids }) => ({
      ...outside.authorization(ids.oauth2Credential),
      bearerTokenTargetPublicKey: targetPublicKey,
    })),
  },
  get_oauth2_credential: {
    query: {
      place: 'parent',
      parameters: async ({ root }) => ({ oauth2CredentialId: await knownCredential(root) }),
      answer: ({ root }) => ({
        oauth2Credential: aCredential(root, {
          provider: 'OAUTH2_PROVIDER_X',
          clientId: OAUTH2_CLIENT.id,
          encryptedClientSecret: expect.stringMatching(/^[0-9a-f]+$/),
        }),
      }),
    },
    hostile: byRoot((tenant) => ({ oauth2CredentialId: tenant.ids.oauth2Credential })),
    isOfParents: true,
  },
  list_oauth2_credentials: {
    query: {
      place: 'parent',
      answer: () => ({
        oauth2Credentials: expect.arrayContaining([expect.objectContaining({ clientId: OAUTH2_CLIENT.id })]),
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot(() => ({})),
  },
};
