import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Receiver } from '../harness/bundles.ts';
import {
  type Answer,
  createUser,
  type KeyPair,
  newKeyPair,
  send,
  stampFor,
  type TestClient,
} from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import {
  addPasskey,
  approve,
  COMPLETED,
  outcome,
  PENDING,
  path,
  policyFor,
  propose,
  reject,
  times,
  voters,
} from './fixtures/access.ts';
import {
  attested,
  claimsOf,
  isSessionOf,
  LoginService,
  loginParameters,
  openKey,
  type Person,
  REFUSED_TOKEN,
} from './fixtures/logins.ts';

const MINUTE = 60_000;
const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];
const UNKNOWN_KEY = [401, 'PUBLIC_KEY_NOT_FOUND'];
const IS_TAG = "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'";
const IS_LOGIN = "activity.type == 'ACTIVITY_TYPE_STAMP_LOGIN'";
const done = (answer: Answer): boolean => answer.status === 200 && answer.body.activity.status === COMPLETED;
const whoami = async (client: TestClient) => outcome(await client.query('whoami'));

describe.each(databasesOf(import.meta.url))('sessions on %s', (database) => {
  let logins: LoginService;
  let parent: TestClient;

  beforeAll(async () => {
    logins = await LoginService.open(database);
    parent = logins.parent;
  });
  afterAll(async () => logins?.[Symbol.asyncDispose]());

  const login = (client: TestClient, session: KeyPair, extra: Record<string, unknown> = {}) =>
    client.submit('stamp_login', { publicKey: session.publicKey, ...extra });
  const keysOf = async (user: TestClient) =>
    (await user.query('get_api_keys', { userId: user.userId })).body.apiKeys as {
      credential: { type: string; publicKey: string };
      expirationSeconds?: string;
    }[];
  const above = (client: TestClient) => logins.client(parent.organizationId, client.key, client.userId);

  describe('stamp_login', () => {
    test('registers a key for a while, and says so in a token', async () => {
      const { user } = await logins.newPerson();
      const session = newKeyPair();
      const answer = await login(user, session);
      expect(outcome(answer)).toEqual([200, COMPLETED]);
      const { session: token } = answer.body.activity.result.stampLoginResult;
      const { keys } = await (await fetch(`${parent.baseUrl}/public/v1/discovery/keys`)).json();
      const signer = keys.find(({ role }: { role: string }) => role === 'session-signer').publicKey;
      expect(isSessionOf(token, signer)).toBe(true);
      expect(claimsOf(token)).toEqual({
        exp: expect.any(Number),
        public_key: session.publicKey,
        session_type: 'SESSION_TYPE_READ_WRITE',
        user_id: user.userId,
        organization_id: user.organizationId,
      });
      const client = user.as(session, user.userId);
      expect(outcome(await propose(client))).toEqual([200, COMPLETED]);
      expect((await keysOf(user)).at(-1)).toMatchObject({
        credential: { type: 'CREDENTIAL_TYPE_LOGIN', publicKey: session.publicKey },
        expirationSeconds: '900',
      });
      logins.advance(15 * MINUTE);
      const late = await propose(client);
      expect(outcome(late)).toEqual([401, 'API_KEY_EXPIRED']);
      expect(late.body.message).toContain('Unauthenticated desc = expired api key publicKey');
      expect(outcome(await propose(user))).toEqual([200, COMPLETED]);
    });

    test('of somebody who knows the parent only happens in the sub-organization', async () => {
      const { user } = await logins.newPerson();
      const passkey = await addPasskey(user);
      for (const client of [user, passkey]) {
        const session = newKeyPair();
        const body = client.submitBody(
          'stamp_login',
          { publicKey: session.publicKey },
          { organizationId: parent.organizationId },
        );
        const answer = await client.sendStamped(path('stamp_login'), body);
        expect(outcome(answer)).toEqual([200, COMPLETED]);
        const { organizationId } = user;
        expect(answer.body.activity).toMatchObject({ organizationId });
        expect(claimsOf(answer.body.activity.result.stampLoginResult.session).organization_id).toBe(organizationId);
        expect(await whoami(user.as(session))).toEqual([200, undefined]);
        // The session is its user's, and nobody's in the parent.
        const climbing = logins.client(parent.organizationId, session);
        expect(outcome(await propose(climbing))).toEqual(UNKNOWN_KEY);
        expect((await climbing.query('whoami')).body.organizationId).toBe(organizationId);
        expect(outcome(await climbing.query('list_users'))).toEqual(UNKNOWN_KEY);
      }
      expect(outcome(await propose(above(user)))).toEqual(UNKNOWN_KEY);
      expect(outcome(await propose(user))).toEqual([200, COMPLETED]);
    });

    test('renews a session, by its key and for another or the same one', async () => {
      const { user } = await logins.newPerson();
      const [first, second] = [newKeyPair(), newKeyPair()];
      expect(done(await login(user, first, { expirationSeconds: '60' }))).toBe(true);
      const client = user.as(first, user.userId);
      expect(done(await login(client, second))).toBe(true);
      expect(done(await login(client, first, { expirationSeconds: '600' }))).toBe(true);
      expect(await keysOf(user)).toHaveLength(3);
      logins.advance(2 * MINUTE);
      for (const session of [first, second]) expect(await whoami(user.as(session))).toEqual([200, undefined]);
    });

    test('ends the other sessions where asked', async () => {
      const { user } = await logins.newPerson();
      const [first, second, third] = times(3, newKeyPair) as [KeyPair, KeyPair, KeyPair];
      for (const session of [first, second]) expect(done(await login(user, session))).toBe(true);
      expect(outcome(await propose(user.as(first, user.userId)))).toEqual([200, COMPLETED]);
      expect(done(await login(user.as(first, user.userId), third, { invalidateExisting: true }))).toBe(true);
      for (const session of [first, second]) expect(outcome(await propose(user.as(session)))).toEqual(UNKNOWN_KEY);
      for (const client of [user, user.as(third)]) expect(await whoami(client)).toEqual([200, undefined]);
    });

    test('does not take a key that is another user’s, or of another kind', async () => {
      const { user } = await logins.newPerson();
      const member = await createUser(user, 'member');
      const session = newKeyPair();
      expect(done(await login(user, session))).toBe(true);
      expect(outcome(await login(member, session))).toEqual([409, 'ALREADY_EXISTS']);
      expect(outcome(await login(member, user.key))).toEqual([409, 'ALREADY_EXISTS']);
      expect(outcome(await login(member, member.key))).toEqual([409, 'ALREADY_EXISTS']);
      expect(done(await login(member, newKeyPair()))).toBe(true);
    });

    test('is everybody’s own business unless a policy says otherwise', async () => {
      const { user } = await logins.newPerson();
      const member = await createUser(user, 'member');
      expect(done(await login(member, newKeyPair()))).toBe(true);
      expect(outcome(await propose(member))).toEqual(DENIED);
      await policyFor(user, member, { effect: 'EFFECT_DENY', condition: "activity.resource == 'AUTH'" });
      expect(outcome(await login(member, newKeyPair()))).toEqual(DENIED);
    });

    test.each([
      ['a key of another curve', { publicKey: 'ab'.repeat(32) }, 'INVALID_PUBLIC_KEY'],
      ['a life of nothing', { expirationSeconds: '0' }, 'INVALID_API_KEY_EXPIRATION'],
      ['a life beyond thirty days', { expirationSeconds: '2592001' }, 'INVALID_API_KEY_EXPIRATION'],
      ['a life that is no number', { expirationSeconds: '-1' }, 'INVALID_API_KEY_EXPIRATION'],
      ['a profile that there is not', { sessionProfileId: randomUUID() }, 'REQUEST_INVALID'],
    ])('with %s is refused', async (_what, change, code) => {
      const { user } = await logins.newPerson();
      expect(outcome(await login(user, newKeyPair(), change))).toEqual([400, code]);
      expect(done(await login(user, newKeyPair(), { expirationSeconds: '2592000' }))).toBe(true);
    });
  });

  describe('a session of a profile', () => {
    const newProfile = async (scope: string, extra: object = {}): Promise<string> =>
      (await parent.run('create_session_profile', { sessionProfileName: randomUUID(), scope, ...extra }))
        .sessionProfileId;
    async function open({ user }: Person, sessionProfileId: string): Promise<TestClient> {
      const session = newKeyPair();
      expect(done(await login(user, session, { sessionProfileId }))).toBe(true);
      return user.as(session, user.userId);
    }

    test('is named in its token and lives no longer than its profile', async () => {
      const { user } = await logins.newPerson();
      const sessionProfileId = await newProfile(IS_TAG, { expirationSeconds: '120' });
      const session = newKeyPair();
      const answer = await login(user, session, { sessionProfileId, expirationSeconds: '600' });
      const claims = claimsOf(answer.body.activity.result.stampLoginResult.session);
      expect(claims).toMatchObject({ session_profile_id: sessionProfileId, scope: IS_TAG });
      expect(claims.session_type).not.toBe('SESSION_TYPE_READ_WRITE');
      expect((await keysOf(user)).at(-1)).toMatchObject({ expirationSeconds: '120' });
      const client = user.as(session, user.userId);
      expect(outcome(await propose(client))).toEqual([200, COMPLETED]);
      expect(outcome(await client.submit('update_user_name', { userId: user.userId, userName: 'x' }))).toEqual(DENIED);
    });

    test('makes sessions of the same profile only', async () => {
      const person = await logins.newPerson();
      const { user } = person;
      const [own, other] = [await newProfile(`${IS_LOGIN} || ${IS_TAG}`), await newProfile('true')];
      // The user's key makes any.
      const wide = await open(person, other);
      expect(done(await login(user, newKeyPair()))).toBe(true);
      const rename = (client: TestClient) =>
        client.submit('update_user_name', { userId: user.userId, userName: `Name ${randomUUID()}` });
      expect(outcome(await rename(wide))).toEqual([200, COMPLETED]);

      const scoped = await open(person, own);
      const inherited = newKeyPair();
      const answer = await login(scoped, inherited);
      expect(claimsOf(answer.body.activity.result.stampLoginResult.session).session_profile_id).toBe(own);
      for (const client of [scoped, user.as(inherited, user.userId)]) {
        expect(outcome(await propose(client))).toEqual([200, COMPLETED]);
        expect(outcome(await rename(client))).toEqual(DENIED);
      }
      expect(done(await login(scoped, newKeyPair(), { sessionProfileId: own }))).toBe(true);
      expect(done(await login(scoped, newKeyPair(), { sessionProfileId: '' }))).toBe(true);
      expect(outcome(await login(scoped, newKeyPair(), { sessionProfileId: other }))).toEqual(DENIED);
    });

    test('makes no other ones by a code either', async () => {
      const person = await logins.newPerson();
      const { user, email } = person;
      const sessionProfileId = await newProfile("activity.kind == 'OTP_LOGIN'");
      const scoped = await open(person, sessionProfileId);
      const key = newKeyPair();
      const other = { sessionProfileId: await newProfile('true') };
      const parameters = loginParameters(await logins.verify(user, email, key), key, newKeyPair());
      expect(outcome(await scoped.submit('otp_login', { ...parameters, ...other }))).toEqual(DENIED);
      const { session } = await scoped.run('otp_login', parameters);
      expect(claimsOf(session).session_profile_id).toBe(sessionProfileId);
      const wide = loginParameters(await logins.verify(user, email, key), key, newKeyPair());
      expect(done(await user.submit('otp_login', { ...wide, ...other }))).toBe(true);
    });

    test('makes no credential of another kind, whatever its scope', async () => {
      const person = await logins.newPerson();
      const { user, email } = person;
      const scoped = await open(person, await newProfile('true'));
      const target = { targetPublicKey: new Receiver().publicKey };
      const apiKeys = [{ apiKeyName: 'Another', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }];
      for (const [operation, parameters] of [
        ['create_read_write_session', target],
        ['email_auth', { email, ...target, emailCustomization: { appName: 'App' } }],
        ['init_user_email_recovery', { email, ...target, emailCustomization: { appName: 'App' } }],
        ['create_api_keys', { userId: user.userId, apiKeys }],
      ] as const) {
        expect(outcome(await scoped.submit(operation, parameters)), operation).toEqual(DENIED);
        expect(outcome(await user.submit(operation, parameters)), operation).toEqual([200, COMPLETED]);
      }
    });
  });

  describe('a read-only session', () => {
    async function open(client: TestClient) {
      const result = await client.run('create_read_only_session', {});
      logins.secrets.add(result.session);
      return result;
    }
    const withSession = (session: string, url: string, body: object, headers: Record<string, string> = {}) =>
      send(parent.baseUrl, url, JSON.stringify(body), { 'x-session': session, ...headers });
    const ask = (session: string, organizationId: string, query = 'whoami') =>
      withSession(session, `/public/v1/query/${query}`, { organizationId });

    test('reads for an hour', async () => {
      const { user } = await logins.newPerson();
      const { session, sessionExpiry, ...rest } = await open(user);
      const { organizationName, username } = (await user.query('whoami')).body;
      expect(rest).toEqual({ organizationId: user.organizationId, organizationName, userId: user.userId, username });
      expect(sessionExpiry).toMatch(/^\d{10}$/);
      for (const query of ['whoami', 'list_users', 'get_organization']) {
        expect((await ask(session, user.organizationId, query)).status, query).toBe(200);
      }
      logins.advance(59 * MINUTE);
      expect((await ask(session, user.organizationId)).status).toBe(200);
      logins.advance(MINUTE);
      expect(outcome(await ask(session, user.organizationId))).toEqual([401, 'UNAUTHENTICATED']);
    });

    test('submits nothing', async () => {
      const { user } = await logins.newPerson();
      const { session } = await open(user);
      const { fingerprint } = (await propose(user)).body.activity;
      for (const [operation, parameters] of [
        ['create_user_tag', { userTagName: 'tag', userIds: [] }],
        ['stamp_login', { publicKey: newKeyPair().publicKey }],
        ['create_read_only_session', {}],
        ['approve_activity', { fingerprint }],
      ] as const) {
        const body = user.submitBody(operation, parameters);
        const answer = await send(parent.baseUrl, path(operation), body, { 'x-session': session });
        expect(outcome(answer), operation).toEqual([401, 'UNAUTHENTICATED']);
        expect(outcome(await user.sendStamped(path(operation), body))[0], operation).toBe(200);
      }
    });

    test('is one organization’s, and stands alone on a request', async () => {
      const [{ user }, other] = [await logins.newPerson(), await logins.newPerson()];
      const { session } = await open(user);
      for (const organizationId of [other.user.organizationId, parent.organizationId]) {
        expect(outcome(await ask(session, organizationId))).toEqual([401, 'UNAUTHENTICATED']);
      }
      expect(outcome(await ask(`${session}x`, user.organizationId))).toEqual([401, 'UNAUTHENTICATED']);
      const body = { organizationId: user.organizationId };
      const stamp = stampFor(Buffer.from(JSON.stringify(body)), user.key);
      expect((await withSession(session, '/public/v1/query/whoami', body, { 'x-stamp': stamp })).status).toBe(400);
      expect((await ask(session, user.organizationId)).status).toBe(200);
      // A parent's does not reach below.
      const { session: parents } = await open(parent);
      expect((await ask(parents, user.organizationId)).status).toBe(401);
      expect((await ask(parents, parent.organizationId)).status).toBe(200);
    });

    test('ends with its user', async () => {
      const { user } = await logins.newPerson();
      const member = await createUser(user, 'member');
      const { session } = await open(member);
      expect((await ask(session, user.organizationId)).status).toBe(200);
      await user.run('delete_users', { userIds: [member.userId] });
      expect((await ask(session, user.organizationId)).status).toBe(401);
    });

    test('is made in the sub-organization through the parent’s id', async () => {
      const { user } = await logins.newPerson();
      expect((await open(above(user))).organizationId).toBe(user.organizationId);
    });
  });

  describe('a read-write session', () => {
    const create = (client: TestClient, extra: Record<string, unknown> = {}, version = {}) =>
      client.submit('create_read_write_session', { targetPublicKey: new Receiver().publicKey, ...extra }, version);
    const V1 = { type: 'ACTIVITY_TYPE_CREATE_READ_WRITE_SESSION' };

    test('is a key of the caller, for the target to open', async () => {
      const { user } = await logins.newPerson();
      const receiver = new Receiver();
      const answer = await create(user, { targetPublicKey: receiver.publicKey, apiKeyName: 'Mine' });
      const { credentialBundle, ...rest } = answer.body.activity.result.createReadWriteSessionResultV2;
      const { organizationName, username } = (await user.query('whoami')).body;
      const { organizationId, userId } = user;
      expect(rest).toEqual({ organizationId, organizationName, userId, username, apiKeyId: expect.any(String) });
      const client = user.as(openKey(receiver, credentialBundle), userId);
      expect(outcome(await propose(client))).toEqual([200, COMPLETED]);
      expect((await user.query('get_api_key', { apiKeyId: rest.apiKeyId })).body.apiKey).toMatchObject({
        apiKeyName: 'Mine',
        credential: { type: 'CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256' },
        expirationSeconds: '900',
      });
      const login1 = newKeyPair();
      expect(done(await login(user, login1))).toBe(true);
      expect(done(await create(user, { invalidateExisting: true }))).toBe(true);
      expect(await whoami(client)).toEqual(UNKNOWN_KEY);
      expect(await whoami(user.as(login1))).toEqual([200, undefined]);
      const late = openKey(
        receiver,
        (await create(user, { targetPublicKey: receiver.publicKey })).body.activity.result
          .createReadWriteSessionResultV2.credentialBundle,
      );
      expect(await whoami(user.as(late))).toEqual([200, undefined]);
      logins.advance(15 * MINUTE);
      expect(await whoami(user.as(late))).toEqual([401, 'API_KEY_EXPIRED']);
    });

    test('of somebody else needs a policy', async () => {
      const { user, email } = await logins.newPerson();
      const member = await createUser(user, 'member');
      expect(done(await create(member))).toBe(true);
      expect(done(await create(member, { userId: member.userId }))).toBe(true);
      expect(outcome(await create(member, { userId: user.userId }))).toEqual(DENIED);
      expect(outcome(await create(member, { email }, V1))).toEqual(DENIED);
      await policyFor(user, member, { condition: "activity.kind == 'CREATE_READ_WRITE_SESSION'" });
      const answer = await create(member, { userId: user.userId });
      expect(answer.body.activity.result.createReadWriteSessionResultV2.userId).toBe(user.userId);
    });

    test('of the first version names its user by email', async () => {
      const { user, email } = await logins.newPerson();
      const answer = await create(user, { email: email.toUpperCase() }, V1);
      expect(answer.body.activity.result.createReadWriteSessionResult).toMatchObject({ userId: user.userId });
      expect(outcome(await create(user, { email: `x${email}` }, V1))).toEqual([404, 'RESOURCE_NOT_FOUND']);
      expect(outcome(await create(user, { userId: randomUUID() }))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    });
  });

  describe('a stamp that a token attests', () => {
    async function holder() {
      const person = await logins.newPerson();
      const key = newKeyPair();
      const token = await logins.verify(person.byParent, person.email, key);
      return { ...person, key, token, client: attested(person.user, token, key) };
    }

    test('logs in, once', async () => {
      const { user, client, token } = await holder();
      const session = newKeyPair();
      const answer = await login(client, session);
      expect(outcome(answer)).toEqual([200, COMPLETED]);
      expect(answer.body.activity.votes).toMatchObject([
        { userId: user.userId, scheme: 'SIGNATURE_SCHEME_TK_ATTESTED_P256' },
      ]);
      expect(await whoami(user.as(session))).toEqual([200, undefined]);
      expect(outcome(await login(client, newKeyPair()))).toEqual(REFUSED_TOKEN);
      expect(JSON.stringify(answer.body)).not.toContain(token);
    });

    test('is found through the parent’s id once its contact was proven', async () => {
      const { user, email, client, key } = await holder();
      const climbing = (token: string) => attested(above(user) as never, token, key);
      const first = await logins.verify(parent, email, key);
      expect(outcome(await login(climbing(first), newKeyPair()))).toEqual([401, 'CREDENTIAL_NOT_FOUND']);
      expect(done(await login(client, newKeyPair()))).toBe(true);
      const answer = await login(climbing(first), newKeyPair());
      expect(outcome(answer)).toEqual([200, COMPLETED]);
      expect(answer.body.activity.organizationId).toBe(user.organizationId);
    });

    test('does nothing else', async () => {
      const { user, client } = await holder();
      const member = await createUser(user, 'member');
      await policyFor(user, member, { condition: IS_TAG, consensus: 'approvers.count() > 1' });
      const { fingerprint, status } = (await propose(member)).body.activity;
      expect(status).toBe(PENDING);
      for (const [operation, parameters] of [
        ['create_user_tag', { userTagName: 'tag', userIds: [] }],
        ['create_read_only_session', {}],
        ['create_read_write_session', { targetPublicKey: new Receiver().publicKey }],
        ['reject_activity', { fingerprint }],
        // It is no vote, though its user could give one.
        ['approve_activity', { fingerprint }],
      ] as const) {
        expect(outcome(await client.submit(operation, parameters)), operation).toEqual([401, 'UNAUTHENTICATED']);
      }
      expect(outcome(await client.query('whoami'))).toEqual([401, 'UNAUTHENTICATED']);
      const approved = await approve(user, fingerprint);
      expect(outcome(approved)).toEqual([200, COMPLETED]);
      expect(voters(approved.body.activity).sort()).toEqual([member.userId, user.userId].sort());
      expect(outcome(await reject(user, fingerprint))[0]).toBe(400);
      expect(done(await login(client, newKeyPair()))).toBe(true);
    });

    test('needs the key of the token, the organization of the token, and a token that counts', async () => {
      const { user, byParent, email, token, key, client } = await holder();
      const other = await logins.newPerson();
      const stranger = newKeyPair();
      const invalid = [401, 'SIGNATURE_INVALID'];
      expect(outcome(await login(attested(user, token, stranger), newKeyPair()))).toEqual(invalid);
      expect(outcome(await login(attested(user, `${token}x`, key), newKeyPair()))).toEqual(invalid);
      expect(outcome(await login(attested(other.user, token, key), newKeyPair()))).toEqual(invalid);
      // Signed for another body.
      const [body, changed] = times(2, () => client.submitBody('stamp_login', { publicKey: newKeyPair().publicKey }));
      const headers = client.manner.stamp?.(Buffer.from(body as string)) ?? {};
      const swapped = await send(parent.baseUrl, path('stamp_login'), changed as string, headers);
      expect(outcome(swapped)).toEqual(invalid);
      const short = await logins.verify(byParent, email, key, { expirationSeconds: '60' });
      logins.advance(MINUTE);
      expect(outcome(await login(attested(user, short, key), newKeyPair()))).toEqual(invalid);
      expect(done(await login(client, newKeyPair()))).toBe(true);
      // Nobody here has this contact.
      const elsewhere = await logins.verify(parent, other.email, key);
      expect(outcome(await login(attested(user, elsewhere, key), newKeyPair()))).toEqual([401, 'CREDENTIAL_NOT_FOUND']);
      expect(done(await login(attested(other.user, elsewhere, key), newKeyPair()))).toBe(true);
    });

    test('meets an MFA policy that asks for the code', async () => {
      const { user, client } = await holder();
      await user.run('create_mfa_policy', {
        userId: user.userId,
        mfaPolicyName: 'MFA',
        condition: IS_LOGIN,
        requiredAuthenticationMethods: [{ any: [{ type: 'AUTHENTICATION_TYPE_EMAIL_OTP' }] }],
        order: 0,
      });
      const byKey = await login(user, newKeyPair());
      expect(byKey.body.activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      expect(outcome(await login(client, newKeyPair()))).toEqual([200, COMPLETED]);
      // The token has proven a step and proves no other.
      expect(outcome(await approve(client, byKey.body.activity.fingerprint))).toEqual(REFUSED_TOKEN);
    });
  });

  test('no token and no session is in the database', async () => {
    expect(logins.secrets.size).toBeGreaterThan(12);
    expect(await logins.findSecrets()).toEqual([]);
  });
});
