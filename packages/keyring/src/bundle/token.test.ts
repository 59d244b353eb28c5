import { createHash, createPublicKey, verify } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromHex, fromText, labelled, toHex } from '../../test/fixtures/labels.ts';
import { addressDerivationPayload, policyOutcomePayload, signAppProof } from './app-proof.ts';
import { clientSafeJson, signCompact, TOKEN_LENGTH_MAX, verifyCompact } from './jws.ts';
import { compressPoint, importSigningKey, publicKeyOf } from './p256.ts';
import { type Session, signSessionJwt } from './session-jwt.ts';
import { signVerificationToken, type VerificationToken, verifyVerificationToken } from './verification-token.ts';

const API_KEY = fromHex('0249d2d8b00d4d38c8254419df31a424e680d85ca14b099212ac70c3a7b0d0fc8a');
const ORGANIZATION = '00000000-0000-4000-8000-000000000001';
const USER = '00000000-0000-4000-8000-000000000002';
const TOKEN_ID = '00000000-0000-4000-8000-000000000003';
const refused = expect.objectContaining({ name: 'KeyringError', code: 'INVALID_INPUT' });

function verifyRaw(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const point = Buffer.from(publicKey);
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  return verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

const partsOf = (token: string): [string, string, string] => token.split('.') as [string, string, string];
const inputOf = (token: string): string => token.slice(0, token.lastIndexOf('.'));
const payloadOf = (token: string): string => Buffer.from(partsOf(token)[1], 'base64url').toString('utf8');
const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();

describe('session, vector 9', () => {
  const signer = labelled('vector notarizer');
  const publicKey = fromHex(
    '04ad3353b1cc4bf46ad7bf9b6a0902e34774e8b27ef758189ac8831a260c732fac5e76c66c466c7bb8416cc40a0e7a6e812951763bd3d20e5cccd7571bddf83485',
  );
  const token =
    'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE4OTM0NTYwMDAsInB1YmxpY19rZXkiOiIwMjQ5ZDJkOGIwMGQ0ZDM4YzgyNTQ0MTlkZjMxYTQyNGU2ODBkODVjYTE0YjA5OTIxMmFjNzBjM2E3YjBkMGZjOGEiLCJzZXNzaW9uX3R5cGUiOiJTRVNTSU9OX1RZUEVfUkVBRF9XUklURSIsInVzZXJfaWQiOiIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDIiLCJvcmdhbml6YXRpb25faWQiOiIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDEifQ.TvhmkWildtSMxzuJbekmkIg-MgtUISjmqdQb0CBqxFN5sqGwE34Bm60z-LH_demo9_VCnHTXpL3Z4aCq59ZDiA';
  const session: Session = {
    expiresAtSeconds: 1893456000,
    publicKey: API_KEY,
    userId: USER,
    organizationId: ORGANIZATION,
  };

  test('header and claims, and a signature over the hash of the hash', () => {
    expect(publicKeyOf(signer)).toEqual(Buffer.from(publicKey));
    for (const key of [signer, importSigningKey(signer)]) {
      const made = signSessionJwt(key, session);
      expect(inputOf(made)).toBe(inputOf(token));
      const signature = Buffer.from(partsOf(made)[2], 'base64url');
      expect(signature.length).toBe(64);
      expect(verifyRaw(publicKey, sha256(inputOf(made)), signature)).toBe(true);
      expect(verifyRaw(publicKey, fromText(inputOf(made)), signature)).toBe(false);
    }
    const published = Buffer.from(partsOf(token)[2], 'base64url');
    expect(verifyRaw(publicKey, sha256(inputOf(token)), published)).toBe(true);
    const deterministic = p256.sign(sha256(inputOf(token)), signer, { lowS: false });
    expect(Buffer.from(deterministic).toString('base64url')).toBe(partsOf(token)[2]);
  });

  test('a session is no verification token, though the key be the same', () => {
    expect(verifyCompact(publicKey, signSessionJwt(signer, session))).toBeUndefined();
  });

  test('a profile adds its id and scope, and its name is the type', () => {
    const profile = { id: 'p-1', name: 'read', scope: 'a >= 12' };
    expect(JSON.parse(payloadOf(signSessionJwt(signer, { ...session, profile })))).toEqual({
      exp: 1893456000,
      public_key: toHex(API_KEY),
      session_type: 'read',
      user_id: USER,
      organization_id: ORGANIZATION,
      session_profile_id: 'p-1',
      scope: 'a >= 12',
    });
  });

  test('plain base64 decodes the payload, in all three alignments', () => {
    for (const name of ['a', 'ab', 'abc']) {
      const made = signSessionJwt(signer, { ...session, profile: { id: 'p', name, scope: 'a >= 12' } });
      expect(partsOf(made)[1]).toMatch(/^[A-Za-z0-9]+$/);
    }
  });

  test('a key is a point each time, in whichever form it comes, and whatever was signed before', () => {
    const uncompressed = publicKeyOf(labelled('a session key'));
    const compressed = compressPoint(uncompressed);
    const off = Uint8Array.from(uncompressed, (byte, index) => (index === 64 ? byte ^ 1 : byte));
    const keyIn = (publicKey: Uint8Array): unknown =>
      JSON.parse(payloadOf(signSessionJwt(signer, { ...session, publicKey }))).public_key;
    for (const _round of [1, 2]) {
      for (const form of [uncompressed, compressed]) expect(keyIn(form)).toBe(toHex(compressed));
      for (const bad of [off, compressed.subarray(1), Uint8Array.of(...compressed, 0), new Uint8Array(33)])
        expect(() => keyIn(bad)).toThrow(refused);
    }
  });

  test('an expiry that is no time is refused', () => {
    for (const expiresAtSeconds of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => signSessionJwt(signer, { ...session, expiresAtSeconds })).toThrow(refused);
    }
  });
});

