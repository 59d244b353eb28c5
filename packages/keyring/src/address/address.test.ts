import { createECDH, createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ed25519 } from '@noble/curves/ed25519.js';
import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58, bech32, bech32m } from '@scure/base';
import { NETWORK, p2pkh, p2sh, p2tr, p2wpkh, p2wsh, TEST_NETWORK } from '@scure/btc-signer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ADDRESS_FORMATS, type AddressFormat, addressOf, type Curve, caip2Prefix, formatsOf } from './index.ts';

interface Vector {
  readonly addressFormat: AddressFormat;
  readonly caip2Prefix?: string;
  readonly curve: Curve;
  readonly path: string;
  readonly publicKeyHex: string;
  readonly address: string;
  readonly notes?: string;
}

const file = new URL('vectors.json', import.meta.url);
const vectors: readonly Vector[] = JSON.parse(readFileSync(file, 'utf8'));
const bytesOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));

const CURVES: readonly Curve[] = ['CURVE_SECP256K1', 'CURVE_ED25519', 'CURVE_P256'];

const secret = fc.uint8Array({ minLength: 32, maxLength: 32 });
const secp256k1Key = secret
  .filter((key) => secp256k1.utils.isValidSecretKey(key))
  .map((key) => secp256k1.getPublicKey(key, true));
const p256Key = secret.filter((key) => p256.utils.isValidSecretKey(key)).map((key) => p256.getPublicKey(key, true));
const ed25519Key = secret.map((key) => ed25519.getPublicKey(key));
const runs = { numRuns: 50 };

describe('published addresses', () => {
  test.each(vectors.map((vector) => [vector.addressFormat, vector.curve, vector.path, vector] as const))(
    '%s of %s at %s',
    (format, curve, _path, vector) => {
      expect(addressOf(format, curve, bytesOf(vector.publicKeyHex))).toBe(vector.address);
    },
  );

  test('every format has one, and every published address has its format', () => {
    expect(new Set(vectors.map((vector) => vector.addressFormat))).toEqual(new Set(ADDRESS_FORMATS));
    expect(new Set(ADDRESS_FORMATS).size).toBe(ADDRESS_FORMATS.length);
  });

  test('a TON address holds the account id of its raw form', () => {
    const noted = vectors.filter((vector) => vector.notes?.includes('Raw form: 0:'));
    expect(noted.length).toBeGreaterThanOrEqual(3);
    for (const { addressFormat, curve, publicKeyHex, notes } of noted) {
      const address = Buffer.from(addressOf(addressFormat, curve, bytesOf(publicKeyHex)), 'base64url');
      expect(notes).toContain(`Raw form: 0:${address.subarray(2, 34).toString('hex')}.`);
    }
  });
});

describe('pairs of curve and format', () => {
  test('every published address is on a curve of its format', () => {
    for (const { addressFormat, curve } of vectors) expect(formatsOf(curve)).toContain(addressFormat);
    expect(new Set(CURVES.flatMap(formatsOf))).toEqual(new Set(ADDRESS_FORMATS));
    expect(formatsOf('CURVE_P256')).toEqual(['ADDRESS_FORMAT_UNCOMPRESSED', 'ADDRESS_FORMAT_COMPRESSED']);
  });

  const keys: Record<Curve, Uint8Array> = {
    CURVE_SECP256K1: secp256k1.getPublicKey(new Uint8Array(32).fill(1), true),
    CURVE_ED25519: ed25519.getPublicKey(new Uint8Array(32).fill(1)),
    CURVE_P256: p256.getPublicKey(new Uint8Array(32).fill(1), true),
  };

  test('a format is computed for its curves and refused by name for the others', () => {
    for (const curve of CURVES) {
      const formats = formatsOf(curve);
      for (const format of ADDRESS_FORMATS) {
        if (formats.includes(format)) expect(addressOf(format, curve, keys[curve])).not.toBe('');
        else
          expect(() => addressOf(format, curve, keys[curve])).toThrow(new RegExp(`${format} needs .*, not ${curve}`));
      }
    }
  });

  test('unknown names are refused', () => {
    const key = keys.CURVE_SECP256K1;
    const refused = { code: 'INVALID_INPUT' };
    for (const format of ['', 'ADDRESS_FORMAT_MONERO', 'toString', '__proto__'] as string[] as AddressFormat[]) {
      expect(() => addressOf(format, 'CURVE_SECP256K1', key)).toThrow(expect.objectContaining(refused));
      expect(() => caip2Prefix(format)).toThrow(expect.objectContaining(refused));
    }
    for (const curve of ['', 'CURVE_P384', 'toString'] as string[] as Curve[]) {
      expect(formatsOf(curve)).toEqual([]);
      expect(() => addressOf('ADDRESS_FORMAT_COMPRESSED', curve, key)).toThrow(expect.objectContaining(refused));
    }
  });

  test('a key that is not one of its curve is refused', () => {
    const wrong: [Curve, Uint8Array][] = [];
    for (const curve of CURVES) {
      const key = keys[curve];
      wrong.push([curve, key.subarray(1)], [curve, new Uint8Array(0)], [curve, Uint8Array.of(...key, 0)]);
    }
    for (const curve of ['CURVE_SECP256K1', 'CURVE_P256'] as const) {
      wrong.push([curve, new Uint8Array(33)], [curve, Uint8Array.of(2, ...new Uint8Array(32).fill(0xff))]);
      wrong.push([curve, Uint8Array.of(4, ...keys[curve].subarray(1))]);
    }
    // x = 5 is not on secp256k1, and x = 1 is not on P-256.
    wrong.push(['CURVE_SECP256K1', Uint8Array.of(2, ...new Uint8Array(31), 5)]);
    wrong.push(['CURVE_P256', Uint8Array.of(2, ...new Uint8Array(31), 1)]);
    wrong.push(['CURVE_SECP256K1', secp256k1.getPublicKey(new Uint8Array(32).fill(1), false)]);
    wrong.push(['CURVE_P256', p256.getPublicKey(new Uint8Array(32).fill(1), false)]);
    for (const [curve, key] of wrong) {
      expect(() => addressOf('ADDRESS_FORMAT_COMPRESSED', curve, key)).toThrow(
        expect.objectContaining({ code: 'INVALID_INPUT' }),
      );
    }
  });

  test('CAIP-2 namespaces', () => {
    for (const vector of vectors) expect(caip2Prefix(vector.addressFormat)).toBe(vector.caip2Prefix);
    for (const prefix of ADDRESS_FORMATS.map(caip2Prefix)) expect(prefix ?? 'none').toMatch(/^[-a-z0-9]{3,8}$/);
    expect(caip2Prefix('ADDRESS_FORMAT_ETHEREUM')).toBe('eip155');
  });
});

