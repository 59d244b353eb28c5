import { createECDH } from 'node:crypto';
import { expect, test } from 'vitest';
import { readPublicKey } from './p256.ts';

test('compressed and plain spellings name the same point', () => {
  for (let round = 0; round < 50; round += 1) {
    const ecdh = createECDH('prime256v1');
    const compressed = ecdh.generateKeys('hex', 'compressed');
    const plain = ecdh.getPublicKey();
    const expected = {
      x: plain.subarray(1, 33).toString('base64url'),
      y: plain.subarray(33).toString('base64url'),
    };
    expect(readPublicKey(compressed)).toEqual(expected);
    expect(readPublicKey(plain.toString('hex'))).toEqual(expected);
  }
});

test.each([
  ['no hex', 'zz'],
  ['too short', '02aa'],
  ['an unknown form', `05${'11'.repeat(32)}`],
  ['x beyond the field', `02${'ff'.repeat(32)}`],
  ['x of no point', `02${'00'.repeat(31)}01`],
  ['y of another point', `04${'6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296'}${'11'.repeat(32)}`],
])('%s is refused', (_name, hex) => {
  expect(() => readPublicKey(hex)).toThrow(expect.objectContaining({ code: 'INVALID_KEY' }));
});