describe('escaping', () => {
  test('leaves neither character and keeps the value', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.string({ unit: 'grapheme-ascii' }), (texts, ascii) => {
        const value = { ascii, texts };
        const json = clientSafeJson(value);
        expect(Buffer.from(json, 'utf8').toString('base64url')).not.toMatch(/[-_]/);
        expect(JSON.parse(json)).toEqual(value);
      }),
      { numRuns: 100 },
    );
  });

  test('every character below 256, and one of two units', () => {
    for (let code = 0; code < 256; code += 1) {
      for (const pad of ['', 'x', 'xx']) {
        const value = { a: pad + String.fromCharCode(code) };
        const text = Buffer.from(clientSafeJson(value), 'utf8').toString('base64');
        expect(text).not.toMatch(/[+/]/);
        expect(JSON.parse(Buffer.from(text, 'base64').toString('latin1'))).toEqual(value);
      }
    }
    expect(clientSafeJson({ a: '>😀' })).toBe('{"a":"\\u003e\\ud83d\\ude00"}');
  });
});

describe('verification token, vector 8', () => {
  const signer = labelled('vector otp token signer');
  const publicKey = publicKeyOf(signer);
  const text =
    'eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJleHAiOiIxODkzNDU2MDAwMDAwIiwiaWQiOiIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDMiLCJvcmdhbml6YXRpb25faWQiOiIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDEiLCJ2ZXJpZmljYXRpb25fdHlwZSI6Ik9UUF9UWVBFX0VNQUlMIiwiY29udGFjdCI6InVzZXJAZXhhbXBsZS5jb20iLCJwdWJsaWNfa2V5IjoiMDI0OWQyZDhiMDBkNGQzOGM4MjU0NDE5ZGYzMWE0MjRlNjgwZDg1Y2ExNGIwOTkyMTJhYzcwYzNhN2IwZDBmYzhhIn0.LZow9AbcrVLQjVtgxGlcnVoKcMfiCgxGGv5aoer0VsR_CSvg51qpHg8hTZm3JyaAZrk_5mOFAsMj6veO83rV8g';
  const token: VerificationToken = {
    id: TOKEN_ID,
    verificationType: 'OTP_TYPE_EMAIL',
    contact: 'user@example.com',
    organizationId: ORGANIZATION,
    expiresAtMs: 1893456000000,
    publicKey: API_KEY,
  };
  const before = token.expiresAtMs - 1;

  test('signs and verifies', () => {
    const made = signVerificationToken(signer, token);
    expect(inputOf(made)).toBe(inputOf(text));
    const deterministic = p256.sign(fromText(inputOf(text)), signer, { lowS: false });
    expect(Buffer.from(deterministic).toString('base64url')).toBe(partsOf(text)[2]);
    for (const one of [made, text]) {
      const read = verifyVerificationToken(publicKey, one, before);
      expect({ ...read, publicKey: toHex(read.publicKey!) }).toEqual({ ...token, publicKey: toHex(API_KEY) });
    }
  });

  test('expires at its millisecond', () => {
    expect(() => verifyVerificationToken(publicKey, text, token.expiresAtMs)).toThrow(/expired/);
  });

  test('without a key there is no claim of one', () => {
    const { publicKey: _, ...unbound } = token;
    const made = signVerificationToken(signer, unbound);
    expect(payloadOf(made)).not.toContain('public_key');
    expect(verifyVerificationToken(publicKey, made, before)).toEqual(unbound);
  });

  test('contacts of any kind return', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (contact) => {
        const made = signVerificationToken(importSigningKey(signer), { ...token, contact });
        expect(partsOf(made)[1]).toMatch(/^[A-Za-z0-9]+$/);
        expect(verifyVerificationToken(publicKey, made, before).contact).toBe(contact);
      }),
      { numRuns: 50 },
    );
  });

  test('no changed character verifies', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let i = 0; i < text.length; i += 1) {
      const at = alphabet.indexOf(text[i]!);
      const other = at < 0 ? 'A' : alphabet[at ^ 1];
      const changed = text.slice(0, i) + other + text.slice(i + 1);
      expect(() => verifyVerificationToken(publicKey, changed, before)).toThrow(refused);
    }
    for (const other of [`${text}=`, `${text}.`, ` ${text}`, `${text}\n`, '', '..', 'x'.repeat(TOKEN_LENGTH_MAX + 1)]) {
      expect(() => verifyVerificationToken(publicKey, other, before)).toThrow(refused);
    }
    expect(() => verifyVerificationToken(publicKeyOf(labelled('another')), text, before)).toThrow(refused);
  });

  test('claims of the wrong kind are refused, though signed', () => {
    const claims = JSON.parse(payloadOf(text));
    const header = { typ: 'JWT', alg: 'ES256' };
    const signed = (payload: string) => signCompact(signer, header, payload, 'once');
    expect(verifyVerificationToken(publicKey, signed(JSON.stringify(claims)), before).id).toBe(TOKEN_ID);
    for (const other of [
      { ...claims, exp: 1893456000000 },
      { ...claims, exp: '1e15' },
      { ...claims, exp: '99999999999999999999' },
      { ...claims, id: '' },
      { ...claims, contact: undefined },
      { ...claims, public_key: '' },
      { ...claims, public_key: toHex(publicKey) },
      { ...claims, organization_id: 5 },
      [claims],
      null,
    ]) {
      expect(() => verifyVerificationToken(publicKey, signed(JSON.stringify(other)), before)).toThrow(refused);
    }
    for (const alg of ['none', 'HS256', 'es256', 'ES384', undefined]) {
      const other = signCompact(signer, { ...header, alg }, JSON.stringify(claims), 'once');
      expect(verifyCompact(publicKey, other)).toBeUndefined();
    }
    expect(verifyCompact(publicKey, signCompact(signer, { ...header, crit: ['exp'] }, '{}', 'once'))).toBeUndefined();
  });

  test('empty claims and bad times are not signed', () => {
    for (const name of ['id', 'verificationType', 'contact', 'organizationId'] as const) {
      expect(() => signVerificationToken(signer, { ...token, [name]: '' })).toThrow(refused);
    }
    expect(() => signVerificationToken(signer, { ...token, expiresAtMs: 1.5 })).toThrow(refused);
  });

  test('random text is refused', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.base64String()), (one, parts) => {
        expect(verifyCompact(publicKey, one)).toBeUndefined();
        expect(verifyCompact(publicKey, parts.join('.'))).toBeUndefined();
      }),
    );
  });
});

