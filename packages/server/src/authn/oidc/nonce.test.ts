import { createECDH } from 'node:crypto';
import { expect, test } from 'vitest';
import { isBoundTo, isBoundToKey, nonceOf } from './nonce.ts';

const KEY = '0249d2d8b00d4d38c8254419df31a424e680d85ca14b099212ac70c3a7b0d0fc8a';
const NONCE = '0a165a794dc53eface39a67928b608c28ca9e1ccf08e2fdbcf20ce865a1107ae';

test.each([
  [KEY, NONCE],
  [
    '0394e549c71fa99dd5cf752fba623090be314949b74e4cdf7ca72031dd638e281a',
    '1663bba492a323085b13895634a3618792c4ec6896f3c34ef3c26396df22ef82',
  ],
])('the nonce of %s (protocol/login 11.1)', (key, nonce) => expect(nonceOf(key)).toBe(nonce));

test('a token is bound to one spelling of one key, in any spelling of the hash', () => {
  expect(isBoundTo({ nonce: NONCE }, KEY)).toBe(true);
  expect(isBoundTo({ nonce: NONCE.toUpperCase() }, KEY)).toBe(true);
  expect(isBoundTo({ nonce: NONCE }, KEY.toUpperCase())).toBe(false);
  expect(isBoundTo({ nonce: nonceOf(KEY.toUpperCase()) }, KEY.toUpperCase())).toBe(true);
});

test('a key may have been spelled otherwise when its holder asked for the token', () => {
  const ecdh = createECDH('prime256v1');
  const short = ecdh.generateKeys('hex', 'compressed');
  const long = ecdh.getPublicKey('hex', 'uncompressed');
  for (const said of [short, long, short.toUpperCase(), long.toUpperCase()]) {
    for (const named of [short, long]) expect(isBoundToKey({ nonce: nonceOf(said) }, 'P256', named)).toBe(true);
  }
  expect(isBoundToKey({ nonce: nonceOf(KEY) }, 'P256', short)).toBe(false);
  expect(isBoundToKey({ nonce: undefined }, 'P256', short)).toBe(false);
});

test.each([undefined, '', NONCE.slice(1), `${NONCE} `, KEY, nonceOf(NONCE)])('%j binds to nothing', (nonce) =>
  expect(isBoundTo({ nonce }, KEY)).toBe(false),
);
