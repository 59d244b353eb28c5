import fc from 'fast-check';
import { expect, test } from 'vitest';
import { concat, fromBase64url, fromHex, sha256, toBase64url, toHex, toUtf8 } from './bytes.ts';

test('hex and base64url agree with Node and come back', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(toHex(bytes)).toBe(Buffer.from(bytes).toString('hex'));
      expect(toBase64url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
      expect(fromHex(toHex(bytes))).toEqual(new Uint8Array(bytes));
      expect(fromBase64url(toBase64url(bytes))).toEqual(new Uint8Array(bytes));
    }),
  );
});

test('what is not hex or base64url is refused', () => {
  expect(fromHex('0')).toBeUndefined();
  expect(fromHex('0g')).toBeUndefined();
  expect(fromBase64url('a+b/')).toBeUndefined();
  expect(fromBase64url('a')).toBeUndefined();
  expect(fromBase64url('YQ==')).toEqual(toUtf8('a'));
});

test('parts are joined in order', () => {
  expect(concat(Uint8Array.of(1), new Uint8Array(), Uint8Array.of(2, 3))).toEqual(Uint8Array.of(1, 2, 3));
});

test('SHA-256 of "abc" (FIPS 180-4)', async () => {
  expect(toHex(await sha256(toUtf8('abc')))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
