import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { labelled } from '../../../keyring/test/fixtures/labels.ts';
import {
  API_KEY,
  OTP_PUBLIC_KEY,
  SESSION,
  SESSION_SIGNER,
  VERIFICATION_TOKEN,
} from '../../test/fixtures/login-vectors.ts';
import { fromHex, sha256, toBase64url, toHex, toUtf8 } from '../bytes.ts';
import { verifySession } from './session.ts';
import { verifyVerificationToken } from './verification-token.ts';

const ORGANIZATION = '00000000-0000-4000-8000-000000000001';
const EXPIRES_AT_MS = 1_893_456_000_000;
const nowMs = EXPIRES_AT_MS - 1;
const invalid = { code: 'TOKEN_INVALID' };

const part = (value: unknown): string => toBase64url(toUtf8(JSON.stringify(value)));
const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8'));

function privateKey(label: string, publicKey: string): KeyObject {
  const point = fromHex(publicKey)!;
  const [x, y] = [toBase64url(point.subarray(1, 33)), toBase64url(point.subarray(33))];
  return createPrivateKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x, y, d: toBase64url(labelled(label)) } });
}

const signers = {
  session: privateKey('vector notarizer', SESSION_SIGNER),
  otp: privateKey('vector otp token signer', OTP_PUBLIC_KEY),
};

/** A token as the service would sign it, in its own way of hashing. */
async function signed(kind: keyof typeof signers, claims: unknown, header: unknown = { alg: 'ES256' }) {
  const text = `${part(header)}.${part(claims)}`;
  const message = kind === 'session' ? await sha256(toUtf8(text)) : toUtf8(text);
  const signature = sign('sha256', message, { key: signers[kind], dsaEncoding: 'ieee-p1363' });
  return `${text}.${toBase64url(signature)}`;
}

describe('a session', () => {
  const options = { sessionSigner: SESSION_SIGNER, nowMs };

  test('of the public vectors', async () => {
    const expected = {
      organizationId: ORGANIZATION,
      userId: '00000000-0000-4000-8000-000000000002',
      publicKey: API_KEY.publicKey,
      sessionType: 'SESSION_TYPE_READ_WRITE',
      expiresAtMs: EXPIRES_AT_MS,
    };
    expect(await verifySession(SESSION, options)).toEqual(expected);
    const serviceKeys = [
      { role: 'session-signer', publicKey: OTP_PUBLIC_KEY, encoding: 'uncompressed', keyId: 'other' },
      { role: 'session-signer', publicKey: SESSION_SIGNER, encoding: 'uncompressed', keyId: 'one' },
    ] as const;
    expect(await verifySession(SESSION, { serviceKeys, nowMs })).toEqual(expected);
  });

  test('with a profile names it, and what it may do', async () => {
    const claims = { ...claimsOf(SESSION), session_type: 'Swaps', session_profile_id: 'p', scope: 'a >= 12' };
    expect(await verifySession(await signed('session', claims), options)).toMatchObject({
      sessionType: 'Swaps',
      sessionProfileId: 'p',
      scope: 'a >= 12',
    });
  });

  test('that has ended, or is signed with one hash or by another key, is refused', async () => {
    await expect(verifySession(SESSION, { ...options, nowMs: EXPIRES_AT_MS })).rejects.toMatchObject(invalid);
    const claims = claimsOf(SESSION);
    expect(await verifySession(await signed('session', claims), options)).toBeDefined();
    const text = `${part({ alg: 'ES256' })}.${part(claims)}`;
    const once = sign('sha256', toUtf8(text), { key: signers.session, dsaEncoding: 'ieee-p1363' });
    await expect(verifySession(`${text}.${toBase64url(once)}`, options)).rejects.toMatchObject(invalid);
    await expect(verifySession(SESSION, { sessionSigner: OTP_PUBLIC_KEY, nowMs })).rejects.toMatchObject(invalid);
  });
});

