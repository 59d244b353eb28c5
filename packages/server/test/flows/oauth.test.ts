import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { Receiver } from '../harness/bundles.ts';
import { createUser, type KeyPair, newKeyPair, TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { ec, encode, Issuer, makeKey, makeToken, toJwk } from '../harness/oidc-issuer.ts';
import { COMPLETED, outcome, UNPROVEN } from './fixtures/access.ts';
import { apiKeyOf, boundTo, claimsOf, databaseText, idToken, LOOPBACK, signUp } from './fixtures/oauth.ts';

// oauth_login and oauth (protocol/login 7), with an issuer on loopback.

const DONE = [200, COMPLETED];
const INVALID_TOKEN = [400, 'INVALID_OIDC_TOKEN'];

describe.each(databasesOf(import.meta.url))('logins by OpenID tokens on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  const spent: string[] = [];

  beforeAll(async () => {
    app = await openTestApp(database, LOOPBACK);
    root = app.root;
  });

  // Last, so that it looks at what all tests have left.
  afterAll(async () => {
    const { organizationId } = root;
    const text = await databaseText(app);
    const found = spent.filter((token) => token.split('.').some((part) => part !== '' && text.includes(part)));
    await app[Symbol.asyncDispose]();
    expect(text).toContain(organizationId);
    expect(found).toEqual([]);
  });

  /** A sub-organization whose root user has an OAuth identity and, if given, a key. */
  async function newUser(issuer: Issuer, key?: KeyPair) {
    const oidcToken = idToken(issuer, key === undefined ? {} : boundTo(key.publicKey));
    spent.push(oidcToken);
    const oauthProviders = [{ providerName: 'issuer', oidcToken }];
    const made = await signUp(root, { oauthProviders, apiKeys: key === undefined ? [] : [apiKeyOf(key)] });
    return { ...made, organization: new TestClient(root.baseUrl, made.organizationId, root.key) };
  }

  const login = (target: TestClient, oidcToken: string, publicKey: string, extra: object = {}) => {
    spent.push(oidcToken);
    return target.submit('oauth_login', { oidcToken, publicKey, ...extra });
  };

  test('a parent logs a user in, and the session key stamps as that user', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { organization, organizationId, userId } = await newUser(issuer);
    const key = newKeyPair();
    const answer = await login(organization, idToken(issuer, boundTo(key.publicKey)), key.publicKey, {
      expirationSeconds: '120',
    });
    expect(outcome(answer)).toEqual(DONE);
    const { session } = answer.body.activity.result.oauthLoginResult;
    expect(claimsOf(session)).toMatchObject({
      public_key: key.publicKey,
      session_type: 'SESSION_TYPE_READ_WRITE',
      user_id: userId,
      organization_id: organizationId,
    });
    const client = organization.as(key, userId);
    expect((await client.query('whoami')).body).toMatchObject({ organizationId, userId });
    const { apiKeys } = (await client.query('get_api_keys', { userId })).body;
    expect(apiKeys).toMatchObject([{ credential: { publicKey: key.publicKey, type: 'CREDENTIAL_TYPE_LOGIN' } }]);
    expect(apiKeys[0].expirationSeconds).toBe('120');

    // The issuer's own nonce may be elsewhere (protocol/login 7.3); and a new login can end the others.
    const other = newKeyPair();
    const tknonce = { nonce: 'of the issuer', tknonce: boundTo(other.publicKey).nonce };
    const again = await login(organization, idToken(issuer, tknonce), other.publicKey, { invalidateExisting: true });
    expect(outcome(again)).toEqual(DONE);
    expect((await client.query('whoami')).status).toBe(401);
    expect((await organization.as(other).query('whoami')).status).toBe(200);
  });

  test('oauth answers with a key that only the target opens', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { organization, userId } = await newUser(issuer);
    const receiver = new Receiver();
    const oauth = (target: Receiver, bound: Receiver, extra: object = {}) => {
      const oidcToken = idToken(issuer, boundTo(bound.publicKey));
      spent.push(oidcToken);
      return organization.submit('oauth', { oidcToken, targetPublicKey: target.publicKey, ...extra });
    };
    const answer = await oauth(receiver, receiver);
    expect(outcome(answer)).toEqual(DONE);
    const { apiKeyId, credentialBundle, userId: named } = answer.body.activity.result.oauthResult;
    expect(named).toBe(userId);
    expect(() => new Receiver().openCredential(credentialBundle)).toThrow();
    const privateKey = receiver.openCredential(credentialBundle).toString('hex');
    const { apiKeys } = (await organization.query('get_api_keys', { userId })).body;
    expect(apiKeys).toMatchObject([{ apiKeyId, credential: { type: 'CREDENTIAL_TYPE_OAUTH_KEY_P256' } }]);
    expect(apiKeys[0].apiKeyName).toMatch(/^Oauth - \d{4}-/);
    expect(apiKeys[0].expirationSeconds).toBe('900');
    const key = { publicKey: apiKeys[0].credential.publicKey, privateKey };
    expect((await organization.as(key).query('whoami')).body.userId).toBe(userId);

    // A token for one key, used with another.
    expect(outcome(await oauth(new Receiver(), receiver))).toEqual(INVALID_TOKEN);
    const named2 = await oauth(receiver, receiver, { apiKeyName: 'mine', invalidateExisting: true });
    expect(outcome(named2)).toEqual(DONE);
    const left = (await organization.query('get_api_keys', { userId })).body.apiKeys;
    expect(left.map((item: { apiKeyName: string }) => item.apiKeyName)).toEqual(['mine']);
  });

  test('tokens that prove nothing are refused', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const stranger = await Issuer.start(toJwk(ec));
    const { organization } = await newUser(issuer);
    const key = newKeyPair();
    const bound = boundTo(key.publicKey);
    const now = Math.floor(Date.now() / 1000);
    const good = idToken(issuer, bound);
    const [header = '', claims = '', signature = ''] = good.split('.');
    const hmac = (alg: string, secret: string, body: string) => {
      const signed = `${encode({ alg, kid: ec.kid })}.${body}`;
      return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    };
    const pem = ec.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const [ours] = app.app.ownIssuer().keys;
    const asOurs = encode({ ...claimsOf(good), iss: app.app.ownIssuer().issuer });
    expect(outcome(await login(organization, good, key.publicKey))).toEqual(DONE);

    const attacks: Record<string, string> = {
      'nobody signed it': `${encode({ alg: 'none' })}.${claims}.`,
      'nobody signed it, and it has a signature': `${encode({ alg: 'none' })}.${claims}.${signature}`,
      "HS256 with the issuer's public key": hmac('HS256', pem, claims),
      'HS256 with our public key': hmac('HS256', ours?.publicKey ?? '', asOurs),
      'in our name, by another key': makeToken({ ...ec, kid: ours?.keyId ?? '' }, 'ES256', {
        ...claimsOf(good),
        iss: app.app.ownIssuer().issuer,
      }),
      'another key': idToken(issuer, bound, makeKey.ec()),
      'other claims under the same signature': `${header}.${encode({ ...claimsOf(good), sub: 'bob' })}.${signature}`,
      'for another key': idToken(issuer, boundTo(newKeyPair().publicKey)),
      'the nonce of the bytes of the key': idToken(issuer, { nonce: key.publicKey }),
      'no nonce': idToken(issuer),
      expired: idToken(issuer, { ...bound, iat: now - 700, exp: now - 1 }),
      'issued in the future': idToken(issuer, { ...bound, iat: now + 300, exp: now + 900 }),
      'not valid yet': idToken(issuer, { ...bound, nbf: now + 300 }),
    };
    for (const [attack, oidcToken] of Object.entries(attacks)) {
      expect(outcome(await login(organization, oidcToken, key.publicKey)), attack).toEqual(INVALID_TOKEN);
    }
    // Good tokens, of somebody else.
    for (const [attack, oidcToken] of Object.entries({
      'another audience': idToken(issuer, { ...bound, aud: 'evil' }),
      'another person': idToken(issuer, { ...bound, sub: 'bob' }),
      'another issuer': idToken(stranger, bound),
    })) {
      expect(outcome(await login(organization, oidcToken, key.publicKey)), attack).toEqual([404, 'RESOURCE_NOT_FOUND']);
    }
    expect((await organization.query('get_api_keys')).body.apiKeys).toHaveLength(1);
  });

  test('only where the user is, and only by who may', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const { organization, userId } = await newUser(issuer);
    const elsewhere = await Issuer.start(toJwk(ec));
    const { organization: sibling } = await newUser(elsewhere);
    const key = newKeyPair();
    const token = () => idToken(issuer, boundTo(key.publicKey));
    expect(outcome(await login(organization, token(), key.publicKey))).toEqual(DONE);
    expect(outcome(await login(sibling, token(), key.publicKey))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(outcome(await login(root, token(), key.publicKey))).toEqual([400, 'INVALID_ACTIVITY_CALLER']);
    const plain = await createUser(root, 'plain');
    const byPlain = new TestClient(root.baseUrl, organization.organizationId, plain.key);
    expect(outcome(await login(byPlain, token(), key.publicKey))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    const outsider = new TestClient(root.baseUrl, organization.organizationId, newKeyPair());
    expect((await login(outsider, token(), key.publicKey)).status).toBe(401);

    // An identity that is taken from the user logs nobody in.
    const user = organization.as(key, userId);
    const apiKey = { apiKeyName: 'lasting', publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' };
    await user.run('create_api_keys', { userId, apiKeys: [apiKey] });
    const [{ providerId }] = (await user.query('get_oauth_providers', { userId })).body.oauthProviders;
    await user.run('delete_oauth_providers', { userId, providerIds: [providerId] });
    expect(outcome(await login(organization, token(), key.publicKey))).toEqual([404, 'RESOURCE_NOT_FOUND']);
  });

  test('keys of the issuer that change mid-way, or that are not where they may be', async () => {
    const [older, newer] = [makeKey.ec(), makeKey.ec()];
    const issuer = await Issuer.start(toJwk(older), toJwk(ec));
    const { organization } = await newUser(issuer);
    const key = newKeyPair();
    const by = (signer: typeof ec) =>
      login(organization, idToken(issuer, boundTo(key.publicKey), signer), key.publicKey);
    expect(outcome(await by(older))).toEqual(DONE);
    issuer.keys = [toJwk(newer)];
    expect(outcome(await by(newer))).toEqual(DONE);
    expect(outcome(await by(older))).toEqual(INVALID_TOKEN);

    // The user is known; the issuer's document now points into a private network.
    const hidden = await Issuer.start(toJwk(ec));
    const known = await newUser(hidden);
    const token = () => idToken(hidden, boundTo(key.publicKey));
    expect(outcome(await login(known.organization, token(), key.publicKey))).toEqual(DONE);
    hidden.discovery = { ...hidden.discovery, jwks_uri: 'http://10.0.0.1/keys' };
    const later = (milliseconds: number) => {
      app.advance(milliseconds);
      onTestFinished(() => app.advance(-milliseconds));
    };
    const attempt = () => {
      const nowMs = app.app.clock();
      const oidcToken = idToken(hidden, boundTo(key.publicKey), ec, nowMs);
      spent.push(oidcToken);
      const parameters = { oidcToken, publicKey: key.publicKey };
      return known.organization.submit('oauth_login', parameters, { timestampMs: String(nowMs) });
    };
    // Until what was learnt of the issuer is stale.
    later(7 * 60 * 60_000);
    expect(outcome(await attempt())).toEqual(INVALID_TOKEN);
    hidden.discovery = { ...hidden.discovery, jwks_uri: `${hidden.url}/keys` };
    later(60_000);
    expect(outcome(await attempt())).toEqual(DONE);
  });

  test('the MFA policy of the user applies, and the token is its first proof', async () => {
    const issuer = await Issuer.start(toJwk(ec));
    const own = newKeyPair();
    const { organization, userId } = await newUser(issuer, own);
    const user = organization.as(own, userId);
    await user.run('create_mfa_policy', {
      userId,
      mfaPolicyName: 'two',
      condition: "activity.type == 'ACTIVITY_TYPE_OAUTH_LOGIN'",
      requiredAuthenticationMethods: [
        { any: [{ type: 'AUTHENTICATION_TYPE_OAUTH' }] },
        { any: [{ type: 'AUTHENTICATION_TYPE_API_KEY' }] },
      ],
      order: 1,
      notes: '',
    });
    const key = newKeyPair();
    const oidcToken = idToken(issuer, boundTo(key.publicKey));
    const started = await login(organization, oidcToken, key.publicKey);
    expect(outcome(started)).toEqual([200, UNPROVEN]);
    expect((await organization.as(key).query('whoami')).status).toBe(401);
    // One token proves one step of one activity (protocol/login 10.3).
    const reused = await login(organization, oidcToken, key.publicKey);
    expect(reused.status).toBe(400);
    const { fingerprint } = started.body.activity;
    expect(outcome(await user.submit('approve_activity', { fingerprint }))).toEqual(DONE);
    expect((await organization.as(key).query('whoami')).body.userId).toBe(userId);
  });
});
