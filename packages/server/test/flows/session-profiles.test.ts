import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPasskey } from '../fixtures/passkey.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import {
  addPasskey,
  addSessionKey,
  approve,
  COMPLETED,
  firstApiKeyId,
  outcome,
  PENDING,
  path,
  policyFor,
  propose,
  REJECTED,
  Rows,
  read,
  reject,
  tagNames,
  voters,
} from './fixtures/access.ts';

const IS_TAG = "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'";
const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];

/** What a denial says, without the id of the activity that was denied. */
const withoutIds = ({ status, body }: Answer) =>
  JSON.parse(JSON.stringify({ status, body }), (key, value) => (key === 'activityId' ? undefined : value));

describe.each(databasesOf(import.meta.url))('session profiles on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let rows: Rows;

  beforeAll(async () => {
    service = await openTestApp(database, { CUSTOS_DEV_INBOX: 'on' });
    parent = service.root;
    rows = await Rows.open(service.app.config);
  });
  afterAll(async () => {
    await rows?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  const newOrg = () => createSubOrganization(parent, `Org ${randomUUID()}`);
  const newProfile = async (scope: string): Promise<string> =>
    (await parent.run('create_session_profile', { sessionProfileName: randomUUID(), scope })).sessionProfileId;
  /** The client's user in a session of a new profile with this scope. */
  const sessionOf = async (client: TestClient, scope: string): Promise<TestClient> =>
    addSessionKey(rows, client, { sessionProfileId: await newProfile(scope) });
  const rename = (client: TestClient, userId = client.userId) =>
    client.submit('update_user_name', { userId, userName: `Name ${randomUUID()}` });

  describe('profiles', () => {
    test('are made by a parent, for itself and its sub-organizations', async () => {
      const sub = await newOrg();
      const parameters = { sessionProfileName: randomUUID(), scope: IS_TAG, expirationSeconds: '3600', notes: 'why' };
      expect(outcome(await sub.submit('create_session_profile', parameters))).toEqual([400, 'INVALID_ACTIVITY_CALLER']);
      const { sessionProfileId } = await parent.run('create_session_profile', parameters);
      for (const client of [parent, sub]) {
        const { sessionProfile } = (await client.query('get_session_profile', { sessionProfileId })).body;
        expect(sessionProfile).toMatchObject({ ...parameters, sessionProfileId });
        const { sessionProfiles } = (await client.query('get_session_profiles')).body;
        expect(sessionProfiles).toContainEqual(sessionProfile);
      }
      const unknown = await sub.query('get_session_profile', { sessionProfileId: randomUUID() });
      expect(outcome(unknown)).toEqual([404, 'RESOURCE_NOT_FOUND']);
    });

    test('never change: there is no operation for it', async () => {
      const sessionProfileId = await newProfile('true');
      for (const operation of ['update_session_profile', 'delete_session_profile', 'delete_session_profiles']) {
        const type = `ACTIVITY_TYPE_${operation.toUpperCase()}`;
        const body = JSON.stringify({
          type,
          timestampMs: String(Date.now()),
          organizationId: parent.organizationId,
          parameters: { sessionProfileId, sessionProfileIds: [sessionProfileId], scope: 'false' },
        });
        expect((await parent.sendStamped(path(operation), body)).status).toBe(404);
      }
      const { sessionProfile } = (await parent.query('get_session_profile', { sessionProfileId })).body;
      expect(sessionProfile.scope).toBe('true');
    });

    test('have a name each', async () => {
      const parameters = { sessionProfileName: randomUUID(), scope: 'true' };
      await parent.run('create_session_profile', parameters);
      expect(outcome(await parent.submit('create_session_profile', parameters))).toEqual([409, 'ALREADY_EXISTS']);
    });

    test.each([
      ['no scope', { scope: '' }, 'scope'],
      ['a scope that does not parse', { scope: 'activity.action ==' }, 'scope'],
      ['a scope of another type', { scope: '1 + 1' }, 'scope'],
      ['a scope that asks for approvers', { scope: 'approvers.count() > 1' }, 'scope'],
      ['a life of nothing', { expirationSeconds: '0' }, 'expirationSeconds'],
      ['a life beyond thirty days', { expirationSeconds: String(30 * 86_400 + 1) }, 'expirationSeconds'],
    ])('with %s is refused', async (_what, change, field) => {
      const parameters = { sessionProfileName: randomUUID(), scope: 'true', expirationSeconds: String(30 * 86_400) };
      const answer = await parent.submit('create_session_profile', { ...parameters, ...change });
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain(field);
      expect((await parent.submit('create_session_profile', parameters)).status).toBe(200);
    });
  });

  describe('a session', () => {
    test('whose scope covers the activity may do what its user may', async () => {
      const root = await newOrg();
      const session = await sessionOf(root, IS_TAG);
      expect(outcome(await propose(session, 'Covered'))).toEqual([200, COMPLETED]);
      expect(await tagNames(root)).toEqual(['Covered']);
      expect(outcome(await rename(session))).toEqual(DENIED);
      expect(outcome(await rename(root))).toEqual([200, COMPLETED]);
    });

    test('in the parent organization is narrowed in the same way', async () => {
      const user = await createUser(parent, `user ${randomUUID()}`);
      await policyFor(parent, user);
      const session = await sessionOf(user, IS_TAG);
      expect(outcome(await propose(session))).toEqual([200, COMPLETED]);
      expect(outcome(await rename(session))).toEqual(DENIED);
    });

    test('gets nothing from its scope that policies do not allow', async () => {
      const root = await newOrg();
      const user = await createUser(root, 'user');
      const session = await sessionOf(user, 'true');
      expect(outcome(await propose(session))).toEqual(DENIED);
      await policyFor(root, user, { condition: IS_TAG });
      expect(outcome(await propose(session))).toEqual([200, COMPLETED]);
      expect(outcome(await rename(session))).toEqual(DENIED);
      await policyFor(root, user, { effect: 'EFFECT_DENY', condition: IS_TAG });
      expect(outcome(await propose(session))).toEqual(DENIED);
    });

    test.each([
      ['is false', 'false'],
      ['is false for it', "activity.action == 'SIGN'"],
      ['breaks on what it does not have', 'eth.tx.value > 0'],
      ['breaks on a parameter', "activity.params.wallet_id == 'x' || true"],
    ])('whose scope %s is denied as if no policy allowed it', async (_what, scope) => {
      const root = await newOrg();
      const plain = await createUser(root, 'plain');
      const session = await sessionOf(root, scope);
      const denied = await propose(session, 'Never');
      expect(outcome(denied)).toEqual(DENIED);
      expect(withoutIds(denied)).toEqual(withoutIds(await propose(plain, 'Never')));
      expect(await tagNames(root)).toEqual([]);
      // It is stored, and the same bytes get the same answer.
      const { activityId } = denied.body.details.find((entry: { activityId?: string }) => entry.activityId);
      expect((await read(root, activityId)).status).toBe(REJECTED);
    });

    test('of a profile that is gone may do nothing', async () => {
      const root = await newOrg();
      const sessionProfileId = await newProfile('true');
      const session = await addSessionKey(rows, root, { sessionProfileId });
      expect(outcome(await propose(session))).toEqual([200, COMPLETED]);
      await rows.run('DELETE FROM session_profile WHERE id = ?', [sessionProfileId]);
      expect(outcome(await propose(session))).toEqual(DENIED);
      expect((await session.query('whoami')).status).toBe(200);
      const unknown = await addSessionKey(rows, root, { sessionProfileId: randomUUID() });
      expect(outcome(await propose(unknown))).toEqual(DENIED);
      expect(outcome(await propose(root))).toEqual([200, COMPLETED]);
    });

    test('reads whatever its scope says', async () => {
      const root = await newOrg();
      const session = await sessionOf(root, 'false');
      for (const operation of ['whoami', 'list_users', 'list_activities', 'get_organization_configs']) {
        expect((await session.query(operation)).status, operation).toBe(200);
      }
    });

    test('is denied before anybody asks for factors', async () => {
      const root = await newOrg();
      const session = await sessionOf(root, 'false');
      await root.run('create_mfa_policy', {
        userId: root.userId,
        mfaPolicyName: 'passkey',
        condition: IS_TAG,
        requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] }],
        order: 0,
      });
      expect(outcome(await propose(session))).toEqual(DENIED);
    });
  });

  describe('votes of a session', () => {
    async function twoMembers() {
      const root = await newOrg();
      const second = await createUser(root, 'second');
      const userIds = [root.userId, second.userId];
      const session = await sessionOf(second, IS_TAG);
      // A scope that names the vote itself covers no vote.
      const voting = await sessionOf(
        second,
        "activity.type == 'ACTIVITY_TYPE_APPROVE_ACTIVITY' || activity.type == 'ACTIVITY_TYPE_REJECT_ACTIVITY'",
      );
      await root.run('update_root_quorum', { threshold: 2, userIds });
      return { root, second, session, voting };
    }

    test('are judged by what is voted on', async () => {
      const { root, second, session, voting } = await twoMembers();
      const tag = (await propose(root, 'Voted')).body.activity;
      const name = (await rename(root)).body.activity;
      for (const { fingerprint, id } of [tag, name]) {
        expect(outcome(await approve(voting, fingerprint))).toEqual(DENIED);
        expect(outcome(await reject(voting, fingerprint))).toEqual(DENIED);
        expect(await read(root, id)).toMatchObject({ status: PENDING });
      }
      expect(outcome(await approve(session, name.fingerprint))).toEqual(DENIED);
      expect(outcome(await reject(session, name.fingerprint))).toEqual(DENIED);
      expect(voters(await read(root, name.id))).toEqual([root.userId]);
      expect(outcome(await approve(session, tag.fingerprint))).toEqual([200, COMPLETED]);
      expect(await tagNames(root)).toEqual(['Voted']);
      expect(outcome(await approve(second, name.fingerprint))).toEqual([200, COMPLETED]);
    });

    test('may reject what the scope covers', async () => {
      const { root, session } = await twoMembers();
      const { fingerprint } = (await propose(root)).body.activity;
      expect(outcome(await reject(session, fingerprint))).toEqual([200, REJECTED]);
    });

    test('by the bytes of the proposal are judged too', async () => {
      const { root, session } = await twoMembers();
      const body = root.submitBody('update_user_name', { userId: root.userId, userName: 'Bytes' });
      const { id } = (await root.sendStamped(path('update_user_name'), body)).body.activity;
      expect(outcome(await session.sendStamped(path('update_user_name'), body))).toEqual(DENIED);
      expect(voters(await read(root, id))).toEqual([root.userId]);
    });
  });

  describe('whatever its scope says, a session never changes', () => {
    const registration = () => newPasskey(`passkey ${randomUUID()}`).registration;
    const apiKeys = () => [
      { apiKeyName: randomUUID(), publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' },
    ];
    const newUser = () => ({
      userName: randomUUID(),
      apiKeys: apiKeys(),
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    });
    const invitationBy = ({ userId }: TestClient) => ({
      receiverUserName: 'Guest',
      receiverUserEmail: 'guest@example.com',
      receiverUserTags: [],
      accessType: 'ACCESS_TYPE_ALL',
      senderUserId: userId,
    });
    const mfa = {
      mfaPolicyName: 'm',
      condition: 'false',
      requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] }],
      order: 0,
    };

    test.each<[string, (root: TestClient) => Promise<Record<string, unknown>>]>([
      ['create_api_keys', async () => ({ apiKeys: apiKeys() })],
      [
        'delete_api_keys',
        async (root) => {
          const { apiKeyIds } = await root.run('create_api_keys', { userId: root.userId, apiKeys: apiKeys() });
          return { apiKeyIds };
        },
      ],
      ['create_authenticators', async () => ({ authenticators: [registration()] })],
      ['delete_authenticators', async (root) => ({ authenticatorIds: [(await addPasskey(root)).authenticatorId] })],
      ['create_users', async () => ({ users: [newUser()] })],
      [
        'create_api_only_users',
        async () => ({ apiOnlyUsers: [{ userName: randomUUID(), userTags: [], apiKeys: apiKeys() }] }),
      ],
      ['create_invitations', async (root) => ({ invitations: [invitationBy(root)] })],
      ['update_user_email', async () => ({ userEmail: 'mine@example.com' })],
      ['update_user_phone_number', async () => ({ userPhoneNumber: '+14155550123' })],
      ['update_user', async () => ({ userEmail: 'mine@example.com' })],
      ['create_mfa_policy', async () => mfa],
      [
        'update_mfa_policy',
        async (root) => ({
          mfaPolicyId: (await root.run('create_mfa_policy', { ...mfa, userId: root.userId })).mfaPolicyId,
          order: 3,
        }),
      ],
      [
        'delete_mfa_policy',
        async (root) => ({
          mfaPolicyId: (await root.run('create_mfa_policy', { ...mfa, userId: root.userId })).mfaPolicyId,
        }),
      ],
    ])('credentials and factors: %s', async (operation, prepare) => {
      const root = await newOrg();
      const session = await sessionOf(root, 'true');
      const parameters = { userId: root.userId, ...(await prepare(root)) };
      expect(outcome(await propose(session))).toEqual([200, COMPLETED]);
      expect(outcome(await session.submit(operation, parameters))).toEqual(DENIED);
      // Nor of anybody else.
      const other = await createUser(root, 'other');
      const foreign = await session.submit(operation, { ...parameters, userId: other.userId });
      expect(outcome(foreign)).toEqual(DENIED);
      // Without the session it is allowed.
      expect(outcome(await root.submit(operation, parameters))).toEqual([200, COMPLETED]);
    });

    test.each([
      ['create_users', { authenticators: [], oauthProviders: [] }],
      ['create_api_only_users', {}],
    ])('nor makes users with credentials: %s', async (operation, more) => {
      const root = await newOrg();
      const session = await sessionOf(root, 'true');
      const user = { userName: 'new', apiKeys: apiKeys(), userTags: [], ...more };
      const parameters = { [operation === 'create_users' ? 'users' : 'apiOnlyUsers']: [user] };
      expect(outcome(await session.submit(operation, parameters))).toEqual(DENIED);
      expect((await root.query('list_users')).body.users).toHaveLength(1);
      expect(outcome(await root.submit(operation, parameters))).toEqual([200, COMPLETED]);
    });

    test('by approving it either', async () => {
      const root = await newOrg();
      const second = await createUser(root, 'second');
      const session = await sessionOf(second, 'true');
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      const proposal = { userId: second.userId, apiKeys: apiKeys() };
      const { fingerprint, id } = (await root.submit('create_api_keys', proposal)).body.activity;
      expect(outcome(await approve(session, fingerprint))).toEqual(DENIED);
      expect((await read(root, id)).status).toBe(PENDING);
      expect(outcome(await approve(second, fingerprint))).toEqual([200, COMPLETED]);
    });
  });

  test('the key of a session can be deleted like any other, and ends with it', async () => {
    const root = await newOrg();
    const session = await sessionOf(root, 'true');
    expect((await session.query('whoami')).status).toBe(200);
    const { apiKeys } = (await root.query('get_api_keys', { userId: root.userId })).body;
    const own = await firstApiKeyId(root);
    const { apiKeyId } = apiKeys.find((key: { apiKeyId: string }) => key.apiKeyId !== own);
    await root.run('delete_api_keys', { userId: root.userId, apiKeyIds: [apiKeyId] });
    const body = JSON.stringify({ organizationId: root.organizationId });
    expect((await session.sendStamped('/public/v1/query/whoami', body)).status).toBe(401);
  });
});
