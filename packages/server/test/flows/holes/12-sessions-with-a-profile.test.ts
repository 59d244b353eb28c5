import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { activities } from '../../../src/registry.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { addSessionKey, COMPLETED, outcome, propose, Rows } from '../fixtures/access.ts';

const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];

type Arrange = (root: TestClient) => Promise<Record<string, unknown>>;

/** Operations that touch credentials although nothing in their policy resource says so. */
const CLOSED: readonly (readonly [string, 'parent' | 'sub', Arrange])[] = [
  [
    'create_sub_organization',
    'parent',
    async () => ({
      subOrganizationName: randomUUID(),
      rootQuorumThreshold: 1,
      rootUsers: [
        {
          userName: 'root',
          apiKeys: [{ apiKeyName: 'k', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }],
          authenticators: [],
          oauthProviders: [],
        },
      ],
    }),
  ],
  ['create_read_only_session', 'sub', async () => ({})],
  ['set_organization_feature', 'sub', async () => ({ name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: '' })],
  [
    'remove_organization_feature',
    'sub',
    async (root) => {
      await root.run('set_organization_feature', { name: 'FEATURE_NAME_SMS_AUTH', value: '' });
      return { name: 'FEATURE_NAME_SMS_AUTH' };
    },
  ],
  ['delete_users', 'sub', async (root) => ({ userIds: [(await createUser(root, 'other')).userId] })],
  ['enable_auth_proxy', 'parent', async () => ({})],
  ['disable_auth_proxy', 'parent', async () => ({})],
];

describe.each(databasesOf(import.meta.url))('sessions with a profile on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let rows: Rows;

  beforeAll(async () => {
    service = await openTestApp(database);
    parent = service.root;
    rows = await Rows.open(service.app.config);
  });
  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  const sessionOf = async (client: TestClient): Promise<TestClient> => {
    const parameters = { sessionProfileName: randomUUID(), scope: 'true' };
    const { sessionProfileId } = await parent.run('create_session_profile', parameters);
    return await addSessionKey(rows, client, { sessionProfileId });
  };

  test.each(CLOSED)('%s is closed to them, and open to their user', async (operation, place, arrange) => {
    const root = place === 'parent' ? parent : await createSubOrganization(parent, randomUUID());
    const session = await sessionOf(root);
    expect(outcome(await propose(session, randomUUID()))).toEqual([200, COMPLETED]);
    const parameters = await arrange(root);
    const denied = await session.submit(operation, parameters);
    expect(outcome(denied)).toEqual(DENIED);
    expect(JSON.stringify(denied.body.details)).toContain('activityId');
    expect(outcome(await root.submit(operation, parameters))).toEqual([200, COMPLETED]);
  });

  test('the operations above are closed by what they declare', () => {
    for (const [name] of CLOSED) {
      const operation = activities.find((known) => known.name === name);
      expect(['mints', 'redirects', 'removes'], name).toContain(operation?.credentials);
    }
  });

  test('they still log in, with their own profile', async () => {
    const root = await createSubOrganization(parent, randomUUID());
    const session = await sessionOf(root);
    const { publicKey } = newKeyPair();
    expect(outcome(await session.submit('stamp_login', { publicKey }))).toEqual([200, COMPLETED]);
    const { apiKeys } = (await root.query('get_api_keys', { userId: root.userId })).body;
    const made = apiKeys.find((key: { credential: { publicKey: string } }) => key.credential.publicKey === publicKey);
    expect(made).toBeDefined();
  });

  test('a key without a profile is limited by nothing of this', async () => {
    const root = await createSubOrganization(parent, randomUUID());
    const plain = await addSessionKey(rows, root, {});
    expect(outcome(await plain.submit('create_read_only_session', {}))).toEqual([200, COMPLETED]);
  });

  test('extend and end sessions of their own profile only', async () => {
    const root = await createSubOrganization(parent, randomUUID());
    const profile = async () =>
      (await parent.run('create_session_profile', { sessionProfileName: randomUUID(), scope: 'true' }))
        .sessionProfileId as string;
    const sessionProfileId = await profile();
    const limited = await addSessionKey(rows, root, { sessionProfileId });
    const login = (publicKey: string, invalidateExisting = false) =>
      limited.submit('stamp_login', { publicKey, invalidateExisting });
    expect(outcome(await login(newKeyPair().publicKey, true))).toEqual([200, COMPLETED]);
    const again = await addSessionKey(rows, root, { sessionProfileId });
    const wide = await addSessionKey(rows, root);
    const asAgain = (publicKey: string, invalidateExisting: boolean) =>
      again.submit('stamp_login', { publicKey, invalidateExisting });
    expect(outcome(await asAgain(newKeyPair().publicKey, true))).toEqual(DENIED);
    expect(outcome(await asAgain(wide.key.publicKey, false))).toEqual(DENIED);
    expect(outcome(await asAgain(newKeyPair().publicKey, false))).toEqual([200, COMPLETED]);
    expect((await wide.query('whoami')).status).toBe(200);
    expect(outcome(await propose(wide))).toEqual([200, COMPLETED]);
  });
});
