import { createPublicKey, verify } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromHex, fromText, labelled, toHex, toText } from '../../test/fixtures/labels.ts';
import { KeyringError } from '../errors.ts';
import {
  openCredentialBundle,
  openText,
  PLAINTEXT_BYTES_MAX,
  sealCredentialBundle,
  sealText,
} from './credential-bundle.ts';
import { keyPlaintext, sealExportBundle, walletPlaintext } from './export.ts';
import { seal } from './hpke.ts';
import { openHpkeJson, parseHpkeJson, sealHpkeJson } from './hpke-json.ts';
import { parseKeyPlaintext, parseWalletPlaintext } from './import.ts';
import { openOnRampSecret } from './on-ramp.ts';
import { parseOtpPlaintext } from './otp.ts';
import { compressPoint, generatePrivateKey, importSigningKey, publicKeyOf } from './p256.ts';
import { openSealedBox, sealBox } from './sealed-box.ts';
import { signImportTarget, signOtpTarget, signSecretsTarget } from './signed-bundle.ts';

const ORGANIZATION = '00000000-0000-4000-8000-000000000001';
const USER = '00000000-0000-4000-8000-000000000002';
const MNEMONIC = `${'abandon '.repeat(11)}about`;
const ENC =
  '046b9900ff8a84553d18f46225ed79289ab12c66d21ff3f66e17cb7714c4d300e7599bee2a3c7ab6602d343f023bb5c0cd5f7244b2c231630ae896485980c15644';
const API_KEY = '0249d2d8b00d4d38c8254419df31a424e680d85ca14b099212ac70c3a7b0d0fc8a';

const receiver = labelled('vector receiver');
const ephemeralPrivateKey = labelled('vector ephemeral');
const bundleSigner = labelled('vector bundle signer');
const bundleSignerPublic =
  '043fe1cb3595e25b5cac54027af00b907379fa1101565d5aabb833bc8b8369b85deb2e4a53d3afa3cb8eb1d33e73cad01eb691e6eb672c428c3e8d239fbcc06967';

const refused = (code: string) => expect.objectContaining({ name: 'KeyringError', code });

/** Checks an envelope as a client does and answers with the text inside. */
function checkEnvelope(text: string, signerPublic: string): string {
  const envelope = JSON.parse(text);
  expect(Object.keys(envelope)).toEqual(['version', 'data', 'dataSignature', 'enclaveQuorumPublic']);
  expect(envelope.version).toBe('v1.0.0');
  expect(envelope.enclaveQuorumPublic).toBe(signerPublic);
  expect(envelope.data).toMatch(/^[0-9a-f]+$/);
  const data = Buffer.from(envelope.data, 'hex');
  expect(verifyDer(signerPublic, data, envelope.dataSignature)).toBe(true);
  return data.toString('utf8');
}

function verifyDer(publicHex: string, data: Uint8Array, signatureHex: string): boolean {
  const point = Buffer.from(publicHex, 'hex');
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  return verify('sha256', data, key, Buffer.from(signatureHex, 'hex'));
}

/** The deterministic signature that the vectors hold, by an implementation that makes such. */
function rfc6979(secret: Uint8Array, data: string): string {
  return toHex(p256.sign(fromText(data), secret, { lowS: false, format: 'der' }));
}

