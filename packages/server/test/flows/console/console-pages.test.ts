import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../../harness/server.ts';

interface Got {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** Without what `fetch` adds and undoes. */
const get = (base: string, path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> =>
  new Promise((resolve, reject) => {
    const outgoing = request(`${base}${path}`, { method, headers }, (incoming) => {
      const parts: Buffer[] = [];
      incoming.on('data', (part: Buffer) => parts.push(part));
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.concat(parts) }),
      );
    });
    outgoing.on('error', reject).end();
  });

const POLICY =
  /^default-src 'none'; script-src 'self'; style-src 'self' 'nonce-([\w+/=]{24})'; img-src 'self' data: blob:; connect-src 'self'; font-src 'none'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'$/;

describe('the console’s pages', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ env: { CUSTOS_METRICS_PORT: '0', CUSTOS_PROXY_PORT: '0' } });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test.each(['/console', '/console/', '/console/inbox', '/console/activities/01a1?x=1'])(
    '%s is the page, which only its own scripts may run in',
    async (path) => {
      const { status, headers, body } = await get(server.baseUrl, path);
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': expect.stringMatching(POLICY),
        'cache-control': 'no-store',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'permissions-policy': expect.stringContaining('camera=()'),
      });
      expect(headers['access-control-allow-origin']).toBeUndefined();
      const [, nonce] = POLICY.exec(headers['content-security-policy'] as string) as unknown as [string, string];
      const page = body.toString();
      expect(page).toContain(`<meta name="csp-nonce" content="${nonce}">`);
      expect(page).not.toContain('__NONCE__');
      expect(page).not.toMatch(/<script(?![^>]* src="\/console\/assets\/)|<style|style="|https?:/);
    },
  );

  test('no nonce comes twice, and HEAD sends no page', async () => {
    const nonces = await Promise.all(
      ['/console', '/console', '/console/inbox'].map(async (path) => {
        const { headers } = await get(server.baseUrl, path);
        return POLICY.exec(headers['content-security-policy'] as string)?.[1];
      }),
    );
    expect(new Set(nonces).size).toBe(3);
    const head = await get(server.baseUrl, '/console', {}, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-security-policy']).toMatch(POLICY);
  });

  const scriptOf = async (): Promise<string> => {
    const page = (await get(server.baseUrl, '/console')).body.toString();
    return /src="(\/console\/assets\/[^"]+)"/.exec(page)?.[1] as string;
  };

  test('assets come in the form that the browser reads best', async () => {
    const path = await scriptOf();
    const plain = await get(server.baseUrl, path);
    expect(plain.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(plain.headers['content-encoding']).toBeUndefined();
    const brotli = await get(server.baseUrl, path, { 'accept-encoding': 'gzip, deflate, br, zstd' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
    for (const accepted of ['gzip', 'br;q=0, *;q=0.5', 'GZIP;q=0.3']) {
      const zipped = await get(server.baseUrl, path, { 'accept-encoding': accepted });
      expect([accepted, zipped.headers['content-encoding']]).toEqual([accepted, 'gzip']);
      expect(gunzipSync(zipped.body).equals(plain.body)).toBe(true);
    }
    const none = await get(server.baseUrl, path, { 'accept-encoding': 'br;q=0, gzip;q=0' });
    expect(none.headers['content-encoding']).toBeUndefined();
    expect(new Set([plain, brotli].map(({ headers }) => headers.etag)).size).toBe(2);
  });

  test('an asset that the browser has is not sent again', async () => {
    const path = await scriptOf();
    const first = await get(server.baseUrl, path, { 'accept-encoding': 'br' });
    const etag = first.headers.etag as string;
    const again = await get(server.baseUrl, path, { 'accept-encoding': 'br', 'if-none-match': `"x", W/${etag}` });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect((await get(server.baseUrl, path, { 'if-none-match': etag })).status).toBe(200);
    const head = await get(server.baseUrl, path, {}, 'HEAD');
    expect([head.status, head.body.length]).toEqual([200, 0]);
  });

  test.each(['nothing.js', '../index.html', '..%2findex.html', '%2e%2e/package.json', '', 'constructor', '__proto__'])(
    'there is no asset %j, nor a file behind it',
    async (name) => {
      const { status, headers, body } = await get(server.baseUrl, `/console/assets/${name}`);
      expect([status, headers['content-type']]).not.toEqual([200, 'application/json; charset=utf-8']);
      if (status === 200) expect(headers['content-type']).toBe('text/html; charset=utf-8');
      else expect(JSON.parse(body.toString())).toMatchObject({ errorCode: 'PATH_NOT_FOUND' });
    },
  );

  test('source maps and compressed forms are not files of their own', async () => {
    const path = await scriptOf();
    for (const ending of ['.map', '.br', '.gz']) {
      expect((await get(server.baseUrl, `${path}${ending}`)).status).toBe(404);
    }
  });

  test('the page at / leads there', async () => {
    const { headers, body } = await get(server.baseUrl, '/');
    expect(body.toString()).toContain('<a class="open" href="/console">');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri/);
  });

  test('other ports have no console', async () => {
    const proxy = readFileSync(`${server.dataDir}/proxy-address`, 'utf8').trim();
    for (const path of ['/console', '/console/context.json', await scriptOf()]) {
      expect((await get(proxy, path)).status).toBe(404);
    }
  });
});

test('switched off, the console says so, and no link is printed', async () => {
  await using server = await TestServer.start({ env: { CUSTOS_CONSOLE: 'off' } });
  expect(server.output.stdout).not.toContain('console');
  for (const path of ['/console', '/console/inbox', '/console/assets/x.js', '/console/context.json']) {
    const { status, body } = await get(server.baseUrl, path);
    expect(status).toBe(404);
    expect(JSON.parse(body.toString())).toMatchObject({
      errorCode: 'PATH_NOT_FOUND',
      message: expect.stringContaining('CUSTOS_CONSOLE'),
    });
  }
  expect((await get(server.baseUrl, '/')).body.toString()).not.toContain('/console');
});
