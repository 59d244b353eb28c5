import { createHash } from 'node:crypto';
import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyringError } from '../errors.ts';
import {
  addSecp256k1Keys,
  secp256k1PublicKey,
  signEcdsaSecp256k1,
  signSchnorr,
  signTaproot,
  taprootPrivateKey,
  taprootPublicKey,
  verifyEcdsaSecp256k1,
  verifySchnorr,
  xOnlyPublicKey,
} from './secp256k1.ts';
import { joinSignature } from './signature.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const ORDER = secp256k1.Point.CURVE().n;
const scalar = (number: bigint): Uint8Array => bytes(number.toString(16).padStart(64, '0'));
const number = (array: Uint8Array): bigint => BigInt(`0x${hex(array)}`);
const array32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const key = fc
  .oneof(array32, fc.constantFrom(1n, 2n, ORDER - 1n).map(scalar))
  .filter((candidate) => secp256k1.utils.isValidSecretKey(candidate));
const digest = fc.oneof(
  array32,
  fc.constantFrom(0, 255).map((fill) => new Uint8Array(32).fill(fill)),
);

test('a published signature with the nonce of RFC 6979', () => {
  const hash = createHash('sha256').update('Satoshi Nakamoto').digest();
  const signature = signEcdsaSecp256k1(hash, scalar(1n));
  expect(hex(signature.r)).toBe('934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8');
  expect(hex(signature.s)).toBe('2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5');
});

