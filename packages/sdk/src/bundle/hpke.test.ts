import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { labelled } from '../../../keyring/test/fixtures/labels.ts';
import { haveVectors, readJson } from '../../../keyring/test/vectors/corpus.ts';
import { countVectorCases } from '../../../keyring/test/vectors/count.ts';
import { type Bytes, concat, fromHex, toHex } from '../bytes.ts';
import { type Agreement, newAgreement, readAgreement } from './agreement.ts';
import { decrypt, encrypt, open, scheduleOf, seal } from './hpke.ts';

const bytes = (hex: string): Bytes => fromHex(hex) as Bytes;
const keyOf = (label: string): Promise<Agreement> => readAgreement(toHex(labelled(label)));

// protocol/bundles 7.1. Secrets are SHA-256 of a label.
const RECEIVER =
  '045443b0f3062dfe7d8b4325f4fac8287a4849a102522e906ac26cc97cb43ce56127c59288183cf175e08fb8387906420712715d1676ef2f585627d14843619145';
const ENC =
  '046b9900ff8a84553d18f46225ed79289ab12c66d21ff3f66e17cb7714c4d300e7599bee2a3c7ab6602d343f023bb5c0cd5f7244b2c231630ae896485980c15644';
const CIPHERTEXT = '06546ef6ec59d28f9abe46c8fadb84a5656c93ca69b904c0f6f9c7c1febae98f25c47125eaac2ff811d62c6821dc343c';
const PLAINTEXT = 'd468325af535bf6c9e659b1172f632079d7c834c0b1b6eb39526f6f3d149d441';

describe('the vector of the public clients', () => {
  test('the sender', async () => {
    const sealed = await seal(bytes(RECEIVER), bytes(PLAINTEXT), await keyOf('vector ephemeral'));
    expect(toHex(sealed.enc)).toBe(ENC);
    expect(toHex(sealed.ciphertext)).toBe(CIPHERTEXT);
  });

  test('the receiver', async () => {
    const receiver = await keyOf('vector receiver');
    expect(toHex(receiver.publicKey)).toBe(RECEIVER);
    const both = bytes(ENC + RECEIVER);
    const { baseNonce } = await scheduleOf(receiver, bytes(ENC), both, concat(Buffer.from('turnkey_hpke')));
    expect(toHex(baseNonce)).toBe('6416ad6bf1b64696c1889613');
    expect(toHex(await open(receiver, { enc: bytes(ENC), ciphertext: bytes(CIPHERTEXT) }))).toBe(PLAINTEXT);
  });
});

test('every message has an ephemeral key of its own, and opens for the receiver alone', async () => {
  const [receiver, other] = await Promise.all([newAgreement(), newAgreement()]);
  const sealed = await Promise.all(Array.from({ length: 20 }, () => seal(receiver.publicKey, bytes(PLAINTEXT))));
  expect(new Set(sealed.map(({ enc }) => toHex(enc))).size).toBe(20);
  for (const one of sealed) {
    expect(toHex(await open(receiver, one))).toBe(PLAINTEXT);
    await expect(open(other, one)).rejects.toMatchObject({ code: 'BUNDLE_INVALID', check: 'decryption' });
  }
});

test('no flipped bit of the ciphertext opens, nor another length', async () => {
  const receiver = await newAgreement();
  const { enc, ciphertext } = await seal(receiver.publicKey, bytes(PLAINTEXT));
  const changed = Array.from({ length: ciphertext.length * 8 }, (_, bit) => {
    const copy = new Uint8Array(ciphertext);
    copy[bit >> 3]! ^= 1 << (bit & 7);
    return copy;
  });
  for (const other of [...changed, ciphertext.slice(1), ciphertext.slice(0, 15), new Uint8Array(0)]) {
    await expect(open(receiver, { enc, ciphertext: other })).rejects.toMatchObject({ check: 'decryption' });
  }
});

test.each([
  ['no hex', 'zz'.repeat(32)],
  ['too short', '01'.repeat(31)],
  ['too long', '01'.repeat(33)],
  ['zero', '00'.repeat(32)],
  ['the order of the group', 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'],
])('a private key that is %s is refused', async (_name, privateKey) => {
  await expect(readAgreement(privateKey)).rejects.toMatchObject({ code: 'INVALID_KEY' });
});

interface Vector {
  readonly info: string;
  readonly skRm: string;
  readonly pkRm: string;
  readonly enc: string;
  readonly encryptions_accumulated: string;
}

describe.skipIf(!haveVectors)('RFC 9180 vectors of HPKE', () => {
  test('the SDK: base mode, P-256, HKDF-SHA256, AES-256-GCM', async () => {
    const [vector] = readJson<[Vector]>('hpke-p256-aes256.json');
    const receiver = await readAgreement(vector.skRm);
    expect(toHex(receiver.publicKey)).toBe(vector.pkRm);
    const both = bytes(vector.enc + vector.pkRm);
    const { key, baseNonce } = await scheduleOf(receiver, bytes(vector.enc), both, bytes(vector.info));

    // Inputs are drawn from SHAKE-128 of nothing: a byte is the length, and that many bytes follow.
    const rounds = 1000;
    const source = createHash('shake128', { outputLength: 2 * rounds * 256 }).digest();
    let offset = 0;
    const draw = (): Bytes => {
      const start = offset + 1;
      offset = start + source[offset]!;
      return new Uint8Array(source.subarray(start, offset));
    };
    const sink = createHash('shake128', { outputLength: 16 });
    for (let sequence = 0; sequence < rounds; sequence += 1) {
      const [aad, plaintext] = [draw(), draw()];
      const nonce = new Uint8Array(baseNonce);
      nonce[10]! ^= sequence >> 8;
      nonce[11]! ^= sequence & 0xff;
      const ciphertext = await encrypt(key, nonce, aad, plaintext);
      sink.update(ciphertext);
      expect(toHex(await decrypt(key, nonce, aad, ciphertext))).toBe(toHex(plaintext));
    }
    expect(sink.digest('hex')).toBe(vector.encryptions_accumulated);
    countVectorCases(rounds);
  });
});
