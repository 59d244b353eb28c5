import { describe, expect, test } from 'vitest';
import { decrypt, encrypt } from '../../src/bundle/aes-gcm.ts';
import { hkdfExpand, hkdfExtract } from '../../src/bundle/hkdf.ts';
import { verifyCompact } from '../../src/bundle/jws.ts';
import { agreementOf, publicKeyOf, uncompressPoint } from '../../src/bundle/p256.ts';
import { KeyringError } from '../../src/errors.ts';
import { bytes, haveVectors, hex, readWycheproof, type WycheproofCase } from './corpus.ts';
import { countVectorCases } from './count.ts';

/** A reason to answer otherwise than the corpus, the cases it covers and how many those are. */
interface Difference<Group> {
  readonly reason: string;
  readonly cases: number;
  applies(group: Group, test: WycheproofCase): boolean;
}

/**
 * Runs every case of a file. `accepts` throws, or answers false, where the production code refuses the input or gives
 * another output than the valid one. Answers with the number of cases.
 */
function runCorpus<Group, Case>(
  name: string,
  differences: readonly Difference<Group>[],
  accepts: (group: Group, test: Case & WycheproofCase) => boolean,
): number {
  const cases = readWycheproof<Group, Case>(name);
  const counts = differences.map(() => 0);
  for (const { group, test: one } of cases) {
    let accepted = false;
    try {
      accepted = accepts(group, one);
    } catch (error) {
      if (!(error instanceof KeyringError)) throw error;
    }
    const expected = one.result !== 'invalid';
    if (accepted === expected) continue;
    const at = differences.findIndex((difference) => difference.applies(group, one));
    expect(at, `case ${one.tcId} (${one.comment}) is answered ${accepted}`).toBeGreaterThanOrEqual(0);
    counts[at]! += 1;
  }
  expect(counts).toEqual(differences.map((difference) => difference.cases));
  return cases.length;
}

describe.skipIf(!haveVectors)('Wycheproof vectors of what bundles are made of', () => {
  test('ecdh_secp256r1_ecpoint', () => {
    interface Case {
      readonly public: string;
      readonly private: string;
      readonly shared: string;
    }
    // The corpus writes a scalar as a signed integer of any length.
    const scalar = (text: string): Uint8Array => bytes(text.replace(/^0*/, '').padStart(64, '0'));
    const cases = runCorpus<unknown, Case>('ecdh_secp256r1_ecpoint', [], (_group, one) => {
      const own = agreementOf(scalar(one.private));
      return hex(own.computeSecret(uncompressPoint(bytes(one.public)))) === one.shared;
    });
    countVectorCases(cases);
    // The exchange refuses by itself too, without the conversion before it. One case is a valid compressed key.
    const compressed: Difference<unknown> = {
      reason: 'the exchange takes uncompressed keys; compressed ones are converted before',
      cases: 1,
      applies: (_group, one) => one.flags.includes('CompressedPublic'),
    };
    runCorpus<unknown, Case>('ecdh_secp256r1_ecpoint', [compressed], (_group, one) => {
      return hex(agreementOf(scalar(one.private)).computeSecret(bytes(one.public))) === one.shared;
    });
  });

  test('aes_gcm', () => {
    interface Group {
      readonly keySize: number;
      readonly ivSize: number;
      readonly tagSize: number;
    }
    interface Case {
      readonly key: string;
      readonly iv: string;
      readonly aad: string;
      readonly msg: string;
      readonly ct: string;
      readonly tag: string;
    }
    const differences: Difference<Group>[] = [
      { reason: 'only keys of 256 bits are taken', cases: 153, applies: (group) => group.keySize !== 256 },
      { reason: 'only nonces of 96 bits are taken', cases: 37, applies: (group) => group.ivSize !== 96 },
    ];
    const cases = runCorpus<Group, Case>('aes_gcm', differences, (_group, one) => {
      const [key, nonce, aad] = [bytes(one.key), bytes(one.iv), bytes(one.aad)];
      const opened = hex(decrypt(key, nonce, aad, bytes(one.ct + one.tag))) === one.msg;
      return opened && hex(encrypt(key, nonce, aad, bytes(one.msg))) === one.ct + one.tag;
    });
    countVectorCases(cases);
  });

  test('hkdf_sha256', () => {
    interface Case {
      readonly ikm: string;
      readonly salt: string;
      readonly info: string;
      readonly size: number;
      readonly okm: string;
    }
    const cases = runCorpus<unknown, Case>('hkdf_sha256', [], (_group, one) => {
      const prk = hkdfExtract(bytes(one.salt), [bytes(one.ikm)]);
      return hex(hkdfExpand(prk, [bytes(one.info)], one.size)) === one.okm;
    });
    countVectorCases(cases);
  });

  test('json_web_signature', () => {
    interface Jwk {
      readonly kty: string;
      readonly crv?: string;
      readonly x?: string;
      readonly y?: string;
      readonly use?: string;
      readonly key_ops?: readonly string[];
    }
    interface Group {
      readonly public?: Jwk;
      readonly private: Jwk;
    }
    interface Case {
      readonly jws: string;
    }
    const isP256 = (group: Group): boolean => group.public?.kty === 'EC' && group.public.crv === 'P-256';
    const pointOf = ({ x = '', y = '' }: Jwk): Uint8Array =>
      Uint8Array.of(4, ...Buffer.from(x, 'base64url'), ...Buffer.from(y, 'base64url'));
    // Other groups have no key that the code could take, so they meet this one.
    const another = publicKeyOf(new Uint8Array(32).fill(1));
    const differences: Difference<Group>[] = [
      { reason: 'only ES256 is accepted', cases: 44, applies: (group) => !isP256(group) },
      {
        reason: 'keys are the 65 bytes of a point and say nothing of their use',
        cases: 2,
        applies: (_group, one) => [354, 356].includes(one.tcId),
      },
    ];
    const cases = runCorpus<Group, Case>('json_web_signature', differences, (group, one) => {
      const key = isP256(group) ? pointOf(group.public as Jwk) : another;
      return verifyCompact(key, one.jws) !== undefined;
    });
    countVectorCases(cases);
  });
});
