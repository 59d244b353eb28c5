import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifyApiKeyStamp } from '../../../server/src/authn/api-key-stamp.ts';
import { keyObject, normalizePublicKey } from '../../../server/src/authn/public-key.ts';
import { type ApiKeyStamp, parseStamp } from '../../../server/src/authn/stamp-headers.ts';
import { verifyWithPasskey } from '../../../server/src/authn/webauthn-stamp.ts';
import type { Curve } from '../../src/curve.ts';
import { publicKeyOf } from '../../src/derive/public-key.ts';
import { signEd25519 } from '../../src/sign/ed25519.ts';
import { signEcdsaP256 } from '../../src/sign/p256.ts';
import { signEcdsaSecp256k1, verifyEcdsaSecp256k1 } from '../../src/sign/secp256k1.ts';
import { joinSignature, splitSignature } from '../../src/sign/signature.ts';
import { bytes, haveVectors, hex, readWycheproof, type WycheproofCase } from './corpus.ts';
import { countVectorCases } from './count.ts';

// The files hold signatures to verify. What verifies them in production is the server's check of stamps and passkeys;
// what signs is the keyring, whose signatures over the same messages must pass that check.

interface SignatureGroup {
  readonly publicKey: { readonly uncompressed?: string; readonly pk?: string };
}

interface SignatureCase {
  readonly msg: string;
  readonly sig: string;
}

type Answer = (key: string, message: Uint8Array, signature: Uint8Array) => Promise<boolean> | boolean;

const SCHEMES = {
  CURVE_P256: 'SIGNATURE_SCHEME_TK_API_P256',
  CURVE_SECP256K1: 'SIGNATURE_SCHEME_TK_API_SECP256K1',
  CURVE_ED25519: 'SIGNATURE_SCHEME_TK_API_ED25519',
} as const;

/** Cases that are answered otherwise than their file says. */
const DIFFERENT: Record<string, Record<number, string>> = {
  ecdsa_secp256k1_sha256_bitcoin: {
    1: 'accepted: stamps may have a high s, which browsers make and which Bitcoin refuses',
    388: 'accepted: stamps may have a high s, which browsers make and which Bitcoin refuses',
  },
};

/** The stamp as it comes in, or undefined when it is refused before its signature is looked at. */
function readStamp(curve: Curve, publicKey: string, signature: Uint8Array): ApiKeyStamp | undefined {
  const fields = { publicKey, scheme: SCHEMES[curve], signature: hex(signature) };
  try {
    const value = Buffer.from(JSON.stringify(fields)).toString('base64url');
    return parseStamp({ 'x-stamp': value }) as ApiKeyStamp;
  } catch (error) {
    if ((error as Error).constructor.name === 'ApiError') return undefined;
    throw error;
  }
}

function verifiesAsStamp(curve: Curve): Answer {
  return async (key, message, signature) => {
    const stamp = readStamp(curve, key, signature);
    return stamp !== undefined && verifyApiKeyStamp(stamp, message);
  };
}

const asP1363: Answer = (key, message, signature) =>
  verifyApiKeyStamp(
    {
      kind: 'api-key',
      scheme: SCHEMES.CURVE_P256,
      curve: 'P256',
      publicKey: normalizePublicKey('P256', key),
      signature,
      signatureText: hex(signature),
    },
    message,
  );

const asPasskey: Answer = (key, message, signature) =>
  verifyWithPasskey({ algorithm: -7, key: keyObject('P256', normalizePublicKey('P256', key)) }, message, signature);

/** The keyring's own check, which has no high s, behind the server's reading of DER. */
const asTransaction: Answer = (key, message, signature) => {
  const stamp = readStamp('CURVE_SECP256K1', key, signature);
  const digest = createHash('sha256').update(message).digest();
  return stamp !== undefined && verifyEcdsaSecp256k1(digest, bytes(key), splitSignature(stamp.signature));
};