describe('a verification token', () => {
  const options = { otpPublicKey: OTP_PUBLIC_KEY, nowMs };

  test('of the public vectors', async () => {
    expect(await verifyVerificationToken(VERIFICATION_TOKEN, options)).toEqual({
      tokenId: '00000000-0000-4000-8000-000000000003',
      verificationType: 'OTP_TYPE_EMAIL',
      contact: 'user@example.com',
      organizationId: ORGANIZATION,
      publicKey: API_KEY.publicKey,
      expiresAtMs: EXPIRES_AT_MS,
    });
  });

  test('need not be bound to a key', async () => {
    const { public_key: _key, ...claims } = claimsOf(VERIFICATION_TOKEN);
    const read = await verifyVerificationToken(await signed('otp', claims), options);
    expect('publicKey' in read).toBe(false);
  });

  test('that has expired, or is signed by another key, is refused', async () => {
    const late = { ...options, nowMs: EXPIRES_AT_MS };
    await expect(verifyVerificationToken(VERIFICATION_TOKEN, late)).rejects.toMatchObject(invalid);
    const other = { otpPublicKey: SESSION_SIGNER, nowMs };
    await expect(verifyVerificationToken(VERIFICATION_TOKEN, other)).rejects.toMatchObject(invalid);
  });
});

describe.each([
  ['session', SESSION, (token: string) => verifySession(token, { sessionSigner: SESSION_SIGNER, nowMs })],
  [
    'otp',
    VERIFICATION_TOKEN,
    (token: string) => verifyVerificationToken(token, { otpPublicKey: OTP_PUBLIC_KEY, nowMs }),
  ],
] as const)('every %s token', (kind, token, verify) => {
  test('with a flipped bit is refused', async () => {
    const [header, payload, signature] = token.split('.') as [string, string, string];
    const bytes = Buffer.from(signature, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      await expect(verify(`${header}.${payload}.${toBase64url(changed)}`)).rejects.toMatchObject(invalid);
    }
    const moved = { ...claimsOf(token), organization_id: '00000000-0000-4000-8000-000000000009' };
    await expect(verify(`${header}.${part(moved)}.${signature}`)).rejects.toMatchObject(invalid);
  });

  test('without one of its claims is refused', async () => {
    const claims = claimsOf(token);
    expect(await verify(await signed(kind, claims))).toBeDefined();
    for (const name of Object.keys(claims)) {
      if (kind === 'otp' && name === 'public_key') continue;
      for (const value of [undefined, null, '', {}]) {
        await expect(verify(await signed(kind, { ...claims, [name]: value }))).rejects.toMatchObject(invalid);
      }
    }
    for (const exp of ['later', 1.5, '1893456000000.5', true]) {
      await expect(verify(await signed(kind, { ...claims, exp }))).rejects.toMatchObject(invalid);
    }
  });

  test('with another algorithm is refused', async () => {
    for (const header of [{ alg: 'none' }, { alg: 'HS256' }, { alg: 'es256' }, {}, []]) {
      await expect(verify(await signed(kind, claimsOf(token), header))).rejects.toMatchObject(invalid);
    }
  });

  test.each(['', 'a.b', `${token}.`, token.slice(0, -1), `${token}AA`, ` ${token}`, '..'])(
    '%j is none',
    async (text) => {
      await expect(verify(text)).rejects.toMatchObject(invalid);
    },
  );
});

test('who trusts no key gets no answer', async () => {
  await expect(verifySession(SESSION, {})).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  const unset = {
    serviceKeys: [{ role: 'otp', publicKey: SESSION_SIGNER, encoding: 'uncompressed', keyId: '' }],
  } as const;
  await expect(verifySession(SESSION, unset)).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  await expect(verifyVerificationToken(VERIFICATION_TOKEN, {})).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  await expect(verifySession(SESSION, { sessionSigner: toHex(toUtf8('key')) })).rejects.toMatchObject({
    code: 'INVALID_KEY',
  });
});
