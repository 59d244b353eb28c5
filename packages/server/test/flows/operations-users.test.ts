import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';

const apiKey = (publicKey = newKeyPair().publicKey, apiKeyName = 'key') => ({
  apiKeyName,
  publicKey,
  curveType: 'API_KEY_CURVE_P256',
});
const person = (extra: Record<string, unknown> = {}) => ({
  userName: 'Person',
  apiKeys: [apiKey()],
  authenticators: [],
  oauthProviders: [],
  userTags: [],
  ...extra,
});

const outcome = ({ status, body }: Answer) => [status, body.errorCode ?? body.activity.status];
const DONE = [200, 'ACTIVITY_STATUS_COMPLETED'];
const EXISTS = [409, 'ALREADY_EXISTS'];
const MISSING = [404, 'RESOURCE_NOT_FOUND'];
const INVALID = [400, 'REQUEST_INVALID'];

describe.each(databasesOf(import.meta.url))('users and tags on %s', (database) => {
  let service: TestApp;
  let parent: TestClient;
  let root: TestClient;

  beforeAll(async () => {
    service = await openTestApp(database, { CUSTOS_DEV_INBOX: 'on' });
    parent = service.root;
  });
  afterAll(() => service[Symbol.asyncDispose]());
  beforeEach(async () => {
    root = await createSubOrganization(parent, `Org ${randomUUID()}`);
  });

  const create = (...users: Record<string, unknown>[]) => root.submit('create_users', { users });
  const readUser = async (userId: string) => (await root.query('get_user', { userId })).body.user;
  const activityCount = async () => (await root.query('list_activities')).body.activities.length;

  describe('create_users', () => {
    test('answers ids in the order of the input', async () => {
      const { userIds } = await root.run('create_users', {
        users: ['a', 'b', 'c', 'd'].map((userName) => person({ userName })),
      });
      const names = await Promise.all(userIds.map(async (userId: string) => (await readUser(userId)).userName));
      expect(names).toEqual(['a', 'b', 'c', 'd']);
    });

    test('is all or nothing', async () => {
      const taken = newKeyPair().publicKey;
      expect(outcome(await create(person({ apiKeys: [apiKey(taken)] })))).toEqual(DONE);
      const before = await activityCount();
      expect(outcome(await create(person({ userName: 'x' }), person({ apiKeys: [apiKey(taken)] })))).toEqual(EXISTS);
      const { users } = (await root.query('list_users')).body;
      expect(users.map((user: { userName: string }) => user.userName)).not.toContain('x');
      // A failure in the proposer's own call stores nothing (protocol/activities 3.3).
      expect(await activityCount()).toBe(before);
    });

    test('wants a credential or a contact for each user', async () => {
      expect(outcome(await create(person({ apiKeys: [] })))).toEqual(INVALID);
      expect(outcome(await create(person({ apiKeys: [], userEmail: '', userPhoneNumber: '' })))).toEqual(INVALID);
      expect(outcome(await create(person({ apiKeys: [], userEmail: 'only@example.com' })))).toEqual(DONE);
      expect(outcome(await create(person({ apiKeys: [], userPhoneNumber: '+15550100000' })))).toEqual(DONE);
    });

    test('OAuth providers need a token of their issuer', async () => {
      const oauthProviders = [{ providerName: 'google', oidcToken: 'abc' }];
      expect(outcome(await create(person({ oauthProviders })))).toEqual([400, 'INVALID_OIDC_TOKEN']);
    });

    test('user names may repeat', async () => {
      expect(outcome(await create(person(), person()))).toEqual(DONE);
    });

    test('the three lists and the tags are required', async () => {
      for (const list of ['apiKeys', 'authenticators', 'oauthProviders', 'userTags']) {
        expect(outcome(await create(person({ [list]: undefined }))), list).toEqual(INVALID);
        expect(outcome(await create(person({ [list]: null }))), list).toEqual(INVALID);
      }
    });
  });

  describe('names', () => {
    const named = (userName: unknown) => create(person({ userName }));

    test.each([
      ['one character', 'x'],
      ['255 characters', 'x'.repeat(255)],
      ['255 code points outside the basic plane', '😀'.repeat(255)],
      ['right-to-left text', 'שלום'],
    ])('%s is a name', async (_what, name) => expect(outcome(await named(name))).toEqual(DONE));

    test.each([
      ['the empty string', ''],
      ['white space only', ' \u00a0 '],
      ['256 characters', 'x'.repeat(256)],
      ['256 code points outside the basic plane', '😀'.repeat(256)],
      ['a line feed inside', 'a\nb'],
      ['NUL', 'a\u0000b'],
      ['DEL', 'a\u007fb'],
      ['a control character of the second block', 'a\u0085b'],
      ['a number', 12],
    ])('%s is not', async (_what, name) => expect(outcome(await named(name))).toEqual(INVALID));

    test('surrounding white space is not part of a name, but of the signed intent', async () => {
      const answer = await named('  Ada Lovelace\u00a0 ');
      const [userId] = answer.body.activity.result.createUsersResult.userIds;
      expect((await readUser(userId)).userName).toBe('Ada Lovelace');
      expect(answer.body.activity.intent.createUsersIntentV4.users[0].userName).toBe('  Ada Lovelace\u00a0 ');
    });
  });

  describe('contacts', () => {
    test.each(['a@example.com', 'first.last+tag@sub.example.co.uk', `${'l'.repeat(64)}@example.com`, 'ü@example.com'])(
      '%s is an email',
      async (userEmail) => expect(outcome(await create(person({ userEmail })))).toEqual(DONE),
    );

    test.each([
      'plain',
      '@example.com',
      'a@',
      'a@b@example.com',
      'a b@example.com',
      'a@exa mple.com',
      'a@.example.com',
      'a@example..com',
      `${'l'.repeat(65)}@example.com`,
      `a@${'d'.repeat(60)}.${'d'.repeat(60)}.${'d'.repeat(60)}.${'d'.repeat(60)}.${'d'.repeat(12)}`,
      'a\n@example.com',
    ])('%j is not', async (userEmail) => {
      const answer = await create(person({ userEmail }));
      expect(answer.status).toBe(400);
      expect(answer.body.code).toBe(3);
    });

    test('a bad email has its own code', async () => {
      expect(outcome(await create(person({ userEmail: 'plain' })))).toEqual([400, 'INVALID_EMAIL']);
    });

    test('the domain is stored in lower case, the local part as given', async () => {
      const user = await createUser(root, 'Mixed', { userEmail: 'First.Last@EXAMPLE.Com' });
      expect((await readUser(user.userId)).userEmail).toBe('First.Last@example.com');
    });

    test.each(['+12345678', '+123456789012345'])('%s is a phone number', async (userPhoneNumber) =>
      expect(outcome(await create(person({ userPhoneNumber })))).toEqual(DONE),
    );

    test.each([
      '+1234567',
      '+1234567890123456',
      '15550100000',
      '+1 555 010 0000',
      '+1555010000a',
      '+',
      '++15550100000',
    ])('%j is not', async (userPhoneNumber) =>
      expect(outcome(await create(person({ userPhoneNumber })))).toEqual(INVALID),
    );

    test('an email is one user of an organization, whatever its case', async () => {
      const first = await createUser(root, 'First', { userEmail: 'taken@example.com' });
      expect(outcome(await create(person({ userEmail: 'TAKEN@example.com' })))).toEqual(EXISTS);
      const second = await createUser(root, 'Second', { userEmail: 'free@example.com' });
      const update = (userEmail: string) => root.submit('update_user_email', { userId: second.userId, userEmail });
      expect(outcome(await update('Taken@Example.com'))).toEqual(EXISTS);
      expect((await readUser(second.userId)).userEmail).toBe('free@example.com');
      expect(
        outcome(await root.submit('update_user', { userId: second.userId, userEmail: 'taken@example.com' })),
      ).toEqual(EXISTS);
      // Another organization may have it, and it is free again once its user is gone.
      const elsewhere = await createSubOrganization(parent, 'Elsewhere');
      await createUser(elsewhere, 'Same', { userEmail: 'taken@example.com' });
      await root.run('delete_users', { userIds: [first.userId] });
      expect(outcome(await update('taken@example.com'))).toEqual(DONE);
    });

    test('a phone number is one user of an organization', async () => {
      await createUser(root, 'First', { userPhoneNumber: '+15550111111' });
      expect(outcome(await create(person({ userPhoneNumber: '+15550111111' })))).toEqual(EXISTS);
      const second = await createUser(root, 'Second');
      const update = { userId: second.userId, userPhoneNumber: '+15550111111' };
      expect(outcome(await root.submit('update_user_phone_number', update))).toEqual(EXISTS);
      await createUser(await createSubOrganization(parent, 'Elsewhere'), 'Same', { userPhoneNumber: '+15550111111' });
    });

    test('two users of one request cannot share a contact', async () => {
      const email = { userEmail: 'twin@example.com' };
      expect((await create(person(email), person({ userEmail: 'TWIN@example.com' }))).status).toBe(400);
      const phone = { userPhoneNumber: '+15550122222' };
      expect((await create(person(phone), person(phone))).status).toBe(400);
    });

    test('an empty string removes a contact', async () => {
      const contacts = { userEmail: 'gone@example.com', userPhoneNumber: '+15550133333' };
      const { userId } = await createUser(root, 'Contacts', contacts);
      expect(await readUser(userId)).toMatchObject(contacts);
      await root.run('update_user_email', { userId, userEmail: '' });
      await root.run('update_user_phone_number', { userId, userPhoneNumber: '' });
      const user = await readUser(userId);
      expect(user).not.toHaveProperty('userEmail');
      expect(user).not.toHaveProperty('userPhoneNumber');
      // And frees it for another user.
      await createUser(root, 'Next', contacts);
      const both = { userId, userEmail: 'back@example.com', userPhoneNumber: '+15550144444' };
      await root.run('update_user', both);
      expect(await readUser(userId)).toMatchObject({ userEmail: 'back@example.com', userPhoneNumber: '+15550144444' });
      await root.run('update_user', { userId, userEmail: '', userPhoneNumber: '' });
      expect(await readUser(userId)).not.toHaveProperty('userEmail');
    });

    test('a verification token must be one of ours', async () => {
      const { userId } = root;
      const email = { userId, userEmail: 'a@example.com', verificationToken: 'abc' };
      const phone = { userId, userPhoneNumber: '+15550155555', verificationToken: 'abc' };
      for (const answer of [
        await root.submit('update_user_email', email),
        await root.submit('update_user_phone_number', phone),
      ]) {
        expect(outcome(answer)).toEqual([400, 'INVALID_VERIFICATION_TOKEN']);
      }
    });

    test('the same value again changes nothing and is no conflict', async () => {
      const { userId } = await createUser(root, 'Same', { userEmail: 'same@example.com' });
      expect(outcome(await root.submit('update_user_email', { userId, userEmail: 'same@example.com' }))).toEqual(DONE);
      expect(outcome(await root.submit('update_user_email', { userId, userEmail: 'SAME@example.com' }))).toEqual(DONE);
      expect((await readUser(userId)).userEmail).toBe('SAME@example.com');
    });
  });

  describe('update_user', () => {
    test('changes only what is there', async () => {
      const { userTagId } = await root.run('create_user_tag', { userTagName: 'tag', userIds: [] });
      const contacts = { userEmail: 'stay@example.com', userPhoneNumber: '+15550166666' };
      const { userId } = await createUser(root, 'Old', { ...contacts, userTags: [userTagId] });
      const unchanged = await readUser(userId);
      await root.run('update_user', { userId });
      expect(await readUser(userId)).toEqual({ ...unchanged, updatedAt: expect.anything() });
      await root.run('update_user', { userId, userName: 'New' });
      expect(await readUser(userId)).toMatchObject({ userName: 'New', ...contacts, userTags: [userTagId] });
    });

    test('an empty list of tags changes nothing, another one replaces them all', async () => {
      const ids: string[] = [];
      for (const userTagName of ['one', 'two', 'three']) {
        ids.push((await root.run('create_user_tag', { userTagName, userIds: [] })).userTagId);
      }
      const [one, two, three] = ids;
      const { userId } = await createUser(root, 'Tagged', { userTags: [one, two] });
      await root.run('update_user', { userId, userTagIds: [] });
      expect((await readUser(userId)).userTags).toEqual([one, two]);
      await root.run('update_user', { userId, userTagIds: [three, three, two] });
      expect((await readUser(userId)).userTags).toEqual([two, three]);
      const unknown = await root.submit('update_user', { userId, userName: 'Half', userTagIds: [one, randomUUID()] });
      expect(outcome(unknown)).toEqual(MISSING);
      expect(await readUser(userId)).toMatchObject({ userName: 'Tagged', userTags: [two, three] });
      await root.run('update_user_tag', { userTagId: two, addUserIds: [], removeUserIds: [userId] });
      await root.run('update_user_tag', { userTagId: three, addUserIds: [], removeUserIds: [userId] });
      expect((await readUser(userId)).userTags).toEqual([]);
    });
  });

  describe('tags', () => {
    test('names are unique per organization, case-sensitive, of live tags only', async () => {
      const make = (userTagName: string, client = root) =>
        client.submit('create_user_tag', { userTagName, userIds: [] });
      const first = await make('Admins');
      expect(outcome(first)).toEqual(DONE);
      expect(outcome(await make('Admins'))).toEqual(EXISTS);
      expect(outcome(await make(' Admins '))).toEqual(EXISTS);
      expect(outcome(await make('admins'))).toEqual(DONE);
      expect(outcome(await make('Admins', await createSubOrganization(parent, 'Elsewhere')))).toEqual(DONE);
      const other = (await make('Others')).body.activity.result.createUserTagResult.userTagId;
      const rename = () =>
        root.submit('update_user_tag', {
          userTagId: other,
          newUserTagName: 'Admins',
          addUserIds: [],
          removeUserIds: [],
        });
      expect(outcome(await rename())).toEqual(EXISTS);
      await root.run('delete_user_tags', { userTagIds: [first.body.activity.result.createUserTagResult.userTagId] });
      expect(outcome(await rename())).toEqual(DONE);
    });

    test('deleting tags answers the users that lost one', async () => {
      const user = await createUser(root, 'User');
      const both = { userIds: [user.userId, root.userId] };
      const { userTagId: a } = await root.run('create_user_tag', { userTagName: 'a', ...both });
      const { userTagId: b } = await root.run('create_user_tag', { userTagName: 'b', userIds: [user.userId] });
      const { userTagId: c } = await root.run('create_user_tag', { userTagName: 'c', userIds: [] });
      const result = await root.run('delete_user_tags', { userTagIds: [a, b, c, a] });
      expect([...result.userTagIds].sort()).toEqual([a, b, c].sort());
      expect([...result.userIds].sort()).toEqual([user.userId, root.userId].sort());
      expect(outcome(await root.submit('delete_user_tags', { userTagIds: [a] }))).toEqual(MISSING);
    });

    test('adding twice and removing what is not there is fine', async () => {
      const { userTagId } = await root.run('create_user_tag', {
        userTagName: 't',
        userIds: [root.userId, root.userId],
      });
      const { userId } = await createUser(root, 'User');
      await root.run('update_user_tag', { userTagId, addUserIds: [root.userId, userId], removeUserIds: [] });
      await root.run('update_user_tag', { userTagId, addUserIds: [], removeUserIds: [userId] });
      await root.run('update_user_tag', { userTagId, addUserIds: [], removeUserIds: [userId] });
      expect((await readUser(root.userId)).userTags).toEqual([userTagId]);
      expect((await readUser(userId)).userTags).toEqual([]);
      expect((await root.query('list_user_tags')).body.userTags[0].tagName).toBe('t');
      const unknown = { userTagId: randomUUID(), addUserIds: [], removeUserIds: [] };
      expect(outcome(await root.submit('update_user_tag', unknown))).toEqual(MISSING);
    });
  });

  describe('delete_users', () => {
    test('a quorum member must leave the quorum first', async () => {
      const second = await createUser(root, 'Second');
      const bystander = await createUser(root, 'Bystander');
      await root.run('update_root_quorum', { threshold: 1, userIds: [root.userId, second.userId] });
      const refused = await root.submit('delete_users', { userIds: [bystander.userId, second.userId] });
      expect(outcome(refused)).toEqual([400, 'INVALID_QUORUM']);
      expect((await readUser(bystander.userId)).userId).toBe(bystander.userId);
      expect(outcome(await root.submit('delete_users', { userIds: [root.userId] }))).toEqual([400, 'INVALID_QUORUM']);
      await root.run('update_root_quorum', { threshold: 1, userIds: [root.userId] });
      expect(await root.run('delete_users', { userIds: [second.userId, bystander.userId] })).toEqual({
        userIds: [second.userId, bystander.userId],
      });
    });

    test('takes credentials, tags and the places where the parent finds the user', async () => {
      const key = newKeyPair();
      const { userTagId } = await root.run('create_user_tag', { userTagName: 't', userIds: [] });
      const userEmail = `${randomUUID()}@example.com`;
      const { userIds } = await root.run('create_users', {
        users: [person({ userEmail, userTags: [userTagId], apiKeys: [apiKey(key.publicKey)] })],
      });
      const find = async (filterType: string, filterValue: string) =>
        (await parent.query('list_suborgs', { filterType, filterValue })).body.organizationIds;
      expect(await find('EMAIL', userEmail)).toEqual([root.organizationId]);
      expect(await find('PUBLIC_KEY', key.publicKey)).toEqual([root.organizationId]);
      await root.run('delete_users', { userIds });
      expect(await find('EMAIL', userEmail)).toEqual([]);
      expect(await find('PUBLIC_KEY', key.publicKey)).toEqual([]);
      expect((await root.query('get_api_keys', { userId: userIds[0] })).status).toBe(404);
      expect((await root.as(key).query('whoami')).status).toBe(401);
      // The key may be registered again.
      expect(outcome(await create(person({ apiKeys: [apiKey(key.publicKey)] })))).toEqual(DONE);
      expect((await root.run('delete_user_tags', { userTagIds: [userTagId] })).userIds).toEqual([]);
    });

    test('names each user once in its result', async () => {
      const { userId } = await createUser(root, 'Twice');
      expect(await root.run('delete_users', { userIds: [userId, userId] })).toEqual({ userIds: [userId] });
    });
  });

  test('create_api_only_users takes no other credentials and P-256 keys only', async () => {
    const apiOnlyUsers = [
      { userName: 'Robot', userTags: [], apiKeys: [{ apiKeyName: 'k', publicKey: newKeyPair().publicKey }] },
    ];
    const { userIds } = await root.run('create_api_only_users', { apiOnlyUsers });
    expect((await readUser(userIds[0])).apiKeys[0].credential.type).toBe('CREDENTIAL_TYPE_API_KEY_P256');
    const keyless = [{ userName: 'Robot', userTags: [], apiKeys: [] }];
    expect(outcome(await root.submit('create_api_only_users', { apiOnlyUsers: keyless }))).toEqual(INVALID);
  });

  test('updates raise updatedAt and leave createdAt', async () => {
    const { userId } = await createUser(root, 'Clock');
    const before = await readUser(userId);
    await root.run('update_user_name', { userId, userName: 'Clock 2' });
    const after = await readUser(userId);
    expect(after.createdAt).toEqual(before.createdAt);
    const time = ({ seconds, nanos }: { seconds: string; nanos: string }) => Number(seconds) * 1e9 + Number(nanos);
    expect(time(after.updatedAt)).toBeGreaterThanOrEqual(time(before.updatedAt));
  });
});

