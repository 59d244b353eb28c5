import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { KeyringError } from '../errors.ts';
import { bip32Child, bip32Master } from './bip32.ts';
import { hmacSha512 } from './hash.ts';
import type { KeyNode } from './node.ts';
import { HARDENED } from './path.ts';

vi.mock('./hash.ts', async (original) => {
  const actual = await original<typeof import('./hash.ts')>();
  return { ...actual, hmacSha512: vi.fn(actual.hmacSha512) };
});

const hmac = vi.mocked(hmacSha512);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));
const isWiped = (array: Uint8Array): boolean => array.every((byte) => byte === 0);
const ORDER = bytes('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141');

afterEach(() => hmac.mockClear());

test('the first chain of BIP-32, test vector 1', () => {
  let node = bip32Master(bytes('000102030405060708090a0b0c0d0e0f'));
  expect(hex(node.privateKey())).toBe('e8f32e723decf4051aefac8e2c93c9c5b214313817cdb01a1494b917c8436b35');
  expect(hex(node.chainCode())).toBe('873dff81c02f525623fd1fe5167eac3a55a049de3d314bb42ee227ffed37d508');
  node = bip32Child(node, HARDENED);
  expect(hex(node.privateKey())).toBe('edb2e14f9ee77d26dd93b4ecede8d16ed408ce149b6cd80b0715a2d911a0afea');
  node = bip32Child(node, 1);
  expect(hex(node.privateKey())).toBe('3c6cb8d0f6a264c91ea8b5030fadaa8e538b020f0a387421a12de9319dc93368');
  expect(hex(node.chainCode())).toBe('2a7857631386ba23dacac34180dd1983734e444fdbf774041578e9b6adb37c19');
});

test('another implementation derives the same keys', () => {
  const seed = fc.uint8Array({ minLength: 16, maxLength: 64 });
  const indices = fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(seed, indices, (start, levels) => {
      let ours: KeyNode = bip32Master(start);
      let theirs = HDKey.fromMasterSeed(start);
      for (const index of levels) {
        ours = bip32Child(ours, index);
        theirs = theirs.deriveChild(index);
      }
      expect(hex(ours.privateKey())).toBe(hex(theirs.privateKey!));
      expect(hex(ours.chainCode())).toBe(hex(theirs.chainCode!));
    }),
    { numRuns: 40 },
  );
});

test.each([[15], [65], [0]])('a seed of %i bytes is refused', (length) => {
  expect(() => bip32Master(new Uint8Array(length))).toThrow(KeyringError);
});

test.each([[-1], [2 ** 32], [0.5], [Number.NaN]])('%d is not an index', (index) => {
  const master = bip32Master(new Uint8Array(16));
  expect(() => bip32Child(master, index)).toThrow(KeyringError);
});

test.each([
  ['0', new Uint8Array(32)],
  ['n', ORDER],
  ['2^256 - 1', new Uint8Array(32).fill(255)],
])('a master key of %s is refused', (_name, left) => {
  hmac.mockReturnValueOnce(Uint8Array.from([...left, ...new Uint8Array(32)]));
  expect(() => bip32Master(new Uint8Array(16))).toThrow('no secp256k1 master key');
});

test('a child that the curve does not have is refused', () => {
  const master = bip32Master(new Uint8Array(16).fill(7));
  const minusKey = ORDER.slice();
  let borrow = 0;
  for (let i = 31; i >= 0; i -= 1) {
    const difference = minusKey[i]! - master.privateKey()[i]! - borrow;
    minusKey[i] = difference & 0xff;
    borrow = difference < 0 ? 1 : 0;
  }
  for (const left of [ORDER, new Uint8Array(32).fill(255), minusKey]) {
    const hash = Uint8Array.from([...left, ...new Uint8Array(32).fill(1)]);
    hmac.mockReturnValueOnce(hash);
    expect(() => bip32Child(master, 0)).toThrow('no child at this index');
    expect(isWiped(hash)).toBe(true);
  }
});

test('an I_L of 0 is a child with the key of its parent', () => {
  const master = bip32Master(new Uint8Array(16).fill(7));
  hmac.mockReturnValueOnce(new Uint8Array(64));
  expect(hex(bip32Child(master, 0).privateKey())).toBe(hex(master.privateKey()));
});

test('what goes into a hash and what comes out is wiped', () => {
  const master = bip32Master(new Uint8Array(16).fill(7));
  bip32Child(master, 0);
  bip32Child(master, HARDENED);
  expect(hmac.mock.results.every(({ value }) => isWiped(value as Uint8Array))).toBe(true);
  const [, normal, hardened] = hmac.mock.calls;
  expect(isWiped(normal![1]!) && isWiped(hardened![1]!)).toBe(true);
  expect(isWiped(master.privateKey())).toBe(false);
});
