import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { IdToken } from '../../src/authn/oidc/id-token.ts';
import type { SignUpProxySettings } from '../../src/domains/sign-up-proxy/model.ts';
import { DEFAULT_PROXY_SETTINGS, SignUpProxyReader, SignUpProxyStore } from '../../src/domains/sign-up-proxy/store.ts';
import { linkEmail, linkedEmail } from '../../src/domains/users/social-linking.ts';
import type { OrganizationId } from '../../src/lib/ids.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import type { Issuer } from '../harness/oidc-issuer.ts';
import { COMPLETED, outcome } from './fixtures/access.ts';
import { databaseText, idToken, LOOPBACK, startKnownIssuer } from './fixtures/oauth.ts';

// OAuth identities of users (protocol/login 7.6 and 7.7).

const DONE = [200, COMPLETED];
const INVALID = [400, 'REQUEST_INVALID'];
const EXISTS = [409, 'OAUTH_PROVIDER_ALREADY_EXISTS'];
const V1 = { type: 'ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS' };
const GOOGLE = 'https://accounts.google.com';

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('OAuth providers on %s', (database) => {
  let app: TestApp;
  let parent: TestClient;
  const spent: string[] = [];

  beforeAll(async () => {
    app = await openTestApp(database, { ...LOOPBACK, CUSTOS_LIMIT_OAUTH_PROVIDERS: '4' });
    parent = app.root;
    // Tokens for this client can vouch for claims.
    await parent.run('update_auth_proxy_config', { socialLinkingClientIds: ['app'] });
  });

  afterAll(async () => {
    const { organizationId } = parent;
    const text = await databaseText(app);
    const found = spent.filter((token) => token.split('.').some((part) => text.includes(part)));
    await app[Symbol.asyncDispose]();
    expect(text).toContain(organizationId);
    expect(found).toEqual([]);
  });

  const newSub = () => createSubOrganization(parent, `sub ${randomUUID()}`);
  const byToken = (issuer: Issuer, claims: object = {}) => {
    const oidcToken = idToken(issuer, claims);
    spent.push(oidcToken);
    return { providerName: 'by token', oidcToken };
  };
  const byClaims = (iss: string, sub: string, aud: string) => ({
    providerName: 'by claims',
    oidcClaims: { iss, sub, aud },
  });
  const create = (client: TestClient, oauthProviders: object[], overrides: Record<string, unknown> = {}) =>
    client.submit('create_oauth_providers', { userId: client.userId, oauthProviders }, overrides);
  const idsOf = async (client: TestClient): Promise<string[]> => {
    const { oauthProviders } = (await client.query('get_oauth_providers', { userId: client.userId })).body;
    return oauthProviders.map((provider: { providerId: string }) => provider.providerId);
  };

  test('are added by token, in both versions, and told of the user', async () => {
    const issuer = await startKnownIssuer(parent);
    const sub = await newSub();
    const first = await create(sub, [byToken(issuer)], V1);
    expect(outcome(first)).toEqual(DONE);
    const { createOauthProvidersResult } = first.body.activity.result;
    const second = await create(sub, [byToken(issuer, { aud: ['two'] })]);
    const { createOauthProvidersResultV2 } = second.body.activity.result;
    const ids = [createOauthProvidersResult.providerIds[0], createOauthProvidersResultV2.providerIds[0]];
    const record = (providerId: string, audience: string) => ({
      providerId,
      providerName: 'by token',
      issuer: issuer.url,
      audience,
      subject: 'alice',
      createdAt: expect.anything(),
      updatedAt: expect.anything(),
    });
    const expected = [record(ids[0], 'app'), record(ids[1], 'two')];
    const { userId } = sub;
    expect((await sub.query('get_user', { userId })).body.user.oauthProviders).toEqual(expected);
    expect((await sub.query('get_oauth_providers', { userId })).body.oauthProviders).toEqual(expected);
    // Of the whole organization, in pages; and its parent may read it.
    const page = { paginationOptions: { limit: '1' } };
    expect((await sub.query('get_oauth_providers', page)).body).toMatchObject({
      oauthProviders: [expected[0]],
      pageInfo: { hasNextPage: true },
    });
    const asParent = { organizationId: sub.organizationId };
    expect((await parent.query('get_oauth_providers', asParent)).body.oauthProviders).toEqual(expected);
    expect((await sub.query('get_oauth_providers', { userId: randomUUID() })).status).toBe(404);
    // The token is in the answer to who sent it, and nowhere later.
    const { id, intent } = first.body.activity;
    expect(intent.createOauthProvidersIntent.oauthProviders[0].oidcToken).toMatch(/^ey/);
    const stored = (await sub.query('get_activity', { activityId: id })).body.activity.intent;
    expect(stored.createOauthProvidersIntent.oauthProviders[0].oidcToken).toMatch(/^sha256:/);
  });

  test('claims need proof of the same person, in the request or on the user', async () => {
    const issuer = await startKnownIssuer(parent);
    const sub = await newSub();
    const other = byClaims(issuer.url, 'alice', 'other');
    const elsewhere = await newSub();
    const good = [byClaims(issuer.url, 'carol', 'other'), byToken(issuer, { sub: 'carol' })];
    expect(outcome(await create(elsewhere, good))).toEqual(DONE);
    expect(outcome(await create(sub, [other]))).toEqual(INVALID);
    expect(outcome(await create(sub, [byToken(issuer, { sub: 'bob' }), other]))).toEqual(INVALID);
    expect(outcome(await create(sub, [byToken(issuer), byClaims(`${issuer.url}/`, 'alice', 'other')]))).toEqual(
      INVALID,
    );
    expect(await idsOf(sub)).toEqual([]);
    expect(outcome(await create(sub, [other, byToken(issuer)]))).toEqual(DONE);
    expect(outcome(await create(sub, [byClaims(issuer.url, 'alice', 'third')]))).toEqual(DONE);
    expect(outcome(await create(sub, [byClaims(issuer.url, 'bob', 'third')]))).toEqual(INVALID);
    // What another user of the organization proves is no proof.
    const second = await createUser(sub, 'second');
    expect(outcome(await create(second, [byToken(issuer, { sub: 'second' })]))).toEqual(DONE);
    expect(outcome(await create(second, [byClaims(issuer.url, 'alice', 'mine')]))).toEqual(INVALID);
    expect(outcome(await create(second, [byClaims(issuer.url, 'second', 'mine')]))).toEqual(DONE);
  });

  test('exactly one of token and claims, each as it should be', async () => {
    const issuer = await startKnownIssuer(parent);
    const sub = await newSub();
    const { oidcToken } = byToken(issuer);
    const oidcClaims = { iss: issuer.url, sub: 'alice', aud: 'x' };
    const name = { providerName: 'p' };
    for (const wrong of [
      [],
      [name],
      [{ ...name, oidcToken, oidcClaims }],
      [{ oidcToken }],
      [{ ...name, oidcToken, oidcClaims: { iss: issuer.url, sub: 'alice' } }],
      ...[{ iss: 'x' }, { iss: '' }, { sub: '' }, { aud: '' }, { aud: 'x'.repeat(256) }].map((change) => [
        { ...name, oidcToken },
        { ...name, oidcClaims: { ...oidcClaims, ...change } },
      ]),
      Array.from({ length: 101 }, () => ({ ...name, oidcToken })),
    ]) {
      expect(outcome(await create(sub, wrong)), JSON.stringify(wrong).slice(0, 200)).toEqual(INVALID);
    }
    expect(outcome(await create(sub, [{ ...name, oidcClaims }], V1))).toEqual(INVALID);
    const unusual = idToken(issuer, { sub: 'a\u0000b' });
    for (const text of ['', 'x', 'a.b.c', `${oidcToken}x`, unusual]) {
      const answer = await create(sub, [{ ...name, oidcToken: text }]);
      expect(outcome(answer), text).toEqual([400, 'INVALID_OIDC_TOKEN']);
    }
    expect(
      outcome(
        await create(sub, [
          { ...name, oidcToken },
          { ...name, oidcClaims },
        ]),
      ),
    ).toEqual(DONE);
  });

  test('an identity is one user’s in the whole tree, until it is given up', async () => {
    const issuer = await startKnownIssuer(parent);
    const [sub, sibling] = [await newSub(), await newSub()];
    expect(outcome(await create(sub, [byToken(issuer)]))).toEqual(DONE);
    expect(outcome(await create(sub, [byToken(issuer)]))).toEqual(EXISTS);
    expect(outcome(await create(sibling, [byToken(issuer)]))).toEqual(EXISTS);
    expect(outcome(await create(parent, [byToken(issuer)]))).toEqual(EXISTS);
    const twice = { sub: 'carol', aud: 'one' };
    expect(outcome(await create(sibling, [byToken(issuer, twice), byToken(issuer, twice)]))).toEqual(EXISTS);
    expect(await idsOf(sibling)).toEqual([]);

    const [providerId] = await idsOf(sub);
    const remove = (client: TestClient) =>
      client.submit('delete_oauth_providers', { userId: client.userId, providerIds: [providerId, providerId] });
    expect(outcome(await remove(sibling))).toEqual([404, 'RESOURCE_NOT_FOUND']);
    expect(outcome(await remove(sub))).toEqual(DONE);
    expect(outcome(await create(sibling, [byToken(issuer)]))).toEqual(DONE);

    // With the user it goes, too.
    const oauthProviders = [byToken(issuer, { sub: 'dave' })];
    const person = await createUser(sub, 'person', { apiKeys: [], oauthProviders });
    expect(outcome(await create(sibling, [byToken(issuer, { sub: 'dave' })]))).toEqual(EXISTS);
    await sub.run('delete_users', { userIds: [person.userId] });
    expect(outcome(await create(sibling, [byToken(issuer, { sub: 'dave' })]))).toEqual(DONE);
  });

  test('of parallel requests for one identity, one gets it', async () => {
    const issuer = await startKnownIssuer(parent);
    const subs = await Promise.all([newSub(), newSub(), newSub()]);
    const answers = await Promise.all(subs.map((sub) => create(sub, [byToken(issuer)])));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  });

  test('are a user’s own business, and others’ by policy', async () => {
    const issuer = await startKnownIssuer(parent);
    const sub = await newSub();
    const plain = await createUser(sub, 'plain');
    expect(outcome(await create(plain, [byToken(issuer)]))).toEqual(DONE);
    const forRoot = { userId: sub.userId, oauthProviders: [byToken(issuer, { sub: 'bob' })] };
    expect(outcome(await plain.submit('create_oauth_providers', forRoot))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    expect(outcome(await sub.submit('create_oauth_providers', forRoot))).toEqual(DONE);
    const [providerId] = await idsOf(sub);
    const removal = { userId: sub.userId, providerIds: [providerId] };
    expect(outcome(await plain.submit('delete_oauth_providers', removal))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
    // A parent reads, and does not write.
    const inSub = { organizationId: sub.organizationId };
    const byParent = { userId: sub.userId, oauthProviders: [byToken(issuer, { sub: 'eve' })] };
    expect(outcome(await parent.submit('create_oauth_providers', byParent, inSub))).toEqual([
      400,
      'ORGANIZATION_MISMATCH',
    ]);
  });

  test('as many as the operator lets a user have', async () => {
    const issuer = await startKnownIssuer(parent);
    const sub = await newSub();
    const some = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => byToken(issuer, { aud: `client ${from + index}` }));
    expect(outcome(await create(sub, some(0, 3)))).toEqual(DONE);
    expect(outcome(await create(sub, some(3, 5)))).toEqual([429, 'RESOURCE_LIMIT_EXCEEDED']);
    expect(outcome(await create(sub, some(3, 4)))).toEqual(DONE);
  });

  describe('a Google sign-in', () => {
    const TRUSTED = `client-${randomUUID()}`;
    const token = (change: Partial<IdToken> = {}): IdToken => ({
      issuer: GOOGLE,
      subject: 'g',
      audience: TRUSTED,
      nonce: undefined,
      email: 'Person@example.com',
      emailVerified: true,
      issuedAtMs: undefined,
      expiresAtMs: Date.now() + 60_000,
      tokenId: 't',
      ...change,
    });
    /** The proxy configuration of a parent, as its operations write it. */
    const proxy = (settings: Partial<SignUpProxySettings>, enabled = true) => ({
      id: randomUUID(),
      organizationId: parent.organizationId as OrganizationId,
      enabled,
      identity: undefined,
      settings: { ...DEFAULT_PROXY_SETTINGS, ...settings },
      createdAtMs: 1,
      updatedAtMs: 1,
    });

    test('proves its email to clients that the proxy names, and no other token does', () => {
      const trusting = proxy({ socialLinkingClientIds: [TRUSTED] });
      expect(linkedEmail(trusting, token())).toBe('Person@example.com');
      expect(linkedEmail(trusting, token({ audience: 'another client' }))).toBeUndefined();
      expect(linkedEmail(trusting, token({ issuer: 'https://issuer.example' }))).toBeUndefined();
      expect(linkedEmail(trusting, token({ emailVerified: false }))).toBeUndefined();
      expect(linkedEmail(trusting, token({ email: undefined }))).toBeUndefined();
      // The Kelvin sign is a k to whoever compares without regard to case.
      expect(linkedEmail(trusting, token({ email: 'bac\u212a@example.com' }))).toBeUndefined();
      expect(linkedEmail(proxy({ socialLinkingClientIds: [TRUSTED] }, false), token())).toBeUndefined();
      expect(linkedEmail(proxy({}), token())).toBeUndefined();
      expect(linkedEmail(undefined, token())).toBeUndefined();
    });

    test('marks the email of the user who has it', async () => {
      const rootId = parent.organizationId as OrganizationId;
      const { storage } = app.app;
      const config = await storage.read(SignUpProxyReader).ofOrganization(rootId);
      if (config === undefined) throw new Error('the first organization has no sign-up proxy');
      const { settings } = proxy({ socialLinkingClientIds: [TRUSTED] });
      await storage.write((store) => store(SignUpProxyStore).update({ ...config, enabled: true, settings }));
      const contacts = { userEmail: 'person@example.com' };
      const [sub, sibling] = [await newSub(), await newSub()];
      const person = await createUser(sub, 'person', contacts);
      const twin = await createUser(sibling, 'twin', contacts);
      const found = async () =>
        (await parent.query('list_verified_suborgs', { filterType: 'EMAIL', filterValue: 'person@example.com' })).body
          .organizationIds;
      const link = (who: TestClient, idOf: IdToken) =>
        storage.write((store) => {
          const organizationId = who.organizationId as OrganizationId;
          return linkEmail({ store, nowMs: Date.now() }, { organizationId, rootId }, who.userId, idOf);
        });
      // Of a client that is not named here: anybody can have one.
      await link(person, token({ audience: 'another client' }));
      await link(person, token({ email: 'else@example.com' }));
      await link(person, token({ emailVerified: false }));
      await link(sub, token());
      expect(await found()).toEqual([]);
      await link(person, token());
      expect(await found()).toEqual([sub.organizationId]);
      // The first who proves it has it.
      await link(twin, token());
      expect(await found()).toEqual([sub.organizationId]);
    });
  });
});
