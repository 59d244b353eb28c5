import { createHmac } from 'node:crypto';
import fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import {
  ec,
  encode,
  expectRefusal,
  makeKey,
  makeToken,
  makeVerifier,
  rsa,
  START_MS,
} from '../../../test/harness/oidc-issuer.ts';
import type { GuardedFetch } from '../../outbound/guarded-fetch.ts';
import { addIssuerRoutes, discoveryDocument, jwksOf, type OwnIssuer } from './own-issuer.ts';
import { createOidcVerifier } from './verifier.ts';

// A P-256 point (protocol/bundles 7.2).
const PUBLIC_KEY =
  '043fe1cb3595e25b5cac54027af00b907379fa1101565d5aabb833bc8b8369b85d' +
  'eb2e4a53d3afa3cb8eb1d33e73cad01eb691e6eb672c428c3e8d239fbcc06967';
const KEYS = [{ keyId: 'key-1', publicKey: PUBLIC_KEY }];

test('the key set names each key, its curve and its use', () => {
  expect(jwksOf(KEYS)).toEqual({
    keys: [
      {
        kty: 'EC',
        crv: 'P-256',
        x: Buffer.from(PUBLIC_KEY.slice(2, 66), 'hex').toString('base64url'),
        y: Buffer.from(PUBLIC_KEY.slice(66), 'hex').toString('base64url'),
        kid: 'key-1',
        use: 'sig',
        alg: 'ES256',
      },
    ],
  });
});

test.each([
  ['https://custos.test', 'https://custos.test/.well-known/jwks.json'],
  ['https://custos.test/', 'https://custos.test/.well-known/jwks.json'],
  ['https://custos.test/login', 'https://custos.test/login/.well-known/jwks.json'],
])('the issuer %s has its keys at %s', (issuer, keys) => {
  expect(discoveryDocument(issuer)).toMatchObject({ issuer, jwks_uri: keys });
});

test('both documents are public, for every origin, and change with the keys', async () => {
  const server = fastify();
  let keys = KEYS;
  addIssuerRoutes(server, () => ({ issuer: 'https://custos.test', keys }));
  const get = (url: string) => server.inject({ url });

  const discovery = await get('/.well-known/openid-configuration');
  const { jwks_uri: keySetUrl } = discovery.json();
  const keySet = await get(new URL(keySetUrl).pathname);

  expect(discovery.json()).toEqual(discoveryDocument('https://custos.test'));
  expect(keySet.json()).toEqual(jwksOf(KEYS));
  for (const answer of [discovery, keySet]) {
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
    });
  }
  keys = [...KEYS, { keyId: 'key-2', publicKey: PUBLIC_KEY }];
  expect((await get(new URL(keySetUrl).pathname)).json().keys).toHaveLength(2);
});

describe('our own tokens', () => {
  const publicKey = Buffer.concat([
    Buffer.from([4]),
    ...['x', 'y'].map((member) =>
      Buffer.from(String(ec.publicKey.export({ format: 'jwk' })[member as 'x']), 'base64url'),
    ),
  ]).toString('hex');
  const own: OwnIssuer = { issuer: 'http://127.0.0.1:1', keys: [{ keyId: ec.kid, publicKey }] };
  const claims = { iss: own.issuer, sub: 'x:1', aud: 'client', exp: START_MS / 1000 + 60 };
  const nobody: GuardedFetch = () => Promise.reject(new Error('nobody should be asked'));
  const verifier = createOidcVerifier({
    fetch: nobody,
    clock: () => START_MS,
    elapsed: () => START_MS,
    own: () => own,
  });
  // Whoever brings it: there is nobody to ask.
  const local = { verify: (token: string) => verifier.verify(token, () => Promise.resolve(false)) };

  test('are verified without asking', async () => {
    expect(await local.verify(makeToken(ec, 'ES256', claims))).toMatchObject({ issuer: own.issuer, subject: 'x:1' });
  });

  test('a token that our public key signed as a secret is refused', async () => {
    await local.verify(makeToken(ec, 'ES256', claims));
    for (const secret of [
      publicKey,
      Buffer.from(publicKey, 'hex'),
      ec.publicKey.export({ type: 'spki', format: 'pem' }),
    ]) {
      const signed = `${encode({ alg: 'HS256', kid: ec.kid })}.${encode(claims)}`;
      const signature = createHmac('sha256', secret).update(signed).digest('base64url');
      await expectRefusal(local, `${signed}.${signature}`, /not accepted/);
    }
  });

  test('so is one of another key, however it calls itself', async () => {
    const mallory = makeKey.ec();
    await expectRefusal(local, makeToken(mallory, 'ES256', claims), /does not have/);
    await expectRefusal(local, makeToken(mallory, 'ES256', claims, { kid: ec.kid }), /does not verify/);
    await expectRefusal(local, makeToken(rsa, 'RS256', claims, { kid: ec.kid }), /does not have/);
  });

  test('others verify them from what we publish', async () => {
    const server = fastify();
    try {
      let issuer = '';
      addIssuerRoutes(server, () => ({ ...own, issuer }));
      issuer = await server.listen({ host: '127.0.0.1', port: 0 });
      const token = makeToken(ec, 'ES256', { ...claims, iss: issuer });

      expect(await makeVerifier().verifier.verify(token)).toMatchObject({ issuer, subject: 'x:1' });
    } finally {
      await server.close();
    }
  });
});
