import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseStamp, type WebauthnStamp } from './stamp-headers.ts';
import {
  checkOrigin,
  importCoseKey,
  parseClientData,
  type StoredPasskey,
  verifyWebauthnStamp,
} from './webauthn-stamp.ts';

const BODY = Buffer.from('{"organizationId":"00000000-0000-4000-8000-000000000001"}');
const BODY_DIGEST = 'd2d5c37920bfde68c8b84d52721b7764a99fd88056fd84a97d6a2b02fabab704';
const ANDROID = 'android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck';

const VECTOR_HEADER =
  '{"authenticatorData":"VtmCAS3hjt8Iz1fY2UtegalxmdPrFPI7fCt1xcdfVG0FAAAAAQ","clientDataJson":"eyJ0eXBlIjoid2ViYX' +
  'V0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiWkRKa05XTXpOemt5TUdKbVpHVTJPR000WWpnMFpEVXlOekl4WWpjM05qUmhPVGxtWkRnNE1EVTJabVE0' +
  'TkdFNU4yUTJZVEppTURKbVlXSmhZamN3TkEiLCJvcmlnaW4iOiJodHRwczovL2FwcC5leGFtcGxlIiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ","c' +
  'redentialId":"6kHtPPqRTKaLms_L0xFKpw","signature":"MEQCIDIYrLXo0giyNZGzKSIs2rZG-6a8qqwIy0TlvFjTpKQRAiB7F8twaoU' +
  'm6X1s-6t3VpcU0TsrHlSQj3hESAS_GXZW_g"}';
const VECTOR_KEY = Buffer.from(
  'a5010203262001215820' +
    Buffer.from('Uq917NmrdMaUsOaCLto0pkVAXL_SB47wu4zDFdun3Eo', 'base64url').toString('hex') +
    '225820' +
    Buffer.from('2kLGXc70ZrvY_Fg2lIIrNlKTJ0sz618zOCrYTYfeBZw', 'base64url').toString('hex'),
  'hex',
);

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
const vectorPasskey: StoredPasskey = { publicKey: VECTOR_KEY, rpIdHash: sha256('app.example'), origins: null };

interface Device {
  readonly cose: Uint8Array;
  readonly sign: (data: Uint8Array) => Buffer;
}

const jwkBytes = (key: KeyObject, member: 'x' | 'y' | 'n' | 'e') =>
  new Uint8Array(Buffer.from(key.export({ format: 'jwk' })[member] ?? '', 'base64url'));

function cose(entries: [number, number | Uint8Array][]): Uint8Array {
  return isoCBOR.encode(new Map(entries) as Parameters<typeof isoCBOR.encode>[0]);
}

function es256Device(): Device {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    cose: cose([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, jwkBytes(publicKey, 'x')],
      [-3, jwkBytes(publicKey, 'y')],
    ]),
    sign: (data) => sign('sha256', data, privateKey),
  };
}

function rs256Device(): Device {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    cose: cose([
      [1, 3],
      [3, -257],
      [-1, jwkBytes(publicKey, 'n')],
      [-2, jwkBytes(publicKey, 'e')],
    ]),
    sign: (data) => sign('sha256', data, privateKey),
  };
}

function eddsaDevice(): Device {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return {
    cose: cose([
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, jwkBytes(publicKey, 'x')],
    ]),
    sign: (data) => sign(null, data, privateKey),
  };
}

interface StampOptions {
  readonly body?: Uint8Array;
  readonly rpId?: string;
  readonly flags?: number;
  readonly counter?: number;
  readonly clientData?: Record<string, unknown>;
  readonly clientDataJson?: Uint8Array;
  readonly authenticatorData?: Uint8Array;
}

function challengeOf(body: Uint8Array): string {
  return Buffer.from(sha256(body).toString('hex')).toString('base64url');
}

