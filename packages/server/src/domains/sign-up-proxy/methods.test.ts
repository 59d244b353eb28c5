import { describe, expect, test } from 'vitest';
import { demand, ofIssuer, ofOidcToken, requireMethods } from './methods.ts';
import type { SignUpProxySettings } from './model.ts';
import type { Visit } from './visit.ts';

const OURS = 'https://custos.example';
const visit = { app: { ownIssuer: () => ({ issuer: OURS }) } } as unknown as Visit;
const token = (claims: unknown): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.AAAA`;

test.each([
  ['https://accounts.google.com', 's', 'google'],
  ['accounts.google.com', 's', 'google'],
  ['https://appleid.apple.com', 's', 'apple'],
  ['https://www.facebook.com', 's', 'facebook'],
  ['https://limited.facebook.com', 's', 'facebook'],
  [OURS, 'x:1', 'x'],
  [OURS, 'discord:1', 'discord'],
  // Whoever runs an issuer names itself and its users as it likes.
  ['https://issuer.example', 's', 'oidc'],
  ['https://issuer.example', 'x:1', 'oidc'],
  ['https://accounts.google.com.evil.example', 's', 'oidc'],
  ['https://evil.example/accounts.google.com', 's', 'oidc'],
  ['https://accounts.google.com@evil.example', 's', 'oidc'],
  ['https://notfacebook.com', 's', 'oidc'],
  [`${OURS}/`, 'x:1', 'oidc'],
  [OURS, 'somebody', 'oidc'],
  [OURS, 7, 'oidc'],
  ['', 's', 'oidc'],
  [undefined, undefined, 'oidc'],
])('tokens of %s for %s need the method', (iss, sub, method) => {
  expect(ofIssuer(visit, iss, sub)).toEqual(demand(method as 'oidc'));
  expect(ofOidcToken(visit, token({ iss, sub }))).toEqual(demand(method as 'oidc'));
});

test.each(['', 'a.b.c', 'e30.bm8.x', token(null), token([])])('what is no token is of another issuer: %j', (text) => {
  expect(ofOidcToken(visit, text)).toEqual(demand('oidc'));
});

describe('what is not turned on is refused', () => {
  const ask = (allowed: readonly string[], ...methods: ('google' | 'oidc' | 'email')[]) =>
    requireMethods(
      { allowedAuthMethods: allowed } as unknown as SignUpProxySettings,
      methods.map((each) => demand(each)),
    );

  test('one issuer turned on lets no other in', () => {
    ask(['google'], 'google');
    ask(['oidc'], 'oidc');
    ask(['email', 'google', 'oidc'], 'google', 'oidc', 'email');
    for (const [allowed, method] of [
      [['google'], 'oidc'],
      [['google', 'apple', 'facebook', 'x', 'discord'], 'oidc'],
      [['oidc'], 'google'],
      [[], 'oidc'],
    ] as const) {
      expect(() => ask(allowed, method)).toThrow(
        expect.objectContaining({
          code: 'AUTH_METHOD_DISALLOWED',
          message: expect.stringMatching(new RegExp(`^OAUTH disallowed: .* ${method}$`)),
        }),
      );
    }
  });

  test('one of several is enough to refuse', () => {
    expect(() => ask(['google'], 'google', 'email')).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^authentication method disallowed: .* email$/) }),
    );
  });
});