describe('credential bundle, vector 5', () => {
  const text =
    'mBVv4YEViW3sotDDUimYaVFPYBnANutam6UzqnVu9J5UNXKDq54KqEmmiD8vrygdHFT2BRezx3Bz5BYbfydZGGXc1C6X8EGjUm6J7HpmDVbGdyrBb5s';
  const credential = labelled('vector credential private key');

  test('seals and opens', () => {
    expect(sealCredentialBundle(publicKeyOf(receiver), credential, { ephemeralPrivateKey })).toBe(text);
    expect(openCredentialBundle(receiver, text)).toEqual(credential);
  });

  test('no changed character opens', () => {
    const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
    for (let i = 0; i < text.length; i += 1) {
      const other = alphabet[(alphabet.indexOf(text[i]!) + 1) % 58];
      expect(() => openCredentialBundle(receiver, text.slice(0, i) + other + text.slice(i + 1))).toThrow(KeyringError);
    }
  });

  test('a credential has 32 bytes, and other text fits to its bound', () => {
    const publicKey = publicKeyOf(receiver);
    for (const length of [0, 31, 33]) {
      expect(() => sealCredentialBundle(publicKey, new Uint8Array(length))).toThrow(refused('INVALID_INPUT'));
      const other = sealText(publicKey, new Uint8Array(length));
      expect(() => openCredentialBundle(receiver, other)).toThrow(refused('INVALID_INPUT'));
    }
    for (const byte of [0, 0xff]) {
      const long = new Uint8Array(PLAINTEXT_BYTES_MAX).fill(byte);
      expect(openText(receiver, sealText(publicKey, long))).toEqual(long);
    }
    expect(() => sealText(publicKey, new Uint8Array(PLAINTEXT_BYTES_MAX + 1))).toThrow(refused('INVALID_INPUT'));
    expect(() => openText(receiver, '1'.repeat(1_000_000))).toThrow(refused('INVALID_INPUT'));
  });

  test('on-ramp secrets are text in the same layout', () => {
    const publicKey = compressPoint(publicKeyOf(receiver));
    const secret = fromText('sk_live_é');
    expect(openOnRampSecret(receiver, sealText(publicKey, secret))).toEqual(secret);
    const bytes = sealText(publicKey, Uint8Array.of(0xc3, 0x28));
    expect(() => openOnRampSecret(receiver, bytes)).toThrow(refused('INVALID_INPUT'));
  });
});

describe('export bundle, vector 6', () => {
  const ciphertext =
    'b35e3dc27d0303c365b9bcb7ec42d882997271e806cd045302bd505c4b9c53ee71c97a309058562f15a4f769e0ea96358c496a1d1c4bbe6b78888c86dd48e9fbfcc03d6e8edda469f0de825a417e9d2027c72d44cb4c1891a28fd0797521085273122a3ef116d42281c6c273d2';
  const data = `{"encappedPublic":"${ENC}","ciphertext":"${ciphertext}","organizationId":"${ORGANIZATION}"}`;
  const signature =
    '3045022100ceadc9b0a54653a166e792c1f3d7031be2d5b4972adb9dc4e9412bcca09a3649022056a327b78507df090df4ff99da6f3fe7c43f9cffd1fed16b2eaf5383e069c0a9';

  test('the wallet', () => {
    const plaintext = walletPlaintext(fromText(MNEMONIC));
    const target = publicKeyOf(receiver);
    for (const signer of [bundleSigner, importSigningKey(bundleSigner)]) {
      const bundle = sealExportBundle(signer, target, ORGANIZATION, plaintext, { ephemeralPrivateKey });
      expect(checkEnvelope(bundle, bundleSignerPublic)).toBe(data);
    }
    expect(verifyDer(bundleSignerPublic, fromText(data), signature)).toBe(true);
    expect(rfc6979(bundleSigner, data)).toBe(signature);
  });

  test('a key', () => {
    const key = labelled('vector exported key');
    expect(toHex(key)).toBe('b8b0cac48deb40a768afb0c39834bfe4a5c3de6590da681bff99bd139ea2689b');
    const target = publicKeyOf(receiver);
    const bundle = sealExportBundle(bundleSigner, target, ORGANIZATION, keyPlaintext(key), { ephemeralPrivateKey });
    expect(JSON.parse(checkEnvelope(bundle, bundleSignerPublic))).toEqual({
      encappedPublic: ENC,
      ciphertext: '6a8c966894872d446c746d1a101909465dd3cee3f27802689c468c21b1515555f6984105fd181eee19c92f45f1154e6d',
      organizationId: ORGANIZATION,
    });
  });

  test('the client reads what was exported, and a changed envelope is not accepted', () => {
    const plaintext = walletPlaintext(fromText(MNEMONIC), fromText('hunter2'));
    const bundle = sealExportBundle(bundleSigner, publicKeyOf(receiver), ORGANIZATION, plaintext);
    expect(toText(openHpkeJson(receiver, checkEnvelope(bundle, bundleSignerPublic)))).toBe(`${MNEMONIC}\nhunter2`);
    const envelope = JSON.parse(bundle);
    const bytes = fromHex(envelope.data);
    for (let i = 0; i < bytes.length; i += 1) {
      const changed = Uint8Array.from(bytes);
      changed[i]! ^= 1;
      expect(verifyDer(bundleSignerPublic, changed, envelope.dataSignature)).toBe(false);
    }
  });
});