async function differences(
  file: string,
  answer: Answer,
): Promise<{ cases: number; valid: number; different: number[] }> {
  const cases = readWycheproof<SignatureGroup, SignatureCase>(file);
  const different: number[] = [];
  let valid = 0;
  for (const { group, test: vector } of cases) {
    const key = group.publicKey.uncompressed ?? group.publicKey.pk ?? '';
    const expected = expectedOf(vector);
    if (expected) valid += 1;
    if ((await answer(key, bytes(vector.msg), bytes(vector.sig))) !== expected) different.push(vector.tcId);
  }
  return { cases: cases.length, valid, different };
}

function expectedOf({ tcId, result }: WycheproofCase): boolean {
  if (result === 'acceptable') throw new Error(`case ${tcId} leaves the answer open`);
  return result === 'valid';
}

/** ECDSA-Sig-Value of RFC 3279, 2.2.3. */
function der(signature: Uint8Array): Uint8Array {
  const integers = [signature.subarray(0, 32), signature.subarray(32)].flatMap((half) => {
    const digits = [...half.subarray(half.findIndex((byte) => byte !== 0))];
    if (digits[0]! >= 0x80) digits.unshift(0);
    return [0x02, digits.length, ...digits];
  });
  return Uint8Array.of(0x30, integers.length, ...integers);
}

const KEYS = [1, 7, 113, 200].map((fill) => new Uint8Array(32).fill(fill));

/** Signs every message of a file with the keyring and checks it as production does. */
async function signAll(file: string, curve: Curve, sign: (message: Uint8Array, key: Uint8Array) => Uint8Array) {
  const messages = new Set(readWycheproof<SignatureGroup, SignatureCase>(file).map(({ test: vector }) => vector.msg));
  expect(messages.size).toBeGreaterThan(0);
  const verifies = verifiesAsStamp(curve);
  let turn = 0;
  for (const text of messages) {
    const key = KEYS[turn % KEYS.length]!;
    turn += 1;
    const message = bytes(text);
    const point = hex(publicKeyOf(curve, key));
    const signature = sign(message, key);
    expect([text, await verifies(point, message, signature)]).toEqual([text, true]);
    const other = hex(publicKeyOf(curve, KEYS[turn % KEYS.length]!));
    expect([text, await verifies(other, message, signature)]).toEqual([text, false]);
  }
}

const sha256 = (message: Uint8Array): Uint8Array => createHash('sha256').update(message).digest();

describe.skipIf(!haveVectors)('published vectors of signatures', () => {
  test.each([
    ['ecdsa_secp256r1_sha256', 174, verifiesAsStamp('CURVE_P256')],
    ['ecdsa_secp256r1_sha256_p1363', 173, asP1363],
    ['ecdsa_secp256k1_sha256', 168, verifiesAsStamp('CURVE_SECP256K1')],
    ['ecdsa_secp256k1_sha256_bitcoin', 162, verifiesAsStamp('CURVE_SECP256K1')],
    ['ed25519', 88, verifiesAsStamp('CURVE_ED25519')],
  ])('wycheproof/%s_test.json against stamps', async (file, validCases, answer) => {
    const { cases, valid, different } = await differences(file, answer);
    expect(different).toEqual(Object.keys(DIFFERENT[file] ?? {}).map(Number));
    expect(valid).toBe(validCases);
    countVectorCases(cases);
  });

  test('wycheproof/ecdsa_secp256r1_sha256_test.json against passkeys', async () => {
    const { different } = await differences('ecdsa_secp256r1_sha256', asPasskey);
    expect(different).toEqual([]);
  });

  test('wycheproof/ecdsa_secp256k1_sha256_bitcoin_test.json against the rule of low s', async () => {
    const { different } = await differences('ecdsa_secp256k1_sha256_bitcoin', asTransaction);
    expect(different).toEqual([]);
  });

  test('the keyring signs the messages of the files, and stamps accept it', async () => {
    await signAll('ecdsa_secp256r1_sha256', 'CURVE_P256', (message, key) =>
      der(joinSignature(signEcdsaP256(sha256(message), key))),
    );
    await signAll('ecdsa_secp256k1_sha256', 'CURVE_SECP256K1', (message, key) =>
      der(joinSignature(signEcdsaSecp256k1(sha256(message), key))),
    );
    await signAll('ed25519', 'CURVE_ED25519', signEd25519);
  });
});
