import { expect, test } from 'vitest';
import { hmacSha512, pbkdf2Sha512 } from './hash.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

test('HMAC-SHA-512 of RFC 4231, test case 2, whole and in parts', () => {
  const expected =
    '164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737';
  const message = Buffer.from('what do ya want for nothing?');
  expect(hex(hmacSha512('Jefe', message))).toBe(expected);
  expect(hex(hmacSha512(Buffer.from('Jefe'), message.subarray(0, 5), message.subarray(5)))).toBe(expected);
});

test('PBKDF2-HMAC-SHA-512 with one and with two rounds', async () => {
  const [password, salt] = [Buffer.from('password'), Buffer.from('salt')];
  expect(hex(await pbkdf2Sha512(password, salt, 1, 64))).toBe(
    '867f70cf1ade02cff3752599a3a53dc4af34c7a669815ae5d513554e1c8cf252c02d470a285a0501bad999bfe943c08f050235d7d68b1da55e63f73b60a57fce',
  );
  expect(hex(await pbkdf2Sha512(password, salt, 2, 64))).toBe(
    'e1d9c16aa681708a45f5c7c4e215ceb66e011a2e9f0040713f18aefdb866d53cf76cab2868a39b9f7840edce4fef5a82be67335c77a6068e04112754f27ccf4e',
  );
});
