import { createHash } from 'node:crypto';
import { shake128 } from '@noble/hashes/sha3.js';
import { describe, expect, test } from 'vitest';
import {
  keySchedule,
  labeledExpand,
  labeledExtract,
  open,
  openWith,
  seal,
  sealWith,
  sharedSecretOf,
} from '../../src/bundle/hpke.ts';
import { agreementOf, publicKeyOf } from '../../src/bundle/p256.ts';
import { isP256Scalar } from '../../src/sign/p256-scalar.ts';
import { bytes, haveVectors, hex, readJson } from './corpus.ts';
import { countVectorCases } from './count.ts';

interface Vector {
  readonly mode: number;
  readonly kem_id: number;
  readonly kdf_id: number;
  readonly aead_id: number;
  readonly info: string;
  readonly ikmE: string;
  readonly ikmR: string;
  readonly skRm: string;
  readonly pkRm: string;
  readonly enc: string;
  readonly encryptions_accumulated: string;
  readonly exports_accumulated: string;
}

const ROUNDS = 1000;

/** RFC 9180, 7.1.3, DeriveKeyPair: keys in production are random, so only vectors need it. */
function deriveKey(ikm: Uint8Array): Uint8Array {
  const prk = labeledExtract('KEM', new Uint8Array(0), 'dkp_prk', ikm);
  for (let counter = 0; counter < 256; counter += 1) {
    const key = labeledExpand('KEM', prk, 'candidate', Uint8Array.of(counter), 32);
    if (isP256Scalar(key)) return key;
  }
  throw new Error('no candidate is a key');
}

/** Draws inputs from SHAKE-128 of nothing: a byte is the length, and that many bytes follow. */
function inputs(): () => Uint8Array {
  const source = shake128.create();
  return () => source.xof(source.xof(1)[0]!);
}

describe.skipIf(!haveVectors)('RFC 9180 vectors of HPKE', () => {
  test('base mode, P-256, HKDF-SHA256, AES-256-GCM', () => {
    const vectors = readJson<Vector[]>('hpke-p256-aes256.json');
    expect(vectors.length).toBe(1);
    for (const vector of vectors) {
      expect([vector.mode, vector.kem_id, vector.kdf_id, vector.aead_id]).toEqual([0, 0x10, 1, 2]);
      const info = bytes(vector.info);
      const receiver = deriveKey(bytes(vector.ikmR));
      const ephemeral = deriveKey(bytes(vector.ikmE));
      const receiverPublic = publicKeyOf(receiver);
      const enc = publicKeyOf(ephemeral);
      expect(hex(receiver)).toBe(vector.skRm);
      expect(hex(receiverPublic)).toBe(vector.pkRm);
      expect(hex(enc)).toBe(vector.enc);

      const sender = keySchedule(sharedSecretOf(agreementOf(ephemeral), receiverPublic, enc, receiverPublic), info);
      const recipient = keySchedule(sharedSecretOf(agreementOf(receiver), enc, enc, receiverPublic), info);

      let draw = inputs();
      let sink = createHash('shake128', { outputLength: 16 });
      for (let sequence = 0; sequence < ROUNDS; sequence += 1) {
        const aad = draw();
        const plaintext = draw();
        const ciphertext = sealWith(sender, sequence, aad, plaintext);
        sink.update(ciphertext);
        expect(Buffer.compare(openWith(recipient, sequence, aad, ciphertext), plaintext)).toBe(0);
        if (sequence % 100 === 0) {
          const sealed = seal(receiverPublic, plaintext, { info, aad, sequence, ephemeralPrivateKey: ephemeral });
          expect(hex(sealed.ciphertext)).toBe(hex(ciphertext));
          expect(hex(open(receiver, { enc, ciphertext }, { info, aad, sequence }))).toBe(hex(plaintext));
        }
      }
      expect(sink.digest('hex')).toBe(vector.encryptions_accumulated);

      draw = inputs();
      sink = createHash('shake128', { outputLength: 16 });
      for (let length = 0; length < ROUNDS; length += 1) {
        const context = draw();
        sink.update(labeledExpand('HPKE', sender.exporterSecret, 'sec', context, length));
      }
      expect(sink.digest('hex')).toBe(vector.exports_accumulated);
      countVectorCases(2 * ROUNDS);
    }
  });
});
