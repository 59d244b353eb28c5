// Logins as a backend runs them with the server SDK, and as older pages did by the proxy: codes, mailed keys, sessions.
import { randomInt } from 'node:crypto';
import { ApiKeyStamper, SignatureFormat } from '@turnkey/api-key-stamper';
import { getClientSignatureMessageForLogin, getClientSignatureMessageForSignup, TurnkeyClient } from '@turnkey/core';
import { decryptCredentialBundle, encryptOtpCodeToBundle, verifyOtpVerificationToken } from '@turnkey/crypto';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyPair, newKeyPair, TestClient } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import {
  bundleIn,
  codeIn,
  enableLogins,
  enableProxy,
  Inbox,
  keyPairOf,
  newAddress,
  newTargetKey,
  openAccount,
  readSession,
  serviceKeys,
} from './login.ts';
import { connect, credentialsOf, errorCodeOf, refusal } from './sdk.ts';

let service: TestServer;
let root: TurnkeyApiClient;
let inbox: Inbox;

beforeAll(async () => {
  service = await TestServer.start();
  root = connect(service.baseUrl, service.credentials);
  inbox = new Inbox(service.baseUrl);
  await enableLogins(root);
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

const open = (key: KeyPair, contacts: Parameters<typeof openAccount>[3] = {}) =>
  openAccount(service.baseUrl, root, key, contacts);
const as = (organizationId: string, key: KeyPair) => connect(service.baseUrl, credentialsOf(organizationId, key));
const ACCOUNT = { curve: 'CURVE_SECP256K1', pathFormat: 'PATH_FORMAT_BIP32', addressFormat: 'ADDRESS_FORMAT_ETHEREUM' };

/** Sends a code back the way clients do: encrypted together with the key that the token is to be bound to. */
async function verifyCode(
  { otpId, otpEncryptionTargetBundle }: { readonly otpId: string; readonly otpEncryptionTargetBundle: string },
  code: string,
  key: KeyPair,
  organizationId = service.credentials.organizationId,
): Promise<string> {
  const { otp } = await serviceKeys(service.baseUrl);
  const encryptedOtpBundle = await encryptOtpCodeToBundle(code, otpEncryptionTargetBundle, key.publicKey, otp);
  return (await root.verifyOtp({ organizationId, otpId, encryptedOtpBundle })).verificationToken;
}

/** The signature over what core built for the holder of a token's key. */
async function signUsage({ message, publicKey }: { message: string; publicKey: string }, key: KeyPair) {
  expect(publicKey).toBe(key.publicKey);
  const stamper = new ApiKeyStamper({ apiPublicKey: key.publicKey, apiPrivateKey: key.privateKey });
  const signature = await stamper.sign(message, SignatureFormat.Raw);
  return { message, publicKey, scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256' as const, signature };
}

const signLogin = (verificationToken: string, key: KeyPair, sessionPublicKey = key.publicKey) =>
  signUsage(getClientSignatureMessageForLogin({ verificationToken, sessionPublicKey }), key);

/** Older clients call the part that says what is signed up for by another name. */
async function signSignUp(verificationToken: string, email: string, key: KeyPair, name: 'signup' | 'signupV2') {
  const lists = { apiKeys: [], authenticators: [], oauthProviders: [] };
  const { message, publicKey } = getClientSignatureMessageForSignup({ verificationToken, email, ...lists });
  return await signUsage({ message: message.replace('"signupV2"', `"${name}"`), publicKey }, key);
}

describe('one-time codes', () => {
  test('by mail: a code, a token, a session that acts', async () => {
    const contact = `zoe+${newAddress('login')}`;
    const account = await open(newKeyPair(), { userEmail: contact });
    const init = await root.initOtp({ otpType: 'OTP_TYPE_EMAIL', contact, appName: 'Example' });
    const mail = await inbox.next(contact);
    expect(mail).toMatchObject({ channel: 'email', subject: 'Your code for Example' });
    const code = codeIn(mail);
    expect(code).toHaveLength(9);

    const key = newKeyPair();
    const token = await verifyCode(init, code, key);
    const { otp } = await serviceKeys(service.baseUrl);
    expect(await verifyOtpVerificationToken(token, otp)).toEqual({
      id: expect.any(String),
      verification_type: 'OTP_TYPE_EMAIL',
      contact,
      organization_id: service.credentials.organizationId,
      public_key: key.publicKey,
      exp: expect.stringMatching(/^\d{13}$/),
    });

    const login = {
      organizationId: account.id,
      verificationToken: token,
      publicKey: key.publicKey,
      clientSignature: await signLogin(token, key),
    };
    const { session } = await root.otpLogin({ ...login, expirationSeconds: '1200' });
    expect(await readSession(service.baseUrl, session)).toEqual({
      exp: expect.any(Number),
      public_key: key.publicKey,
      session_type: 'SESSION_TYPE_READ_WRITE',
      user_id: account.userId,
      organization_id: account.id,
    });
    const user = as(account.id, key);
    expect(await user.getWhoami()).toMatchObject({ organizationId: account.id, userId: account.userId });
    const { addresses } = await user.createWallet({
      walletName: 'first',
      accounts: [{ ...ACCOUNT, path: "m/44'/60'/0'/0/0" }] as never,
    });
    expect(addresses).toHaveLength(1);
    const found = await root.getVerifiedSubOrgIds({ filterType: 'EMAIL', filterValue: contact });
    expect(found.organizationIds).toEqual([account.id]);

    // A code is good for one token, and a token for one login.
    const again = await refusal(verifyCode(init, code, key));
    expect(again.message).toContain('Invalid OTP code');
    expect((await refusal(root.otpLogin({ ...login, timestampMs: String(Date.now() + 1) }))).code).toBe(3);
  });

  test('by text message, in the sub-organization, with a wrong code first', async () => {
    const contact = `+1500555${randomInt(1000, 10_000)}`;
    const account = await open(newKeyPair(), { userPhoneNumber: contact });
    const init = await root.initOtp({
      organizationId: account.id,
      otpType: 'OTP_TYPE_SMS',
      contact,
      appName: 'Example',
      otpLength: 6,
      alphanumeric: false,
      smsCustomization: { template: 'Example says {{.OtpCode}} to you' },
    });
    const message = await inbox.next(contact);
    expect(message).toMatchObject({ channel: 'sms', text: expect.stringMatching(/^Example says \d{6} to you$/) });
    const code = message.text.split(' ')[2] as string;
    const key = newKeyPair();
    const wrong = code === '000000' ? '000001' : '000000';
    const verify = (text: string) => verifyCode(init, text, key, account.id);
    expect((await refusal(verify(wrong))).message).toContain('Invalid OTP code');
    const token = await verify(code);
    const { session } = await root.otpLogin({
      organizationId: account.id,
      verificationToken: token,
      publicKey: key.publicKey,
      clientSignature: await signLogin(token, key),
    });
    expect(await readSession(service.baseUrl, session)).toMatchObject({ user_id: account.userId });
    expect(await as(account.id, key).getWhoami()).toMatchObject({ userId: account.userId });
  });

  test('a session for another key than the one that signed', async () => {
    const contact = newAddress('two-keys');
    const account = await open(newKeyPair(), { userEmail: contact });
    const init = await root.initOtp({ otpType: 'OTP_TYPE_EMAIL', contact, appName: 'Example' });
    const [key, sessionKey] = [newKeyPair(), newKeyPair()];
    const token = await verifyCode(init, codeIn(await inbox.next(contact)), key);
    const login = { organizationId: account.id, verificationToken: token, publicKey: sessionKey.publicKey };
    const forItself = await signLogin(token, key);
    const refused = await refusal(root.otpLogin({ ...login, clientSignature: forItself }));
    expect(errorCodeOf(refused)).toBe('INVALID_CLIENT_SIGNATURE');
    const clientSignature = await signLogin(token, key, sessionKey.publicKey);
    await root.otpLogin({ ...login, clientSignature });
    expect(await as(account.id, sessionKey).getWhoami()).toMatchObject({ userId: account.userId });
  });

  test('too many requests have the text that clients look for', async () => {
    const contact = newAddress('eager');
    const request = () => root.initOtp({ otpType: 'OTP_TYPE_EMAIL', contact, appName: 'Example' });
    for (let sent = 0; sent < 3; sent += 1) await request();
    const refused = await refusal(request());
    expect(refused.code).toBe(8);
    expect(refused.message).toContain('Max number of OTPs have been initiated');
  });
});

describe('the proxy without a browser', () => {
  let proxy: ReturnType<TurnkeyClient['createHttpClient']>;
  const otpType = 'OTP_TYPE_EMAIL';

  beforeAll(async () => {
    const authProxyConfigId = await enableProxy(TestClient.root(service.credentials, service.baseUrl), {
      allowedAuthMethods: ['email'],
    });
    const { organizationId } = service.credentials;
    const client = new TurnkeyClient({ organizationId, authProxyUrl: service.baseUrl, authProxyConfigId });
    proxy = client.createHttpClient();
  });

  const accountOf = (userEmail: string) => ({
    userName: 'Zoë',
    userEmail,
    apiKeys: [],
    authenticators: [],
    oauthProviders: [],
  });

  test('codes in the clear, as the first version of core sends them', async () => {
    const contact = newAddress('older');
    const { otpId } = await proxy.proxyInitOtp({ otpType, contact });
    const key = newKeyPair();
    const otpCode = codeIn(await inbox.next(contact));
    const { verificationToken } = await proxy.proxyVerifyOtp({ otpId, otpCode, publicKey: key.publicKey });
    const clientSignature = await signSignUp(verificationToken, contact, key, 'signup');
    const account = await proxy.proxySignup({ ...accountOf(contact), verificationToken, clientSignature });
    const { session } = await proxy.proxyOtpLogin({
      verificationToken,
      publicKey: key.publicKey,
      clientSignature: await signLogin(verificationToken, key),
    });
    const claims = { user_id: account.userId, organization_id: account.organizationId };
    expect(await readSession(service.baseUrl, session)).toMatchObject(claims);
    expect(await as(account.organizationId, key).getWhoami()).toMatchObject({ userId: account.userId });

    // A token that is bound to no key needs no signature.
    const later = newKeyPair();
    const next = await proxy.proxyInitOtp({ otpType, contact });
    const code = codeIn(await inbox.next(contact));
    const unbound = await proxy.proxyVerifyOtp({ otpId: next.otpId, otpCode: code });
    const again = await proxy.proxyOtpLogin({ ...unbound, publicKey: later.publicKey });
    expect(await readSession(service.baseUrl, again.session)).toMatchObject(claims);
    expect(await as(account.organizationId, later).getWhoami()).toMatchObject({ userId: account.userId });
  });

  test('encrypted codes', async () => {
    const contact = newAddress('newer');
    const { otp } = await serviceKeys(service.baseUrl);
    const key = newKeyPair();
    const { otpId, otpEncryptionTargetBundle } = await proxy.proxyInitOtpV2({ otpType, contact });
    const code = codeIn(await inbox.next(contact));
    const encryptedOtpBundle = await encryptOtpCodeToBundle(code, otpEncryptionTargetBundle, key.publicKey, otp);
    const { verificationToken } = await proxy.proxyVerifyOtpV2({ otpId, encryptedOtpBundle });
    const lookUp = () => proxy.proxyGetAccount({ filterType: 'EMAIL', filterValue: contact, verificationToken });
    expect(await lookUp()).toEqual({});
    const clientSignature = await signSignUp(verificationToken, contact, key, 'signupV2');
    const account = await proxy.proxySignupV2({ ...accountOf(contact), verificationToken, clientSignature });
    expect(await lookUp()).toEqual({ organizationId: account.organizationId });
    const { session } = await proxy.proxyOtpLoginV2({
      verificationToken,
      publicKey: key.publicKey,
      clientSignature: await signLogin(verificationToken, key),
    });
    expect(await readSession(service.baseUrl, session)).toMatchObject({ user_id: account.userId });
    expect(await as(account.organizationId, key).getWhoami()).toMatchObject({ userId: account.userId });
  });
});

describe('keys in bundles', () => {
  test('initOtpAuth and otpAuth', async () => {
    const contact = newAddress('bundle');
    const account = await open(newKeyPair(), { userEmail: contact });
    const { otpId } = await root.initOtpAuth({
      organizationId: account.id,
      otpType: 'OTP_TYPE_EMAIL',
      contact,
      appName: 'Example',
    });
    const target = newTargetKey();
    const answer = await root.otpAuth({
      organizationId: account.id,
      otpId,
      otpCode: codeIn(await inbox.next(contact)),
      targetPublicKey: target.publicKey,
    });
    expect(answer.userId).toBe(account.userId);
    const key = keyPairOf(decryptCredentialBundle(answer.credentialBundle as string, target.privateKey));
    expect(await as(account.id, key).getWhoami()).toMatchObject({ userId: account.userId });
    const { apiKeys } = await account.client.getApiKeys({ userId: account.userId });
    expect(apiKeys.find(({ apiKeyId }) => apiKeyId === answer.apiKeyId)).toMatchObject({
      credential: { publicKey: key.publicKey, type: 'CREDENTIAL_TYPE_OTP_AUTH_KEY_P256' },
      expirationSeconds: '900',
    });
  });

  test('emailAuth: the bundle comes by mail, also inside a link', async () => {
    const email = newAddress('mailed');
    const account = await open(newKeyPair(), { userEmail: email });
    const target = newTargetKey();
    const answer = await root.emailAuth({
      organizationId: account.id,
      email,
      targetPublicKey: target.publicKey,
      emailCustomization: { appName: 'Example', magicLinkTemplate: 'https://app.example/login#%s' },
    });
    expect(answer).toMatchObject({ userId: account.userId, apiKeyId: expect.any(String) });
    const mail = await inbox.next(email);
    const bundle = bundleIn(mail);
    expect(mail.text).toContain(`https://app.example/login#${bundle}`);
    expect(mail.html).toContain(bundle);
    const key = keyPairOf(decryptCredentialBundle(bundle, target.privateKey));
    expect(await as(account.id, key).getWhoami()).toMatchObject({ userId: account.userId });

    // A later one ends the earlier when told so.
    const next = newTargetKey();
    await root.emailAuth({
      organizationId: account.id,
      email,
      targetPublicKey: next.publicKey,
      emailCustomization: { appName: 'Example' },
      invalidateExisting: true,
    });
    const later = keyPairOf(decryptCredentialBundle(bundleIn(await inbox.next(email)), next.privateKey));
    expect(await as(account.id, later).getWhoami()).toMatchObject({ userId: account.userId });
    const refused = await refusal(as(account.id, key).getWhoami());
    expect(refused.message).toContain('could not find public key in organization or its parent organization');
  });

  test('a recovery key recovers and does nothing else', async () => {
    const email = newAddress('lost');
    const account = await open(newKeyPair(), { userEmail: email });
    const target = newTargetKey();
    const answer = await root.initUserEmailRecovery({
      organizationId: account.id,
      email,
      targetPublicKey: target.publicKey,
      emailCustomization: { appName: 'Example' },
    });
    expect(answer).toMatchObject({ userId: account.userId });
    const key = keyPairOf(decryptCredentialBundle(bundleIn(await inbox.next(email)), target.privateKey));
    const recovering = as(account.id, key);
    const { apiKeys } = await account.client.getApiKeys({ userId: account.userId });
    expect(apiKeys.map(({ credential }) => credential.type)).toContain('CREDENTIAL_TYPE_RECOVER_USER_KEY_P256');
    const refused = await refusal(recovering.createUserTag({ userTagName: 'mine', userIds: [] }));
    expect(refused.code).toBe(7);
  });
});

describe('sessions', () => {
  test('stampLogin with an API key, and again with the session it made', async () => {
    const account = await open(newKeyPair());
    const [first, second] = [newKeyPair(), newKeyPair()];
    const { session } = await account.client.stampLogin({ publicKey: first.publicKey, expirationSeconds: '60' });
    const claims = await readSession(service.baseUrl, session);
    expect(claims).toMatchObject({ public_key: first.publicKey, user_id: account.userId, organization_id: account.id });
    const refreshed = await as(account.id, first).stampLogin({
      publicKey: second.publicKey,
      invalidateExisting: true,
    });
    expect(await readSession(service.baseUrl, refreshed.session)).toMatchObject({ public_key: second.publicKey });
    expect(await as(account.id, second).getWhoami()).toMatchObject({ userId: account.userId });
    const refused = await refusal(as(account.id, first).getWhoami());
    expect(refused.message).toContain('could not find public key in organization or its parent organization');
  });

  test('a client that knows only the parent', async () => {
    const key = newKeyPair();
    const account = await open(key);
    const sessionKey = newKeyPair();
    const knowing = as(service.credentials.organizationId, key);
    const { session } = await knowing.stampLogin({ publicKey: sessionKey.publicKey });
    expect(await readSession(service.baseUrl, session)).toMatchObject({
      organization_id: account.id,
      user_id: account.userId,
    });
  });

  test('createReadWriteSession', async () => {
    const account = await open(newKeyPair());
    const target = newTargetKey();
    const answer = await account.client.createReadWriteSession({ targetPublicKey: target.publicKey });
    expect(answer).toMatchObject({
      organizationId: account.id,
      userId: account.userId,
      username: 'holder',
      apiKeyId: expect.any(String),
    });
    const key = keyPairOf(decryptCredentialBundle(answer.credentialBundle, target.privateKey));
    expect(await as(account.id, key).getWhoami()).toMatchObject({ userId: account.userId });
  });

  test('createReadOnlySession', async () => {
    const account = await open(newKeyPair());
    const answer = await account.client.createReadOnlySession({});
    expect(answer).toMatchObject({
      organizationId: account.id,
      userId: account.userId,
      username: 'holder',
      session: expect.any(String),
      sessionExpiry: expect.stringMatching(/^\d{10}$/),
    });
    const call = (path: string, body: object) =>
      fetch(`${service.baseUrl}/public/v1/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-session': answer.session },
        body: JSON.stringify({ organizationId: account.id, ...body }),
      });
    const read = await call('query/whoami', {});
    expect(await read.json()).toMatchObject({ userId: account.userId });
    const written = await call('submit/create_user_tag', {
      type: 'ACTIVITY_TYPE_CREATE_USER_TAG',
      timestampMs: String(Date.now()),
      parameters: { userTagName: 'mine', userIds: [] },
    });
    expect(written.status).toBe(401);
  });
});
