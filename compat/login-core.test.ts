// Pages without a backend: core's client in Chromium against the sign-up proxy, with mail caught by a real mail server.
import type { Server } from 'node:http';
import { PRODUCTION_TLS_FETCHER_SIGN_PUBLIC_KEY } from '@turnkey/crypto';
import type { Browser } from 'playwright-core';
import { recoverMessageAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKeyPair, TestClient } from '../packages/server/test/harness/client.ts';
import { MailServer } from '../packages/server/test/harness/mail-server.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { bundlePage, closePage, Device, isBrowserMissing, launchBrowser, servePage } from './browser.ts';
import { codeIn, enableProxy, newAddress, newName, readSession, serviceKeys } from './login.ts';
import type * as Page from './login-core-page.ts';
import { CLIENT_ID, OpenIdProvider, OTHER_CLIENT_ID } from './openid.ts';

type PageCall = 'call' | 'http' | 'help' | 'verifyCode' | 'walletLogin';

interface OtpStart {
  readonly otpId: string;
  readonly otpEncryptionTargetBundle: string;
}

const EMAIL = 'OTP_TYPE_EMAIL';
const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
} as const;
const FIRST_WALLET = { customWallet: { walletName: 'First', walletAccounts: [ETHEREUM] } };

describe.skipIf(isBrowserMissing)('sign-up and login in a browser', () => {
  let provider: OpenIdProvider;
  let mail: MailServer;
  let service: TestServer;
  let root: TestClient;
  let browser: Browser;
  let server: Server;
  let origin: string;
  let authProxyConfigId: string;
  let otpKey: string;

  beforeAll(async () => {
    const page = await servePage(bundlePage({ file: 'login-core-page.ts' }));
    server = page.server;
    origin = `http://localhost:${page.port}`;
    [browser, provider, mail] = await Promise.all([launchBrowser(), OpenIdProvider.start('ES256'), MailServer.start()]);
    service = await TestServer.start({
      env: {
        CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8,::1/128',
        CUSTOS_SMTP_URL: mail.url,
        CUSTOS_MAIL_FROM: 'Example <login@example.com>',
        // Everybody here has one address.
        CUSTOS_PROXY_CODES_PER_MINUTE: '0',
      },
    });
    root = TestClient.root(service.credentials, service.baseUrl);
    authProxyConfigId = await enableProxy(root, {
      allowedOrigins: [origin],
      allowedAuthMethods: ['email', 'passkey', 'wallet', 'google', 'oidc'],
      oidcIssuers: [provider.issuer],
      emailCustomizationParams: { appName: 'Example' },
      otpLength: 6,
      otpAlphanumeric: false,
      sessionExpirationSeconds: 1800,
      // Tokens for the client that a page uses can vouch for identities of others.
      walletKitSettings: { oauthClientIds: { google: CLIENT_ID } },
    });
    otpKey = (await serviceKeys(service.baseUrl)).otp;
  });

  afterAll(async () => {
    await browser?.close();
    if (server !== undefined) closePage(server);
    await service?.[Symbol.asyncDispose]();
    await mail?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
  });

  /** A browser of somebody new, with core's client as an application sets it up. */
  async function openDevice(prepare?: (device: Device) => Promise<unknown>): Promise<Device> {
    const device = await Device.open(browser, origin);
    await prepare?.(device);
    await device.run('start', {
      organizationId: root.organizationId,
      apiBaseUrl: service.baseUrl,
      authProxyUrl: service.baseUrl,
      authProxyConfigId,
      passkeyConfig: { rpId: 'localhost' },
      walletConfig: { features: { auth: true }, chains: { ethereum: { native: true }, solana: { native: true } } },
    });
    return device;
  }

  /** Calls a function of the page. */
  const run = async <Name extends PageCall>(device: Device, name: Name, input: Parameters<(typeof Page)[Name]>[0]) =>
    (await device.run(name, input)) as Page.Called;

  /** A method of core's client that is to succeed. */
  async function call(device: Device, method: string, ...args: readonly unknown[]) {
    const called = await run(device, 'call', { method, args });
    expect(called.error, method).toBeUndefined();
    return called.answer;
  }

  async function fail(device: Device, method: string, ...args: readonly unknown[]) {
    const { answer, error } = await run(device, 'call', { method, args });
    expect(answer, method).toBeUndefined();
    return error as NonNullable<Page.Called['error']>;
  }

  async function http(device: Device, method: string, ...args: readonly unknown[]) {
    const called = await run(device, 'http', { method, args });
    expect(called.error, method).toBeUndefined();
    return called.answer;
  }

  /** Asks for a code, reads it from the mail and exchanges it for a token and the key that it is bound to. */
  async function proveEmail(
    device: Device,
    contact: string,
  ): Promise<{ verificationToken: string; publicKey: string }> {
    const init: OtpStart = await call(device, 'initOtp', { otpType: EMAIL, contact });
    const { answer, error } = await run(device, 'verifyCode', { ...init, otpCode: await codeFor(contact), otpKey });
    expect(error).toBeUndefined();
    return answer;
  }

  const verifyEmail = async (device: Device, contact: string): Promise<string> =>
    (await proveEmail(device, contact)).verificationToken;

  async function codeFor(contact: string): Promise<string> {
    let caught = await mail.next();
    while (!caught.to.includes(contact)) caught = await mail.next();
    expect(caught).toMatchObject({ from: 'login@example.com', to: [contact], subject: 'Your code for Example' });
    return codeIn(caught);
  }

  /** The session that the page keeps, checked; it must be this user's. */
  async function sessionOf(device: Device) {
    const session = await call(device, 'getSession');
    const claims = await readSession(service.baseUrl, session.token);
    expect(session).toMatchObject({
      publicKey: claims.public_key,
      userId: claims.user_id,
      organizationId: claims.organization_id,
      expiry: claims.exp,
    });
    const { organizationId, userId } = session;
    expect(await call(device, 'fetchUser')).toMatchObject({ userId });
    return { organizationId, userId, publicKey: session.publicKey } as Record<string, string>;
  }

  /** Signs a message with the first account of the first wallet. */
  async function signMessage(device: Device): Promise<void> {
    const [wallet] = await call(device, 'fetchWallets');
    const [walletAccount] = wallet.accounts;
    const message = 'Zoë says hello';
    const { r, s, v } = await call(device, 'signMessage', { message, walletAccount, addEthereumPrefix: true });
    const signature = `0x${r}${s}${v === '00' ? '1b' : '1c'}` as const;
    expect(await recoverMessageAddress({ message, signature })).toBe(walletAccount.address);
  }

  test('the page learns how people may log in', async () => {
    await using device = await openDevice();
    const expected = {
      organizationId: root.organizationId,
      enabledProviders: expect.arrayContaining(['email', 'passkey', 'wallet']),
      sessionExpirationSeconds: '1800',
      otpLength: '6',
      otpAlphanumeric: false,
    };
    expect(await call(device, 'getProxyAuthConfig')).toMatchObject(expected);
    // These two send no body at all.
    const args = [authProxyConfigId, service.baseUrl];
    expect(await run(device, 'help', { method: 'getAuthProxyConfig', args })).toMatchObject({ answer: expected });
    expect(await run(device, 'help', { method: 'getClientParams', args })).toEqual({ answer: {} });
  });

  test('a page elsewhere is refused, and may not read more than that', async () => {
    await using device = await openDevice();
    await expect(call(device, 'getProxyAuthConfig')).resolves.toBeDefined();
    await device.visit(origin.replace('localhost', '127.0.0.1'));
    await device.run('start', {
      organizationId: root.organizationId,
      authProxyUrl: service.baseUrl,
      authProxyConfigId,
    });
    expect(await fail(device, 'getProxyAuthConfig')).toMatchObject({ cause: 'Failed to fetch' });
  });

  describe('codes by mail', () => {
    test('sign-up with a wallet, a new session, logout, login', async () => {
      await using device = await openDevice();
      const contact = `zoe+~?${newAddress('core')}`;
      const verificationToken = await verifyEmail(device, contact);
      const lookUp = { filterType: 'EMAIL', filterValue: contact, verificationToken };
      expect(await http(device, 'proxyGetAccount', lookUp)).toEqual({});
      await call(device, 'signUpWithOtp', {
        verificationToken,
        contact,
        otpType: EMAIL,
        createSubOrgParams: { userName: 'Zoë', ...FIRST_WALLET },
      });
      const { organizationId, userId, publicKey } = await sessionOf(device);
      expect(await call(device, 'fetchUser')).toMatchObject({ userName: 'Zoë', userEmail: contact });
      expect(await http(device, 'proxyGetAccount', lookUp)).toEqual({ organizationId });
      await signMessage(device);

      await call(device, 'refreshSession', { invalidateExisitng: true });
      const refreshed = await sessionOf(device);
      expect(refreshed).toMatchObject({ organizationId, userId });
      expect(refreshed.publicKey).not.toBe(publicKey);

      await call(device, 'logout');
      expect(await call(device, 'getSession')).toBeUndefined();
      // Without the organization: it is found by the contact.
      await call(device, 'loginWithOtp', { verificationToken: await verifyEmail(device, contact) });
      expect(await sessionOf(device)).toMatchObject({ organizationId, userId });
      await signMessage(device);
    });

    test('a code that is wrong', async () => {
      await using device = await openDevice();
      const contact = newAddress('wrong');
      const init: OtpStart = await call(device, 'initOtp', { otpType: EMAIL, contact });
      const code = await codeFor(contact);
      const otpCode = code === '000000' ? '000001' : '000000';
      const { error } = await run(device, 'verifyCode', { ...init, otpCode, otpKey });
      expect(error?.message).toContain('Invalid OTP code');
      const right = await run(device, 'verifyCode', { ...init, otpCode: code, otpKey });
      expect(right.answer?.verificationToken).toBeDefined();
    });

    test('too many codes for one contact', async () => {
      await using device = await openDevice();
      const request = { otpType: EMAIL, contact: newAddress('eager') };
      for (let sent = 0; sent < 3; sent += 1) await call(device, 'initOtp', request);
      expect(await fail(device, 'initOtp', request)).toMatchObject({ code: 'MAX_OTP_INITIATED_ERROR' });
    });

    // The only flows of core that cannot work: its key for one-time codes is part of the package and no parameter.
    test('verifyOtp and completeOtp fail in the client, which trusts one key only', async () => {
      await using device = await openDevice();
      const contact = newAddress('pinned');
      const init: OtpStart = await call(device, 'initOtp', { otpType: EMAIL, contact });
      const otpCode = await codeFor(contact);
      const requests: string[] = [];
      device.page.on('request', (request) => requests.push(request.url()));
      const cause = `expected signer key ${PRODUCTION_TLS_FETCHER_SIGN_PUBLIC_KEY} does not match signer key from bundle: ${otpKey}`;
      const attempts = { ...init, otpCode, contact, otpType: EMAIL };
      expect(await fail(device, 'verifyOtp', attempts)).toMatchObject({ code: 'VERIFY_OTP_ERROR', cause });
      expect(await fail(device, 'completeOtp', attempts)).toMatchObject({ code: 'VERIFY_OTP_ERROR', cause });
      expect(requests).toEqual([]);
      // With the key as a parameter of the package beneath, the same code is good.
      const { answer } = await run(device, 'verifyCode', { ...attempts, otpKey });
      expect(answer.verificationToken).toBeDefined();
    });
  });

  describe('passkeys', () => {
    test('sign-up with a wallet, stamps, logout, login; an address and a second device for the day it is lost', async () => {
      await using device = await openDevice();
      const { credentialId } = await call(device, 'signUpWithPasskey', {
        passkeyDisplayName: 'Laptop',
        createSubOrgParams: { userName: 'Pia', ...FIRST_WALLET },
      });
      const account = await sessionOf(device);
      const { organizationId, userId } = account;
      const user = await call(device, 'fetchUser');
      expect(user.authenticators).toEqual([
        expect.objectContaining({ authenticatorName: 'Laptop', credentialId, transports: expect.any(Array) }),
      ]);
      await signMessage(device);
      const tagged = await http(device, 'createUserTag', { userTagName: 'by passkey', userIds: [] }, 'passkey');
      expect(tagged.activity).toMatchObject({ organizationId, status: 'ACTIVITY_STATUS_COMPLETED' });

      const contact = newAddress('pia');
      const verificationToken = await verifyEmail(device, contact);
      await call(device, 'updateUserEmail', { email: contact, verificationToken });
      await call(device, 'logout');
      const login = await call(device, 'loginWithPasskey');
      expect(login.credentialId).toBe(credentialId);
      expect(await sessionOf(device)).toMatchObject({ organizationId, userId });

      await using other = await openDevice();
      await call(other, 'loginWithOtp', { verificationToken: await verifyEmail(other, contact) });
      expect(await sessionOf(other)).toMatchObject({ organizationId, userId });
      await call(other, 'addPasskey', { name: 'Phone' });
      await call(other, 'logout');
      await call(other, 'loginWithPasskey');
      expect(await sessionOf(other)).toMatchObject({ organizationId, userId });
      const lost = user.authenticators.map(({ authenticatorId }: { authenticatorId: string }) => authenticatorId);
      await call(other, 'removePasskeys', { authenticatorIds: lost });
      await call(device, 'logout');
      expect(await fail(device, 'loginWithPasskey')).toMatchObject({
        cause: expect.stringContaining('could not find webauthn credential'),
      });
    });

    test('a session that was ended elsewhere', async () => {
      await using device = await openDevice();
      await call(device, 'signUpWithPasskey');
      const { organizationId, userId } = await sessionOf(device);
      const { apiKeys } = (await root.query('get_api_keys', { organizationId, userId })).body;
      const apiKeyIds = apiKeys.map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId);
      await http(device, 'deleteApiKeys', { userId, apiKeyIds }, 'passkey');
      expect(await fail(device, 'fetchUser')).toMatchObject({ code: 'SESSION_EXPIRED' });
    });
  });

  describe('OpenID', () => {
    /** A key of the page and a token of the provider that is bound to it. */
    async function loginAt(device: Device, subject: string, clientId?: string) {
      const publicKey = await call(device, 'createApiKeyPair');
      return { publicKey, oidcToken: await provider.login(subject, publicKey, clientId) };
    }

    test('completeOauth signs up, then logs in; further identities', async () => {
      await using device = await openDevice();
      const [ivy, ivo] = [newName('ivy'), newName('ivo')];
      const first = await loginAt(device, ivy);
      const signedUp = await call(device, 'completeOauth', {
        ...first,
        providerName: 'OpenID',
        createSubOrgParams: FIRST_WALLET,
      });
      expect(signedUp.action).toBe('SIGNUP');
      const { organizationId, userId } = await sessionOf(device);
      await signMessage(device);
      await call(device, 'logout');
      const again = await call(device, 'completeOauth', await loginAt(device, ivy));
      expect(again.action).toBe('LOGIN');
      expect(await sessionOf(device)).toMatchObject({ organizationId, userId });

      const { oidcToken } = await loginAt(device, ivo);
      const oidcClaims = [{ iss: provider.issuer, sub: ivo, aud: OTHER_CLIENT_ID }];
      await call(device, 'addOauthProvider', { providerName: 'another', oidcToken, oidcClaims });
      const { oauthProviders } = await call(device, 'fetchUser');
      expect(oauthProviders.map((item: Record<string, string>) => [item.subject, item.audience])).toEqual([
        [ivy, CLIENT_ID],
        [ivo, CLIENT_ID],
        [ivo, OTHER_CLIENT_ID],
      ]);
      await call(device, 'logout');
      const elsewhere = await call(device, 'completeOauth', await loginAt(device, ivo, OTHER_CLIENT_ID));
      expect(elsewhere.action).toBe('LOGIN');
      expect(await sessionOf(device)).toMatchObject({ organizationId, userId });
    });

    test('a token that is bound to another key', async () => {
      await using device = await openDevice();
      const { oidcToken, publicKey } = await loginAt(device, newName('jo'));
      await call(device, 'completeOauth', { oidcToken, publicKey });
      await call(device, 'logout');
      const other = await call(device, 'createApiKeyPair');
      const { code, cause } = await fail(device, 'completeOauth', { oidcToken, publicKey: other });
      expect(code).toBe('OAUTH_LOGIN_ERROR');
      expect(cause).toContain('bound to another key');
    });
  });

  describe('wallets of the browser', () => {
    test.each(['ethereum', 'solana'] as const)('%s: sign-up, then login', async (chain) => {
      let address = '';
      await using device = await openDevice(async (opened) => {
        const install = chain === 'ethereum' ? 'installEthereumWallet' : 'installSolanaWallet';
        address = (await opened.run(install, { privateKey: `0x${newKeyPair().privateKey}` })) as string;
      });
      const login = (method: 'loginOrSignupWithWallet' | 'loginWithWallet') =>
        run(device, 'walletLogin', { method, chain, params: { createSubOrgParams: FIRST_WALLET } });
      const signedUp = await login('loginOrSignupWithWallet');
      expect(signedUp).toMatchObject({ answer: { action: 'SIGNUP', address } });
      const { organizationId, userId } = await sessionOf(device);
      await signMessage(device);
      await call(device, 'logout');
      expect(await login('loginOrSignupWithWallet')).toMatchObject({ answer: { action: 'LOGIN', address } });
      expect(await sessionOf(device)).toMatchObject({ organizationId, userId });
      await call(device, 'logout');
      expect(await login('loginWithWallet')).toMatchObject({ answer: { address } });
      expect(await sessionOf(device)).toMatchObject({ organizationId, userId });
    });
  });

  describe('more proof, where a policy of the user asks for it', () => {
    const [PASSKEY, CODE] = ['AUTHENTICATION_TYPE_PASSKEY', 'AUTHENTICATION_TYPE_EMAIL_OTP'] as const;

    interface MfaContext {
      readonly activityType: string;
      readonly mfaStatuses: readonly { readonly satisfied: boolean }[];
    }

    /** Somebody with an address, a passkey and a policy; the page may know how to find proofs. */
    async function openCareful(
      contact: string,
      policy: { readonly resource: string; readonly steps: readonly string[] },
      findProofs?: (device: Device, context: MfaContext) => Promise<unknown>,
    ) {
      const device = await openDevice(async (opened) => {
        if (findProofs === undefined) return;
        await opened.page.exposeFunction('findProofs', (context: MfaContext) => findProofs(opened, context));
      });
      const verificationToken = await verifyEmail(device, contact);
      await call(device, 'signUpWithOtp', { verificationToken, contact, otpType: EMAIL });
      await call(device, 'addPasskey', { name: 'Laptop' });
      const account = await sessionOf(device);
      await http(device, 'createMfaPolicy', {
        userId: account.userId,
        mfaPolicyName: 'careful',
        condition: `activity.resource == '${policy.resource}'`,
        order: 1,
        requiredAuthenticationMethods: policy.steps.map((type) => ({ any: [{ type }] })),
      });
      return { device, account };
    }

    test('a passkey and a code for a wallet', async () => {
      const contact = newAddress('careful');
      const asked: MfaContext[] = [];
      const policy = { resource: 'WALLET', steps: [PASSKEY, CODE] };
      const { device: opened } = await openCareful(contact, policy, async (page, context) => {
        asked.push(context);
        return [{ stampWith: 'passkey' }, { stampWith: 'attested', ...(await proveEmail(page, contact)) }];
      });
      await using device = opened;
      const walletId = await call(device, 'createWallet', { walletName: 'guarded', accounts: [ETHEREUM] });
      expect(asked).toMatchObject([
        { activityType: 'ACTIVITY_TYPE_CREATE_WALLET', mfaStatuses: [{ satisfied: false }] },
      ]);
      const [wallet] = await call(device, 'fetchWallets');
      expect(wallet).toMatchObject({ walletId, walletName: 'guarded' });
    });

    // In onMfaRequired of a login by code core would ask for its state with an attested stamp, which reads nothing here.
    test('a passkey after the code of a login, by the calls beneath', async () => {
      const contact = newAddress('twice');
      const { device: opened, account } = await openCareful(contact, { resource: 'AUTH', steps: [CODE, PASSKEY] });
      await using device = opened;
      const { organizationId, userId } = account;
      await call(device, 'logout');
      const proof = await proveEmail(device, contact);
      await call(device, 'overrideAttestedStamper', proof);
      const login = { publicKey: proof.publicKey, organizationId, expirationSeconds: '900' };
      const { activity } = await http(device, 'stampLogin', login, 'attested');
      expect(activity.status).toBe('ACTIVITY_STATUS_AUTHENTICATORS_NEEDED');
      const approval = { fingerprint: activity.fingerprint, organizationId };
      const approved = await http(device, 'approveActivity', approval, 'passkey');
      await call(device, 'storeSession', { sessionToken: approved.activity.result.stampLoginResult.session });
      expect(await sessionOf(device)).toMatchObject({ organizationId, userId, publicKey: proof.publicKey });
    });
  });
});
