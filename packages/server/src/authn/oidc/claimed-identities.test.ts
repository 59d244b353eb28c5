import { expect, test } from 'vitest';
import { claimedIdentities } from './claimed-identities.ts';

const tokenOf = (claims: unknown): string =>
  `e30.${Buffer.from(typeof claims === 'string' ? claims : JSON.stringify(claims)).toString('base64url')}.c2ln`;
const about = { iss: 'https://issuer.example', sub: 'someone' };
const identity = (audience: string) => ({ issuer: about.iss, subject: about.sub, audience });

test.each([
  ['one audience', { ...about, aud: 'a' }, ['a']],
  ['several, and who asked for it', { ...about, aud: ['a', 'b'], azp: 'b' }, ['a', 'b']],
  ['none', about, []],
  [
    'ten at most',
    { ...about, aud: Array.from({ length: 50 }, (_, index) => `a${index}`) },
    Array.from({ length: 10 }, (_, index) => `a${index}`),
  ],
])('%s', (_name, claims, audiences) => {
  expect(claimedIdentities(tokenOf(claims))).toEqual(audiences.map(identity));
});

test('an issuer that has written itself without its scheme is one', () => {
  expect(claimedIdentities(tokenOf({ ...about, iss: 'accounts.google.com', aud: 'a' }))).toEqual([
    { ...identity('a'), issuer: 'https://accounts.google.com' },
  ]);
});

test.each([
  ['nothing', ''],
  ['two parts', 'e30.e30'],
  ['four parts', `${tokenOf(about)}.e30`],
  ['no JSON', tokenOf('{')],
  ['a list', tokenOf([])],
  ['no issuer', tokenOf({ sub: 'a', aud: 'a' })],
  ['no subject', tokenOf({ iss: about.iss, aud: 'a' })],
  ['too much', tokenOf({ ...about, aud: 'a'.repeat(20_000) })],
])('%s is refused', (_name, token) => {
  expect(() => claimedIdentities(token)).toThrow(expect.objectContaining({ code: 'INVALID_OIDC_TOKEN' }));
});
