// The two OAuth 2.0 providers as far as their documents describe what a server sees of them, with PKCE checked.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type ProviderName = 'x' | 'discord';

interface Client {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A code, as it was given to somebody who agreed. */
interface Consent {
  readonly provider: ProviderName;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly userId: string;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

const TOKEN_PATHS: Readonly<Record<string, ProviderName>> = { '/x/token': 'x', '/discord/token': 'discord' };
const USER_PATHS: Readonly<Record<string, ProviderName>> = { '/x/users/me': 'x', '/discord/users/@me': 'discord' };

export class SocialProviders implements AsyncDisposable {
  readonly client: Client = { clientId: 'client-1', clientSecret: randomBytes(24).toString('base64url') };
  /** Access tokens that were handed out, newest last. */
  readonly accessTokens: string[] = [];
  readonly #server: Server;
  readonly #consents = new Map<string, Consent>();
  readonly #holders = new Map<string, { readonly provider: ProviderName; readonly userId: string }>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<SocialProviders> {
    const server = createServer((request, response) => void providers.#answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const providers = new SocialProviders(server);
    return providers;
  }

  /** Settings of a service that is to find the providers here. */
  get settings(): Record<string, string> {
    const base = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return {
      CUSTOS_OAUTH2_X_TOKEN_URL: `${base}/x/token`,
      CUSTOS_OAUTH2_X_USER_URL: `${base}/x/users/me`,
      CUSTOS_OAUTH2_DISCORD_TOKEN_URL: `${base}/discord/token`,
      CUSTOS_OAUTH2_DISCORD_USER_URL: `${base}/discord/users/@me`,
    };
  }

  /** Somebody agrees on the provider's page; the application gets the code at its redirect address. */
  consent(provider: ProviderName, userId: string): { authCode: string; redirectUri: string; codeVerifier: string } {
    const [authCode, codeVerifier] = [randomUUID(), randomBytes(32).toString('base64url')];
    const redirectUri = 'https://app.example/callback';
    const codeChallenge = challengeOf(codeVerifier);
    const { clientId } = this.client;
    this.#consents.set(authCode, { provider, clientId, redirectUri, codeChallenge, userId });
    return { authCode, redirectUri, codeVerifier };
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = this.#route(request, await text(request));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #route({ method, url = '', headers }: IncomingMessage, body: string): Reply {
    const [tokens, users] = [TOKEN_PATHS[url], USER_PATHS[url]];
    if (tokens !== undefined && method === 'POST') {
      if (headers['content-type'] !== 'application/x-www-form-urlencoded') return refuse(400, 'invalid_request');
      return this.#exchange(tokens, headers.authorization, new URLSearchParams(body));
    }
    if (users !== undefined && method === 'GET') return this.#tellUser(users, headers.authorization);
    return { status: 404, body: {} };
  }

  #exchange(provider: ProviderName, authorization: string | undefined, form: URLSearchParams): Reply {
    const { clientId, clientSecret } = this.client;
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    if (authorization !== basic) return refuse(401, provider === 'x' ? 'unauthorized_client' : 'invalid_client');
    const code = form.get('code') ?? '';
    const consent = this.#consents.get(code);
    const isGood =
      form.get('grant_type') === 'authorization_code' &&
      consent?.provider === provider &&
      consent.clientId === clientId &&
      consent.redirectUri === form.get('redirect_uri') &&
      consent.codeChallenge === challengeOf(form.get('code_verifier') ?? '');
    if (!isGood) return refuse(400, provider === 'x' ? 'invalid_request' : 'invalid_grant');
    // A code is taken once.
    this.#consents.delete(code);
    const accessToken = randomBytes(30).toString('base64url');
    this.accessTokens.push(accessToken);
    this.#holders.set(accessToken, { provider, userId: consent.userId });
    const answer =
      provider === 'x'
        ? { token_type: 'bearer', expires_in: 7200, scope: 'users.read tweet.read' }
        : { token_type: 'Bearer', expires_in: 604800, refresh_token: randomUUID(), scope: 'identify email' };
    return { status: 200, body: { ...answer, access_token: accessToken } };
  }

  #tellUser(provider: ProviderName, authorization: string | undefined): Reply {
    const holder = this.#holders.get(authorization?.replace(/^Bearer /, '') ?? '');
    if (holder?.provider !== provider) return { status: 401, body: { message: '401: Unauthorized', code: 0 } };
    const { userId: id } = holder;
    return {
      status: 200,
      body:
        provider === 'x'
          ? { data: { id, name: 'Zoë', username: 'zoe' } }
          : { id, username: 'zoe', global_name: 'Zoë', email: 'zoe@example.com', verified: true },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const challengeOf = (codeVerifier: string): string => createHash('sha256').update(codeVerifier).digest('base64url');

const refuse = (status: number, error: string): Reply => ({ status, body: { error, error_description: 'No.' } });
