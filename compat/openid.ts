// A real OpenID provider on loopback, and a person who logs in on its pages.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, vi } from 'vitest';

export type Algorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA';

export const CLIENT_ID = 'app';
/** Another application of the same provider. */
export const OTHER_CLIENT_ID = 'other-app';
const REDIRECT_URI = 'https://app.example/callback';
const STEPS_MAX = 10;

const sha256 = (text: string) => createHash('sha256').update(text);

/** What binds a token to the key that it is to log in: the hash of the key's text. */
export const nonceOf = (publicKey: string): string => sha256(publicKey).digest('hex');

export class OpenIdProvider implements AsyncDisposable {
  readonly issuer: string;
  /** How often somebody asked for the keys. */
  keyRequests = 0;
  readonly #server: Server;
  #algorithm: Algorithm = 'RS256';
  #handle: RequestListener = (_request, response) => response.writeHead(503).end();

  private constructor(server: Server) {
    this.#server = server;
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(algorithm: Algorithm = 'RS256'): Promise<OpenIdProvider> {
    const server = createServer((request, response) => {
      if (request.url === '/jwks') provider.keyRequests += 1;
      provider.#handle(request, response);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const provider = new OpenIdProvider(server);
    await provider.rotate(algorithm);
    return provider;
  }

  /** Signs with a new key from now on; those before it are no longer published. */
  async rotate(algorithm: Algorithm): Promise<void> {
    this.#algorithm = algorithm;
    // It says that it runs on what it was not made for, and with settings for development.
    using _quiet = vi.spyOn(console, 'warn').mockReturnValue();
    const { Provider } = await import('oidc-provider');
    const provider = new Provider(this.issuer, {
      jwks: { keys: [{ ...newSigningKey(algorithm).export({ format: 'jwk' }), kid: randomUUID(), use: 'sig' }] },
      clients: [CLIENT_ID, OTHER_CLIENT_ID].map((client_id) => ({
        client_id,
        redirect_uris: [REDIRECT_URI],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'none',
        id_token_signed_response_alg: algorithm,
      })),
      enabledJWA: { idTokenSigningAlgValues: [algorithm] },
      cookies: { keys: [randomUUID()] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      conformIdTokenClaims: false,
      findAccount: (_context: unknown, accountId: string) => ({
        accountId,
        claims: () => ({ sub: accountId, email: `${accountId}@example.com`, email_verified: true }),
      }),
      ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    });
    const handle = provider.callback();
    this.#handle = (request, response) => void handle(request, response);
  }

  /** The ID token of somebody who logs in by the authorization code flow, bound to a key by its nonce. */
  async login(subject: string, publicKey: string, clientId = CLIENT_ID): Promise<string> {
    const codeVerifier = randomBytes(32).toString('base64url');
    const browser = new Visitor();
    const query = new URLSearchParams({
      client_id: clientId,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      scope: 'openid email',
      nonce: nonceOf(publicKey),
      code_challenge: sha256(codeVerifier).digest('base64url'),
      code_challenge_method: 'S256',
    });
    let next = await browser.visit(`${this.issuer}/auth?${query}`);
    for (let step = 0; !next.startsWith(REDIRECT_URI); step += 1) {
      if (step === STEPS_MAX) throw new Error(`the login does not come to an end: ${next}`);
      const url = new URL(next, this.issuer).href;
      next = url.includes('/interaction/') ? await browser.answerForm(url, subject) : await browser.visit(url);
    }
    const code = new URL(next).searchParams.get('code') ?? '';
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        redirect_uri: REDIRECT_URI,
        code,
        code_verifier: codeVerifier,
      }),
    });
    const { id_token: token } = (await response.json()) as { id_token: string };
    expect(JSON.parse(Buffer.from(token.split('.')[0] as string, 'base64url').toString())).toMatchObject({
      alg: this.#algorithm,
    });
    return token;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function newSigningKey(algorithm: Algorithm): KeyObject {
  if (algorithm === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  if (algorithm === 'EdDSA') return generateKeyPairSync('ed25519').privateKey;
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
}

/** A browser as far as the provider's pages need one: it keeps cookies and fills in forms. */
class Visitor {
  readonly #cookies = new Map<string, string>();

  /** Where the answer sends the browser next. */
  async visit(url: string, form?: URLSearchParams): Promise<string> {
    const response = await this.#fetch(url, form);
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
    return location;
  }

  async answerForm(url: string, login: string): Promise<string> {
    const page = await (await this.#fetch(url)).text();
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (prompt === undefined) throw new Error(`no form at ${url}: ${page}`);
    return await this.visit(url, new URLSearchParams({ prompt, login, password: 'any' }));
  }

  async #fetch(url: string, body?: URLSearchParams): Promise<Response> {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(body && { method: 'POST', body }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      this.#cookies.set(name, value);
    }
    return response;
  }
}

// The package is written for a newer Node; this is what an older one lacks of it.
URL.parse ??= (url, base) => (URL.canParse(url, base) ? new URL(url, base) : null);
