import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SignUpProxyReader } from '../../src/domains/sign-up-proxy/store.ts';
import { newPasskey } from '../fixtures/passkey.ts';
import { Receiver } from '../harness/bundles.ts';
import { createUser, type KeyPair, newKeyPair, stampFor, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { ec, Issuer, toJwk } from '../harness/oidc-issuer.ts';
import {
  addPasskey,
  addSessionKey,
  approve,
  Caller,
  COMPLETED,
  outcome,
  PENDING,
  policyFor,
  propose,
  read,
  tagNames,
  times,
  UNPROVEN,
} from './fixtures/access.ts';
import {
  attested,
  claimsOf,
  clientSignature,
  LoginService,
  loginParameters,
  newEmail,
  openKey,
  REFUSED_TOKEN,
} from './fixtures/logins.ts';
import {
  boundTo,
  encryptClientSecret,
  idToken,
  LOOPBACK,
  rootUser,
  signUpParams,
  startKnownIssuer,
} from './fixtures/oauth.ts';
import { keyParams, LISTS, ProxyClient, ProxyWorld, refusal } from './fixtures/proxy.ts';

// What two hostile reviews of logins and sign-up tried. Each attack stands beside the same request without it.

const DAY_MS = 24 * 3600_000;
const DONE = [200, COMPLETED];
const WAITS = [200, PENDING];
const OWES = [200, UNPROVEN];
const INVALID = [400, 'REQUEST_INVALID'];
const DENIED = [403, 'REQUEST_NOT_AUTHORIZED'];
const NOT_YET = [400, 'FAILED_PRECONDITION'];
const NO_VOTE = [401, 'UNAUTHENTICATED'];

const PASSKEY = 'AUTHENTICATION_TYPE_PASSKEY';
const API_KEY = 'AUTHENTICATION_TYPE_API_KEY';
const EMAIL = 'AUTHENTICATION_TYPE_EMAIL_OTP';
const SESSION = 'AUTHENTICATION_TYPE_SESSION';
const LOGINS = "activity.resource == 'AUTH'";
const TAGS = "activity.type == 'ACTIVITY_TYPE_CREATE_USER_TAG'";
const ofType = (type: string) => `activity.type == 'ACTIVITY_TYPE_${type}'`;

const enforce = (root: TestClient, { userId }: TestClient, condition: string, ...types: string[]) =>
  root.run('create_mfa_policy', {
    userId,
    mfaPolicyName: randomUUID(),
    condition,
    requiredAuthenticationMethods: types.map((type) => ({ any: [{ type }] })),
    order: 0,
  });
/** All of them have to approve. */
const both = (...users: TestClient[]) =>
  users.map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ');
const asLogin = (email: string) => ({
  email,
  targetPublicKey: new Receiver().publicKey,
  emailCustomization: { appName: 'App' },
});
const sessionOf = ({ body }: { body: { activity: { result: object } } }): string =>
  (Object.values(body.activity.result)[0] as { session: string }).session;

describe('attacks on logins', () => {
  let logins: LoginService;
  let parent: Caller;

  beforeAll(async () => {
    logins = await LoginService.open('sqlite', {
      CUSTOS_OTP_REQUESTS: '0',
      CUSTOS_MAIL_SENDER_DOMAINS: 'brand.example',
      ...LOOPBACK,
    });
    parent = logins.parent;
  });
  afterAll(() => logins[Symbol.asyncDispose]());

  /** The same user with the same stamp, about another organization. */
  const inside = (client: TestClient, { organizationId }: TestClient): Caller =>
    new Caller(logins.client(organizationId, client.key, client.userId), client instanceof Caller ? client.manner : {});
  /** A token that is good by the clock of the service. */
  const tokenOf = (issuer: Issuer, claims: object) => idToken(issuer, claims, ec, logins.service.app.clock());
  const parentUser = async () => (await createUser(parent, `user ${randomUUID()}`)) as Caller;
  const isIn = async (client: TestClient, session: KeyPair) =>
    (await client.as(session).query('whoami')).status === 200;

  describe('what others complete runs as the proposer asked for it', () => {
    test('a session that has a profile gets no session without one, by MFA or by consensus', async () => {
      const { user: root } = await logins.newPerson();
      const { sessionProfileId } = await parent.run('create_session_profile', {
        sessionProfileName: randomUUID(),
        scope: LOGINS,
      });
      const [user, other] = [await createUser(root, 'one'), await createUser(root, 'other')];
      const [limited, second] = [
        await addSessionKey(logins.rows, user, { sessionProfileId }),
        await addSessionKey(logins.rows, other, { sessionProfileId }),
      ];
      const login = (client: TestClient, key = newKeyPair()) =>
        client.submit('stamp_login', { publicKey: key.publicKey });
      const direct = await login(limited);
      expect(claimsOf(sessionOf(direct)).session_profile_id).toBe(sessionProfileId);

      const passkey = await addPasskey(user, root);
      await enforce(root, user, LOGINS, SESSION, PASSKEY);
      const key = newKeyPair();
      const asked = await login(limited, key);
      expect(outcome(asked)).toEqual(OWES);
      const proven = await approve(passkey, asked.body.activity.fingerprint);
      expect(outcome(proven)).toEqual(DONE);
      expect(claimsOf(sessionOf(proven)).session_profile_id).toBe(sessionProfileId);
      await policyFor(root, user, { condition: TAGS });
      expect(outcome(await propose(user))).toEqual(DONE);
      expect(outcome(await propose(user.as(key, user.userId)))).toEqual(DENIED);

      await policyFor(root, other, { condition: ofType('STAMP_LOGIN'), consensus: both(root, other) });
      const pending = await login(second);
      expect(outcome(pending)).toEqual(WAITS);
      const approved = await approve(root, pending.body.activity.fingerprint);
      expect(outcome(approved)).toEqual(DONE);
      expect(claimsOf(sessionOf(approved)).session_profile_id).toBe(sessionProfileId);
    });

    test('the token of an approver is a proof of the approver, not the login of the proposer', async () => {
      const { user: root, email, byParent } = await logins.newPerson();
      const user = await createUser(root, 'user');
      await policyFor(root, user, { condition: ofType('STAMP_LOGIN'), consensus: both(root, user) });
      const ask = async () => await user.submit('stamp_login', { publicKey: newKeyPair().publicKey });
      expect(outcome(await approve(root, (await ask()).body.activity.fingerprint))).toEqual(DONE);

      await enforce(root, root, ofType('STAMP_LOGIN'), API_KEY, EMAIL);
      const { fingerprint } = (await ask()).body.activity;
      expect(outcome(await approve(root, fingerprint))).toEqual(OWES);
      const key = newKeyPair();
      const token = await logins.verify(byParent, email, key);
      const done = await approve(attested(root, token, key), fingerprint);
      expect(outcome(done)).toEqual(DONE);
      expect(claimsOf(sessionOf(done)).user_id).toBe(user.userId);
      // It has not logged its own user in yet.
      expect(outcome(await byParent.submit('otp_login', loginParameters(token, key, newKeyPair())))).toEqual(DONE);
    });
  });

  describe('a token proves a factor and never is a vote', () => {
    test('not after its round has lapsed', async () => {
      const { user, email, byParent } = await logins.newPerson();
      await enforce(user, user, TAGS, EMAIL);
      const key = newKeyPair();
      const byToken = async () => attested(user, await logins.verify(byParent, email, key), key);
      const ask = async (name: string) => (await propose(user, name)).body.activity.fingerprint;
      expect(outcome(await approve(await byToken(), await ask('in time')))).toEqual(DONE);
      const late = await ask('late');
      logins.advance(DAY_MS + 60_000);
      expect(outcome(await approve(await byToken(), late))).toEqual(NO_VOTE);
      expect(await tagNames(user)).toEqual(['in time']);
      // Who asked asks again, and then a token is a factor as before.
      expect(outcome(await approve(user, late))).toEqual(OWES);
      expect(outcome(await approve(await byToken(), late))).toEqual(DONE);
    });

    test('not for a login that its user has proven already', async () => {
      const { user: root, byParent } = await logins.newPerson();
      const email = newEmail();
      const user = (await createUser(root, 'user', { userEmail: email })) as Caller;
      await enforce(root, user, ofType('OTP_LOGIN_V2'), EMAIL, EMAIL);
      await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, user.userId] });
      const key = newKeyPair();
      const byToken = async () => attested(user, await logins.verify(byParent, email, key), key);
      const proven = async (session: KeyPair) => {
        const token = await logins.verify(byParent, email, key);
        const asked = await root.submit('otp_login', loginParameters(token, key, session));
        expect(outcome(asked)).toEqual(OWES);
        const { id, fingerprint } = asked.body.activity;
        expect(outcome(await approve(await byToken(), fingerprint))).toEqual(WAITS);
        expect((await read(root, id)).status).toBe(PENDING);
        return fingerprint;
      };
      const [good, session] = [newKeyPair(), newKeyPair()];
      expect(outcome(await approve(user, await proven(good)))).toEqual(DONE);
      expect(await isIn(user, good)).toBe(true);
      const fingerprint = await proven(session);
      expect(outcome(await approve(await byToken(), fingerprint))).toEqual(NO_VOTE);
      expect(await isIn(user, session)).toBe(false);
      expect(outcome(await approve(user, fingerprint))).toEqual(DONE);
    });

    test('not as a second credential', async () => {
      const { user: root, byParent } = await logins.newPerson();
      const email = newEmail();
      const user = (await createUser(root, 'user', { userEmail: email })) as Caller;
      const passkey = await addPasskey(user, root);
      await policyFor(root, user, { condition: TAGS, consensus: `${both(user)} && credentials.count() >= 2` });
      const { mfaPolicyId } = await enforce(root, user, TAGS, API_KEY, PASSKEY);
      const first = await propose(user, 'two credentials');
      expect(outcome(first)).toEqual(OWES);
      expect(outcome(await approve(passkey, first.body.activity.fingerprint))).toEqual(DONE);

      await root.run('delete_mfa_policy', { userId: user.userId, mfaPolicyId });
      await enforce(root, user, TAGS, API_KEY, EMAIL);
      const { fingerprint } = (await propose(user, 'one credential')).body.activity;
      const key = newKeyPair();
      const byToken = attested(user, await logins.verify(byParent, email, key), key);
      expect(outcome(await approve(byToken, fingerprint))).toEqual(WAITS);
      expect(await tagNames(root)).toEqual(['two credentials']);
      expect(outcome(await approve(passkey, fingerprint))).toEqual(DONE);
    });
  });

  describe('the user of a login meets its own MFA, however the login is completed', () => {
    test('also when the contact became that user’s while others were asked', async () => {
      const asker = await parentUser();
      const condition = ofType('OTP_LOGIN_V2');
      await policyFor(parent, asker, { condition, consensus: both(asker, parent) });
      const { user: root, byParent } = await logins.newPerson();
      const [email, careful] = [newEmail(), newEmail()];
      const plain = await createUser(root, 'plain', { userEmail: email });
      const guarded = await createUser(root, 'guarded', { userEmail: careful });
      await addPasskey(guarded, root);
      await enforce(root, guarded, 'true', EMAIL, PASSKEY);
      const key = newKeyPair();
      const ask = async (session: KeyPair) => {
        const token = await logins.verify(byParent, email, key);
        const asked = await inside(asker, root).submit('otp_login', loginParameters(token, key, session));
        expect(outcome(asked)).toEqual(WAITS);
        return asked.body.activity.fingerprint;
      };
      const [good, session] = [newKeyPair(), newKeyPair()];
      expect(outcome(await approve(byParent, await ask(good)))).toEqual(DONE);
      expect(await isIn(plain, good)).toBe(true);
      const fingerprint = await ask(session);
      await root.run('update_user_email', { userId: plain.userId, userEmail: newEmail() });
      await root.run('update_user_email', { userId: guarded.userId, userEmail: email });
      expect(outcome(await approve(byParent, fingerprint))).toEqual(NOT_YET);
      expect(await isIn(guarded, session)).toBe(false);
    });

    test('also when what it proved has lapsed', async () => {
      const [asker, second] = [await parentUser(), await parentUser()];
      const condition = ofType('EMAIL_AUTH_V3');
      await policyFor(parent, asker, { condition, consensus: both(asker, second) });
      const { user, email } = await logins.newPerson();
      const passkey = await addPasskey(user);
      await enforce(user, user, LOGINS, EMAIL, PASSKEY);
      const proven = async () => {
        const asked = await inside(asker, user).submit('email_auth', asLogin(email));
        expect(outcome(asked)).toEqual(OWES);
        const { fingerprint } = asked.body.activity;
        expect(outcome(await approve(passkey, fingerprint))).toEqual(WAITS);
        return fingerprint;
      };
      expect(outcome(await approve(inside(second, user), await proven()))).toEqual(DONE);
      const fingerprint = await proven();
      logins.advance(DAY_MS + 60_000);
      expect(outcome(await approve(inside(asker, user), fingerprint))).toEqual(WAITS);
      expect(outcome(await approve(inside(second, user), fingerprint))).toEqual(NOT_YET);
    });

    test('after that of who asks', async () => {
      const asker = await parentUser();
      await policyFor(parent, asker);
      const { user, email, byParent } = await logins.newPerson();
      const key = newKeyPair();
      const ask = async (session = newKeyPair()) => {
        const token = await logins.verify(byParent, email, key);
        return await inside(asker, user).submit('otp_login', loginParameters(token, key, session));
      };
      expect(outcome(await ask())).toEqual(DONE);
      const theirs = await addPasskey(asker, parent);
      await enforce(parent, asker, LOGINS, API_KEY, PASSKEY);
      const first = await ask();
      expect(outcome(first)).toEqual(OWES);
      expect(outcome(await approve(inside(theirs, user), first.body.activity.fingerprint))).toEqual(DONE);

      const mine = await addPasskey(user);
      await enforce(user, user, LOGINS, EMAIL, PASSKEY);
      const session = newKeyPair();
      const asked = await ask(session);
      const { id, fingerprint } = asked.body.activity;
      expect(outcome(asked)).toEqual(OWES);
      expect(outcome(await approve(mine, fingerprint))).toEqual(NOT_YET);
      await approve(inside(theirs, user), fingerprint);
      expect((await read(user, id)).status).toBe(UNPROVEN);
      expect(await isIn(user, session)).toBe(false);
      expect(outcome(await approve(mine, fingerprint))).toEqual(DONE);
      expect(await isIn(user, session)).toBe(true);
    });

    test.each(['a root user', 'a user with a policy'])(
      'a contact of %s that moved is nobody’s factor',
      async (which) => {
        const { user: root, email: ofRoot, byParent } = await logins.newPerson();
        const isRoot = which === 'a root user';
        const email = isRoot ? ofRoot : newEmail();
        const asker = isRoot ? root : await createUser(root, 'asker', { userEmail: email });
        if (!isRoot) await policyFor(root, asker);
        const passkey = await addPasskey(asker, root);
        await enforce(root, asker, LOGINS, API_KEY, PASSKEY);
        const other = await createUser(root, 'other');
        const key = newKeyPair();
        const ask = async () => {
          const token = await logins.verify(byParent, email, key);
          const asked = await asker.submit('otp_login', loginParameters(token, key, newKeyPair()));
          expect(outcome(asked)).toEqual(OWES);
          return asked.body.activity.fingerprint;
        };
        expect(outcome(await approve(passkey, await ask()))).toEqual(DONE);
        const fingerprint = await ask();
        await root.run('update_user_email', { userId: asker.userId, userEmail: newEmail() });
        await root.run('update_user_email', { userId: other.userId, userEmail: email });
        expect(outcome(await approve(other, fingerprint))).toEqual(NOT_YET);
      },
    );
  });

  test('a sub-organization is told what its parent decided, not by whom and by which rules', async () => {
    const phone = '+447009199999';
    const asker = await createUser(parent, `asker ${randomUUID()}`, { userEmail: newEmail(), userPhoneNumber: phone });
    await enforce(parent, asker, TAGS, API_KEY, PASSKEY);
    const secret = `boss-${randomUUID()}@mail.example`;
    const consensus = `approvers.any(user, user.id == '${asker.userId}' && user.email != '${secret}')`;
    await policyFor(parent, asker, { condition: ofType('INIT_OTP_V3'), consensus });
    const { user, email, byParent } = await logins.newPerson();
    const own = (await propose(user)).body.activity.id;
    const body = { otpType: 'OTP_TYPE_EMAIL', contact: email, appName: 'App' };
    const asked = await inside(asker, user).submit('init_otp', body);
    expect(outcome(asked)).toEqual(DONE);
    const { id } = asked.body.activity;
    const told = async (client: TestClient, activityId: string) =>
      JSON.stringify([
        await read(client, activityId),
        (await client.query('get_policy_evaluations', { activityId })).body.policyEvaluations,
        (await client.query('get_activity_votes', { activityId })).body.votes,
      ]);
    // Of its own users and to the parent everything is told.
    expect((await read(user, own)).votes[0].user.userEmail).toBe(email);
    expect(await told(byParent, id)).toContain(secret);
    const [vote] = (await read(user, id)).votes;
    expect(vote).toMatchObject({ userId: asker.userId, user: { userId: asker.userId, apiKeys: [], mfaPolicies: [] } });
    expect(vote.user).not.toHaveProperty('userEmail');
    expect(vote.user).not.toHaveProperty('userPhoneNumber');
    const words = await told(user, id);
    for (const word of [secret, phone, 'policyId']) expect(words).not.toContain(word);
  });

  test('a signed message is as deep as requests may be', async () => {
    const signUp = async (messageOf: (apiKeys: object[], email: string, tokenId: string) => string) => {
      const [email, key] = [newEmail(), newKeyPair()];
      const token = await logins.verify(parent, email, key);
      const apiKeys = [keyParams(newKeyPair())];
      const message = messageOf(apiKeys, email, claimsOf(token).id);
      const user = rootUser({ userEmail: email, apiKeys });
      return await parent.submit('create_sub_organization', {
        ...signUpParams(user),
        verificationToken: token,
        clientSignature: clientSignature(key, message),
      });
    };
    const type = 'USAGE_TYPE_SIGNUP';
    const lists = { authenticators: [], oauthProviders: [] };
    const good = await signUp((apiKeys, email, tokenId) =>
      JSON.stringify({ signupV2: { apiKeys, ...lists, email }, tokenId, type }),
    );
    expect(outcome(good)).toEqual(DONE);
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    for (const said of [`"signup":{"apiKeys":${deep}}`, `"signupV2":{"apiKeys":${deep}}`]) {
      const answer = await signUp((_apiKeys, _email, tokenId) => `{"tokenId":"${tokenId}","type":"${type}",${said}}`);
      expect(outcome(answer)).toEqual([400, 'INVALID_CLIENT_SIGNATURE']);
    }
  });

  test('a recovery key recovers its own user and approves nothing of others', async () => {
    const recovering = async () => {
      const { user, email, byParent } = await logins.newPerson();
      const [second, third] = [await createUser(user, 'second'), await createUser(user, 'third')];
      await user.run('update_root_quorum', { threshold: 2, userIds: [user.userId, second.userId] });
      const receiver = new Receiver();
      await byParent.run('init_user_email_recovery', { ...asLogin(email), targetPublicKey: receiver.publicKey });
      const key = user.as(openKey(receiver, await logins.bundle(email)), user.userId);
      return { user, second, third, key };
    };
    const recover = (client: TestClient, { userId }: TestClient) =>
      client.submit('recover_user', { userId, authenticator: newPasskey('new').registration });
    const good = await recovering();
    expect(outcome(await recover(good.key, good.user))).toEqual(DONE);

    const { user, second, third, key } = await recovering();
    expect(outcome(await recover(key, third))).toEqual(DENIED);
    const proposed = await recover(second, third);
    expect(outcome(proposed)).toEqual(WAITS);
    const { fingerprint } = proposed.body.activity;
    expect(outcome(await approve(key, fingerprint))[0]).toBe(403);
    expect((await read(user, proposed.body.activity.id)).status).toBe(PENDING);
    expect(outcome(await recover(key, user))).toEqual(DONE);
  });

  test('a code that was sent before codes were turned off logs nobody in', async () => {
    const { user, email, byParent } = await logins.newPerson();
    const send = async () => {
      const body = { otpType: 'OTP_TYPE_EMAIL', contact: email, appName: 'App' };
      const { otpId } = await byParent.run('init_otp_auth', body);
      return { otpId, otpCode: await logins.code(email), targetPublicKey: new Receiver().publicKey };
    };
    expect(outcome(await byParent.submit('otp_auth', await send()))).toEqual(DONE);
    const attempt = await send();
    await logins.turn(user, 'OTP_EMAIL_AUTH', 'false');
    expect(outcome(await byParent.submit('otp_auth', attempt))).toEqual([403, 'FEATURE_DISABLED']);
  });

  describe('messages of sub-organizations have no words, links and senders of their own', () => {
    const EVIL = /bank|Pay now|customer|evil|support@/;
    const customization = {
      emailCustomization: {
        appName: 'Your bank',
        magicLinkTemplate: 'https://evil.example/%s',
        logoUrl: 'https://evil.example/logo.png',
        templateVariables: JSON.stringify({ subject: 'Pay now', greeting: 'Dear customer', footer: 'Your bank' }),
      },
      sendFromEmailAddress: 'support@brand.example',
      sendFromEmailSenderName: 'Support',
      replyToEmailAddress: 'evil@evil.example',
    };
    const sms = { smsCustomization: { template: 'Pay now at evil.example, {{.OtpCode}}' } };
    const targetPublicKey = new Receiver().publicKey;

    test.each([
      ['a code by mail', 'init_otp', { otpType: 'OTP_TYPE_EMAIL', appName: 'Your bank', ...customization }],
      ['a code to log in', 'init_otp_auth', { otpType: 'OTP_TYPE_EMAIL', appName: 'Your bank', ...customization }],
      ['a code by text message', 'init_otp', { otpType: 'OTP_TYPE_SMS', appName: 'Your bank', ...sms }],
      ['a login by mail', 'email_auth', { targetPublicKey, ...customization }],
      ['a recovery', 'init_user_email_recovery', { targetPublicKey, ...customization }],
    ])('%s', async (_name, operation, body) => {
      const { user, email, phone, byParent } = await logins.newPerson();
      const contact = 'smsCustomization' in body ? phone : email;
      const sentBy = async (client: TestClient) => {
        await client.run(operation, 'otpType' in body ? { ...body, contact } : { ...body, email });
        return JSON.stringify(await logins.message(contact));
      };
      const worded = await sentBy(byParent);
      for (const word of ['Pay now', 'evil.example']) expect(worded).toContain(word);
      if (contact === email) for (const word of ['support@brand.example', 'customer']) expect(worded).toContain(word);
      const sent = await sentBy(user);
      expect(sent).not.toMatch(EVIL);
      // What it is about is in it all the same.
      expect(sent).toMatch(/[1-9A-HJ-NP-Za-km-z]{100,130}|[0-9A-Z]{6,9}/);
    });
  });

  test('no issuer is asked for the sake of an identity that nobody has', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const key = newKeyPair();
    const login = (oidcToken: string) =>
      new Caller(parent, {
        stamp: (body) => {
          const { signature } = JSON.parse(Buffer.from(stampFor(body, key), 'base64url').toString());
          const scheme = 'STAMP_ATTESTED_SCHEME_P256_OIDC';
          const stamp = { publicKeyAttestation: oidcToken, scheme, publicKey: key.publicKey, signature };
          return { 'x-stamp-attested': Buffer.from(JSON.stringify(stamp)).toString('base64url') };
        },
      }).submit('stamp_login', { publicKey: newKeyPair().publicKey });
    const unknown = { sub: 'nobody', ...boundTo(key.publicKey) };
    for (const oidcToken of [tokenOf(issuer, unknown), tokenOf(issuer, { ...unknown, aud: ['a', 'b'], azp: 'b' })]) {
      expect(outcome(await login(oidcToken))).toEqual([401, 'CREDENTIAL_NOT_FOUND']);
    }
    expect(issuer.asked).toEqual({ discovery: 0, keys: 0 });
    const oidcToken = tokenOf(issuer, { sub: 'known', ...boundTo(key.publicKey) });
    const user = rootUser({ oauthProviders: [{ providerName: 'i', oidcToken }] });
    expect(outcome(await parent.submit('create_sub_organization', signUpParams(user)))).toEqual(DONE);
    expect(issuer.asked.keys).toBe(1);
    expect(outcome(await login(oidcToken))).toEqual(DONE);
    // Whose identity is known, its token is verified.
    expect((await login(`${oidcToken.slice(0, -8)}AAAAAAAA`)).status).toBe(401);
  });
});

