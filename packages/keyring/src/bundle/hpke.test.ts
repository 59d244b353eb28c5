import { Aes256Gcm, CipherSuite, DhkemP256HkdfSha256, HkdfSha256 } from '@hpke/core';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromHex, labelled, toHex } from '../../test/fixtures/labels.ts';
import { KeyringError } from '../errors.ts';
import { isP256Scalar } from '../sign/p256-scalar.ts';
import { type HpkeOptions, keySchedule, open, type Sealed, scheduleContext, seal, sharedSecretOf } from './hpke.ts';
import { agreementOf, compressPoint, generatePrivateKey, publicKeyOf } from './p256.ts';

const receiver = labelled('vector receiver');
const ephemeral = labelled('vector ephemeral');
const pkR = fromHex(
  '045443b0f3062dfe7d8b4325f4fac8287a4849a102522e906ac26cc97cb43ce56127c59288183cf175e08fb8387906420712715d1676ef2f585627d14843619145',
);
const enc = fromHex(
  '046b9900ff8a84553d18f46225ed79289ab12c66d21ff3f66e17cb7714c4d300e7599bee2a3c7ab6602d343f023bb5c0cd5f7244b2c231630ae896485980c15644',
);
const plaintext = labelled('vector credential private key');
const info = Buffer.from('turnkey_hpke', 'ascii');

const suite = new CipherSuite({ kem: new DhkemP256HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() });
const bufferOf = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer;

const privateKey = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter(isP256Scalar);
const anything = fc.uint8Array({ maxLength: 300 });
const refused = (code: string) => expect.objectContaining({ name: 'KeyringError', code });

describe('vector 5', () => {
  test('the receiver, the encapsulated key and the constants of the suite', () => {
    expect(toHex(receiver)).toMatch(/^215fdb2d/);
    expect(toHex(ephemeral)).toMatch(/^899a6432/);
    expect(toHex(publicKeyOf(receiver))).toBe(toHex(pkR));
    expect(toHex(publicKeyOf(ephemeral))).toBe(toHex(enc));
    expect(toHex(scheduleContext(info))).toBe(
      '008fc3aeb832490a4b5ab3e42023287db29a1f4bc7c222c0df228727b70a4021122f3f04e9206cd12413503529b47ac6a630b92ec4cf7d234508d0af9771c99e50',
    );
  });

  test('the shared secret, the key and the nonce, from either side', () => {
    const sender = sharedSecretOf(agreementOf(ephemeral), pkR, enc, pkR);
    expect(toHex(sender)).toBe('7bf8baa8f116a9e120a2563226ae5d4e50b3c6b50af7f8d262b49f2d925f9cc8');
    expect(toHex(sharedSecretOf(agreementOf(receiver), enc, enc, pkR))).toBe(toHex(sender));
    const { key, baseNonce } = keySchedule(sender, info);
    expect(toHex(key)).toBe('ae863d97f246251b0ddf7ca38462ccb83e6962196c2cac8a91f369253678771c');
    expect(toHex(baseNonce)).toBe('6416ad6bf1b64696c1889613');
  });

  test('the ciphertext, to the receiver in either form', () => {
    const ciphertext =
      '06546ef6ec59d28f9abe46c8fadb84a5656c93ca69b904c0f6f9c7c1febae98f25c47125eaac2ff811d62c6821dc343c';
    expect(toHex(plaintext)).toBe('d468325af535bf6c9e659b1172f632079d7c834c0b1b6eb39526f6f3d149d441');
    for (const key of [pkR, compressPoint(pkR)]) {
      const sealed = seal(key, plaintext, { ephemeralPrivateKey: ephemeral });
      expect(toHex(sealed.enc)).toBe(toHex(enc));
      expect(toHex(sealed.ciphertext)).toBe(ciphertext);
    }
    expect(open(receiver, { enc, ciphertext: fromHex(ciphertext) })).toEqual(plaintext);
  });
});

