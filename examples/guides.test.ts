// The programs in the guides on login and webhooks, run as their readers run them, in the order in which they stand there.
import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { newPasskey } from '../packages/server/test/hostile/passkey.ts';

const ROOT = new URL('..', import.meta.url);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const collapse = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** The programs of a page by the names under which their readers save them. */
function programsOf(page: string): Map<string, string> {
  const saved = read(page).matchAll(/Save(?: this)? as\s+`([\w-]+\.mjs)`[^`]*```js\n(.*?)```/gs);
  return new Map([...saved].map(([, name, code]) => [name as string, code as string]));
}

/** An OpenID issuer and an OAuth 2.0 provider, for programs that need one. */
class Elsewhere implements AsyncDisposable {
  readonly #server: Server;
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly url: string;
  static readonly verifier = 'a-verifier-of-at-least-forty-three-characters-0123456789';

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<Elsewhere> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const elsewhere = new Elsewhere(server);
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = elsewhere.#answer(new URL(request.url ?? '', elsewhere.url), Buffer.concat(chunks).toString('utf8'));
      response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(body ?? {}));
    });
    return elsewhere;
  }

  #answer({ pathname, searchParams }: URL, body: string): object | undefined {
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return { issuer: this.url, jwks_uri: `${this.url}/keys` };
      case '/keys':
        return { keys: [{ ...this.#key.publicKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'ES256' }] };
      case '/token':
        return { idToken: this.#idToken(searchParams.get('nonce')) };
      case '/oauth2/token': {
        const form = new URLSearchParams(body);
        const isRight = form.get('code') === 'the code' && form.get('code_verifier') === Elsewhere.verifier;
        return isRight ? { token_type: 'bearer', access_token: 'an-access-token', expires_in: 7200 } : undefined;
      }
      case '/oauth2/user':
        return { data: { id: '42', name: 'Dan', username: 'dan' } };
      default:
        return undefined;
    }
  }

  #idToken(nonce: string | null): string {
    const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: this.url, sub: 'dan', aud: 'example-app', nonce, iat, exp: iat + 600 };
    const signed = `${encode({ alg: 'ES256', kid: 'one', typ: 'JWT' })}.${encode(claims)}`;
    const key = { key: this.#key.privateKey, dsaEncoding: 'ieee-p1363' as const };
    return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

let folder: string;
let service: TestServer;
let elsewhere: Elsewhere;

beforeAll(async () => {
  elsewhere = await Elsewhere.start();
  service = await TestServer.start({
    env: {
      CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8',
      CUSTOS_OAUTH2_X_TOKEN_URL: `${elsewhere.url}/oauth2/token`,
      CUSTOS_OAUTH2_X_USER_URL: `${elsewhere.url}/oauth2/user`,
      CUSTOS_MOONPAY_API_URL: elsewhere.url,
    },
  });
  folder = mkdtempSync(join(tmpdir(), 'custos-guides-'));
  mkdirSync(join(folder, 'node_modules/@custos'), { recursive: true });
  symlinkSync(fileURLToPath(new URL('packages/sdk', ROOT)), join(folder, 'node_modules/@custos/sdk'));
  const save = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  for (const guide of [
    'wallets',
    'one-time-codes',
    'oauth',
    'recovery',
    'sessions',
    'sign-up-proxy',
    'webhooks',
    'fiat-on-ramp',
  ]) {
    for (const [name, code] of programsOf(`docs/guides/${guide}.md`)) save(name, code);
  }
  // What the guides say that their readers bring.
  save(
    'issuer.mjs',
    `export const idTokenFor = async (nonce) => (await (await fetch('${elsewhere.url}/token?nonce=' + nonce)).json()).idToken;`,
  );
  save(
    'authorize.mjs',
    `export const [clientId, clientSecret, redirectUri] = ['example-client', 'a secret', 'https://app.example/back'];
    export const authorize = async () => ({ authCode: 'the code', codeVerifier: '${Elsewhere.verifier}' });`,
  );
  save('provider.mjs', `export const [publishableApiKey, secretKey] = ['pk_test_1', 'sk_test_1'];`);
  const { registration } = newPasskey('New device');
  save('passkey.mjs', `export const newPasskey = async () => (${JSON.stringify(registration)});`);
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await elsewhere?.[Symbol.asyncDispose]();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

/** Runs a program of a guide, and answers what it printed. */
async function run(name: string, ...args: string[]): Promise<string> {
  const env = { PATH: process.env.PATH ?? '', CUSTOS_DATA_DIR: service.dataDir };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [name, ...args], { cwd: folder, env });
  expect(stderr).toBe('');
  return stdout.trimEnd();
}

test('one-time codes', async () => {
  expect(await run('otp-login.mjs')).toBe('Ada 15');
  expect(await run('otp-auth.mjs')).toBe('Cleo');
});

test('the sign-up proxy', async () => {
  const configId = await run('enable-proxy.mjs');
  expect(configId).toMatch(UUID);
  const lines = (await run('sign-up.mjs', configId)).split('\n');
  expect(lines.at(-1)).toMatch(/^bea\.\w+@example\.com$/);
  expect(lines.slice(0, -1).join('')).toMatch(/organizationId: '[0-9a-f-]{36}',\s*userId: '[0-9a-f-]{36}'/);
});

test('OpenID and OAuth', async () => {
  expect(await run('oidc-login.mjs')).toBe("Dan [ 'Example' ]");
  expect(await run('oauth2-login.mjs')).toBe('x:42 true');
});

test('fiat on-ramp', async () => {
  expect(await run('on-ramp.mjs')).toBe('buy-sandbox.moonpay.com\nPENDING');
});

test('recovery', async () => {
  expect(await run('recover.mjs')).toBe('1');
});

test('sessions', async () => {
  const [, printed] = /```\n\n```\n(.*?)```/s.exec(read('docs/guides/sessions.md')) ?? [];
  expect(await run('session.mjs')).toBe(printed?.trimEnd());
});

test('webhooks', async () => {
  const receiver = spawn(process.execPath, ['receiver.mjs'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', CUSTOS_DATA_DIR: service.dataDir, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
    const nextLine = async (): Promise<string> => (await lines.next()).value;
    const url = await nextLine();
    const guide = read('docs/guides/webhooks.md');
    const [, told = ''] = /The receiver prints\n\n```\n(.*?)\n```/s.exec(guide) ?? [];
    const [, listed] = /```\n\n```\n(.*?)\n```/s.exec(guide) ?? [];

    const [endpointId = '', answer] = (await run('subscribe.mjs', url)).split('\n');
    expect(answer).toBe('true 200');
    for (const line of told.split('\n')) expect(await nextLine()).toBe(line);
    // A result is written down after the receiver has answered.
    await vi.waitFor(async () => expect(await run('deliveries.mjs', endpointId)).toBe(listed), { timeout: 20_000 });

    const [, inReadme = ''] = [...programsOf('README.md')].find(([name]) => name === 'webhook.mjs') ?? [];
    const theirs = 'http://127.0.0.1:3001/webhooks';
    expect(inReadme).toContain(theirs);
    writeFileSync(join(folder, 'webhook.mjs'), inReadme.replace(theirs, url));
    symlinkSync(service.dataDir, join(folder, 'data'));
    expect(await run('webhook.mjs')).toBe('true 200');
    expect([await nextLine(), await nextLine()].sort()).toEqual([
      'ACTIVITY_UPDATES: ACTIVITY_TYPE_CREATE_WEBHOOK_ENDPOINT ACTIVITY_STATUS_COMPLETED',
      'WEBHOOK_TEST: webhook:test',
    ]);
  } finally {
    receiver.kill();
    await once(receiver, 'exit');
  }
});

test('what the guide on the public packages shows is what their tests run', () => {
  const [, snippet = 'a snippet'] = /```js\n(.*?)```/s.exec(read('docs/guides/public-sdks.md')) ?? [];
  // The page that the test drives, without its type annotations.
  const page = read('compat/login-core-page.ts').replaceAll(/\((await [^()]*\(\))\) as string/g, '$1');
  expect(collapse(page)).toContain(collapse(snippet));
  const [, webhooks = ''] = /\n## Webhooks\n(.*)/s.exec(read('docs/guides/public-sdks.md')) ?? [];
  const run = read('compat/webhooks.test.ts')
    .replaceAll(/\((await [^()]*\(\))\) as \w+/g, '$1')
    .replaceAll(/<object, [^>]*>/g, '');
  const shown = [...webhooks.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code);
  expect(shown).toHaveLength(2);
  for (const code of shown) expect(collapse(run)).toContain(collapse(code));
});

test('links between the guides lead somewhere', () => {
  const guides = readdirSync(new URL('docs/guides/', ROOT)).map((file) => file.replace('.md', ''));
  for (const guide of guides) {
    const links = read(`docs/guides/${guide}.md`).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)/g);
    for (const [, path = '', anchor] of links) {
      const target = new URL(path === '' ? `${guide}.md` : path, new URL('docs/guides/', ROOT));
      const headings = readFileSync(target, 'utf8').matchAll(/^#+ (.*)$/gm);
      const anchors = [...headings].map(([, text = '']) =>
        text
          .toLowerCase()
          .replaceAll(/[^\w -]/g, '')
          .replaceAll(' ', '-'),
      );
      if (anchor !== undefined) expect(anchors, `${guide}.md: ${path}#${anchor}`).toContain(anchor);
    }
  }
});
