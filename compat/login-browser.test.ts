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
import { bundleIn, enableLogins, enableProxy, Inbox, readSession } from './login.ts';
import { connect, fresh } from './sdk.ts';

/** What the page offers the tests; what matters in it is the public packages'. */
const PAGE_SOURCE = `
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeyClient } from '@turnkey/core';
import { decryptCredentialBundle, generateP256KeyPair, getPublicKey } from '@turnkey/crypto';
import { uint8ArrayToHexString } from '@turnkey/encoding';
import { getWebAuthnAttestation } from '@turnkey/http';
import { Turnkey, TurnkeyBrowserClient } from '@turnkey/sdk-browser';

let config;
let turnkey;
let recoveryKey;

const random = (length) => crypto.getRandomValues(new Uint8Array(length));
const toBase64url = (bytes) =>
  btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const fromBase64url = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
const attempt = async (work) => {
  try {
    return { answer: await work() };
  } catch (error) {
    return { error: { message: error.message, code: error.code } };
  }
};

export function start(settings) {
  config = settings;
  turnkey = new Turnkey({
    apiBaseUrl: settings.baseUrl,
    defaultOrganizationId: settings.organizationId,
    rpId: location.hostname,
  });
}

/** An authenticator as the API takes it, with the statement that the device makes when it is asked for one. */
export async function register({ authenticatorName, attestation, isResident }) {
  const challenge = random(32);
  const made = await getWebAuthnAttestation({
    publicKey: {
      rp: { id: location.hostname, name: 'Test' },
      user: { id: random(16), name: 'user', displayName: 'User' },
      challenge,
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      attestation,
      authenticatorSelection: isResident
        ? { residentKey: 'required', userVerification: 'preferred' }
        : { residentKey: 'discouraged', userVerification: 'discouraged' },
    },
  });
  return { authenticatorName, challenge: toBase64url(challenge), attestation: made };
}

/** What the SDK makes by itself. */
export async function createUserPasskey() {
  const { encodedChallenge, attestation } = await turnkey.passkeyClient().createUserPasskey();
  return { authenticatorName: 'first', challenge: encodedChallenge, attestation };
}

export const signUp = (body) =>
  attempt(async () => {
    const { baseUrl, organizationId, authProxyConfigId } = config;
    const proxy = { apiBaseUrl: baseUrl, authProxyUrl: baseUrl, organizationId, authProxyConfigId };
    return await new TurnkeyClient(proxy).createHttpClient().proxySignupV2(body);
  });

const openStore = async () => {
  const client = await turnkey.indexedDbClient();
  await client.init();
  return client;
};
const passkeyClient = (allow) =>
  turnkey.passkeyClient({
    allowCredentials: allow.map((id) => ({ id: fromBase64url(id), type: 'public-key' })),
  });

/** Stamped by the passkey. */
export const byPasskey = ({ method, args, allow }) => attempt(() => passkeyClient(allow)[method](...args));
/** Stamped by the key of the session. */
export const bySession = ({ method, args }) => attempt(async () => (await openStore())[method](...args));
/** With the token of a session that only reads. */
export const byToken = ({ method, args, token }) =>
  attempt(() =>
    new TurnkeyBrowserClient({
      apiBaseUrl: config.baseUrl,
      organizationId: config.organizationId,
      readOnlySession: token,
    })[method](...args),
  );

export const logIn = ({ allow, sessionType }) =>
  attempt(async () => {
    const publicKey = await (await openStore()).getPublicKey();
    await passkeyClient(allow).loginWithPasskey({ publicKey, sessionType });
    return { session: await turnkey.getSession(), raw: await turnkey.getRawSession() };
  });

/** The key that the mail will be for stays in the page. */
export function beginRecovery() {
  recoveryKey = generateP256KeyPair();
  return recoveryKey.publicKeyUncompressed;
}

const recovering = (bundle, organizationId) => {
  const apiPrivateKey = decryptCredentialBundle(bundle, recoveryKey.privateKey);
  const apiPublicKey = uint8ArrayToHexString(getPublicKey(apiPrivateKey, true));
  const stamper = new ApiKeyStamper({ apiPublicKey, apiPrivateKey });
  return new TurnkeyBrowserClient({ apiBaseUrl: config.baseUrl, organizationId, stamper });
};
export const byMail = ({ bundle, organizationId, method, args }) =>
  attempt(() => recovering(bundle, organizationId)[method](...args));
`;

interface Called {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the packages answer is asserted on.
  readonly answer?: any;
  readonly error?: { readonly message: string; readonly code?: number };
}

interface Authenticator {
  readonly authenticatorName: string;
  readonly challenge: string;
  readonly attestation: {
    readonly credentialId: string;
    readonly clientDataJson: string;
    readonly attestationObject: string;
    readonly transports: never[];
  };
}

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
    const page = await servePage(bundlePage(PAGE_SOURCE));
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

  async function register(device: Device, format: Format): Promise<Authenticator> {
    const attestation = format === 'none' ? 'none' : 'direct';
    const isResident = device.kind !== 'u2f';
    const authenticatorName = fresh('passkey');
    return (await device.run('register', { authenticatorName, attestation, isResident })) as Authenticator;
  }

  const run = async (device: Device, name: string, input: unknown) => (await device.run(name, input)) as Called;

  async function succeed(device: Device, name: string, input: unknown) {
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
    const authenticator = (await device.run('createUserPasskey')) as Authenticator;
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
      wallet: WALLET,
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
    const account = await openAccount(device, 'next@example.com');
    await logIn(device, account, []);
    const keyOf = async () => await succeed(device, 'bySession', { method: 'getPublicKey', args: [] });
    const before = await keyOf();
    await succeed(device, 'bySession', { method: 'refreshSession', args: [{ invalidateExisting: true }] });
    expect(await keyOf()).not.toBe(before);
    expect(await succeed(device, 'bySession', { method: 'getWhoami', args: [] })).toMatchObject(account);
  });

  test('a session that only reads', async () => {
    await using device = await openDevice();
    const account = await openAccount(device, 'reader@example.com');
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
    const email = `lost-${format}@example.com`;
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
