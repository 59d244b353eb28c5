import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServedApp } from '../../src/app.ts';
import type { IdToken } from '../../src/authn/oidc/id-token.ts';
import { OrganizationReader } from '../../src/core/store/organizations.ts';
import { SignUpProxyReader } from '../../src/domains/sign-up-proxy/store.ts';
import { dispatch } from '../../src/engine/dispatch.ts';
import { ApiError } from '../../src/lib/errors.ts';
import { LIMITS } from '../../src/lib/limits.ts';
import { operationOfType } from '../../src/registry.ts';
import { newPasskey } from '../fixtures/passkey.ts';
import { currentType, type KeyPair, newKeyPair, send, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { outcome, policyFor, times } from './fixtures/access.ts';
import { claimsOf, loginParameters } from './fixtures/logins.ts';
import { boundTo, idToken, LOOPBACK, startKnownIssuer } from './fixtures/oauth.ts';
import {
  keyParams,
  LISTS,
  newEmail,
  newPhone,
  ProxyClient,
  ProxyWorld,
  refusal,
  signUpBody,
} from './fixtures/proxy.ts';

// What callers of the sign-up proxy may not do. Each attack stands beside the same call without it.

const GOOGLE = 'https://accounts.google.com';
const WALLET_KEY = '02b5413b489afcd861b00e8369bce16db37e6ba802f1a7e3eb32843fa9f304d7a9';
const NOT_FOUND = [404, 'AUTH_PROXY_CONFIG_NOT_FOUND'];
const DISALLOWED = [403, 'AUTH_METHOD_DISALLOWED'];
const signUp = () => ({ ...LISTS, userEmail: newEmail() });

/** A token that claims to be of an issuer; nobody signed it. */
const unsigned = (claims: object): string =>
  ['e30', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'AAAA'].join('.');

describe.each(databasesOf(import.meta.url))('attacks on the sign-up proxy on %s', (database) => {
  let world: ProxyWorld;

  beforeAll(async () => {
    world = await ProxyWorld.open(database, LOOPBACK);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const identity = async (root: TestClient) => {
    const config = await world.app.storage.read(SignUpProxyReader).ofOrganization(root.organizationId as never);
    return config!.identity!;
  };
  const countChildren = async () => (await world.root.query('list_suborgs')).body.organizationIds.length;

  describe('the configuration', () => {
    test('must be named, exist and be turned on', async () => {
      const { root, proxy } = await world.anotherParent();
      expect((await proxy.call('signup_v2', signUp())).status).toBe(200);
      const missing = await send(proxy.baseUrl, '/v1/signup_v2', JSON.stringify(signUp()));
      expect(refusal(missing)).toEqual([401, 'AUTH_PROXY_CONFIG_MISSING']);
      expect(missing.body.message).toContain('X-Auth-Proxy-Config-Id');
      const named = async (configId: string) =>
        refusal(await new ProxyClient(proxy.baseUrl, configId).call('signup_v2', signUp()));
      expect(await named('')).toEqual([401, 'AUTH_PROXY_CONFIG_MISSING']);
      for (const id of [
        randomUUID(),
        root.organizationId,
        'x',
        `${proxy.configId}, ${proxy.configId}`,
        "' OR 1=1 --",
      ]) {
        expect(await named(id), id).toEqual(NOT_FOUND);
      }
      await root.run('disable_auth_proxy', {});
      for (const name of ['signup_v2', 'account', 'otp_init', 'wallet_kit_config']) {
        expect(refusal(await proxy.call(name, signUp())), name).toEqual(NOT_FOUND);
      }
    });

    test('says which origins may ask', async () => {
      const { root, proxy } = await world.anotherParent();
      const origin = 'https://app.example';
      expect((await proxy.call('signup_v2', signUp())).status).toBe(200);
      await root.run('update_auth_proxy_config', { allowedOrigins: [origin] });
      expect((await proxy.call('signup_v2', signUp(), { origin })).status).toBe(200);
      const before = (await root.query('list_suborgs')).body.organizationIds.length;
      for (const foreign of [
        undefined,
        'null',
        '*',
        'https://app.example.evil.example',
        'https://evil.example',
        'http://app.example',
        'https://app.example:8443',
        'https://APP.example',
        'https://app.example/',
        `${origin}, https://evil.example`,
      ]) {
        const answer = await proxy.call('signup_v2', signUp(), foreign === undefined ? {} : { origin: foreign });
        expect(refusal(answer), foreign).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      }
      expect((await root.query('list_suborgs')).body.organizationIds).toHaveLength(before);
    });

    test('says which methods are turned on', async () => {
      const { root, proxy } = await world.anotherParent();
      const issuer = await startKnownIssuer(root);
      const phone = newPhone();
      const oauth = (claims: object) => ({
        ...LISTS,
        oauthProviders: [{ providerName: 'p', oidcToken: unsigned({ sub: 's', aud: 'a', ...claims }) }],
      });
      const key = newKeyPair();
      const emailToken = await world.verified(newEmail(), key, proxy);
      const phoneToken = await world.verified(phone, key, proxy);
      const authenticators = () => [newPasskey('p').registration];
      const walletKeys = [
        keyParams({ publicKey: WALLET_KEY, privateKey: '' }, { curveType: 'API_KEY_CURVE_SECP256K1' }),
      ];
      const ownIssuer = { iss: world.app.ownIssuer().issuer };
      const exchange = { authCode: 'c', redirectUri: 'https://a', codeVerifier: 'v', nonce: 'n', clientId: 'i' };
      const cases: readonly (readonly [string, string, () => unknown])[] = [
        ['email', 'otp_init', () => ({ otpType: 'OTP_TYPE_EMAIL', contact: newEmail() })],
        ['email', 'otp_init_v2', () => ({ otpType: 'OTP_TYPE_EMAIL', contact: newEmail() })],
        ['email', 'otp_login_v2', () => loginParameters(emailToken, key, newKeyPair())],
        ['email', 'signup_v2', () => ({ ...LISTS, verificationToken: emailToken })],
        ['email', 'signup', signUp],
        ['sms', 'otp_init', () => ({ otpType: 'OTP_TYPE_SMS', contact: newPhone() })],
        ['sms', 'otp_login', () => loginParameters(phoneToken, key, newKeyPair())],
        ['sms', 'signup_v2', () => ({ ...LISTS, userPhoneNumber: newPhone() })],
        ['passkey', 'signup_v2', () => ({ ...signUp(), authenticators: authenticators() })],
        ['wallet', 'signup_v2', () => ({ ...signUp(), apiKeys: walletKeys })],
        ['wallet', 'signup_v2', () => ({ ...LISTS, apiKeys: [keyParams(newKeyPair())] })],
        ['google', 'signup_v2', () => oauth({ iss: GOOGLE })],
        ['google', 'signup', () => oauth({ iss: 'accounts.google.com' })],
        ['google', 'oauth_login', () => ({ oidcToken: unsigned({ iss: GOOGLE }), publicKey: key.publicKey })],
        ['apple', 'signup_v2', () => oauth({ iss: 'https://appleid.apple.com' })],
        ['facebook', 'signup_v2', () => oauth({ iss: 'https://www.facebook.com' })],
        ['facebook', 'signup_v2', () => oauth({ iss: 'https://limited.facebook.com' })],
        ['x', 'signup_v2', () => oauth({ ...ownIssuer, sub: 'x:1' })],
        ['discord', 'signup_v2', () => oauth({ ...ownIssuer, sub: 'discord:1' })],
        ['x', 'oauth2_authenticate', () => ({ ...exchange, provider: 'OAUTH2_PROVIDER_X' })],
        ['discord', 'oauth2_authenticate', () => ({ ...exchange, provider: 'OAUTH2_PROVIDER_DISCORD' })],
      ];
      const { allowedAuthMethods: all } = (await root.query('get_auth_proxy_config')).body.authProxyConfig;
      const social = ['google', 'apple', 'facebook', 'x', 'discord'];
      for (const [method, name, body] of cases) {
        const allowedAuthMethods = all.filter((each: string) => each !== method);
        await root.run('update_auth_proxy_config', { allowedAuthMethods });
        const answer = await proxy.call(name, body());
        expect(refusal(answer), `${method} ${name}`).toEqual(DISALLOWED);
        expect(answer.body.message.includes('OAUTH disallowed'), method).toBe(social.includes(method));
      }
      // Turned on, none of them is refused for its method.
      await root.run('update_auth_proxy_config', { allowedAuthMethods: all });
      for (const [method, name, body] of cases) {
        expect((await proxy.call(name, body())).body.errorCode, `${method} ${name}`).not.toBe('AUTH_METHOD_DISALLOWED');
      }
      // An issuer that no method names has one of its own: anybody can run such an issuer.
      const another = () => ({ ...LISTS, oauthProviders: [{ providerName: 'i', oidcToken: idToken(issuer) }] });
      await root.run('update_auth_proxy_config', { allowedAuthMethods: ['oidc'] });
      expect((await proxy.call('signup_v2', another())).status).toBe(200);
      await root.run('update_auth_proxy_config', {
        allowedAuthMethods: all.filter((method: string) => method !== 'oidc'),
      });
      expect(refusal(await proxy.call('signup_v2', another()))).toEqual(DISALLOWED);
    });

    test('of another organization reaches neither my codes nor my accounts', async () => {
      const { proxy: theirs } = await world.anotherParent();
      const { email, organizationId, token } = await world.newAccount();
      const init = await world.proxy.run('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact: email });
      const attempt = { otpId: init.otpId, otpCode: await world.code(email) };
      expect(refusal(await theirs.call('otp_verify', attempt))).toEqual([400, 'INVALID_OTP_CODE']);
      expect((await world.proxy.call('otp_verify', attempt)).status).toBe(200);

      expect((await world.proxy.account('EMAIL', email, { verificationToken: token })).body).toEqual({
        organizationId,
      });
      expect(refusal(await theirs.account('EMAIL', email, { verificationToken: token }))).toEqual([
        400,
        'INVALID_VERIFICATION_TOKEN',
      ]);
      // Whoever proves the same contact to another organization is nobody here.
      const [key, session] = [newKeyPair(), newKeyPair()];
      const their = await world.verified(email, key, theirs);
      expect((await theirs.account('EMAIL', email, { verificationToken: their })).body).toEqual({});
      const login = loginParameters(their, key, session);
      expect(refusal(await theirs.call('otp_login_v2', { ...login, organizationId }))).toEqual([
        404,
        'ORGANIZATION_NOT_FOUND',
      ]);
      expect(refusal(await world.proxy.call('otp_login_v2', { ...login, organizationId }))).toEqual([
        400,
        'INVALID_VERIFICATION_TOKEN',
      ]);
      const mine = await world.verified(email, key);
      expect(
        (await world.proxy.call('otp_login_v2', { ...loginParameters(mine, key, session), organizationId })).status,
      ).toBe(200);

      const issuer = await startKnownIssuer(world.root);
      const oidcToken = idToken(issuer, boundTo(session.publicKey));
      const made = await world.proxy.signUp({ oauthProviders: [{ providerName: 'i', oidcToken }] });
      const oauth = { oidcToken, publicKey: session.publicKey };
      expect((await theirs.account('OIDC_TOKEN', oidcToken)).body).toEqual({});
      expect(refusal(await theirs.call('oauth_login', { ...oauth, organizationId: made.organizationId }))).toEqual([
        404,
        'ORGANIZATION_NOT_FOUND',
      ]);
      expect((await world.proxy.call('oauth_login', { ...oauth, organizationId: made.organizationId })).status).toBe(
        200,
      );
    });
  });

  describe('bodies', () => {
    test('must have the three lists', async () => {
      for (const name of ['signup', 'signup_v2']) {
        expect((await world.proxy.call(name, signUp())).status).toBe(200);
        for (const list of ['apiKeys', 'authenticators', 'oauthProviders'] as const) {
          const { [list]: _left, ...rest } = signUp();
          for (const body of [rest, { ...rest, [list]: null }, { ...rest, [list]: {} }]) {
            const answer = await world.proxy.call(name, body);
            expect(refusal(answer)).toEqual([400, 'REQUEST_INVALID']);
            expect(answer.body.message).toContain(list);
          }
        }
      }
      const tokenless = { ...signUp(), oauthProviders: [{ providerName: 'p' }] };
      expect((await world.proxy.call('signup', tokenless)).status).toBe(400);
    });

    test('must be what they say', async () => {
      expect((await world.proxy.sendText('signup_v2', JSON.stringify(signUp()))).status).toBe(200);
      const before = await countChildren();
      const email = JSON.stringify(newEmail());
      const lists = '"apiKeys":[],"authenticators":[],"oauthProviders":[]';
      for (const text of [
        '',
        '[]',
        'null',
        '"text"',
        '{',
        `\u{feff}{${lists},"userEmail":${email}}`,
        `{${lists},"userEmail":${email},"userEmail":${email}}`,
        `{${lists},"userEmail":"\\ud800"}`,
        `{${lists},"userEmail":"nobody"}`,
        `{${lists},"userPhoneNumber":"12345"}`,
        `{${lists},"userEmail":${email},"userName":"a\\u0000b"}`,
        `{${lists}}`,
        '['.repeat(40) + ']'.repeat(40),
      ]) {
        expect((await world.proxy.sendText('signup_v2', text)).status, text.slice(0, 40)).toBe(400);
      }
      const huge = await world.proxy.call('signup_v2', { ...signUp(), more: 'x'.repeat(LIMITS.bodyBytes) });
      expect(refusal(huge)).toEqual([413, 'BODY_TOO_LARGE']);
      const form = await world.proxy.sendText('signup_v2', 'a=b', {
        'content-type': 'application/x-www-form-urlencoded',
      });
      expect(refusal(form)).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
      for (const name of ['account', 'otp_init', 'otp_verify', 'otp_login', 'oauth_login', 'oauth2_authenticate']) {
        for (const body of [{}, [], null, 1]) expect((await world.proxy.call(name, body)).status, name).toBe(400);
        expect((await world.proxy.sendText(name, '')).status, name).toBe(400);
      }
      expect(await countChildren()).toBe(before);
    });

    test('name a wrong field as the caller sent it', async () => {
      const good = { ...signUp(), apiKeys: [keyParams(newKeyPair())] };
      expect((await world.proxy.call('signup_v2', good)).status).toBe(200);
      const bad = { ...signUp(), apiKeys: [keyParams({ publicKey: '02ff', privateKey: '' })] };
      const answer = await world.proxy.call('signup_v2', bad);
      expect(refusal(answer)).toEqual([400, 'INVALID_PUBLIC_KEY']);
      expect(answer.body.message).toMatch(/^apiKeys\.0\.publicKey: /);
    });

    test('cannot bring more than the contract: quorum, users, lifetimes', async () => {
      const [key, apiKey] = [newKeyPair(), newKeyPair()];
      const body = {
        ...LISTS,
        apiKeys: [keyParams(apiKey)],
        rootQuorumThreshold: 2,
        rootUsers: [{ userName: 'Second', ...LISTS }],
        disableEmailAuth: true,
        organizationId: world.root.organizationId,
        parameters: { rootQuorumThreshold: 2 },
      };
      const { organizationId, userId } = await world.proxy.run('signup_v2', body);
      const { organizationData } = (await world.client(organizationId, apiKey).query('get_organization')).body;
      expect(organizationData.rootQuorum).toEqual({ threshold: 1, userIds: [userId] });
      expect(organizationData.users).toHaveLength(1);
      expect(organizationData.features.map(({ name }: { name: string }) => name)).toContain('FEATURE_NAME_EMAIL_AUTH');
      const { email } = await world.newAccount();
      const session = newKeyPair();
      const login = loginParameters(await world.verified(email, key), key, session);
      const answer = await world.proxy.run('otp_login_v2', { ...login, expirationSeconds: '2000000' });
      expect(claimsOf(answer.session).exp - world.app.clock() / 1000).toBeLessThanOrEqual(900);
    });
  });

  describe('the key of the proxy', () => {
    /** What somebody could send who can use the key, though not take it. */
    async function stampedByProxy(root: TestClient, proxy: ProxyClient, type: string, parameters: unknown) {
      const { app } = world;
      const { sealedKey, publicKey } = await identity(root);
      const organization = await app.storage.read(OrganizationReader).get(root.organizationId as never);
      const body = Buffer.from(
        JSON.stringify({
          type,
          timestampMs: String(Date.now()),
          organizationId: root.organizationId,
          parameters,
          nonce: randomUUID(),
        }),
      );
      const { createHash } = await import('node:crypto');
      const [signature] = await app.keyring.sign(
        { organizationKey: organization.wrappedKey, organizationId: organization.id, ownerId: proxy.configId },
        { kind: 'private-key', sealed: sealedKey, curve: 'CURVE_P256' },
        'ecdsa',
        [createHash('sha256').update(body).digest()],
      );
      const integer = (bytes: Uint8Array) => Buffer.from([2, 33, 0, ...bytes]);
      const der = Buffer.concat([Buffer.of(0x30, 70), integer(signature!.r), integer(signature!.s)]);
      const stamp = { publicKey, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature: der.toString('hex') };
      return { body, headers: { 'x-stamp': Buffer.from(JSON.stringify(stamp)).toString('base64url') } };
    }

    const newUsers = () => ({
      users: [{ userName: 'Intruder', ...LISTS, apiKeys: [keyParams(newKeyPair())], userTags: [] }],
    });
    const init = () => ({ otpType: 'OTP_TYPE_EMAIL', contact: newEmail(), appName: 'ServedApp' });

    test('does from outside nothing at all, and for the proxy only what is in its table', async () => {
      const { root, proxy } = await world.anotherParent();
      await proxy.signUp({ userEmail: newEmail() });
      const inside = async (type: string, parameters: unknown) => {
        const { body, headers } = await stampedByProxy(root, proxy, type, parameters);
        const request = { body, headers, clientAddress: undefined, byService: true };
        return await dispatch(world.app, operationOfType(type), request).then(
          () => 'done',
          (error: unknown) => (error instanceof ApiError ? error.code : error),
        );
      };
      const outside = async (operation: string, parameters: unknown) => {
        const { body, headers } = await stampedByProxy(root, proxy, currentType(operation), parameters);
        return outcome(await send(proxy.baseUrl, `/public/v1/submit/${operation}`, body, headers));
      };
      expect(await inside(currentType('init_otp'), init())).toBe('done');
      const child = {
        subOrganizationName: 'x',
        rootQuorumThreshold: 1,
        rootUsers: [{ userName: 'x', ...LISTS, userEmail: newEmail() }],
      };
      expect(await inside(currentType('create_sub_organization'), child)).toBe('done');
      const denied = [403, 'REQUEST_NOT_AUTHORIZED'];
      expect(await outside('init_otp', init())).toEqual(denied);
      expect(await outside('create_sub_organization', { ...child, subOrganizationName: 'y' })).toEqual(denied);
      for (const [operation, parameters] of [
        ['create_users', newUsers()],
        ['update_auth_proxy_config', { allowedOrigins: ['*'] }],
        ['create_wallet', { walletName: 'w', accounts: [] }],
        ['create_policy', { policyName: 'p', effect: 'EFFECT_ALLOW', condition: 'true', consensus: 'true', notes: '' }],
        ['set_organization_feature', { name: 'FEATURE_NAME_EMAIL_AUTH', value: 'true' }],
      ] as const) {
        expect(await inside(currentType(operation), parameters), operation).toBe('REQUEST_NOT_AUTHORIZED');
        expect(await outside(operation, parameters), operation).toEqual(denied);
      }
    });

    test('stays in the keyring', async () => {
      const { proxy, root } = world;
      await proxy.signUp({ userEmail: newEmail() });
      const target = newKeyPair().publicKey;
      const { privateKeys } = await root.run('create_private_keys', {
        privateKeys: [{ privateKeyName: randomUUID(), curve: 'CURVE_P256', privateKeyTags: [], addressFormats: [] }],
      });
      const exported = (privateKeyId: string) =>
        root.submit('export_private_key', { privateKeyId, targetPublicKey: target });
      expect((await exported(privateKeys[0].privateKeyId)).status).toBe(200);
      const { userId } = await identity(root);
      for (const id of [proxy.configId, userId]) expect((await exported(id)).status).toBe(404);
      const { authProxyConfig } = (await root.query('get_auth_proxy_config')).body;
      expect(JSON.stringify(authProxyConfig)).not.toMatch(/sealed|privateKey/i);
    });

    test('obeys a policy that denies, and outsiders do not learn which', async () => {
      const { root, proxy } = await world.anotherParent();
      expect((await proxy.call('signup_v2', signUp())).status).toBe(200);
      const { userId } = await identity(root);
      const policyId = await policyFor(root, root.as(root.key, userId), {
        effect: 'EFFECT_DENY',
        condition: "activity.kind == 'CREATE_SUB_ORGANIZATION'",
      });
      const denied = await proxy.call('signup_v2', signUp());
      expect(refusal(denied)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      expect(JSON.stringify(denied.body)).not.toContain(policyId);
      const code = { otpType: 'OTP_TYPE_EMAIL', contact: newEmail() };
      expect((await proxy.call('otp_init', code)).status).toBe(200);
      await root.run('delete_policy', { policyId });
      expect((await proxy.call('signup_v2', signUp())).status).toBe(200);
    });

    test('registered by a user of a sub-organization does not let that user stand in for the proxy', async () => {
      const { email, organizationId, userId, user } = await world.newAccount();
      const login = async () => {
        const [key, session] = [newKeyPair(), newKeyPair()];
        return await world.proxy.call('otp_login_v2', {
          ...loginParameters(await world.verified(email, key), key, session),
          organizationId,
        });
      };
      expect((await login()).status).toBe(200);
      const { publicKey } = await identity(world.root);
      const { apiKeyIds } = await user.run('create_api_keys', {
        userId,
        apiKeys: [keyParams({ publicKey, privateKey: '' })],
      });
      // The proxy's key counts as the parent's, and its login as the parent's activity.
      expect((await login()).status).toBe(200);
      const { activities } = (await user.query('list_activities', { paginationOptions: { limit: '1' } })).body;
      expect(activities[0].type).toBe('ACTIVITY_TYPE_OTP_LOGIN_V2');
      expect(activities[0].votes[0].userId).toBe((await identity(world.root)).userId);
      await user.run('delete_api_keys', { userId, apiKeyIds });
      expect((await login()).status).toBe(200);
    });
  });

  describe('many calls', () => {
    const behind = (app: ServedApp, limits: Partial<ServedApp['config']>): Partial<ServedApp> => ({
      config: { ...app.config, trustedProxies: ['127.0.0.0/8'], ...limits },
    });
    const at = (proxy: ProxyClient, address: string) => proxy.with({ 'x-forwarded-for': address });

    test('of one address are slowed, of others not', async () => {
      const proxy = await world.listen((app) => behind(app, { proxyRequestsPerMinute: 3 }));
      const ask = (address: string) => at(proxy, address).call('wallet_kit_config');
      for (const _ of times(3, () => 0)) expect((await ask('203.0.113.9')).status).toBe(200);
      const slowed = await ask('203.0.113.9');
      expect(refusal(slowed)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
      expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Number(slowed.headers.get('retry-after'))).toBeLessThanOrEqual(60);
      expect((await ask('203.0.113.10')).status).toBe(200);
      // Unknown configurations count, too, or they could be tried for ever.
      const wrong = new ProxyClient(proxy.baseUrl, randomUUID());
      for (const _ of times(3, () => 0)) expect((await at(wrong, '203.0.113.11').call('account')).status).toBe(404);
      expect((await at(wrong, '203.0.113.11').call('account')).status).toBe(429);
      // Who has one address of IPv6 has many.
      for (const index of times(3, (each) => each)) expect((await ask(`2001:db8:1:2::${index}`)).status).toBe(200);
      expect((await ask('2001:db8:1:2:ffff::1')).status).toBe(429);
      expect((await ask('2001:db8:1:3::1')).status).toBe(200);
      world.service.advance(60_000);
      expect((await ask('203.0.113.9')).status).toBe(200);
    });

    test('send no codes to many contacts from one address', async () => {
      const proxy = await world.listen((app) => behind(app, { proxyCodesPerMinute: 3 }));
      const sendCode = (address: string) =>
        at(proxy, address).call('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact: newEmail() });
      for (const _ of times(3, () => 0)) expect((await sendCode('198.51.100.7')).status).toBe(200);
      const slowed = await sendCode('198.51.100.7');
      expect(refusal(slowed)).toEqual([429, 'MAX_OTP_INITIATED']);
      expect(slowed.body.message).toContain('Max number of OTPs have been initiated');
      expect((await sendCode('198.51.100.8')).status).toBe(200);
    });
  });

  describe('accounts', () => {
    test('are not told to whoever does not own the contact', async () => {
      const { email, organizationId, token } = await world.newAccount();
      const byEmail = (value: string, proof = {}) => world.proxy.account('EMAIL', value, proof);
      expect((await byEmail(email, { verificationToken: token })).body).toEqual({ organizationId });
      expect((await byEmail(email.toUpperCase(), { verificationToken: token })).body).toEqual({ organizationId });
      const stranger = newEmail();
      const known = await byEmail(email);
      const unknown = await byEmail(stranger);
      expect(refusal(known)).toEqual([400, 'REQUEST_INVALID']);
      expect(known.body).toEqual(unknown.body);
      const other = await world.verified(stranger, newKeyPair());
      expect(refusal(await byEmail(email, { verificationToken: other }))).toEqual([400, 'INVALID_VERIFICATION_TOKEN']);
      expect(refusal(await byEmail(email, { verificationToken: `${token.slice(0, -4)}AAAA` }))).toEqual([
        400,
        'INVALID_VERIFICATION_TOKEN',
      ]);
      // Users are called by their email unless they say otherwise.
      const byName = (value: string, proof = {}) => world.proxy.account('USERNAME', value, proof);
      expect((await byName(email, { verificationToken: token })).body).toEqual({ organizationId });
      expect((await byName(email)).body).toEqual((await byName(stranger)).body);
      expect((await byName(email)).status).toBe(400);
      const phone = newPhone();
      const key = newKeyPair();
      const phoneToken = await world.verified(phone, key);
      const made = await world.proxy.run('signup_v2', signUpBody(phoneToken, key, { userPhoneNumber: phone }));
      const byPhone = (proof = {}) => world.proxy.account('PHONE_NUMBER', phone, proof);
      expect((await byPhone({ verificationToken: phoneToken })).body).toEqual({ organizationId: made.organizationId });
      for (const proof of [{}, { verificationToken: token }, { oidcToken: unsigned({ iss: GOOGLE }) }]) {
        expect((await byPhone(proof)).status).toBe(400);
      }
      expect((await byName(phone)).status).toBe(400);
      await world.configureHere({ verificationTokenRequiredForGetAccountPii: false });
      expect((await byEmail(email)).body).toEqual({ organizationId });
      expect((await byPhone()).body).toEqual({ organizationId: made.organizationId });
    });

    test('are found by a Google sign-in only for client ids that the configuration names', async () => {
      const { email, organizationId } = await world.newAccount();
      const tokens: Record<string, Partial<IdToken>> = {
        good: {},
        'another client': { audience: 'evil' },
        'another issuer': { issuer: 'https://issuer.example' },
        unverified: { emailVerified: false },
        'another email': { email: newEmail() },
        'no email': { email: undefined },
      };
      const proxy = await world.listen((app) => ({
        tokens: {
          ...app.tokens,
          oidc: async (text) =>
            ({
              issuer: GOOGLE,
              audience: 'mine',
              subject: 's',
              email,
              emailVerified: true,
              ...tokens[text],
            }) as IdToken,
        },
      }));
      await world.configureHere({ socialLinkingClientIds: ['mine'] });
      const found = (oidcToken: string) => proxy.account('EMAIL', email, { oidcToken });
      expect((await found('good')).body).toEqual({ organizationId });
      for (const name of Object.keys(tokens).slice(1)) {
        expect(refusal(await found(name)), name).toEqual([400, 'INVALID_OIDC_TOKEN']);
      }
      await world.configure({ socialLinkingClientIds: [] });
      expect(refusal(await found('good'))).toEqual([400, 'INVALID_OIDC_TOKEN']);
    });

    test('of a public key belong to who has used it, not to who registered it', async () => {
      const victimKey = newKeyPair();
      const signUpWith = (key: KeyPair) => world.proxy.signUp({ apiKeys: [keyParams(key)] });
      const victim = await signUpWith(victimKey);
      const lookup = () => world.proxy.account('PUBLIC_KEY', victimKey.publicKey);
      expect((await lookup()).body).toEqual({ organizationId: victim.organizationId });
      const attacker = await signUpWith(victimKey);
      expect(attacker.organizationId).not.toBe(victim.organizationId);
      // While nobody has stamped with it, it is nobody's.
      expect((await lookup()).body).toEqual({});
      expect((await world.client(victim.organizationId, victimKey).query('whoami')).status).toBe(200);
      expect((await lookup()).body).toEqual({ organizationId: victim.organizationId });
      await signUpWith(victimKey);
      expect((await lookup()).body).toEqual({ organizationId: victim.organizationId });
      const login = world.client(world.root.organizationId, victimKey);
      const answer = await login.submit('stamp_login', { publicKey: newKeyPair().publicKey });
      expect(answer.body.activity.organizationId).toBe(victim.organizationId);
    });

    test('of one contact are one, whoever comes first', async () => {
      const [email, key] = [newEmail(), newKeyPair()];
      const tokens = [];
      for (const _ of times(3, () => 0)) tokens.push(await world.verified(email, key));
      const answers = await Promise.all(
        // The first token twice: it signs up once, too.
        [tokens[0], ...tokens].map((token) =>
          world.proxy.call('signup_v2', signUpBody(token as string, key, { userEmail: email })),
        ),
      );
      const won = answers.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      for (const answer of answers.filter((each) => each !== won[0])) {
        expect(['ALREADY_EXISTS', 'INVALID_VERIFICATION_TOKEN']).toContain(answer.body.errorCode);
      }
      const found = await world.proxy.account('EMAIL', email, { verificationToken: tokens[0] as string });
      expect(found.body).toEqual({ organizationId: won[0]?.body.organizationId });
      const { organizationIds } = (
        await world.root.query('list_verified_suborgs', { filterType: 'EMAIL', filterValue: email })
      ).body;
      expect(organizationIds).toEqual([won[0]?.body.organizationId]);
    });

    test('cannot be signed up with the token or the identity of another', async () => {
      const issuer = await startKnownIssuer(world.root);
      const [email, key] = [newEmail(), newKeyPair()];
      const token = await world.verified(email, key);
      const thief = newKeyPair();
      const stolen = signUpBody(token, thief, { userEmail: email, apiKeys: [keyParams(thief)] });
      expect(refusal(await world.proxy.call('signup_v2', stolen))).toEqual([400, 'INVALID_CLIENT_SIGNATURE']);
      const changed = { ...signUpBody(token, key, { userEmail: email }), apiKeys: [keyParams(thief)] };
      expect(refusal(await world.proxy.call('signup_v2', changed))).toEqual([400, 'INVALID_CLIENT_SIGNATURE']);
      const otherEmail = signUpBody(token, key, { userEmail: newEmail() });
      expect(refusal(await world.proxy.call('signup_v2', otherEmail))).toEqual([400, 'INVALID_VERIFICATION_TOKEN']);
      expect((await world.proxy.call('signup_v2', signUpBody(token, key, { userEmail: email }))).status).toBe(200);

      const claims = { iss: issuer.url, sub: 'victim', aud: 'app' };
      const withClaims = { ...LISTS, oauthProviders: [{ providerName: 'i', oidcClaims: claims }] };
      expect((await world.proxy.call('signup_v2', withClaims)).status).toBe(400);
      const oidcToken = idToken(issuer, { sub: 'victim' });
      const withToken = { ...LISTS, oauthProviders: [{ providerName: 'i', oidcToken }] };
      expect((await world.proxy.call('signup_v2', withToken)).status).toBe(200);
      expect(refusal(await world.proxy.call('signup_v2', withToken))).toEqual([409, 'OAUTH_PROVIDER_ALREADY_EXISTS']);
    });
  });
});
