import { createHash } from 'node:crypto';
import { createBase58check } from '@scure/base';
import { describe, expect, test } from 'vitest';
import type { Curve } from '../../src/curve.ts';
import { descend, masterNode } from '../../src/derive/derive.ts';
import { hmacSha512 } from '../../src/derive/hash.ts';
import type { KeyNode } from '../../src/derive/node.ts';
import { parsePath } from '../../src/derive/path.ts';
import { publicKeyOf } from '../../src/derive/public-key.ts';
import { bytes, haveVectors, hex, readJson, readWycheproof } from './corpus.ts';
import { countVectorCases } from './count.ts';

const base58check = createBase58check((data: Uint8Array) => new Uint8Array(createHash('sha256').update(data).digest()));

function nodeAt(curve: Curve, seed: string, path: string): KeyNode {
  const master = masterNode(curve, bytes(seed));
  return path === 'm' ? master : descend(curve, master, parsePath(path));
}

describe.skipIf(!haveVectors)('published vectors of derivation', () => {
  test('bip32.json', () => {
    const vectors = readJson<{ seed: string; path: string; xpub: string; xprv: string }[]>('bip32.json');
    for (const { seed, path, xpub, xprv } of vectors) {
      const node = nodeAt('CURVE_SECP256K1', seed, path);
      // BIP-32, serialization format: the chain code is in bytes 13 to 44, the key in the 33 that follow.
      const secret = base58check.decode(xprv);
      expect([path, hex(node.chainCode()), `00${hex(node.privateKey())}`]).toEqual([
        path,
        hex(secret.subarray(13, 45)),
        hex(secret.subarray(45)),
      ]);
      const point = base58check.decode(xpub).subarray(45);
      expect(hex(publicKeyOf('CURVE_SECP256K1', node.privateKey()))).toBe(hex(point));
    }
    expect(vectors.length).toBeGreaterThan(0);
    countVectorCases(vectors.length);
  });

  test('slip10.json', () => {
    interface Slip10 {
      readonly curve: string;
      readonly seed: string;
      readonly path: string;
      readonly chainCode: string;
      readonly private: string;
      readonly public: string;
    }
    const curves: Record<string, Curve | undefined> = {
      secp256k1: 'CURVE_SECP256K1',
      nist256p1: 'CURVE_P256',
      ed25519: 'CURVE_ED25519',
    };
    const vectors = readJson<Slip10[]>('slip10.json');
    const run: Record<string, number> = {};
    for (const vector of vectors) {
      // The file puts the two retry tests of nist256p1 under the heading before them. Their points are compressed,
      // whereas a key of curve25519 has 32 bytes behind a zero.
      const mislabelled = vector.curve === 'curve25519' && !vector.public.startsWith('00');
      const name = mislabelled ? 'nist256p1' : vector.curve;
      const curve = curves[name];
      run[name] = (run[name] ?? 0) + 1;
      // The service has no keys for key agreement.
      if (curve === undefined) continue;
      const node = nodeAt(curve, vector.seed, vector.path);
      const point = hex(publicKeyOf(curve, node.privateKey()));
      expect([vector.path, hex(node.chainCode()), hex(node.privateKey()), point]).toEqual([
        vector.path,
        vector.chainCode,
        vector.private,
        curve === 'CURVE_ED25519' ? vector.public.slice(2) : vector.public,
      ]);
    }
    expect(run).toEqual({ secp256k1: 12, nist256p1: 16, ed25519: 12, curve25519: 12 });
    countVectorCases(vectors.length - 12);
  });

  test('wycheproof/hmac_sha512_test.json', () => {
    const cases = readWycheproof<{ tagSize: number }, { key: string; msg: string; tag: string }>('hmac_sha512');
    for (const { group, test: vector } of cases) {
      const tag = hmacSha512(bytes(vector.key), bytes(vector.msg)).subarray(0, group.tagSize / 8);
      expect([vector.tcId, hex(tag) === vector.tag]).toEqual([vector.tcId, vector.result === 'valid']);
    }
    countVectorCases(cases.length);
  });
});
