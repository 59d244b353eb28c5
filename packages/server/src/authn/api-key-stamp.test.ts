import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { verifyApiKeyStamp } from './api-key-stamp.ts';
import { type ApiKeyScheme, type ApiKeyStamp, parseStamp } from './stamp-headers.ts';

const P256 = 'SIGNATURE_SCHEME_TK_API_P256';
const SECP256K1 = 'SIGNATURE_SCHEME_TK_API_SECP256K1';
const EIP191 = 'SIGNATURE_SCHEME_TK_API_SECP256K1_EIP191';
const ED25519 = 'SIGNATURE_SCHEME_TK_API_ED25519';

const BODY = Buffer.from('{"organizationId":"00000000-0000-4000-8000-000000000001"}');

const P256_STAMP =
  'eyJwdWJsaWNLZXkiOiIwMjQ5ZDJkOGIwMGQ0ZDM4YzgyNTQ0MTlkZjMxYTQyNGU2ODBkODVjYTE0YjA5OTIxMmFjNzBjM2E3YjBkMGZjOGEiLCJz' +
  'Y2hlbWUiOiJTSUdOQVRVUkVfU0NIRU1FX1RLX0FQSV9QMjU2Iiwic2lnbmF0dXJlIjoiMzA0NDAyMjAzZmFjMWY2Zjk4NjUwMmJlYjI2MzhiY2Mz' +
  'Yzg1ZDc2YzlmZGZkNDVhNWE1NWM2ZjI3ODVkZGQ3MDE4MzQzYTk0MDIyMDY1MGQxNzY3MjM3MTMwYzVjNWE1NTg0MzEwOGQ5NmVhYjE5Nzc2ODMw' +
  'ZmYzZDRiNTAzNzQ0MTRiOWMwYjk1ZjEifQ';
const ED25519_PUBLIC = '2fe54e5a63ac71e4e30e61398ebc2704c8cd4ef2b0a23d6e043c245f561476e7';
const ED25519_SIGNATURE =
  '2d778b39cdc69590dfc83310ac841ed6ce8dad538f89f2e00fc4d464e2d5f945' +
  '7680f424e79429df51d5d1afb470e916db046151c1b0a372144715fbdc268401';
const SECP256K1_PUBLIC = '02b5413b489afcd861b00e8369bce16db37e6ba802f1a7e3eb32843fa9f304d7a9';
const SECP256K1_SIGNATURE =
  '30440220421d041e3da5e679e8c1a171a4f608ceadb8c587ebb592f66378c6f5d71e1d6902203f5e78e348f2e562d4e4378d8d7b062b9da9' +
  '25721f3551da7c34b95f98c049ba';
const EIP191_DIGEST = '5b04da2fd4f25bb0a4870284dbbcfabf8f6c91b6c2160fb08f3808a2f210c4b8';
const EIP191_SIGNATURE =
  '3045022100893b391b727b051d0c0a401ad843e04bccfd884d27a5d67cabee4f632a31334502203ef92695db83f855058f78b2b2eed96491' +
  'c86a40d795ddd8c800133184ff4e45';

const p256Secret = secretOf('test vector api key p256');
const secp256k1Secret = secretOf('vector secp256k1 api key');

function secretOf(label: string): Buffer {
  return createHash('sha256').update(label).digest();
}

function stampOf(scheme: ApiKeyScheme, publicKey: string, signature: string): ApiKeyStamp {
  const value = Buffer.from(JSON.stringify({ publicKey, scheme, signature })).toString('base64url');
  const stamp = parseStamp({ 'x-stamp': value });
  if (stamp.kind !== 'api-key') throw new Error('not an api key stamp');
  return stamp;
}

/** DER with each integer at its full 32 bytes, as the wallet client writes it. */
function fullWidthDer(raw: Uint8Array): string {
  const integer = (bytes: Uint8Array) => {
    const signed = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), bytes]) : Buffer.from(bytes);
    return Buffer.concat([Buffer.of(0x02, signed.length), signed]);
  };
  const content = Buffer.concat([integer(raw.subarray(0, 32)), integer(raw.subarray(32))]);
  return Buffer.concat([Buffer.of(0x30, content.length), content]).toString('hex');
}

