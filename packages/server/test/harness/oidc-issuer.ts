import { constants, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { createOidcVerifier, type OidcVerifier } from '../../src/authn/oidc/verifier.ts';
import { createGuardedFetch, type GuardedFetch } from '../../src/outbound/guarded-fetch.ts';

/** When the tests of tokens take place. */
export const START_MS = 1_800_000_000_000;
const DISCOVERY_PATH = '/.well-known/openid-configuration';

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

type Header = Readonly<Record<string, unknown>>;

export const makeKey = {
  rsa: (modulusLength = 2048): SigningKey => ({ kid: randomUUID(), ...generateKeyPairSync('rsa', { modulusLength }) }),
  ec: (namedCurve = 'P-256'): SigningKey => ({ kid: randomUUID(), ...generateKeyPairSync('ec', { namedCurve }) }),
  ed25519: (): SigningKey => ({ kid: randomUUID(), ...generateKeyPairSync('ed25519') }),
};

/** One key of each common kind, for tests that need no key of their own. */
export const rsa = makeKey.rsa();
export const ec = makeKey.ec();

export const toJwk = ({ kid, publicKey }: SigningKey, more: object = {}): object => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  use: 'sig',
  ...more,
});

/** By node:crypto alone, so that the library under the verifier is not its own witness. */
function signJws(alg: string, data: string, { privateKey }: SigningKey): Buffer {
  const bytes = Buffer.from(data);
  if (alg === 'EdDSA') return sign(null, bytes, privateKey);
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith('ES')) return sign(hash, bytes, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  if (alg.startsWith('RS')) return sign(hash, bytes, privateKey);
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST;
  return sign(hash, bytes, { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });
}

export const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export function makeToken(key: SigningKey, alg: string, claims: object, header: Header = {}): string {
  const signed = `${encode({ alg, kid: key.kid, ...header })}.${encode(claims)}`;
  return `${signed}.${signJws(alg, signed, key).toString('base64url')}`;
}

/** An issuer on loopback whose documents a test may change while it runs. It ends with the test. */
export class Issuer {
  url = '';
  keys: object[] = [];
  discovery: Record<string, unknown> = {};
  cacheControl: string | undefined;
  /** In place of the usual answer to a path. */
  instead: Partial<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {};
  readonly asked = { discovery: 0, keys: 0 };

  static async start(...keys: object[]): Promise<Issuer> {
    const issuer = new Issuer();
    const server = createServer((request, response) => issuer.#answer(request, response));
    onTestFinished(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    issuer.keys = keys;
    issuer.discovery = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` };
    return issuer;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '';
    if (path === '/keys') this.asked.keys += 1;
    if (path === DISCOVERY_PATH) this.asked.discovery += 1;
    const instead = this.instead[path];
    if (instead !== undefined) {
      instead(request, response);
      return;
    }
    if (this.cacheControl !== undefined) response.setHeader('cache-control', this.cacheControl);
    if (path === '/keys') response.end(JSON.stringify({ keys: this.keys }));
    else if (path === DISCOVERY_PATH) response.end(JSON.stringify(this.discovery));
    else response.writeHead(404).end();
  }

  claims(more: object = {}): object {
    const now = START_MS / 1000;
    return { iss: this.url, sub: 'alice', aud: 'client', iat: now, exp: now + 86_400, ...more };
  }

  token(key: SigningKey = ec, alg = 'ES256', more: object = {}, header: Header = {}): string {
    return makeToken(key, alg, this.claims(more), header);
  }
}

/** A verifier that may reach loopback, and the time that it goes by. */
export function makeVerifier(fetch: GuardedFetch = createGuardedFetch(['127.0.0.1/32'])) {
  const time = { nowMs: START_MS };
  const verifier = createOidcVerifier({ fetch, clock: () => time.nowMs, elapsed: () => time.nowMs });
  return { time, verifier: { verify: (token: string) => verifier.verify(token, asksAny) } };
}

/** For tests of what an issuer answers: any may be asked. */
export const asksAny = (): Promise<boolean> => Promise.resolve(true);

type Verifier = { verify(token: string): ReturnType<OidcVerifier['verify']> };

export async function expectRefusal(verifier: Verifier, token: string, message: RegExp): Promise<void> {
  const refusal = { code: 'INVALID_OIDC_TOKEN', message: expect.stringMatching(message) };
  await expect(verifier.verify(token)).rejects.toEqual(expect.objectContaining(refusal));
}
