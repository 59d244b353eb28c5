import { createECDH, createPrivateKey, sign } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { ApiError } from '../../lib/errors.ts';
import { Fence } from '../../storage/fence.ts';
import type { ServiceKey } from '../../storage/service-key.ts';
import type { OidcVerifier } from '../oidc/verifier.ts';
import { createIdentityTokens, type TokenReader } from './tokens.ts';

// Tokens that were found good are remembered by their text (docs/decisions/0055).

const NOW = 1_700_000_000_000;
const ecdh = createECDH('prime256v1');
ecdh.generateKeys();
const point = ecdh.getPublicKey();
const jwk = {
  kty: 'EC',
  crv: 'P-256',
  d: ecdh.getPrivateKey('base64url'),
  x: point.toString('base64url', 1, 33),
  y: point.toString('base64url', 33),
};
const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
const serviceKey = { role: 'otp', publicKey: ecdh.getPublicKey('hex', 'compressed') } as unknown as ServiceKey;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
function tokenOf(claims: object): string {
  const signed = `${encode({ typ: 'JWT', alg: 'ES256' })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}
const CLAIMS = {
  exp: String(NOW + 1000),
  id: 'a token',
  organization_id: 'an organization',
  verification_type: 'OTP_TYPE_EMAIL',
  contact: 'somebody@mail.example',
};

let tokens: TokenReader;
let trusted: readonly ServiceKey[];
beforeEach(() => {
  trusted = [serviceKey];
  tokens = createIdentityTokens(() => trusted, {} as OidcVerifier, Fence.down());
});
const refusal = (text: string, nowMs: number): unknown => {
  try {
    return tokens.verification(text, nowMs);
  } catch (error) {
    return error instanceof ApiError ? error.code : error;
  }
};

test('a token that is read again says the same, and is not verified again', () => {
  const text = tokenOf(CLAIMS);
  const first = tokens.verification(text, NOW);
  expect(first).toMatchObject({ id: 'a token', contact: 'somebody@mail.example' });
  expect(tokens.verification(text, NOW + 1)).toBe(first);
});

test('a token that was good has expired once its time has come', () => {
  const text = tokenOf(CLAIMS);
  tokens.verification(text, NOW + 999);
  expect(refusal(text, NOW + 1000)).toBe('INVALID_VERIFICATION_TOKEN');
});

test('another text with the same signature is refused, also after the good one', () => {
  const text = tokenOf(CLAIMS);
  tokens.verification(text, NOW);
  const [header, , signature] = text.split('.');
  const forged = `${header}.${encode({ ...CLAIMS, contact: 'other@mail.example' })}.${signature}`;
  expect(refusal(forged, NOW)).toBe('INVALID_VERIFICATION_TOKEN');
  expect(refusal(forged, NOW)).toBe('INVALID_VERIFICATION_TOKEN');
});

test('another service does not know what this one has verified', () => {
  const text = tokenOf(CLAIMS);
  tokens.verification(text, NOW);
  tokens = createIdentityTokens(() => [], {} as OidcVerifier, Fence.down());
  expect(refusal(text, NOW)).toBe('INVALID_VERIFICATION_TOKEN');
});

test('a token whose key is gone is refused from then on, though it was verified before', () => {
  const text = tokenOf(CLAIMS);
  tokens.verification(text, NOW);
  const other = createECDH('prime256v1');
  other.generateKeys();
  const next = { ...serviceKey, keyId: 'next', publicKey: other.getPublicKey('hex', 'compressed') };
  trusted = [next, serviceKey];
  expect(tokens.verification(text, NOW)).toMatchObject({ id: 'a token' });
  trusted = [next];
  expect(refusal(text, NOW)).toBe('INVALID_VERIFICATION_TOKEN');
});
