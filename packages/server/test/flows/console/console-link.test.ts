import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { firstLink } from '../../../src/console/first-run.ts';
import { deleteCredentials, readCredentials, writeCredentials } from '../../../src/credentials-file.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { type Answer, createUser, type KeyPair, newKeyPair, send, stampFor, TestClient } from '../../harness/client.ts';
import { TestServer } from '../../harness/server.ts';

const MINUTES = 60_000;

const hostOf = (base: string): string => new URL(base).host;

/** What a browser sends from the console's own page. */
const fromPage = (base: string): Record<string, string> => ({
  origin: base,
  host: hostOf(base),
  'sec-fetch-site': 'same-origin',
});

const redeem = (
  base: string,
  token: string,
  publicKey: string = newKeyPair().publicKey,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  send(base, '/console/link', JSON.stringify({ token, publicKey }), { ...fromPage(base), ...headers });

const stamped = (client: TestClient, path: string, body: object, headers: Record<string, string> = {}) => {
  const bytes = Buffer.from(JSON.stringify({ organizationId: client.organizationId, ...body }));
  return send(client.baseUrl, path, bytes, { 'x-stamp': stampFor(bytes, client.key), ...headers });
};

let lastMs = 0;
/** Never twice, so that no two requests are the same bytes. */
const freshMs = (): string => {
  lastMs = Math.max(Date.now(), lastMs + 1);
  return String(lastMs);
};

const askForLink = (client: TestClient, headers: Record<string, string> = {}, body: object = {}): Promise<Answer> =>
  stamped(client, '/console/new-link', { type: 'CONSOLE_NEW_LINK', timestampMs: freshMs(), ...body }, headers);

const forget = (client: TestClient, headers: Record<string, string> = fromPage(client.baseUrl), body: object = {}) =>
  stamped(
    client,
    '/console/forget-credentials-file',
    { type: 'CONSOLE_FORGET_CREDENTIALS_FILE', timestampMs: String(Date.now()), ...body },
    headers,
  );

const tokenIn = (text: string): string => /#link=([\w-]+)/.exec(text)?.[1] ?? '';

describe('a service that was just started', () => {
  let server: TestServer;
  let root: TestClient;
  beforeAll(async () => {
    server = await TestServer.start();
    root = TestClient.root(server.credentials, server.baseUrl);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('prints a link that signs in once', async () => {
    const [, url = ''] = /^ {2}console {7}(\S+)$/m.exec(server.output.stdout) ?? [];
    expect(url).toMatch(new RegExp(`^http://localhost:${new URL(server.baseUrl).port}/console#link=[\\w-]{43}$`));
    const base = `http://localhost:${new URL(server.baseUrl).port}`;
    const key = newKeyPair();
    const answer = await redeem(server.baseUrl, tokenIn(url), key.publicKey, { ...fromPage(base) });
    expect(answer).toMatchObject({
      status: 200,
      body: { organizationId: root.organizationId, userId: root.userId, session: expect.stringMatching(/^ey/) },
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    const who = await root.as(key).query('whoami');
    expect(who.body).toMatchObject({ userId: root.userId, organizationId: root.organizationId });
    const login = (await root.query('list_activities', { filterByType: ['ACTIVITY_TYPE_STAMP_LOGIN'] })).body
      .activities;
    expect(login).toMatchObject([{ status: 'ACTIVITY_STATUS_COMPLETED', votes: [{ publicKey: root.key.publicKey }] }]);
    expect(await redeem(server.baseUrl, tokenIn(url))).toMatchObject({ status: 401, body: { errorCode: 'LINK_USED' } });
    expect(server.output.stderr).not.toContain(tokenIn(url));
  });

  test('gives the key of the file new links, and nobody else', async () => {
    const { status, body } = await askForLink(root);
    expect(status).toBe(200);
    expect(await redeem(server.baseUrl, tokenIn(body.url))).toMatchObject({ status: 200 });
    const { key, userId } = await createUser(root, 'Grace');
    expect(await askForLink(root.as(key, userId))).toMatchObject({
      status: 403,
      body: { errorCode: 'REQUEST_NOT_AUTHORIZED' },
    });
    expect(await askForLink(root.as(newKeyPair()))).toMatchObject({
      status: 401,
      body: { errorCode: 'PUBLIC_KEY_NOT_FOUND' },
    });
    const unstamped = await send(
      server.baseUrl,
      '/console/new-link',
      JSON.stringify({
        type: 'CONSOLE_NEW_LINK',
        organizationId: root.organizationId,
        timestampMs: String(Date.now()),
      }),
    );
    expect(unstamped).toMatchObject({ status: 401, body: { errorCode: 'SIGNATURE_MISSING' } });
  });

  test('takes the bytes of a request for a link once, while they are fresh, and for nothing else', async () => {
    const timestampMs = freshMs();
    expect((await askForLink(root, {}, { timestampMs })).status).toBe(200);
    expect(await askForLink(root, {}, { timestampMs })).toMatchObject({
      status: 400,
      body: { errorCode: 'REQUEST_INVALID', message: expect.stringContaining('before') },
    });
    for (const off of [-6 * MINUTES, 6 * MINUTES]) {
      expect(await askForLink(root, {}, { timestampMs: String(Date.now() + off) })).toMatchObject({ status: 400 });
    }
    // A stamped query must not become a link, nor the other way round.
    expect(await stamped(root, '/console/new-link', {})).toMatchObject({ status: 400 });
    expect(await askForLink(root, {}, { type: 'ACTIVITY_TYPE_STAMP_LOGIN' })).toMatchObject({ status: 400 });
    expect(
      await stamped(root, '/public/v1/query/whoami', { type: 'CONSOLE_NEW_LINK', timestampMs: String(Date.now()) }),
    ).toMatchObject({ status: 400 });
  });

  test.each([
    ['a wrong token', { token: 'A'.repeat(43) }, 401, 'LINK_INVALID'],
    ['no token', { token: undefined }, 400, 'REQUEST_INVALID'],
    ['a long token', { token: 'A'.repeat(65) }, 400, 'REQUEST_INVALID'],
    ['a key that is none', { publicKey: `02${'f'.repeat(64)}` }, 400, 'INVALID_PUBLIC_KEY'],
  ])('refuses %s', async (_name, fields, status, errorCode) => {
    const token = tokenIn((await askForLink(root)).body.url);
    const body = JSON.stringify({ token, publicKey: newKeyPair().publicKey, ...fields });
    const answer = await send(server.baseUrl, '/console/link', body, fromPage(server.baseUrl));
    expect(answer).toMatchObject({ status, body: { errorCode } });
    // The link that was not used is still good.
    expect((await redeem(server.baseUrl, token)).status).toBe(200);
  });

  const elsewhere: [string, Record<string, string>][] = [
    ['a proxy', { 'x-forwarded-for': '127.0.0.1' }],
    ['another proxy', { forwarded: 'for=127.0.0.1' }],
    ['a name that points here', { host: 'rebound.example:8080', origin: 'http://rebound.example:8080' }],
    ['another origin', { origin: 'https://evil.example' }],
    ['another port', { origin: 'http://127.0.0.1:1' }],
    ['a page without an origin', { origin: 'null' }],
    ['another site', { 'sec-fetch-site': 'same-site' }],
  ];
  test.each(elsewhere)('refuses a link that comes through %s, and leaves it good', async (_name, headers) => {
    const token = tokenIn((await askForLink(root)).body.url);
    const answer = await redeem(server.baseUrl, token, undefined, headers);
    expect(answer).toMatchObject({ status: 403, body: { errorCode: 'REQUEST_NOT_AUTHORIZED' } });
    expect((await forget(root, { ...fromPage(server.baseUrl), ...headers })).status).toBe(403);
    expect((await redeem(server.baseUrl, token)).status).toBe(200);
  });

  test('no page asks for a link, nor through a proxy', async () => {
    const asks: Record<string, string>[] = [
      fromPage(server.baseUrl),
      { 'sec-fetch-site': 'none' },
      { 'x-real-ip': '127.0.0.1' },
      { host: 'rebound.example' },
    ];
    for (const headers of asks) expect(await askForLink(root, headers)).toMatchObject({ status: 403 });
  });

  test('one of many who redeem a link at once gets in', async () => {
    const token = tokenIn((await askForLink(root)).body.url);
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeem(server.baseUrl, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(401)]);
  });

  test('tells what it is before sign-in, ids to this machine alone', async () => {
    const context = async (headers: Record<string, string> = {}) => {
      return await new Promise<Record<string, unknown>>((resolve, reject) => {
        request(`${server.baseUrl}/console/context.json`, { headers }, (incoming) => {
          let text = '';
          incoming.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          incoming.on('end', () => resolve(JSON.parse(text)));
        })
          .on('error', reject)
          .end();
      });
    };
    expect(await context()).toEqual({
      version: expect.any(String),
      isLoopback: true,
      now: expect.stringMatching(/^\d{4}-/),
      firstOrganizationId: root.organizationId,
      credentialsFile: { publicKey: root.key.publicKey },
    });
    for (const headers of [{ host: 'rebound.example' }, { via: '1.1 x' }]) {
      expect(Object.keys(await context(headers))).toEqual(['version', 'isLoopback', 'now']);
    }
  });
});

describe('the credentials file', () => {
  test('is deleted by a root user once its key is gone, and not before', async () => {
    await using server = await TestServer.start();
    const root = TestClient.root(server.credentials, server.baseUrl);
    const path = join(server.dataDir, 'root-credentials.json');
    const session = newKeyPair();
    expect((await redeem(server.baseUrl, tokenIn(server.output.stdout), session.publicKey)).status).toBe(200);
    const browser = root.as(session, root.userId);
    expect(await forget(browser)).toMatchObject({ status: 400, body: { errorCode: 'CREDENTIALS_IN_USE' } });
    const other = await createUser(root, 'Grace');
    expect(await forget(root.as(other.key))).toMatchObject({ status: 403 });

    const lasting = newKeyPair();
    const added = await root.submit('create_api_keys', {
      userId: root.userId,
      apiKeys: [{ apiKeyName: 'kept', publicKey: lasting.publicKey, curveType: 'API_KEY_CURVE_P256' }],
    });
    expect(added.body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    const keys = (await browser.query('get_api_keys', { userId: root.userId })).body.apiKeys;
    const { apiKeyId } = keys.find(
      (key: { credential: { publicKey: string } }) => key.credential.publicKey === root.key.publicKey,
    );
    const deleted = await browser.submit('delete_api_keys', { userId: root.userId, apiKeyIds: [apiKeyId] });
    expect(deleted.body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');

    // The key of the file is gone: no link signs in with it, whatever the file says.
    expect(await askForLink(root)).toMatchObject({ status: 401, body: { errorCode: 'PUBLIC_KEY_NOT_FOUND' } });
    expect(existsSync(path)).toBe(true);
    expect(await forget(browser, fromPage(server.baseUrl), { timestampMs: '1' })).toMatchObject({ status: 400 });
    expect(await forget(root.as(other.key))).toMatchObject({ status: 403 });
    expect(await forget(browser)).toMatchObject({ status: 200, body: { deleted: true } });
    expect(existsSync(path)).toBe(false);
    expect(await forget(browser)).toMatchObject({ status: 200, body: { deleted: false } });
    expect(server.output.stderr).toContain('root-credentials.json deleted');
  });

  test('is neither read nor deleted where a link stands in its place', async () => {
    await using server = await TestServer.start();
    const root = TestClient.root(server.credentials, server.baseUrl);
    const path = join(server.dataDir, 'root-credentials.json');
    const target = join(server.dataDir, 'elsewhere.json');
    const { url } = (await askForLink(root)).body;
    renameSync(path, target);
    symlinkSync(target, path);
    expect(await redeem(server.baseUrl, tokenIn(url))).toMatchObject({
      status: 404,
      body: { errorCode: 'RESOURCE_NOT_FOUND' },
    });
    expect(await askForLink(root)).toMatchObject({ status: 404 });
    expect(await forget(root)).toMatchObject({
      status: 403,
      body: { errorCode: 'REQUEST_NOT_AUTHORIZED', message: expect.stringContaining('is a link') },
    });
    expect([existsSync(path), existsSync(target)]).toEqual([true, true]);
    // Whatever is deleted in the end, it is the name and not what it points to.
    deleteCredentials(server.dataDir);
    expect([existsSync(path), existsSync(target)]).toEqual([false, true]);
    mkdirSync(path);
    expect(readCredentials(server.dataDir)).toBeUndefined();
    expect(await forget(root)).toMatchObject({ status: 403 });
  });

  test('is what a link signs in with: without it, and after its key was deleted, the link does not', async () => {
    await using server = await TestServer.start();
    const root = TestClient.root(server.credentials, server.baseUrl);
    const path = join(server.dataDir, 'root-credentials.json');
    const kept = readFileSync(path, 'utf8');
    const [first, second] = await Promise.all([askForLink(root), askForLink(root)]);
    rmSync(path);
    expect(await redeem(server.baseUrl, tokenIn(first.body.url))).toMatchObject({
      status: 404,
      body: { errorCode: 'RESOURCE_NOT_FOUND', message: expect.stringContaining('root-credentials.json') },
    });
    expect(await askForLink(root)).toMatchObject({ status: 404 });
    writeFileSync(path, kept, { mode: 0o600 });
    const lasting = newKeyPair();
    await root.submit('create_api_keys', {
      userId: root.userId,
      apiKeys: [{ apiKeyName: 'kept', publicKey: lasting.publicKey, curveType: 'API_KEY_CURVE_P256' }],
    });
    const keys = (await root.query('get_api_keys', { userId: root.userId })).body.apiKeys;
    const old = keys.find(
      (key: { credential: { publicKey: string } }) => key.credential.publicKey === root.key.publicKey,
    );
    await root.as(lasting).submit('delete_api_keys', { userId: root.userId, apiKeyIds: [old.apiKeyId] });
    expect(await redeem(server.baseUrl, tokenIn(second.body.url))).toMatchObject({
      status: 401,
      body: { errorCode: 'PUBLIC_KEY_NOT_FOUND' },
    });
  });
});

test.each([
  ['PostgreSQL', { database: 'postgres' as const, env: {} }, 'PostgreSQL'],
  ['an address that others reach', { env: { CUSTOS_HOST: '0.0.0.0' } }, '0.0.0.0'],
])('no link with %s', async (_name, options, reason) => {
  await using server = await TestServer.start(options);
  expect(server.output.stdout).toContain('root-credentials.json');
  expect(server.output.stdout).not.toContain('#link=');
  const root = TestClient.root(server.credentials, server.baseUrl);
  const answer = await askForLink(root);
  expect(answer).toMatchObject({ status: 404, body: { message: expect.stringContaining(reason) } });
  expect(await redeem(server.baseUrl, 'A'.repeat(43))).toMatchObject({ status: 404 });
});

describe('in time', () => {
  let test_: TestApp;
  let pair: KeyPair;
  beforeAll(async () => {
    test_ = await openTestApp('sqlite');
    const { root, app } = test_;
    pair = root.key;
    writeCredentials(app.config.dataDir, {
      baseUrl: root.baseUrl,
      authProxyUrl: root.baseUrl,
      organizationId: root.organizationId,
      userId: root.userId,
      apiPublicKey: pair.publicKey,
      apiPrivateKey: pair.privateKey,
      authProxyConfigId: root.organizationId,
    });
  });
  afterAll(() => test_[Symbol.asyncDispose]());

  test('a link signs in for ten minutes, however the clock is set', async () => {
    const { app, baseUrl, advance, setClock } = test_;
    const links = Array.from({ length: 2 }, () => tokenIn(firstLink(app, 1) ?? ''));
    advance(10 * MINUTES - 1000);
    setClock(-60 * MINUTES);
    expect(await redeem(baseUrl, links[0] ?? '')).toMatchObject({ status: 200 });
    setClock(0);
    advance(1000);
    expect(await redeem(baseUrl, links[1] ?? '')).toMatchObject({ status: 401, body: { errorCode: 'LINK_EXPIRED' } });
  });

  test('a link gets past no rule: addresses that may not call may not sign in', async () => {
    const { app, baseUrl, root } = test_;
    const token = tokenIn(firstLink(app, 1) ?? '');
    await root.run('set_ip_allowlist', { enabled: true, rules: [], allowLockout: true });
    expect(await redeem(baseUrl, token)).toMatchObject({ status: 403, body: { errorCode: 'IP_NOT_ALLOWED' } });
  });

  test('guesses count as failed authentications', async () => {
    await using strict = await openTestApp('sqlite', { CUSTOS_FAILED_AUTH_PER_MINUTE: '3' });
    const statuses: number[] = [];
    for (let guess = 0; guess < 5; guess += 1) {
      statuses.push((await redeem(strict.baseUrl, `${guess}`.repeat(43))).status);
    }
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });
});
