import { request } from 'node:http';
import { connect, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { invitationCalls } from '../../src/domains/organizations/invitations/calls.ts';
import { FEED_PATH } from '../../src/engine/feed/open-feed.ts';
import { VERSION } from '../../src/lib/version.ts';
import { WIRE_PROXY_CALLS, WIRE_QUERIES, WIRE_SUBMITS } from '../../src/reference/wire-operations.ts';
import { operations, pathOf } from '../../src/registry.ts';
import { openTestApp } from '../harness/app.ts';
import { type Answer, createUser, newKeyPair, send, stampFor, TestClient } from '../harness/client.ts';
import { TestServer } from '../harness/server.ts';

const KIB = 1024;

/** The documented error body, whoever made it. */
function expectErrorBody(body: Answer['body'], errorCode: string, code: number): void {
  expect(Object.keys(body).sort()).toEqual(['code', 'details', 'errorCode', 'message', 'turnkeyErrorCode']);
  expect(body).toMatchObject({ code, errorCode, turnkeyErrorCode: errorCode, message: expect.any(String) });
  expect(body.message).not.toBe('');
  expect(body.details.slice(0, 2)).toEqual([
    { '@type': 'type.googleapis.com/errors.v1.ServiceErrorDetail', errorCode, turnkeyErrorCode: errorCode },
    { '@type': 'type.googleapis.com/errors.v1.TurnkeyErrorDetail', turnkeyErrorCode: errorCode },
  ]);
}

async function expectError(
  response: Response,
  status: number,
  errorCode: string,
  code: number,
): Promise<Answer['body']> {
  const text = await response.text();
  expect(response.status, text).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const body = JSON.parse(text);
  expectErrorBody(body, errorCode, code);
  return body;
}

/** Writes bytes to a socket and reads until the server closes it. */
async function raw(baseUrl: string, text: string): Promise<{ status: number; headers: string; body: string }> {
  const { hostname, port } = new URL(baseUrl);
  const received = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.end(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (data: string) => {
      answer += data;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
  const [headers = '', body = ''] = received.split('\r\n\r\n', 2);
  return { status: Number(headers.split(' ')[1]), headers, body };
}

async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

describe('the HTTP face', () => {
  let server: TestServer;
  let root: TestClient;

  beforeAll(async () => {
    server = await TestServer.start();
    root = TestClient.root(server.credentials, server.baseUrl);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const get = (path: string, init?: RequestInit) => fetch(`${server.baseUrl}${path}`, init);
  const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
    get(path, {
      method: 'POST',
      body: body as RequestInit['body'] & {},
      headers: { 'content-type': 'application/json', ...headers },
    });
  const whoamiBody = () => JSON.stringify({ organizationId: root.organizationId });
  const stamped = (body: string | Uint8Array) => ({ 'x-stamp': stampFor(Buffer.from(body), root.key) });
  const WHOAMI = '/public/v1/query/whoami';

  describe('CORS', () => {
    test.each([WHOAMI, '/public/v1/submit/create_users', '/public/anything', '/v1/signup_v2'])(
      'a browser may call %s from anywhere',
      async (path) => {
        const preflight = await get(path, {
          method: 'OPTIONS',
          headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
        });
        expect(preflight.status).toBe(204);
        expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
        expect(preflight.headers.get('access-control-allow-credentials')).toBeNull();
        const methods = preflight.headers.get('access-control-allow-methods')?.split(', ');
        expect(methods).toEqual(expect.arrayContaining(['GET', 'POST', 'OPTIONS']));
        const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
        for (const header of [
          'content-type',
          'accept',
          'x-stamp',
          'x-stamp-webauthn',
          'x-stamp-attested',
          'x-session',
          'x-client-version',
          'x-auth-proxy-config-id',
          'x-captcha-token',
        ]) {
          expect(allowed).toContain(header);
        }
      },
    );

    test('answers and refusals under the open paths carry the header', async () => {
      const ok = await post(WHOAMI, whoamiBody(), stamped(whoamiBody()));
      expect([ok.status, ok.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
      for (const response of [
        await post(WHOAMI, whoamiBody()),
        await post('/public/v1/query/nothing', '{}'),
        await post('/v1/signup_v2', '{}'),
        await get(WHOAMI),
        await post(WHOAMI, Buffer.alloc(64 * KIB + 1)),
        await post(WHOAMI, '{}', { 'content-type': 'text/plain' }),
      ]) {
        expect(response.ok).toBe(false);
        expect(response.headers.get('access-control-allow-origin')).toBe('*');
      }
    });

    test.each(['/', '/healthz', '/readyz', '/metrics', '/openapi.json', '/nothing', '/publicity', '/v11/x'])(
      'nothing is opened at %s',
      async (path) => {
        const response = await get(path, { headers: { origin: 'https://app.example' } });
        expect(response.headers.get('access-control-allow-origin')).toBeNull();
        const preflight = await get(path, {
          method: 'OPTIONS',
          headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
        });
        expect(preflight.headers.get('access-control-allow-origin')).toBeNull();
      },
    );
  });

  describe('refusals are JSON of one shape', () => {
    test.each([
      '/nothing',
      '/public',
      '/public/v1/query/nothing',
      '/public/v1/submit/nothing',
      '/public/v2/query/whoami',
      '/v1/nothing',
      `${WHOAMI}/`,
      '/public/v1/query/WHOAMI',
    ])('POST %s is not there', async (path) => {
      await expectError(await post(path, '{}'), 404, 'PATH_NOT_FOUND', 5);
    });

    test('GET of what is not there', async () => {
      await expectError(await get('/nothing'), 404, 'PATH_NOT_FOUND', 5);
      await expectError(await get('/public/v1/query/nothing'), 404, 'PATH_NOT_FOUND', 5);
    });

    test.each(['GET', 'PUT', 'DELETE', 'PATCH'])('%s on an operation', async (method) => {
      for (const path of [WHOAMI, '/public/v1/submit/create_users']) {
        await expectError(await get(path, { method }), 405, 'METHOD_NOT_ALLOWED', 3);
      }
    });

    test('a body of 64 KiB is read, one byte more is not', async () => {
      const filler = (size: number) => {
        const body = `{"organizationId":"${root.organizationId}","x":""}`;
        return body.replace('""', `"${'x'.repeat(size - body.length)}"`);
      };
      const largest = filler(64 * KIB);
      expect(largest).toHaveLength(64 * KIB);
      expect((await post(WHOAMI, largest, stamped(largest))).status).toBe(200);
      const tooLarge = filler(64 * KIB + 1);
      await expectError(await post(WHOAMI, tooLarge, stamped(tooLarge)), 413, 'BODY_TOO_LARGE', 3);
    });

    test('another media type or a compressed body', async () => {
      const body = whoamiBody();
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/jsonp',
        'multipart/form-data; boundary=x',
      ]) {
        const response = await post(WHOAMI, body, { ...stamped(body), 'content-type': type });
        await expectError(response, 415, 'UNSUPPORTED_MEDIA_TYPE', 3);
      }
      const packed = gzipSync(body);
      const compressed = await post(WHOAMI, packed, { ...stamped(packed), 'content-encoding': 'gzip' });
      await expectError(compressed, 415, 'UNSUPPORTED_MEDIA_TYPE', 3);
      for (const type of [
        'application/json',
        'application/json; charset=utf-8',
        'APPLICATION/JSON',
        'application/json;charset=UTF-8',
      ]) {
        expect((await post(WHOAMI, body, { ...stamped(body), 'content-type': type })).status, type).toBe(200);
      }
    });

    test('headers that are too large', async () => {
      const { status, headers, body } = await raw(
        server.baseUrl,
        `POST ${WHOAMI} HTTP/1.1\r\nhost: x\r\nx-stamp: ${'a'.repeat(17 * 1024)}\r\n\r\n`,
      );
      expect(status).toBe(431);
      expect(headers.toLowerCase()).toContain('content-type: application/json');
      expectErrorBody(JSON.parse(body), 'HEADER_TOO_LARGE', 3);
      // One stamp may have 8 KiB.
      const response = await post(WHOAMI, whoamiBody(), { 'x-stamp': 'a'.repeat(8193) });
      await expectError(response, 431, 'HEADER_TOO_LARGE', 3);
    });

    test.each([
      ['with a query', (path: string) => `${path}?x=1`],
      ['absolute, as proxies send it', (path: string) => `http://custos.example${path}`],
      ['spelled with escapes', (path: string) => path.replace('whoami', '%77hoami')],
      ['with a fragment', (path: string) => `${path}#x`],
    ])('a path %s leads to its operation', async (_how, spelled) => {
      const body = whoamiBody();
      const { hostname, port } = new URL(server.baseUrl);
      const status = await new Promise((resolve, reject) => {
        const asked = request({ hostname, port, method: 'POST', path: spelled(WHOAMI), headers: stamped(body) });
        asked.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject);
        asked.end(body);
      });
      expect(status).toBe(200);
    });

    test('what is not HTTP, and a path that cannot be decoded', async () => {
      const garbage = await raw(server.baseUrl, 'this is not HTTP\r\n\r\n');
      expect(garbage.status).toBe(400);
      expectErrorBody(JSON.parse(garbage.body), 'REQUEST_INVALID', 3);
      const badPath = await raw(
        server.baseUrl,
        'POST /public/v1/query/%zz HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}',
      );
      expect(badPath.status).toBe(400);
      expectErrorBody(JSON.parse(badPath.body), 'REQUEST_INVALID', 3);
    });

    test.each([
      ['nothing', ''],
      ['no JSON', '{'],
      ['a list', '[]'],
      ['a byte-order mark', '\ufeff{}'],
      ['a key twice', '{"organizationId":"a","organizationId":"b"}'],
      ['a lone surrogate', '{"x":"\\ud800"}'],
      ['too deep', `${'['.repeat(40)}${']'.repeat(40)}`],
      ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ])('a body that is %s', async (_what, body) => {
      const response = await post(WHOAMI, body, stamped(body));
      await expectError(response, 400, 'REQUEST_INVALID', 3);
    });

    test('a few codes of the operations', async () => {
      const check = ({ body }: Answer, errorCode: string, code: number) => expectErrorBody(body, errorCode, code);
      check(await root.query('get_user', { userId: 'x' }), 'REQUEST_INVALID', 3);
      check(await root.query('get_user', { userId: root.organizationId }), 'RESOURCE_NOT_FOUND', 5);
      check(await root.query('whoami', { organizationId: root.userId }), 'ORGANIZATION_NOT_FOUND', 5);
      check(await root.as(newKeyPair()).query('whoami'), 'PUBLIC_KEY_NOT_FOUND', 16);
      const plain = await createUser(root, 'plain');
      check(await plain.submit('delete_users', { userIds: [root.userId] }), 'REQUEST_NOT_AUTHORIZED', 7);
      const tag = () => root.submit('create_user_tag', { userTagName: 'twice', userIds: [] });
      await tag();
      check(await tag(), 'ALREADY_EXISTS', 6);
      check(await root.submit('update_root_quorum', { threshold: 0, userIds: [root.userId] }), 'INVALID_QUORUM', 3);
    });

    test('field violations name the field and say what is wrong', async () => {
      const { body } = await root.submit('create_users', {
        users: [{ userName: '', apiKeys: 'none', authenticators: [], oauthProviders: [] }],
      });
      const { fieldViolations } = body.details.find((entry: { '@type': string }) =>
        entry['@type'].endsWith('google.rpc.BadRequest'),
      );
      const fields = fieldViolations.map((violation: { field: string }) => violation.field);
      expect(fields).toEqual(
        expect.arrayContaining([
          'parameters.users.0.userName',
          'parameters.users.0.apiKeys',
          'parameters.users.0.userTags',
        ]),
      );
      for (const violation of fieldViolations) expect(violation.description).not.toBe('');
    });
  });

  describe('what is not served yet', () => {
    const served = new Set(operations.map(pathOf));
    const unserved = [
      ...WIRE_QUERIES.map((name) => [name, `/public/v1/query/${name}`]),
      ...WIRE_SUBMITS.map((name) => [name, `/public/v1/submit/${name}`]),
    ].filter(([, path]) => !served.has(path as string)) as [string, string][];
    const isBootProof = (name: string) => name.endsWith('boot_proof');

    test('every known operation of the wire protocol answers 501 with its name', async () => {
      expect(unserved.length).toBeGreaterThan(20);
      for (const [name, path] of unserved.filter(([known]) => !isBootProof(known))) {
        const body = await expectError(await post(path, '{}'), 501, 'UNIMPLEMENTED', 12);
        expect(body.message).toContain(name);
      }
    });

    test('boot proofs: this deployment is not attested', async () => {
      for (const [name, path] of unserved.filter(([known]) => isBootProof(known))) {
        const response = await post(path, '{}');
        expect(response.status, name).toBe(404);
      }
    });
  });

  describe('health and metrics', () => {
    test('/healthz says alive to everybody', async () => {
      for (const headers of [{}, { 'x-forwarded-for': '203.0.113.9' }] as Record<string, string>[]) {
        const response = await get('/healthz', { headers });
        expect([response.status, await response.json()]).toEqual([200, { status: 'alive', version: VERSION }]);
      }
    });

    test('/readyz says ready to everybody and why to this machine', async () => {
      const near = await get('/readyz');
      expect([near.status, await near.json()]).toEqual([
        200,
        {
          status: 'ready',
          checks: { database: true, migrations: true, keyring: true },
          integrity: { required: true, violations: 0 },
          fence: { up: false },
        },
      ]);
      const far = await get('/readyz', { headers: { forwarded: 'for=203.0.113.9' } });
      expect([far.status, await far.json()]).toEqual([200, { status: 'ready' }]);
    });

    test('/metrics is for this machine only', async () => {
      await root.query('whoami');
      const response = await get('/metrics');
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
      const text = await response.text();
      expect(text).toMatch(/^custos_requests_total\{operation="whoami",code="OK"\} \d+$/m);
      expect(text).toContain('custos_request_seconds_bucket');
      for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via', 'x-forwarded-host']) {
        await expectError(await get('/metrics', { headers: { [header]: '203.0.113.9' } }), 404, 'PATH_NOT_FOUND', 5);
      }
    });

    test('metrics count outcomes by operation and code, and hold no ids', async () => {
      await root.submit('create_user_tag', { userTagName: 'metrics', userIds: [] });
      await root.submit('create_user_tag', { userTagName: 'metrics', userIds: [] });
      const text = await (await get('/metrics')).text();
      expect(text).toMatch(/custos_requests_total\{operation="create_user_tag",code="ALREADY_EXISTS"\} [1-9]/);
      expect(text).toMatch(
        /custos_activities_total\{operation="create_user_tag",status="ACTIVITY_STATUS_COMPLETED"\} [1-9]/,
      );
      expect(text).not.toContain(root.organizationId);
      expect(text).not.toContain(root.userId);
    });
  });

  test('/openapi.json holds exactly the registered paths', async () => {
    const response = await get('/openapi.json');
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    const document = (await response.json()) as Answer['body'];
    expect(document.openapi).toMatch(/^3\.1\./);
    const paths = [
      FEED_PATH,
      ...operations.map(pathOf),
      ...invitationCalls.map(({ path }) => path),
      ...WIRE_PROXY_CALLS.map((name) => `/v1/${name}`),
    ];
    const posted = Object.keys(document.paths).filter((path) => document.paths[path].post !== undefined);
    expect(posted.sort()).toEqual(paths.sort());
    for (const name of WIRE_PROXY_CALLS) {
      const { post: described } = document.paths[`/v1/${name}`];
      expect(described.operationId).toBe(`proxy_${name}`);
      expect(described.security).toEqual([{ authProxyConfig: [] }]);
    }
    for (const operation of operations) {
      const { post: described } = document.paths[pathOf(operation)];
      expect(described.operationId).toBe(operation.name);
      expect(described.requestBody.content['application/json'].schema).toBeTypeOf('object');
      expect(described['x-custos-addition'] ?? false).toBe(operation.ours);
      if (operation.kind === 'activity') {
        expect(described['x-activity-types']).toEqual(
          operation.versions.map(({ type, intentKey, resultKey }) => ({ type, intentKey, resultKey })),
        );
      }
    }
    // Every reference leads somewhere.
    const references = JSON.stringify(document).match(/#\/components\/[a-zA-Z]+\/[A-Za-z0-9]+/g) ?? [];
    expect(references.length).toBeGreaterThan(0);
    for (const reference of new Set(references)) {
      const [, , kind, name] = reference.split('/') as [string, string, string, string];
      expect(document.components[kind], reference).toHaveProperty(name);
    }
    // Hints of our own decoder stay inside.
    expect(JSON.stringify(document.components)).not.toMatch(/"x-(trim|lower|decimal|message)"/);
    expect(JSON.stringify(document.paths)).not.toMatch(/"x-(trim|lower|decimal|message)"/);
  });

  test('/ says what this is and where to go', async () => {
    const response = await get('/');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const page = await response.text();
    expect(page).toContain('Custos');
    expect(page).toContain('/openapi.json');
    expect(page).not.toContain(root.organizationId);
    for (const [, link] of page.matchAll(/href="([^"]+)"/g)) expect((await get(link as string)).status).toBe(200);
  });

  test('extra query strings and headers change nothing', async () => {
    const body = whoamiBody();
    const response = await post(`${WHOAMI}?x=1`, body, {
      ...stamped(body),
      'x-client-version': '@turnkey/http@1',
      accept: 'text/html',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });
});

describe('vendor names off', () => {
  test('no answer holds the vendor’s names', async () => {
    await using server = await TestServer.start({ env: { CUSTOS_VENDOR_NAMES: 'off' } });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const second = await createUser(root, 'second');
    const post = (path: string, body = '{}') =>
      fetch(`${server.baseUrl}${path}`, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    const texts = [
      JSON.stringify((await root.query('get_user', { userId: 'x' })).body),
      JSON.stringify((await second.submit('delete_users', { userIds: [root.userId] })).body),
      JSON.stringify((await root.as(newKeyPair()).query('whoami')).body),
      await (await post('/nothing')).text(),
      await (await post('/public/v1/submit/sign_transaction')).text(),
      await (await fetch(`${server.baseUrl}/public/v1/query/whoami`)).text(),
      (await raw(server.baseUrl, 'garbage\r\n\r\n')).body,
      await (await fetch(`${server.baseUrl}/`)).text(),
    ];
    for (const text of texts) expect(text.toLowerCase()).not.toContain('turnkey');
    expect(JSON.parse(texts[0] as string)).toMatchObject({
      code: 3,
      errorCode: 'REQUEST_INVALID',
      details: [{ '@type': 'type.googleapis.com/errors.v1.ServiceErrorDetail', errorCode: 'REQUEST_INVALID' }, {}],
    });
    // Also not in the failure of an activity.
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    const pending = await root.submit('delete_users', { userIds: [root.organizationId] });
    const failed = await second.submit('approve_activity', { fingerprint: pending.body.activity.fingerprint });
    expect(failed.body.activity.failure.details).toEqual([
      { '@type': 'type.googleapis.com/errors.v1.ServiceErrorDetail', errorCode: 'RESOURCE_NOT_FOUND' },
    ]);
  });
});

describe('the metrics port', () => {
  test('answers metrics and readiness, also to those who come through a proxy, and no operation', async () => {
    const port = await freePort();
    await using server = await TestServer.start({ env: { CUSTOS_METRICS_PORT: String(port) } });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const metricsUrl = `http://127.0.0.1:${port}`;
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    const metrics = await fetch(`${metricsUrl}/metrics`, { headers });
    expect(metrics.status).toBe(200);
    expect(await metrics.text()).toContain('custos_request');
    const ready = await fetch(`${metricsUrl}/readyz`, { headers });
    expect(await ready.json()).toEqual({
      status: 'ready',
      checks: { database: true, migrations: true, keyring: true },
      integrity: { required: true, violations: 0 },
      fence: { up: false },
    });
    const body = JSON.stringify({ organizationId: root.organizationId });
    const answer = await send(metricsUrl, '/public/v1/query/whoami', body, {
      'x-stamp': stampFor(Buffer.from(body), root.key),
    });
    expect(answer.status).toBe(404);
    expect((await fetch(`${server.baseUrl}/metrics`, { headers })).status).toBe(404);
  });
});

describe('a stop', () => {
  test('a request whose headers were still on the way is told to come again, in the documented shape', async () => {
    await using app = await openTestApp('sqlite');
    const { hostname, port } = new URL(app.baseUrl);
    const socket = connect(Number(port), hostname);
    let received = '';
    const closed = new Promise<string>((resolve, reject) => {
      socket.setEncoding('utf8').on('data', (data: string) => {
        received += data;
      });
      socket.once('error', reject);
      socket.once('close', () => resolve(received));
    });
    await new Promise<void>((resolve) =>
      socket.write('POST /public/v1/query/whoami HTTP/1.1\r\nhost: x\r\n', () => resolve()),
    );
    // A whole exchange on another connection, so that the half request has been read before the stop.
    await (await fetch(`${app.baseUrl}/healthz`)).text();
    const stopped = app.server.close();
    socket.write('content-length: 2\r\n\r\n{}');
    const [head = '', body = ''] = (await closed).split('\r\n\r\n', 2);
    await stopped;
    expect(head).toMatch(/^HTTP\/1\.1 503 /);
    expect(head.toLowerCase()).toContain('retry-after: 1');
    expectErrorBody(JSON.parse(body), 'UNAVAILABLE', 14);
  });
});
