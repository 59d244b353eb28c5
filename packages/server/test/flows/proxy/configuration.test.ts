import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { createSignUpProxy } from '../../../src/domains/sign-up-proxy/sign-up-proxy.ts';
import { buildProxyServer } from '../../../src/http/server.ts';
import { startService } from '../../../src/service.ts';
import { createSubOrganization, createUser, send } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { COMPLETED, outcome, policyFor, Rows, times } from '../fixtures/access.ts';
import { LISTS, newEmail, ProxyClient, refusal } from '../fixtures/proxy.ts';
import { openProxy } from './support.ts';

const PROXY_USER = 'Sign-up proxy';
describe.each(databasesOf(import.meta.url, { hasRaces: true }))('the sign-up proxy on %s', (database) => {
  const suite = openProxy(database);

  const proxyUsers = async (root = suite.world.root) =>
    (await root.query('list_users')).body.users.filter((user: { userName: string }) => user.userName === PROXY_USER);

  const config = async (root = suite.world.root) => (await root.query('get_auth_proxy_config')).body.authProxyConfig;

  describe('its user and key', () => {
    test('are made once with the first use, however many come at once', async () => {
      const { root, proxy } = await suite.world.anotherParent();
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
      const { root, proxy } = await suite.world.anotherParent();
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
      const { root, proxy } = await suite.world.anotherParent();
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
      const { root, proxy } = await suite.world.anotherParent();
      await using rows = await Rows.open(suite.world.app.config);
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
      const { root } = await suite.world.anotherParent();
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
      const answer = await suite.world.root.submit('update_auth_proxy_config', { [name]: value });
      expect(answer.status).toBe(400);
      expect(answer.body.message).toContain(name);
    });

    test('belongs to a parent, whose policies can hand it on', async () => {
      const sub = await createSubOrganization(suite.world.root, `Sub ${randomUUID()}`);
      for (const operation of ['enable_auth_proxy', 'disable_auth_proxy', 'update_auth_proxy_config']) {
        expect(outcome(await sub.submit(operation, {}))).toEqual([400, 'INVALID_ACTIVITY_CALLER']);
      }
      expect((await sub.query('get_auth_proxy_config')).status).toBe(404);
      const { root } = await suite.world.anotherParent();
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

  test('IP allowlists of the organization are not asked: the configuration judges', async () => {
    const { root, proxy } = await suite.world.anotherParent();
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
      const { root, proxy } = await suite.world.anotherParent();
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
      const { root, proxy } = await suite.world.anotherParent();
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

  test('a port of its own answers the proxy and nothing else', async () => {
    const server = buildProxyServer(suite.world.app, createSignUpProxy(suite.world.app));
    onTestFinished(() => server.close());
    const baseUrl = await server.listen({ host: '127.0.0.1', port: 0 });
    const proxy = new ProxyClient(baseUrl, suite.world.proxy.configId);
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
