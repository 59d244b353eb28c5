// Passkeys from sign-up to recovery: the browser SDK in Chromium, the server SDK as the application's backend.
import type { Server } from 'node:http';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import type { Browser } from 'playwright-core';
import { keccak256, recoverAddress, stringToHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestClient } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import {
  bundlePage,
  closePage,
  Device,
  FORMATS,
  type Format,
  isBrowserMissing,
  KIND_OF,
  launchBrowser,
  servePage,
} from './browser.ts';
import { bundleIn, enableLogins, enableProxy, Inbox, newAddress, readSession } from './login.ts';
import type * as Page from './login-browser-page.ts';
import { connect, fresh } from './sdk.ts';

type PageCall = 'signUp' | 'byPasskey' | 'bySession' | 'byToken' | 'logIn' | 'byMail';

const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
} as const;
const READ_WRITE = 'SESSION_TYPE_READ_WRITE';
const READ_ONLY = 'SESSION_TYPE_READ_ONLY';

describe.skipIf(isBrowserMissing)('passkeys from sign-up to recovery', () => {
  let service: TestServer;
  let root: TurnkeyApiClient;
  let inbox: Inbox;
  let browser: Browser;
  let server: Server;
  let origin: string;
  let authProxyConfigId: string;

  beforeAll(async () => {
    const page = await servePage(bundlePage({ file: 'login-browser-page.ts' }));
    server = page.server;
    origin = `http://localhost:${page.port}`;
    [browser, service] = await Promise.all([launchBrowser(), TestServer.start()]);
    root = connect(service.baseUrl, service.credentials);
    inbox = new Inbox(service.baseUrl);
    await enableLogins(root);
    authProxyConfigId = await enableProxy(TestClient.root(service.credentials, service.baseUrl), {
      allowedAuthMethods: ['passkey'],
    });
  });

  afterAll(async () => {
    await browser?.close();
    if (server !== undefined) closePage(server);
    await service?.[Symbol.asyncDispose]();
  });

  async function openDevice(format: Format = 'none'): Promise<Device> {
    const device = await Device.open(browser, origin, KIND_OF[format]);
    const { organizationId } = service.credentials;
    await device.run('start', { baseUrl: service.baseUrl, organizationId, authProxyConfigId });
    return device;
  }

  async function register(device: Device, format: Format): Promise<Page.Authenticator> {
    const attestation = format === 'none' ? 'none' : 'direct';
    const isResident = device.kind !== 'u2f';
    const authenticatorName = fresh('passkey');
    return (await device.run('register', { authenticatorName, attestation, isResident })) as Page.Authenticator;
  }

  /** Calls a function of the page. */
  const run = async <Name extends PageCall>(device: Device, name: Name, input: Parameters<(typeof Page)[Name]>[0]) =>
    (await device.run(name, input)) as Page.Called;

  async function succeed<Name extends PageCall>(device: Device, name: Name, input: Parameters<(typeof Page)[Name]>[0]) {
    const called = await run(device, name, input);
    expect(called.error, `${name} ${JSON.stringify(input)}`).toBeUndefined();
    return called.answer;
  }

  /** Logs in with a passkey; the session must be of this account although the page knows only the parent. */
  async function logIn(device: Device, account: { organizationId: string; userId: string }, allow: string[]) {
    const { session, raw } = await succeed(device, 'logIn', { allow, sessionType: READ_WRITE });
    const { organizationId, userId } = account;
    expect(session).toMatchObject({ sessionType: READ_WRITE, organizationId, userId });
    expect(await readSession(service.baseUrl, raw)).toMatchObject({ public_key: session.token });
  }

  /** Somebody whom the application's backend signed up with a passkey and an address. */
  async function openAccount(device: Device, userEmail: string) {
    const authenticator = (await device.run('createUserPasskey')) as Page.Authenticator;
    const { subOrganizationId, rootUserIds } = await root.createSubOrganization({
      subOrganizationName: fresh('account'),
      rootQuorumThreshold: 1,
      rootUsers: [{ userName: 'holder', userEmail, apiKeys: [], authenticators: [authenticator], oauthProviders: [] }],
    });
    return { organizationId: subOrganizationId, userId: (rootUserIds as string[])[0] as string };
  }

  test.each(FORMATS)('sign-up, login and stamps with a statement of format %s', async (format) => {
    await using device = await openDevice(format);
    const authenticator = await register(device, format);
    const { credentialId } = authenticator.attestation;
    const account = await succeed(device, 'signUp', {
      userName: 'Pia',
      apiKeys: [],
      authenticators: [authenticator],
      oauthProviders: [],
      wallet: { walletName: 'First', accounts: [ETHEREUM] },
    });
    expect(account).toMatchObject({ wallet: { walletId: expect.any(String), addresses: [expect.any(String)] } });
    const { organizationId, userId } = account;
    const { authenticators } = await root.getAuthenticators({ organizationId, userId });
    expect(authenticators).toMatchObject([{ credentialId, attestationType: format }]);

    await logIn(device, account, [credentialId]);
    const [address] = account.wallet.addresses;
    const payload = 'hello';
    const { r, s, v } = await succeed(device, 'bySession', {
      method: 'signRawPayload',
      args: [
        {
          signWith: address,
          payload,
          encoding: 'PAYLOAD_ENCODING_TEXT_UTF8',
          hashFunction: 'HASH_FUNCTION_KECCAK256',
        },
      ],
    });
    const hash = keccak256(stringToHex(payload));
    const signature = { r: `0x${r}`, s: `0x${s}`, yParity: Number.parseInt(v, 16) } as const;
    expect(await recoverAddress({ hash, signature })).toBe(address);

    const tag = { organizationId, userTagName: 'by passkey', userIds: [userId] };
    const { activity } = await succeed(device, 'byPasskey', {
      method: 'createUserTag',
      args: [tag],
      allow: [credentialId],
    });
    expect(activity).toMatchObject({
      organizationId,
      status: 'ACTIVITY_STATUS_COMPLETED',
      votes: [{ userId, scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN' }],
    });
  });

  test('a session gives way to the next', async () => {
    await using device = await openDevice();
    const account = await openAccount(device, newAddress('next'));
    await logIn(device, account, []);
    const keyOf = async () => await succeed(device, 'bySession', { method: 'getPublicKey', args: [] });
    const before = await keyOf();
    await succeed(device, 'bySession', { method: 'refreshSession', args: [{ invalidateExisting: true }] });
    expect(await keyOf()).not.toBe(before);
    expect(await succeed(device, 'bySession', { method: 'getWhoami', args: [] })).toMatchObject(account);
  });

  test('a session that only reads', async () => {
    await using device = await openDevice();
    const account = await openAccount(device, newAddress('reader'));
    const { session } = await succeed(device, 'logIn', { allow: [], sessionType: READ_ONLY });
    expect(session).toMatchObject({ sessionType: READ_ONLY, ...account });
    const read = (method: string, ...args: readonly unknown[]) =>
      run(device, 'byToken', { method, args, token: session.token });
    expect(await read('getWhoami')).toMatchObject({ answer: account });
    expect(await read('getUser', { userId: account.userId })).toMatchObject({
      answer: { user: { userName: 'holder' } },
    });
    const written = await read('createUserTag', { userTagName: 'mine', userIds: [] });
    expect(written.error).toMatchObject({ code: 16 });
  });

  test.each(FORMATS)('recovery: the device is lost, a mail brings a new one with format %s', async (format) => {
    const email = newAddress('lost');
    const account = await (async () => {
      await using lost = await openDevice();
      return await openAccount(lost, email);
    })();
    const { organizationId, userId } = account;

    await using device = await openDevice(format);
    const targetPublicKey = (await device.run('beginRecovery')) as string;
    const started = await root.initUserEmailRecovery({
      organizationId,
      email,
      targetPublicKey,
      emailCustomization: { appName: 'Example', magicLinkTemplate: `${origin}/#%s` },
    });
    expect(started.userId).toBe(userId);
    const mail = await inbox.next(email);
    expect(mail.subject).toBe('Recover your account for Example');
    const bundle = bundleIn(mail);
    expect(mail.text).toContain(`${origin}/#${bundle}`);

    const byMail = (method: string, parameters: Record<string, unknown>) =>
      run(device, 'byMail', { bundle, organizationId, method, args: [parameters] });
    const authenticator = await register(device, format);
    // For this and nothing else.
    const more = await byMail('createAuthenticators', { userId, authenticators: [authenticator] });
    expect(more.error).toMatchObject({ code: 7 });
    const { answer, error } = await byMail('recoverUser', { userId, authenticator });
    expect(error).toBeUndefined();
    expect(answer.authenticatorId).toEqual([expect.any(String)]);
    const { authenticators } = await root.getAuthenticators({ organizationId, userId });
    expect(authenticators).toContainEqual(
      expect.objectContaining({ authenticatorId: answer.authenticatorId[0], attestationType: format }),
    );
    await logIn(device, account, [authenticator.attestation.credentialId]);
    expect(await succeed(device, 'bySession', { method: 'getWhoami', args: [] })).toMatchObject(account);

    // The key of the mail is gone with its use.
    const again = await byMail('recoverUser', { userId, authenticator: await register(device, format) });
    expect(again.error?.message).toContain('could not find public key in organization or its parent organization');
  });
});
