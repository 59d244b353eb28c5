import { describe, expect, test } from 'vitest';
import { type Claims, readIdToken, readIssuer } from './id-token.ts';

const NOW_S = 1_800_000_000;
const GOOD = { iss: 'https://issuer.test', sub: 'alice', aud: 'client', exp: NOW_S + 600, iat: NOW_S };
const read = (claims: Claims) => readIdToken({ ...GOOD, ...claims }, NOW_S * 1000);
const refused = (message: RegExp) =>
  expect.objectContaining({ code: 'INVALID_OIDC_TOKEN', message: expect.stringMatching(message) });

test('what a token says', () => {
  expect(read({ nonce: 'n', email: 'a@b.test', email_verified: true, extra: 1 })).toEqual({
    issuer: 'https://issuer.test',
    subject: 'alice',
    audience: 'client',
    nonce: 'n',
    email: 'a@b.test',
    emailVerified: true,
    issuedAtMs: NOW_S * 1000,
    expiresAtMs: (NOW_S + 600) * 1000,
  });
});

test('what a token need not say', () => {
  const unsaid = { nonce: undefined, email: undefined, emailVerified: false, issuedAtMs: undefined };
  expect(read({ iat: undefined })).toMatchObject(unsaid);
});

test.each([
  [{ nonce: 'own', tknonce: 'ours' }, 'ours'],
  [{ tknonce: 'ours' }, 'ours'],
  [{ nonce: 'ours', tknonce: 7 }, 'ours'],
  [{ nonce: 7 }, undefined],
])('the nonce of %j is %j', (claims, nonce) => expect(read(claims).nonce).toBe(nonce));

test.each([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
  ['yes', false],
  [1, false],
])('email_verified %j is %j', (value, expected) => {
  expect(read({ email: 'a@b.test', email_verified: value }).emailVerified).toBe(expected);
});

test.each([7, '', ['a@b.test'], 'a'.repeat(255)])('%j is no e-mail address', (email) => {
  expect(read({ email: 'a'.repeat(254) }).email).toHaveLength(254);
  expect(read({ email }).email).toBeUndefined();
});

describe('time', () => {
  test.each([
    ['exp', { exp: NOW_S + 1 }, { exp: NOW_S }, /has expired/],
    ['exp with a fraction', { exp: NOW_S + 0.5 }, { exp: NOW_S - 0.5 }, /has expired/],
    ['nbf', { nbf: NOW_S + 60 }, { nbf: NOW_S + 61 }, /is not valid yet/],
    ['iat', { iat: NOW_S + 60 }, { iat: NOW_S + 61 }, /issued in the future/],
  ])('%s', (_name, inside, outside, message) => {
    expect(read(inside).subject).toBe('alice');
    expect(() => read(outside)).toThrow(refused(message));
  });

  test.each([
    { exp: undefined },
    { exp: null },
    { exp: String(NOW_S + 600) },
    { exp: Number.POSITIVE_INFINITY },
    { exp: Number.NaN },
    { exp: 1e300 },
    { nbf: '0' },
    { nbf: null },
    { iat: 'now' },
    { iat: -1 },
  ])('%j is no time', (claims) => expect(() => read(claims)).toThrow(refused(/no usable (exp|nbf|iat)/)));
});

describe('audience', () => {
  test.each([
    [{ aud: 'client' }, 'client'],
    [{ aud: ['client'] }, 'client'],
    [{ aud: 'client', azp: 'other' }, 'client'],
    [{ aud: ['client'], azp: 'other' }, 'client'],
    [{ aud: ['other', 'client'], azp: 'client' }, 'client'],
    [{ aud: ['client', 'other'], azp: 'other' }, 'other'],
  ])('of %j is %s', (claims, audience) => expect(read(claims).audience).toBe(audience));

  test.each([
    [{ aud: ['client', 'other'] }, /several audiences/],
    [{ aud: ['client', 'other'], azp: 'third' }, /several audiences/],
    [{ aud: ['client', 'other'], azp: ['client'] }, /several audiences/],
    [{ aud: [] }, /no usable aud/],
    [{ aud: undefined }, /no usable aud/],
    [{ aud: '' }, /no usable aud/],
    [{ aud: [''] }, /no usable aud/],
    [{ aud: 7 }, /no usable aud/],
    [{ aud: ['client', 7], azp: 'client' }, /no usable aud/],
    [{ aud: [['client']] }, /no usable aud/],
    [{ aud: { client: true } }, /no usable aud/],
    [{ aud: 'c'.repeat(256) }, /no usable aud/],
    [{ aud: 'a\u0000b' }, /no usable aud/],
    [{ aud: '\ud800' }, /no usable aud/],
  ])('%j is refused', (claims, message) => expect(() => read(claims)).toThrow(refused(message)));
});

test.each([undefined, null, '', 7, ['alice'], 'a'.repeat(256), 'a\u0000b', 'a\nb', '\ud800'])(
  'sub %j is refused',
  (sub) => {
    expect(read({ sub: 'a'.repeat(255) }).subject).toHaveLength(255);
    expect(() => read({ sub })).toThrow(refused(/no usable sub/));
  },
);

test.each([
  ['https://issuer.test', 'https://issuer.test'],
  ['https://issuer.test/', 'https://issuer.test/'],
  ['https://issuer.test:8443/realms/one', 'https://issuer.test:8443/realms/one'],
  ['http://127.0.0.1:1234', 'http://127.0.0.1:1234'],
  ['accounts.google.com', 'https://accounts.google.com'],
  ['https://accounts.google.com', 'https://accounts.google.com'],
])('iss %s is %s', (iss, issuer) => expect(readIssuer({ iss })).toBe(issuer));

test.each([
  undefined,
  null,
  7,
  '',
  'issuer.test',
  'accounts.google.com.evil.test',
  'ftp://issuer.test',
  'https://issuer.test?a=b',
  'https://issuer.test/#a',
  'https://issuer.test\\@evil.test',
  'https://issuer.test/ evil',
  'https://issuer.test/\u0000',
  'https://issüer.test',
  'https://issuer.test/ä',
  'https://іssuer.test',
  'https://issuer.test/\u200b',
  'https://issuer.test\u3002evil.test',
  'https://issuer.test/\ud800',
  'https://issuer.test/\u007f',
  ['https://issuer.test'],
  `https://issuer.test/${'a'.repeat(500)}`,
])('iss %j is refused', (iss) => expect(() => readIssuer({ iss })).toThrow(refused(/no usable iss/)));
