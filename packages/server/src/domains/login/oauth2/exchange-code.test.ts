import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { type CodeExchange, exchangeCode } from './exchange-code.ts';
import { DEFAULT_ENDPOINTS, type OAuth2Provider } from './providers.ts';

const REDIRECT_URI = 'https://app.test/callback?from=provider';
const CLIENT_ID = 'client:id 1';
const SECRET = 'shh/+ &=%:ü';
const PROVIDERS = ['OAUTH2_PROVIDER_X', 'OAUTH2_PROVIDER_DISCORD'] as const;
const SUBJECTS = { OAUTH2_PROVIDER_X: 'x:2244994945', OAUTH2_PROVIDER_DISCORD: 'discord:80351110224678912' };

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

/** A provider as the two document themselves: codes are used once, and PKCE is checked. */
class Provider {
  readonly codes = new Map<string, string>();
  readonly accessToken = randomBytes(24).toString('base64url');
  token: Behaviour | undefined;
  user: Behaviour | undefined;
  readonly name: OAuth2Provider;
  url = '';

  private constructor(name: OAuth2Provider) {
    this.name = name;
  }

  static async start(name: OAuth2Provider): Promise<Provider> {
    const provider = new Provider(name);
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => provider.#answer(request, Buffer.concat(chunks).toString(), response));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    provider.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return provider;
  }

  /** What the provider's page does when a user agrees. */
  authorize(challenge: string): string {
    const code = randomBytes(16).toString('base64url');
    this.codes.set(code, challenge);
    return code;
  }

  #answer(request: IncomingMessage, body: string, response: ServerResponse): void {
    response.setHeader('content-type', 'application/json');
    if (request.method === 'POST' && request.url === '/token') {
      if (this.token !== undefined) this.token(request, response);
      else this.#answerToken(request, new URLSearchParams(body), response);
    } else if (request.method === 'GET' && request.url === '/user') {
      if (this.user !== undefined) this.user(request, response);
      else this.#answerUser(request, response);
    } else response.writeHead(404).end();
  }

  #answerToken(request: IncomingMessage, form: URLSearchParams, response: ServerResponse): void {
    const refuse = (status: number, error: string) =>
      response.writeHead(status).end(JSON.stringify({ error, error_description: `not ${form.get('code')}` }));
    const [scheme, pair = ''] = (request.headers.authorization ?? '').split(' ');
    const decoded = Buffer.from(pair, 'base64').toString().split(':');
    const [id, secret] = decoded.map((part) => new URLSearchParams(`v=${part}`).get('v'));
    if (scheme !== 'Basic' || decoded.length !== 2 || id !== CLIENT_ID || secret !== SECRET) {
      return void refuse(401, 'invalid_client');
    }
    if (request.headers['content-type'] !== 'application/x-www-form-urlencoded')
      return void refuse(400, 'invalid_request');
    if (form.get('grant_type') !== 'authorization_code') return void refuse(400, 'unsupported_grant_type');
    const code = form.get('code') ?? '';
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isGood = this.codes.get(code) === challenge && form.get('redirect_uri') === REDIRECT_URI;
    this.codes.delete(code);
    if (!isGood) return void refuse(400, 'invalid_grant');
    const answer =
      this.name === 'OAUTH2_PROVIDER_X'
        ? { token_type: 'bearer', expires_in: 7200, scope: 'users.read tweet.read' }
        : { token_type: 'Bearer', expires_in: 604_800, refresh_token: 'r', scope: 'identify email' };
    response.end(JSON.stringify({ ...answer, access_token: this.accessToken }));
  }

  #answerUser(request: IncomingMessage, response: ServerResponse): void {
    if (request.headers.authorization !== `Bearer ${this.accessToken}`) {
      response.writeHead(401).end(JSON.stringify({ message: '401: Unauthorized', code: 0 }));
    } else if (this.name === 'OAUTH2_PROVIDER_X') {
      response.end(JSON.stringify({ data: { id: '2244994945', name: 'A', username: 'a' } }));
    } else response.end(JSON.stringify({ id: '80351110224678912', username: 'a', email: 'a@b.test', verified: true }));
  }
}