describe('attacks on sign-up', () => {
  let world: ProxyWorld;

  beforeAll(async () => {
    world = await ProxyWorld.open('sqlite', LOOPBACK);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const identity = async ({ organizationId }: TestClient) => {
    const config = await world.app.storage.read(SignUpProxyReader).ofOrganization(organizationId as never);
    return config!.identity!;
  };

  describe('claims without a token', () => {
    const REAL = 'real client';
    let issuer: Issuer;
    /** Who asked for the token, and for whom. A page of anybody gets such tokens of its visitors. */
    const providers = (audience: string, sub: string = randomUUID(), nonce: object = {}) => [
      { providerName: 'proof', oidcToken: idToken(issuer, { aud: audience, sub, ...nonce }) },
      { providerName: 'claim', oidcClaims: { iss: issuer.url, sub, aud: REAL } },
    ];
    const signUp = (proxy: ProxyClient, audience: string) =>
      proxy.call('signup_v2', { ...LISTS, oauthProviders: providers(audience) });

    test.each([
      ['the wallet kit', { walletKitSettings: { oauthClientIds: { google: 'known' } } }],
      ['social linking', { socialLinkingClientIds: ['known'] }],
      ['an OAuth 2.0 credential', undefined],
    ])('are vouched for by a client of %s, and by no client of a stranger', async (_name, change) => {
      const { root, proxy } = await world.anotherParent();
      issuer = await startKnownIssuer(root);
      expect(refusal(await signUp(proxy, 'known'))).toEqual(INVALID);
      if (change === undefined) {
        const { keys } = (await (await fetch(`${root.baseUrl}/public/v1/discovery/keys`)).json()) as {
          keys: { role: string; publicKey: string }[];
        };
        const { publicKey } = keys.find(({ role }) => role === 'oauth-secret')!;
        const encryptedClientSecret = encryptClientSecret('hush', publicKey);
        await root.run('create_oauth2_credential', {
          provider: 'OAUTH2_PROVIDER_X',
          clientId: 'known',
          encryptedClientSecret,
        });
      } else {
        await root.run('update_auth_proxy_config', change);
      }
      const good = await signUp(proxy, 'known');
      expect(good.status).toBe(200);
      const evil = await signUp(proxy, 'client of the attacker');
      expect(refusal(evil)).toEqual(INVALID);
      expect(evil.body.message).toContain('oauthProviders.1.oidcClaims');
    });

    test('are vouched for by any client that the parent’s own backend takes', async () => {
      const { root, proxy } = await world.anotherParent();
      issuer = await startKnownIssuer(root);
      const submit = async (claimed: object[]) =>
        outcome(await root.submit('create_sub_organization', signUpParams({ oauthProviders: claimed })));
      expect(await submit(providers('any'))).toEqual(DONE);
      expect(await submit(providers('any').slice(1))).toEqual(INVALID);
      expect(refusal(await signUp(proxy, 'any'))).toEqual(INVALID);
    });

    test('are not added by whoever has signed up', async () => {
      const { root, proxy } = await world.anotherParent();
      issuer = await startKnownIssuer(root);
      const account = async (audience: string) => {
        const [sub, key] = [randomUUID(), newKeyPair()];
        const [proof, claim] = providers(audience, sub, boundTo(key.publicKey));
        const body = { apiKeys: [keyParams(key)], oauthProviders: [proof] };
        const { organizationId, userId } = await proxy.signUp(body);
        const user = world.client(organizationId, key, userId);
        return outcome(await user.submit('create_oauth_providers', { userId, oauthProviders: [claim] }));
      };
      await root.run('update_auth_proxy_config', { socialLinkingClientIds: ['known'] });
      expect(await account('known')).toEqual(DONE);
      expect(await account('client of the attacker')).toEqual(INVALID);
    });
  });

  test('messages of sub-organizations count together, and what the parent sends does not suffer', async () => {
    const at = ({ baseUrl }: ProxyClient, organizationId: string, key: KeyPair, userId: string): TestClient =>
      new TestClient(baseUrl, organizationId, key, userId);
    const code = (contact: string) => ({ otpType: 'OTP_TYPE_EMAIL', contact });
    const { root, proxy } = await world.anotherParent();
    await root.run('set_organization_feature', { name: 'FEATURE_NAME_OTP_EMAIL_AUTH', value: 'true' });
    const limited = await world.listen((app) => ({ config: { ...app.config, otpOrganizationRequests: 3 } }));
    const people = [];
    for (const _ of times(4, () => 0)) {
      const key = newKeyPair();
      const { organizationId, userId } = await proxy.signUp({ apiKeys: [keyParams(key)] });
      people.push({ organizationId, own: at(limited, organizationId, key, userId) });
    }
    const send = async (client: TestClient) =>
      outcome(await client.submit('init_otp', { ...code(newEmail()), appName: 'App' }));
    const SLOWED = [429, 'MAX_OTP_INITIATED'];
    for (const { own } of people.slice(0, 3)) expect(await send(own)).toEqual(DONE);
    for (const { own } of people) expect(await send(own)).toEqual(SLOWED);
    for (const { organizationId } of people) {
      expect(await send(at(limited, organizationId, root.key, root.userId))).toEqual(DONE);
    }
    expect(await send(at(limited, root.organizationId, root.key, root.userId))).toEqual(DONE);
    const asked = await new ProxyClient(limited.baseUrl, proxy.configId).call('otp_init', code(newEmail()));
    expect(asked.status).toBe(200);
  });

  describe('a sign-up gives a person what a person needs', () => {
    test('the first token that is refused ends it, and no further issuer is asked', async () => {
      const start = () => Issuer.start(toJwk(ec));
      const issuers = [await start(), await start(), await start(), await start(), await start()];
      const [first, wrong, ...others] = issuers;
      await world.configure({ oidcIssuers: issuers.map(({ url }) => url) });
      const key = newKeyPair();
      const tokenOf = (issuer: Issuer, claims: object = {}) =>
        idToken(issuer, { ...boundTo(key.publicKey), ...claims });
      const call = (...tokens: string[]) =>
        world.proxy.call('signup_v2', {
          ...LISTS,
          apiKeys: [keyParams(key)],
          oauthProviders: tokens.map((oidcToken, index) => ({ providerName: String(index), oidcToken })),
        });
      expect((await call(tokenOf(first!), tokenOf(first!, { sub: 'bob' }))).status).toBe(200);
      const forged = `${tokenOf(wrong!).slice(0, -8)}AAAAAAAA`;
      const further = others.map((issuer) => tokenOf(issuer));
      expect(refusal(await call(forged, ...further))).toEqual([400, 'INVALID_OIDC_TOKEN']);
      expect(wrong!.asked.keys).toBe(1);
      for (const { asked } of others) expect(asked).toEqual({ discovery: 0, keys: 0 });
      expect((await call(tokenOf(wrong!), ...further)).status).toBe(200);
      for (const { asked } of others) expect(asked).toEqual({ discovery: 1, keys: 1 });
    });

    test('no issuer is asked who a stranger is', async () => {
      const issuer = await startKnownIssuer(world.root);
      const key = newKeyPair();
      const oidcToken = idToken(issuer, boundTo(key.publicKey));
      const login = () => world.proxy.call('oauth_login', { oidcToken, publicKey: key.publicKey });
      expect((await world.proxy.account('OIDC_TOKEN', oidcToken)).body).toEqual({});
      expect((await login()).status).not.toBe(200);
      expect(issuer.asked).toEqual({ discovery: 0, keys: 0 });
      const { organizationId } = await world.proxy.signUp({ oauthProviders: [{ providerName: 'i', oidcToken }] });
      expect((await world.proxy.account('OIDC_TOKEN', oidcToken)).body).toEqual({ organizationId });
      expect((await login()).status).toBe(200);
    });
  });

  test('a configuration with one issuer lets no other in', async () => {
    const { root, proxy } = await world.anotherParent();
    const issuer = await startKnownIssuer(root);
    const signUp = () =>
      proxy.call('signup_v2', {
        ...LISTS,
        oauthProviders: [{ providerName: 'i', oidcToken: idToken(issuer, { sub: randomUUID() }) }],
      });
    const allow = (...allowedAuthMethods: string[]) => root.run('update_auth_proxy_config', { allowedAuthMethods });
    await allow('google', 'oidc');
    expect((await signUp()).status).toBe(200);
    expect((await proxy.call('wallet_kit_config')).body.enabledProviders).toEqual(['google']);
    await allow('google');
    const refused = await signUp();
    expect(refusal(refused)).toEqual([403, 'AUTH_METHOD_DISALLOWED']);
    expect(refused.body.message).toContain('OAUTH disallowed');
  });

  test('another key of the proxy’s user has none of the proxy’s rights, also when others vote', async () => {
    const { root, proxy } = await world.anotherParent();
    await proxy.signUp({ userEmail: newEmail() });
    const { userId } = await identity(root);
    const key = newKeyPair();
    await root.run('create_api_keys', { userId, apiKeys: [keyParams(key)] });
    const byProxyUser = root.as(key, userId);
    const [second, third] = [await createUser(root, 'second'), await createUser(root, 'third')];
    const child = () => signUpParams({ userEmail: newEmail() });
    expect(outcome(await byProxyUser.submit('create_sub_organization', child()))).toEqual(DENIED);
    const consensus = both(byProxyUser, second, third);
    await policyFor(root, second, { condition: "activity.kind == 'CREATE_SUB_ORGANIZATION'", consensus });
    const asked = await byProxyUser.submit('create_sub_organization', child());
    expect(outcome(asked)).toEqual(WAITS);
    const { fingerprint } = asked.body.activity;
    expect(outcome(await approve(second, fingerprint))).toEqual(WAITS);
    expect(outcome(await approve(third, fingerprint))).toEqual(DONE);
    expect((await proxy.call('signup_v2', { ...LISTS, userEmail: newEmail() })).status).toBe(200);
  });
});

describe.each(DATABASES)('a token whose login waits for others on %s', (database) => {
  test('asks for one login, of however many requests at once', async () => {
    await using logins = await LoginService.open(database, { CUSTOS_OTP_REQUESTS: '0' });
    const { user: root, byParent } = await logins.newPerson();
    const [email, key] = [newEmail(), newKeyPair()];
    const user = (await createUser(root, 'user', { userEmail: email })) as Caller;
    await policyFor(root, user, { condition: ofType('STAMP_LOGIN'), consensus: both(root, user) });
    const ask = (token: string, session = newKeyPair()) =>
      attested(user, token, key).submit('stamp_login', { publicKey: session.publicKey });
    const session = newKeyPair();
    const first = await ask(await logins.verify(byParent, email, key), session);
    expect(outcome(first)).toEqual(WAITS);
    expect(outcome(await approve(root, first.body.activity.fingerprint))).toEqual(DONE);
    expect((await user.as(session).query('whoami')).body.userId).toBe(user.userId);

    const token = await logins.verify(byParent, email, key);
    const many = await Promise.all(times(6, () => ask(token)));
    expect(many.map(outcome).sort()).toEqual([WAITS, ...times(5, () => REFUSED_TOKEN)]);
    const login = loginParameters(token, key, newKeyPair());
    expect(outcome(await byParent.submit('otp_login', login))).toEqual(REFUSED_TOKEN);
  });
});