describe('other implementations agree', () => {
  const networks = {
    MAINNET: NETWORK,
    TESTNET: TEST_NETWORK,
    SIGNET: TEST_NETWORK,
    REGTEST: { ...TEST_NETWORK, bech32: 'bcrt' },
  };

  test('Bitcoin and Dogecoin', () => {
    fc.assert(
      fc.property(secp256k1Key, fc.constantFrom('MAINNET', 'TESTNET', 'SIGNET', 'REGTEST'), (key, name) => {
        const network = networks[name];
        const address = (script: 'P2PKH' | 'P2SH' | 'P2WPKH' | 'P2WSH' | 'P2TR') =>
          addressOf(`ADDRESS_FORMAT_BITCOIN_${name}_${script}`, 'CURVE_SECP256K1', key);
        expect(address('P2PKH')).toBe(p2pkh(key, network).address);
        expect(address('P2SH')).toBe(p2sh(p2wpkh(key, network), network).address);
        expect(address('P2WPKH')).toBe(p2wpkh(key, network).address);
        expect(address('P2WSH')).toBe(p2wsh({ type: 'pk', script: Uint8Array.of(33, ...key, 0xac) }, network).address);
        expect(address('P2TR')).toBe(p2tr(key.subarray(1), undefined, network).address);
        for (const [format, pubKeyHash] of [
          ['ADDRESS_FORMAT_DOGE_MAINNET', 0x1e],
          ['ADDRESS_FORMAT_DOGE_TESTNET', 0x71],
        ] as const) {
          expect(addressOf(format, 'CURVE_SECP256K1', key)).toBe(p2pkh(key, { ...network, pubKeyHash }).address);
        }
      }),
      runs,
    );
  });

  test('uncompressed points', () => {
    fc.assert(
      fc.property(secp256k1Key, p256Key, (koblitz, random) => {
        const format = 'ADDRESS_FORMAT_UNCOMPRESSED';
        expect(addressOf(format, 'CURVE_SECP256K1', koblitz)).toBe(secp256k1.Point.fromBytes(koblitz).toHex(false));
        expect(addressOf(format, 'CURVE_P256', random)).toBe(p256.Point.fromBytes(random).toHex(false));
      }),
      runs,
    );
  });

  test('RIPEMD-160 of OpenSSL, read back from the addresses built on it', () => {
    const hash160 = (key: Uint8Array) =>
      createHash('ripemd160').update(createHash('sha256').update(key).digest()).digest('hex');
    fc.assert(
      fc.property(secp256k1Key, (key) => {
        const cosmos = addressOf('ADDRESS_FORMAT_COSMOS', 'CURVE_SECP256K1', key);
        const sei = addressOf('ADDRESS_FORMAT_SEI', 'CURVE_SECP256K1', key);
        for (const address of [cosmos, sei]) {
          const { words } = bech32.decode(address as `${string}1${string}`);
          expect(Buffer.from(bech32.fromWords(words)).toString('hex')).toBe(hash160(key));
        }
        const spark = addressOf('ADDRESS_FORMAT_SPARK_MAINNET', 'CURVE_SECP256K1', key);
        const message = bech32m.fromWords(bech32m.decode(spark as `${string}1${string}`, false).words);
        expect(message).toEqual(Uint8Array.of(0x0a, 0x21, ...key));
      }),
      runs,
    );
  });

  test('SHA-3 of OpenSSL, and base58 read back', () => {
    fc.assert(
      fc.property(ed25519Key, (key) => {
        const digest = createHash('sha3-256').update(key).update(Uint8Array.of(0)).digest('hex');
        expect(addressOf('ADDRESS_FORMAT_APTOS', 'CURVE_ED25519', key)).toBe(`0x${digest}`);
        expect(base58.decode(addressOf('ADDRESS_FORMAT_SOLANA', 'CURVE_ED25519', key))).toEqual(key);
      }),
      runs,
    );
  });

  test('leading zeros are kept', () => {
    const zeros = new Uint8Array(32);
    expect(addressOf('ADDRESS_FORMAT_SOLANA', 'CURVE_ED25519', zeros)).toBe('1'.repeat(32));
  });

  test('the key of a real ECDH object is accepted in its compressed form', () => {
    const ecdh = createECDH('prime256v1');
    ecdh.generateKeys();
    const compressed = ecdh.getPublicKey(null, 'compressed');
    expect(addressOf('ADDRESS_FORMAT_UNCOMPRESSED', 'CURVE_P256', compressed)).toBe(ecdh.getPublicKey('hex'));
  });
});