function eip191Digest(body: Uint8Array): Uint8Array {
  return keccak_256(Buffer.concat([Buffer.from(`\u0019Ethereum Signed Message:\n${body.length}`), body]));
}

/** The other valid s of a signature. */
function flipS(raw: Uint8Array, order: bigint): Buffer {
  const s = order - BigInt(`0x${Buffer.from(raw.subarray(32)).toString('hex')}`);
  return Buffer.concat([raw.subarray(0, 32), Buffer.from(s.toString(16).padStart(64, '0'), 'hex')]);
}

function compressedHex(key: KeyObject): string {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const odd = (Buffer.from(y, 'base64url').at(-1) ?? 0) & 1;
  return `0${2 + odd}${Buffer.from(x, 'base64url').toString('hex')}`;
}

const vectors = {
  p256: stampOf(P256, '0249d2d8b00d4d38c8254419df31a424e680d85ca14b099212ac70c3a7b0d0fc8a', vectorSignature()),
  ed25519: stampOf(ED25519, ED25519_PUBLIC, ED25519_SIGNATURE),
  secp256k1: stampOf(SECP256K1, SECP256K1_PUBLIC, SECP256K1_SIGNATURE),
  eip191: stampOf(EIP191, SECP256K1_PUBLIC, EIP191_SIGNATURE),
};

function vectorSignature(): string {
  const { signature } = JSON.parse(Buffer.from(P256_STAMP, 'base64url').toString()) as { signature: string };
  return signature;
}

describe('published vectors', () => {
  test('P-256, from the header value', async () => {
    const stamp = parseStamp({ 'x-stamp': P256_STAMP });
    expect(stamp.kind === 'api-key' && (await verifyApiKeyStamp(stamp, BODY))).toBe(true);
  });

  test('the keys belong to their labels', () => {
    expect(Buffer.from(p256.getPublicKey(p256Secret)).toString('hex')).toBe(vectors.p256.publicKey);
    expect(Buffer.from(secp256k1.getPublicKey(secp256k1Secret)).toString('hex')).toBe(SECP256K1_PUBLIC);
    expect(Buffer.from(eip191Digest(BODY)).toString('hex')).toBe(EIP191_DIGEST);
  });

  test.each(Object.entries(vectors))('%s verifies, and no other body does', async (_name, stamp) => {
    await expect(verifyApiKeyStamp(stamp, BODY)).resolves.toBe(true);
    await expect(verifyApiKeyStamp(stamp, new Uint8Array(BODY))).resolves.toBe(true);
    await expect(verifyApiKeyStamp(stamp, Buffer.concat([BODY, Buffer.from(' ')]))).resolves.toBe(false);
    await expect(verifyApiKeyStamp(stamp, new Uint8Array())).resolves.toBe(false);
  });

  test.each(Object.entries(vectors))(
    '%s with any one bit of its signature changed is refused',
    async (_name, stamp) => {
      for (const index of [0, 1, 31, 32, 63]) {
        const signature = Uint8Array.from(stamp.signature);
        signature[index] = (signature[index] ?? 0) ^ 0x10;
        await expect(verifyApiKeyStamp({ ...stamp, signature }, BODY)).resolves.toBe(false);
      }
    },
  );
});

describe('wrong key, curve or scheme', () => {
  test('another key on the same curve', async () => {
    const other = Buffer.from(p256.getPublicKey(secretOf('another key'))).toString('hex');
    await expect(verifyApiKeyStamp({ ...vectors.p256, publicKey: other }, BODY)).resolves.toBe(false);
  });

  test('the two secp256k1 schemes do not stand for each other', async () => {
    const { secp256k1: plain, eip191 } = vectors;
    await expect(verifyApiKeyStamp({ ...plain, scheme: EIP191 }, BODY)).resolves.toBe(false);
    await expect(verifyApiKeyStamp({ ...eip191, scheme: SECP256K1 }, BODY)).resolves.toBe(false);
  });

  test('a key of another curve does not get past the header', () => {
    expect(() => stampOf(ED25519, SECP256K1_PUBLIC, ED25519_SIGNATURE)).toThrow('must be 32 bytes');
    expect(() => stampOf(P256, ED25519_PUBLIC, SECP256K1_SIGNATURE)).toThrow('P-256 public key');
    // The x of this key happens to be no x on the other curve.
    expect(() => stampOf(SECP256K1, vectors.p256.publicKey, SECP256K1_SIGNATURE)).toThrow('not a point on secp256k1');
  });

  test('r and s out of range are refused', async () => {
    for (const stamp of Object.values(vectors)) {
      for (const fill of [0x00, 0xff]) {
        const signature = Buffer.alloc(64, fill);
        await expect(verifyApiKeyStamp({ ...stamp, signature }, BODY)).resolves.toBe(false);
      }
    }
  });
});

