import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Receiver } from '../harness/bundles.ts';
import { type Answer, createUser, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { addPasskey, approve, COMPLETED, outcome, policyFor, UNPROVEN } from './fixtures/access.ts';
import { LoginService, newEmail, openKey, type Person } from './fixtures/logins.ts';

const MINUTE = 60_000;
const done = (answer: Answer): boolean => answer.status === 200 && answer.body.activity.status === COMPLETED;
const whoami = async (client: TestClient) => outcome(await client.query('whoami'));

describe.each(databasesOf(import.meta.url))('email_auth on %s', (database) => {
  let logins: LoginService;
  let parent: TestClient;

  beforeAll(async () => {
    logins = await LoginService.open(database);
    parent = logins.parent;
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const emailCustomization = { appName: 'App' };
  const auth = (client: TestClient, email: string, extra: Record<string, unknown> = {}, version = {}) =>
    client.submit(
      'email_auth',
      { email, targetPublicKey: new Receiver().publicKey, emailCustomization, ...extra },
      version,
    );

  async function session({ byParent, user, email }: Person, extra: Record<string, unknown> = {}) {
    const receiver = new Receiver();
    const answer = await auth(byParent, email, { targetPublicKey: receiver.publicKey, ...extra });
    const result = answer.body.activity.result.emailAuthResult;
    return { client: user.as(openKey(receiver, await logins.bundle(email)), user.userId), answer, ...result };
  }

  test('a key goes to the user by mail and nowhere else', async () => {
    const person = await logins.newPerson();
    const { byParent, user, email } = person;
    const receiver = new Receiver();
    const answer = await auth(byParent, email.toUpperCase(), {
      targetPublicKey: receiver.publicKey,
      emailCustomization: { appName: 'Bank & Co', magicLinkTemplate: 'https://app.example/login?bundle=%s' },
    });
    expect(outcome(answer)).toEqual([200, COMPLETED]);
    expect(answer.body.activity.result).toEqual({
      emailAuthResult: { userId: user.userId, apiKeyId: expect.any(String) },
    });
    const message = await logins.message(email);
    expect(message.subject).toContain('Bank & Co');
    const bundle = /login\?bundle=([1-9A-HJ-NP-Za-km-z]+)$/m.exec(message.text)?.[1] as string;
    expect(message.text.split('\n')).toContain(bundle);
    logins.secrets.add(bundle);
    expect(() => new Receiver().openCredential(bundle)).toThrow();
    const key = openKey(receiver, bundle);
    const client = user.as(key, user.userId);
    expect(done(await client.submit('create_user_tag', { userTagName: 'tag', userIds: [] }))).toBe(true);
    const { apiKeyId } = answer.body.activity.result.emailAuthResult;
    expect((await user.query('get_api_key', { apiKeyId })).body.apiKey).toMatchObject({
      apiKeyName: expect.stringMatching(/^Email Auth - /),
      credential: { type: 'CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256', publicKey: key.publicKey },
      expirationSeconds: '900',
    });
    const events = (await byParent.query('list_email_events', { email })).body;
    expect(events.emailEvents).toMatchObject([{ eventType: 'sent', toAddress: email }]);
    expect(JSON.stringify(events)).not.toContain(bundle);
    logins.advance(15 * MINUTE);
    expect(await whoami(client)).toEqual([401, 'API_KEY_EXPIRED']);
    expect(await whoami(user)).toEqual([200, undefined]);
  });

  test('older versions need no name of an application', async () => {
    const { byParent, email } = await logins.newPerson();
    for (const version of ['', '_V2']) {
      const type = { type: `ACTIVITY_TYPE_EMAIL_AUTH${version}` };
      const answer = await auth(byParent, email, { emailCustomization: null }, type);
      expect(answer.body.activity.result).toHaveProperty('emailAuthResult.apiKeyId');
      expect((await logins.message(email)).subject).toBe('Log in');
    }
    expect(outcome(await auth(byParent, email, { emailCustomization: {} }))).toEqual([400, 'REQUEST_INVALID']);
    expect(outcome(await auth(byParent, email, { emailCustomization: null }))).toEqual([400, 'REQUEST_INVALID']);
  });

  test('the wishes of a caller', async () => {
    const person = await logins.newPerson();
    const first = await session(person, { apiKeyName: 'First', expirationSeconds: '60' });
    expect((await person.user.query('get_api_key', { apiKeyId: first.apiKeyId })).body.apiKey).toMatchObject({
      apiKeyName: 'First',
      expirationSeconds: '60',
    });
    const second = await session(person);
    expect(await whoami(first.client)).toEqual([200, undefined]);
    const third = await session(person, { invalidateExisting: true });
    for (const { client } of [first, second]) expect(await whoami(client)).toEqual([401, 'PUBLIC_KEY_NOT_FOUND']);
    for (const client of [third.client, person.user]) expect(await whoami(client)).toEqual([200, undefined]);
  });

  test('needs a user, the feature and somebody who may', async () => {
    const { byParent, user, email } = await logins.newPerson();
    expect(outcome(await auth(byParent, newEmail()))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(outcome(await auth(parent, email))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    for (const organization of [user, parent]) {
      await logins.turn(organization, 'EMAIL_AUTH', 'false');
      const refused = await auth(byParent, email);
      expect(outcome(refused)).toEqual([403, 'FEATURE_DISABLED']);
      expect(refused.body.message).toContain('FEATURE_NAME_EMAIL_AUTH');
      await logins.turn(organization, 'EMAIL_AUTH', 'true');
    }
    const clerk = await createUser(parent, 'clerk');
    const client = logins.client(byParent.organizationId, clerk.key, clerk.userId);
    expect(outcome(await auth(client, email))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    await policyFor(parent, clerk, { condition: "activity.kind == 'EMAIL_AUTH'" });
    expect(done(await auth(client, email))).toBe(true);
    // A user of the sub-organization has no say above it.
    const above = logins.client(parent.organizationId, user.key);
    expect(outcome(await auth(above, email))).toEqual([401, 'PUBLIC_KEY_NOT_FOUND']);
  });

  test('counts as a message to its reader', async () => {
    const { byParent, email } = await logins.newPerson();
    await logins.sendCode(byParent, email);
    for (let sent = 0; sent < 2; sent += 1) expect(done(await auth(byParent, email))).toBe(true);
    expect(outcome(await auth(byParent, email))).toEqual([429, 'MAX_OTP_INITIATED']);
    logins.advance(3 * MINUTE);
    expect(done(await auth(byParent, email))).toBe(true);
  });

  test('MFA of the user applies: no mail leaves before all is proven', async () => {
    const person = await logins.newPerson();
    const passkey = await addPasskey(person.user);
    await person.user.run('create_mfa_policy', {
      userId: person.user.userId,
      mfaPolicyName: 'MFA',
      condition: "activity.resource == 'AUTH'",
      requiredAuthenticationMethods: [
        { any: [{ type: 'AUTHENTICATION_TYPE_EMAIL_OTP' }] },
        { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] },
      ],
      order: 0,
    });
    const receiver = new Receiver();
    const answer = await auth(person.byParent, person.email, { targetPublicKey: receiver.publicKey });
    expect(outcome(answer)).toEqual([200, UNPROVEN]);
    expect(await logins.rows.run('SELECT id FROM outbox_message')).toEqual([]);
    expect(await logins.messagesTo(person.email)).toEqual([]);
    expect(outcome(await approve(passkey, answer.body.activity.fingerprint))).toEqual([200, COMPLETED]);
    const key = openKey(receiver, await logins.bundle(person.email));
    expect(await whoami(person.user.as(key))).toEqual([200, undefined]);
  });

  test.each([
    ['an address that is none', { email: 'nobody' }, 'INVALID_EMAIL'],
    ['a target that is no key', { targetPublicKey: 'key' }, 'INVALID_PUBLIC_KEY'],
    ['a life of nothing', { expirationSeconds: '0' }, 'INVALID_API_KEY_EXPIRATION'],
    [
      'a logo without https',
      { emailCustomization: { appName: 'a', logoUrl: 'http://a.example/a.png' } },
      'REQUEST_INVALID',
    ],
    ['a name with a line break', { emailCustomization: { appName: 'a\nBcc: b' } }, 'REQUEST_INVALID'],
  ])('%s is refused', async (_what, change, code) => {
    const { byParent, email } = await logins.newPerson();
    expect(outcome(await auth(byParent, email, change))).toEqual([400, code]);
    expect(done(await auth(byParent, email))).toBe(true);
  });

  test('no bundle is in the database', async () => {
    expect(logins.secrets.size).toBeGreaterThan(4);
    expect(await logins.findSecrets()).toEqual([]);
  });
});