test('another implementation makes the same signatures and recovers the key', () => {
  fc.assert(
    fc.property(digest, key, (hash, privateKey) => {
      const signature = signEcdsaSecp256k1(hash, privateKey);
      const recovered = secp256k1.sign(hash, privateKey, { prehash: false, lowS: true, format: 'recovered' });
      expect(`0${signature.v}${hex(joinSignature(signature))}`).toBe(hex(recovered));
      expect(number(signature.s) <= ORDER / 2n).toBe(true);
      const publicKey = secp256k1.recoverPublicKey(recovered, hash, { prehash: false });
      expect(hex(publicKey)).toBe(hex(secp256k1PublicKey(privateKey)));
      expect(verifyEcdsaSecp256k1(hash, publicKey, signature)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('a high s is refused unless it is asked for', () => {
  const hash = new Uint8Array(32).fill(5);
  const publicKey = secp256k1PublicKey(scalar(9n), 'uncompressed');
  const { r, s } = signEcdsaSecp256k1(hash, scalar(9n));
  const high = { r, s: scalar(ORDER - number(s)) };
  expect(verifyEcdsaSecp256k1(hash, publicKey, { r, s })).toBe(true);
  expect(verifyEcdsaSecp256k1(hash, publicKey, high)).toBe(false);
  expect(verifyEcdsaSecp256k1(hash, publicKey, high, true)).toBe(true);
  expect(verifyEcdsaSecp256k1(new Uint8Array(32), publicKey, { r, s })).toBe(false);
  expect(verifyEcdsaSecp256k1(hash, publicKey, { r, s: scalar(ORDER) })).toBe(false);
  expect(verifyEcdsaSecp256k1(hash, new Uint8Array(33), { r, s })).toBe(false);
});

test('the first vector of BIP-340', () => {
  expect(hex(xOnlyPublicKey(scalar(3n)))).toBe('f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9');
  expect(hex(signSchnorr(new Uint8Array(32), scalar(3n), new Uint8Array(32)))).toBe(
    'e907831f80848d1069a5371b402410364bdf1c5f8307b0084c55f1ce2dca821525f66a4a85ea8b71e482a74f382d2ce5ebeee8fdb2172f477df4900d310536c0',
  );
});

test('Schnorr signatures agree with another implementation', () => {
  fc.assert(
    fc.property(digest, key, array32, (hash, privateKey, auxiliary) => {
      const signature = signSchnorr(hash, privateKey, auxiliary);
      expect(hex(signature)).toBe(hex(schnorr.sign(hash, privateKey, auxiliary)));
      expect(verifySchnorr(hash, xOnlyPublicKey(privateKey), signature)).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test('without auxiliary bytes they are random', () => {
  const hash = new Uint8Array(32).fill(1);
  const [first, second] = [signSchnorr(hash, scalar(7n)), signSchnorr(hash, scalar(7n))];
  expect(hex(first)).not.toBe(hex(second));
  for (const signature of [first, second]) {
    expect(schnorr.verify(signature, hash, xOnlyPublicKey(scalar(7n)))).toBe(true);
    expect(verifySchnorr(hash, xOnlyPublicKey(scalar(8n)), signature)).toBe(false);
    expect(verifySchnorr(hash, new Uint8Array(32).fill(255), signature)).toBe(false);
    expect(verifySchnorr(new Uint8Array(31), xOnlyPublicKey(scalar(7n)), signature)).toBe(false);
  }
});

test('the first key-path input of BIP-341', () => {
  const internal = bytes('6b973d88838f27366ed61c9ad6367663045cb456e28335c109e30717ae0c6baa');
  expect(hex(taprootPrivateKey(internal))).toBe('2405b971772ad26915c8dcdf10f238753a9b837e5f8e6a86fd7c0cce5b7296d9');
  expect(hex(taprootPublicKey(xOnlyPublicKey(internal)).xOnly)).toBe(
    '53a1f6e454df1aa2776a2814a721372d6258050de330b3c6d10ee8f4e0dda343',
  );
  const sigHash = bytes('2514a6272f85cfa0f45eb907fcb0d121b808ed37c6ea160a5a9046ed5526d555');
  expect(hex(signTaproot(sigHash, internal, { auxiliary: new Uint8Array(32) }))).toBe(
    'ed7c1647cb97379e76892be0cacff57ec4a7102aa24296ca39af7541246d8ff14d38958d4cc1e2e478e4d4a764bbfd835b16d4e314b72937b29833060b87276c',
  );
});

test('the tweaked private key belongs to the tweaked public key, with and without a root', () => {
  fc.assert(
    fc.property(key, fc.option(array32, { nil: undefined }), digest, (privateKey, root, hash) => {
      const output = taprootPublicKey(xOnlyPublicKey(privateKey), root);
      const tweaked = taprootPrivateKey(privateKey, root);
      const point = secp256k1PublicKey(tweaked);
      expect(hex(point)).toBe(`0${2 + output.parity}${hex(output.xOnly)}`);
      const signature = signTaproot(hash, privateKey, root === undefined ? {} : { merkleRoot: root });
      expect(schnorr.verify(signature, hash, output.xOnly)).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test('sums of keys', () => {
  expect(number(addSecp256k1Keys(scalar(5n), scalar(6n))!)).toBe(11n);
  expect(number(addSecp256k1Keys(scalar(5n), scalar(0n))!)).toBe(5n);
  expect(number(addSecp256k1Keys(scalar(ORDER - 1n), scalar(ORDER - 1n))!)).toBe(ORDER - 2n);
  expect(addSecp256k1Keys(scalar(5n), scalar(ORDER - 5n))).toBeUndefined();
  expect(addSecp256k1Keys(scalar(5n), scalar(ORDER))).toBeUndefined();
});

test('what is no key, digest, root or point is refused', () => {
  const hash = new Uint8Array(32).fill(1);
  for (const wrong of [
    scalar(0n),
    scalar(ORDER),
    new Uint8Array(31).fill(1),
    new Uint8Array(33).fill(1),
    'text',
    null,
  ]) {
    const privateKey = wrong as Uint8Array;
    expect(() => signEcdsaSecp256k1(hash, privateKey)).toThrow(KeyringError);
    expect(() => signSchnorr(hash, privateKey)).toThrow(KeyringError);
    expect(() => signTaproot(hash, privateKey)).toThrow(KeyringError);
    expect(() => secp256k1PublicKey(privateKey)).toThrow(KeyringError);
    expect(() => xOnlyPublicKey(privateKey)).toThrow(KeyringError);
    expect(() => addSecp256k1Keys(privateKey, hash)).toThrow(KeyringError);
  }
  for (const wrong of [new Uint8Array(), new Uint8Array(31), new Uint8Array(64), 'text', undefined]) {
    expect(() => signEcdsaSecp256k1(wrong as Uint8Array, hash)).toThrow(KeyringError);
    expect(() => signSchnorr(wrong as Uint8Array, hash)).toThrow(KeyringError);
    if (wrong === undefined) continue;
    expect(() => signSchnorr(hash, hash, wrong as Uint8Array)).toThrow(KeyringError);
    expect(() => taprootPrivateKey(hash, wrong as Uint8Array)).toThrow(KeyringError);
    expect(() => taprootPublicKey(wrong as Uint8Array)).toThrow(KeyringError);
  }
  expect(() => taprootPublicKey(new Uint8Array(32).fill(255))).toThrow(KeyringError);
});

test('keys that are given in are left alone', () => {
  const privateKey = scalar(3n);
  signTaproot(new Uint8Array(32), privateKey);
  taprootPrivateKey(privateKey);
  signEcdsaSecp256k1(new Uint8Array(32), privateKey);
  expect(number(privateKey)).toBe(3n);
});