describe('export plaintext', () => {
  test('a phrase, and a passphrase behind a newline', () => {
    expect(toText(walletPlaintext(fromText('a b c')))).toBe('a b c');
    expect(toText(walletPlaintext(fromText('a b c'), fromText('p\nq')))).toBe('a b c\np\nq');
  });

  test('ideographic spaces become plain ones in the phrase only', () => {
    const japanese = fromText('あいこくしん\u3000あおぞら'.normalize('NFD'));
    const expected = 'あいこくしん\u3000あおぞら'.normalize('NFKD');
    expect(toText(walletPlaintext(japanese))).toBe(expected);
    expect(toText(walletPlaintext(japanese, fromText('a\u3000b')))).toBe(`${expected}\na\u3000b`);
  });

  test('what is no phrase or no key', () => {
    for (const phrase of ['', 'a\nb', '\n']) {
      expect(() => walletPlaintext(fromText(phrase))).toThrow(refused('INVALID_INPUT'));
    }
    for (const length of [0, 31, 33, 64]) {
      expect(() => keyPlaintext(new Uint8Array(length))).toThrow(refused('INVALID_INPUT'));
    }
  });

  test('what is exported can be imported', () => {
    const passphrase = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((text) => !text.includes('\n--PASS--\n'));
    fc.assert(
      fc.property(passphrase, (text) => {
        const { mnemonic, passphrase: read } = parseWalletPlaintext(
          walletPlaintext(fromText(MNEMONIC), fromText(text)),
        );
        expect({ mnemonic, read }).toEqual({ mnemonic: MNEMONIC, read: text });
      }),
    );
  });
});

describe('import, vector 7', () => {
  const target = labelled('vector import target');
  const targetPublic =
    '048c53f8c2d533b45a91f41744bcbe860eb4433f51b0217e95e3735d44439d0f8d78dc894c6ad04c4422f8a773059ef90ae78fb92e83c1228c55ada8336661131f';
  const ciphertext =
    'e4346908832602460588ff83988cf8b787e2ff420bfe050833b13ca00baf299eb57ef800e0512806823cd9bc072acec6004278fa724fddb3bb449f5c3975939661715e2ef4ea81d0606bd10648987161da91f993203bee4ff83270aea452064d3adbfde5de2f22a93d3169b10531753992c9be82638ba21f6c2953b6b48f';

  test('the target', () => {
    const data = `{"targetPublic":"${targetPublic}","organizationId":"${ORGANIZATION}","userId":"${USER}"}`;
    const signature =
      '304502202d1bcd1e2774ac574a7c7342183d173a17bd4c54167cb378508729da010b2bd2022100f045a407cb3ac4daea23c9e6853b61456037e4d309cda3e881b8fe294b07fcc6';
    for (const key of [publicKeyOf(target), compressPoint(publicKeyOf(target))]) {
      const bundle = signImportTarget(bundleSigner, key, ORGANIZATION, USER);
      expect(checkEnvelope(bundle, bundleSignerPublic)).toBe(data);
    }
    expect(verifyDer(bundleSignerPublic, fromText(data), signature)).toBe(true);
    expect(rfc6979(bundleSigner, data)).toBe(signature);
  });

  test('the target of secrets names no user', () => {
    const bundle = signSecretsTarget(bundleSigner, publicKeyOf(target), ORGANIZATION);
    expect(checkEnvelope(bundle, bundleSignerPublic)).toBe(
      `{"targetPublic":"${targetPublic}","organizationId":"${ORGANIZATION}"}`,
    );
  });

  test('the wallet that the client sends', () => {
    const plaintext = openHpkeJson(target, JSON.stringify({ encappedPublic: ENC, ciphertext }));
    expect(toText(plaintext)).toBe(`${MNEMONIC}\n--PASS--\nhunter2`);
    expect(parseWalletPlaintext(plaintext)).toEqual({ mnemonic: MNEMONIC, passphrase: 'hunter2' });
    const sealed = seal(publicKeyOf(target), plaintext, { ephemeralPrivateKey });
    expect(toHex(sealed.ciphertext)).toBe(ciphertext);
  });
});