describe('app proof, vector 12', () => {
  const encryptionKey = publicKeyOf(labelled('vector eph enc'));
  const signer = labelled('vector eph sign');
  const keys =
    '04220e4c2d8f0a6e0ace66f93421722789771193b219813135860abb76d79a1c591f22052932cd9a652b2896c50e4099889f5362c3193a38c3f7e477a78cbbf6670466c79c76c8fe4a2f81d2c35b0b0652d0f5ddf2e07982bb77026dbbd237aeb86f0c9f8b5ec7e688b8c11b8fc6796c25ea70399241b01638eed3d32b295a3b33df';
  const payload = `{"type":"APP_PROOF_TYPE_ADDRESS_DERIVATION","timestampMs":"1758909116000","addressDerivationProof":{"organizationId":"00000000-0000-4000-8000-000000000001","walletId":"00000000-0000-4000-8000-000000000004","derivationPath":"m/44'/60'/0'/0/0","address":"0x9858EfFD232B4033E47d90003D41EC34EcaEda94"}}`;
  const signature =
    '31eea0a5e85c2dd939d623c029a6cfdb4c717dcd62b9ac121b0a3dee361ed84fa3564e5779484ecc7136150dccd3859f6df2f8b817fc8ba22d29ccffab0ceb86';

  test('the payload and a signature by the second key', () => {
    const made = addressDerivationPayload(1758909116000, {
      organizationId: ORGANIZATION,
      walletId: '00000000-0000-4000-8000-000000000004',
      derivationPath: "m/44'/60'/0'/0/0",
      address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
    });
    expect(made).toBe(payload);
    const proof = signAppProof(signer, encryptionKey, made);
    expect(proof).toMatchObject({
      scheme: 'SIGNATURE_SCHEME_EPHEMERAL_KEY_P256',
      publicKey: keys,
      proofPayload: payload,
      signature: expect.stringMatching(/^[0-9a-f]{128}$/),
    });
    const second = fromHex(keys.slice(130));
    expect(verifyRaw(second, fromText(payload), fromHex(proof.signature))).toBe(true);
    expect(verifyRaw(fromHex(keys.slice(0, 130)), fromText(payload), fromHex(proof.signature))).toBe(false);
    expect(verifyRaw(second, fromText(payload), fromHex(signature))).toBe(true);
    expect(toHex(p256.sign(fromText(payload), signer, { lowS: false }))).toBe(signature);
  });

  test('a policy outcome', () => {
    const outcome = {
      organizationId: ORGANIZATION,
      outcome: 'OUTCOME_ALLOW',
      decisionContextDigest: 'aa',
      organizationDataDigest: 'bb',
      parentOrganizationDataDigest: 'cc',
      userRequestApprovals: [],
    };
    expect(JSON.parse(policyOutcomePayload(7, outcome))).toEqual({
      type: 'APP_PROOF_TYPE_POLICY_OUTCOME',
      timestampMs: '7',
      policyOutcomeProof: outcome,
    });
  });
});
