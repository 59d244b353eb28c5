import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newPasskey } from '../../fixtures/passkey.ts';
import { openTestApp } from '../../harness/app.ts';
import { createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { addApiKey, addPasskey, approve, Caller, COMPLETED, FAILED, outcome, Rows, times } from '../fixtures/access.ts';
import { LoginService } from '../fixtures/logins.ts';

const DAY_SECONDS = 24 * 60 * 60;
const DONE = [200, COMPLETED];
const REFUSED = [400, 'INVALID_QUORUM'];

const WITH_MAIL = {
  CUSTOS_DEV_INBOX: 'off',
  CUSTOS_SMTP_URL: 'smtp://127.0.0.1:9',
  CUSTOS_MAIL_FROM: 'codes@mail.example',
  CUSTOS_SMS_URL: 'http://127.0.0.1:9/messages',
  CUSTOS_SMS_USER: 'user',
  CUSTOS_SMS_PASSWORD: 'password',
  CUSTOS_SMS_FROM: '+15550100',
};

const keyIds = async (client: TestClient): Promise<string[]> =>
  (await client.query('get_api_keys', { userId: client.userId })).body.apiKeys.map(
    ({ apiKeyId }: { apiKeyId: string }) => apiKeyId,
  );
const deleteKeys = (client: TestClient, apiKeyIds: string[], { userId } = client) =>
  client.submit('delete_api_keys', { userId, apiKeyIds });
const deletePasskeys = (client: TestClient, ...authenticatorIds: string[]) =>
  client.submit('delete_authenticators', { userId: client.userId, authenticatorIds });

const expiringKey = (seconds: number, { publicKey } = newKeyPair()) => ({
  apiKeyName: randomUUID(),
  publicKey,
  curveType: 'API_KEY_CURVE_P256',
  expirationSeconds: String(seconds),
});

/** A client that stamps with a key that expires. */
async function addExpiringKey(client: Caller, seconds: number): Promise<Caller> {
  const key = newKeyPair();
  await client.run('create_api_keys', { userId: client.userId, apiKeys: [expiringKey(seconds, key)] });
  return client.as(key, client.userId);
}

/** A user without any credential. */
async function createUnable(root: TestClient): Promise<TestClient> {
  const user = await createUser(root, 'Unable');
  expect(outcome(await deleteKeys(user, await keyIds(user)))).toEqual(DONE);
  return user;
}

/** A client that stamps with a session of a minute. */
async function logIn(client: Caller, expirationSeconds = '60'): Promise<Caller> {
  const session = newKeyPair();
  await client.run('stamp_login', { publicKey: session.publicKey, expirationSeconds });
  return client.as(session, client.userId);
}

describe.each(databasesOf(import.meta.url, { hasRaces: true }))(
  'the root quorum keeps a lasting way in on %s',
  (database) => {
    let logins: LoginService;
    beforeAll(async () => {
      logins = await LoginService.open(database, WITH_MAIL);
    });
    afterAll(async () => logins?.[Symbol.asyncDispose]());

    const newRoot = async (): Promise<Caller> => (await logins.newPerson()).user;
    const verify = (contact: 'email' | 'phone', { organizationId, userId }: TestClient, rows = logins.rows) =>
      rows.run(`UPDATE app_user SET ${contact}_verified = 1 WHERE organization_id = ? AND id = ?`, [
        organizationId,
        userId,
      ]);
    async function addIdentity({ organizationId, userId }: TestClient): Promise<string> {
      const id = randomUUID();
      await logins.rows.run(
        `INSERT INTO oauth_provider (organization_id, id, user_id, name, issuer, audience, subject, created_at_ms, updated_at_ms)
       VALUES (?, ?, ?, 'Identity', 'https://issuer.example', 'app', ?, 1, 1)`,
        [organizationId, id, userId, id],
      );
      return id;
    }
    /** A root user whose only way in is a passkey, and a session of it. */
    async function withPasskeyOnly() {
      const root = await newRoot();
      const passkey = await addPasskey(root);
      expect(outcome(await deleteKeys(root, await keyIds(root)))).toEqual(DONE);
      return { passkey, session: await logIn(passkey) };
    }

    test('a session deletes a passkey beside another one, but not the last', async () => {
      const { passkey, session } = await withPasskeyOnly();
      const second = await addPasskey(session);
      expect(outcome(await deletePasskeys(session, second.authenticatorId))).toEqual(DONE);
      const refused = await deletePasskeys(session, passkey.authenticatorId);
      expect(outcome(refused)).toEqual(REFUSED);
      expect(refused.body.message).toContain(session.userId);
      expect(refused.body.message).toMatch(/add .* first/);
      expect((await passkey.query('whoami')).status).toBe(200);
    });

    test('sessions come and go', async () => {
      const { passkey, session } = await withPasskeyOnly();
      expect(outcome(await deleteKeys(session, await keyIds(session)))).toEqual(DONE);
      expect((await session.query('whoami')).status).toBe(401);
      expect((await passkey.query('whoami')).status).toBe(200);
    });

    test.each([
      ['an API key with 31 days left', DONE, (root: Caller) => addExpiringKey(root, 31 * DAY_SECONDS)],
      ['an API key with 29 days left', REFUSED, (root: Caller) => addExpiringKey(root, 29 * DAY_SECONDS)],
      ['a session of 30 days', REFUSED, (root: Caller) => logIn(root, String(30 * DAY_SECONDS))],
      ['a passkey', DONE, (root: Caller) => addPasskey(root)],
      ['an OAuth identity', DONE, (root: Caller) => addIdentity(root)],
      ['a verified email', DONE, (root: Caller) => verify('email', root)],
      ['a verified phone number', DONE, (root: Caller) => verify('phone', root)],
      ['contacts that are not verified', REFUSED, async () => {}],
    ] as const)('what the last key may be deleted beside: %s', async (_name, expected, add) => {
      const root = await newRoot();
      const [first] = await keyIds(root);
      const other = await addApiKey(root);
      // Beside another key that never expires it may go.
      expect(outcome(await deleteKeys(root, [other.apiKeyId]))).toEqual(DONE);
      await add(root);
      expect(outcome(await deleteKeys(root, [first as string]))).toEqual(expected);
    });

    test('a key of a recovery is none', async () => {
      const { user, byParent, email } = await logins.newPerson();
      await byParent.run('init_user_email_recovery', {
        email,
        targetPublicKey: newKeyPair().publicKey,
        expirationSeconds: String(30 * DAY_SECONDS),
        emailCustomization: { appName: 'App' },
      });
      const ids = await keyIds(user);
      expect(ids).toHaveLength(2);
      expect(outcome(await deleteKeys(user, ids.slice(0, 1)))).toEqual(REFUSED);
    });

    describe('where a verified email is the way in', () => {
      const FEATURE = 'FEATURE_NAME_OTP_EMAIL_AUTH';
      /** With a session, as after a login by code. */
      async function withEmailOnly(): Promise<Caller> {
        const root = await newRoot();
        await verify('email', root);
        const session = await logIn(root);
        expect(outcome(await deleteKeys(session, (await keyIds(root)).slice(0, 1)))).toEqual(DONE);
        return session;
      }
      const changes: [string, (client: Caller) => [string, object]][] = [
        ['its removal', ({ userId }) => ['update_user_email', { userId, userEmail: '' }]],
        ['another one', ({ userId }) => ['update_user_email', { userId, userEmail: 'another@mail.example' }]],
        ['its removal by update_user', ({ userId }) => ['update_user', { userId, userEmail: '' }]],
        ['the feature off', () => ['set_organization_feature', { name: FEATURE, value: 'false' }]],
        ['the feature gone', () => ['remove_organization_feature', { name: FEATURE }]],
      ];

      test.each(changes)('%s is refused, and done once there is another way', async (_name, change) => {
        const session = await withEmailOnly();
        const refused = await session.submit(...change(session));
        expect(outcome(refused)).toEqual(REFUSED);
        const { user } = (await session.query('get_user', { userId: session.userId })).body;
        expect(user.userEmail).toContain('@mail.example');
        await addPasskey(session);
        expect(outcome(await session.submit(...change(session)))).toEqual(DONE);
      });

      test('what has nothing to do with it is done', async () => {
        const session = await withEmailOnly();
        const { userId } = session;
        expect(outcome(await session.submit('update_user', { userId, userName: 'New name' }))).toEqual(DONE);
        expect(outcome(await session.submit('update_user_phone_number', { userId, userPhoneNumber: '' }))).toEqual(
          DONE,
        );
        expect(outcome(await session.submit('remove_organization_feature', { name: 'FEATURE_NAME_SMS_AUTH' }))).toEqual(
          DONE,
        );
      });
    });

    test('an OAuth identity that is the last way in stays', async () => {
      const root = await newRoot();
      const session = await logIn(root);
      const [one, two] = [await addIdentity(root), await addIdentity(root)];
      const remove = (...providerIds: string[]) =>
        session.submit('delete_oauth_providers', { userId: session.userId, providerIds });
      expect(outcome(await deleteKeys(session, (await keyIds(root)).slice(0, 1)))).toEqual(DONE);
      expect(outcome(await remove(two))).toEqual(DONE);
      expect(outcome(await remove(one))).toEqual(REFUSED);
    });

    test('a quorum is not handed to users who cannot come in', async () => {
      const root = await newRoot();
      const [able, unable] = [await createUser(root, 'Able'), await createUnable(root)];
      const quorum = (threshold: number, ...userIds: string[]) =>
        root.submit('update_root_quorum', { threshold, userIds });
      expect(outcome(await quorum(1, able.userId, root.userId))).toEqual(DONE);
      const refused = await quorum(1, unable.userId);
      expect(outcome(refused)).toEqual(REFUSED);
      expect(refused.body.message).toContain(unable.userId);
      expect(outcome(await quorum(3, root.userId, able.userId, unable.userId))).toEqual(REFUSED);
      expect(outcome(await quorum(2, root.userId, able.userId, unable.userId))).toEqual(DONE);
    });

    test('users outside the quorum are not concerned', async () => {
      const root = await newRoot();
      const user = await createUser(root, 'User');
      const passkey = await addPasskey(user);
      expect(outcome(await deleteKeys(user, await keyIds(user)))).toEqual(DONE);
      expect(outcome(await deletePasskeys(passkey, passkey.authenticatorId))).toEqual(DONE);
    });

    test('a quorum of several may all agree to it; fewer may not', async () => {
      const root = await newRoot();
      const second = await createUser(root, 'Second');
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
      expect(outcome(await deleteKeys(second, await keyIds(second)))).toEqual(REFUSED);
      const proposal = (await deleteKeys(root, await keyIds(second), second)).body.activity;
      expect(outcome(await approve(second, proposal.fingerprint))).toEqual(DONE);
    });

    test('an approved activity that would lock the quorum out ends as FAILED and undoes itself', async () => {
      const root = await newRoot();
      const [second, third] = [await createUser(root, 'Second'), await createUnable(root)];
      const userIds = [root.userId, second.userId, third.userId];
      await root.run('update_root_quorum', { threshold: 2, userIds });
      const ids = await keyIds(second);
      const proposal = (await deleteKeys(root, ids, second)).body.activity;
      const answer = await approve(second, proposal.fingerprint);
      expect(outcome(answer)).toEqual([200, FAILED]);
      expect(JSON.stringify(answer.body.activity.failure)).toContain(second.userId);
      expect(await keyIds(second)).toEqual(ids);
    });

    test('of two members who delete their last key at the same time one is refused', async () => {
      const root = await newRoot();
      const second = await createUser(root, 'Second');
      await root.run('update_root_quorum', { threshold: 1, userIds: [root.userId, second.userId] });
      const [mine, theirs] = [await keyIds(root), await keyIds(second)];
      const outcomes = await Promise.all([deleteKeys(root, mine), deleteKeys(second, theirs)]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 400]);
    });

    test('a quorum whose last key has less than 30 days left keeps that one', async () => {
      const client = await addExpiringKey(await newRoot(), 31 * DAY_SECONDS);
      const [first, short] = await keyIds(client);
      expect(outcome(await deleteKeys(client, [first as string]))).toEqual(DONE);
      const expiresAtMs = Date.now() + 5 * DAY_SECONDS * 1000;
      await logins.rows.run('UPDATE api_key SET expires_at_ms = ? WHERE id = ?', [expiresAtMs, short as string]);
      expect(outcome(await deleteKeys(client, [short as string]))).toEqual(REFUSED);
      await addExpiringKey(client, 5 * DAY_SECONDS);
      expect(outcome(await deleteKeys(client, [short as string]))).toEqual(DONE);
    });

    test('logins do not replace the last lasting key', async () => {
      const root = await newRoot();
      const client = await addExpiringKey(root, 365 * DAY_SECONDS);
      const [first] = await keyIds(client);
      expect(outcome(await deleteKeys(client, [first as string]))).toEqual(DONE);
      for (const _ of times(12, () => 0)) await logIn(client, '3600');
      expect((await client.query('whoami')).status).toBe(200);
      expect(await keyIds(client)).toHaveLength(10);
      const ten = times(10, () => expiringKey(3600));
      const refused = await client.submit('create_api_keys', { userId: client.userId, apiKeys: ten });
      expect(outcome(refused)).toEqual([429, 'RESOURCE_LIMIT_EXCEEDED']);
      expect((await client.query('whoami')).status).toBe(200);
    });

    test('nor the only key of somebody whose keys all expire soon', async () => {
      const client = await addExpiringKey(await newRoot(), 20 * DAY_SECONDS);
      const [first] = await keyIds(client);
      await logins.rows.run('DELETE FROM api_key WHERE id = ?', [first as string]);
      for (const _ of times(11, () => 0)) await logIn(client, '60');
      expect((await client.query('whoami')).status).toBe(200);
    });

    describe('in an organization without a parent', () => {
      test('passkeys count where their origin is allowed', async () => {
        await using app = await openTestApp(database);
        const { root } = app;
        const passkey = await addPasskey(root);
        expect(outcome(await deleteKeys(passkey, await keyIds(root)))).toEqual(DONE);
        const allow = (value: string) =>
          passkey.submit('set_organization_feature', { name: 'FEATURE_NAME_WEBAUTHN_ORIGINS', value });
        expect(outcome(await allow('https://app.example'))).toEqual(DONE);
        expect(outcome(await allow('https://other.example'))).toEqual(REFUSED);
        expect((await passkey.query('whoami')).status).toBe(200);
      });

      test('a contact counts while somebody else can ask for the code', async () => {
        await using app = await openTestApp(database, WITH_MAIL);
        await using rows = await Rows.open(app.app.config);
        const { root } = app;
        const [first] = await keyIds(root);
        await root.run('update_user_email', { userId: root.userId, userEmail: 'root@mail.example' });
        await root.run('set_organization_feature', { name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: 'true' });
        await verify('email', root, rows);
        const session = await logIn(new Caller(root, {}));
        expect(outcome(await deleteKeys(session, [first as string]))).toEqual(REFUSED);
        // Nobody lets this one ask for a code, but another member of the quorum may.
        await createUser(session, 'Intern');
        expect(outcome(await deleteKeys(session, [first as string]))).toEqual(REFUSED);
        const partner = await createUser(session, 'Partner');
        const userIds = [root.userId, partner.userId];
        expect(outcome(await session.submit('update_root_quorum', { threshold: 1, userIds }))).toEqual(DONE);
        expect(outcome(await deleteKeys(session, [first as string]))).toEqual(DONE);
        const alone = { threshold: 1, userIds: [root.userId] };
        expect(outcome(await session.submit('update_root_quorum', alone))).toEqual(REFUSED);
      });
    });
  },
);

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('a service that sends no mail on %s', (database) => {
  test('has no login by code that lasts: the development inbox is none', async () => {
    await using logins = await LoginService.open(database);
    const { user } = await logins.newPerson();
    await logins.rows.run('UPDATE app_user SET email_verified = 1 WHERE organization_id = ? AND id = ?', [
      user.organizationId,
      user.userId,
    ]);
    const ids = await keyIds(user);
    expect(outcome(await deleteKeys(user, ids))).toEqual(REFUSED);
    const { registration } = newPasskey('Passkey');
    await user.run('create_authenticators', { userId: user.userId, authenticators: [registration] });
    expect(outcome(await deleteKeys(user, ids))).toEqual(DONE);
  });
});