describe('import plaintext', () => {
  const parse = (text: string) => parseWalletPlaintext(fromText(text));

  test('both separators, and neither', () => {
    expect(parse('a b')).toEqual({ mnemonic: 'a b', passphrase: '' });
    expect(parse('a b\n--PASS--\nx y')).toEqual({ mnemonic: 'a b', passphrase: 'x y' });
    expect(parse('a b\nx y')).toEqual({ mnemonic: 'a b', passphrase: 'x y', wholePhrase: 'a b x y' });
  });

  test('an empty passphrase is none', () => {
    expect(parse('a b\n')).toEqual({ mnemonic: 'a b', passphrase: '' });
    expect(parse('a b\n--PASS--\n')).toEqual({ mnemonic: 'a b', passphrase: '' });
  });

  test('the phrase is normalised, the passphrase is not', () => {
    expect(parse('  a\u3000b \t c\r\n é ').mnemonic).toBe('a b c');
    expect(parse('  a\u3000b \t c\r\n é ').passphrase).toBe(' é ');
    expect(parse('a\nb\n--PASS--\n ü').mnemonic).toBe('a b');
    expect(parse('á').mnemonic).toBe('á'.normalize('NFKD'));
    expect(parse('a\n--PASS--\nx\n--PASS--\ny').passphrase).toBe('x\n--PASS--\ny');
  });

  test('what is no phrase names the mnemonic', () => {
    const refusal = expect.objectContaining({
      code: expect.stringMatching(/^INVALID_(MNEMONIC|BUNDLE)$/),
      message: expect.stringContaining('invalid mnemonic'),
    });
    for (const text of ['', ' ', '\n', '\nx', '\n--PASS--\nx', 'a '.repeat(2000), `a\n${'x'.repeat(8192)}`]) {
      expect(() => parse(text)).toThrow(refusal);
    }
    expect(() => parseWalletPlaintext(Uint8Array.of(0xff))).toThrow(refusal);
  });

  test('keys in and out of range', () => {
    const orders = {
      CURVE_SECP256K1: 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141',
      CURVE_P256: 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551',
    } as const;
    for (const curve of ['CURVE_SECP256K1', 'CURVE_P256'] as const) {
      const order = fromHex(orders[curve]);
      const below = Uint8Array.from(order);
      below[31]! -= 1;
      expect(parseKeyPlaintext(below, curve)).toEqual(below);
      for (const key of [order, new Uint8Array(32), new Uint8Array(32).fill(0xff)]) {
        expect(() => parseKeyPlaintext(key, curve)).toThrow(refused('INVALID_KEY'));
      }
    }
    expect(parseKeyPlaintext(new Uint8Array(32), 'CURVE_ED25519')).toEqual(new Uint8Array(32));
    for (const length of [0, 31, 33, 64]) {
      expect(() => parseKeyPlaintext(new Uint8Array(length).fill(1), 'CURVE_ED25519')).toThrow(
        refused('INVALID_BUNDLE'),
      );
    }
  });
});