describe.each(databasesOf(import.meta.url))('limits that an operator sets, on %s', (database) => {
  test('users, tags, invitations and lasting keys', async () => {
    await using service = await openTestApp(database, {
      CUSTOS_DEV_INBOX: 'on',
      CUSTOS_LIMIT_USERS: '3',
      CUSTOS_LIMIT_TAGS: '1',
      CUSTOS_LIMIT_INVITATIONS: '1',
      CUSTOS_LIMIT_API_KEYS: '2',
      CUSTOS_LIMIT_AUTHENTICATORS: '1',
    });
    const root = service.root;
    const exceeded = [429, 'RESOURCE_LIMIT_EXCEEDED'];
    const users = (count: number) =>
      root.submit('create_users', { users: Array.from({ length: count }, () => person()) });
    expect(outcome(await users(3))).toEqual(exceeded);
    expect(outcome(await users(2))).toEqual(DONE);
    expect(outcome(await users(1))).toEqual(exceeded);

    const tag = (userTagName: string) => root.submit('create_user_tag', { userTagName, userIds: [] });
    expect(outcome(await tag('a'))).toEqual(DONE);
    expect(outcome(await tag('b'))).toEqual(exceeded);

    const invite = () =>
      root.submit('create_invitations', {
        invitations: [
          {
            receiverUserName: 'Guest',
            receiverUserEmail: 'guest@example.com',
            receiverUserTags: [],
            accessType: 'ACCESS_TYPE_WEB',
            senderUserId: root.userId,
          },
        ],
      });
    const first = await invite();
    expect(outcome(first)).toEqual(DONE);
    expect(outcome(await invite())).toEqual(exceeded);
    const [invitationId] = first.body.activity.result.createInvitationsResult.invitationIds;
    await root.run('delete_invitation', { invitationId });
    expect(outcome(await invite())).toEqual(DONE);

    const key = (name: string, extra = {}) =>
      root.submit('create_api_keys', { userId: root.userId, apiKeys: [{ ...apiKey(undefined, name), ...extra }] });
    expect(outcome(await key('second'))).toEqual(DONE);
    expect(outcome(await key('third'))).toEqual(exceeded);
    expect(outcome(await key('expiring', { expirationSeconds: '60' }))).toEqual(DONE);
  });
});
