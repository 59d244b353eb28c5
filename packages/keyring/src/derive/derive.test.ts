import { HDKey } from '@scure/bip32';
import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import type { Curve } from '../curve.ts';
import { KeyringError } from '../errors.ts';
import { childNode, deriveKey, descend, masterNode } from './derive.ts';
import { KeyNode } from './node.ts';
import { effectivePath, formatPath, parsePath } from './path.ts';
import { publicKeyOf } from './public-key.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const CURVES: Curve[] = ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'];
// The seed of "abandon ... about" without a passphrase.
const SEED = new Uint8Array(
  Buffer.from(
    '5eb00bbddcf069084889a8ab9155568165f5c453ccb85e70811aaed6f6da5fc19a5ac40b389cd370d086206dec8aa6c43daea6690f20ad3d8d48b2d2ce9e38e4',
    'hex',
  ),
);

test.each([
  ['CURVE_SECP256K1', "m/0'/0", '03038c1b', '06ad2aec'],
  ['CURVE_ED25519', "m/0'/0'", 'e671f304', '629dfce0'],
  ['CURVE_P256', "m/0'/0", '03d4786e', '3c6c04cb'],
] as const)('the public key of %s at %s', (curve, path, start, end) => {
  const key = hex(publicKeyOf(curve, deriveKey(SEED, curve, path)));
  expect([key.slice(0, 8), key.slice(-8)]).toEqual([start, end]);
});

test('the key of an account agrees with another implementation', () => {
  const expected = HDKey.fromMasterSeed(SEED).derive("m/44'/60'/0'/0/5").privateKey!;
  expect(hex(deriveKey(SEED, 'CURVE_SECP256K1', "m/44'/60'/0'/0/5"))).toBe(hex(expected));
  expect(hex(deriveKey(SEED, 'CURVE_SECP256K1', 'm/44h/60H/0h/0/5'))).toBe(hex(expected));
});

test.each(CURVES)('a cached parent on %s gives the same keys as the whole path', (curve) => {
  const path = fc.array(fc.integer({ min: 0, max: 0xffff_ffff }), { minLength: 2, maxLength: 5 });
  fc.assert(
    fc.property(path, fc.nat({ max: 4 }), (indices, position) => {
      const split = 1 + (position % (indices.length - 1));
      const master = masterNode(curve, SEED);
      const parent = descend(curve, master, indices.slice(0, split));
      for (let round = 0; round < 2; round += 1) {
        const key = descend(curve, parent, indices.slice(split)).privateKey();
        expect(hex(key)).toBe(hex(deriveKey(SEED, curve, formatPath(indices))));
      }
      expect(hex(childNode(curve, master, indices[0]!).privateKey())).toBe(
        hex(descend(curve, master, [indices[0]!]).privateKey()),
      );
    }),
    { numRuns: 20 },
  );
});

test.each(CURVES)('every node between is wiped on %s, the start and the answer are not', (curve) => {
  const wipe = vi.spyOn(KeyNode.prototype, 'wipe');
  try {
    const master = masterNode(curve, SEED);
    const node = descend(curve, master, parsePath("m/1'/2'/3'"));
    expect(wipe).toHaveBeenCalledTimes(2);
    expect(wipe.mock.contexts).not.toContain(master);
    expect(node.privateKey().some((byte) => byte !== 0)).toBe(true);
    wipe.mockClear();
    deriveKey(SEED, curve, "m/1'/2'/3'");
    expect(wipe).toHaveBeenCalledTimes(4);
    wipe.mockClear();
    expect(() => descend(curve, master, [1, 2, -1])).toThrow(KeyringError);
    expect(wipe).toHaveBeenCalledTimes(2);
    expect(wipe.mock.contexts).not.toContain(master);
  } finally {
    wipe.mockRestore();
  }
});

test('a key that was given out survives the wiping of its node', () => {
  const key = deriveKey(SEED, 'CURVE_ED25519', 'm/0');
  expect(key.length).toBe(32);
  expect(key.some((byte) => byte !== 0)).toBe(true);
});

test('the path that is really used', () => {
  expect(effectivePath('CURVE_ED25519', "m/44h/501'/0/0")).toBe("m/44'/501'/0'/0'");
  expect(effectivePath('CURVE_SECP256K1', 'm/44h/60H/0')).toBe("m/44'/60'/0");
  expect(effectivePath('CURVE_P256', 'm/0')).toBe('m/0');
});

test('what is no curve, path or seed is refused', () => {
  for (const curve of ['CURVE_SECP256R1', '', 'constructor', undefined]) {
    expect(() => deriveKey(SEED, curve as Curve, 'm/0')).toThrow(KeyringError);
  }
  expect(() => deriveKey(SEED, 'CURVE_P256', 'm')).toThrow(KeyringError);
  expect(() => deriveKey(new Uint8Array(8), 'CURVE_P256', 'm/0')).toThrow(KeyringError);
  expect(() => descend('CURVE_P256', masterNode('CURVE_P256', SEED), [])).toThrow(KeyringError);
});
