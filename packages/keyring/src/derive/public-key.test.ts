import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Curve } from '../curve.ts';
import { KeyringError } from '../errors.ts';
import { isPrivateKeyOf, publicKeyOf } from './public-key.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const ORDERS = {
  CURVE_SECP256K1: 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141',
  CURVE_P256: 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551',
};

test('the generators of the curves', () => {
  const one = bytes('01'.padStart(64, '0'));
  expect(hex(publicKeyOf('CURVE_SECP256K1', one))).toBe(
    '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798',
  );
  expect(hex(publicKeyOf('CURVE_P256', one, 'uncompressed'))).toBe(
    '046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
  );
});

test('another implementation has the same public keys', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      fc.pre(secp256k1.utils.isValidSecretKey(key) && p256.utils.isValidSecretKey(key));
      expect(hex(publicKeyOf('CURVE_SECP256K1', key))).toBe(hex(secp256k1.getPublicKey(key, true)));
      expect(hex(publicKeyOf('CURVE_SECP256K1', key, 'uncompressed'))).toBe(hex(secp256k1.getPublicKey(key, false)));
      expect(hex(publicKeyOf('CURVE_P256', key))).toBe(hex(p256.getPublicKey(key, true)));
      expect(hex(publicKeyOf('CURVE_P256', key, 'uncompressed'))).toBe(hex(p256.getPublicKey(key, false)));
      expect(hex(publicKeyOf('CURVE_ED25519', key))).toBe(hex(ed25519.getPublicKey(key)));
      expect(hex(publicKeyOf('CURVE_ED25519', key, 'uncompressed'))).toBe(hex(ed25519.getPublicKey(key)));
    }),
    { numRuns: 30 },
  );
});

test.each(['CURVE_SECP256K1', 'CURVE_P256'] as const)('the range of private keys on %s', (curve) => {
  const order = BigInt(`0x${ORDERS[curve]}`);
  const key = (number: bigint): Uint8Array => bytes(number.toString(16).padStart(64, '0'));
  for (const number of [1n, 2n, order - 1n, order - 2n, order >> 1n]) {
    expect(isPrivateKeyOf(curve, key(number))).toBe(true);
    expect(publicKeyOf(curve, key(number)).length).toBe(33);
  }
  for (const number of [0n, order, order + 1n, 2n ** 256n - 1n]) {
    expect(isPrivateKeyOf(curve, key(number))).toBe(false);
    expect(() => publicKeyOf(curve, key(number))).toThrow(KeyringError);
  }
});

test('every 32 bytes are an Ed25519 key', () => {
  for (const fill of [0, 255]) expect(isPrivateKeyOf('CURVE_ED25519', new Uint8Array(32).fill(fill))).toBe(true);
});

test.each(['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'] as const)('other lengths are refused on %s', (curve) => {
  for (const key of [new Uint8Array(31).fill(1), new Uint8Array(33).fill(1), new Uint8Array(), 'text', null]) {
    expect(isPrivateKeyOf(curve, key as Uint8Array)).toBe(false);
    expect(() => publicKeyOf(curve, key as Uint8Array)).toThrow(KeyringError);
  }
});

test('other curves are refused', () => {
  expect(() => publicKeyOf('P256' as Curve, new Uint8Array(32).fill(1))).toThrow(KeyringError);
  expect(() => isPrivateKeyOf('P256' as Curve, new Uint8Array(32).fill(1))).toThrow(KeyringError);
});

test('a Buffer that shares a pool is taken as the bytes it shows', () => {
  const key = new Uint8Array(32).fill(7);
  for (const curve of ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'] as const) {
    expect(hex(publicKeyOf(curve, Buffer.from(key)))).toBe(hex(publicKeyOf(curve, key)));
  }
});