function stampBy(device: Device, options: StampOptions = {}): WebauthnStamp {
  const { body = BODY, rpId = 'app.example', flags = 0x05, counter = 7 } = options;
  const clientData = {
    type: 'webauthn.get',
    challenge: challengeOf(body),
    origin: 'https://app.example',
    crossOrigin: false,
  };
  const clientDataJson =
    options.clientDataJson ?? Buffer.from(JSON.stringify({ ...clientData, ...options.clientData }));
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  const authenticatorData = options.authenticatorData ?? Buffer.concat([sha256(rpId), Buffer.of(flags), count]);
  const signature = device.sign(Buffer.concat([authenticatorData, sha256(clientDataJson)]));
  const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  const stamp = parseStamp({
    'x-stamp-webauthn': JSON.stringify({
      authenticatorData: text(authenticatorData),
      clientDataJson: text(clientDataJson),
      credentialId: 'AQID',
      signature: text(signature),
    }),
  });
  if (stamp.kind !== 'webauthn') throw new Error('not a passkey stamp');
  return stamp;
}

const device = es256Device();
const stored: StoredPasskey = { publicKey: device.cose, rpIdHash: sha256('app.example'), origins: null };

async function reasonOf(options: StampOptions, passkey: Partial<StoredPasskey> = {}): Promise<string> {
  const check = await verifyWebauthnStamp(stampBy(device, options), BODY, { ...stored, ...passkey });
  return check.ok ? 'accepted' : check.reason;
}

describe('the published vector', () => {
  const stamp = parseStamp({ 'x-stamp-webauthn': VECTOR_HEADER });
  if (stamp.kind !== 'webauthn') throw new Error('not a passkey stamp');

  test('verifies and reports the counter', async () => {
    expect(stamp.credentialId).toBe('6kHtPPqRTKaLms_L0xFKpw');
    expect(sha256(BODY).toString('hex')).toBe(BODY_DIGEST);
    await expect(verifyWebauthnStamp(stamp, BODY, vectorPasskey)).resolves.toEqual({ ok: true, signCount: 1 });
    const listed = { ...vectorPasskey, origins: ['https://other.example', 'https://app.example'] };
    await expect(verifyWebauthnStamp(stamp, BODY, listed)).resolves.toEqual({ ok: true, signCount: 1 });
  });

  test('covers the body and the key', async () => {
    const longer = Buffer.concat([BODY, Buffer.from(' ')]);
    await expect(verifyWebauthnStamp(stamp, longer, vectorPasskey)).resolves.toEqual({
      ok: false,
      reason: 'challenge does not match the request body',
    });
    await expect(verifyWebauthnStamp(stamp, BODY, { ...vectorPasskey, publicKey: device.cose })).resolves.toEqual({
      ok: false,
      reason: 'signature is not valid',
    });
  });
});

describe('each key type', () => {
  test.each([
    ['ES256', es256Device()],
    ['RS256', rs256Device()],
    ['EdDSA', eddsaDevice()],
  ])('%s signs and any change breaks it', async (_name, one) => {
    const passkey = { ...stored, publicKey: one.cose };
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.nat(0xffffffff), fc.nat(), async (body, counter, at) => {
        const stamp = stampBy(one, { body, counter });
        expect(await verifyWebauthnStamp(stamp, body, passkey)).toEqual({ ok: true, signCount: counter });
        const signature = Uint8Array.from(stamp.signature);
        const index = at % signature.length;
        signature[index] = (signature[index] ?? 0) ^ 0x20;
        expect((await verifyWebauthnStamp({ ...stamp, signature }, body, passkey)).ok).toBe(false);
        const authenticatorData = Uint8Array.from(stamp.authenticatorData);
        authenticatorData[36] = (authenticatorData[36] ?? 0) ^ 1;
        expect((await verifyWebauthnStamp({ ...stamp, authenticatorData }, body, passkey)).ok).toBe(false);
      }),
      { numRuns: 15 },
    );
  });
});

