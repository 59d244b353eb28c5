import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SignUpProxyReader, SignUpProxyStore } from '../../../src/domains/sign-up-proxy/store.ts';
import { newPasskey } from '../../fixtures/passkey.ts';
import { type Answer, newKeyPair } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { addPasskey, approve, Caller, COMPLETED, outcome } from '../fixtures/access.ts';
import { attested, claimsOf, loginParameters } from '../fixtures/logins.ts';
import {
  boundTo,
  encryptClientSecret,
  idToken,
  OAUTH2_CLIENT,
  sha256Hex,
  startKnownIssuer,
} from '../fixtures/oauth.ts';
import {
  keyParams,
  LISTS,
  newEmail,
  newPhone,
  ProxyClient,
  refusal,
  signUpBody,
  startCaptcha,
} from '../fixtures/proxy.ts';
import { openProxy } from './support.ts';

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

const found = ({ status, body }: Answer) => [status, body];
describe.each(databasesOf(import.meta.url))('the sign-up proxy on %s', (database) => {
  const suite = openProxy(database);

  describe('codes', () => {
    test('sign up by email: code, token, account, sign-up with a wallet, login', async () => {
      const [email, key, session] = [newEmail(), newKeyPair(), newKeyPair()];
      const token = await suite.world.verified(email, key);
      expect(claimsOf(token)).toMatchObject({
        contact: email,
        organization_id: suite.world.root.organizationId,
        public_key: key.publicKey,
      });
      // Nobody is there yet, so the client goes on to sign up.
      const lookup = () => suite.world.proxy.account('EMAIL', email, { verificationToken: token });
      expect(found(await lookup())).toEqual([200, {}]);
      const signUp = signUpBody(token, key, { userEmail: email, userTag: 'beta', wallet: WALLET });
      const { organizationId, userId, wallet, ...rest } = await suite.world.proxy.run('signup_v2', signUp);
      expect([organizationId, userId]).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
      expect(wallet).toEqual({ walletId: expect.stringMatching(UUID), addresses: [expect.stringMatching(/^0x/)] });
      expect(rest).toEqual({});
      expect((await lookup()).body).toEqual({ organizationId });

      // As core logs in: with a stamp that the token attests, and the parent's id.
      const attestedCaller = attested(new Caller(suite.world.client(organizationId, key), {}), token, key);
      const login = await attestedCaller.submit('stamp_login', { publicKey: session.publicKey });
      expect(outcome(login)).toEqual([200, COMPLETED]);
      const user = suite.world.client(organizationId, session, userId);
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
      const { email, organizationId, userId } = await suite.world.newAccount();
      await suite.world.configure({ sessionExpirationSeconds: 1234 });
      for (const place of [
        {},
        { organizationId },
        { organizationId: suite.world.root.organizationId },
        { organizationId: '' },
      ]) {
        const [key, session] = [newKeyPair(), newKeyPair()];
        const token = await suite.world.verified(email, key);
        const answer = await suite.world.proxy.run('otp_login_v2', {
          ...loginParameters(token, key, session),
          ...place,
        });
        expect(Object.keys(answer)).toEqual(['session']);
        const { exp, ...claims } = claimsOf(answer.session);
        expect(claims).toMatchObject({
          organization_id: organizationId,
          user_id: userId,
          public_key: session.publicKey,
        });
        expect(exp - Date.now() / 1000).toBeGreaterThan(1200);
        expect(exp - Date.now() / 1000).toBeLessThan(1240);
        expect((await suite.world.client(organizationId, session).query('whoami')).body.userId).toBe(userId);
      }
      // Whose contact nobody has proven is not found.
      const [key, session] = [newKeyPair(), newKeyPair()];
      const stranger = await suite.world.verified(newEmail(), key);
      expect(refusal(await suite.world.proxy.call('otp_login_v2', loginParameters(stranger, key, session)))).toEqual([
        404,
        'RESOURCE_NOT_FOUND',
      ]);
    });

    test('come in the clear in the older calls, with a key or without', async () => {
      const email = newEmail();
      const init = async () => {
        const { otpId, ...rest } = await suite.world.proxy.run('otp_init', {
          otpType: 'OTP_TYPE_EMAIL',
          contact: email,
        });
        expect(rest).toEqual({});
        return { otpId, otpCode: await suite.world.code(email) };
      };
      const { verificationToken: unbound } = await suite.world.proxy.run('otp_verify', await init());
      expect(claimsOf(unbound)).not.toHaveProperty('public_key');
      const body = { ...LISTS, userEmail: email, userName: 'Someone', verificationToken: unbound };
      const { organizationId, userId } = await suite.world.proxy.run('signup', body);
      const session = newKeyPair();
      const login = { verificationToken: unbound, publicKey: session.publicKey };
      await suite.world.proxy.run('otp_login', login);
      expect((await suite.world.client(organizationId, session).query('whoami')).body).toMatchObject({
        userId,
        username: 'Someone',
      });
      const [key, second] = [newKeyPair(), newKeyPair()];
      const attempt = { ...(await init()), publicKey: key.publicKey };
      const { verificationToken: bound } = await suite.world.proxy.run('otp_verify', attempt);
      expect(
        refusal(await suite.world.proxy.call('otp_login', { verificationToken: bound, publicKey: second.publicKey })),
      ).toEqual([400, 'INVALID_CLIENT_SIGNATURE']);
      await suite.world.proxy.run('otp_login', loginParameters(bound, key, second));
      expect((await suite.world.client(organizationId, second).query('whoami')).status).toBe(200);
    });

    test('come by text message too', async () => {
      const [phone, key, session] = [newPhone(), newKeyPair(), newKeyPair()];
      const token = await suite.world.verified(phone, key);
      const { organizationId } = await suite.world.proxy.run(
        'signup_v2',
        signUpBody(token, key, { userPhoneNumber: phone }),
      );
      expect((await suite.world.proxy.account('PHONE_NUMBER', phone, { verificationToken: token })).body).toEqual({
        organizationId,
      });
      await suite.world.proxy.run('otp_login_v2', loginParameters(token, key, session));
      expect((await suite.world.client(organizationId, session).query('whoami')).body.username).toBe(phone);
    });

    test('look and live as the configuration says', async () => {
      const { root, proxy } = await suite.world.anotherParent();
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
      const mail = await suite.world.message(email);
      expect(mail.subject).toBe('Come in');
      expect(mail.text).toContain('Bright App');
      expect(mail.text).toMatch(/(?<![0-9A-Z])[0-9A-HJKMNP-TV-Z]{9}(?![0-9A-Z])/);
      const phone = newPhone();
      await proxy.run('otp_init_v2', { otpType: 'OTP_TYPE_SMS', contact: phone });
      expect((await suite.world.message(phone)).text).toMatch(/^In with [0-9A-HJKMNP-TV-Z]{9}$/);
      const token = await suite.world.verified(newEmail(), newKeyPair(), proxy);
      const lifeMs = Number(claimsOf(token).exp) - Date.now();
      expect(lifeMs).toBeGreaterThan(60_000);
      expect(lifeMs).toBeLessThanOrEqual(90_000);
      const { intent } = (await root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_INIT_OTP_V2'] })).body
        .activities[0];
      expect(intent.initOtpIntentV2).toMatchObject({ otpLength: 9, alphanumeric: true, expirationSeconds: '60' });
    });

    test('a wrong one says so in the words that clients know', async () => {
      const email = newEmail();
      const { otpId } = await suite.world.proxy.run('otp_init', { otpType: 'OTP_TYPE_EMAIL', contact: email });
      const otpCode = await suite.world.code(email);
      const wrong = `${otpCode.startsWith('1') ? '2' : '1'}${otpCode.slice(1)}`;
      const refused = await suite.world.proxy.call('otp_verify', { otpId, otpCode: wrong });
      expect(refusal(refused)).toEqual([400, 'INVALID_OTP_CODE']);
      expect(refused.body.message).toContain('Invalid OTP code');
      expect((await suite.world.proxy.call('otp_verify', { otpId, otpCode })).status).toBe(200);
    });
  });

  describe('accounts', () => {
    test('of passkeys, wallets and names are found', async () => {
      const name = `Name ${randomUUID()}`;
      const { passkey, registration } = newPasskey('Phone');
      const sessionKey = newKeyPair();
      const made = await suite.world.proxy.signUp({
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
        expect(await suite.world.proxy.account(type, value), type).toMatchObject({
          status: 200,
          body: { organizationId },
        });
        expect((await suite.world.proxy.account(type, `${value}x`)).body, type).toEqual({});
      }
      // The key that came with the passkey logs in once.
      const login = suite.world.client(suite.world.root.organizationId, sessionKey);
      const answer = await login.submit('stamp_login', { publicKey: newKeyPair().publicKey });
      expect(outcome(answer)).toEqual([200, COMPLETED]);
      expect(answer.body.activity.organizationId).toBe(organizationId);
    });

    test('several of one name are none', async () => {
      const userName = `Twin ${randomUUID()}`;
      const { organizationId } = await suite.world.proxy.signUp({ userName, apiKeys: [keyParams(newKeyPair())] });
      expect((await suite.world.proxy.account('USERNAME', userName)).body).toEqual({ organizationId });
      await suite.world.proxy.signUp({ userName, apiKeys: [keyParams(newKeyPair())] });
      expect(found(await suite.world.proxy.account('USERNAME', userName))).toEqual([200, {}]);
    });

    test('an email that nobody has proven is not found', async () => {
      const [email, key] = [newEmail(), newKeyPair()];
      await suite.world.proxy.signUp({ userEmail: email });
      const token = await suite.world.verified(email, key);
      expect((await suite.world.proxy.account('EMAIL', email, { verificationToken: token })).body).toEqual({});
    });

    test('names default to the contact, and proofs come when asked for', async () => {
      const phone = newPhone();
      const made = await suite.world.proxy.signUp({ userPhoneNumber: phone, wallet: WALLET, generateAppProofs: true });
      expect(made.appProofs.length).toBeGreaterThan(0);
      expect(made.appProofs[0].scheme).toBe('SIGNATURE_SCHEME_EPHEMERAL_KEY_P256');
      const key = newKeyPair();
      const { organizationId, userId } = await suite.world.proxy.signUp({ apiKeys: [keyParams(key)], userName: '' });
      const { user } = (await suite.world.client(organizationId, key).query('get_user', { userId })).body;
      expect(user.userName).toBe('User');
    });
  });

  describe('OAuth', () => {
    test('signs up and logs in with a token of an issuer', async () => {
      const issuer = await startKnownIssuer(suite.world.root);
      const [key, session] = [newKeyPair(), newKeyPair()];
      const token = idToken(issuer, boundTo(key.publicKey));
      expect(found(await suite.world.proxy.account('OIDC_TOKEN', token))).toEqual([200, {}]);
      const { organizationId, userId } = await suite.world.proxy.signUp({
        oauthProviders: [{ providerName: 'issuer', oidcToken: token }],
      });
      expect((await suite.world.proxy.account('OIDC_TOKEN', token)).body).toEqual({ organizationId });
      const claims = JSON.stringify({ iss: issuer.url, sub: 'alice', aud: 'app' });
      expect((await suite.world.proxy.account('OIDC_CLAIMS', claims)).body).toEqual({ organizationId });
      const others = JSON.stringify({ iss: issuer.url, sub: 'bob', aud: 'app' });
      expect((await suite.world.proxy.account('OIDC_CLAIMS', others)).body).toEqual({});
      for (const place of [{}, { organizationId }]) {
        const oidcToken = idToken(issuer, boundTo(session.publicKey));
        const answer = await suite.world.proxy.run('oauth_login', {
          oidcToken,
          publicKey: session.publicKey,
          ...place,
        });
        expect(claimsOf(answer.session)).toMatchObject({ organization_id: organizationId, user_id: userId });
      }
      expect((await suite.world.client(organizationId, session).query('whoami')).body.userId).toBe(userId);
    });

    test('exchanges the code of a provider with the credential of the client id', async () => {
      const { keys } = (await (await fetch(`${suite.world.service.baseUrl}/public/v1/discovery/keys`)).json()) as {
        keys: { role: string; publicKey: string }[];
      };
      const { publicKey } = keys.find(({ role }) => role === 'oauth-secret')!;
      await suite.world.root.run('create_oauth2_credential', {
        provider: 'OAUTH2_PROVIDER_X',
        clientId: OAUTH2_CLIENT.id,
        encryptedClientSecret: encryptClientSecret(OAUTH2_CLIENT.secret, publicKey),
      });
      const key = newKeyPair();
      const body = () => ({
        provider: 'OAUTH2_PROVIDER_X',
        clientId: OAUTH2_CLIENT.id,
        nonce: sha256Hex(key.publicKey),
        ...suite.providers.authorize(),
      });
      const { oidcToken } = await suite.world.proxy.run('oauth2_authenticate', body());
      expect(claimsOf(oidcToken)).toMatchObject({
        sub: 'x:22',
        aud: OAUTH2_CLIENT.id,
        iss: suite.world.service.baseUrl,
      });
      const { organizationId } = await suite.world.proxy.signUp({ oauthProviders: [{ providerName: 'x', oidcToken }] });
      await suite.world.proxy.run('oauth_login', { oidcToken, publicKey: key.publicKey });
      expect((await suite.world.client(organizationId, key).query('whoami')).status).toBe(200);

      const unknown = await suite.world.proxy.call('oauth2_authenticate', { ...body(), clientId: 'another' });
      expect(refusal(unknown)).toEqual([404, 'OAUTH2_CREDENTIAL_NOT_FOUND']);
      const other = await suite.world.proxy.call('oauth2_authenticate', {
        ...body(),
        provider: 'OAUTH2_PROVIDER_DISCORD',
      });
      expect(refusal(other)).toEqual([400, 'OAUTH2_PROVIDER_NOT_CONFIGURED']);
      const { authCode: _left, ...incomplete } = body();
      const missing = await suite.world.proxy.call('oauth2_authenticate', incomplete);
      expect([missing.status, missing.body.message]).toEqual([400, 'auth_code must be set']);
    });
  });

  test('what a login still has to prove is named, and given on the main API', async () => {
    const { email, organizationId, userId, user } = await suite.world.newAccount();
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
    const token = await suite.world.verified(email, key);
    const answer = await suite.world.proxy.call('otp_login_v2', loginParameters(token, key, session));
    expect(refusal(answer)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    const pending = answer.body.details.find((detail: { '@type': string }) =>
      detail['@type'].endsWith('PendingActivity'),
    );
    expect(pending).toMatchObject({ organizationId, status: 'ACTIVITY_STATUS_AUTHENTICATORS_NEEDED' });
    for (const value of [pending.activityId, pending.fingerprint]) expect(answer.body.message).toContain(value);
    expect((await suite.world.client(organizationId, session).query('whoami')).status).toBe(401);
    const approved = await approve(passkey, pending.fingerprint);
    expect(outcome(approved)).toEqual([200, COMPLETED]);
    expect(claimsOf(approved.body.activity.result.otpLoginResult.session)).toMatchObject({ user_id: userId });
    expect((await suite.world.client(organizationId, session).query('whoami')).body.userId).toBe(userId);
  });

  describe('with a captcha', () => {
    const KEYS = { captchaSiteKey: 'site', captchaSecret: 'hush' };

    test('codes and sign-ups need a token of a person, unless a contact was verified', async () => {
      const captcha = await startCaptcha();
      const proxy = await suite.world.listen((app) => ({
        config: { ...app.config, ...KEYS, captchaUrl: captcha.url },
      }));
      const { config: operator } = suite.world.app;
      const enabled = await suite.world.app.storage.read(SignUpProxyReader).byId(proxy.configId);
      expect(operator.captchaSecret).toBeUndefined();
      await suite.world.app.storage.write((store) =>
        store(SignUpProxyStore).update({ ...enabled!, settings: { ...enabled!.settings, captchaEnabled: true } }),
      );
      onTestFinished(() => suite.world.app.storage.write((store) => store(SignUpProxyStore).update(enabled!)));
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
      const token = await suite.world.verified(email, key, proxy.with(person));
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
      const { proxy: other } = await suite.world.anotherParent();
      const config = await suite.world.app.storage.read(SignUpProxyReader).byId(other.configId);
      await suite.world.app.storage.write((store) =>
        store(SignUpProxyStore).update({ ...config!, settings: { ...config!.settings, captchaEnabled: true } }),
      );
      const { baseUrl } = await suite.world.listen((app) => ({ config: { ...app.config, ...KEYS, captchaUrl } }));
      const proxy = new ProxyClient(baseUrl, other.configId);
      const body = { ...LISTS, userEmail: newEmail() };
      expect(refusal(await proxy.call('signup_v2', body))).toEqual([400, 'INVALID_CAPTCHA']);
      expect((await proxy.call('signup_v2', body, { 'x-captcha-token': 'anybody' })).status).toBe(200);
    });

    test('an operator who took the keys away keeps everybody out', async () => {
      const { proxy } = await suite.world.anotherParent();
      const config = await suite.world.app.storage.read(SignUpProxyReader).byId(proxy.configId);
      await suite.world.app.storage.write((store) =>
        store(SignUpProxyStore).update({ ...config!, settings: { ...config!.settings, captchaEnabled: true } }),
      );
      const body = { ...LISTS, userEmail: newEmail() };
      expect(refusal(await proxy.call('signup_v2', body, { 'x-captcha-token': 'anybody' }))).toEqual([
        400,
        'FAILED_PRECONDITION',
      ]);
      expect((await proxy.call('wallet_kit_client_params')).body).toEqual({});
    });
  });
});
