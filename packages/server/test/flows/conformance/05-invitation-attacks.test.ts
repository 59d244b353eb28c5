import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPasskey } from '../../fixtures/passkey.ts';
import { type Answer, newKeyPair, send, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { outcome, times } from '../fixtures/access.ts';
import { LoginService, newEmail } from '../fixtures/logins.ts';

interface Link {
  readonly organizationId: string;
  readonly invitationId: string;
  readonly secret: string;
}

const apiKey = (publicKey = newKeyPair().publicKey) => ({
  apiKey: { apiKeyName: 'Laptop', publicKey, curveType: 'API_KEY_CURVE_P256' },
});

async function linkTo(logins: LoginService, email: string): Promise<Link> {
  const { text } = await logins.message(email);
  const [, fragment = ''] = /\/invitation#(\S+)/.exec(text) ?? [];
  return Object.fromEntries(new URLSearchParams(fragment)) as unknown as Link;
}

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('attacks on invitations on %s', (database) => {
  let logins: LoginService;
  let parent: TestClient;

  beforeAll(async () => {
    logins = await LoginService.open(database, { CUSTOS_OTP_REQUESTS: '3', CUSTOS_OTP_ORGANIZATION_REQUESTS: '150' });
    parent = logins.parent;
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const call = (name: 'open' | 'accept', body: object): Promise<Answer> =>
    send(logins.service.baseUrl, `/public/v1/invitation/${name}`, JSON.stringify(body));
  const accept = (link: Link, credential: object = apiKey()) => call('accept', { ...link, ...credential });
  const one = (email: string, client: TestClient, extra: object = {}) => ({
    receiverUserName: `Guest ${email}`,
    receiverUserEmail: email,
    receiverUserTags: [],
    accessType: 'ACCESS_TYPE_ALL',
    senderUserId: client.userId,
    ...extra,
  });
  async function invite(extra: object = {}, client: TestClient = parent, email = newEmail()): Promise<Link> {
    await client.run('create_invitations', { invitations: [one(email, client, extra)] });
    return await linkTo(logins, email);
  }

  test('the same body many times at once answers the same', async () => {
    const link = await invite();
    const body = { ...link, ...apiKey() };
    const answers = await Promise.all(times(6, () => call('accept', body)));
    expect(answers.map(({ status }) => status)).toEqual(times(6, () => 200));
    expect(new Set(answers.map(({ body: { userId } }) => userId)).size).toBe(1);
  });

  test('what somebody else has by now is refused, and the invitation stays', async () => {
    const email = newEmail();
    const [first, second] = [await invite({}, parent, email), await invite({}, parent, email)];
    const { registration } = newPasskey('Phone');
    expect((await accept(first, { authenticator: registration })).status).toBe(200);
    expect(outcome(await accept(second))).toEqual([409, 'ALREADY_EXISTS']);
    const third = await invite();
    expect(outcome(await accept(third, { authenticator: registration }))).toEqual([409, 'ALREADY_EXISTS']);
    expect(outcome(await accept(third, apiKey(parent.key.publicKey)))).toEqual([409, 'ALREADY_EXISTS']);
    expect((await accept(third)).status).toBe(200);
  });

  test('a deleted user does not come back with the body that made it', async () => {
    const body = { ...(await invite()), ...apiKey() };
    const { userId } = (await call('accept', body)).body;
    await parent.run('delete_users', { userIds: [userId] });
    expect((await call('accept', body)).body.userId).toBe(userId);
    expect((await parent.query('get_user', { userId })).status).toBe(404);
  });

  test('markup in names stays text', async () => {
    const email = newEmail();
    const name = '<img src=x onerror=alert(1)>"\'&';
    await parent.run('create_invitations', { invitations: [one(email, parent, { receiverUserName: name })] });
    const { html, text } = await logins.message(email);
    expect(text).toContain(name);
    expect(html).not.toContain('<img');
    expect(await (await fetch(`${logins.service.baseUrl}/dev/inbox`)).text()).not.toContain('<img');
  });

  test('one request mails to a hundred at most, and all of them count for the organization and its tree', async () => {
    const { user } = await logins.newPerson();
    const mail = (count: number, client: TestClient) =>
      client.submit('create_invitations', { invitations: times(count, () => one(newEmail(), client)) });
    expect(outcome(await mail(101, user))).toEqual([400, 'REQUEST_INVALID']);
    expect((await mail(100, user)).status).toBe(200);
    const { user: other } = await logins.newPerson();
    const left = 150 - (await sentByChildren()) + 1;
    expect(outcome(await mail(left, other))).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    expect((await mail(left - 1, other)).status).toBe(200);
    expect(outcome(await mail(1, other))).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    // The parent's own are counted by themselves.
    expect((await mail(1, parent)).status).toBe(200);
  });

  async function sentByChildren(): Promise<number> {
    const [row] = await logins.rows.run("SELECT times FROM rate_window WHERE name = 'messages-of-children'");
    return (JSON.parse(row?.times as string) as [number, number][]).reduce((sum, [, count]) => sum + count, 0);
  }
});

test('guessing is slowed down like any other failed authentication, and a right link still opens', async () => {
  await using logins = await LoginService.open('sqlite', { CUSTOS_FAILED_AUTH_PER_MINUTE: '5' });
  const { parent } = logins;
  const guess = { organizationId: parent.organizationId, invitationId: randomUUID(), secret: 'x' };
  const open = (link: object) => send(logins.service.baseUrl, '/public/v1/invitation/open', JSON.stringify(link));
  const answers: Answer[] = [];
  for (const _each of times(8, () => 0)) answers.push(await open(guess));
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429, 429, 429]);
  const receiverUserEmail = newEmail();
  const invitation = {
    receiverUserName: 'Ada',
    receiverUserEmail,
    receiverUserTags: [],
    accessType: 'ACCESS_TYPE_ALL',
  };
  await parent.run('create_invitations', { invitations: [{ ...invitation, senderUserId: parent.userId }] });
  expect((await open(await linkTo(logins, receiverUserEmail))).status).toBe(200);
});