describe('signatures that strict verifiers refuse', () => {
  test.each(['m288', 'm629'])('a full-width integer with a leading zero: %s', async (text) => {
    const body = Buffer.from(text);
    const raw = secp256k1.sign(body, secp256k1Secret);
    const components = [raw.subarray(0, 32), raw.subarray(32)];
    expect(components.some(([first = 1, second = 0x80]) => first === 0 && second < 0x80)).toBe(true);
    const stamp = stampOf(SECP256K1, SECP256K1_PUBLIC, fullWidthDer(raw));
    await expect(verifyApiKeyStamp(stamp, body)).resolves.toBe(true);
    await expect(verifyApiKeyStamp(stamp, BODY)).resolves.toBe(false);
  });

  test('high S is valid in each ECDSA scheme', async () => {
    const cases = [
      [P256, vectors.p256, p256.Point.CURVE().n],
      [SECP256K1, vectors.secp256k1, secp256k1.Point.CURVE().n],
      [EIP191, vectors.eip191, secp256k1.Point.CURVE().n],
    ] as const;
    for (const [scheme, vector, order] of cases) {
      const flipped = stampOf(scheme, vector.publicKey, fullWidthDer(flipS(vector.signature, order)));
      expect(Buffer.compare(flipped.signature, vector.signature)).not.toBe(0);
      await expect(verifyApiKeyStamp(flipped, BODY)).resolves.toBe(true);
    }
  });
});

describe('sign and verify', () => {
  const bodies = fc.uint8Array({ maxLength: 300 });

  test.each([
    ['P-256', P256],
    ['secp256k1', SECP256K1],
  ] as const)('%s, signed by OpenSSL', async (namedCurve, scheme) => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const stamp = stampOf(scheme, compressedHex(publicKey), sign('sha256', body, privateKey).toString('hex'));
        expect(await verifyApiKeyStamp(stamp, body)).toBe(true);
        expect(await verifyApiKeyStamp(stamp, Buffer.concat([body, Buffer.of(0)]))).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  test('Ed25519, signed by OpenSSL', async () => {
    const seed = createHash('sha256').update('vector ed25519 api key').digest();
    const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
    const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
    expect(sign(null, BODY, privateKey).toString('hex')).toBe(ED25519_SIGNATURE);
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const stamp = stampOf(ED25519, ED25519_PUBLIC, sign(null, body, privateKey).toString('hex'));
        expect(await verifyApiKeyStamp(stamp, body)).toBe(true);
        expect(await verifyApiKeyStamp(stamp, Buffer.concat([body, Buffer.of(0)]))).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  test('EIP-191, the length prefix counts bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          bodies,
          fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(text)),
        ),
        async (body) => {
          const raw = secp256k1.sign(eip191Digest(body), secp256k1Secret, { prehash: false });
          const stamp = stampOf(EIP191, SECP256K1_PUBLIC, fullWidthDer(raw));
          expect(await verifyApiKeyStamp(stamp, body)).toBe(true);
          expect(await verifyApiKeyStamp(stamp, Buffer.concat([body, Buffer.of(0)]))).toBe(false);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('random signatures are refused without an error', async () => {
    const stamps = fc.constantFrom(...Object.values(vectors));
    await fc.assert(
      fc.asyncProperty(stamps, fc.uint8Array({ minLength: 64, maxLength: 64 }), async (stamp, signature) => {
        expect(await verifyApiKeyStamp({ ...stamp, signature }, BODY)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });
});
