import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromHex, fromText, labelled, toHex, toText } from '../test/fixtures/labels.ts';
import { normalizeOtpCode, otpHash } from './bundle/otp.ts';
import { CURVES } from './curve.ts';
import { MNEMONIC_LANGUAGES } from './derive/languages.ts';
import { KeyringError } from './errors.ts';
import { SERVICE_ROLES } from './keyring.ts';
import * as material from './material.ts';

const spec = readFileSync(new URL('../SPEC.md', import.meta.url), 'utf8');
const vector = (name: string): string => new RegExp(`^${name} = ([0-9a-f]+)$`, 'm').exec(spec)?.[1] ?? '';
const one = fromHex('01'.padStart(64, '0'));

test('the plaintexts of SPEC.md', () => {
  const entropy = new Uint8Array(16);
  const plain = { entropy, language: 'MNEMONIC_LANGUAGE_ENGLISH', passphrase: new Uint8Array(0) } as const;
  const protectedSeed = { entropy, language: 'MNEMONIC_LANGUAGE_JAPANESE', passphrase: fromText('TREZOR') } as const;
  expect(toHex(material.encodeSeed(plain))).toBe(vector('seed_plaintext'));
  expect(toHex(material.encodeSeed(protectedSeed))).toBe(vector('seed_with_passphrase_plaintext'));
  expect(toHex(material.encodePrivateKey('CURVE_SECP256K1', one))).toBe(vector('private_key_plaintext'));
  expect(toHex(material.encodePlain(one))).toBe(vector('target_plaintext'));
  expect(toHex(material.encodePlain(fromText('Custos ✓')))).toBe(vector('secret_plaintext'));
  expect(toHex(material.encodeServiceKey('on-ramp-secret', one))).toBe(vector('service_key_plaintext'));
  expect(toHex(material.encodeServiceKey('webhook-signer', labelled('vector webhook key')))).toBe(
    vector('webhook_key_plaintext'),
  );
  const code = toText(fromHex(vector('otp_code')));
  const hashKey = fromHex(vector('otp_hash_key'));
  expect(toHex(fromText(normalizeOtpCode(code)))).toBe(vector('otp_code_normalized'));
  expect(toHex(otpHash(hashKey, code))).toBe(vector('otp_hash'));
  const otp = { hashKey, hash: otpHash(hashKey, code), target: one };
  expect(toHex(material.encodeOtp(otp))).toBe(vector('otp_plaintext'));
  expect(toHex(material.encodePlain(fromText('client-secret-123')))).toBe(vector('oauth_secret_plaintext'));
  expect(toHex(material.encodePlain(fromText('sk_test_123')))).toBe(vector('on_ramp_secret_plaintext'));
  expect(toHex(material.encodePlain(labelled('vector integrity key')))).toBe(vector('integrity_key_plaintext'));
});

test('what was written is read', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(16, 20, 24, 28, 32).chain((length) => fc.uint8Array({ minLength: length, maxLength: length })),
      fc.constantFrom(...MNEMONIC_LANGUAGES),
      fc.string({ unit: 'grapheme', maxLength: 400 }),
      (entropy, language, text) => {
        const read = material.decodeSeed(material.encodeSeed({ entropy, language, passphrase: fromText(text) }));
        expect([toHex(read.entropy), read.language, toText(read.passphrase)]).toEqual([toHex(entropy), language, text]);
        expect(material.passphraseText(read)).toBe(text);
      },
    ),
  );
  for (const curve of CURVES) {
    expect(material.decodePrivateKey(material.encodePrivateKey(curve, one))).toEqual({ curve, key: one });
  }
  for (const role of SERVICE_ROLES) {
    expect(material.decodeServiceKey(material.encodeServiceKey(role, one))).toEqual({ role, key: one });
  }
  expect(material.decodePlain(material.encodePlain(one))).toEqual(one);
  const otp = { hashKey: one, hash: new Uint8Array(32).fill(2), target: new Uint8Array(32).fill(3) };
  expect(material.decodeOtp(material.encodeOtp(otp))).toEqual(otp);
  expect(material.decodeProviderSecret(material.encodePlain(Uint8Array.of(7)))).toEqual(Uint8Array.of(7));
  expect(material.decodeIntegrityKey(material.encodePlain(one))).toEqual(one);
});

test('other bytes are not opened', () => {
  const seed = fromHex(vector('seed_with_passphrase_plaintext'));
  const key = fromHex(vector('private_key_plaintext'));
  for (let length = 0; length < seed.length; length += 1) refuse(() => material.decodeSeed(seed.subarray(0, length)));
  for (let length = 0; length < key.length; length += 1)
    refuse(() => material.decodePrivateKey(key.subarray(0, length)));
  refuse(() => material.decodeSeed(Uint8Array.of(...seed, 0)));
  refuse(() => material.decodePrivateKey(Uint8Array.of(...key, 0)));
  refuse(() => material.decodePlain(new Uint8Array(0)));
  for (const [at, value] of [
    [0, 2],
    [1, 0],
    [1, 10],
    [2, 17],
  ] as const) {
    refuse(() => material.decodeSeed(Uint8Array.from(seed).fill(value, at, at + 1)));
  }
  for (const [at, value] of [
    [0, 0],
    [1, 0],
    [1, 4],
  ] as const) {
    refuse(() => material.decodePrivateKey(Uint8Array.from(key).fill(value, at, at + 1)));
  }
  for (const code of [0, 8]) refuse(() => material.decodeServiceKey(Uint8Array.from(key).fill(code, 1, 2)));
  const otp = fromHex(vector('otp_plaintext'));
  for (let length = 0; length < otp.length; length += 1) refuse(() => material.decodeOtp(otp.subarray(0, length)));
  refuse(() => material.decodeOtp(Uint8Array.of(...otp, 0)));
  refuse(() => material.decodeOtp(Uint8Array.from(otp).fill(2, 0, 1)));
  const integrity = fromHex(vector('integrity_key_plaintext'));
  for (let length = 0; length < integrity.length; length += 1)
    refuse(() => material.decodeIntegrityKey(integrity.subarray(0, length)));
  refuse(() => material.decodeIntegrityKey(Uint8Array.of(...integrity, 0)));
  refuse(() => material.decodeIntegrityKey(Uint8Array.from(integrity).fill(2, 0, 1)));
  for (const bytes of [[], [1], [2, 7]]) refuse(() => material.decodeProviderSecret(Uint8Array.from(bytes)));
});

function refuse(decode: () => unknown): void {
  expect(decode).toThrow(KeyringError);
}
