import { createECDH, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../lib/errors.ts';
import { lruCache } from '../lib/lru.ts';
import { type KeyCurve, keyObject, normalizePublicKey, verifyOnPool } from './public-key.ts';

const P256_KEY = '0249d2d8b00d4d38c8254419df31a424e680d85ca14b099212ac70c3a7b0d0fc8a';
const SECP256K1_KEY = '02b5413b489afcd861b00e8369bce16db37e6ba802f1a7e3eb32843fa9f304d7a9';
const ED25519_KEY = '2fe54e5a63ac71e4e30e61398ebc2704c8cd4ef2b0a23d6e043c245f561476e7';

function refusal(curve: KeyCurve, hex: string): string {
  try {
    normalizePublicKey(curve, hex);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'INVALID_PUBLIC_KEY') return error.message;
    throw error;
  }
  throw new Error('the key was accepted');
}

function freshPoint(curve: 'prime256v1' | 'secp256k1'): { compressed: string; uncompressed: string; hybrid: string } {
  const ecdh = createECDH(curve);
  ecdh.generateKeys();
  return {
    compressed: ecdh.getPublicKey('hex', 'compressed'),
    uncompressed: ecdh.getPublicKey('hex', 'uncompressed'),
    hybrid: ecdh.getPublicKey('hex', 'hybrid'),
  };
}

