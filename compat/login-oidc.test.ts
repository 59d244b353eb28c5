// Logins by tokens of OpenID issuers and by OAuth 2.0: a real provider on loopback, the server SDK and core's HTTP client.
import { createPublicKey, randomInt, verify } from 'node:crypto';
import { TurnkeyClient } from '@turnkey/core';
import { decryptCredentialBundle, encryptOauth2ClientSecret } from '@turnkey/crypto';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type KeyPair, newKeyPair, TestClient } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { enableProxy, keyPairOf, newName, newTargetKey, readSession, serviceKeys } from './login.ts';
import { type Algorithm, CLIENT_ID, nonceOf, OpenIdProvider, OTHER_CLIENT_ID } from './openid.ts';
import { connect, credentialsOf, errorCodeOf, fresh, refusal } from './sdk.ts';
import { type ProviderName, SocialProviders } from './social-providers.ts';

type HttpClient = ReturnType<TurnkeyClient['createHttpClient']>;

let provider: OpenIdProvider;
let social: SocialProviders;
let service: TestServer;
let root: TurnkeyApiClient;
/** What a page without a backend has. */
let proxy: HttpClient;

beforeAll(async () => {
  [provider, social] = await Promise.all([OpenIdProvider.start(), SocialProviders.start()]);
  service = await TestServer.start({ env: { CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8', ...social.settings } });
  root = connect(service.baseUrl, service.credentials);
  const authProxyConfigId = await enableProxy(TestClient.root(service.credentials, service.baseUrl), {
    allowedAuthMethods: ['google', 'x', 'discord', 'oidc'],
    oidcIssuers: [provider.issuer],
    // Tokens for this client can vouch for identities of the others.
    socialLinkingClientIds: [CLIENT_ID],
  });
  const { organizationId } = service.credentials;
  const client = new TurnkeyClient({
    organizationId,
    apiBaseUrl: service.baseUrl,
    authProxyUrl: service.baseUrl,
    authProxyConfigId,
  });
  proxy = client.createHttpClient();
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await social?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

const as = (organizationId: string, key: KeyPair) => connect(service.baseUrl, credentialsOf(organizationId, key));

/** A sub-organization whose root user is known to issuers alone. */
async function signUp(
  ...tokens: readonly string[]
): Promise<{ readonly organizationId: string; readonly userId: string }> {
  const { subOrganizationId, rootUserIds } = await root.createSubOrganization({
    subOrganizationName: fresh('account'),
    rootQuorumThreshold: 1,
    rootUsers: [
      {
        userName: 'holder',
        apiKeys: [],
        authenticators: [],
        oauthProviders: tokens.map((oidcToken, index) => ({ providerName: `provider ${index}`, oidcToken })),
      },
    ],
  });
  return { organizationId: subOrganizationId, userId: (rootUserIds as string[])[0] as string };
}

/** Logs in and answers a client of the session. */
async function logIn(organizationId: string, oidcToken: string, key: KeyPair): Promise<TurnkeyApiClient> {
  const { session } = await root.oauthLogin({ organizationId, oidcToken, publicKey: key.publicKey });
  expect(await readSession(service.baseUrl, session)).toMatchObject({
    public_key: key.publicKey,
    organization_id: organizationId,
    session_type: 'SESSION_TYPE_READ_WRITE',
  });
  return as(organizationId, key);
}

describe('OpenID', () => {
  test('a backend signs a person up and logs them in', async () => {
    const ann = newName('ann');
    const key = newKeyPair();
    const token = await provider.login(ann, key.publicKey);
    const account = await signUp(token);
    const found = await root.getSubOrgIds({ filterType: 'OIDC_TOKEN', filterValue: token });
    expect(found.organizationIds).toEqual([account.organizationId]);
    const user = await logIn(account.organizationId, token, key);
    expect(await user.getWhoami()).toMatchObject(account);

    const other = newKeyPair();
    const again = await logIn(account.organizationId, await provider.login(ann, other.publicKey), other);
    expect(await again.getWhoami()).toMatchObject(account);
    const { oauthProviders } = await again.getOauthProviders({ userId: account.userId });
    expect(oauthProviders).toEqual([
      expect.objectContaining({ issuer: provider.issuer, audience: CLIENT_ID, subject: ann }),
    ]);
  });

  test('a page signs a person up and logs them in through the proxy', async () => {
    const bob = newName('bob');
    const key = newKeyPair();
    const oidcToken = await provider.login(bob, key.publicKey);
    const lookUp = () => proxy.proxyGetAccount({ filterType: 'OIDC_TOKEN', filterValue: oidcToken });
    expect(await lookUp()).toEqual({});
    const { organizationId, userId } = await proxy.proxySignupV2({
      userName: 'Bob',
      apiKeys: [],
      authenticators: [],
      oauthProviders: [{ providerName: 'OpenID', oidcToken }],
    });
    expect(await lookUp()).toEqual({ organizationId });
    // Found by the token alone.
    const { session } = await proxy.proxyOAuthLogin({ oidcToken, publicKey: key.publicKey });
    expect(await readSession(service.baseUrl, session)).toMatchObject({
      user_id: userId,
      organization_id: organizationId,
    });
    expect(await as(organizationId, key).getWhoami()).toMatchObject({ userId, username: 'Bob' });
  });

  test('a key in a bundle, which the token is bound to as it is written', async () => {
    const cleo = newName('cleo');
    const target = newTargetKey();
    const oidcToken = await provider.login(cleo, target.publicKey);
    const account = await signUp(oidcToken);
    const login = { organizationId: account.organizationId, oidcToken, targetPublicKey: target.publicKey };
    const answer = await root.oauth(login);
    expect(answer.userId).toBe(account.userId);
    const key = keyPairOf(decryptCredentialBundle(answer.credentialBundle, target.privateKey));
    expect(await as(account.organizationId, key).getWhoami()).toMatchObject(account);

    const refused = await refusal(root.oauth({ ...login, targetPublicKey: newTargetKey().publicKey }));
    expect(refused.code).toBe(3);
    expect(errorCodeOf(refused)).toBe('INVALID_OIDC_TOKEN');
  });

  test('a token that is bound to another key', async () => {
    const dan = newName('dan');
    const key = newKeyPair();
    const account = await signUp(await provider.login(dan, key.publicKey));
    const { organizationId } = account;
    const other = newKeyPair();
    const oidcToken = await provider.login(dan, other.publicKey);
    const refused = await refusal(root.oauthLogin({ organizationId, oidcToken, publicKey: key.publicKey }));
    expect(errorCodeOf(refused)).toBe('INVALID_OIDC_TOKEN');
    expect(refused.message).toContain('nonce');
    await expect(proxy.proxyOAuthLogin({ oidcToken, publicKey: key.publicKey })).rejects.toMatchObject({ code: 3 });
    expect(await (await logIn(organizationId, oidcToken, other)).getWhoami()).toMatchObject(account);
  });

  test('further client ids of a person, by claims and by token', async () => {
    const [eve, evan] = [newName('eve'), newName('evan')];
    const key = newKeyPair();
    const account = await signUp(await provider.login(eve, key.publicKey));
    const { organizationId, userId } = account;
    const user = await logIn(organizationId, await provider.login(eve, key.publicKey), key);

    const other = newKeyPair();
    const elsewhere = await provider.login(eve, other.publicKey, OTHER_CLIENT_ID);
    const unknown = await refusal(logIn(organizationId, elsewhere, other));
    expect(unknown.code).toBe(5);

    const iss = provider.issuer;
    const { providerIds } = await user.createOauthProviders({
      userId,
      oauthProviders: [
        { providerName: 'the same person', oidcClaims: { iss, sub: eve, aud: OTHER_CLIENT_ID } },
        { providerName: 'another one', oidcToken: await provider.login(evan, key.publicKey) },
      ],
    });
    expect(providerIds).toHaveLength(2);
    expect(await (await logIn(organizationId, elsewhere, other)).getWhoami()).toMatchObject(account);

    const unproven = await refusal(
      user.createOauthProviders({
        userId,
        oauthProviders: [{ providerName: 'a victim', oidcClaims: { iss, sub: 'victim', aud: CLIENT_ID } }],
      }),
    );
    expect(unproven.code).toBe(3);
    const taken = await refusal(signUp(await provider.login(evan, key.publicKey)));
    expect(errorCodeOf(taken)).toBe('OAUTH_PROVIDER_ALREADY_EXISTS');

    await user.deleteOauthProviders({ userId, providerIds });
    const removed = newKeyPair();
    const late = await provider.login(eve, removed.publicKey, OTHER_CLIENT_ID);
    expect((await refusal(logIn(organizationId, late, removed))).code).toBe(5);
    const { oauthProviders } = await user.getOauthProviders({ userId });
    expect(oauthProviders.map(({ audience, subject }) => [audience, subject])).toEqual([[CLIENT_ID, eve]]);
  });

  test('the keys of the issuer change', async () => {
    const finn = newName('finn');
    await using rotating = await OpenIdProvider.start();
    const [before, after] = [newKeyPair(), newKeyPair()];
    const old = await rotating.login(finn, before.publicKey);
    const account = await signUp(old);
    await logIn(account.organizationId, old, before);
    // For another key: a token logs in once, and two of one second for one key are the same to the letter.
    const other = newKeyPair();
    await logIn(account.organizationId, await rotating.login(finn, other.publicKey), other);
    expect(rotating.keyRequests).toBe(1);

    await rotating.rotate('ES256');
    const user = await logIn(account.organizationId, await rotating.login(finn, after.publicKey), after);
    expect(await user.getWhoami()).toMatchObject(account);
    expect(rotating.keyRequests).toBe(2);
    // What was signed with a key that the issuer has withdrawn is worth nothing.
    const refused = await refusal(logIn(account.organizationId, old, before));
    expect(errorCodeOf(refused)).toBe('INVALID_OIDC_TOKEN');
  });

  test.each(['PS256', 'EdDSA'] as const)('an issuer that signs with %s', async (algorithm: Algorithm) => {
    const gil = newName('gil');
    await using other = await OpenIdProvider.start(algorithm);
    const key = newKeyPair();
    const token = await other.login(gil, key.publicKey);
    const account = await signUp(token);
    expect(await (await logIn(account.organizationId, token, key)).getWhoami()).toMatchObject(account);
  });
});

describe('OAuth 2.0', () => {
  const PROVIDERS = [
    ['x', 'OAUTH2_PROVIDER_X'],
    ['discord', 'OAUTH2_PROVIDER_DISCORD'],
  ] as const satisfies readonly (readonly [ProviderName, string])[];

  const encryptSecret = async (secret: string): Promise<string> =>
    await encryptOauth2ClientSecret(secret, (await serviceKeys(service.baseUrl))['oauth-secret']);

  const credentialIds: Record<string, string> = {};

  beforeAll(async () => {
    const { clientId, clientSecret } = social.client;
    const encryptedClientSecret = await encryptSecret(clientSecret);
    for (const [, provider] of PROVIDERS) {
      const made = await root.createOauth2Credential({ provider, clientId, encryptedClientSecret });
      credentialIds[provider] = made.oauth2CredentialId;
    }
  });

  test('credentials are kept, shown, changed and removed', async () => {
    const encryptedClientSecret = await encryptSecret('a secret');
    const provider = 'OAUTH2_PROVIDER_DISCORD';
    const { oauth2CredentialId } = await root.createOauth2Credential({
      provider,
      clientId: 'kept',
      encryptedClientSecret,
    });
    const shown = { oauth2CredentialId, provider, clientId: 'kept', encryptedClientSecret };
    expect((await root.getOauth2Credential({ oauth2CredentialId })).oauth2Credential).toMatchObject(shown);
    const list = async () => (await root.listOauth2Credentials({})).oauth2Credentials;
    expect(await list()).toContainEqual(expect.objectContaining(shown));
    await root.updateOauth2Credential({
      oauth2CredentialId,
      provider,
      clientId: 'changed',
      encryptedClientSecret: await encryptSecret('another'),
    });
    expect((await root.getOauth2Credential({ oauth2CredentialId })).oauth2Credential.clientId).toBe('changed');
    await root.deleteOauth2Credential({ oauth2CredentialId });
    expect((await list()).map((credential) => credential.oauth2CredentialId)).not.toContain(oauth2CredentialId);
    // Encrypted for somebody else, it could never be used.
    const foreign = await encryptOauth2ClientSecret('a secret');
    const refused = root.createOauth2Credential({ provider, clientId: 'foreign', encryptedClientSecret: foreign });
    expect((await refusal(refused)).code).toBe(3);
  });

  test.each(PROVIDERS)('a login by %s', async (name, providerName) => {
    const { clientId } = social.client;
    const oauth2CredentialId = credentialIds[providerName] as string;
    const [key, bearer] = [newKeyPair(), newTargetKey()];
    const id = String(randomInt(1e9, 1e12));
    const consent = social.consent(name, id);
    const request = {
      oauth2CredentialId,
      ...consent,
      nonce: nonceOf(key.publicKey),
      bearerTokenTargetPublicKey: bearer.publicKey,
    };
    const codeVerifier = 'x'.repeat(43);
    const wrong = await refusal(root.oauth2Authenticate({ ...request, codeVerifier }));
    expect(wrong.code).toBe(3);
    const { oidcToken } = await root.oauth2Authenticate(request);

    // A token as any OpenID client would check it.
    const claims = await verifyWithDiscovery(oidcToken);
    expect(claims).toMatchObject({
      iss: service.baseUrl,
      aud: clientId,
      sub: `${name}:${id}`,
      nonce: nonceOf(key.publicKey),
    });
    const opened = decryptCredentialBundle(claims.encrypted_bearer_token as string, bearer.privateKey);
    expect(Buffer.from(opened, 'hex').toString('utf8')).toBe(social.accessTokens.at(-1));

    const account = await signUp(oidcToken);
    expect(await (await logIn(account.organizationId, oidcToken, key)).getWhoami()).toMatchObject(account);
    const used = await refusal(root.oauth2Authenticate({ ...request, timestampMs: String(Date.now() + 1) }));
    expect(used.code).toBe(3);

    // The same by the proxy, which finds the credential by the client.
    const next = newKeyPair();
    const proxied = await proxy.proxyOAuth2Authenticate({
      provider: providerName,
      clientId,
      ...social.consent(name, id),
      nonce: nonceOf(next.publicKey),
    });
    const { session } = await proxy.proxyOAuthLogin({ oidcToken: proxied.oidcToken, publicKey: next.publicKey });
    expect(await readSession(service.baseUrl, session)).toMatchObject({ user_id: account.userId });
    expect(await as(account.organizationId, next).getWhoami()).toMatchObject(account);
  });

  async function verifyWithDiscovery(token: string): Promise<Record<string, unknown>> {
    const [header = '', payload = '', signature = ''] = token.split('.');
    const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    const get = async (url: string) => await (await fetch(url)).json();
    const discovered = await get(`${decode(payload).iss}/.well-known/openid-configuration`);
    const { keys } = await get(discovered.jwks_uri);
    const jwk = keys.find(({ kid }: { kid: string }) => kid === decode(header).kid);
    const key = createPublicKey({ format: 'jwk', key: jwk });
    expect(decode(header)).toMatchObject({ alg: 'ES256' });
    const signed = Buffer.from(`${header}.${payload}`);
    const encoded = { key, dsaEncoding: 'ieee-p1363' } as const;
    expect(verify('sha256', signed, encoded, Buffer.from(signature, 'base64url'))).toBe(true);
    return decode(payload);
  }
});
