import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Receiver } from '../harness/bundles.ts';
import { type Answer, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { addPasskey, approve, COMPLETED, outcome, policyFor, read, times, UNPROVEN } from './fixtures/access.ts';
import {
  anotherCode,
  LoginService,
  MAIL,
  newEmail,
  openKey,
  type Person,
  REFUSED_CODE,
  SMS,
} from './fixtures/logins.ts';

const MINUTE = 60_000;
const V1 = { type: 'ACTIVITY_TYPE_INIT_OTP_AUTH' };
const V2 = { type: 'ACTIVITY_TYPE_INIT_OTP_AUTH_V2' };
const done = (answer: Answer): boolean => answer.status === 200 && answer.body.activity.status === COMPLETED;
const whoami = async (client: TestClient) => outcome(await client.query('whoami'));

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('otp_auth on %s', (database) => {
  let logins: LoginService;
  let parent: TestClient;

  beforeAll(async () => {
    logins = await LoginService.open(database);
    parent = logins.parent;
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const init = (client: TestClient, contact: string, extra: Record<string, unknown> = {}, version = {}) =>
    client.submit(
      'init_otp_auth',
      { otpType: contact.startsWith('+') ? SMS : MAIL, contact, appName: 'App', ...extra },
      version,
    );

  async function send(client: TestClient, contact: string): Promise<{ otpId: string; otpCode: string }> {
    const answer = await init(client, contact);
    return { otpId: answer.body.activity.result.initOtpAuthResultV2.otpId, otpCode: await logins.code(contact) };
  }
  const auth = (client: TestClient, code: object, extra: Record<string, unknown> = {}) =>
    client.submit('otp_auth', { ...code, targetPublicKey: new Receiver().publicKey, ...extra });

  /** Logs in and answers with a client that stamps with the key of the bundle. */
  async function session({ byParent, user, email }: Person, extra: Record<string, unknown> = {}) {
    const receiver = new Receiver();
    const answer = await auth(byParent, await send(byParent, email), { targetPublicKey: receiver.publicKey, ...extra });
    const result = answer.body.activity.result.otpAuthResult;
    return { client: user.as(openKey(receiver, result.credentialBundle), user.userId), ...result };
  }
  const keyOf = async (user: TestClient, apiKeyId: string) =>
    (await user.query('get_api_key', { apiKeyId })).body.apiKey;

  test('a code becomes a key that only the target opens, for fifteen minutes', async () => {
    const person = await logins.newPerson();
    const { byParent, user, email } = person;
    const begun = await init(byParent, email, { appName: 'Bank' });
    expect(begun.body.activity.result).toEqual({ initOtpAuthResultV2: { otpId: expect.any(String) } });
    const { subject, text } = await logins.message(email);
    expect(subject).toContain('Bank');
    const otpCode = /^\S{9}$/m.exec(text)?.[0] as string;
    logins.secrets.add(otpCode);
    const { otpId } = begun.body.activity.result.initOtpAuthResultV2;
    const receiver = new Receiver();
    const answer = await auth(byParent, { otpId, otpCode }, { targetPublicKey: receiver.publicKey });
    expect(outcome(answer)).toEqual([200, COMPLETED]);
    const { userId, apiKeyId, credentialBundle } = answer.body.activity.result.otpAuthResult;
    expect(userId).toBe(user.userId);
    expect(() => new Receiver().openCredential(credentialBundle)).toThrow();
    const key = openKey(receiver, credentialBundle);
    const client = user.as(key, userId);
    expect((await client.query('whoami')).body).toMatchObject({ organizationId: user.organizationId, userId });
    expect(done(await client.submit('create_user_tag', { userTagName: 'tag', userIds: [] }))).toBe(true);
    expect(await keyOf(user, apiKeyId)).toMatchObject({
      apiKeyName: expect.stringMatching(/^OTP Auth - /),
      credential: { type: 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256', publicKey: key.publicKey },
      expirationSeconds: '900',
    });
    const later = await read(byParent, answer.body.activity.id);
    expect(later.intent.otpAuthIntent.otpCode).toMatch(/^sha256:/);
    logins.advance(15 * MINUTE);
    expect(await whoami(client)).toEqual([401, 'API_KEY_EXPIRED']);
    expect(await whoami(user)).toEqual([200, undefined]);
  });

  test('older versions, text messages and the wishes of a caller', async () => {
    const { byParent, user, email, phone } = await logins.newPerson();
    const first = await init(byParent, email, { emailCustomization: { appName: 'Old App' }, otpLength: 6 }, V1);
    expect(first.body.activity.result).toEqual({ initOtpAuthResult: { otpId: expect.any(String) } });
    const { subject, text } = await logins.message(email);
    expect(subject).toContain('Old App');
    // It cannot ask for a length.
    expect(text).toMatch(/^[0-9A-Z]{9}$/m);
    const second = await init(byParent, phone, { otpLength: 6, alphanumeric: false }, V2);
    const { otpId } = second.body.activity.result.initOtpAuthResultV2;
    const otpCode = await logins.code(phone);
    expect(otpCode).toMatch(/^[0-9]{6}$/);
    const answer = await auth(byParent, { otpId, otpCode }, { apiKeyName: 'My key', expirationSeconds: 60 });
    const { apiKeyId } = answer.body.activity.result.otpAuthResult;
    expect(await keyOf(user, apiKeyId)).toMatchObject({ apiKeyName: 'My key', expirationSeconds: '60' });
  });

  test('invalidateExisting ends the other keys of its kind, and no others', async () => {
    const person = await logins.newPerson();
    const first = await session(person);
    const second = await session(person);
    const login = newKeyPair();
    await person.user.run('stamp_login', { publicKey: login.publicKey });
    expect(await whoami(first.client)).toEqual([200, undefined]);
    const third = await session(person, { invalidateExisting: true });
    for (const { client } of [first, second]) expect(await whoami(client)).toEqual([401, 'PUBLIC_KEY_NOT_FOUND']);
    for (const client of [third.client, person.user, person.user.as(login)]) {
      expect(await whoami(client)).toEqual([200, undefined]);
    }
  });

  test('only a user’s own contact gets a code, and at the address on record', async () => {
    const { byParent, user, email } = await logins.newPerson();
    expect(outcome(await init(byParent, newEmail()))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(outcome(await init(byParent, '+15555550111'))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(outcome(await init(parent, email))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(done(await init(byParent, email.toUpperCase()))).toBe(true);
    const otpCode = await logins.code(email);
    expect(await logins.messagesTo(email.toUpperCase())).toEqual([]);
    const rows = await logins.rows.run('SELECT id FROM otp WHERE contact = ?', [email]);
    expect(done(await auth(byParent, { otpId: String(rows[0]?.id), otpCode }))).toBe(true);

    // A code sent to an address that is no longer the user's is worth nothing.
    const code = await send(byParent, email);
    await user.run('update_user_email', { userId: user.userId, userEmail: newEmail() });
    expect(outcome(await auth(byParent, code))).toEqual(REFUSED_CODE);
    await user.run('update_user_email', { userId: user.userId, userEmail: email });
    expect(done(await auth(byParent, code))).toBe(true);
  });

  test('codes of init_otp and of init_otp_auth do not serve for each other', async () => {
    const { byParent, email } = await logins.newPerson();
    const parameters = { otpType: MAIL, contact: email, appName: 'App' };
    const { otpId } = (await byParent.submit('init_otp', parameters, { type: 'ACTIVITY_TYPE_INIT_OTP_V2' })).body
      .activity.result.initOtpResult;
    const proving = { otpId, otpCode: await logins.code(email) };
    const verify = { type: 'ACTIVITY_TYPE_VERIFY_OTP' };
    expect(outcome(await auth(byParent, proving))).toEqual(REFUSED_CODE);
    expect(done(await byParent.submit('verify_otp', proving, verify))).toBe(true);
    const authenticating = await send(byParent, email);
    expect(outcome(await byParent.submit('verify_otp', authenticating, verify))).toEqual(REFUSED_CODE);
    expect(done(await auth(byParent, authenticating))).toBe(true);
    const encrypted = await logins.sendCode(byParent, email);
    expect(outcome(await auth(byParent, { otpId: encrypted.otpId, otpCode: encrypted.code }))).toEqual(REFUSED_CODE);
  });

  test('a code serves once, three wrong ones end it, and so does its age', async () => {
    const { byParent, email } = await logins.newPerson();
    const code = await send(byParent, email);
    const wrong = { ...code, otpCode: anotherCode(code.otpCode) };
    for (const attempt of times(2, () => wrong)) expect(outcome(await auth(byParent, attempt))).toEqual(REFUSED_CODE);
    expect(done(await auth(byParent, code))).toBe(true);
    expect(outcome(await auth(byParent, code))).toEqual(REFUSED_CODE);
    const guessed = await send(byParent, email);
    const answers = await Promise.all(
      times(12, () => auth(byParent, { ...guessed, otpCode: anotherCode(guessed.otpCode) })),
    );
    for (const answer of [...answers, await auth(byParent, guessed)]) expect(outcome(answer)).toEqual(REFUSED_CODE);
    const old = await send(byParent, email);
    logins.advance(5 * MINUTE);
    expect(outcome(await auth(byParent, old))).toEqual(REFUSED_CODE);
    const parallel = await send(byParent, email);
    const several = await Promise.all(times(3, () => auth(byParent, parallel)));
    expect(several.filter(done)).toHaveLength(1);
  });

  test('features and limits are those of other codes', async () => {
    const { byParent, user, email } = await logins.newPerson();
    expect(done(await init(byParent, email))).toBe(true);
    await logins.turn(user, 'OTP_EMAIL_AUTH', 'false');
    expect(outcome(await init(byParent, email))).toEqual([403, 'FEATURE_DISABLED']);
    await logins.turn(user, 'OTP_EMAIL_AUTH', 'true');
    await logins.sendCode(byParent, email);
    expect(done(await init(byParent, email))).toBe(true);
    expect(outcome(await init(byParent, email))).toEqual([429, 'MAX_OTP_INITIATED']);
  });

  test('policies see how long a code is to be', async () => {
    const { byParent, email } = await logins.newPerson();
    const clerk = await createUser(parent, `clerk ${randomUUID()}`);
    const client = logins.client(byParent.organizationId, clerk.key, clerk.userId);
    await policyFor(parent, clerk, {
      condition: "activity.kind == 'INIT_OTP_AUTH' && activity.params.otp_length >= 8",
    });
    expect(outcome(await init(client, email, { otpLength: 7 }))[0]).toBe(403);
    expect(outcome(await init(client, email))[0]).toBe(403);
    expect(done(await init(client, email, { otpLength: 8 }))).toBe(true);
  });

  describe('MFA of the user', () => {
    const enforce = async ({ user }: Person, ...types: string[]) =>
      await user.run('create_mfa_policy', {
        userId: user.userId,
        mfaPolicyName: 'MFA',
        condition: "activity.kind == 'OTP_AUTH'",
        requiredAuthenticationMethods: types.map((type) => ({ any: [{ type: `AUTHENTICATION_TYPE_${type}` }] })),
        order: 0,
      });

    test('has the code as its first proof, and the key is made with the last', async () => {
      const person = await logins.newPerson();
      const passkey = await addPasskey(person.user);
      await enforce(person, 'EMAIL_OTP', 'PASSKEY');
      const receiver = new Receiver();
      const code = await send(person.byParent, person.email);
      const answer = await auth(person.byParent, code, { targetPublicKey: receiver.publicKey });
      expect(outcome(answer)).toEqual([200, UNPROVEN]);
      const { fingerprint } = answer.body.activity;
      expect(outcome(await approve(person.user, fingerprint))).toEqual([200, UNPROVEN]);
      const finished = await approve(passkey, fingerprint);
      expect(outcome(finished)).toEqual([200, COMPLETED]);
      const { credentialBundle } = finished.body.activity.result.otpAuthResult;
      expect(await whoami(person.user.as(openKey(receiver, credentialBundle)))).toEqual([200, undefined]);
    });

    test('does not make up for a wrong code', async () => {
      const person = await logins.newPerson();
      const passkey = await addPasskey(person.user);
      await enforce(person, 'EMAIL_OTP', 'PASSKEY');
      const code = await send(person.byParent, person.email);
      const answer = await auth(person.byParent, { ...code, otpCode: anotherCode(code.otpCode) });
      expect(outcome(answer)).toEqual([200, UNPROVEN]);
      const finished = await approve(passkey, answer.body.activity.fingerprint);
      expect(finished.body.activity).toMatchObject({
        status: 'ACTIVITY_STATUS_FAILED',
        failure: { message: expect.stringContaining('Invalid OTP code') },
        result: {},
      });
      // It was an attempt like any other.
      const [row] = await logins.rows.run('SELECT attempts_left FROM otp WHERE id = ?', [code.otpId]);
      expect(Number(row?.attempts_left)).toBe(2);
    });
  });

  test.each([
    ['a target that is no key', { targetPublicKey: '04' }, 'INVALID_PUBLIC_KEY'],
    ['a life of nothing', { expirationSeconds: '0' }, 'INVALID_API_KEY_EXPIRATION'],
    ['a life beyond thirty days', { expirationSeconds: String(30 * 86_400 + 1) }, 'INVALID_API_KEY_EXPIRATION'],
    ['no name', { apiKeyName: '' }, 'REQUEST_INVALID'],
    ['no code', { otpCode: null }, 'REQUEST_INVALID'],
  ])('%s is refused and takes no attempt', async (_what, change, code) => {
    const { byParent, email } = await logins.newPerson();
    const sent = await send(byParent, email);
    for (const answer of await Promise.all(times(3, () => auth(byParent, { ...sent, ...change }, change)))) {
      expect(outcome(answer)).toEqual([400, code]);
    }
    expect(done(await auth(byParent, sent))).toBe(true);
  });

  test('no code is in the database', async () => {
    expect(logins.secrets.size).toBeGreaterThan(8);
    expect(await logins.findSecrets()).toEqual([]);
  });
});
