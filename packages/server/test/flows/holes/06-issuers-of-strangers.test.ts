import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SignUpProxyReader } from '../../../src/domains/sign-up-proxy/store.ts';
import { Receiver } from '../../harness/bundles.ts';
import { currentType, type KeyPair, newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { ec, Issuer, toJwk } from '../../harness/oidc-issuer.ts';
import { COMPLETED, outcome } from '../fixtures/access.ts';
import { boundTo, idToken, LOOPBACK, rootUser, signUpParams } from '../fixtures/oauth.ts';
import { keyParams, LISTS, newEmail, ProxyWorld, refusal } from '../fixtures/proxy.ts';

// A token names its issuer, and anybody can write a token: who is no user of the parent must not choose which addresses
// the service calls. Each attack stands beside the same request about an issuer that the tree knows.

const DONE = [200, COMPLETED];
const INVALID_TOKEN = [400, 'INVALID_OIDC_TOKEN'];
const NOT_FOUND = [404, 'RESOURCE_NOT_FOUND'];
const UNASKED = { discovery: 0, keys: 0 };

const provider = (oidcToken: string) => ({ providerName: 'issuer', oidcToken });

describe.each(databasesOf(import.meta.url))('issuers that strangers name on %s', (database) => {
  let world: ProxyWorld;
  let root: TestClient;
  /** One that the configuration names, and one of an attacker, at an address that the operator lets us reach. */
  let known: Issuer;
  let evil: Issuer;

  beforeAll(async () => {
    world = await ProxyWorld.open(database, LOOPBACK);
    root = world.root;
  });
  afterAll(() => world[Symbol.asyncDispose]());
  beforeEach(async () => {
    [known, evil] = [await Issuer.start(toJwk(ec)), await Issuer.start(toJwk(ec))];
    await world.configure({ oidcIssuers: [known.url] });
  });

  const tokenOf = (issuer: Issuer, key: KeyPair, claims: object = {}) =>
    idToken(issuer, { sub: randomUUID(), ...boundTo(key.publicKey), ...claims });

  /** A user who signed up through the proxy, with an identity of the known issuer and a key. */
  const person = async () => {
    const [key, sub] = [newKeyPair(), randomUUID()];
    const oauthProviders = [provider(tokenOf(known, key, { sub }))];
    const { organizationId, userId } = await world.proxy.signUp({ apiKeys: [keyParams(key)], oauthProviders });
    return { sub, user: world.client(organizationId, key, userId) };
  };

  test('account looks for nobody, and calls nobody', async () => {
    const key = newKeyPair();
    const email = newEmail();
    const forged = idToken(evil, { email, email_verified: true, ...boundTo(key.publicKey) });
    const lookUps = [
      () => world.proxy.account('OIDC_TOKEN', forged),
      () => world.proxy.account('EMAIL', email, { oidcToken: forged }),
      () => world.proxy.account('USERNAME', email, { oidcToken: forged }),
    ];
    for (const lookUp of lookUps) {
      const answer = await lookUp();
      expect([answer.status, answer.body]).toEqual([200, {}]);
    }
    expect(evil.asked).toEqual(UNASKED);
    // The same about an issuer that it knows, and about a user.
    const { sub, user } = await person();
    const found = await world.proxy.account('OIDC_TOKEN', tokenOf(known, key, { sub }));
    expect(found.body).toEqual({ organizationId: user.organizationId });
    const proven = { oidcToken: idToken(known, { email, email_verified: true }) };
    expect(refusal(await world.proxy.account('EMAIL', email, proven))).toEqual(INVALID_TOKEN);
    expect(known.asked.keys).toBe(1);
  });

  test('sign-up and login through the proxy', async () => {
    const key = newKeyPair();
    const signUp = (issuer: Issuer, at = world.proxy) =>
      at.call('signup_v2', { ...LISTS, oauthProviders: [provider(tokenOf(issuer, key))] });
    expect((await signUp(known)).status).toBe(200);
    const refused = await signUp(evil);
    expect(refusal(refused)).toEqual(INVALID_TOKEN);
    expect(refused.body.message).toContain('oidcIssuers');
    const { organizationId } = (await person()).user;
    const login = (place: object) =>
      world.proxy.call('oauth_login', { oidcToken: tokenOf(evil, key), publicKey: key.publicKey, ...place });
    expect(refusal(await login({}))).toEqual(NOT_FOUND);
    expect(refusal(await login({ organizationId }))).toEqual(NOT_FOUND);
    expect(evil.asked).toEqual(UNASKED);
    // What one parent names is nothing to another.
    const theirs = await world.anotherParent();
    expect(refusal(await signUp(known, theirs.proxy))).toEqual(INVALID_TOKEN);
    await theirs.root.run('update_auth_proxy_config', { oidcIssuers: [evil.url] });
    expect((await signUp(evil, theirs.proxy)).status).toBe(200);
    expect(refusal(await signUp(evil))).toEqual(INVALID_TOKEN);
  });

  test('an issuer that an identity of the tree names is known', async () => {
    const key = newKeyPair();
    const signUp = async () => {
      const oauthProviders = [provider(tokenOf(evil, key))];
      return (await world.proxy.call('signup_v2', { ...LISTS, oauthProviders })).status;
    };
    expect(await signUp()).toBe(400);
    // The issuer whose name begins alike is another.
    const user = { oauthProviders: [provider(tokenOf(evil, key, { iss: `${evil.url}/` }))] };
    evil.instead['/.well-known/openid-configuration'] = (_request, response) =>
      response.end(JSON.stringify({ issuer: `${evil.url}/`, jwks_uri: `${evil.url}/keys` }));
    expect(outcome(await root.submit('create_sub_organization', signUpParams(user)))).toEqual(DONE);
    expect(await signUp()).toBe(400);
    evil.instead = {};
    // The parent's own user signs the first one up.
    const first = { oauthProviders: [provider(tokenOf(evil, key))] };
    expect(outcome(await root.submit('create_sub_organization', signUpParams(first)))).toEqual(DONE);
    expect(await signUp()).toBe(200);
  });

  test('users of sub-organizations', async () => {
    const { sub, user } = await person();
    const { userId } = user;
    const target = new Receiver();
    const key = newKeyPair();
    const asks: Record<string, (issuer: Issuer, sub: string) => Promise<unknown[]>> = {
      oauth_login: async (issuer, subject) => {
        const oidcToken = tokenOf(issuer, key, { sub: subject });
        return outcome(await user.submit('oauth_login', { oidcToken, publicKey: key.publicKey }));
      },
      oauth: async (issuer, subject) => {
        const oidcToken = idToken(issuer, { sub: subject, ...boundTo(target.publicKey) });
        return outcome(await user.submit('oauth', { oidcToken, targetPublicKey: target.publicKey }));
      },
      simulate_activity: async (issuer, subject) => {
        const oidcToken = tokenOf(issuer, key, { sub: subject });
        const parameters = { oidcToken, publicKey: key.publicKey };
        const request = { type: currentType('oauth_login'), parameters };
        const { status, body } = await user.query('simulate_activity', { request });
        return [status, body.errorCode ?? body.simulation.status];
      },
    };
    for (const [name, ask] of Object.entries(asks)) {
      expect(await ask(known, sub), name).toEqual(DONE);
      expect(await ask(evil, sub), name).toEqual(NOT_FOUND);
    }
    const list = async (issuer: Issuer) => {
      const filterValue = tokenOf(issuer, key, { sub });
      const { status, body } = await user.query('list_suborgs', { filterType: 'OIDC_TOKEN', filterValue });
      return [status, body.organizationIds];
    };
    expect(await list(known)).toEqual([200, []]);
    expect(await list(evil)).toEqual([200, []]);
    const add = async (issuer: Issuer) =>
      await user.submit('create_oauth_providers', { userId, oauthProviders: [provider(tokenOf(issuer, user.key))] });
    expect(outcome(await add(known))).toEqual(DONE);
    const refused = await add(evil);
    expect(outcome(refused)).toEqual(INVALID_TOKEN);
    expect(refused.body.message).toContain('oidcIssuers');
    const users = [
      { ...rootUser({ userName: 'second', oauthProviders: [provider(tokenOf(evil, key))] }), userTags: [] },
    ];
    expect(outcome(await user.submit('create_users', { users }))).toEqual(INVALID_TOKEN);
    expect(evil.asked).toEqual(UNASKED);
  });

  test('users of the parent name any, its sign-up proxy does not', async () => {
    await person();
    const key = newKeyPair();
    const list = (client: TestClient) =>
      client.query('list_suborgs', { filterType: 'OIDC_TOKEN', filterValue: tokenOf(evil, key) });
    const config = await world.app.storage.read(SignUpProxyReader).ofOrganization(root.organizationId as never);
    const own = newKeyPair();
    const { userId } = config!.identity!;
    await root.run('create_api_keys', { userId, apiKeys: [keyParams(own)] });
    expect((await list(root.as(own, userId))).body.organizationIds).toEqual([]);
    expect(evil.asked).toEqual(UNASKED);
    expect((await list(root)).body.organizationIds).toEqual([]);
    expect(evil.asked).toEqual({ discovery: 1, keys: 1 });
    // Having been asked for a user of the parent, it is not known to others.
    const signUp = { ...LISTS, oauthProviders: [provider(tokenOf(evil, key))] };
    expect(refusal(await world.proxy.call('signup_v2', signUp))).toEqual(INVALID_TOKEN);
  });

  test('no error tells what an issuer answered', async () => {
    const instead: Record<string, Issuer['instead'][string]> = {
      'a status': (_request, response) => response.writeHead(418).end('teapot'),
      'no JSON': (_request, response) => response.end('teapot'),
      'another document': (_request, response) => response.end(JSON.stringify({ issuer: 'teapot' })),
      nothing: (request) => request.socket.destroy(),
    };
    const messages = new Set<string>();
    const ask = async (iss: string) => {
      const filterValue = idToken(evil, { iss });
      const { status, body } = await root.query('list_suborgs', { filterType: 'OIDC_TOKEN', filterValue });
      expect([status, body.errorCode]).toEqual(INVALID_TOKEN);
      messages.add(JSON.stringify(body));
    };
    for (const answer of Object.values(instead)) {
      const issuer = await Issuer.start(toJwk(ec));
      issuer.instead['/.well-known/openid-configuration'] = answer;
      await ask(issuer.url);
      const keys = await Issuer.start(toJwk(ec));
      keys.instead['/keys'] = answer;
      await ask(keys.url);
    }
    await ask('http://127.0.0.1:1');
    await ask('http://10.255.255.1');
    await ask('https://nobody.invalid');
    expect([...messages]).toHaveLength(1);
    expect([...messages][0]).not.toMatch(/teapot|418|ECONN|ENOTFOUND/);
  });

  test('the list is checked, kept and told', async () => {
    const change = (oidcIssuers: unknown) => root.submit('update_auth_proxy_config', { oidcIssuers });
    const read = async () => (await root.query('get_auth_proxy_config')).body.authProxyConfig.oidcIssuers;
    const good = ['https://login.example', 'https://login.example/realms/one', known.url];
    expect(outcome(await change(good))).toEqual(DONE);
    expect(await read()).toEqual(good);
    for (const wrong of [
      ['login.example'],
      ['https://login.example?x=1'],
      ['https://login.example#x'],
      ['ftp://login.example'],
      ['https://'],
      ['https://a b'],
      [''],
      ['https://login.example', 'https://login.example'],
      [`https://login.example/${'x'.repeat(512)}`],
      Array.from({ length: 101 }, (_, index) => `https://login${index}.example`),
      'https://login.example',
    ]) {
      expect(outcome(await change(wrong)), JSON.stringify(wrong)).toEqual([400, 'REQUEST_INVALID']);
    }
    expect(await read()).toEqual(good);
    expect(outcome(await change([]))).toEqual(DONE);
    expect(await read()).toEqual([]);
  });
});
