import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPasskey, passkeyStamp } from '../../fixtures/passkey.ts';
import { type Answer, createUser, newKeyPair, send, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { Caller, outcome } from '../fixtures/access.ts';
import { LoginService, newEmail } from '../fixtures/logins.ts';

const HOUR = 3_600_000;
const NO_LINK = [401, 'UNAUTHENTICATED'];

interface Link {
  readonly organizationId: string;
  readonly invitationId: string;
  readonly secret: string;
}

const apiKey = (publicKey = newKeyPair().publicKey) => ({
  apiKey: { apiKeyName: 'Laptop', publicKey, curveType: 'API_KEY_CURVE_P256' },
});

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('invitations on %s', (database) => {
  let logins: LoginService;
  let parent: TestClient;

  beforeAll(async () => {
    logins = await LoginService.open(database, { CUSTOS_OTP_REQUESTS: '3' });
    parent = logins.parent;
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const call = (name: 'open' | 'accept', body: object): Promise<Answer> =>
    send(logins.service.baseUrl, `/public/v1/invitation/${name}`, JSON.stringify(body));
  const accept = (link: Link, credential: object = apiKey()) => call('accept', { ...link, ...credential });
  const invitations = (email: string, client: TestClient, extra: object) => ({
    invitations: [
      {
        receiverUserName: `Guest ${email}`,
        receiverUserEmail: email,
        receiverUserTags: [],
        accessType: 'ACCESS_TYPE_ALL',
        senderUserId: client.userId,
        ...extra,
      },
    ],
  });

  async function linkTo(email: string): Promise<Link> {
    const { text } = await logins.message(email);
    const [, fragment = ''] = /http:\/\/localhost:\d+\/invitation#(\S+)/.exec(text) ?? [];
    const link = Object.fromEntries(new URLSearchParams(fragment)) as unknown as Link;
    logins.secrets.add(link.secret);
    return link;
  }

  async function invite(extra: object = {}, client: TestClient = parent): Promise<Link & { email: string }> {
    const email = newEmail();
    const { invitationIds } = await client.run('create_invitations', invitations(email, client, extra));
    const link = await linkTo(email);
    expect(link).toMatchObject({ organizationId: client.organizationId, invitationId: invitationIds[0] });
    return { ...link, email };
  }
  const open = ({ organizationId, invitationId, secret }: Link) =>
    call('open', { organizationId, invitationId, secret });
  const stateOf = async ({ invitationId }: Link) =>
    (await parent.query('get_organization')).body.organizationData.invitations.find(
      (one: { invitationId: string }) => one.invitationId === invitationId,
    )?.status;

  test('a link makes the invited user with an API key, once; the same body again answers the same', async () => {
    const { userTagId } = await parent.run('create_user_tag', { userTagName: 'Guests', userIds: [] });
    const { email, ...link } = await invite({ receiverUserTags: [userTagId], receiverUserName: 'Ada' });
    const opened = await open(link);
    expect(opened.body).toEqual({
      organizationName: expect.any(String),
      receiverUserName: 'Ada',
      receiverEmail: email,
      accessType: 'ACCESS_TYPE_ALL',
      expiresAt: expect.stringMatching(/^20.*Z$/),
    });
    const key = newKeyPair();
    // Nothing but the credential is the caller's to say.
    const wishes = { userName: 'Root', userTags: [], userEmail: 'evil@example.com', senderUserId: parent.userId };
    const credential = { ...apiKey(key.publicKey), ...wishes };
    const answer = await accept(link, credential);
    expect(answer.body).toEqual({
      organizationId: parent.organizationId,
      invitationId: link.invitationId,
      userId: expect.any(String),
    });
    const { userId } = answer.body;
    expect(await stateOf(link)).toBe('INVITATION_STATUS_ACCEPTED');
    const guest = logins.client(parent.organizationId, key, userId);
    expect((await guest.query('whoami')).body.userId).toBe(userId);
    const { user } = (await parent.query('get_user', { userId })).body;
    expect(user).toMatchObject({ userName: 'Ada', userEmail: email, userTags: [userTagId] });
    // No member of the root quorum, and nothing that a policy does not allow.
    expect(outcome(await guest.submit('create_user_tag', { userTagName: 'x', userIds: [] }))).toEqual([
      403,
      'REQUEST_NOT_AUTHORIZED',
    ]);
    // A lost answer can be asked for again; anything else is too late.
    expect((await accept(link, credential)).body).toEqual(answer.body);
    expect(outcome(await accept(link))).toEqual([400, 'FAILED_PRECONDITION']);
    expect((await open(link)).body.message).toContain('accepted already');
    const { activities } = (await parent.query('list_activities', { filterByType: [] })).body;
    const kept = activities.find(({ type }: { type: string }) => type === 'ACTIVITY_TYPE_ACCEPT_INVITATION_V2');
    expect(kept).toMatchObject({
      status: 'ACTIVITY_STATUS_COMPLETED',
      intent: { acceptInvitationIntentV2: { invitationId: link.invitationId, userId } },
      result: { acceptInvitationResult: { invitationId: link.invitationId, userId } },
      votes: [],
    });
    expect(JSON.stringify(activities)).not.toContain(link.secret);
  });

  test('a link makes the invited user with a passkey, by the rules of create_users', async () => {
    const { email: _email, ...link } = await invite({ accessType: 'ACCESS_TYPE_WEB' });
    const { passkey, registration } = newPasskey('Phone');
    const spoiled = { ...registration, challenge: 'AAAA' };
    expect((await accept(link, { authenticator: spoiled })).status).toBe(400);
    await logins.turn(parent, 'WEBAUTHN_ORIGINS', '["https://elsewhere.example"]');
    expect((await accept(link, { authenticator: registration })).status).toBe(400);
    await parent.run('remove_organization_feature', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS' });
    const { body } = await accept(link, { authenticator: registration });
    const guest = new Caller(logins.client(parent.organizationId, newKeyPair(), body.userId), {
      stamp: (bytes) => ({ 'x-stamp-webauthn': passkeyStamp(bytes, passkey) }),
    });
    expect((await guest.query('whoami')).body.userId).toBe(body.userId);
  });

  test('the credential is one, of the kind that the invitation is for, and valid', async () => {
    const authenticator = newPasskey('Phone').registration;
    const { email: _any, ...link } = await invite();
    expect((await accept(link, {})).status).toBe(400);
    expect((await accept(link, { ...apiKey(), authenticator })).status).toBe(400);
    expect((await accept(link, apiKey('02ff'))).status).toBe(400);
    const { email: _web, ...web } = await invite({ accessType: 'ACCESS_TYPE_WEB' });
    expect((await accept(web)).body.message).toContain('ACCESS_TYPE_WEB');
    const { email: _api, ...api } = await invite({ accessType: 'ACCESS_TYPE_API' });
    expect((await accept(api, { authenticator })).body.message).toContain('ACCESS_TYPE_API');
    for (const each of [link, api]) expect((await accept(each)).status).toBe(200);
    // The key is somebody's by now.
    const taken = parent.key.publicKey;
    const { email: _late, ...late } = await invite();
    expect((await accept(late, apiKey(taken))).status).toBe(409);
    expect(await stateOf(late)).toBe('INVITATION_STATUS_CREATED');
  });

  test('any other secret, invitation or organization answers alike', async () => {
    const { email: _email, ...link } = await invite();
    const { email: _other, ...other } = await invite();
    const forged = [
      { ...link, secret: other.secret },
      { ...link, secret: '' },
      { ...link, secret: `${link.secret}A` },
      { ...link, invitationId: randomUUID() },
      { ...link, organizationId: randomUUID() },
      { ...link, invitationId: other.invitationId },
    ];
    const answers = await Promise.all(forged.flatMap((each) => [open(each), accept(each)]));
    expect(answers.map(outcome)).toEqual(answers.map(() => NO_LINK));
    expect(new Set(answers.map(({ body }) => body.message)).size).toBe(1);
    expect((await call('open', { ...link, secret: 7 })).status).toBe(400);
    expect((await accept(link)).status).toBe(200);
  });

  test('of many who accept at the same time one does', async () => {
    const { email, ...link } = await invite();
    const answers = await Promise.all(Array.from({ length: 5 }, () => accept(link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400]);
    const { users } = (await parent.query('list_users')).body;
    expect(users.filter(({ userEmail }: { userEmail?: string }) => userEmail === email)).toHaveLength(1);
  });

  test('it ends with its time, its deletion, its sender, its tags and its organization', async () => {
    const { email: _revoked, ...revoked } = await invite();
    await parent.run('delete_invitation', { invitationId: revoked.invitationId });
    expect((await accept(revoked)).body.message).toContain('revoked');

    const { userTagId } = await parent.run('create_user_tag', { userTagName: 'Restricted', userIds: [] });
    const { email: _tagged, ...tagged } = await invite({ receiverUserTags: [userTagId] });
    await parent.run('delete_user_tags', { userTagIds: [userTagId] });
    expect((await accept(tagged)).body.message).toContain('tag');

    const { user } = await logins.newPerson();
    const { email: _sub, ...ofSub } = await invite({}, user);
    const leaving = await createUser(user, 'leaving');
    await user.run('update_root_quorum', { threshold: 1, userIds: [user.userId, leaving.userId] });
    const { email: _sender, ...ofSender } = await invite({}, leaving);
    await user.run('update_root_quorum', { threshold: 1, userIds: [user.userId] });
    await user.run('delete_users', { userIds: [leaving.userId] });
    expect((await accept(ofSender)).body.message).toContain('sent this invitation');
    expect((await open(ofSub)).status).toBe(200);
    await user.run('delete_sub_organization', { deleteWithoutExport: true });
    expect(outcome(await accept(ofSub))).toEqual(NO_LINK);

    const { email: _late, ...late } = await invite();
    logins.advance(167 * HOUR);
    expect((await open(late)).status).toBe(200);
    logins.advance(HOUR);
    expect((await accept(late)).body.message).toContain('expired');
  });

  test('an address cannot be flooded, and nobody words a mail who may not', async () => {
    const email = newEmail();
    for (let count = 0; count < 3; count += 1) await parent.run('create_invitations', invitations(email, parent, {}));
    expect(outcome(await parent.submit('create_invitations', invitations(email, parent, {})))).toEqual([
      429,
      'RATE_LIMIT_EXCEEDED',
    ]);
    const { user } = await logins.newPerson();
    const target = newEmail();
    await user.run('create_invitations', invitations(target, user, { receiverUserName: 'Call +1 555 now' }));
    expect((await logins.message(target)).text).not.toContain('555');
    expect((await logins.message(email)).text).toContain(`Guest ${email}`);
  });

  test('only networks that the organization allows may join it', async () => {
    const { user } = await logins.newPerson();
    const { email: _email, ...link } = await invite({}, user);
    await user.run('set_ip_allowlist', { enabled: true, rules: [{ cidr: '127.0.0.0/8' }] });
    expect((await open(link)).status).toBe(200);
    await user.run('set_ip_allowlist', { enabled: true, rules: [{ cidr: '192.0.2.0/24' }], allowLockout: true });
    expect(outcome(await open(link))).toEqual([403, 'IP_NOT_ALLOWED']);
    expect(outcome(await accept(link))).toEqual([403, 'IP_NOT_ALLOWED']);
  });

  test('the page loads nothing but itself, and tells nobody where it is', async () => {
    const page = await fetch(`${logins.service.baseUrl}/invitation`);
    const text = await page.text();
    expect(page.status).toBe(200);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('cache-control')).toBe('no-store');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(text).not.toMatch(/src=/);
    // A link loads nothing: it leads to this service's own console.
    expect([...text.matchAll(/href="([^"]*)"/g)].map(([, href]) => href)).toEqual(['console/sign-in']);
  });

  test('the secrets of links are nowhere in the database', async () => {
    expect(logins.secrets.size).toBeGreaterThan(8);
    expect(await logins.findSecrets()).toEqual([]);
  });
});
