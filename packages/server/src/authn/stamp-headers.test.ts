import { createECDH } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../lib/errors.ts';
import { decodeBase64, parseStamp } from './stamp-headers.ts';

type Headers = Parameters<typeof parseStamp>[0];

const P256_KEY = '0249d2d8b00d4d38c8254419df31a424e680d85ca14b099212ac70c3a7b0d0fc8a';
const ED25519_KEY = '2fe54e5a63ac71e4e30e61398ebc2704c8cd4ef2b0a23d6e043c245f561476e7';
const R = '3fac1f6f986502beb2638bcc3c85d76c9fdfd45a5a55c6f2785ddd7018343a94';
const S = '650d1767237130c5c5a55843108d96eab19776830ff3d4b50374414b9c0b95f1';
const DER = `30440220${R}0220${S}`;

const P256_STAMP =
  'eyJwdWJsaWNLZXkiOiIwMjQ5ZDJkOGIwMGQ0ZDM4YzgyNTQ0MTlkZjMxYTQyNGU2ODBkODVjYTE0YjA5OTIxMmFjNzBjM2E3YjBkMGZjOGEiLCJz' +
  'Y2hlbWUiOiJTSUdOQVRVUkVfU0NIRU1FX1RLX0FQSV9QMjU2Iiwic2lnbmF0dXJlIjoiMzA0NDAyMjAzZmFjMWY2Zjk4NjUwMmJlYjI2MzhiY2Mz' +
  'Yzg1ZDc2YzlmZGZkNDVhNWE1NWM2ZjI3ODVkZGQ3MDE4MzQzYTk0MDIyMDY1MGQxNzY3MjM3MTMwYzVjNWE1NTg0MzEwOGQ5NmVhYjE5Nzc2ODMw' +
  'ZmYzZDRiNTAzNzQ0MTRiOWMwYjk1ZjEifQ';

const WEBAUTHN = {
  authenticatorData: 'VtmCAS3hjt8Iz1fY2UtegalxmdPrFPI7fCt1xcdfVG0FAAAAAQ',
  clientDataJson: 'e30',
  credentialId: '6kHtPPqRTKaLms_L0xFKpw',
  signature: 'MEQCIDIYrLXo0giyNZGzKSIs2rZG-6a8',
};

const API_KEY = { publicKey: P256_KEY, scheme: 'SIGNATURE_SCHEME_TK_API_P256', signature: DER };

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function refusal(headers: Headers): { code: string; status: number; message: string } {
  try {
    parseStamp(headers);
  } catch (error) {
    if (error instanceof ApiError) return { code: error.code, status: error.httpStatus, message: error.message };
    throw error;
  }
  throw new Error('the stamp was accepted');
}

describe('the choice of the header', () => {
  test('no authentication header is a missing signature', () => {
    expect(refusal({ 'content-type': 'application/json', 'x-stamp': undefined })).toEqual({
      code: 'SIGNATURE_MISSING',
      status: 401,
      message: 'no valid authentication signature found for request',
    });
  });

  test('two authentication headers are refused, even when one is empty', () => {
    expect(refusal({ 'x-stamp': P256_STAMP, 'x-session': 'token' })).toMatchObject({
      code: 'REQUEST_INVALID',
      status: 400,
    });
    expect(refusal({ 'x-stamp': P256_STAMP, 'x-stamp-webauthn': '' })).toMatchObject({ code: 'REQUEST_INVALID' });
    expect(refusal({ 'x-stamp-attested': 'a', 'x-stamp-webauthn': '{}' })).toMatchObject({ code: 'REQUEST_INVALID' });
  });

  test.each<[string, Headers]>([
    ['an array', { 'x-stamp': [P256_STAMP, P256_STAMP] }],
    ['an array of one', { 'x-session': ['token'] }],
    ['joined stamps', { 'x-stamp': `${P256_STAMP}, ${P256_STAMP}` }],
    ['joined tokens', { 'x-session': 'one, two' }],
    ['joined passkey stamps', { 'x-stamp-webauthn': `${JSON.stringify(WEBAUTHN)}, ${JSON.stringify(WEBAUTHN)}` }],
  ])('a repeated header is refused: %s', (_name, headers) => {
    expect(refusal(headers)).toMatchObject({ code: 'REQUEST_INVALID', status: 400 });
  });

  test.each(['x-stamp', 'x-stamp-webauthn', 'x-stamp-attested', 'x-session'])('%s has a limit of 8 KiB', (name) => {
    expect(refusal({ [name]: 'a'.repeat(8193) })).toMatchObject({ code: 'HEADER_TOO_LARGE', status: 431 });
  });

  test('an attested stamp is read, in both of its forms', () => {
    const fields = {
      publicKeyAttestation: 'a.b.c',
      scheme: 'STAMP_ATTESTED_SCHEME_P256_OIDC',
      publicKey: P256_KEY.toUpperCase(),
      signature: DER,
    };
    const expected = {
      kind: 'attested',
      by: 'oidc',
      token: 'a.b.c',
      publicKey: P256_KEY,
      publicKeyText: P256_KEY.toUpperCase(),
      signatureText: DER,
    };
    const text = JSON.stringify(fields);
    for (const value of [text, Buffer.from(text).toString('base64url')]) {
      expect(parseStamp({ 'x-stamp-attested': value })).toMatchObject(expected);
    }
    for (const changed of [
      { ...fields, scheme: 'SIGNATURE_SCHEME_TK_API_P256' },
      { ...fields, publicKey: '02' },
      { ...fields, signature: 'zz' },
      { ...fields, signature: '00' },
      { ...fields, publicKeyAttestation: 1 },
    ]) {
      expect(refusal({ 'x-stamp-attested': JSON.stringify(changed) })).toMatchObject({
        code: 'SIGNATURE_INVALID',
        status: 401,
      });
    }
  });

  test('a session token is handed on', () => {
    expect(parseStamp({ 'x-session': 'abc_DEF-123' })).toEqual({ kind: 'session', token: 'abc_DEF-123' });
    expect(parseStamp({ 'x-session': 'a'.repeat(8192) }).kind).toBe('session');
    for (const token of ['', 'a b', 'a\u00e9']) {
      expect(refusal({ 'x-session': token })).toMatchObject({ code: 'SIGNATURE_INVALID', status: 401 });
    }
  });
});

