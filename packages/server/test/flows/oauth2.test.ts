import { randomUUID } from 'node:crypto';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { Receiver } from '../harness/bundles.ts';
import { createSubOrganization, createUser, newKeyPair, TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { addApiKey, COMPLETED, outcome } from './fixtures/access.ts';
import {
  boundTo,
  claimsOf,
  databaseText,
  encryptClientSecret,
  OAUTH2_CLIENT,
  Oauth2Providers,
  signUp,
} from './fixtures/oauth.ts';

// Credentials at OAuth 2.0 providers and oauth2_authenticate (protocol/login 8), with the two providers on loopback.

const DONE = [200, COMPLETED];
const INVALID = [400, 'REQUEST_INVALID'];
const X = 'OAUTH2_PROVIDER_X';
const DISCORD = 'OAUTH2_PROVIDER_DISCORD';

describe.each(databasesOf(import.meta.url))('OAuth 2.0 on %s', (database) => {
  let app: TestApp;
  let root: TestClient;
  let providers: Oauth2Providers;
  let ourKey: string;
  const credentialIds: Record<string, string> = {};
  const spent: string[] = [OAUTH2_CLIENT.secret];

  beforeAll(async () => {
    providers = await Oauth2Providers.start();
    app = await openTestApp(database, providers.env);
    root = app.root;
    spent.push(providers.accessToken);
    ourKey = app.app.serviceKeys.find(({ role }) => role === 'oauth-secret')?.publicKey ?? '';
    for (const provider of [X, DISCORD]) {
      const made = await root.run('create_oauth2_credential', credential(provider, OAUTH2_CLIENT.id));
      credentialIds[provider] = made.oauth2CredentialId;
    }
  });

  afterAll(async () => {
    const { organizationId } = root;
    const text = await databaseText(app);
    const found = spent.filter((secret) => secret.split('.').some((part) => text.includes(part)));
    await app[Symbol.asyncDispose]();
    await providers[Symbol.asyncDispose]();
    expect(text).toContain(organizationId);
    expect(found).toEqual([]);
  });

  const credential = (
    provider: string,
    clientId = `client ${randomUUID()}`,
    secret: string = OAUTH2_CLIENT.secret,
  ) => ({
    provider,
    clientId,
    encryptedClientSecret: encryptClientSecret(secret, ourKey),
  });

  /** What a client sends after the provider has sent its user back. */
  function request(provider: string, extra: Record<string, unknown> = {}) {
    const code = providers.authorize();
    spent.push(code.authCode, code.codeVerifier);
    return { oauth2CredentialId: credentialIds[provider], ...code, nonce: boundTo('02ab').nonce, ...extra };
  }
  const authenticate = async (provider: string, extra: Record<string, unknown> = {}) => {
    const { oidcToken } = await root.run('oauth2_authenticate', request(provider, extra));
    spent.push(oidcToken);
    return oidcToken as string;
  };

  describe('credentials', () => {
    test('are kept, told as they were submitted, replaced and deleted', async () => {
      const first = credential(X);
      const { oauth2CredentialId } = await root.run('create_oauth2_credential', first);
      const read = async () => (await root.query('get_oauth2_credential', { oauth2CredentialId })).body;
      const record = (parameters: object) => ({
        oauth2CredentialId,
        organizationId: root.organizationId,
        ...parameters,
        createdAt: expect.anything(),
        updatedAt: expect.anything(),
      });
      expect((await read()).oauth2Credential).toEqual(record(first));
      const { oauth2Credentials } = (await root.query('list_oauth2_credentials')).body;
      expect(oauth2Credentials).toContainEqual(record(first));
      const page = await root.query('list_oauth2_credentials', { paginationOptions: { limit: '1' } });
      expect(page.body).toMatchObject({ oauth2Credentials: [{}], pageInfo: { hasNextPage: true } });

      const second = credential(DISCORD);
      await root.run('update_oauth2_credential', { oauth2CredentialId, ...second });
      expect((await read()).oauth2Credential).toEqual(record(second));
      const taken = { oauth2CredentialId, ...second, provider: X, clientId: OAUTH2_CLIENT.id };
      expect(outcome(await root.submit('update_oauth2_credential', taken))).toEqual([409, 'ALREADY_EXISTS']);
      expect(outcome(await root.submit('create_oauth2_credential', second))).toEqual([409, 'ALREADY_EXISTS']);

      await root.run('delete_oauth2_credential', { oauth2CredentialId });
      const gone = [404, 'OAUTH2_CREDENTIAL_NOT_FOUND'];
      expect((await read()).errorCode).toBe(gone[1]);
      for (const operation of ['delete_oauth2_credential', 'update_oauth2_credential']) {
        expect(outcome(await root.submit(operation, { oauth2CredentialId, ...second })), operation).toEqual(gone);
      }
      const use = request(X, { oauth2CredentialId });
      expect(outcome(await root.submit('oauth2_authenticate', use))).toEqual(gone);
    });

    test('have a secret that opens, and a provider that is known', async () => {
      const good = credential(X);
      const compressed = ourKey.slice(0, 2) === '04' ? `02${ourKey.slice(2, 66)}` : ourKey;
      for (const encryptedClientSecret of [
        'x',
        good.encryptedClientSecret.slice(0, -2),
        encryptClientSecret('s', new Receiver().publicKey),
        encryptClientSecret('', ourKey),
        compressed,
      ]) {
        const answer = await root.submit('create_oauth2_credential', { ...good, encryptedClientSecret });
        expect(outcome(answer), encryptedClientSecret).toEqual([400, 'INVALID_BUNDLE']);
        expect(answer.body.message).toContain('client secret');
      }
      for (const provider of ['OAUTH2_PROVIDER_MYSPACE', '', 'OAUTH2_PROVIDER_VENDOR_A']) {
        const answer = await root.submit('create_oauth2_credential', { ...good, provider });
        expect(outcome(answer), provider).toEqual([400, 'INVALID_OAUTH2_PROVIDER']);
      }
      for (const clientId of ['', undefined]) {
        const answer = await root.submit('create_oauth2_credential', { ...good, clientId });
        expect(outcome(answer)).toEqual(INVALID);
        expect(answer.body.message).toBe('client_id must be set');
      }
      expect(outcome(await root.submit('create_oauth2_credential', good))).toEqual(DONE);
    });

    test('belong to a parent, and to who may', async () => {
      const sub = await createSubOrganization(root, 'sub');
      const plain = await createUser(root, 'plain');
      const parameters = credential(X);
      const parentOnly = [400, 'INVALID_ACTIVITY_CALLER'];
      expect(outcome(await sub.submit('create_oauth2_credential', parameters))).toEqual(parentOnly);
      expect(outcome(await sub.submit('oauth2_authenticate', request(X)))).toEqual(parentOnly);
      const denied = [403, 'REQUEST_NOT_AUTHORIZED'];
      expect(outcome(await plain.submit('create_oauth2_credential', parameters))).toEqual(denied);
      const before = providers.exchanges;
      expect(outcome(await plain.submit('oauth2_authenticate', request(X)))).toEqual(denied);
      // Nobody is asked for what is denied.
      expect(providers.exchanges).toBe(before);
      expect(outcome(await root.submit('create_oauth2_credential', parameters))).toEqual(DONE);
    });
  });

  test('a code becomes a token of ours that anybody can check, for a sign-up and a login', async () => {
    for (const [provider, subject] of [
      [X, 'x:22'],
      [DISCORD, 'discord:33'],
    ] as const) {
      const key = newKeyPair();
      const oidcToken = await authenticate(provider, boundTo(key.publicKey));
      const discovery = await (await fetch(`${root.baseUrl}/.well-known/openid-configuration`)).json();
      const keys = createRemoteJWKSet(new URL(discovery.jwks_uri));
      const checks = { issuer: root.baseUrl, audience: OAUTH2_CLIENT.id, algorithms: ['ES256'] };
      const { payload } = await jwtVerify(oidcToken, keys, checks);
      expect(payload).toEqual({
        iss: root.baseUrl,
        aud: OAUTH2_CLIENT.id,
        sub: subject,
        nonce: boundTo(key.publicKey).nonce,
        iat: payload.iat,
        exp: (payload.iat ?? 0) + 600,
      });
      const oauthProviders = [{ providerName: 'them', oidcToken }];
      const { organizationId, userId } = await signUp(root, { oauthProviders });
      const organization = new TestClient(root.baseUrl, organizationId, root.key);
      const login = { oidcToken, publicKey: key.publicKey };
      expect(outcome(await organization.submit('oauth_login', login))).toEqual(DONE);
      expect((await organization.as(key).query('whoami')).body.userId).toBe(userId);
      // A token for one key, used with another.
      const stolen = { oidcToken, publicKey: newKeyPair().publicKey };
      expect(outcome(await organization.submit('oauth_login', stolen))).toEqual([400, 'INVALID_OIDC_TOKEN']);
    }
  });

  test('the access token goes to the key that was named, and to no other', async () => {
    const receiver = new Receiver();
    const point = Buffer.from(receiver.publicKey, 'hex');
    const compressed = `${(point[64] ?? 0) % 2 === 0 ? '02' : '03'}${point.toString('hex', 1, 33)}`;
    for (const bearerTokenTargetPublicKey of [receiver.publicKey, compressed]) {
      const claims = claimsOf(await authenticate(X, { bearerTokenTargetPublicKey }));
      const sealed = claims.encrypted_bearer_token as string;
      expect(receiver.openCredential(sealed).toString('utf8')).toBe(providers.accessToken);
      expect(() => new Receiver().openCredential(sealed)).toThrow();
    }
    expect(claimsOf(await authenticate(X, { bearerTokenTargetPublicKey: '' }))).not.toHaveProperty(
      'encrypted_bearer_token',
    );
    const before = providers.exchanges;
    const wrong = await root.submit('oauth2_authenticate', request(X, { bearerTokenTargetPublicKey: '02ab' }));
    expect(outcome(wrong)).toEqual([400, 'INVALID_PUBLIC_KEY']);
    expect(wrong.body.message).toContain('bearerTokenTargetPublicKey');
    expect(providers.exchanges).toBe(before);
  });

  test('what is missing is named as clients know it', async () => {
    for (const [field, text] of Object.entries({
      authCode: 'auth_code must be set',
      codeVerifier: 'code_verifier must be set',
      oauth2CredentialId: 'oauth2_credential_id must be set',
      redirectUri: 'redirect_uri must be set',
      nonce: 'nonce must be set',
    })) {
      for (const value of ['', undefined]) {
        const answer = await root.submit('oauth2_authenticate', request(X, { [field]: value }));
        expect(outcome(answer), field).toEqual(INVALID);
        expect(answer.body.message).toBe(text);
      }
    }
    expect(outcome(await root.submit('oauth2_authenticate', request(X)))).toEqual(DONE);
  });

  test('what the provider refuses is refused, and no activity is left', async () => {
    const failed = [400, 'OAUTH2_EXCHANGE_FAILED'];
    const used = request(X);
    const answer = await root.submit('oauth2_authenticate', used);
    expect(outcome(answer)).toEqual(DONE);
    const attempts = {
      'a used code': used,
      'another code': { ...request(X), authCode: 'guessed' },
      'another verifier': { ...request(X), codeVerifier: 'guessed' },
      'another address': { ...request(X), redirectUri: 'https://evil.test/' },
    };
    for (const [name, parameters] of Object.entries(attempts)) {
      const refused = await root.submit('oauth2_authenticate', parameters);
      expect(outcome(refused), name).toEqual(failed);
      expect(refused.body.message).toContain('invalid_grant');
    }
    const { oauth2CredentialId } = await root.run('create_oauth2_credential', credential(X, 'stranger'));
    const stranger = await root.submit('oauth2_authenticate', request(X, { oauth2CredentialId }));
    expect(outcome(stranger)).toEqual(failed);
    expect(stranger.body.message).toContain('invalid_client');

    // The activity has the code no more, and the token for the credential that asked alone.
    const { id, result, intent } = answer.body.activity;
    spent.push(result.oauth2AuthenticateResult.oidcToken);
    expect(intent.oauth2AuthenticateIntent.authCode).toBe(used.authCode);
    const { client: other } = await addApiKey(root);
    const stored = (await other.query('get_activity', { activityId: id })).body.activity;
    expect(stored.result).toEqual({ oauth2AuthenticateResult: {} });
    expect(stored.intent.oauth2AuthenticateIntent).toMatchObject({
      authCode: expect.stringMatching(/^sha256:/),
      codeVerifier: expect.stringMatching(/^sha256:/),
      redirectUri: used.redirectUri,
    });
  });

  test('a code is exchanged once, also when the decision has to be taken again', async () => {
    // A control that comes while the provider is asked: what was prepared without it is thrown away.
    const identifier = `control ${randomUUID()}`;
    providers.meanwhile = async () => {
      providers.meanwhile = undefined;
      await root.run('create_velocity_control', {
        name: 'many',
        identifier,
        dataSource: { activityExecution: {} },
        aggregation: {
          method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
          operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN',
          threshold: '1000',
          window: { rolling: { duration: '1h' } },
          groupBy: { organization: {} },
        },
      });
    };
    const before = providers.exchanges;
    const oidcToken = await authenticate(X);
    expect(providers.exchanges).toBe(before + 1);
    expect(claimsOf(oidcToken).sub).toBe('x:22');
    const { velocityControls } = (await root.query('list_velocity_controls')).body;
    expect(velocityControls).toMatchObject([{ identifier }]);
  });
});