describe('against another implementation', () => {
  test('it opens what we seal', async () => {
    await fc.assert(
      fc.asyncProperty(privateKey, anything, async (key, text) => {
        const publicKey = publicKeyOf(key);
        const sealed = seal(publicKey, text);
        const recipientKey = await suite.kem.importKey('raw', bufferOf(key), false);
        const recipient = await suite.createRecipientContext({ recipientKey, enc: bufferOf(sealed.enc), info });
        const aad = bufferOf(Buffer.concat([sealed.enc, publicKey]));
        expect(new Uint8Array(await recipient.open(bufferOf(sealed.ciphertext), aad))).toEqual(text);
      }),
      { numRuns: 25 },
    );
  });

  test('we open what it seals, at any sequence number', async () => {
    await fc.assert(
      fc.asyncProperty(
        privateKey,
        fc.array(anything, { minLength: 1, maxLength: 4 }),
        anything,
        async (key, texts, id) => {
          const publicKey = publicKeyOf(key);
          const recipientPublicKey = await suite.kem.importKey('raw', bufferOf(publicKey), true);
          const sender = await suite.createSenderContext({ recipientPublicKey, info: bufferOf(id) });
          const theirs = new Uint8Array(sender.enc);
          const aad = Buffer.concat([theirs, publicKey]);
          for (const [sequence, text] of texts.entries()) {
            const ciphertext = new Uint8Array(await sender.seal(bufferOf(text), bufferOf(aad)));
            expect(open(key, { enc: theirs, ciphertext }, { info: id, sequence })).toEqual(text);
          }
        },
      ),
      { numRuns: 25 },
    );
  });
});

describe('what must not open', () => {
  const options = { info, aad: new Uint8Array(5).fill(7), sequence: 3 };
  const sealed = seal(pkR, plaintext, options);

  test('the same bytes open, any other bit does not', () => {
    expect(open(receiver, sealed, options)).toEqual(plaintext);
    const flip = (bytes: Uint8Array, bit: number): Uint8Array => {
      const copy = Uint8Array.from(bytes);
      copy[bit >> 3]! ^= 1 << (bit & 7);
      return copy;
    };
    const expectRefused = (key: Uint8Array, from: Sealed, how: HpkeOptions) => {
      let code = 'opened';
      try {
        open(key, from, how);
      } catch (error) {
        if (!(error instanceof KeyringError)) throw error;
        code = error.code;
      }
      expect(['NOT_OPENED', 'INVALID_INPUT']).toContain(code);
    };
    for (let bit = 0; bit < sealed.ciphertext.length * 8; bit += 1) {
      expectRefused(receiver, { ...sealed, ciphertext: flip(sealed.ciphertext, bit) }, options);
    }
    for (let bit = 0; bit < sealed.enc.length * 8; bit += 1) {
      expectRefused(receiver, { ...sealed, enc: flip(sealed.enc, bit) }, options);
    }
    for (let bit = 0; bit < 256; bit += 1) expectRefused(flip(receiver, bit), sealed, options);
    for (let bit = 0; bit < info.length * 8; bit += 1) {
      expectRefused(receiver, sealed, { ...options, info: flip(info, bit) });
    }
    for (let bit = 0; bit < 40; bit += 1) expectRefused(receiver, sealed, { ...options, aad: flip(options.aad, bit) });
    for (const sequence of [0, 1, 2, 4, 2 ** 32 + 3, Number.MAX_SAFE_INTEGER]) {
      expectRefused(receiver, sealed, { ...options, sequence });
    }
    expectRefused(receiver, { ...sealed, ciphertext: sealed.ciphertext.subarray(1) }, options);
    expectRefused(receiver, { ...sealed, ciphertext: Uint8Array.of(...sealed.ciphertext, 0) }, options);
  });

  test('an encapsulated key in another form', () => {
    const forms = [
      compressPoint(sealed.enc),
      new Uint8Array(0),
      Uint8Array.of(0),
      new Uint8Array(65),
      Uint8Array.of(6, ...sealed.enc.subarray(1)),
      Uint8Array.of(7, ...sealed.enc.subarray(1)),
      Uint8Array.of(4, ...new Uint8Array(64)),
      Uint8Array.of(4, ...new Uint8Array(64).fill(0xff)),
    ];
    for (const form of forms) {
      expect(() => open(receiver, { ...sealed, enc: form }, options)).toThrow(refused('INVALID_INPUT'));
    }
  });

  test('random bytes are refused and never crash', () => {
    fc.assert(
      fc.property(anything, anything, fc.uint8Array({ maxLength: 66 }), (ciphertext, from, key) => {
        expect(() => open(key, { enc: from, ciphertext })).toThrow(KeyringError);
        expect(() => open(receiver, { enc: from, ciphertext })).toThrow(KeyringError);
        expect(() => open(receiver, { enc, ciphertext })).toThrow(KeyringError);
        expect(() => seal(key, ciphertext)).toThrow(KeyringError);
      }),
      { numRuns: 200 },
    );
  });

  test('sequence numbers that are none', () => {
    for (const sequence of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => seal(pkR, plaintext, { sequence })).toThrow(refused('INVALID_INPUT'));
    }
  });
});