describe('API key stamps', () => {
  const expected = {
    kind: 'api-key',
    scheme: 'SIGNATURE_SCHEME_TK_API_P256',
    curve: 'P256',
    publicKey: P256_KEY,
    signatureText: DER,
  };

  test('the P-256 vector', () => {
    const stamp = parseStamp({ 'x-stamp': P256_STAMP });
    expect(stamp).toMatchObject(expected);
    expect(stamp.kind === 'api-key' && Buffer.from(stamp.signature).toString('hex')).toBe(R + S);
  });

  test('both alphabets, padding optional', () => {
    // The extra member makes both alphabets differ and padding necessary.
    const json = Buffer.from(JSON.stringify({ ...API_KEY, extra: '\u00ff\u00fe\u07ff>>>???~~~' }));
    const standard = json.toString('base64');
    expect(standard).not.toBe(json.toString('base64url'));
    for (const value of [standard, standard.replace(/=+$/, ''), json.toString('base64url')]) {
      expect(parseStamp({ 'x-stamp': value })).toMatchObject(expected);
    }
  });

  test('other spellings of the key become the canonical one', () => {
    const ecdh = createECDH('prime256v1');
    ecdh.generateKeys();
    const compressed = ecdh.getPublicKey('hex', 'compressed');
    for (const publicKey of [compressed.toUpperCase(), ecdh.getPublicKey('hex', 'uncompressed')]) {
      expect(parseStamp({ 'x-stamp': encode({ ...API_KEY, publicKey }) })).toMatchObject({ publicKey: compressed });
    }
  });

  test('the signature text is kept as it was sent', () => {
    const signature = DER.toUpperCase();
    expect(parseStamp({ 'x-stamp': encode({ ...API_KEY, signature }) })).toMatchObject({ signatureText: signature });
  });

  test('an Ed25519 signature has 64 bytes and no DER', () => {
    const ed25519 = { publicKey: ED25519_KEY, scheme: 'SIGNATURE_SCHEME_TK_API_ED25519', signature: R + S };
    expect(parseStamp({ 'x-stamp': encode(ed25519) })).toMatchObject({ curve: 'ED25519', publicKey: ED25519_KEY });
    for (const signature of [DER, R, `${R + S}00`]) {
      expect(refusal({ 'x-stamp': encode({ ...ed25519, signature }) })).toMatchObject({
        code: 'SIGNATURE_INVALID',
        message: 'could not extract api key stamp: signature must be 64 bytes',
      });
    }
  });

  test.each([
    ['', 'not a JSON object'],
    ['%%%', 'not base64'],
    ['abcde', 'not base64'],
    ['ab=c', 'not base64'],
    ['abc===', 'not base64'],
    [JSON.stringify(API_KEY), 'not base64'],
    [Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url'), 'not a JSON object'],
    [Buffer.from('{"publicKey":').toString('base64url'), 'not a JSON object'],
    [encode(null), 'not a JSON object'],
    [encode('text'), 'not a JSON object'],
    [encode(7), 'not a JSON object'],
    [encode([API_KEY]), 'not a JSON object'],
    [encode({}), 'publicKey must be a string'],
    [encode({ ...API_KEY, publicKey: null }), 'publicKey must be a string'],
    [encode({ ...API_KEY, publicKey: [P256_KEY] }), 'publicKey must be a string'],
    [encode({ ...API_KEY, scheme: 1 }), 'scheme must be a string'],
    [encode({ ...API_KEY, signature: {} }), 'signature must be a string'],
    [encode({ ...API_KEY, scheme: '' }), 'unknown scheme'],
    [encode({ ...API_KEY, scheme: 'toString' }), 'unknown scheme'],
    [encode({ ...API_KEY, scheme: 'SIGNATURE_SCHEME_TK_API_P384' }), 'unknown scheme'],
    [encode({ ...API_KEY, scheme: 'SIGNATURE_SCHEME_TK_WEBAUTHN' }), 'unknown scheme'],
    [encode({ ...API_KEY, signature: '' }), 'signature is not hexadecimal'],
    [encode({ ...API_KEY, signature: `0x${DER}` }), 'signature is not hexadecimal'],
    [encode({ ...API_KEY, publicKey: `0x${P256_KEY}` }), 'public key must be hexadecimal'],
    [encode({ ...API_KEY, publicKey: ED25519_KEY }), 'P-256 public key must be'],
    [encode({ ...API_KEY, publicKey: `02${'ff'.repeat(32)}` }), 'not a point on P-256'],
    [encode({ ...API_KEY, scheme: 'SIGNATURE_SCHEME_TK_API_ED25519', signature: R + S }), 'must be 32 bytes'],
  ])('a malformed stamp is refused, case %#', (value, why) => {
    const { code, status, message } = refusal({ 'x-stamp': value });
    expect({ code, status }).toEqual({ code: 'SIGNATURE_INVALID', status: 401 });
    expect(message.startsWith('could not extract api key stamp: ')).toBe(true);
    expect(message).toContain(why);
  });
});

describe('the DER form of signatures', () => {
  const integer = (hex: string) => `02${byte(hex.length / 2)}${hex}`;
  const sequence = (content: string) => `30${byte(content.length / 2)}${content}`;
  const parse = (signature: string) => parseStamp({ 'x-stamp': encode({ ...API_KEY, signature }) });
  const raw = (signature: string) => {
    const stamp = parse(signature);
    return stamp.kind === 'api-key' ? Buffer.from(stamp.signature).toString('hex') : undefined;
  };
  const high = `f${R.slice(1)}`;
  const short = S.slice(2);

  test.each([
    ['minimal', sequence(integer(R) + integer(S)), R + S],
    ['with sign bytes', sequence(integer(`00${high}`) + integer(`00${high}`)), high + high],
    ['short', sequence(integer(short) + integer('01')), `00${short}${'01'.padStart(64, '0')}`],
    ['padded to 32 bytes', sequence(integer(`00${short}`) + integer(S)), `00${short}${S}`],
    ['padded to 33 bytes', sequence(integer(`00${R}`) + integer(`00${S}`)), R + S],
    ['many zeros', sequence(integer('07'.padStart(64, '0')) + integer(S)), '07'.padStart(64, '0') + S],
  ])('accepts integers: %s', (_name, der, expected) => {
    expect(raw(der)).toBe(expected);
  });

  test.each([
    ['no sequence', integer(R) + integer(S)],
    ['another tag', `31${sequence(integer(R) + integer(S)).slice(2)}`],
    ['an empty sequence', '3000'],
    ['one byte', '30'],
    ['one integer', sequence(integer(R))],
    ['three integers', sequence(integer('01') + integer('01') + integer('01'))],
    ['bytes after the sequence', `${DER}00`],
    ['bytes inside after s', sequence(`${integer(R)}${integer(S)}0500`)],
    ['a cut sequence', DER.slice(0, -2)],
    ['a length beyond the end', sequence(`${integer(R)}0221${S}`)],
    ['a long form length', `3081${DER.slice(2)}`],
    ['an open length', `3080${integer(R)}${integer(S)}0000`],
    ['an integer of no bytes', sequence(`0200${integer(S)}`)],
    ['r zero', sequence(integer('00') + integer(S))],
    ['s zero', sequence(integer(R) + integer('00'.repeat(32)))],
    ['r of 33 significant bytes', sequence(integer(`01${R}`) + integer(S))],
    ['r of 34 bytes', sequence(integer(`0000${R}`) + integer(S))],
    ['negative r', sequence(integer(high) + integer(S))],
    ['negative s', sequence(integer(R) + integer(high))],
    ['another tag for s', sequence(`${integer(R)}04${integer(S).slice(2)}`)],
    ['raw r and s', R + S],
  ])('refuses %s', (_name, der) => {
    expect(refusal({ 'x-stamp': encode({ ...API_KEY, signature: der }) })).toMatchObject({
      code: 'SIGNATURE_INVALID',
      message: expect.stringContaining('signature is not the DER form'),
    });
  });
});

describe('passkey stamps', () => {
  test('fields are decoded and the ids made canonical', () => {
    const padded = { ...WEBAUTHN, credentialId: '6kHtPPqRTKaLms/L0xFKpw==', signature: `${WEBAUTHN.signature}+/_-` };
    const stamp = parseStamp({ 'x-stamp-webauthn': JSON.stringify({ ...padded, extra: 1 }) });
    expect(stamp).toMatchObject({
      kind: 'webauthn',
      credentialId: WEBAUTHN.credentialId,
      signatureText: `${WEBAUTHN.signature}-__-`,
    });
    expect(stamp.kind === 'webauthn' && stamp.authenticatorData.length).toBe(37);
    expect(stamp.kind === 'webauthn' && Buffer.from(stamp.clientDataJson).toString()).toBe('{}');
  });

  test.each([
    ['', 'not a JSON object'],
    ['null', 'not a JSON object'],
    ['[]', 'not a JSON object'],
    ['"text"', 'not a JSON object'],
    [encode(WEBAUTHN), 'not a JSON object'],
    ['{}', 'authenticatorData must be a string'],
    [
      JSON.stringify({ ...WEBAUTHN, clientDataJson: undefined, clientDataJSON: 'e30' }),
      'clientDataJson must be a string',
    ],
    [JSON.stringify({ ...WEBAUTHN, credentialId: 5 }), 'credentialId must be a string'],
    [JSON.stringify({ ...WEBAUTHN, signature: null }), 'signature must be a string'],
    [JSON.stringify({ ...WEBAUTHN, signature: '' }), 'signature is not base64url'],
    [JSON.stringify({ ...WEBAUTHN, credentialId: '***' }), 'credentialId is not base64url'],
    [JSON.stringify({ ...WEBAUTHN, authenticatorData: 'abcde' }), 'authenticatorData is not base64url'],
    [JSON.stringify({ ...WEBAUTHN, clientDataJson: '=' }), 'clientDataJson is not base64url'],
    [JSON.stringify({ ...WEBAUTHN, credentialId: 'A'.repeat(1366) }), 'credentialId is too long'],
  ])('a malformed stamp is refused, case %#', (value, why) => {
    const { code, status, message } = refusal({ 'x-stamp-webauthn': value });
    expect({ code, status }).toEqual({ code: 'SIGNATURE_INVALID', status: 401 });
    expect(message).toBe(`could not extract webauthn stamp: ${why}`);
  });
});

describe('any input', () => {
  const survives = (headers: Headers) => {
    try {
      parseStamp(headers);
    } catch (error) {
      expect(error).toBeInstanceOf(ApiError);
    }
  };
  const name = fc.constantFrom('x-stamp', 'x-stamp-webauthn', 'x-stamp-attested', 'x-session');
  const bytes = fc.uint8Array({ maxLength: 200 });
  const hex = bytes.map((value) => Buffer.from(value).toString('hex'));
  const anything = fc.oneof(fc.string(), hex, fc.constant(P256_KEY), fc.constant(DER), fc.jsonValue());

  test('random header values', () => {
    const binary = bytes.map((value) => Buffer.from(value).toString('latin1'));
    const base64 = bytes.map((value) => Buffer.from(value).toString('base64'));
    fc.assert(
      fc.property(name, fc.oneof(binary, base64, fc.string(), fc.json()), (key, value) => survives({ [key]: value })),
    );
  });

  test('random stamps of the right form', () => {
    const scheme = fc.oneof(
      fc
        .constantFrom('P256', 'SECP256K1', 'SECP256K1_EIP191', 'ED25519')
        .map((end) => `SIGNATURE_SCHEME_TK_API_${end}`),
      fc.string(),
    );
    const apiKey = fc.record({ publicKey: anything, scheme, signature: anything });
    fc.assert(fc.property(apiKey, (fields) => survives({ 'x-stamp': encode(fields) })));
    const webauthn = fc.record({
      authenticatorData: anything,
      clientDataJson: anything,
      credentialId: anything,
      signature: anything,
    });
    fc.assert(fc.property(webauthn, (fields) => survives({ 'x-stamp-webauthn': JSON.stringify(fields) })));
  });

  test('random headers', () => {
    const value = fc.option(fc.oneof(fc.string(), fc.array(fc.string())), { nil: undefined });
    fc.assert(fc.property(fc.dictionary(fc.oneof(name, fc.string()), value), survives));
  });

  test('bytes survive each spelling of base64', () => {
    fc.assert(
      fc.property(bytes, (value) => {
        const buffer = Buffer.from(value);
        for (const text of [buffer.toString('base64'), buffer.toString('base64url')]) {
          expect(decodeBase64(text)?.equals(buffer)).toBe(true);
        }
      }),
    );
  });
});

function byte(value: number): string {
  return value.toString(16).padStart(2, '0');
}
