import { createPublicKey, verify } from 'node:crypto';
import { expect, test } from 'vitest';
import {
  API_KEY,
  LOGIN_MESSAGE,
  LOGIN_SIGNATURE,
  NONCES,
  SIGNUP_MESSAGE,
  SIGNUP_SIGNATURE,
  VERIFICATION_TOKEN,
} from '../../test/fixtures/login-vectors.ts';
import { ApiKeyStamper } from '../api-key-stamper.ts';
import { fromBase64url, toUtf8 } from '../bytes.ts';
import { readPublicKey } from '../p256.ts';
import { SessionKey } from '../session-key.ts';
import { AttestedStamper } from './attested-stamper.ts';
import { loginClientSignature, signupClientSignature } from './client-signature.ts';
import { oidcNonceOf } from './oidc-nonce.ts';

const key = new ApiKeyStamper(API_KEY);
const verificationToken = VERIFICATION_TOKEN;
const request = { apiKeys: [], authenticators: [], oauthProviders: [], userEmail: 'user@example.com' };

function isSigned(publicKey: string, message: string, signature: string): boolean {
  const jwk = { kty: 'EC', crv: 'P-256', ...readPublicKey(publicKey) };
  const verifier = { key: createPublicKey({ format: 'jwk', key: jwk }), dsaEncoding: 'ieee-p1363' as const };
  return verify('sha256', Buffer.from(message), verifier, Buffer.from(signature, 'hex'));
}

test('the messages are those of the public vectors, and so is what is signed', async () => {
  for (const [made, message, vector] of [
    [await loginClientSignature({ key, verificationToken }), LOGIN_MESSAGE, LOGIN_SIGNATURE],
    [await signupClientSignature({ key, verificationToken, request }), SIGNUP_MESSAGE, SIGNUP_SIGNATURE],
  ] as const) {
    expect(made).toEqual({
      publicKey: API_KEY.publicKey,
      scheme: 'CLIENT_SIGNATURE_SCHEME_API_P256',
      message,
      signature: expect.stringMatching(/^[0-9a-f]{128}$/),
    });
    expect(isSigned(API_KEY.publicKey, message, vector)).toBe(true);
    expect(isSigned(API_KEY.publicKey, message, made.signature)).toBe(true);
    expect(isSigned(API_KEY.publicKey, `${message} `, made.signature)).toBe(false);
  }
});

test('a login names the session key that it is for', async () => {
  const session = await SessionKey.generate();
  const { message, publicKey } = await loginClientSignature({ key, verificationToken, publicKey: session.publicKey });
  expect(JSON.parse(message)).toMatchObject({ login: { publicKey: session.publicKey } });
  expect(publicKey).toBe(API_KEY.publicKey);
});

test('a sign-up names everything that it asks for', async () => {
  const apiKeys = [{ apiKeyName: 'a', publicKey: API_KEY.publicKey, curveType: 'API_KEY_CURVE_P256' as const }];
  const asked = { apiKeys, authenticators: [], oauthProviders: [], userPhoneNumber: '+12025550123' };
  const { message } = await signupClientSignature({ key, verificationToken, request: asked });
  expect(JSON.parse(message).signupV2).toEqual({
    apiKeys,
    authenticators: [],
    oauthProviders: [],
    phoneNumber: '+12025550123',
  });
});

test('what is no token is refused', async () => {
  const refused = loginClientSignature({ key, verificationToken: 'none' });
  await expect(refused).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
});

test.each([
  ['verificationToken', 'STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN'],
  ['oidcToken', 'STAMP_ATTESTED_SCHEME_P256_OIDC'],
] as const)('an attested stamp with %s', async (name, scheme) => {
  const body = toUtf8('{"organizationId":"00000000-0000-4000-8000-000000000001"}');
  const token = name === 'oidcToken' ? { oidcToken: 'token' } : { verificationToken: 'token' };
  const stamper = new AttestedStamper({ key, ...token });
  const { headerName, headerValue } = await stamper.stamp(body);
  expect(headerName).toBe('X-Stamp-Attested');
  const { signature, ...rest } = JSON.parse(Buffer.from(fromBase64url(headerValue)!).toString('utf8'));
  expect(rest).toEqual({ publicKeyAttestation: 'token', scheme, publicKey: API_KEY.publicKey });
  const jwk = { kty: 'EC', crv: 'P-256', ...readPublicKey(API_KEY.publicKey) };
  const verifier = createPublicKey({ format: 'jwk', key: jwk });
  expect(verify('sha256', body, verifier, Buffer.from(signature, 'hex'))).toBe(true);
});

test('an attested stamp needs exactly one token', () => {
  for (const tokens of [{}, { verificationToken: 'a', oidcToken: 'b' }]) {
    const options = { key, ...tokens } as ConstructorParameters<typeof AttestedStamper>[0];
    expect(() => new AttestedStamper(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  }
});

test.each(NONCES)('the nonce of %s', async (publicKey, nonce) => {
  expect(await oidcNonceOf(publicKey)).toBe(nonce);
});
