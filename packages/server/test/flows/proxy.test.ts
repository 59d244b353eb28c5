import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createSignUpProxy } from '../../src/domains/sign-up-proxy/sign-up-proxy.ts';
import { AuthProxyReader, AuthProxyStore } from '../../src/domains/sign-up-proxy/store.ts';
import { buildProxyServer } from '../../src/http/server.ts';
import { startService } from '../../src/service.ts';
import { type Answer, createSubOrganization, createUser, newKeyPair, send } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { newPasskey } from '../hostile/passkey.ts';
import { addPasskey, approve, Caller, COMPLETED, outcome, policyFor, Rows, times } from './fixtures/access.ts';
import { attested, claimsOf, loginParameters } from './fixtures/logins.ts';
import {
  boundTo,
  encryptClientSecret,
  idToken,
  LOOPBACK,
  OAUTH2_CLIENT,
  Oauth2Providers,
  sha256Hex,
  startKnownIssuer,
} from './fixtures/oauth.ts';
import {
  keyParams,
  LISTS,
  newEmail,
  newPhone,
  ProxyClient,
  ProxyWorld,
  refusal,
  signUpBody,
  startCaptcha,
} from './fixtures/proxy.ts';

// The sign-up proxy as its clients use it (protocol/sign-up-proxy 3), and the operations that configure it.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const WALLET = {
  walletName: 'First',
  accounts: [
    {
      curve: 'CURVE_SECP256K1',
      pathFormat: 'PATH_FORMAT_BIP32',
      path: "m/44'/60'/0'/0/0",
      addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
    },
  ],
};
const PROXY_USER = 'Sign-up proxy';

const found = ({ status, body }: Answer) => [status, body];