describe('one-time code, vector 8', () => {
  const target = labelled('vector otp target');
  const targetPublic =
    '0425b320d43698f4c6080c288ed1c54dcdbbf43aa266c9539361ec01639aa550e0ba97bf56bb9bef9f00ac617e350fa9cccfe6918ecd0d21ffcb1a384927692ec7';
  const signer = labelled('vector otp token signer');
  const signerPublic =
    '04e9f4d0de4fb1241f41f4b3394db3501b2946216b2cb56452d6fefb172cc6276b14ac5c87979e0f9f762841f7aa9573f59ea81b66e8b1b5d39be00f6356fa4f49';

  test('the target', () => {
    const data = `{"targetPublic":"${targetPublic}"}`;
    const signature =
      '304502210092bf755ccdfcd28ff7f418d64fa8ff58c0db08c92aec4235591e98243012669202206cdb98c9b148020095a8ede160010ebce8d37634059c9429d84a83cbd4435cb4';
    expect(checkEnvelope(signOtpTarget(signer, publicKeyOf(target)), signerPublic)).toBe(data);
    expect(verifyDer(signerPublic, fromText(data), signature)).toBe(true);
    expect(rfc6979(signer, data)).toBe(signature);
  });

  test('the code that the client sends', () => {
    const ciphertext =
      '43a72800ed648960680c205b1821eef46c9837ea5258bc59f33daf7bafbec3daf65f157d4a8255f297b0083848694363ffc87cfe4814f72a8d0849c0f8168b8e04abc6b077e55158aca1ea48685232ceb54524c1b580dc4b79cc6dabd3adfa789ca52937ade5aef0aff7eccc30a87e774c17e7cc97943c';
    const plaintext = openHpkeJson(target, JSON.stringify({ encappedPublic: ENC, ciphertext }));
    expect(parseOtpPlaintext(plaintext)).toEqual({ otpCode: '123456', publicKey: API_KEY });
  });

  test('attempts that are none', () => {
    const attempt = { otp_code: '123456', public_key: API_KEY };
    expect(parseOtpPlaintext(fromText(JSON.stringify(attempt))).otpCode).toBe('123456');
    for (const other of [
      {},
      { ...attempt, otp_code: 123456 },
      { ...attempt, otp_code: '' },
      { ...attempt, otp_code: 'x'.repeat(65) },
      { ...attempt, public_key: undefined },
      { ...attempt, public_key: `02${'00'.repeat(31)}01` },
      { ...attempt, public_key: toHex(publicKeyOf(receiver)) },
      { ...attempt, pad: 'x'.repeat(2000) },
      [attempt],
      null,
    ]) {
      expect(() => parseOtpPlaintext(fromText(JSON.stringify(other)))).toThrow(refused('INVALID_INPUT'));
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(() => parseOtpPlaintext(bytes)).toThrow(KeyringError);
      }),
    );
  });
});

