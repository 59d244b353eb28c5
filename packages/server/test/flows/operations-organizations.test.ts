import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';

const outcome = ({ status, body }: Answer) => [status, body.errorCode ?? body.activity.status];
const DONE = [200, 'ACTIVITY_STATUS_COMPLETED'];
const INVALID = [400, 'REQUEST_INVALID'];
const NO_QUORUM = [400, 'INVALID_QUORUM'];

const apiKey = (publicKey = newKeyPair().publicKey) => ({
  apiKeyName: 'key',
  publicKey,
  curveType: 'API_KEY_CURVE_P256',
});
const rootUser = (extra: Record<string, unknown> = {}) => ({
  userName: 'Owner',
  apiKeys: [apiKey()],
  authenticators: [],
  oauthProviders: [],
  ...extra,
});
const subOrganization = (extra: Record<string, unknown> = {}) => ({
  subOrganizationName: `Sub ${randomUUID()}`,
  rootQuorumThreshold: 1,
  rootUsers: [rootUser()],
  ...extra,
});

describe.each(databasesOf(import.meta.url))('organizations on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database, { CUSTOS_DEV_INBOX: 'on', CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8' });
    parent = service.root;
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const create = (extra: Record<string, unknown> = {}, overrides: Record<string, unknown> = {}) =>
    parent.submit('create_sub_organization', subOrganization(extra), overrides);
  const newSub = () => createSubOrganization(parent, `Sub ${randomUUID()}`);
  /** The parent's user asking about a sub-organization. */
  const above = (sub: TestClient) => new TestClient(parent.baseUrl, sub.organizationId, parent.key, parent.userId);
  const featureNames = async (client: TestClient): Promise<string[]> =>
    (await client.query('get_organization_configs')).body.configs.features.map(({ name }: { name: string }) => name);
  const listed = async (parameters: Record<string, unknown> = {}): Promise<string[]> =>
    (await parent.query('list_suborgs', parameters)).body.organizationIds;

  describe('create_sub_organization', () => {
    test('root user ids come in the order of the input and form the quorum', async () => {
      const rootUsers = ['a', 'b', 'c'].map((userName) => rootUser({ userName }));
      const answer = await create({ rootUsers, rootQuorumThreshold: 2 });
      const { subOrganizationId, rootUserIds } = answer.body.activity.result.createSubOrganizationResultV8;
      const { organizationData } = (await parent.query('get_organization', { organizationId: subOrganizationId })).body;
      expect(organizationData.users.map((user: Answer['body']) => [user.userName, user.userId])).toEqual([
        ['a', rootUserIds[0]],
        ['b', rootUserIds[1]],
        ['c', rootUserIds[2]],
      ]);
      expect(organizationData.rootQuorum).toEqual({ threshold: 2, userIds: rootUserIds });
    });

    test.each([0, 3, 4])('a threshold of %i for two root users is refused', async (rootQuorumThreshold) => {
      const rootUsers = [rootUser(), rootUser()];
      expect(outcome(await create({ rootUsers, rootQuorumThreshold }))).toEqual(NO_QUORUM);
    });

    test.each([-1, 1.5, '1', null, undefined])('a threshold of %j is malformed', async (rootQuorumThreshold) => {
      expect((await create({ rootQuorumThreshold })).status).toBe(400);
    });

    test('at least one root user, each with a credential or a contact', async () => {
      expect(outcome(await create({ rootUsers: [] }))).toEqual(INVALID);
      expect(outcome(await create({ rootUsers: [rootUser({ apiKeys: [] })] }))).toEqual(INVALID);
      const byEmail = rootUser({ apiKeys: [], userEmail: 'pre@example.com' });
      expect(outcome(await create({ rootUsers: [byEmail] }))).toEqual(DONE);
      const byPhone = rootUser({ apiKeys: [], userPhoneNumber: '+15550177777' });
      expect(outcome(await create({ rootUsers: [byPhone] }))).toEqual(DONE);
      for (const list of ['apiKeys', 'authenticators', 'oauthProviders']) {
        expect(outcome(await create({ rootUsers: [rootUser({ [list]: undefined })] })), list).toEqual(INVALID);
      }
    });

    test.each([
      [{}, ['EMAIL_AUTH', 'EMAIL_RECOVERY', 'OTP_EMAIL_AUTH', 'SMS_AUTH']],
      [{ disableEmailAuth: true }, ['EMAIL_RECOVERY', 'OTP_EMAIL_AUTH', 'SMS_AUTH']],
      [{ disableEmailRecovery: true }, ['EMAIL_AUTH', 'OTP_EMAIL_AUTH', 'SMS_AUTH']],
      [{ disableOtpEmailAuth: true }, ['EMAIL_AUTH', 'EMAIL_RECOVERY', 'SMS_AUTH']],
      [{ disableSmsAuth: true }, ['EMAIL_AUTH', 'EMAIL_RECOVERY', 'OTP_EMAIL_AUTH']],
      [
        { disableEmailAuth: false, disableSmsAuth: null },
        ['EMAIL_AUTH', 'EMAIL_RECOVERY', 'OTP_EMAIL_AUTH', 'SMS_AUTH'],
      ],
      [{ disableEmailAuth: true, disableEmailRecovery: true, disableOtpEmailAuth: true, disableSmsAuth: true }, []],
    ])('flags %j leave the features %j', async (flags, expected) => {
      const { subOrganizationId } = await parent.run('create_sub_organization', subOrganization(flags));
      const reader = new TestClient(parent.baseUrl, subOrganizationId, parent.key);
      expect(await featureNames(reader)).toEqual(expected.map((name) => `FEATURE_NAME_${name}`));
    });

    test('tokens that are none are refused', async () => {
      const oauthProviders = [{ providerName: 'p', oidcToken: 't' }];
      expect(outcome(await create({ verificationToken: 'token' }))).toEqual([400, 'INVALID_VERIFICATION_TOKEN']);
      const byToken = await create({ rootUsers: [rootUser({ oauthProviders })] });
      expect(outcome(byToken)).toEqual([400, 'INVALID_OIDC_TOKEN']);
    });

    test('a version that does not exist is refused', async () => {
      expect(outcome(await create({}, { type: 'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V9' }))).toEqual(INVALID);
    });

    test('a failure creates nothing', async () => {
      const subOrganizationName = `Failing ${randomUUID()}`;
      const publicKey = newKeyPair().publicKey;
      const rootUsers = [rootUser({ apiKeys: [apiKey(publicKey)] }), rootUser({ apiKeys: [apiKey(publicKey)] })];
      expect((await create({ subOrganizationName, rootUsers })).status).toBe(409);
      expect(await listed({ filterType: 'NAME', filterValue: subOrganizationName })).toEqual([]);
      expect(await listed({ filterType: 'PUBLIC_KEY', filterValue: publicKey })).toEqual([]);
    });

    test('names, contacts and keys may repeat across sub-organizations', async () => {
      const publicKey = newKeyPair().publicKey;
      const same = {
        subOrganizationName: 'Same name',
        rootUsers: [
          rootUser({ userEmail: 'same@example.com', userPhoneNumber: '+15550188888', apiKeys: [apiKey(publicKey)] }),
        ],
      };
      expect(outcome(await create(same))).toEqual(DONE);
      expect(outcome(await create(same))).toEqual(DONE);
      expect(await listed({ filterType: 'NAME', filterValue: 'Same name' })).toHaveLength(2);
    });

    test('a sub-organization cannot have sub-organizations', async () => {
      const sub = await newSub();
      const answer = await sub.submit('create_sub_organization', subOrganization());
      expect(outcome(answer)).toEqual([400, 'INVALID_ACTIVITY_CALLER']);
      const plain = await createUser(sub, 'plain');
      expect(outcome(await plain.submit('create_sub_organization', subOrganization()))).toEqual([
        400,
        'INVALID_ACTIVITY_CALLER',
      ]);
    });
  });

  describe('parent and child', () => {
    test('the parent reads its child and writes nothing there', async () => {
      const sub = await newSub();
      const reader = above(sub);
      expect((await reader.query('get_user', { userId: sub.userId })).body.user.userId).toBe(sub.userId);
      expect((await reader.query('list_activities')).body.activities).toEqual([]);
      const attempts: [string, unknown][] = [
        ['update_user_name', { userId: sub.userId, userName: 'taken over' }],
        ['create_api_keys', { userId: sub.userId, apiKeys: [apiKey()] }],
        // Its own id is no way in either.
        ['create_api_keys', { userId: parent.userId, apiKeys: [apiKey()] }],
        ['update_root_quorum', { threshold: 1, userIds: [parent.userId] }],
        ['delete_sub_organization', { deleteWithoutExport: true }],
      ];
      for (const [operation, parameters] of attempts) {
        expect(outcome(await reader.submit(operation, parameters)), operation).toEqual([400, 'ORGANIZATION_MISMATCH']);
      }
      expect((await reader.query('list_activities')).body.activities).toEqual([]);
    });

    test('flags of a child’s activity are false for the parent', async () => {
      const sub = await newSub();
      const second = await createUser(sub, 'second');
      await sub.run('update_root_quorum', { threshold: 2, userIds: [sub.userId, second.userId] });
      const pending = await sub.submit('update_user_name', { userId: sub.userId, userName: 'x' });
      const { id } = pending.body.activity;
      for (const organizationId of [sub.organizationId, parent.organizationId]) {
        const { activity } = (await parent.query('get_activity', { activityId: id, organizationId })).body;
        expect(activity).toMatchObject({ id, canApprove: false, canReject: false, organizationId: sub.organizationId });
      }
      expect((await second.query('get_activity', { activityId: id })).body.activity.canApprove).toBe(true);
    });

    test('a child cannot read its parent or a sibling', async () => {
      const [sub, sibling] = [await newSub(), await newSub()];
      const activityId = (await parent.query('list_activities', { paginationOptions: { limit: '1' } })).body
        .activities[0].id;
      expect((await sub.query('get_activity', { activityId })).status).toBe(404);
      for (const organizationId of [parent.organizationId, sibling.organizationId]) {
        const answer = await sub.query('list_users', { organizationId });
        expect(answer.body.errorCode).toBe('PUBLIC_KEY_NOT_FOUND');
      }
    });
  });

  describe('delete_sub_organization', () => {
    test('is for a sub-organization only', async () => {
      const answer = await parent.submit('delete_sub_organization', { deleteWithoutExport: true });
      expect(outcome(answer)).toEqual([400, 'INVALID_ACTIVITY_CALLER']);
    });

    test('ends every credential and leaves the history to the parent', async () => {
      const userEmail = `${randomUUID()}@example.com`;
      const sub = await newSub();
      const user = await createUser(sub, 'user', { userEmail });
      const organizationName = `Name ${randomUUID()}`;
      await sub.run('update_organization_name', { organizationName });
      const before = (await sub.query('list_activities')).body.activities;
      const answer = await sub.submit('delete_sub_organization', {});
      expect(answer.body.activity.result).toEqual({
        deleteSubOrganizationResult: { subOrganizationUuid: sub.organizationId },
      });

      for (const client of [sub, user]) {
        const gone = [404, 'ORGANIZATION_NOT_FOUND'];
        const query = await client.query('whoami');
        expect([query.status, query.body.errorCode]).toEqual(gone);
        expect(outcome(await client.submit('update_user_name', { userId: sub.userId, userName: 'x' }))).toEqual(gone);
        // Nor does the parent's id find it any more.
        const byParent = await client.query('whoami', { organizationId: parent.organizationId });
        expect(byParent.body.errorCode).toBe('PUBLIC_KEY_NOT_FOUND');
      }
      const reader = above(sub);
      const after = (await reader.query('list_activities')).body.activities;
      expect(after).toHaveLength(before.length + 1);
      expect(after[0].id).toBe(answer.body.activity.id);
      expect(after.slice(1).map((activity: { id: string }) => activity.id)).toEqual(
        before.map((activity: { id: string }) => activity.id),
      );
      expect((await reader.query('get_activity', { activityId: after[1].id })).status).toBe(200);
      const { organizationData } = (await reader.query('get_organization')).body;
      expect(organizationData).toMatchObject({
        organizationId: sub.organizationId,
        name: organizationName,
        users: [],
        features: [],
      });
      expect(outcome(await reader.submit('update_user_name', { userId: sub.userId, userName: 'x' }))).toEqual([
        404,
        'ORGANIZATION_NOT_FOUND',
      ]);
      // The lists of the parent no longer have it.
      expect(await listed()).not.toContain(sub.organizationId);
      expect(await listed({ filterType: 'NAME', filterValue: organizationName })).toEqual([]);
      expect(await listed({ filterType: 'EMAIL', filterValue: userEmail })).toEqual([]);
      expect(await listed({ filterType: 'PUBLIC_KEY', filterValue: sub.key.publicKey })).toEqual([]);
      // But its id is still a place to page on from.
      const page = await parent.query('list_suborgs', { paginationOptions: { after: sub.organizationId } });
      expect(page.status).toBe(200);
    });

    test('needs the quorum of the sub-organization', async () => {
      const sub = await newSub();
      const second = await createUser(sub, 'second');
      await sub.run('update_root_quorum', { threshold: 2, userIds: [sub.userId, second.userId] });
      const proposed = await sub.submit('delete_sub_organization', { deleteWithoutExport: false });
      expect(proposed.body.activity.status).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      expect(await listed({ paginationOptions: { limit: '100' } })).toContain(sub.organizationId);
      const done = await second.submit('approve_activity', { fingerprint: proposed.body.activity.fingerprint });
      expect(outcome(done)).toEqual(DONE);
      expect((await sub.query('whoami')).body.errorCode).toBe('ORGANIZATION_NOT_FOUND');
    });
  });

  describe('update_root_quorum', () => {
    test.each([
      ['no threshold', (id: string) => ({ threshold: 0, userIds: [id] })],
      ['more than there are members', (id: string) => ({ threshold: 2, userIds: [id] })],
      ['a member twice', (id: string) => ({ threshold: 1, userIds: [id, id] })],
      ['a member twice in two spellings', (id: string) => ({ threshold: 1, userIds: [id, id.toUpperCase()] })],
      ['somebody unknown', (id: string) => ({ threshold: 1, userIds: [id, randomUUID()] })],
    ])('%s is refused', async (_what, quorum) => {
      const sub = await newSub();
      expect(outcome(await sub.submit('update_root_quorum', quorum(sub.userId)))).toEqual(NO_QUORUM);
      const { quorum: kept } = (await sub.query('get_organization_configs')).body.configs;
      expect(kept).toEqual({ threshold: 1, userIds: [sub.userId] });
    });

    test.each([{ threshold: '1' }, { threshold: 1.5 }, { threshold: -1 }, { userIds: [] }, { userIds: ['x'] }])(
      '%j is malformed',
      async (part) => {
        const sub = await newSub();
        const parameters = { threshold: 1, userIds: [sub.userId], ...part };
        expect((await sub.submit('update_root_quorum', parameters)).status).toBe(400);
      },
    );

    test('is decided by the quorum that is, not by the one to come', async () => {
      const sub = await newSub();
      const next = await createUser(sub, 'next');
      await sub.run('update_root_quorum', { threshold: 1, userIds: [next.userId] });
      // The old root has no rights left, the new one has them all.
      const rename = (client: TestClient) => client.submit('update_user_name', { userId: sub.userId, userName: 'x' });
      expect(outcome(await rename(sub))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      expect(outcome(await rename(next))).toEqual(DONE);
    });
  });

  describe('features', () => {
    const set = (client: TestClient, name: string, value: unknown) =>
      client.submit('set_organization_feature', { name, value });

    test('a value is required, the empty string is one', async () => {
      const sub = await newSub();
      expect(outcome(await set(sub, 'FEATURE_NAME_EMAIL_AUTH', undefined))).toEqual(INVALID);
      expect(outcome(await set(sub, 'FEATURE_NAME_EMAIL_AUTH', null))).toEqual(INVALID);
      expect(outcome(await set(sub, 'FEATURE_NAME_EMAIL_AUTH', true))).toEqual(INVALID);
      expect(outcome(await set(sub, 'FEATURE_NAME_EMAIL_AUTH', ''))).toEqual(DONE);
      expect(outcome(await set(sub, 'FEATURE_NAME_NOTHING', 'x'))).toEqual(INVALID);
    });

    test.each([
      ['ROOT_USER_EMAIL_RECOVERY', 'true', 'yes'],
      ['EMAIL_AUTH', 'false', 'TRUE'],
      ['EMAIL_RECOVERY', '', '1'],
      ['SMS_AUTH', 'true', ' true'],
      ['OTP_EMAIL_AUTH', 'false', 'on'],
      ['SOLANA_RENT_PREFUND_ENABLED', 'true', 'maybe'],
      ['SWAP_CONFIG', '{"a":1}', '[1]'],
      ['EARN_CONFIG', '{}', 'text'],
      ['WEBAUTHN_ORIGINS', 'https://a.example,http://localhost:3000', 'https://a.example/path'],
      ['WEBAUTHN_ORIGINS', '["https://a.example","https://b.example:8443"]', 'ftp://a.example'],
      ['WEBAUTHN_ORIGINS', 'https://a.example', 'http://a.example'],
    ])('%s understands %j and refuses %j', async (suffix, good, bad) => {
      const sub = await newSub();
      const name = `FEATURE_NAME_${suffix}`;
      const answer = await set(sub, name, good);
      expect(outcome(answer), JSON.stringify(answer.body)).toEqual(DONE);
      expect(answer.body.activity.result.setOrganizationFeatureResult.features).toContainEqual({ name, value: good });
      expect(outcome(await set(sub, name, bad))).toEqual([400, 'INVALID_FEATURE_VALUE']);
      const { features } = (await sub.query('get_organization_configs')).body.configs;
      expect(features).toContainEqual({ name, value: good });
    });

    test('setting again overrides, removing what is not there is fine', async () => {
      const sub = await newSub();
      const swaps = 'FEATURE_NAME_SWAP_CONFIG';
      await set(sub, swaps, '{"of":1}');
      const { body } = await set(sub, swaps, '{"of":2}');
      const { features } = body.activity.result.setOrganizationFeatureResult;
      expect(features.filter(({ name }: { name: string }) => name === swaps)).toEqual([
        { name: swaps, value: '{"of":2}' },
      ]);
      const remove = () => sub.run('remove_organization_feature', { name: swaps });
      const left = await remove();
      expect(left.features).toHaveLength(4);
      expect(await remove()).toEqual(left);
    });

    test('FEATURE_NAME_WEBHOOK understands URLs that may be called and refuses others', async () => {
      const sub = await newSub();
      const name = 'FEATURE_NAME_WEBHOOK';
      // Nobody listens there; where somebody does is in webhooks.test.ts.
      const value = 'http://127.0.0.1:9/hook';
      const answer = await set(sub, name, value);
      expect(outcome(answer), JSON.stringify(answer.body)).toEqual(DONE);
      expect(answer.body.activity.result.setOrganizationFeatureResult.features).toContainEqual({ name, value });
      for (const bad of ['true', 'http://10.0.0.1/hook', 'https://127.0.0.1:9/#part', ' ']) {
        expect(outcome(await set(sub, name, bad)), bad).toEqual([400, 'INVALID_WEBHOOK_URL']);
      }
      const { webhookEndpoints } = (await sub.query('list_webhook_endpoints')).body;
      expect(webhookEndpoints).toMatchObject([{ url: value, isActive: true }]);
      const left = await sub.run('remove_organization_feature', { name });
      expect(left.features).not.toContainEqual(expect.objectContaining({ name }));
      expect((await sub.query('list_webhook_endpoints')).body.webhookEndpoints).toEqual([]);
    });

    test('an opaque value with NUL is refused or kept, never an internal error', async () => {
      const answer = await set(parent, 'FEATURE_NAME_AUTH_PROXY', 'a\u0000b');
      expect([200, 400]).toContain(answer.status);
    });
  });

  describe('invitations', () => {
    const invite = (client: TestClient, extra: Record<string, unknown> = {}) =>
      client.submit('create_invitations', {
        invitations: [
          {
            receiverUserName: 'Guest',
            receiverUserEmail: 'Guest@EXAMPLE.com',
            receiverUserTags: [],
            accessType: 'ACCESS_TYPE_WEB',
            senderUserId: client.userId,
            ...extra,
          },
        ],
      });

    test('the sender is the proposer', async () => {
      const sub = await newSub();
      const other = await createUser(sub, 'other');
      expect(outcome(await invite(sub))).toEqual(DONE);
      const forged = await invite(sub, { senderUserId: other.userId });
      expect([forged.status, forged.body.code]).toEqual([400, 3]);
      // Also when somebody else's vote completes it.
      await sub.run('update_root_quorum', { threshold: 2, userIds: [sub.userId, other.userId] });
      const pending = await invite(sub);
      const { fingerprint } = pending.body.activity;
      expect(outcome(await other.submit('approve_activity', { fingerprint }))).toEqual(DONE);
      const asOther = await invite(sub, { senderUserId: other.userId });
      const failed = await other.submit('approve_activity', { fingerprint: asOther.body.activity.fingerprint });
      expect(failed.body.activity.status).toBe('ACTIVITY_STATUS_FAILED');
    });

    test.each([
      { accessType: 'ACCESS_TYPE_NONE' },
      { accessType: null },
      { receiverUserEmail: '' },
      { receiverUserEmail: 'nobody' },
      { receiverUserName: '' },
      { receiverUserTags: null },
      { senderUserId: 'me' },
    ])('%j is malformed', async (part) => {
      const sub = await newSub();
      expect((await invite(sub, part)).status).toBe(400);
      expect((await sub.submit('create_invitations', { invitations: [] })).status).toBe(400);
    });

    test('only an open one can be revoked, and it stays on record', async () => {
      const sub = await newSub();
      const { body } = await invite(sub);
      const [invitationId] = body.activity.result.createInvitationsResult.invitationIds;
      expect(outcome(await sub.submit('delete_invitation', { invitationId }))).toEqual(DONE);
      expect(outcome(await sub.submit('delete_invitation', { invitationId }))).toEqual([400, 'FAILED_PRECONDITION']);
      expect(outcome(await sub.submit('delete_invitation', { invitationId: randomUUID() }))).toEqual([
        404,
        'RESOURCE_NOT_FOUND',
      ]);
      const [stored] = (await sub.query('get_organization')).body.organizationData.invitations;
      expect(stored).toMatchObject({
        invitationId,
        status: 'INVITATION_STATUS_REVOKED',
        receiverEmail: 'Guest@example.com',
      });
    });
  });

  describe('list_suborgs', () => {
    test('finds by each filter, exactly', async () => {
      const unique = randomUUID();
      const key = newKeyPair();
      const userEmail = `Case.${unique}@Example.com`;
      const { subOrganizationId } = await parent.run('create_sub_organization', {
        subOrganizationName: `Org ${unique}`,
        rootQuorumThreshold: 1,
        rootUsers: [
          rootUser({
            userName: `User ${unique}`,
            userEmail,
            userPhoneNumber: '+15550199999',
            apiKeys: [apiKey(key.publicKey)],
          }),
        ],
      });
      const find = (filterType: string, filterValue: string) => listed({ filterType, filterValue });
      expect(await find('NAME', `Org ${unique}`)).toEqual([subOrganizationId]);
      expect(await find('NAME', `org ${unique}`)).toEqual([]);
      expect(await find('NAME', 'Org')).toEqual([]);
      expect(await find('USERNAME', `User ${unique}`)).toEqual([subOrganizationId]);
      expect(await find('USERNAME', `user ${unique}`)).toEqual([]);
      expect(await find('EMAIL', userEmail.toUpperCase())).toEqual([subOrganizationId]);
      expect(await find('PHONE_NUMBER', '+15550199999')).toEqual([subOrganizationId]);
      expect(await find('PUBLIC_KEY', key.publicKey)).toEqual([subOrganizationId]);
      expect(await find('PUBLIC_KEY', '%')).toEqual([]);
      expect(await find('PUBLIC_KEY', newKeyPair().publicKey)).toEqual([]);
      expect(await find('CREDENTIAL_ID', 'AAAA')).toEqual([]);
      // An unverified contact is not a verified one.
      const verified = (parameters: object) => parent.query('list_verified_suborgs', { ...parameters });
      expect((await verified({ filterType: 'EMAIL', filterValue: userEmail })).body.organizationIds).toEqual([]);
      expect((await verified({})).body.organizationIds).toEqual([]);
    });

    test('follows changes', async () => {
      const sub = await newSub();
      const unique = randomUUID();
      const { userId } = sub;
      await sub.run('update_user', { userId, userName: `N ${unique}`, userEmail: `${unique}@example.com` });
      await sub.run('update_organization_name', { organizationName: `O ${unique}` });
      const find = (filterType: string, filterValue: string) => listed({ filterType, filterValue });
      expect(await find('USERNAME', `N ${unique}`)).toEqual([sub.organizationId]);
      expect(await find('EMAIL', `${unique}@example.com`)).toEqual([sub.organizationId]);
      expect(await find('NAME', `O ${unique}`)).toEqual([sub.organizationId]);
      await sub.run('update_user_email', { userId, userEmail: '' });
      expect(await find('EMAIL', `${unique}@example.com`)).toEqual([]);
      await sub.run('update_user_name', { userId, userName: 'Other' });
      expect(await find('USERNAME', `N ${unique}`)).toEqual([]);
    });

    test('what is not a filter is refused', async () => {
      const ask = (operation: string, parameters: Record<string, unknown>) => parent.query(operation, parameters);
      for (const operation of ['list_suborgs', 'list_verified_suborgs']) {
        for (const parameters of [
          { filterType: 'COLOUR', filterValue: 'x' },
          { filterType: 'EMAIL' },
          { filterType: 'EMAIL', filterValue: '' },
          { filterValue: 'x' },
          { filterType: 5, filterValue: 'x' },
          { filterType: '__proto__', filterValue: 'x' },
          { filterType: 'constructor', filterValue: 'x' },
        ]) {
          const answer = await ask(operation, parameters);
          expect([answer.status, answer.body.errorCode], JSON.stringify(parameters)).toEqual(INVALID);
        }
        expect((await ask(operation, { filterType: null, filterValue: null })).status).toBe(200);
      }
      const token = await ask('list_suborgs', { filterType: 'OIDC_TOKEN', filterValue: 'x' });
      expect([token.status, token.body.errorCode]).toEqual([400, 'INVALID_OIDC_TOKEN']);
      const name = await ask('list_verified_suborgs', { filterType: 'NAME', filterValue: 'x' });
      expect([name.status, name.body.errorCode]).toEqual(INVALID);
    });

    test('a value with NUL finds nothing, and is no internal error', async () => {
      for (const operation of ['list_suborgs', 'list_verified_suborgs']) {
        const answer = await parent.query(operation, { filterType: 'EMAIL', filterValue: 'a\u0000b' });
        expect([200, 400]).toContain(answer.status);
      }
    });
  });

  test('the history begins with the creation of the organization, which nobody voted on', async () => {
    const { activities } = (await parent.query('list_activities')).body;
    const genesis = activities.at(-1);
    expect(genesis).toMatchObject({
      type: 'ACTIVITY_TYPE_CREATE_ORGANIZATION_V2',
      status: 'ACTIVITY_STATUS_COMPLETED',
      result: { createOrganizationResult: { organizationId: parent.organizationId } },
      votes: [],
      canApprove: false,
      canReject: false,
    });
    expect(Object.keys(genesis.intent)).toEqual(['createOrganizationIntentV2']);
  });

  test('whoami of a renamed organization and user', async () => {
    const sub = await newSub();
    await sub.run('update_organization_name', { organizationName: ' Renamed ' });
    await sub.run('update_user_name', { userId: sub.userId, userName: 'Me' });
    expect((await sub.query('whoami')).body).toEqual({
      organizationId: sub.organizationId,
      organizationName: 'Renamed',
      userId: sub.userId,
      username: 'Me',
    });
  });
});
