import fastify from 'fastify';
import { expect, test } from 'vitest';
import { addIssuerRoutes, discoveryDocument, jwksOf } from './own-issuer.ts';

// AUTH 15, V6: a P-256 point.
const PUBLIC_KEY =
  '043fe1cb3595e25b5cac54027af00b907379fa1101565d5aabb833bc8b8369b85deb2e4a53d3afa3cb8eb1d33e73cad01eb691e6eb672c428c3e8d239fbcc06967';
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