async function begin(name: OAuth2Provider): Promise<{ provider: Provider; exchange: CodeExchange }> {
  const provider = await Provider.start(name);
  const codeVerifier = randomBytes(32).toString('base64url');
  const authCode = provider.authorize(createHash('sha256').update(codeVerifier).digest('base64url'));
  const exchange = {
    provider: name,
    endpoints: { tokenUrl: `${provider.url}/token`, userUrl: `${provider.url}/user` },
    clientId: CLIENT_ID,
    clientSecret: Buffer.from(SECRET),
    authCode,
    redirectUri: REDIRECT_URI,
    codeVerifier,
  };
  return { provider, exchange };
}

/** The error of an exchange, after a look for everything that no error may hold. */
async function failure(provider: Provider, exchange: CodeExchange): Promise<unknown> {
  const error = await exchangeCode(exchange).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  const basic = Buffer.from(`${CLIENT_ID}:${SECRET}`).toString('base64');
  const text = inspect(error, { depth: 10, showHidden: true });
  for (const secret of [SECRET, basic, exchange.authCode, exchange.codeVerifier, provider.accessToken]) {
    expect(text).not.toContain(secret);
  }
  return error;
}

const failed = (message: string) =>
  expect.objectContaining({ code: 'OAUTH2_EXCHANGE_FAILED', httpStatus: 400, message });
const unavailable = (message: string) => expect.objectContaining({ code: 'UNAVAILABLE', message });

describe.each(PROVIDERS)('%s', (name) => {
  const label = name === 'OAUTH2_PROVIDER_X' ? 'X' : 'Discord';

  test('a code is exchanged for a token and its user', async () => {
    const { provider, exchange } = await begin(name);
    expect(await exchangeCode(exchange)).toEqual({ accessToken: provider.accessToken, subject: SUBJECTS[name] });
  });

  test('a code is good once', async () => {
    const { provider, exchange } = await begin(name);
    await exchangeCode(exchange);
    expect(await failure(provider, exchange)).toEqual(failed(`${label} refused the authorization code: invalid_grant`));
  });

  test.each([
    ['another verifier', { codeVerifier: 'x'.repeat(43) }, 'invalid_grant'],
    ['another redirection', { redirectUri: 'https://evil.test/' }, 'invalid_grant'],
    ['another code', { authCode: 'stolen-code' }, 'invalid_grant'],
    ['another client', { clientId: 'other' }, 'invalid_client'],
    ['another secret', { clientSecret: Buffer.from('wrong-secret') }, 'invalid_client'],
  ])('%s is refused with the code of the provider', async (_what, change, code) => {
    const { provider, exchange } = await begin(name);
    const error = await failure(provider, { ...exchange, ...change });
    expect(error).toEqual(failed(`${label} refused the authorization code: ${code}`));
    expect(inspect(error)).not.toMatch(/stolen-code|wrong-secret/);
  });
});

