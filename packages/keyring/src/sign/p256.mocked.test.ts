import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { KeyringError } from '../errors.ts';
import { p256PublicKey, signEcdsaP256 } from './p256.ts';
import { isP256Scalar } from './p256-scalar.ts';
import { joinSignature } from './signature.ts';

vi.mock('./p256-scalar.ts', async (original) => {
  const actual = await original<typeof import('./p256-scalar.ts')>();
  return { ...actual, isP256Scalar: vi.fn(actual.isP256Scalar) };
});

afterEach(() => vi.mocked(isP256Scalar).mockClear());

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest();
const ORDER = p256.Point.CURVE().n;
const array32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const key = fc.oneof(
  array32,
  fc.constantFrom(1n, 2n, ORDER - 1n).map((n) => bytes(n.toString(16).padStart(64, '0'))),
);
const digest = fc.oneof(
  array32,
  fc.constantFrom(0, 255).map((fill) => new Uint8Array(32).fill(fill)),
);

// RFC 6979, A.2.5, with s replaced by n - s where it is high.
test.each([
  [
    'sample',
    'efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716',
    0xf7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8n,
  ],
  [
    'test',
    'f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367',
    0x019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083n,
  ],
])('RFC 6979 signs %j so', (message, r, s) => {
  const privateKey = bytes('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721');
  const signature = signEcdsaP256(sha256(message), privateKey);
  expect(hex(signature.r)).toBe(r);
  expect(BigInt(`0x${hex(signature.s)}`)).toBe(s > ORDER / 2n ? ORDER - s : s);
});

test('another implementation makes the same signatures and recovers the key', () => {
  fc.assert(
    fc.property(digest, key, (hash, privateKey) => {
      fc.pre(p256.utils.isValidSecretKey(privateKey));
      const signature = signEcdsaP256(hash, privateKey);
      const recovered = p256.sign(hash, privateKey, { prehash: false, lowS: true, format: 'recovered' });
      expect(`0${signature.v}${hex(joinSignature(signature))}`).toBe(hex(recovered));
      const point = p256.recoverPublicKey(recovered, hash, { prehash: false });
      expect(hex(point)).toBe(hex(p256PublicKey(privateKey)));
    }),
    { numRuns: 60 },
  );
});

test('OpenSSL verifies', () => {
  fc.assert(
    fc.property(array32, fc.uint8Array({ maxLength: 200 }), (privateKey, message) => {
      fc.pre(p256.utils.isValidSecretKey(privateKey));
      const point = Buffer.from(p256PublicKey(privateKey, 'uncompressed'));
      const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
      const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
      const hash = createHash('sha256').update(message).digest();
      const signature = joinSignature(signEcdsaP256(hash, privateKey));
      expect(verify('sha256', message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)).toBe(true);
    }),
  );
});

test('a nonce out of range is followed by the next one of RFC 6979, step h', () => {
  const privateKey = bytes('c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721');
  const hash = sha256('sample');
  const hmac = (secret: Uint8Array, ...parts: Uint8Array[]): Buffer =>
    createHmac('sha256', secret).update(Buffer.concat(parts)).digest();
  let v: Uint8Array = Buffer.alloc(32, 1);
  let k: Uint8Array = Buffer.alloc(32);
  for (const byte of [0, 1]) {
    k = hmac(k, v, Uint8Array.of(byte), privateKey, hash);
    v = hmac(k, v);
  }
  v = hmac(k, v);
  expect(hex(v)).toBe('a6e3c57dd01abe90086538398355dd4c3b17aa873382b0f24d6129493d8aad60');
  k = hmac(k, v, Uint8Array.of(0));
  v = hmac(k, hmac(k, v));
  const expected = hex(p256.getPublicKey(v, true)).slice(2);

  vi.mocked(isP256Scalar).mockReturnValueOnce(true).mockReturnValueOnce(false);
  expect(hex(signEcdsaP256(hash, privateKey).r)).toBe(expected);
});

test('keys and nonces out of range, and digests of another length, are refused', () => {
  const good = new Uint8Array(32).fill(1);
  const order = bytes(ORDER.toString(16));
  for (const wrong of [new Uint8Array(32), order, new Uint8Array(32).fill(255), new Uint8Array(31).fill(1), null]) {
    expect(() => signEcdsaP256(good, wrong as Uint8Array)).toThrow(KeyringError);
    expect(() => p256PublicKey(wrong as Uint8Array)).toThrow(KeyringError);
  }
  for (const wrong of [new Uint8Array(), new Uint8Array(20), new Uint8Array(64), 'text']) {
    expect(() => signEcdsaP256(wrong as Uint8Array, good)).toThrow(KeyringError);
  }
});

test('the nonce is wiped', () => {
  const seen: Uint8Array[] = [];
  const privateKey = new Uint8Array(32).fill(3);
  signEcdsaP256(new Uint8Array(32).fill(4), privateKey);
  for (const [argument] of vi.mocked(isP256Scalar).mock.calls) seen.push(argument);
  // The calls are for the key, the nonce, x of its point and s.
  expect(seen).toHaveLength(4);
  expect(seen[0]).toBe(privateKey);
  expect(seen[1]!.every((byte) => byte === 0)).toBe(true);
  expect(privateKey.every((byte) => byte === 3)).toBe(true);
});
