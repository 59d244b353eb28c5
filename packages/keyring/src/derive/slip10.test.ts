import { createHmac } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeyringError } from '../errors.ts';
import { p256PublicKey } from '../sign/p256.ts';
import type { KeyNode } from './node.ts';
import { HARDENED, parsePath } from './path.ts';
import { ed25519Child, ed25519Master, p256Child, p256Master } from './slip10.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const walk = (start: KeyNode, child: typeof p256Child, path: string): KeyNode => parsePath(path).reduce(child, start);
const show = (node: KeyNode): string[] => [hex(node.privateKey()), hex(node.chainCode())];

const SEED = bytes('000102030405060708090a0b0c0d0e0f');

test('test vector 1 of SLIP-0010 for ed25519', () => {
  const master = ed25519Master(SEED);
  expect(show(master)).toEqual([
    '2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7',
    '90046a93de5380a72b5e45010748567d5ea02bbf6522f979e05c0d8d8ca9fffb',
  ]);
  expect(show(walk(master, ed25519Child, "m/0'/1'"))).toEqual([
    'b1d0bad404bf35da785a64ca1ac54b2617211d2777696fbffaf208f746ae84f2',
    'a320425f77d1b5c2505a6b1b27382b37368ee640e3557c315416801243552f14',
  ]);
});

test('a non-hardened index of ed25519 means the hardened one', () => {
  const master = ed25519Master(SEED);
  for (const [given, meant] of [
    ["m/44'/148'/0'/0'/0", "m/44'/148'/0'/0'/0'"],
    ['m/0/1', "m/0'/1'"],
    ['m/2147483647', "m/2147483647'"],
  ] as const) {
    expect(show(walk(master, ed25519Child, given))).toEqual(show(walk(master, ed25519Child, meant)));
  }
});

test('ed25519 follows the text of SLIP-0010', () => {
  const indices = fc.array(fc.integer({ min: 0, max: HARDENED - 1 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 64 }), indices, (seed, levels) => {
      let expected = createHmac('sha512', 'ed25519 seed').update(seed).digest();
      let node = ed25519Master(seed);
      for (const index of levels) {
        const data = Buffer.concat([Buffer.alloc(1), expected.subarray(0, 32), Buffer.alloc(4)]);
        data.writeUInt32BE(index + HARDENED, 33);
        expected = createHmac('sha512', expected.subarray(32)).update(data).digest();
        node = ed25519Child(node, index + HARDENED);
      }
      expect(show(node).join('')).toBe(hex(expected));
    }),
  );
});

test('test vector 1 of SLIP-0010 for nist256p1', () => {
  const master = p256Master(SEED);
  expect(show(master)).toEqual([
    '612091aaa12e22dd2abef664f8a01a82cae99ad7441b7ef8110424915c268bc2',
    'beeb672fe4621673f722f38529c07392fecaa61015c80c34f29ce8b41b3cb6ea',
  ]);
  expect(show(walk(master, p256Child, "m/0'/1"))).toEqual([
    '284e9d38d07d21e4e281b645089a94f4cf5a5a81369acf151a1c3a57f18b2129',
    '4187afff1aafa8445010097fb99d23aee9f599450c7bd140b6826ac22ba21d0c',
  ]);
});

test('the retries of SLIP-0010 for nist256p1', () => {
  const retriedSeed = bytes('a7305bc8df8d0951f0cb224c0e95d7707cbdf2c6ce7e8d481fec69c7ff5e9446');
  expect(show(p256Master(retriedSeed))).toEqual([
    '3b8c18469a4634517d6d0b65448f8e6c62091b45540a1743c5846be55d47d88f',
    '7762f9729fed06121fd13f326884c82f59aa95c57ac492ce8c9654e60efd130c',
  ]);
  const retriedChild = walk(p256Master(SEED), p256Child, "m/28578'/33941");
  expect(show(retriedChild)).toEqual([
    '092154eed4af83e078ff9b84322015aefe5769e31270f62c3f66c33888335f3a',
    '9e87fe95031f14736774cd82f25fd885065cb7c358c1edf813c72af535e83071',
  ]);
  expect(hex(p256PublicKey(retriedChild.privateKey()))).toBe(
    '0235bfee614c0d5b2cae260000bb1d0d84b270099ad790022c1ae0b2e782efe120',
  );
});

test('nist256p1 agrees with arithmetic on whole numbers', () => {
  const order = p256.Point.CURVE().n;
  const number = (array: Uint8Array): bigint => BigInt(`0x${hex(array)}`);
  const indices = fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 64 }), indices, (seed, levels) => {
      let node = p256Master(seed);
      for (const index of levels) {
        const point = p256.getPublicKey(node.privateKey(), true);
        const data = Buffer.concat(
          [index >= HARDENED ? [0] : [], index >= HARDENED ? node.privateKey() : point].map(Buffer.from),
        );
        const suffix = Buffer.alloc(4);
        suffix.writeUInt32BE(index);
        const hash = createHmac('sha512', node.chainCode()).update(data).update(suffix).digest();
        const expected = (number(hash.subarray(0, 32)) + number(node.privateKey())) % order;
        node = p256Child(node, index);
        expect(number(node.privateKey())).toBe(expected);
        expect(hex(node.chainCode())).toBe(hex(hash.subarray(32)));
      }
    }),
    { numRuns: 40 },
  );
});

test.each([[ed25519Master], [p256Master]])('seeds outside 16 to 64 bytes are refused', (master) => {
  for (const length of [0, 15, 65]) expect(() => master(new Uint8Array(length))).toThrow(KeyringError);
});

test('indices outside 32 bits are refused', () => {
  for (const index of [-1, 2 ** 32, 0.5]) {
    expect(() => ed25519Child(ed25519Master(SEED), index)).toThrow(KeyringError);
    expect(() => p256Child(p256Master(SEED), index)).toThrow(KeyringError);
  }
});