describe('normalizePublicKey', () => {
  test.each([
    ['P256', P256_KEY],
    ['SECP256K1', SECP256K1_KEY],
    ['ED25519', ED25519_KEY],
  ] as const)('keeps a canonical %s key and lowers its case', (curve, key) => {
    expect(normalizePublicKey(curve, key)).toBe(key);
    expect(normalizePublicKey(curve, key.toUpperCase())).toBe(key);
  });

  test.each([
    ['P256', 'prime256v1'],
    ['SECP256K1', 'secp256k1'],
  ] as const)('compresses an uncompressed %s key', (curve, openssl) => {
    for (let round = 0; round < 8; round += 1) {
      const { compressed, uncompressed, hybrid } = freshPoint(openssl);
      expect(normalizePublicKey(curve, uncompressed)).toBe(compressed);
      expect(normalizePublicKey(curve, uncompressed.toUpperCase())).toBe(compressed);
      expect(refusal(curve, hybrid)).toContain('compressed (33 bytes) or uncompressed (65 bytes)');
    }
  });

  test.each([
    ['', 'hexadecimal'],
    [`0x${P256_KEY}`, 'hexadecimal'],
    [`${P256_KEY}\n`, 'hexadecimal'],
    [P256_KEY.slice(1), 'hexadecimal'],
    ['zz'.repeat(33), 'hexadecimal'],
    ['00', 'compressed (33 bytes)'],
    [P256_KEY.slice(2), 'compressed (33 bytes)'],
    [`${P256_KEY}00`, 'compressed (33 bytes)'],
    [`05${P256_KEY.slice(2)}`, 'compressed (33 bytes)'],
    [`04${P256_KEY.slice(2)}`, 'compressed (33 bytes)'],
    ['00'.repeat(33), 'compressed (33 bytes)'],
    [`04${'00'.repeat(64)}`, 'not a point on P-256'],
    [`02${'ff'.repeat(32)}`, 'not a point on P-256'],
  ])('refuses %j as a P-256 key', (hex, message) => {
    expect(refusal('P256', hex)).toContain(message);
  });

  test('refuses a point that is on another curve', () => {
    const { uncompressed } = freshPoint('secp256k1');
    expect(refusal('P256', uncompressed)).toContain('not a point on P-256');
    expect(refusal('SECP256K1', freshPoint('prime256v1').uncompressed)).toContain('not a point on secp256k1');
  });

  test('refuses an uncompressed point with one bit changed', () => {
    const { uncompressed } = freshPoint('prime256v1');
    const last = Number.parseInt(uncompressed.slice(-2), 16) ^ 1;
    expect(refusal('P256', uncompressed.slice(0, -2) + last.toString(16).padStart(2, '0'))).toContain('not a point');
  });

  const smallOrder = [
    `01${'00'.repeat(31)}`,
    '00'.repeat(32),
    `${'00'.repeat(31)}80`,
    `ec${'ff'.repeat(30)}7f`,
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ];
  test.each(smallOrder)('refuses the Ed25519 key %s of small order', (hex) => {
    expect(refusal('ED25519', hex)).toBe('Ed25519 public key has small order');
  });

  test.each([
    ['y equal to p', `ed${'ff'.repeat(30)}7f`],
    ['y equal to p + 1', `ee${'ff'.repeat(30)}7f`],
    ['all bits set', 'ff'.repeat(32)],
    ['x zero with a sign', `01${'00'.repeat(30)}80`],
    ['off the curve', '02'.padEnd(64, '0')],
  ])('refuses an Ed25519 key: %s', (_name, hex) => {
    expect(refusal('ED25519', hex)).toBe('public key is not a point on Ed25519');
  });

  test('refuses an Ed25519 key of another length', () => {
    expect(refusal('ED25519', ED25519_KEY.slice(2))).toBe('Ed25519 public key must be 32 bytes');
    expect(refusal('ED25519', P256_KEY)).toBe('Ed25519 public key must be 32 bytes');
  });

  test('answers or refuses with one error for any text', () => {
    const curves = fc.constantFrom<KeyCurve>('P256', 'SECP256K1', 'ED25519');
    const texts = fc.oneof(
      fc.string({ maxLength: 140 }),
      fc.uint8Array({ maxLength: 70 }).map((bytes) => Buffer.from(bytes).toString('hex')),
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => `02${Buffer.from(bytes).toString('hex')}`),
      fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('hex')),
    );
    fc.assert(
      fc.property(curves, texts, (curve, text) => {
        try {
          const canonical = normalizePublicKey(curve, text);
          expect(normalizePublicKey(curve, canonical)).toBe(canonical);
          expect(keyObject(curve, canonical).type).toBe('public');
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
          expect((error as ApiError).code).toBe('INVALID_PUBLIC_KEY');
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('keyObject', () => {
  test('answers the same object for the same key', () => {
    expect(keyObject('P256', P256_KEY)).toBe(keyObject('P256', P256_KEY));
  });

  test('keeps the curves apart', () => {
    expect(keyObject('P256', P256_KEY).asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
    expect(keyObject('SECP256K1', SECP256K1_KEY).asymmetricKeyDetails?.namedCurve).toBe('secp256k1');
    expect(keyObject('ED25519', ED25519_KEY).asymmetricKeyType).toBe('ed25519');
  });

  test('refuses a key that is not in canonical form', () => {
    const { uncompressed } = freshPoint('prime256v1');
    expect(() => keyObject('P256', uncompressed)).toThrow('canonical');
  });

  test('holds the key that signs', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const data = Buffer.from('data');
    const key = keyObject('ED25519', rawEd25519(publicKey));
    await expect(verifyOnPool(null, data, { key }, sign(null, data, privateKey))).resolves.toBe(true);
    await expect(verifyOnPool(null, data, { key }, Buffer.alloc(64))).resolves.toBe(false);
  });
});

describe('lruCache', () => {
  test('forgets what was used least recently', () => {
    const cache = lruCache<number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    expect(cache.get('a')).toBe(1);
    cache.set('c', 3);
    expect(cache.has('b')).toBe(false);
    expect(cache.get('a')).toBe(1);
    expect(cache.get('c')).toBe(3);
    expect(cache.get('d')).toBeUndefined();
  });

  test('setting a known entry again evicts nothing', () => {
    const cache = lruCache<number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.set('a', 3);
    expect(cache.get('a')).toBe(3);
    expect(cache.get('b')).toBe(2);
  });
});

function rawEd25519(key: KeyObject): string {
  return Buffer.from(key.export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
}
