import { sign } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyringError } from '../errors.ts';
import { ed25519PublicKey, importEd25519Key, signEd25519 } from './ed25519.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

// RFC 8032, 7.1, tests 1 to 3.
test.each([
  [
    '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
  [
    'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
])('RFC 8032, key %s', (privateKey, publicKey, message, signature) => {
  expect(hex(ed25519PublicKey(bytes(privateKey)))).toBe(publicKey);
  expect(hex(signEd25519(bytes(message), bytes(privateKey)))).toBe(signature);
});

test('another implementation makes the same signatures', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(key, fc.uint8Array({ maxLength: 2000 }), (privateKey, message) => {
      expect(hex(signEd25519(message, privateKey))).toBe(hex(ed25519.sign(message, privateKey)));
      expect(hex(ed25519PublicKey(privateKey))).toBe(hex(ed25519.getPublicKey(privateKey)));
      expect(hex(sign(null, message, importEd25519Key(privateKey)))).toBe(hex(ed25519.sign(message, privateKey)));
    }),
    { numRuns: 50 },
  );
});

test('a view into a larger array is taken as the bytes it shows', () => {
  const large = Uint8Array.from({ length: 96 }, (_, index) => index);
  const view = large.subarray(40, 72);
  expect(hex(signEd25519(view, view))).toBe(hex(ed25519.sign(view, view.slice())));
  expect(hex(sign(null, view, importEd25519Key(view)))).toBe(hex(ed25519.sign(view, view.slice())));
});

test.each([[new Uint8Array(31)], [new Uint8Array(33)], [new Uint8Array(64)], ['text'], [null]])(
  'another key than 32 bytes is refused',
  (key) => {
    expect(() => signEd25519(new Uint8Array(1), key as Uint8Array)).toThrow(KeyringError);
    expect(() => ed25519PublicKey(key as Uint8Array)).toThrow(KeyringError);
    expect(() => importEd25519Key(key as Uint8Array)).toThrow(KeyringError);
  },
);