describe('sealing', () => {
  test('every call has an ephemeral key of its own', () => {
    const keys = new Set(Array.from({ length: 50 }, () => toHex(seal(pkR, plaintext).enc)));
    expect(keys.size).toBe(50);
  });

  test('receivers that are no points are refused', () => {
    for (const key of [
      Uint8Array.of(0),
      new Uint8Array(33),
      Uint8Array.of(2, ...new Uint8Array(31), 1),
      Uint8Array.of(4, ...pkR.subarray(1, 64), pkR[64]! ^ 1),
      Uint8Array.of(6, ...pkR.subarray(1)),
    ]) {
      expect(() => seal(key, plaintext)).toThrow(refused('INVALID_INPUT'));
    }
  });

  test('nothing that the caller gave is changed', () => {
    const key = Uint8Array.from(receiver);
    const text = Uint8Array.from(plaintext);
    const once = Uint8Array.from(ephemeral);
    const sealed = seal(pkR, text, { ephemeralPrivateKey: once });
    open(key, sealed);
    expect([key, text, once]).toEqual([receiver, plaintext, ephemeral]);
  });

  test('an empty plaintext and one of a megabyte', () => {
    for (const text of [new Uint8Array(0), new Uint8Array(1 << 20).fill(9)]) {
      const opened = open(receiver, seal(pkR, text));
      expect(Buffer.compare(opened, text)).toBe(0);
    }
  });
});

describe('private keys', () => {
  const order = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551';

  test('are from 1 to n - 1', () => {
    const hex = (value: bigint) => fromHex(value.toString(16).padStart(64, '0'));
    const n = BigInt(`0x${order}`);
    for (const value of [1n, 2n, n - 1n, n - 2n, n >> 1n]) expect(isP256Scalar(hex(value))).toBe(true);
    for (const value of [0n, n, n + 1n, 2n ** 256n - 1n]) expect(isP256Scalar(hex(value))).toBe(false);
    expect(isP256Scalar(new Uint8Array(31).fill(1))).toBe(false);
    expect(isP256Scalar(new Uint8Array(33).fill(1))).toBe(false);
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
        expect(isP256Scalar(hex(value))).toBe(value > 0n && value < n);
      }),
    );
  });

  test('are drawn again while out of range', () => {
    const draws = [order, '00'.repeat(32), 'ff'.repeat(32), '11'.repeat(32)].map(fromHex);
    expect(toHex(generatePrivateKey(() => draws.shift()!))).toBe('11'.repeat(32));
    expect(isP256Scalar(generatePrivateKey())).toBe(true);
  });
});