describe.each(DATABASES)('the sign-up proxy on %s', (database) => {
  let world: ProxyWorld;
  let providers: Oauth2Providers;

  beforeAll(async () => {
    providers = await Oauth2Providers.start();
    world = await ProxyWorld.open(database, { ...LOOPBACK, ...providers.env });
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await providers[Symbol.asyncDispose]();
  });

  const proxyUsers = async (root = world.root) =>
    (await root.query('list_users')).body.users.filter((user: { userName: string }) => user.userName === PROXY_USER);
  const config = async (root = world.root) => (await root.query('get_auth_proxy_config')).body.authProxyConfig;

  describe('its user and key', () => {
    test('are made once with the first use, however many come at once', async () => {
      const { root, proxy } = await world.anotherParent();
      expect(await proxyUsers(root)).toEqual([]);
      const answers = await Promise.all(times(8, () => proxy.signUp({ userEmail: newEmail() })));
      expect(new Set(answers.map(({ organizationId }) => organizationId)).size).toBe(8);
      const users = await proxyUsers(root);
      expect(users).toHaveLength(1);
      expect(users[0].apiKeys).toHaveLength(1);
      // The audit log says where they come from.
      const { activities } = (
        await root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_ENABLE_AUTH_PROXY'] })
      ).body;
      expect(activities).toHaveLength(1);
      expect(activities[0].result).toEqual({ enableAuthProxyResult: { userId: users[0].userId } });
      expect((await config(root)).userId).toBe(users[0].userId);
      const signUps = await root.query('list_activities', {
        filterByType: ['ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8'],
      });
      expect(signUps.body.activities).toHaveLength(8);
      for (const { votes } of signUps.body.activities) expect(votes[0].userId).toBe(users[0].userId);
    });

    test('are made again when somebody deleted them', async () => {
      const { root, proxy } = await world.anotherParent();
      await proxy.signUp({ userEmail: newEmail() });
      const [first] = await proxyUsers(root);
      await root.run('delete_api_keys', {
        userId: first.userId,
        apiKeyIds: first.apiKeys.map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId),
      });
      await Promise.all(times(4, () => proxy.signUp({ userEmail: newEmail() })));
      const [second] = await proxyUsers(root);
      expect(second.userId).toBe(first.userId);
      expect(second.apiKeys).toHaveLength(1);
      expect(second.apiKeys[0].credential.publicKey).not.toBe(first.apiKeys[0].credential.publicKey);

      await root.run('delete_users', { userIds: [second.userId] });
      await Promise.all(times(4, () => proxy.signUp({ userEmail: newEmail() })));
      const third = await proxyUsers(root);
      expect(third).toHaveLength(1);
      expect(third[0].userId).not.toBe(second.userId);
      expect(third[0].apiKeys).toHaveLength(1);
    });
  });

  describe('its configuration', () => {
    test('is turned on and off', async () => {
      const { root, proxy } = await world.anotherParent();
      const features = async () =>
        (await root.query('get_organization_configs')).body.configs.features.map(({ name }: { name: string }) => name);
      expect(await features()).not.toContain('FEATURE_NAME_AUTH_PROXY');
      const { userId } = await root.run('enable_auth_proxy', {});
      expect((await proxyUsers(root))[0].userId).toBe(userId);
      expect(await features()).toContain('FEATURE_NAME_AUTH_PROXY');
      expect((await proxy.call('wallet_kit_config')).status).toBe(200);
      expect(await root.run('disable_auth_proxy', {})).toEqual({});
      expect(refusal(await proxy.call('wallet_kit_config'))).toEqual([404, 'AUTH_PROXY_CONFIG_NOT_FOUND']);
      expect(await features()).not.toContain('FEATURE_NAME_AUTH_PROXY');
      expect(await config(root)).toMatchObject({ enabled: false, configId: proxy.configId });
      // The same user again, not another.
      expect(await root.run('enable_auth_proxy', {})).toEqual({ userId });
      expect((await proxy.call('wallet_kit_config')).status).toBe(200);
    });

    test('is made by enable_auth_proxy where there is none, once', async () => {
      const { root, proxy } = await world.anotherParent();
      await using rows = await Rows.open(world.app.config);
      await rows.run('DELETE FROM auth_proxy_config WHERE id = ?', [proxy.configId]);
      expect((await root.query('get_auth_proxy_config')).status).toBe(404);
      expect(outcome(await root.submit('update_auth_proxy_config', {}))).toEqual([404, 'RESOURCE_NOT_FOUND']);
      const answers = await Promise.all(times(4, () => root.submit('enable_auth_proxy', {})));
      const done = answers.filter(({ status }) => status === 200);
      // Whoever prepared a key for a configuration that another has made meanwhile finds it done, or is asked to try
      // again.
      for (const answer of answers.filter((each) => !done.includes(each)))
        expect(refusal(answer)).toEqual([409, 'CONFLICT']);
      const userIds = new Set(done.map(({ body }) => body.activity.result.enableAuthProxyResult.userId));
      expect(userIds.size).toBe(1);
      expect(await proxyUsers(root)).toMatchObject([{ userId: [...userIds][0] }]);
      const { configId } = await config(root);
      expect(configId).not.toBe(proxy.configId);
      await new ProxyClient(proxy.baseUrl, configId).signUp({ userEmail: newEmail() });
      expect(await proxyUsers(root)).toHaveLength(1);
    });

    test('changes what is given and keeps the rest', async () => {
      const { root } = await world.anotherParent();
      const before = await config(root);
      expect(before).toMatchObject({
        enabled: true,
        allowedOrigins: ['*'],
        allowedAuthMethods: [
          'email',
          'sms',
          'passkey',
          'wallet',
          'google',
          'apple',
          'facebook',
          'x',
          'discord',
          'oidc',
        ],
        otpLength: 6,
        otpAlphanumeric: false,
        verificationTokenRequiredForGetAccountPii: true,
        socialLinkingClientIds: [],
        captchaEnabled: false,
      });
      const change = {
        allowedOrigins: ['https://app.example', 'http://localhost:3000', 'android:apk-key-hash:abc', 'capacitor://app'],
        allowedAuthMethods: ['email', 'google'],
        sendFromEmailAddress: 'hello@app.example',
        replyToEmailAddress: 'reply@app.example',
        sendFromEmailSenderName: 'App',
        emailAuthTemplateId: 'plain',
        otpTemplateId: 'plain',
        emailCustomizationParams: { appName: 'App', logoUrl: 'https://app.example/logo.png' },
        smsCustomizationParams: { template: 'Code: {{.OtpCode}}' },
        walletKitSettings: {
          enabledSocialProviders: ['google'],
          oauthClientIds: { google: 'client-1' },
          oauthRedirectUrl: 'https://app.example/callback',
        },
        otpExpirationSeconds: 120,
        verificationTokenExpirationSeconds: 600,
        sessionExpirationSeconds: 1800,
        otpAlphanumeric: true,
        otpLength: 8,
        verificationTokenRequiredForGetAccountPii: false,
        socialLinkingClientIds: ['client-1'],
      };
      expect(await root.run('update_auth_proxy_config', change)).toEqual({ configId: before.configId });
      expect(await config(root)).toMatchObject(change);
      await root.run('update_auth_proxy_config', { otpLength: 9, sendFromEmailSenderName: '', otpTemplateId: null });
      const after = await config(root);
      const { sendFromEmailSenderName: _gone, ...kept } = change;
      expect(after).toMatchObject({ ...kept, otpLength: 9 });
      expect(after).not.toHaveProperty('sendFromEmailSenderName');
    });

    test.each([
      ['allowedOrigins', []],
      ['allowedOrigins', ['*', 'https://app.example']],
      ['allowedOrigins', ['https://*.app.example']],
      ['allowedOrigins', ['https://app.example/']],
      ['allowedOrigins', ['https://app.example/path']],
      ['allowedOrigins', ['HTTPS://app.example']],
      ['allowedOrigins', ['https://app.example:443']],
      ['allowedOrigins', ['app.example']],
      ['allowedOrigins', ['null']],
      ['allowedAuthMethods', ['password']],
      ['allowedAuthMethods', 'email'],
      ['sendFromEmailAddress', 'nobody'],
      ['replyToEmailAddress', 'a@b, c@d'],
      ['sendFromEmailSenderName', 'App\r\nBcc: all@example.com'],
      ['emailCustomizationParams', { logoUrl: 'javascript:alert(1)' }],
      ['emailCustomizationParams', { magicLinkTemplate: 'https://app.example/' }],
      ['smsCustomizationParams', { template: 'no code' }],
      ['walletKitSettings', { enabledSocialProviders: ['email'] }],
      ['walletKitSettings', { oauthRedirectUrl: 'nowhere' }],
      ['walletKitSettings', { oauthRedirectUrl: 'javascript:alert(1)' }],
      ['otpExpirationSeconds', 601],
      ['otpExpirationSeconds', 29],
      ['otpExpirationSeconds', '300'],
      ['verificationTokenExpirationSeconds', 86_401],
      ['sessionExpirationSeconds', 0],
      ['sessionExpirationSeconds', 2_592_001],
      ['otpLength', 5],
      ['otpLength', 10],
      ['otpLength', 6.5],
      ['captchaEnabled', true],
      ['socialLinkingClientIds', [1]],
    ])('refuses %s %j', async (name, value) => {
      const answer = await world.root.submit('update_auth_proxy_config', { [name]: value });
      expect(answer.status).toBe(400);
      expect(answer.body.message).toContain(name);
    });

    test('belongs to a parent, whose policies can hand it on', async () => {
      const sub = await createSubOrganization(world.root, `Sub ${randomUUID()}`);
      for (const operation of ['enable_auth_proxy', 'disable_auth_proxy', 'update_auth_proxy_config']) {
        expect(outcome(await sub.submit(operation, {}))).toEqual([400, 'INVALID_ACTIVITY_CALLER']);
      }
      expect((await sub.query('get_auth_proxy_config')).status).toBe(404);
      const { root } = await world.anotherParent();
      const member = await createUser(root, 'Member');
      expect(outcome(await member.submit('update_auth_proxy_config', { otpLength: 7 }))).toEqual([
        403,
        'REQUEST_NOT_AUTHORIZED',
      ]);
      await policyFor(root, member, { condition: "activity.resource == 'AUTH_PROXY' && activity.action == 'UPDATE'" });
      expect(outcome(await member.submit('update_auth_proxy_config', { otpLength: 7 }))).toEqual([200, COMPLETED]);
      expect((await member.submit('disable_auth_proxy', {})).status).toBe(403);
    });
  });

  describe('codes', () => {
    test('sign up by email: code, token, account, sign-up with a wallet, login', async () => {
      const [email, key, session] = [newEmail(), newKeyPair(), newKeyPair()];
      const token = await world.verified(email, key);
      expect(claimsOf(token)).toMatchObject({
        contact: email,
        organization_id: world.root.organizationId,
        public_key: key.publicKey,
      });
      // Nobody is there yet, so the client goes on to sign up.
      const lookup = () => world.proxy.account('EMAIL', email, { verificationToken: token });
      expect(found(await lookup())).toEqual([200, {}]);
      const signUp = signUpBody(token, key, { userEmail: email, userTag: 'beta', wallet: WALLET });
      const { organizationId, userId, wallet, ...rest } = await world.proxy.run('signup_v2', signUp);
      expect([organizationId, userId]).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
      expect(wallet).toEqual({ walletId: expect.stringMatching(UUID), addresses: [expect.stringMatching(/^0x/)] });
      expect(rest).toEqual({});
      expect((await lookup()).body).toEqual({ organizationId });

      // As core logs in: with a stamp that the token attests, and the parent's id.
      const attestedCaller = attested(new Caller(world.client(organizationId, key), {}), token, key);
      const login = await attestedCaller.submit('stamp_login', { publicKey: session.publicKey });
      expect(outcome(login)).toEqual([200, COMPLETED]);
      const user = world.client(organizationId, session, userId);
      expect((await user.query('whoami')).body).toMatchObject({ organizationId, userId, username: email });
      const { users } = (await user.query('list_users')).body;
      const tags = (await user.query('list_user_tags')).body.userTags;
      expect(tags).toMatchObject([{ tagName: 'beta' }]);
      expect(users).toMatchObject([{ userName: email, userEmail: email, userTags: [tags[0].tagId] }]);
      const { organizationData } = (await user.query('get_organization')).body;
      expect(organizationData.rootQuorum).toEqual({ threshold: 1, userIds: [userId] });
      // A generated name says nothing of the user.
      expect(organizationData.name).not.toContain(email);
    });

    test('log in, where they are told to or where the contact is', async () => {
      const { email, organizationId, userId } = await world.newAccount();
      await world.configure({ sessionExpirationSeconds: 1234 });
      for (const place of [
        {},
        { organizationId },
        { organizationId: world.root.organizationId },
        { organizationId: '' },
      ]) {
        const [key, session] = [newKeyPair(), newKeyPair()];
        const token = await world.verified(email, key);
        const answer = await world.proxy.run('otp_login_v2', { ...loginParameters(token, key, session), ...place });
        expect(Object.keys(answer)).toEqual(['session']);
        const { exp, ...claims } = claimsOf(answer.session);
        expect(claims).toMatchObject({
          organization_id: organizationId,
          user_id: userId,
          public_key: session.publicKey,
        });
        expect(exp - Date.now() / 1000).toBeGreaterThan(1200);
        expect(exp - Date.now() / 1000).toBeLessThan(1240);
        expect((await world.client(organizationId, session).query('whoami')).body.userId).toBe(userId);
      }
      // Whose contact nobody has proven is not found.
      const [key, session] = [newKeyPair(), newKeyPair()];
      const stranger = await world.verified(newEmail(), key);
      expect(refusal(await world.proxy.call('otp_login_v2', loginParameters(stranger, key, session)))).toEqual([
        404,
        'RESOURCE_NOT_FOUND',
      ]);
    });

    test('come in the clear in the older calls, with a key or without', async () => {
      const email = newEmail();
      const init = async () => {
        const { otpId, ...rest } = await world.proxy.run('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact: email });
        expect(rest).toEqual({});
        return { otpId, otpCode: await world.code(email) };
      };
      const { verificationToken: unbound } = await world.proxy.run('otp_verify', await init());
      expect(claimsOf(unbound)).not.toHaveProperty('public_key');
      const body = { ...LISTS, userEmail: email, userName: 'Someone', verificationToken: unbound };
      const { organizationId, userId } = await world.proxy.run('signup', body);
      const session = newKeyPair();
      const login = { verificationToken: unbound, publicKey: session.publicKey };
      await world.proxy.run('otp_login', login);
      expect((await world.client(organizationId, session).query('whoami')).body).toMatchObject({
        userId,
        username: 'Someone',
      });
      const [key, second] = [newKeyPair(), newKeyPair()];
      const attempt = { ...(await init()), publicKey: key.publicKey };
      const { verificationToken: bound } = await world.proxy.run('otp_verify', attempt);
      expect(
        refusal(await world.proxy.call('otp_login', { verificationToken: bound, publicKey: second.publicKey })),
      ).toEqual([400, 'INVALID_CLIENT_SIGNATURE']);
      await world.proxy.run('otp_login', loginParameters(bound, key, second));
      expect((await world.client(organizationId, second).query('whoami')).status).toBe(200);
    });

    test('come by text message too', async () => {
      const [phone, key, session] = [newPhone(), newKeyPair(), newKeyPair()];
      const token = await world.verified(phone, key);
      const { organizationId } = await world.proxy.run('signup_v2', signUpBody(token, key, { userPhoneNumber: phone }));
      expect((await world.proxy.account('PHONE_NUMBER', phone, { verificationToken: token })).body).toEqual({
        organizationId,
      });
      await world.proxy.run('otp_login_v2', loginParameters(token, key, session));
      expect((await world.client(organizationId, session).query('whoami')).body.username).toBe(phone);
    });

    test('look and live as the configuration says', async () => {
      const { root, proxy } = await world.anotherParent();
      await root.run('update_auth_proxy_config', {
        otpLength: 9,
        otpAlphanumeric: true,
        otpExpirationSeconds: 60,
        verificationTokenExpirationSeconds: 90,
        emailCustomizationParams: { appName: 'Bright App', templateVariables: '{"subject":"Come in"}' },
        smsCustomizationParams: { template: 'In with {{.OtpCode}}' },
      });
      const email = newEmail();
      await proxy.run('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact: email });
      const mail = await world.message(email);
      expect(mail.subject).toBe('Come in');
      expect(mail.text).toContain('Bright App');
      expect(mail.text).toMatch(/(?<![0-9A-Z])[0-9A-HJKMNP-TV-Z]{9}(?![0-9A-Z])/);
      const phone = newPhone();
      await proxy.run('otp_init_v2', { otpType: 'OTP_TYPE_SMS', contact: phone });
      expect((await world.message(phone)).text).toMatch(/^In with [0-9A-HJKMNP-TV-Z]{9}$/);
      const token = await world.verified(newEmail(), newKeyPair(), proxy);
      const lifeMs = Number(claimsOf(token).exp) - Date.now();
      expect(lifeMs).toBeGreaterThan(60_000);
      expect(lifeMs).toBeLessThanOrEqual(90_000);
      const { intent } = (await root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_INIT_OTP_V2'] })).body
        .activities[0];
      expect(intent.initOtpIntentV2).toMatchObject({ otpLength: 9, alphanumeric: true, expirationSeconds: '60' });
    });

    test('a wrong one says so in the words that clients know', async () => {
      const email = newEmail();
      const { otpId } = await world.proxy.run('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact: email });
      const otpCode = await world.code(email);
      const wrong = `${otpCode.startsWith('1') ? '2' : '1'}${otpCode.slice(1)}`;
      const refused = await world.proxy.call('otp_verify', { otpId, otpCode: wrong });
      expect(refusal(refused)).toEqual([400, 'INVALID_OTP_CODE']);
      expect(refused.body.message).toContain('Invalid OTP code');
      expect((await world.proxy.call('otp_verify', { otpId, otpCode })).status).toBe(200);
    });
  });

  describe('accounts', () => {
    test('of passkeys, wallets and names are found', async () => {
      const name = `Name ${randomUUID()}`;
      const { passkey, registration } = newPasskey('Phone');
      const sessionKey = newKeyPair();
      const made = await world.proxy.signUp({
        authenticators: [registration],
        apiKeys: [keyParams(sessionKey, { expirationSeconds: '60' })],
        userName: name,
        organizationName: `Organization ${name}`,
      });
      const { organizationId } = made;
      for (const [type, value] of [
        ['CREDENTIAL_ID', passkey.credentialId],
        ['PUBLIC_KEY', sessionKey.publicKey],
        ['PUBLIC_KEY', sessionKey.publicKey.toUpperCase()],
        ['USERNAME', name],
        ['NAME', `Organization ${name}`],
      ] as const) {
        expect(await world.proxy.account(type, value), type).toMatchObject({ status: 200, body: { organizationId } });
        expect((await world.proxy.account(type, `${value}x`)).body, type).toEqual({});
      }
      // The key that came with the passkey logs in once.
      const login = world.client(world.root.organizationId, sessionKey);
      const answer = await login.submit('stamp_login', { publicKey: newKeyPair().publicKey });
      expect(outcome(answer)).toEqual([200, COMPLETED]);
      expect(answer.body.activity.organizationId).toBe(organizationId);
    });

    test('several of one name are none', async () => {
      const userName = `Twin ${randomUUID()}`;
      const { organizationId } = await world.proxy.signUp({ userName, apiKeys: [keyParams(newKeyPair())] });
      expect((await world.proxy.account('USERNAME', userName)).body).toEqual({ organizationId });
      await world.proxy.signUp({ userName, apiKeys: [keyParams(newKeyPair())] });
      expect(found(await world.proxy.account('USERNAME', userName))).toEqual([200, {}]);
    });

    test('an email that nobody has proven is not found', async () => {
      const [email, key] = [newEmail(), newKeyPair()];
      await world.proxy.signUp({ userEmail: email });
      const token = await world.verified(email, key);
      expect((await world.proxy.account('EMAIL', email, { verificationToken: token })).body).toEqual({});
    });

    test('names default to the contact, and proofs come when asked for', async () => {
      const phone = newPhone();
      const made = await world.proxy.signUp({ userPhoneNumber: phone, wallet: WALLET, generateAppProofs: true });
      expect(made.appProofs.length).toBeGreaterThan(0);
      expect(made.appProofs[0].scheme).toBe('SIGNATURE_SCHEME_EPHEMERAL_KEY_P256');
      const key = newKeyPair();
      const { organizationId, userId } = await world.proxy.signUp({ apiKeys: [keyParams(key)], userName: '' });
      const { user } = (await world.client(organizationId, key).query('get_user', { userId })).body;
      expect(user.userName).toBe('User');
    });
  });

  describe('OAuth', () => {
    test('signs up and logs in with a token of an issuer', async () => {
      const issuer = await startKnownIssuer(world.root);
      const [key, session] = [newKeyPair(), newKeyPair()];
      const token = idToken(issuer, boundTo(key.publicKey));
      expect(found(await world.proxy.account('OIDC_TOKEN', token))).toEqual([200, {}]);
      const { organizationId, userId } = await world.proxy.signUp({
        oauthProviders: [{ providerName: 'issuer', oidcToken: token }],
      });
      expect((await world.proxy.account('OIDC_TOKEN', token)).body).toEqual({ organizationId });
      const claims = JSON.stringify({ iss: issuer.url, sub: 'alice', aud: 'app' });
      expect((await world.proxy.account('OIDC_CLAIMS', claims)).body).toEqual({ organizationId });
      const others = JSON.stringify({ iss: issuer.url, sub: 'bob', aud: 'app' });
      expect((await world.proxy.account('OIDC_CLAIMS', others)).body).toEqual({});
      for (const place of [{}, { organizationId }]) {
        const oidcToken = idToken(issuer, boundTo(session.publicKey));
        const answer = await world.proxy.run('oauth_login', { oidcToken, publicKey: session.publicKey, ...place });
        expect(claimsOf(answer.session)).toMatchObject({ organization_id: organizationId, user_id: userId });
      }
      expect((await world.client(organizationId, session).query('whoami')).body.userId).toBe(userId);
    });

    test('exchanges the code of a provider with the credential of the client id', async () => {
      const { keys } = (await (await fetch(`${world.service.baseUrl}/public/v1/discovery/keys`)).json()) as {
        keys: { role: string; publicKey: string }[];
      };
      const { publicKey } = keys.find(({ role }) => role === 'oauth-secret')!;
      await world.root.run('create_oauth2_credential', {
        provider: 'OAUTH2_PROVIDER_X',
        clientId: OAUTH2_CLIENT.id,
        encryptedClientSecret: encryptClientSecret(OAUTH2_CLIENT.secret, publicKey),
      });
      const key = newKeyPair();
      const body = () => ({
        provider: 'OAUTH2_PROVIDER_X',
        clientId: OAUTH2_CLIENT.id,
        nonce: sha256Hex(key.publicKey),
        ...providers.authorize(),
      });
      const { oidcToken } = await world.proxy.run('oauth2_authenticate', body());
      expect(claimsOf(oidcToken)).toMatchObject({ sub: 'x:22', aud: OAUTH2_CLIENT.id, iss: world.service.baseUrl });
      const { organizationId } = await world.proxy.signUp({ oauthProviders: [{ providerName: 'x', oidcToken }] });
      await world.proxy.run('oauth_login', { oidcToken, publicKey: key.publicKey });
      expect((await world.client(organizationId, key).query('whoami')).status).toBe(200);

      const unknown = await world.proxy.call('oauth2_authenticate', { ...body(), clientId: 'another' });
      expect(refusal(unknown)).toEqual([404, 'OAUTH2_CREDENTIAL_NOT_FOUND']);
      const other = await world.proxy.call('oauth2_authenticate', { ...body(), provider: 'OAUTH2_PROVIDER_DISCORD' });
      expect(refusal(other)).toEqual([400, 'OAUTH2_PROVIDER_NOT_CONFIGURED']);
      const { authCode: _left, ...incomplete } = body();
      const missing = await world.proxy.call('oauth2_authenticate', incomplete);
      expect([missing.status, missing.body.message]).toEqual([400, 'auth_code must be set']);
    });
  });

  test('what a login still has to prove is named, and given on the main API', async () => {
    const { email, organizationId, userId, user } = await world.newAccount();
    const passkey = await addPasskey(user);
    await user.run('create_mfa_policy', {
      userId,
      mfaPolicyName: 'Two for a login',
      condition: "activity.resource == 'AUTH'",
      requiredAuthenticationMethods: [
        { any: [{ type: 'AUTHENTICATION_TYPE_EMAIL_OTP' }] },
        { any: [{ type: 'AUTHENTICATION_TYPE_PASSKEY' }] },
      ],
      order: 1,
    });
    const [key, session] = [newKeyPair(), newKeyPair()];
    const token = await world.verified(email, key);
    const answer = await world.proxy.call('otp_login_v2', loginParameters(token, key, session));
    expect(refusal(answer)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    const pending = answer.body.details.find((detail: { '@type': string }) =>
      detail['@type'].endsWith('PendingActivity'),
    );
    expect(pending).toMatchObject({ organizationId, status: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED' });
    for (const value of [pending.activityId, pending.fingerprint]) expect(answer.body.message).toContain(value);
    expect((await world.client(organizationId, session).query('whoami')).status).toBe(401);
    const approved = await approve(passkey, pending.fingerprint);
    expect(outcome(approved)).toEqual([200, COMPLETED]);
    expect(claimsOf(approved.body.activity.result.otpLoginResult.session)).toMatchObject({ user_id: userId });
    expect((await world.client(organizationId, session).query('whoami')).body.userId).toBe(userId);
  });

  test('IP allowlists of the organization are not asked: the configuration judges', async () => {
    const { root, proxy } = await world.anotherParent();
    await root.run('set_ip_allowlist', {
      enabled: true,
      rules: [{ cidr: '203.0.113.0/24' }],
      onEvaluationError: 'DENY',
      allowLockout: true,
    });
    expect((await root.query('whoami')).status).toBe(403);
    expect((await proxy.call('signup_v2', { ...LISTS, userEmail: newEmail() })).status).toBe(200);
  });

  describe('what a client is shown', () => {
    test('the configuration of the wallet kit, also for no body at all', async () => {
      const { root, proxy } = await world.anotherParent();
      const headers = { 'content-type': 'application/json', 'x-auth-proxy-config-id': proxy.configId };
      const post = async (name: string) => {
        const response = await fetch(`${proxy.baseUrl}/v1/${name}`, { method: 'POST', headers });
        return [response.status, await response.json()];
      };
      const { allowedAuthMethods } = await config(root);
      expect(await post('wallet_kit_config')).toEqual([
        200,
        {
          enabledProviders: allowedAuthMethods.filter((method: string) => method !== 'oidc'),
          sessionExpirationSeconds: '900',
          organizationId: root.organizationId,
          otpAlphanumeric: false,
          otpLength: '6',
        },
      ]);
      expect(await post('wallet_kit_client_params')).toEqual([200, {}]);
      await root.run('update_auth_proxy_config', {
        allowedAuthMethods: ['email', 'passkey', 'google', 'apple'],
        walletKitSettings: {
          enabledSocialProviders: ['google', 'facebook'],
          oauthClientIds: { google: 'g-1', apple: 'a-1' },
          oauthRedirectUrl: 'https://app.example/callback',
        },
        sessionExpirationSeconds: 7200,
        otpLength: 8,
      });
      expect((await proxy.call('wallet_kit_config')).body).toEqual({
        enabledProviders: ['email', 'passkey', 'google'],
        sessionExpirationSeconds: '7200',
        organizationId: root.organizationId,
        oauthClientIds: { google: 'g-1', apple: 'a-1' },
        oauthRedirectUrl: 'https://app.example/callback',
        otpAlphanumeric: false,
        otpLength: '8',
      });
    });

    test('preflights are answered without a configuration, answers say whose pages may read them', async () => {
      const { root, proxy } = await world.anotherParent();
      const origin = 'https://app.example';
      const preflight = await fetch(`${proxy.baseUrl}/v1/signup_v2`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
      const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase();
      for (const name of ['x-auth-proxy-config-id', 'x-captcha-token', 'content-type']) expect(allowed).toContain(name);
      const any = await proxy.call('wallet_kit_config', {}, { origin });
      expect(any.headers.get('access-control-allow-origin')).toBe('*');
      await root.run('update_auth_proxy_config', { allowedOrigins: [origin] });
      const own = await proxy.call('wallet_kit_config', {}, { origin });
      expect([own.status, own.headers.get('access-control-allow-origin'), own.headers.get('vary')]).toEqual([
        200,
        origin,
        'Origin',
      ]);
      // Errors of an allowed origin can be read, and so can those before there is a configuration.
      const refused = await proxy.call('signup_v2', {}, { origin });
      expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([400, origin]);
      const missing = await send(proxy.baseUrl, '/v1/signup_v2', '{}', { origin });
      expect([missing.status, missing.headers.get('access-control-allow-origin')]).toEqual([401, '*']);
    });
  });

  describe('with a captcha', () => {
    const KEYS = { captchaSiteKey: 'site', captchaSecret: 'hush' };

    test('codes and sign-ups need a token of a person, unless a contact was verified', async () => {
      const captcha = await startCaptcha();
      const proxy = await world.listen((app) => ({ config: { ...app.config, ...KEYS, captchaUrl: captcha.url } }));
      const { config: operator } = world.app;
      const enabled = await world.app.storage.read(AuthProxyReader).byId(proxy.configId);
      expect(operator.captchaSecret).toBeUndefined();
      await world.app.storage.write((store) =>
        store(AuthProxyStore).update({ ...enabled!, settings: { ...enabled!.settings, captchaEnabled: true } }),
      );
      onTestFinished(() => world.app.storage.write((store) => store(AuthProxyStore).update(enabled!)));
      const person = { 'x-captcha-token': 'person' };
      const program = { 'x-captcha-token': 'program' };
      const init = { otpType: 'OTP_TYPE_EMAIL', contact: newEmail() };
      for (const [name, body] of [
        ['otp_init', init],
        ['otp_init_v2', init],
        ['signup', { ...LISTS, userEmail: newEmail() }],
        ['signup_v2', { ...LISTS, userEmail: newEmail() }],
      ] as const) {
        const missing = await proxy.call(name, body);
        expect([missing.status, missing.body.message]).toEqual([
          400,
          'X-Captcha-Token header is required when captcha is enabled',
        ]);
        const refused = await proxy.call(name, body, program);
        expect([...refusal(refused), refused.body.message]).toEqual([
          400,
          'INVALID_CAPTCHA',
          'captcha verification failed',
        ]);
        expect((await proxy.call(name, body, person)).status, name).toBe(200);
      }
      expect(captcha.asked[0]).toEqual({ secret: 'hush', response: 'program', remoteip: '127.0.0.1' });
      expect((await proxy.call('wallet_kit_client_params')).body).toEqual({ turnstileSiteKey: 'site' });
      const [email, key] = [newEmail(), newKeyPair()];
      const token = await world.verified(email, key, proxy.with(person));
      expect((await proxy.call('signup_v2', signUpBody(token, key, { userEmail: email }))).status).toBe(200);
      // A text in its place is none.
      const fake = await proxy.call('signup_v2', { ...LISTS, userEmail: newEmail(), verificationToken: 'x' });
      expect(refusal(fake)).toEqual([400, 'INVALID_VERIFICATION_TOKEN']);
      const empty = await proxy.call('signup_v2', { ...LISTS, userEmail: newEmail(), verificationToken: '' });
      expect(refusal(empty)).toEqual([400, 'INVALID_CAPTCHA']);
    });

    test.each([
      ['does not answer', 'nothing'],
      ['is broken', { status: 503, text: 'later' }],
      ['talks nonsense', { status: 200, text: '<html>' }],
    ] as const)('a verifier that %s keeps nobody out', async (_what, answer) => {
      const { url: captchaUrl } = await startCaptcha(answer);
      const { proxy: other } = await world.anotherParent();
      const config = await world.app.storage.read(AuthProxyReader).byId(other.configId);
      await world.app.storage.write((store) =>
        store(AuthProxyStore).update({ ...config!, settings: { ...config!.settings, captchaEnabled: true } }),
      );
      const { baseUrl } = await world.listen((app) => ({ config: { ...app.config, ...KEYS, captchaUrl } }));
      const proxy = new ProxyClient(baseUrl, other.configId);
      const body = { ...LISTS, userEmail: newEmail() };
      expect(refusal(await proxy.call('signup_v2', body))).toEqual([400, 'INVALID_CAPTCHA']);
      expect((await proxy.call('signup_v2', body, { 'x-captcha-token': 'anybody' })).status).toBe(200);
    });

    test('an operator who took the keys away keeps everybody out', async () => {
      const { proxy } = await world.anotherParent();
      const config = await world.app.storage.read(AuthProxyReader).byId(proxy.configId);
      await world.app.storage.write((store) =>
        store(AuthProxyStore).update({ ...config!, settings: { ...config!.settings, captchaEnabled: true } }),
      );
      const body = { ...LISTS, userEmail: newEmail() };
      expect(refusal(await proxy.call('signup_v2', body, { 'x-captcha-token': 'anybody' }))).toEqual([
        400,
        'FAILED_PRECONDITION',
      ]);
      expect((await proxy.call('wallet_kit_client_params')).body).toEqual({});
    });
  });

  test('a port of its own answers the proxy and nothing else', async () => {
    const server = buildProxyServer(world.app, createSignUpProxy(world.app));
    onTestFinished(() => server.close());
    const baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
    const proxy = new ProxyClient(baseUrl, world.proxy.configId);
    expect((await proxy.call('wallet_kit_config')).status).toBe(200);
    expect((await proxy.call('signup_v2', { ...LISTS, userEmail: newEmail() })).status).toBe(200);
    const wrongMethod = await fetch(`${baseUrl}/v1/signup_v2`);
    expect(wrongMethod.status).toBe(405);
    for (const path of ['/', '/healthz', '/metrics', '/openapi.json', '/dev/inbox.json', '/public/v1/discovery/keys']) {
      expect((await fetch(`${baseUrl}${path}`)).status, path).toBe(404);
    }
    expect((await send(baseUrl, '/public/v1/query/whoami', '{}')).status).toBe(404);
  });
});

test('CUSTOS_PROXY_PORT opens that port beside the main one', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'custos-proxy-'));
  const service = await startService(
    readConfig({
      CUSTOS_DATA_DIR: dataDir,
      CUSTOS_PORT: '0',
      CUSTOS_PROXY_PORT: '0',
      CUSTOS_KEYRING: 'inline',
      CUSTOS_LOG_LEVEL: 'silent',
    }),
  );
  onTestFinished(async () => {
    await service.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const { authProxyConfigId } = JSON.parse(readFileSync(join(dataDir, 'root-credentials.json'), 'utf8'));
  const proxyUrl = readFileSync(join(dataDir, 'proxy-address'), 'utf8').trim();
  expect(proxyUrl).toBe(service.proxyUrl);
  expect(proxyUrl).not.toBe(service.baseUrl);
  for (const baseUrl of [service.baseUrl, proxyUrl]) {
    const { body } = await new ProxyClient(baseUrl, authProxyConfigId).call('wallet_kit_config');
    expect(body.otpLength).toBe('6');
  }
  expect((await fetch(`${proxyUrl}/healthz`)).status).toBe(404);
});
