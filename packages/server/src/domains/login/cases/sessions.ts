import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { idleProfileParams } from '../../../../test/fixtures/rules.ts';
import { newPerson, type Person } from '../../../../test/fixtures/users.ts';
import { Receiver } from '../../../../test/harness/bundles.ts';
import { newKeyPair, type TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import {
  type Arranged,
  anId,
  ELSEWHERE,
  notFound,
  nothing,
  PAGE_INFO,
  TIMES,
  type World,
} from '../../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../../test/operations/hostile-case.ts';
import { aCredentialFor, aSession, hasKey, keyParams, sessionParams } from './shared.ts';

const profileParams = () => ({
  sessionProfileName: `Profile ${randomUUID()}`,
  scope: ELSEWHERE,
  expirationSeconds: '900',
  notes: 'because',
});

const newProfile = async ({ parent }: World): Promise<string> =>
  (await parent.run('create_session_profile', profileParams())).sessionProfileId;

function readWriteSession(target: (person: Person) => Record<string, unknown>) {
  return async ({ root }: World): Promise<Arranged> => {
    const person = await newPerson(root);
    const receiver = new Receiver();
    const { organizationId } = root;
    return {
      parameters: { targetPublicKey: receiver.publicKey, ...target(person) },
      result: {
        organizationId,
        organizationName: expect.stringMatching(/^World /),
        userId: person.userId,
        username: 'Person',
        apiKeyId: anId,
        credentialBundle: aCredentialFor(receiver),
      },
      ...hasKey(person.userId, 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256'),
    };
  };
}

export const sessionCases: DomainCases = {
  create_session_profile: {
    activity: {
      place: 'parent',
      intentKey: 'createSessionProfileIntent',
      resultKey: 'createSessionProfileResult',
      arrange: async () => {
        const params = profileParams();
        const found = async (reader: TestClient) =>
          (await reader.query('get_session_profiles')).body.sessionProfiles.filter(
            (profile: { sessionProfileName: string }) => profile.sessionProfileName === params.sessionProfileName,
          );
        return {
          parameters: params,
          result: { sessionProfileId: anId },
          holds: async (reader) =>
            expect(await found(reader)).toEqual([{ sessionProfileId: anId, ...params, ...TIMES }]),
          absent: async (reader) => expect(await found(reader)).toEqual([]),
        };
      },
    },
    hostile: byRoot((tenant) => idleProfileParams(fresh(tenant))),
  },
  get_session_profile: {
    query: {
      // A parent's profiles are those of its whole tree.
      foreignStatus: 200,
      parameters: async (world) => ({ sessionProfileId: await newProfile(world) }),
      answer: () => ({
        sessionProfile: {
          sessionProfileId: anId,
          ...profileParams(),
          sessionProfileName: expect.stringMatching(/^Profile /),
          ...TIMES,
        },
      }),
    },
    hostile: byRoot((tenant) => ({ sessionProfileId: tenant.ids.sessionProfile })),
  },
  get_session_profiles: {
    query: {
      parameters: async (world) => {
        await newProfile(world);
        return {};
      },
      answer: () => ({
        sessionProfiles: expect.arrayContaining([
          {
            sessionProfileId: anId,
            ...profileParams(),
            sessionProfileName: expect.stringMatching(/^Profile /),
            ...TIMES,
          },
        ]),
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot(() => ({})),
  },
  stamp_login: {
    activity: {
      isOwnBusiness: true,
      intentKey: 'stampLoginIntent',
      resultKey: 'stampLoginResult',
      arrange: async ({ root }) => {
        const session = newKeyPair();
        return {
          parameters: { publicKey: session.publicKey, expirationSeconds: '900' },
          result: { session: aSession(root, root.userId, session) },
          ...hasKey(root.userId, 'CREDENTIAL_TYPE_LOGIN', { credential: { publicKey: session.publicKey } }),
        };
      },
    },
    hostile: byRoot((tenant) => sessionParams(tenant)),
  },
  create_read_only_session: {
    activity: {
      isOwnBusiness: true,
      intentKey: 'createReadOnlySessionIntent',
      resultKey: 'createReadOnlySessionResult',
      arrange: async ({ root }) => ({
        parameters: {},
        result: {
          organizationId: root.organizationId,
          organizationName: expect.stringMatching(/^World /),
          userId: root.userId,
          username: expect.stringMatching(/ root$/),
          session: expect.stringMatching(/^[\w-]{32,}$/),
          sessionExpiry: expect.stringMatching(/^\d{10}$/),
        },
        holds: nothing,
        absent: nothing,
      }),
    },
    hostile: byRoot(() => ({})),
  },
  create_read_write_session: {
    activity: {
      intentKey: 'createReadWriteSessionIntentV2',
      resultKey: 'createReadWriteSessionResultV2',
      arrange: readWriteSession(({ userId }) => ({ userId })),
      legacy: {
        ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION: {
          intentKey: 'createReadWriteSessionIntent',
          resultKey: 'createReadWriteSessionResult',
          arrange: readWriteSession(({ email }) => ({ email })),
        },
      },
      foreign: async (_world, other) =>
        notFound({ targetPublicKey: new Receiver().publicKey, userId: other.plain.userId }),
    },
    hostile: byRoot(async (tenant) => ({ ...(await newPerson(tenant.root, fresh(tenant))), ...keyParams(tenant) })),
    ids: { email: ['email'] },
  },
};
