import { describe, expect, test } from 'vitest';
import { makeKey, toJwk } from '../../../test/harness/oidc-issuer.ts';
import { candidates, readKeySet } from './key-set.ts';

const rsa = toJwk(makeKey.rsa());
const ec = toJwk(makeKey.ec());
const read = (...keys: unknown[]) => readKeySet({ keys });
const kidOf = (key: object): unknown => (key as { readonly kid: string }).kid;

test('the public members of keys that can verify, and nothing else', () => {
  const keys = [rsa, ec, toJwk(makeKey.ec('P-384')), toJwk(makeKey.ec('P-521')), toJwk(makeKey.ed25519())];
  const found = read(...keys.map((key) => ({ ...key, x5c: ['certificate'], d: 'private' })));
  expect(found?.map(({ kid }) => kid)).toEqual(keys.map(kidOf));
  expect(JSON.stringify(found)).not.toMatch(/certificate|private/);
});

test.each([undefined, null, [], 'keys', {}, { keys: {} }, { keys: 'x' }])('%j is no key set', (document) => {
  expect(readKeySet({ keys: [] })).toEqual([]);
  expect(readKeySet(document)).toBeUndefined();
});

describe('what an issuer may make us keep', () => {
  const long = 'A'.repeat(1401);

  test.each([
    ['kid', ec, { kid: long }],
    ['alg', ec, { alg: long }],
    ['crv', ec, { crv: long }],
    ['x', ec, { x: long }],
    ['y', ec, { y: long }],
    ['n', rsa, { n: long }],
    ['e', rsa, { e: long }],
  ])('a key with a long %s is left out', (_name, key, change) => {
    expect(read(key)).toHaveLength(1);
    expect(read({ ...key, ...change }, key)?.map(({ kid }) => kid)).toEqual([kidOf(key)]);
  });

  test('a name that is as long as names may be stays', () => {
    const kid = 'A'.repeat(1400);
    expect(read({ ...ec, kid })?.map((key) => key.kid)).toEqual([kid]);
  });

  test.each(['secp256k1', 'P-192', 'Ed448', 'X25519', '', 'p-256', '__proto__'])('curve %j is left out', (crv) => {
    expect(read(ec)).toHaveLength(1);
    expect(read({ ...ec, crv })).toEqual([]);
    expect(read({ kty: 'OKP', crv, x: 'AAAA' })).toEqual([]);
  });

  test('the largest RSA key that is accepted fits, a larger one does not', () => {
    const modulus = (bytes: number) => Buffer.alloc(bytes, 0xff).toString('base64url');
    expect(read({ ...rsa, n: modulus(1024) })).toHaveLength(1);
    expect(read({ ...rsa, n: modulus(1025) })).toEqual([]);
    expect(read({ ...rsa, n: modulus(255) })).toEqual([]);
  });

  test('of very many keys the first 32', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ ...ec, kid: String(index) }));
    expect(read(...many)?.map(({ kid }) => kid)).toEqual(many.slice(0, 32).map(({ kid }) => kid));
  });

  test('of keys with one name the first four are tried', () => {
    const same = read(...Array.from({ length: 6 }, () => ec)) ?? [];
    expect(same).toHaveLength(6);
    expect(candidates(same, 'ES256', undefined)).toHaveLength(4);
    expect(candidates(same, 'RS256', undefined)).toEqual([]);
  });
});