describe('what a provider may answer', () => {
  const json =
    (status: number, body: unknown, headers = {}): Behaviour =>
    (_request, response) => {
      response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
    };

  test.each<[string, Behaviour, unknown]>([
    ['an error without a code', json(400, {}), failed('X refused the authorization code: HTTP status 400')],
    [
      'an error of many words',
      json(400, { error: 'not today' }),
      failed('X refused the authorization code: HTTP status 400'),
    ],
    [
      'a very long code',
      json(400, { error: 'a'.repeat(65) }),
      failed('X refused the authorization code: HTTP status 400'),
    ],
    [
      'an error that is no text',
      json(403, { error: { a: 1 } }),
      failed('X refused the authorization code: HTTP status 403'),
    ],
    ['an error that is no JSON', json(403, '<html>'), failed('X refused the authorization code: HTTP status 403')],
    [
      'no JSON',
      json(200, 'access_token=a'),
      failed('X answered the authorization code with something that is not JSON'),
    ],
    ['no token', json(200, { token_type: 'bearer' }), failed('X answered without an access token')],
    ['a token that is no text', json(200, { access_token: 7 }), failed('X answered without an access token')],
    ['a token of two lines', json(200, { access_token: 'a\r\nb: c' }), failed('X answered without an access token')],
    [
      'a token of another kind',
      json(200, { access_token: 'a', token_type: 'mac' }),
      failed('X answered with a token that is not a bearer token'),
    ],
    ['too many requests', json(429, {}), unavailable('X is not available (HTTP status 429)')],
    ['its own error', json(503, {}), unavailable('X is not available (HTTP status 503)')],
    ['a redirection', json(302, '', { location: '/user' }), unavailable('X is not available (HTTP status 302)')],
    ['a huge body', json(200, { filler: 'a'.repeat(64 * 1024) }), unavailable('X cannot be reached')],
    ['nothing', (request) => request.socket.destroy(), unavailable('X cannot be reached')],
  ])('to a code: %s', async (_what, behaviour, expected) => {
    const { provider, exchange } = await begin('OAUTH2_PROVIDER_X');
    provider.token = behaviour;
    expect(await failure(provider, exchange)).toEqual(expected);
    provider.token = undefined;
    expect(await exchangeCode(exchange)).toMatchObject({ subject: SUBJECTS.OAUTH2_PROVIDER_X });
  });

  test.each<[string, Behaviour, unknown]>([
    ['a body without data', json(200, { errors: [{ title: 'Forbidden' }] }), failed('X did not say who the user is')],
    ['data that is none', json(200, { data: null }), failed('X did not say who the user is')],
    ['an id that is a number', json(200, { data: { id: 2244994945 } }), failed('X did not say who the user is')],
    ['an id that is a path', json(200, { data: { id: '../1' } }), failed('X did not say who the user is')],
    ['an empty id', json(200, { data: { id: '' } }), failed('X did not say who the user is')],
    ['a refusal', json(403, { title: 'Forbidden' }), failed('X refused the request for the user: HTTP status 403')],
    ['its own error', json(500, {}), unavailable('X is not available (HTTP status 500)')],
  ])('to the question for the user: %s', async (_what, behaviour, expected) => {
    const { provider, exchange } = await begin('OAUTH2_PROVIDER_X');
    provider.user = behaviour;
    expect(await failure(provider, exchange)).toEqual(expected);
  });

  test('a provider that repeats a secret as its error code is not quoted', async () => {
    const { provider, exchange } = await begin('OAUTH2_PROVIDER_DISCORD');
    const clientSecret = Buffer.from('plain_secret');
    for (const secret of ['plain_secret', 'no_plain_secret_here', exchange.authCode, exchange.codeVerifier]) {
      provider.token = json(400, { error: secret });
      const error = await failure(provider, { ...exchange, clientSecret });
      expect(error).toEqual(failed('Discord refused the authorization code: HTTP status 400'));
    }
  });

  test('a slow provider is not waited for', async () => {
    const { provider, exchange } = await begin('OAUTH2_PROVIDER_X');
    provider.token = () => {};
    expect(await failure(provider, { ...exchange, timeoutMs: 30 })).toEqual(unavailable('X cannot be reached'));
  });

  test('a setting that is no URL is an outage, not a crash', async () => {
    const { provider, exchange } = await begin('OAUTH2_PROVIDER_X');
    for (const tokenUrl of ['', 'provider.test', 'ftp://provider.test/', 'file:///etc/passwd']) {
      const endpoints = { ...exchange.endpoints, tokenUrl };
      expect(await failure(provider, { ...exchange, endpoints })).toEqual(unavailable('X cannot be reached'));
    }
  });
});

test('the usual endpoints are https', () => {
  const urls = Object.values(DEFAULT_ENDPOINTS).flatMap(({ tokenUrl, userUrl }) => [tokenUrl, userUrl]);
  expect(urls.map((url) => new URL(url).protocol)).toEqual(Array(4).fill('https:'));
});
