import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An OpenID issuer and an OAuth 2.0 provider, for programs that need one. */
export class Elsewhere implements AsyncDisposable {
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