describe('client data', () => {
  const malformed = 'client data is not a JSON object with type, challenge and origin';

  test.each<[string, StampOptions, string]>([
    ['registration type', { clientData: { type: 'webauthn.create' } }, 'client data type is not webauthn.get'],
    ['no type', { clientData: { type: undefined } }, malformed],
    ['challenge of the wrong type', { clientData: { challenge: 5 } }, malformed],
    ['no origin', { clientData: { origin: null } }, malformed],
    ['an array', { clientDataJson: Buffer.from('[]') }, malformed],
    ['null', { clientDataJson: Buffer.from('null') }, malformed],
    ['not JSON', { clientDataJson: Buffer.from('{') }, malformed],
    ['not UTF-8', { clientDataJson: Buffer.from([0x22, 0xff, 0x22]) }, malformed],
    [
      'digest as bytes',
      { clientData: { challenge: sha256(BODY).toString('base64url') } },
      'challenge does not match the request body',
    ],
    ['digest as hex', { clientData: { challenge: BODY_DIGEST } }, 'challenge does not match the request body'],
    ['empty challenge', { clientData: { challenge: '' } }, 'challenge does not match the request body'],
    ['not base64', { clientData: { challenge: `${challengeOf(BODY)}!` } }, 'challenge does not match the request body'],
  ])('%s is refused', async (_name, options, reason) => {
    await expect(reasonOf(options)).resolves.toBe(reason);
  });

  test('a padded challenge and unknown members are accepted', async () => {
    const clientData = {
      challenge: `${challengeOf(BODY)}==`,
      topOrigin: 'https://x',
      crossOrigin: true,
      tokenBinding: 1,
    };
    await expect(reasonOf({ clientData })).resolves.toBe('accepted');
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), stampBy(device).clientDataJson]);
    await expect(reasonOf({ clientDataJson: marked })).resolves.toBe('accepted');
  });

  test('members of the prototype are not read', () => {
    expect(parseClientData(Buffer.from('{"__proto__":{"type":"a","challenge":"b","origin":"c"}}'))).toBeUndefined();
  });
});

describe('origin and relying party', () => {
  test('an origin outside the list is refused, by exact match', async () => {
    for (const origin of [
      'https://app.example:8443',
      'https://app.example/',
      'http://app.example',
      'https://APP.example',
    ]) {
      await expect(reasonOf({}, { origins: [origin] })).resolves.toBe('origin is not allowed');
    }
    await expect(reasonOf({}, { origins: [] })).resolves.toBe('origin is not allowed');
  });

  test('the relying party must be the stored one', async () => {
    const clientData = { origin: 'https://a.app.example' };
    await expect(reasonOf({ clientData, rpId: 'a.app.example' })).resolves.toBe(
      'relying party differs from the registered one',
    );
  });

  test('an Android application is judged by the list alone', async () => {
    await expect(reasonOf({ clientData: { origin: ANDROID } })).resolves.toBe('accepted');
    await expect(reasonOf({ clientData: { origin: ANDROID } }, { origins: [ANDROID] })).resolves.toBe('accepted');
    await expect(reasonOf({ clientData: { origin: ANDROID } }, { origins: ['https://app.example'] })).resolves.toBe(
      'origin is not allowed',
    );
  });

  test.each([
    ['https://app.example', 'app.example', true],
    ['https://app.example:8443', 'app.example', true],
    ['https://a.b.app.example', 'app.example', true],
    ['https://a.b.app.example', 'b.app.example', true],
    ['http://localhost:3000', 'localhost', true],
    ['http://127.0.0.1:3000', '127.0.0.1', true],
    ['https://app.example', 'example', false],
    ['https://app.example', 'a.app.example', false],
    ['https://app.example.evil.test', 'app.example', false],
    ['https://evilapp.example', 'app.example', false],
    ['http://127.0.0.1', '0.0.1', false],
    ['https://user@app.example', 'app.example', false],
    ['https://app.example/path', 'app.example', false],
    ['ftp://app.example', 'app.example', false],
    ['chrome-extension://abcdef', 'abcdef', false],
    ['android:apk-key-hash:', 'app.example', false],
    ['android:other:abc', 'app.example', false],
    ['null', 'app.example', false],
    ['', 'app.example', false],
  ])('origin %j with relying party %j: %s', (origin, rpId, accepted) => {
    expect(checkOrigin(origin, sha256(rpId), null) === undefined).toBe(accepted);
  });
});

