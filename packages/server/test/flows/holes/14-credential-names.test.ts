import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPasskey, passkeyStamp } from '../../fixtures/passkey.ts';
import { Receiver } from '../../harness/bundles.ts';
import { type Answer, newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { Caller, COMPLETED, outcome, times } from '../fixtures/access.ts';
import { LoginService, MAIL, openKey, type Person } from '../fixtures/logins.ts';

const DONE = [200, COMPLETED];
const EXISTS = [409, 'ALREADY_EXISTS'];
const NAME = 'Phone';

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('names of credentials on %s', (database) => {
  let logins: LoginService;
  beforeAll(async () => {
    logins = await LoginService.open(database);
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const targetPublicKey = () => new Receiver().publicKey;
  const otpAuth = async ({ byParent, email }: Person, apiKeyName = NAME, extra = {}): Promise<Answer> => {
    const { otpId } = await byParent.run('init_otp_auth', { otpType: MAIL, contact: email, appName: 'App' });
    const code = { otpId, otpCode: await logins.code(email) };
    return await byParent.submit('otp_auth', { ...code, targetPublicKey: targetPublicKey(), apiKeyName, ...extra });
  };
  const emailAuth = ({ byParent, email }: Person, apiKeyName = NAME): Promise<Answer> =>
    byParent.submit('email_auth', {
      email,
      targetPublicKey: targetPublicKey(),
      apiKeyName,
      emailCustomization: { appName: 'App' },
    });
  const readWrite = ({ user }: Person, apiKeyName = NAME): Promise<Answer> =>
    user.submit('create_read_write_session', { targetPublicKey: targetPublicKey(), apiKeyName });
  const addKey = (client: TestClient, apiKeyName: string, extra = {}): Promise<Answer> =>
    client.submit('create_api_keys', {
      userId: client.userId,
      apiKeys: [{ apiKeyName, publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256', ...extra }],
    });
  /** In the order in which the keys were made, the first key aside. */
  const names = async ({ user }: Person): Promise<string[]> =>
    (await user.query('get_api_keys', { userId: user.userId })).body.apiKeys
      .slice(1)
      .map(({ apiKeyName }: { apiKeyName: string }) => apiKeyName);
  const passkeyNames = async ({ user }: Person): Promise<string[]> =>
    (await user.query('get_authenticators', { userId: user.userId })).body.authenticators.map(
      ({ authenticatorName }: { authenticatorName: string }) => authenticatorName,
    );

  test.each([
    ['otp_auth', otpAuth, 'otpAuthIntent'],
    ['email_auth', emailAuth, 'emailAuthIntentV3'],
    ['create_read_write_session', readWrite, 'createReadWriteSessionIntentV2'],
  ] as const)(
    '%s with the name of a live key gets the next number, and echoes what was sent',
    async (_n, logIn, intent) => {
      const person = await logins.newPerson();
      for (const _ of times(3, () => 0)) {
        const answer = await logIn(person);
        expect(outcome(answer)).toEqual(DONE);
        expect(answer.body.activity.intent[intent].apiKeyName).toBe(NAME);
      }
      expect(await names(person)).toEqual([NAME, `${NAME} (2)`, `${NAME} (3)`]);
    },
  );

  test('also beside a key that was created with the name', async () => {
    const person = await logins.newPerson();
    expect(outcome(await addKey(person.user, NAME))).toEqual(DONE);
    expect(outcome(await readWrite(person))).toEqual(DONE);
    expect(await names(person)).toEqual([NAME, `${NAME} (2)`]);
  });

  test('many logins with one name go on, and numbers are used again', async () => {
    const person = await logins.newPerson();
    for (const _ of times(25, () => 0)) expect(outcome(await readWrite(person))).toEqual(DONE);
    const all = await names(person);
    expect(all).toHaveLength(10);
    expect(new Set(all).size).toBe(10);
    for (const name of all) expect(name).toMatch(/^Phone(?: \((?:[2-9]|10|11)\))?$/);
  });

  test('logins with one name at the same time', async () => {
    const person = await logins.newPerson();
    const answers = await Promise.all(times(6, () => readWrite(person)));
    expect(answers.map(outcome)).toEqual(times(6, () => DONE));
    expect((await names(person)).sort()).toEqual([NAME, ...times(5, (index) => `${NAME} (${index + 2})`)]);
  });

  test('a key that invalidateExisting removes leaves its name', async () => {
    const person = await logins.newPerson();
    expect(outcome(await otpAuth(person))).toEqual(DONE);
    expect(outcome(await otpAuth(person, NAME, { invalidateExisting: true }))).toEqual(DONE);
    expect(await names(person)).toEqual([NAME]);
  });

  test('the name of an expired key is free, for logins and for new keys', async () => {
    const person = await logins.newPerson();
    const { user } = person;
    expect(outcome(await readWrite(person))).toEqual(DONE);
    expect(outcome(await readWrite(person))).toEqual(DONE);
    expect(outcome(await addKey(user, NAME))).toEqual(EXISTS);
    logins.advance(16 * 60_000);
    expect(outcome(await readWrite(person))).toEqual(DONE);
    expect(await names(person)).toEqual([`${NAME} (2)`, NAME]);
    expect(outcome(await addKey(user, `${NAME} (2)`))).toEqual(DONE);
    expect(outcome(await addKey(user, NAME))).toEqual(EXISTS);
    expect(await names(person)).toEqual([NAME, `${NAME} (2)`]);
  });

  test('a name as long as names may be is cut for its number', async () => {
    const person = await logins.newPerson();
    // Each of these characters takes two units of UTF-16.
    const long = '🔑'.repeat(255);
    for (const _ of times(3, () => 0)) expect(outcome(await readWrite(person, long))).toEqual(DONE);
    expect(await names(person)).toEqual([long, `${'🔑'.repeat(251)} (2)`, `${'🔑'.repeat(251)} (3)`]);
  });

  test('operations that create credentials refuse the name of a live one', async () => {
    const person = await logins.newPerson();
    const { user } = person;
    const passkey = () => ({ userId: user.userId, authenticators: [newPasskey(NAME).registration] });
    expect(outcome(await addKey(user, NAME))).toEqual(DONE);
    expect(outcome(await addKey(user, NAME))).toEqual(EXISTS);
    expect(outcome(await user.submit('create_authenticators', passkey()))).toEqual(DONE);
    expect(outcome(await user.submit('create_authenticators', passkey()))).toEqual(EXISTS);
    expect(await names(person)).toEqual([NAME]);
    expect(await passkeyNames(person)).toEqual([NAME]);
  });

  test('a recovery with the name of the lost passkey adds a second one, and the first stays', async () => {
    const person = await logins.newPerson();
    const { user, byParent, email } = person;
    const lost = newPasskey(NAME);
    await user.run('create_authenticators', { userId: user.userId, authenticators: [lost.registration] });
    for (const _ of times(2, () => 0)) {
      const receiver = new Receiver();
      await byParent.run('init_user_email_recovery', {
        email,
        targetPublicKey: receiver.publicKey,
        emailCustomization: { appName: 'App' },
      });
      const recovery = user.as(openKey(receiver, await logins.bundle(email)), user.userId);
      const { passkey, registration } = newPasskey(NAME);
      const recovered = await recovery.submit('recover_user', { userId: user.userId, authenticator: registration });
      expect(outcome(recovered)).toEqual(DONE);
      expect(recovered.body.activity.intent.recoverUserIntent.authenticator.authenticatorName).toBe(NAME);
      for (const held of [passkey, lost.passkey]) {
        const caller = new Caller(user, { stamp: (body) => ({ 'x-stamp-webauthn': passkeyStamp(body, held) }) });
        expect((await caller.query('whoami')).status).toBe(200);
      }
    }
    expect(await passkeyNames(person)).toEqual([NAME, `${NAME} (2)`, `${NAME} (3)`]);
  });

  test('what a recovery refuses it still refuses', async () => {
    const person = await logins.newPerson();
    const { user } = person;
    const { registration } = newPasskey(randomUUID());
    await user.run('create_authenticators', { userId: user.userId, authenticators: [registration] });
    const again = { ...registration, authenticatorName: randomUUID() };
    const answer = await user.submit('recover_user', { userId: user.userId, authenticator: again });
    expect(outcome(answer)).toEqual(EXISTS);
  });
});
