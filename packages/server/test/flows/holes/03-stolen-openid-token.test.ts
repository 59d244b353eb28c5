import { createECDH, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newPasskey } from '../../fixtures/passkey.ts';
import { type KeyPair, newKeyPair, stampFor, TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { ec, encode, Issuer, toJwk } from '../../harness/oidc-issuer.ts';
import {
  addPasskey,
  approve,
  Caller,
  COMPLETED,
  FAILED,
  outcome,
  PENDING,
  policyFor,
  times,
} from '../fixtures/access.ts';
import { boundTo, idToken, LOOPBACK, rootUser, signUpParams } from '../fixtures/oauth.ts';
import { keyParams, LISTS, newEmail, newPhone, ProxyWorld, refusal, signUpBody } from '../fixtures/proxy.ts';

// A thief with somebody's OpenID token must not get an account that the victim will log in to. Each attack stands
// beside the same request by an honest client.

const DONE = [200, COMPLETED];
const INVALID_TOKEN = [400, 'INVALID_OIDC_TOKEN'];
const OK = [200, undefined];

const provider = (oidcToken: string, providerName = 'issuer') => ({ providerName, oidcToken });

/** A client that stamps with a key which a token attests. */
const attestedBy = (client: TestClient, oidcToken: string, key: KeyPair): Caller =>
  new Caller(client, {
    stamp: (body) => {
      const { signature } = JSON.parse(Buffer.from(stampFor(body, key), 'base64url').toString());
      const scheme = 'STAMP_ATTESTED_SCHEME_P256_OIDC';
      const stamp = { publicKeyAttestation: oidcToken, scheme, publicKey: key.publicKey, signature };
      return { 'x-stamp-attested': Buffer.from(JSON.stringify(stamp)).toString('base64url') };
    },
  });

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('a stolen OpenID token on %s', (database) => {
  let world: ProxyWorld;
  let issuer: Issuer;
  let root: TestClient;

  beforeAll(async () => {
    world = await ProxyWorld.open(database, LOOPBACK);
    root = world.root;
  });
  afterAll(() => world[Symbol.asyncDispose]());
  beforeEach(async () => {
    issuer = await Issuer.start(toJwk(ec));
    await world.configure({ oidcIssuers: [issuer.url], socialLinkingClientIds: ['app'] });
  });

  /** A token about somebody new, bound to a key that no request has. */
  const stolen = (claims: object = {}) =>
    idToken(issuer, { sub: randomUUID(), ...boundTo(newKeyPair().publicKey), ...claims });

  const ways: Record<string, (user: Record<string, unknown>) => Promise<unknown[]>> = {
    signup_v2: async (user) => refusal(await world.proxy.call('signup_v2', { ...LISTS, ...user })),
    create_sub_organization: async (user) => {
      const [status, said] = outcome(await root.submit('create_sub_organization', signUpParams(user)));
      return [status, said === COMPLETED ? undefined : said];
    },
    create_users: async (user) => {
      const users = [{ ...rootUser({ userName: `user ${randomUUID()}`, ...user }), userTags: [] }];
      const [status, said] = outcome(await root.submit('create_users', { users }));
      return [status, said === COMPLETED ? undefined : said];
    },
  };

  describe.each(Object.keys(ways))('%s', (name) => {
    const make = (user: Record<string, unknown>) => (ways[name] as (typeof ways)[string])(user);

    test('registers an identity alone, or beside a key that the token is bound to', async () => {
      expect(await make({ oauthProviders: [provider(stolen())] })).toEqual(OK);
      const key = newKeyPair();
      const own = (claims: object = {}) => provider(idToken(issuer, { sub: randomUUID(), ...claims }));
      const apiKeys = [keyParams(key), keyParams(newKeyPair())];
      expect(await make({ apiKeys, oauthProviders: [own(boundTo(key.publicKey))] })).toEqual(OK);
      // However the client and the request spell the key.
      for (const spell of [(long: string) => long, (_long: string, short: string) => short.toUpperCase()]) {
        const ecdh = createECDH('prime256v1');
        const short = ecdh.generateKeys('hex', 'compressed');
        const publicKey = ecdh.getPublicKey('hex', 'uncompressed');
        const spelled = { apiKeyName: 'spelled', publicKey, curveType: 'API_KEY_CURVE_P256' };
        const oauthProviders = [own(boundTo(spell(publicKey, short)))];
        expect(await make({ apiKeys: [spelled], oauthProviders })).toEqual(OK);
      }
    });

    test('gives the user nothing else that the token does not prove', async () => {
      const sub = randomUUID();
      const email = newEmail();
      const attacks: Record<string, Record<string, unknown>> = {
        'an API key': { apiKeys: [keyParams(newKeyPair())] },
        'a passkey': { authenticators: [newPasskey(randomUUID()).registration] },
        'an email': { userEmail: newEmail() },
        'an email that the issuer did not verify': { userEmail: email },
        'a phone number': { userPhoneNumber: newPhone() },
        'another subject': { oauthProviders: [provider(stolen({ sub })), provider(stolen())] },
        'another subject by claims': {
          oauthProviders: [
            provider(stolen({ sub })),
            provider(stolen({ sub: `${sub}-2` })),
            { providerName: 'claim', oidcClaims: { iss: issuer.url, sub: `${sub}-2`, aud: 'other' } },
          ],
        },
      };
      for (const [attack, user] of Object.entries(attacks)) {
        const unverified = { email, email_verified: false };
        const oauthProviders = [provider(stolen({ sub, ...unverified }))];
        const [status, code] = await make({ oauthProviders, ...user });
        expect([status, code], attack).toEqual(INVALID_TOKEN);
      }
      // Nothing of it is left: the owner signs up with the same identity.
      expect(await make({ oauthProviders: [provider(stolen({ sub }))] })).toEqual(OK);
    });

    test('lets a user have the email that it proves, and further client ids of the same person', async () => {
      const [sub, email] = [randomUUID(), newEmail()];
      const proven = stolen({ sub, email: email.toUpperCase(), email_verified: true });
      const claim = { providerName: 'claim', oidcClaims: { iss: issuer.url, sub, aud: 'other' } };
      const second = provider(stolen({ sub, aud: 'second', email, email_verified: true }));
      expect(await make({ userEmail: email, oauthProviders: [provider(proven), claim, second] })).toEqual(OK);
      const other = { userEmail: newEmail(), oauthProviders: [provider(stolen({ email, email_verified: true }))] };
      expect(await make(other)).toEqual(INVALID_TOKEN);
    });
  });

  test('a verification token proves the contact beside it', async () => {
    const [email, key] = [newEmail(), newKeyPair()];
    const oauthProviders = [provider(stolen())];
    const token = await world.verified(email, key);
    const signedUp = await world.proxy.call('signup_v2', signUpBody(token, key, { userEmail: email, oauthProviders }));
    expect(signedUp.status).toBe(200);
    const [other, another] = [newEmail(), await world.verified(newEmail(), key)];
    const attack = signUpBody(another, key, { userEmail: other, oauthProviders: [provider(stolen())] });
    expect((await world.proxy.call('signup_v2', attack)).status).toBe(400);
  });

  test('what other root users have does not count', async () => {
    const rootUsers = [
      rootUser({ oauthProviders: [provider(stolen())] }),
      rootUser({ userName: 'Other', apiKeys: [keyParams(newKeyPair())], userEmail: newEmail() }),
    ];
    const answer = await root.submit('create_sub_organization', { ...signUpParams({}), rootUsers });
    expect(outcome(answer)).toEqual(DONE);
    const both = [rootUser({ oauthProviders: [provider(stolen())], apiKeys: [keyParams(newKeyPair())] }), rootUsers[1]];
    const attack = await root.submit('create_sub_organization', { ...signUpParams({}), rootUsers: both });
    expect(outcome(attack)).toEqual(INVALID_TOKEN);
    expect(attack.body.message).toContain('rootUsers.0.oauthProviders.0.oidcToken');
  });

  /** A user of a sub-organization with a key of its own. */
  const person = async (): Promise<TestClient> => {
    const key = newKeyPair();
    const { organizationId, userId } = await world.proxy.signUp({ apiKeys: [keyParams(key)] });
    return world.client(organizationId, key, userId);
  };

  test('the owner of a sub-organization does not register the person of a token that it found', async () => {
    const [thief, victim, sub] = [await person(), newKeyPair(), randomUUID()];
    const iat = Math.floor(Date.now() / 1000) - 50 * 60;
    const old = (claims: object) => idToken(issuer, { sub, iat, exp: iat + 3600, ...claims });
    const register = async (oidcToken: string, apiKeys: object[] = []) => {
      const user = rootUser({ userName: randomUUID(), oauthProviders: [provider(oidcToken)], apiKeys });
      return outcome(await thief.submit('create_users', { users: [{ ...user, userTags: [] }] }));
    };
    expect(await register(old(boundTo(victim.publicKey)))).toEqual(INVALID_TOKEN);
    expect((await world.proxy.account('OIDC_TOKEN', old(boundTo(victim.publicKey)))).body).toEqual({});
    // Honest ones bring a key that the token is bound to, or a new token.
    const own = newKeyPair();
    expect(await register(old(boundTo(own.publicKey)), [keyParams(own)])).toEqual(DONE);
    expect(await register(idToken(issuer, { sub: randomUUID(), ...boundTo(newKeyPair().publicKey) }))).toEqual(DONE);
  });

  describe('create_oauth_providers', () => {
    const add = async (client: TestClient, ...tokens: string[]) =>
      outcome(
        await client.submit('create_oauth_providers', {
          userId: client.userId,
          oauthProviders: tokens.map((token) => provider(token)),
        }),
      );
    const aged = (minutes: number, claims: object = {}) => {
      const iat = Math.floor(Date.now() / 1000) - minutes * 60;
      return idToken(issuer, { sub: randomUUID(), iat, exp: iat + 3600, ...claims });
    };

    test('takes a token for the stamping key, or one that is fresh and was never used', async () => {
      const user = await person();
      expect(await add(user, aged(9, boundTo(newKeyPair().publicKey)))).toEqual(DONE);
      expect(await add(user, aged(30, boundTo(user.key.publicKey)))).toEqual(DONE);
      expect(await add(user, aged(11))).toEqual(INVALID_TOKEN);
      expect(await add(user, aged(11, boundTo(newKeyPair().publicKey)))).toEqual(INVALID_TOKEN);
      expect(await add(user, idToken(issuer, { sub: randomUUID(), iat: undefined }))).toEqual(INVALID_TOKEN);
      // A passkey has no key that a token could be bound to.
      const byPasskey = await addPasskey(user);
      expect(await add(byPasskey, aged(1))).toEqual(DONE);
      expect(await add(byPasskey, aged(11, boundTo(user.key.publicKey)))).toEqual(INVALID_TOKEN);
    });

    test('takes no token that has logged in, signed up or been registered before', async () => {
      const [victim, thief] = [newKeyPair(), await person()];
      const sub = randomUUID();
      const token = idToken(issuer, { sub, ...boundTo(victim.publicKey) });
      const { organizationId, userId } = await world.proxy.signUp({ oauthProviders: [provider(token)] });
      const login = { oidcToken: token, publicKey: victim.publicKey };
      expect((await world.proxy.call('oauth_login', login)).status).toBe(200);
      const owner = world.client(organizationId, victim, userId);
      const { oauthProviders } = (await owner.query('get_oauth_providers', { userId })).body;
      const removal = { userId, providerIds: [oauthProviders[0].providerId] };
      // Once its owner gives the identity up, the token is worth nothing to a thief, nor once more to its owner.
      const keep = newKeyPair();
      await owner.run('create_api_keys', { userId, apiKeys: [keyParams(keep)] });
      await owner.run('delete_oauth_providers', removal);
      expect(await add(thief, token)).toEqual(INVALID_TOKEN);
      expect(await add(owner, token)).toEqual(INVALID_TOKEN);
      const again = { ...LISTS, oauthProviders: [provider(token)] };
      expect(refusal(await world.proxy.call('signup_v2', again))).toEqual(INVALID_TOKEN);
      // One that has logged in and registered nothing.
      const known = idToken(issuer, { sub, ...boundTo(keep.publicKey) });
      expect(await add(world.client(organizationId, keep, userId), known)).toEqual(DONE);
      const used = idToken(issuer, { sub, ...boundTo(victim.publicKey) });
      const second = { ...login, oidcToken: used };
      expect((await world.proxy.call('oauth_login', second)).status).toBe(200);
      const [now] = (await owner.query('get_oauth_providers', { userId })).body.oauthProviders;
      await owner.run('delete_oauth_providers', { userId, providerIds: [now.providerId] });
      expect(await add(thief, used)).toEqual(INVALID_TOKEN);
      // Bound to the key that stamps, it may still register the identity, once.
      expect(await add(owner, used)).toEqual(DONE);
    });

    test('a token that waits for approvals is used once', async () => {
      const user = await person();
      const { userId } = user;
      const key = newKeyPair();
      const { userIds } = await user.run('create_users', {
        users: [{ ...rootUser({ userName: 'second', apiKeys: [keyParams(key)] }), userTags: [] }],
      });
      const second = user.as(key, userIds[0]);
      await user.run('update_root_quorum', { threshold: 2, userIds: [userId, second.userId] });
      const token = idToken(issuer, { sub: randomUUID(), ...boundTo(newKeyPair().publicKey) });
      const target = second.userId;
      const ask = (oidcToken: string) =>
        user.submit('create_oauth_providers', { userId: target, oauthProviders: [provider(oidcToken)] });
      const asked = await ask(token);
      expect(outcome(asked)).toEqual([200, PENDING]);
      expect(outcome(await approve(second, asked.body.activity.fingerprint))).toEqual(DONE);
      const { oauthProviders } = (await second.query('get_oauth_providers', { userId: target })).body;
      await second.run('delete_oauth_providers', { userId: target, providerIds: [oauthProviders[0].providerId] });
      const again = await ask(token);
      const done = await approve(second, again.body.activity.fingerprint);
      expect(outcome(done)).toEqual([200, FAILED]);
      expect(done.body.activity.failure.message).toContain('used');
    });
  });

  describe('a login', () => {
    const signUp = async (key: KeyPair) => {
      const oidcToken = idToken(issuer, { sub: randomUUID(), ...boundTo(key.publicKey) });
      const made = await world.proxy.signUp({ oauthProviders: [provider(oidcToken)] });
      return { ...made, oidcToken, at: new TestClient(root.baseUrl, made.organizationId, root.key, root.userId) };
    };
    const ways: Record<string, (target: TestClient, oidcToken: string, key: KeyPair) => Promise<unknown[]>> = {
      oauth_login: async (target, oidcToken, { publicKey }) =>
        outcome(await target.submit('oauth_login', { oidcToken, publicKey })),
      stamp_login: async (target, oidcToken, key) =>
        outcome(await attestedBy(target, oidcToken, key).submit('stamp_login', { publicKey: key.publicKey })),
    };

    test.each(Object.entries(ways))(
      'by %s happens once with a token, with the key of its nonce',
      async (_name, login) => {
        const key = newKeyPair();
        const { at, oidcToken } = await signUp(key);
        expect((await login(at, oidcToken, newKeyPair()))[0]).toBeGreaterThanOrEqual(400);
        expect(await login(at, oidcToken, key)).toEqual(DONE);
        for (const again of Object.values(ways)) expect(await again(at, oidcToken, key)).toEqual(INVALID_TOKEN);
        // The signature is not what names a token.
        const [header, claims, signature = ''] = oidcToken.split('.');
        const raw = Buffer.from(signature, 'base64url');
        const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
        const s = order - BigInt(`0x${raw.toString('hex', 32)}`);
        const twin = Buffer.concat([raw.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
        const respelled = `${header}.${claims}.${twin.toString('base64url')}`;
        expect(await login(at, respelled, key)).toEqual(INVALID_TOKEN);
      },
    );

    test('of many at once with one token, one happens; the same bytes again are no second login', async () => {
      const key = newKeyPair();
      const { at, oidcToken } = await signUp(key);
      const body = at.submitBody('oauth_login', { oidcToken, publicKey: key.publicKey });
      const submit = () => at.sendStamped('/public/v1/submit/oauth_login', body);
      const same = await Promise.all(times(3, submit));
      expect(same.map(outcome)).toEqual(times(3, () => DONE));
      const other = newKeyPair();
      const fresh = await signUp(other);
      const many = await Promise.all(
        times(5, () => fresh.at.submit('oauth_login', { oidcToken: fresh.oidcToken, publicKey: other.publicKey })),
      );
      expect(many.map(outcome).sort()).toEqual([DONE, ...times(4, () => INVALID_TOKEN)]);
    });
  });

  test('a login that waits for others uses its token up when it asks', async () => {
    const [rootKey, sub] = [newKeyPair(), randomUUID()];
    const made = await world.proxy.signUp({ apiKeys: [keyParams(rootKey)] });
    const owner = world.client(made.organizationId, rootKey, made.userId);
    const first = provider(idToken(issuer, { sub }));
    const users = [{ ...rootUser({ userName: 'user', oauthProviders: [first] }), userTags: [] }];
    const { userIds } = await owner.run('create_users', { users });
    const key = newKeyPair();
    const user = owner.as(key, userIds[0]);
    const both = [owner, user].map(({ userId }) => `approvers.any(user, user.id == '${userId}')`).join(' && ');
    await policyFor(owner, user, { condition: "activity.type == 'ACTIVITY_TYPE_STAMP_LOGIN'", consensus: both });
    const token = () => idToken(issuer, { sub, ...boundTo(key.publicKey) });
    const ask = (oidcToken: string, publicKey = newKeyPair().publicKey) =>
      attestedBy(user, oidcToken, key).submit('stamp_login', { publicKey });
    const session = newKeyPair();
    const asked = await ask(token(), session.publicKey);
    expect(outcome(asked)).toEqual([200, PENDING]);
    expect(outcome(await approve(owner, asked.body.activity.fingerprint))).toEqual(DONE);
    expect((await owner.as(session).query('whoami')).body.userId).toBe(user.userId);
    const again = token();
    const many = await Promise.all(times(4, () => ask(again)));
    expect(many.map(outcome).sort()).toEqual([[200, PENDING], ...times(3, () => INVALID_TOKEN)]);
  });

  test('a nonce is what was signed, not what a request says', async () => {
    const key = newKeyPair();
    const [header, , signature] = stolen().split('.');
    const changed = `${header}.${encode({ iss: issuer.url, sub: 's', aud: 'app', ...boundTo(key.publicKey) })}.${signature}`;
    const user = { ...LISTS, apiKeys: [keyParams(key)], oauthProviders: [provider(changed)] };
    expect(refusal(await world.proxy.call('signup_v2', user))).toEqual(INVALID_TOKEN);
  });
});