describe('authenticator data', () => {
  test('user presence is required, verification is not', async () => {
    await expect(reasonOf({ flags: 0x04 })).resolves.toBe('user was not present');
    await expect(reasonOf({ flags: 0x01 })).resolves.toBe('accepted');
  });

  test('data that is cut short is refused', async () => {
    await expect(reasonOf({ authenticatorData: sha256('app.example') })).resolves.toBe(
      'authenticator data is too short',
    );
    await expect(reasonOf({ authenticatorData: Buffer.of(1) })).resolves.toBe('authenticator data is too short');
  });

  test('random parts are refused without an error', async () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 80 });
    const parts = fc.record(
      { authenticatorData: bytes, clientDataJson: bytes, signature: bytes },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(parts, async (changed) => {
        const check = await verifyWebauthnStamp({ ...stampBy(device), ...changed }, BODY, stored);
        expect(check.ok).toBe(Object.keys(changed).length === 0);
      }),
    );
  });
});

describe('importCoseKey', () => {
  const x = new Uint8Array(32).fill(1);
  const n = new Uint8Array(256).fill(0xc5);
  const e = Uint8Array.of(1, 0, 1);
  const with0 = Uint8Array.from(n);
  with0[0] = 0;

  test.each<[string, Uint8Array, string]>([
    ['not a map', isoCBOR.encode(5), 'not a CBOR map'],
    ['too long', new Uint8Array(2049), 'too long'],
    ['no algorithm', cose([[1, 2]]), 'algorithm is not supported'],
    [
      'ES384',
      cose([
        [1, 2],
        [3, -35],
      ]),
      'algorithm is not supported',
    ],
    [
      'ES256 on another curve',
      cose([
        [1, 2],
        [3, -7],
        [-1, 8],
        [-2, x],
        [-3, x],
      ]),
      'must be on P-256',
    ],
    [
      'ES256 with an RSA type',
      cose([
        [1, 3],
        [3, -7],
        [-1, 1],
        [-2, x],
        [-3, x],
      ]),
      'must be on P-256',
    ],
    [
      'ES256 off the curve',
      cose([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, x],
        [-3, x],
      ]),
      'not a valid public key',
    ],
    [
      'ES256 short',
      cose([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, x.subarray(1)],
        [-3, x],
      ]),
      'must be 32 bytes',
    ],
    [
      'ES256 compressed',
      cose([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, x],
      ]),
      'must be 32 bytes',
    ],
    [
      'EdDSA on another curve',
      cose([
        [1, 1],
        [3, -8],
        [-1, 7],
        [-2, x],
      ]),
      'must be on Ed25519',
    ],
    [
      'RS256 with an EC type',
      cose([
        [1, 2],
        [3, -257],
        [-1, n],
        [-2, e],
      ]),
      'must be an RSA key',
    ],
    [
      'RSA of 1024 bits',
      cose([
        [1, 3],
        [3, -257],
        [-1, n.subarray(128)],
        [-2, e],
      ]),
      '2048 to 4096 bits',
    ],
    [
      'RSA with a zero in front',
      cose([
        [1, 3],
        [3, -257],
        [-1, with0],
        [-2, e],
      ]),
      'modulus is not valid',
    ],
    [
      'RSA without an exponent',
      cose([
        [1, 3],
        [3, -257],
        [-1, n],
      ]),
      '1 to 4 bytes',
    ],
    [
      'RSA with exponent 1',
      cose([
        [1, 3],
        [3, -257],
        [-1, n],
        [-2, Uint8Array.of(1)],
      ]),
      'odd and at least 3',
    ],
    [
      'RSA with an even exponent',
      cose([
        [1, 3],
        [3, -257],
        [-1, n],
        [-2, Uint8Array.of(1, 0)],
      ]),
      'odd and at least 3',
    ],
  ])('refuses a key: %s', (_name, bytes, message) => {
    expect(() => importCoseKey(bytes)).toThrow(message);
  });
});