describe('what clients send as JSON', () => {
  const good = { encappedPublic: ENC, ciphertext: 'ab'.repeat(20) };

  test('both fields, in either case, beside others', () => {
    const parsed = parseHpkeJson(JSON.stringify({ ...good, encappedPublic: ENC.toUpperCase(), version: 1 }));
    expect(toHex(parsed.enc)).toBe(ENC);
    expect(toHex(parsed.ciphertext)).toBe(good.ciphertext);
  });

  test('what is sealed for a target opens with its key alone', () => {
    const target = publicKeyOf(receiver);
    const text = sealHpkeJson(target, fromText('a key'));
    expect(toText(openHpkeJson(receiver, text))).toBe('a key');
    expect(sealHpkeJson(target, fromText('a key'))).not.toBe(text);
    expect(() => openHpkeJson(generatePrivateKey(), text)).toThrow(refused('NOT_OPENED'));
    expect(toText(openHpkeJson(receiver, sealHpkeJson(target, new Uint8Array(65_536))))).toHaveLength(65_536);
    expect(() => sealHpkeJson(target, new Uint8Array(65_537))).toThrow(refused('INVALID_INPUT'));
    expect(() => sealHpkeJson(fromHex(API_KEY.slice(2)), fromText('a key'))).toThrow(KeyringError);
  });

  test('anything else is refused', () => {
    const point = fromHex(ENC);
    for (const other of [
      { ...good, encappedPublic: undefined },
      { ...good, encappedPublic: toHex(compressPoint(point)) },
      { ...good, encappedPublic: `06${ENC.slice(2)}` },
      { ...good, encappedPublic: `${ENC.slice(0, -1)}g` },
      { ...good, encappedPublic: `0x${ENC.slice(2)}` },
      { ...good, encappedPublic: [...point] },
      { ...good, ciphertext: undefined },
      { ...good, ciphertext: 'ab'.repeat(15) },
      { ...good, ciphertext: `${'ab'.repeat(20)}a` },
      { ...good, ciphertext: 'zz'.repeat(20) },
      { ...good, ciphertext: 'ab'.repeat(65_536 + 17) },
      { ...good, pad: ' '.repeat(200_000) },
      [good],
      null,
      'text',
      7,
    ]) {
      expect(() => parseHpkeJson(JSON.stringify(other))).toThrow(refused('INVALID_INPUT'));
    }
    for (const text of ['', '{', '\ufeff{}', `${JSON.stringify(good)}x`]) {
      expect(() => parseHpkeJson(text)).toThrow(refused('INVALID_INPUT'));
    }
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(() => openHpkeJson(receiver, text)).toThrow(KeyringError);
      }),
    );
  });
});

describe('client secret, vector 11', () => {
  const privateKey = labelled('vector tls fetcher encryption');
  const publicHex =
    '04219ab98cb96321829271103cf5e36b0189ee481004bbe503fa2600941c058ffe831f64bc115e362343c927a829938bc676d204083f2e257390813e78b6ed5107';
  const envelope =
    '000102030405060708090a0b049ec02d66c68ea6bf70fe02437cd99b77ed07c9009c43769288beb05ef123d973b60d2dab1195f03f3d6229fdc55c399695d650fdfd17a34777e8765bd8463f6721000000de140e48bc0df81a9637dd1c1e06835db81ee03a4230d2d8773c7a4ba768b985a8';

  test('opens and seals', () => {
    expect(toHex(publicKeyOf(privateKey))).toBe(publicHex);
    expect(toText(openSealedBox(privateKey, envelope))).toBe('client-secret-123');
    const nonce = fromHex('000102030405060708090a0b');
    const ephemeral = labelled('vector qos ephemeral');
    const box = sealBox(fromHex(publicHex), fromText('client-secret-123'), { ephemeralPrivateKey: ephemeral, nonce });
    expect(box).toBe(envelope);
    expect(openSealedBox(privateKey, envelope.toUpperCase())).toEqual(fromText('client-secret-123'));
  });

  test('no flipped bit opens, nor another length', () => {
    const bytes = fromHex(envelope);
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Uint8Array.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => openSealedBox(privateKey, toHex(changed))).toThrow(KeyringError);
    }
    for (const text of [
      envelope.slice(2),
      envelope.slice(0, -2),
      `${envelope}00`,
      `${envelope}0`,
      `0x${envelope}`,
      '',
    ]) {
      expect(() => openSealedBox(privateKey, text)).toThrow(KeyringError);
    }
    expect(() => openSealedBox(generatePrivateKey(), envelope)).toThrow(refused('NOT_OPENED'));
  });

  test('any secret returns, and random text is refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (secret) => {
        expect(openSealedBox(privateKey, sealBox(compressPoint(fromHex(publicHex)), secret))).toEqual(secret);
        expect(() => openSealedBox(privateKey, toHex(secret))).toThrow(KeyringError);
      }),
      { numRuns: 50 },
    );
  });
});
