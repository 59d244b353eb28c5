import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp } from '../../harness/app.ts';
import { createUser, newKeyPair, send, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import {
  type Activity,
  addApiKey,
  addPasskey,
  approve,
  COMPLETED,
  FAILED,
  outcome,
  PENDING,
  path,
  policyFor,
  read,
  reject,
  UNPROVEN,
} from '../fixtures/access.ts';
import { attemptOf, LoginService, loginParameters } from '../fixtures/logins.ts';
import { boundTo, encryptClientSecret, OAUTH2_CLIENT, Oauth2Providers } from '../fixtures/oauth.ts';

const MINUTE = 60_000;
const WRONG_CODE = [400, 'INVALID_OTP_CODE'];

const resultOf = (activity: Activity) => Object.values(activity.result)[0] as Record<string, string>;
const ofType = (type: string) => `activity.type == 'ACTIVITY_TYPE_${type}'`;
const both = (...users: TestClient[]) =>
  users.map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ');

/** A request whose bytes can be sent again, as a client does that lost the answer. */
function request(client: TestClient, operation: string, parameters: unknown) {
  const body = client.submitBody(operation, parameters);
  return async () => await client.sendStamped(path(operation), body);
}

describe.each(databasesOf(import.meta.url))('results that are secrets, on %s', (database) => {
  let logins: LoginService;
  beforeAll(async () => {
    logins = await LoginService.open(database);
  });
  afterAll(async () => {
    const found = await logins.findSecrets();
    await logins[Symbol.asyncDispose]();
    expect(found).toEqual([]);
  });

  describe('allowed at once', () => {
    test('are shown again to the same credential for ten minutes, then the field is absent', async () => {
      const { user, email } = await logins.newPerson();
      const other = await addApiKey(user);
      const ask = request(user, 'verify_otp', attemptOf(await logins.sendCode(user, email), newKeyPair()));
      const first = await ask();
      expect(outcome(first)).toEqual([200, COMPLETED]);
      const { id } = first.body.activity;
      const { verificationToken } = resultOf(first.body.activity);
      logins.secrets.add(verificationToken as string);
      expect(resultOf((await ask()).body.activity)).toEqual({ verificationToken });
      expect(resultOf(await read(user, id))).toEqual({ verificationToken });
      // Not to another credential of the same user, nor in a list.
      expect(resultOf(await read(other.client, id))).toEqual({});
      const { activities } = (await user.query('list_activities')).body;
      expect(JSON.stringify(activities)).not.toContain(verificationToken);
      logins.advance(10 * MINUTE - 2000);
      const before = await read(user, id);
      expect(resultOf(before)).toEqual({ verificationToken });
      logins.advance(4000);
      const after = await read(user, id);
      expect(after).toEqual({ ...before, result: { verifyOtpResult: {} } });
      expect(resultOf((await ask()).body.activity)).toEqual({});
    });
  });

  describe('that wait for an approval', () => {
    /** An asker whose codes another user has to approve. */
    async function newAsker() {
      const { user: root, email } = await logins.newPerson();
      const [asker, approver] = [await createUser(root, 'asker'), await createUser(root, 'approver')];
      await policyFor(root, asker, { condition: ofType('INIT_OTP_V3') });
      for (const type of ['VERIFY_OTP_V2', 'CREATE_READ_ONLY_SESSION']) {
        await policyFor(root, asker, { condition: ofType(type), consensus: both(asker, approver) });
      }
      const clients = [asker, approver].map(({ key, userId }) => logins.client(root.organizationId, key, userId));
      return { root, asker: clients[0] as TestClient, approver: clients[1] as TestClient, email };
    }

    test('a code is used up by the proposal; its token is for the credential that proposed, once approved', async () => {
      const { root, asker, approver, email } = await newAsker();
      const other = await addApiKey(asker, root);
      const key = newKeyPair();
      const sent = await logins.sendCode(asker, email);
      const ask = request(asker, 'verify_otp', attemptOf(sent, key));
      const asked = await ask();
      expect(outcome(asked)).toEqual([200, PENDING]);
      expect(asked.body.activity.result).toEqual({});
      expect(outcome(await asker.submit('verify_otp', attemptOf(sent, key)))).toEqual(WRONG_CODE);
      const { id, fingerprint } = asked.body.activity;

      const done = await approve(approver, fingerprint);
      expect(outcome(done)).toEqual([200, COMPLETED]);
      expect(resultOf(done.body.activity)).toEqual({});
      expect(resultOf(await read(approver, id))).toEqual({});
      expect(resultOf(await read(other.client, id))).toEqual({});
      const { verificationToken } = resultOf((await ask()).body.activity);
      logins.secrets.add(verificationToken as string);
      expect(resultOf(await read(asker, id))).toEqual({ verificationToken });
      const login = await root.submit('otp_login', loginParameters(verificationToken as string, key, newKeyPair()));
      expect(outcome(login)).toEqual([200, COMPLETED]);
    });

    test('a wrong code is refused when it is proposed, and counts as an attempt', async () => {
      const { asker, email } = await newAsker();
      const sent = await logins.sendCode(asker, email);
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        const wrong = attemptOf(sent, newKeyPair(), `${sent.code.slice(0, -1)}${sent.code.endsWith('2') ? '3' : '2'}`);
        expect(outcome(await asker.submit('verify_otp', wrong))).toEqual(WRONG_CODE);
      }
      expect(outcome(await asker.submit('verify_otp', attemptOf(sent, newKeyPair())))).toEqual(WRONG_CODE);
    });

    test('one that expires before the approval fails, and says so', async () => {
      const { asker, approver, email } = await newAsker();
      const sent = await logins.sendCode(asker, email);
      const ask = request(asker, 'verify_otp', { ...attemptOf(sent, newKeyPair()), expirationSeconds: '120' });
      const { fingerprint, id } = (await ask()).body.activity;
      logins.advance(3 * MINUTE);
      const late = await approve(approver, fingerprint);
      expect(outcome(late)).toEqual([200, FAILED]);
      expect(late.body.activity.failure.message).toMatch(/expired/);
      expect(await read(asker, id)).toMatchObject({ status: FAILED, result: {} });
    });

    test('the ten minutes begin when the token is shown first, and end with the token', async () => {
      const { asker, approver, email } = await newAsker();
      const sent = await logins.sendCode(asker, email);
      const seconds = { expirationSeconds: '3000' };
      const { fingerprint, id } = (await asker.submit('verify_otp', { ...attemptOf(sent, newKeyPair()), ...seconds }))
        .body.activity;
      expect(outcome(await approve(approver, fingerprint))).toEqual([200, COMPLETED]);
      logins.advance(15 * MINUTE);
      const { verificationToken } = resultOf(await read(asker, id));
      logins.secrets.add(verificationToken as string);
      logins.advance(9 * MINUTE);
      expect(resultOf(await read(asker, id))).toEqual({ verificationToken });
      logins.advance(2 * MINUTE);
      expect(resultOf(await read(asker, id))).toEqual({});
    });

    test('a rejected one shows nothing', async () => {
      const { asker, approver, email } = await newAsker();
      const ask = request(asker, 'verify_otp', attemptOf(await logins.sendCode(asker, email), newKeyPair()));
      const { fingerprint } = (await ask()).body.activity;
      await reject(approver, fingerprint);
      expect((await ask()).body.activity).toMatchObject({ status: 'ACTIVITY_STATUS_REJECTED', result: {} });
    });

    test('a read-only session begins with its approval', async () => {
      const { asker, approver } = await newAsker();
      const ask = request(asker, 'create_read_only_session', {});
      const { fingerprint } = (await ask()).body.activity;
      const done = await approve(approver, fingerprint);
      expect(resultOf(done.body.activity)).toMatchObject({ userId: asker.userId });
      expect(resultOf(done.body.activity)).not.toHaveProperty('session');
      const { session } = resultOf((await ask()).body.activity);
      logins.secrets.add(session as string);
      const body = JSON.stringify({ organizationId: asker.organizationId });
      const whoami = await send(asker.baseUrl, '/public/v1/query/whoami', body, { 'x-session': session as string });
      expect(whoami).toMatchObject({ status: 200, body: { userId: asker.userId } });
    });

    test('a second factor completes it; the credential that proposed asks for the result', async () => {
      const { user: root } = await logins.newPerson();
      const created = await createUser(root, 'user');
      const user = logins.client(root.organizationId, created.key, created.userId);
      const passkey = await addPasskey(user, root);
      await root.run('create_mfa_policy', {
        userId: user.userId,
        mfaPolicyName: 'key, then passkey',
        condition: ofType('CREATE_READ_ONLY_SESSION'),
        requiredAuthenticationMethods: [
          { any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] },
          { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] },
        ],
        order: 1,
      });
      const ask = request(user, 'create_read_only_session', {});
      const asked = await ask();
      expect(outcome(asked)).toEqual([200, UNPROVEN]);
      const proven = await approve(passkey, asked.body.activity.fingerprint);
      expect(outcome(proven)).toEqual([200, COMPLETED]);
      expect(resultOf(proven.body.activity)).not.toHaveProperty('session');
      expect(resultOf((await ask()).body.activity).session).toMatch(/^[\w-]{20,}$/);
    });
  });

  test('an authorization code is exchanged when it is proposed', async () => {
    await using providers = await Oauth2Providers.start();
    await using app = await openTestApp(database, providers.env);
    const { root } = app;
    const second = await createUser(root, 'second');
    const ourKey = app.app.serviceKeys.find(({ role }) => role === 'oauth-secret')?.publicKey ?? '';
    const { oauth2CredentialId } = await root.run('create_oauth2_credential', {
      provider: 'OAUTH2_PROVIDER_DISCORD',
      clientId: OAUTH2_CLIENT.id,
      encryptedClientSecret: encryptClientSecret(OAUTH2_CLIENT.secret, ourKey),
    });
    const parameters = () => ({ oauth2CredentialId, ...providers.authorize(), nonce: boundTo('02ab').nonce });
    expect((await root.run('oauth2_authenticate', parameters())).oidcToken).toMatch(/^ey/);
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });

    const ask = request(root, 'oauth2_authenticate', parameters());
    const asked = await ask();
    expect(outcome(asked)).toEqual([200, PENDING]);
    const done = await approve(second, asked.body.activity.fingerprint);
    expect(outcome(done)).toEqual([200, COMPLETED]);
    expect(resultOf(done.body.activity)).toEqual({});
    expect(resultOf((await ask()).body.activity).oidcToken).toMatch(/^ey/);

    const late = await root.submit('oauth2_authenticate', parameters());
    app.advance(11 * MINUTE);
    const timestampMs = String(Date.now() + 11 * MINUTE);
    const voted = await second.submit(
      'approve_activity',
      { fingerprint: late.body.activity.fingerprint },
      { timestampMs },
    );
    expect(outcome(voted)).toEqual([200, FAILED]);
  });
});
