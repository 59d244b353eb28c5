import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../lib/errors.ts';
import { type AttestationInput, verifyAttestation } from './attestation.ts';
import { parseWebauthnOrigins } from './webauthn-origins.ts';
import { importCoseKey } from './webauthn-stamp.ts';

type Cbor = Parameters<typeof isoCBOR.encode>[0];

const ANDROID = 'android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck';
const CHALLENGE = 'R2oC4gn_v5AJQerbALdvsr2YiA5Brefch8kVWbYkBrI';
const AAGUID = Buffer.from('00112233445566778899aabbccddeeff', 'hex');

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest();
const b64u = (data: string | Uint8Array) => Buffer.from(data).toString('base64url');
const bytes = (data: Uint8Array) => new Uint8Array(data);

const VECTOR: AttestationInput = {
  challenge: CHALLENGE,
  credentialId: '6kHtPPqRTKaLms_L0xFKpw',
  clientDataJson: b64u(
    `{"type":"webauthn.create","challenge":"${CHALLENGE}","origin":"https://app.example","crossOrigin":false}`,
  ),
  attestationObject:
    'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViUVtmCAS3hjt8Iz1fY2UtegalxmdPrFPI7fCt1xcdfVG1FAAAAAAAAAAAAAAAAAAAAAAAAAA' +
    'AAEOpB7Tz6kUymi5rPy9MRSqelAQIDJiABIVggUq917NmrdMaUsOaCLto0pkVAXL_SB47wu4zDFdun3EoiWCDaQsZdzvRmu9j8WDaUgis2UpMn' +
    'SzPrXzM4KthNh94FnA',
};

async function refusal(input: AttestationInput, origins: readonly string[] | null = null): Promise<string> {
  try {
    await verifyAttestation(input, origins);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'INVALID_ATTESTATION') return error.message;
    throw error;
  }
  throw new Error('the attestation was accepted');
}

describe('a small authenticator', () => {
  interface Parts {
    readonly fmt: Cbor;
    readonly statement: Cbor;
    readonly rpIdHash: Buffer;
    readonly flags: number;
    readonly aaguid: Buffer;
    readonly credentialId: Buffer;
    readonly coseKey: Uint8Array;
    readonly extensions: Uint8Array;
    readonly clientData: Record<string, unknown>;
  }
  interface Signed {
    readonly authData: Buffer;
    readonly clientDataHash: Buffer;
    readonly parts: Parts;
  }

  const passkey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const rsaPasskey = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const member = (key: KeyObject, name: 'x' | 'y' | 'n' | 'e') =>
    bytes(Buffer.from(key.export({ format: 'jwk' })[name] ?? '', 'base64url'));
  const cose = (...entries: [number, number | Uint8Array][]) => isoCBOR.encode(new Map(entries) as Cbor);
  const ecCose = (key: KeyObject) => cose([1, 2], [3, -7], [-1, 1], [-2, member(key, 'x')], [-3, member(key, 'y')]);
  const rsaCose = (key: KeyObject) => cose([1, 3], [3, -257], [-1, member(key, 'n')], [-2, member(key, 'e')]);

  const defaults: Parts = {
    fmt: 'none',
    statement: new Map(),
    rpIdHash: sha256('app.example'),
    flags: 0x45,
    aaguid: AAGUID,
    credentialId: Buffer.from('credential id of the test'),
    coseKey: ecCose(passkey.publicKey),
    extensions: new Uint8Array(),
    clientData: { type: 'webauthn.create', challenge: CHALLENGE, origin: 'https://app.example' },
  };

  /** Builds what a client sends; the statement can be computed from what is to be signed. */
  function attest(changes: Partial<Parts> = {}, makeStatement?: (signed: Signed) => Cbor): AttestationInput {
    const parts = { ...defaults, ...changes };
    const length = Buffer.alloc(2);
    length.writeUInt16BE(parts.credentialId.length);
    const counter = Buffer.from('0000002a', 'hex');
    const head = Buffer.concat([parts.rpIdHash, Buffer.of(parts.flags), counter]);
    const credential = Buffer.concat([parts.aaguid, length, parts.credentialId, parts.coseKey]);
    const authData = Buffer.concat([head, parts.flags & 0x40 ? credential : Buffer.alloc(0), parts.extensions]);
    const clientDataJson = Buffer.from(JSON.stringify(parts.clientData));
    const statement = makeStatement?.({ authData, clientDataHash: sha256(clientDataJson), parts }) ?? parts.statement;
    const object = new Map<string, Cbor>([
      ['fmt', parts.fmt],
      ['attStmt', statement],
      ['authData', bytes(authData)],
    ]);
    return {
      challenge: CHALLENGE,
      credentialId: b64u(parts.credentialId),
      clientDataJson: b64u(clientDataJson),
      attestationObject: b64u(isoCBOR.encode(object as Cbor)),
    };
  }

  const packedBase = ({ authData, clientDataHash }: Signed) => Buffer.concat([authData, clientDataHash]);
  const u2fBase = ({ clientDataHash, parts }: Signed) =>
    Buffer.concat([
      Buffer.of(0),
      parts.rpIdHash,
      clientDataHash,
      parts.credentialId,
      Buffer.of(4),
      member(passkey.publicKey, 'x'),
      member(passkey.publicKey, 'y'),
    ]);
  const statementOf = (entries: Record<string, Cbor>) => new Map(Object.entries(entries)) as Cbor;

  describe('format none', () => {
    test('answers what was attested', async () => {
      await expect(verifyAttestation(attest(), ['https://app.example'])).resolves.toEqual({
        credentialId: b64u('credential id of the test'),
        publicKey: defaults.coseKey,
        rpIdHash: bytes(defaults.rpIdHash),
        aaguid: '00112233-4455-6677-8899-aabbccddeeff',
        attestationType: 'none',
        signCount: 42,
      });
    });

    test('RS256 keys are accepted', async () => {
      const verified = await verifyAttestation(attest({ coseKey: rsaCose(rsaPasskey.publicKey) }), null);
      expect(importCoseKey(verified.publicKey).algorithm).toBe(-257);
    });

    test('extension data after the key is accepted', async () => {
      const extensions = isoCBOR.encode(new Map([['credProtect', 2]]) as Cbor);
      const verified = await verifyAttestation(attest({ flags: 0xc5, extensions }), null);
      expect(verified.publicKey).toEqual(defaults.coseKey);
    });

    test('a statement is refused', async () => {
      const input = attest({ statement: statementOf({ alg: -7 }) });
      await expect(refusal(input)).resolves.toBe('statement of format none must be empty');
    });
  });

  describe('other formats', () => {
    test.each(['tpm', 'apple', 'android-key', 'android-safetynet', 'compound'])(
      '%s is recorded and its statement ignored',
      async (fmt) => {
        const input = attest({ fmt, statement: statementOf({ ver: '2.0', sig: new Uint8Array(4), alg: -65535 }) });
        await expect(verifyAttestation(input, null)).resolves.toMatchObject({ attestationType: fmt });
      },
    );

    test.each<Cbor>(['', 'a'.repeat(33), 'two words', 'quo"te', 'back\\slash', 5, null])(
      '%j is no format',
      async (fmt) => {
        await expect(refusal(attest({ fmt }))).resolves.toBe('attestation format is not valid');
      },
    );
  });

  describe('packed, self', () => {
    const self = (key: KeyObject, alg: number, change: (signature: Buffer) => Buffer = (signature) => signature) => {
      return (signed: Signed) => statementOf({ alg, sig: bytes(change(sign('sha256', packedBase(signed), key))) });
    };

    test('ES256 and RS256 are verified', async () => {
      const ec = attest({ fmt: 'packed' }, self(passkey.privateKey, -7));
      await expect(verifyAttestation(ec, null)).resolves.toMatchObject({ attestationType: 'packed', signCount: 42 });
      const rsa = attest({ fmt: 'packed', coseKey: rsaCose(rsaPasskey.publicKey) }, self(rsaPasskey.privateKey, -257));
      await expect(verifyAttestation(rsa, null)).resolves.toMatchObject({ attestationType: 'packed' });
    });

    test('a tampered or foreign signature is refused', async () => {
      const flipped = attest(
        { fmt: 'packed' },
        self(passkey.privateKey, -7, (signature) => {
          signature[20] = (signature[20] ?? 0) ^ 1;
          return signature;
        }),
      );
      await expect(refusal(flipped)).resolves.toBe('packed statement: signature of the key is not valid');
      const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
      const foreign = attest({ fmt: 'packed' }, self(other, -7));
      await expect(refusal(foreign)).resolves.toBe('packed statement: signature of the key is not valid');
    });

    test('the signature covers client data and authenticator data', async () => {
      const input = attest({ fmt: 'packed' }, self(passkey.privateKey, -7));
      const clientData = { ...defaults.clientData, crossOrigin: true };
      const changed = { ...input, clientDataJson: b64u(JSON.stringify(clientData)) };
      await expect(refusal(changed)).resolves.toBe('packed statement: signature of the key is not valid');
      const object = Buffer.from(input.attestationObject, 'base64url');
      const counterAt = object.indexOf(Buffer.from('450000002a', 'hex'));
      object[counterAt + 4] = 0x2b;
      const counted = { ...input, attestationObject: b64u(object) };
      await expect(refusal(counted)).resolves.toBe('packed statement: signature of the key is not valid');
    });

    test('the algorithm must be that of the key', async () => {
      for (const alg of [-257, -8, -35]) {
        const input = attest({ fmt: 'packed' }, self(passkey.privateKey, alg));
        await expect(refusal(input)).resolves.toBe('packed statement: algorithm differs from that of the key');
      }
    });

    test.each<[Cbor, string]>([
      [statementOf({}), 'packed statement has no algorithm'],
      [statementOf({ alg: 'ES256' }), 'packed statement has no algorithm'],
      [statementOf({ alg: -7 }), 'packed statement has no signature'],
      [statementOf({ alg: -7, sig: 'text' }), 'packed statement has no signature'],
      [statementOf({ alg: -7, sig: new Uint8Array() }), 'packed statement: signature of the key is not valid'],
      [
        statementOf({ alg: -7, sig: new Uint8Array(4), ecdaaKeyId: new Uint8Array(4) }),
        'packed statement: ECDAA is not supported',
      ],
      [statementOf({ alg: -7, sig: new Uint8Array(4), x5c: [] }), 'statement must have 1 to 8 certificates'],
      [statementOf({ alg: -7, sig: new Uint8Array(4), x5c: 'text' }), 'statement must have 1 to 8 certificates'],
      [statementOf({ alg: -7, sig: new Uint8Array(4), x5c: [5] }), 'certificate of the statement is not a byte string'],
      [
        statementOf({ alg: -7, sig: new Uint8Array(4), x5c: [new Uint8Array(9)] }),
        'certificate of the statement is malformed',
      ],
      ['text', 'attestation statement is not a CBOR map'],
    ])('a malformed statement is refused, case %#', async (statement, message) => {
      await expect(refusal(attest({ fmt: 'packed', statement }))).resolves.toBe(message);
    });
  });

  describe('packed, with a certificate', () => {
    const maker = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const rsaMaker = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const full = (
      certificate: CertificateOptions,
      key = maker.privateKey,
      alg = -7,
      hash: string | null = 'sha256',
    ) => {
      return (signed: Signed) =>
        statementOf({ alg, sig: bytes(sign(hash, packedBase(signed), key)), x5c: [makeCertificate(certificate)] });
    };
    const basic: CertificateOptions = { publicKey: maker.publicKey, signer: maker.privateKey };

    test('the signature of the leaf is verified, its issuer is not', async () => {
      const input = attest({ fmt: 'packed' }, full(basic));
      await expect(verifyAttestation(input, null)).resolves.toMatchObject({ attestationType: 'packed' });
      const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
      const unsigned = attest({ fmt: 'packed' }, full({ ...basic, signer: stranger }));
      await expect(verifyAttestation(unsigned, null)).resolves.toMatchObject({ attestationType: 'packed' });
    });

    test('other algorithms of certificates', async () => {
      const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
      const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' });
      const ed25519 = generateKeyPairSync('ed25519');
      const of = (publicKey: KeyObject): CertificateOptions => ({ ...basic, publicKey });
      const inputs = [
        attest({ fmt: 'packed' }, full(of(rsaMaker.publicKey), rsaMaker.privateKey, -257)),
        attest({ fmt: 'packed' }, full(of(p384.publicKey), p384.privateKey, -35, 'sha384')),
        attest({ fmt: 'packed' }, full(of(p521.publicKey), p521.privateKey, -36, 'sha512')),
        attest({ fmt: 'packed' }, full(of(ed25519.publicKey), ed25519.privateKey, -8, null)),
      ];
      for (const input of inputs) await expect(verifyAttestation(input, null)).resolves.toBeDefined();
    });

    test('an algorithm that does not fit the key is refused', async () => {
      for (const alg of [-35, -36, -8, -257]) {
        const input = attest({ fmt: 'packed' }, full(basic, maker.privateKey, alg));
        await expect(refusal(input)).resolves.toBe('packed statement: signature of the certificate is not valid');
      }
      const sha1 = attest(
        { fmt: 'packed' },
        full({ ...basic, publicKey: rsaMaker.publicKey }, rsaMaker.privateKey, -65535),
      );
      await expect(refusal(sha1)).resolves.toBe('signature algorithm of the statement is not supported');
    });

    test('a signature by the passkey instead of the certificate is refused', async () => {
      const input = attest({ fmt: 'packed' }, full(basic, passkey.privateKey));
      await expect(refusal(input)).resolves.toBe('packed statement: signature of the certificate is not valid');
    });

    test('a certificate for this model is accepted, one for another model is not', async () => {
      const input = attest({ fmt: 'packed' }, full({ ...basic, aaguid: AAGUID }));
      await expect(verifyAttestation(input, null)).resolves.toBeDefined();
      const other = attest({ fmt: 'packed' }, full({ ...basic, aaguid: Buffer.alloc(16, 1) }));
      await expect(refusal(other)).resolves.toBe(
        'packed statement: certificate belongs to another authenticator model',
      );
    });

    test.each<[string, Partial<CertificateOptions>, string]>([
      ['version 1', { version: 1 }, 'packed statement: certificate must have version 3'],
      ['an authority', { authority: true }, 'packed statement: certificate is that of an authority'],
      [
        'another unit',
        { unit: 'Sales' },
        'packed statement: subject of the certificate is not that of an attestation certificate',
      ],
    ])('a certificate is refused: %s', async (_name, options, message) => {
      await expect(refusal(attest({ fmt: 'packed' }, full({ ...basic, ...options })))).resolves.toBe(message);
    });

    test('more than eight certificates are refused', async () => {
      const der = makeCertificate(basic);
      const input = attest({ fmt: 'packed' }, (signed) =>
        statementOf({
          alg: -7,
          sig: bytes(sign('sha256', packedBase(signed), maker.privateKey)),
          x5c: Array.from({ length: 9 }, () => der),
        }),
      );
      await expect(refusal(input)).resolves.toBe('statement must have 1 to 8 certificates');
    });
  });

  describe('fido-u2f', () => {
    const maker = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const certificate = makeCertificate({ publicKey: maker.publicKey, signer: maker.privateKey });
    const u2f = (changes: Partial<Parts> = {}) => ({
      fmt: 'fido-u2f',
      aaguid: Buffer.alloc(16),
      flags: 0x41,
      ...changes,
    });
    const signedBy = (key: KeyObject, x5c: Uint8Array[] = [certificate]) => {
      return (signed: Signed) => statementOf({ sig: bytes(sign('sha256', u2fBase(signed), key)), x5c });
    };

    test('is verified', async () => {
      await expect(verifyAttestation(attest(u2f(), signedBy(maker.privateKey)), null)).resolves.toMatchObject({
        attestationType: 'fido-u2f',
        aaguid: '00000000-0000-0000-0000-000000000000',
      });
    });

    test('is refused when signed by another key or over other data', async () => {
      const message = 'fido-u2f statement: signature of the certificate is not valid';
      await expect(refusal(attest(u2f(), signedBy(passkey.privateKey)))).resolves.toBe(message);
      const input = attest(u2f(), signedBy(maker.privateKey));
      const clientDataJson = b64u(JSON.stringify({ ...defaults.clientData, extra: 1 }));
      await expect(refusal({ ...input, clientDataJson })).resolves.toBe(message);
      const packed = attest(u2f(), (signed) =>
        statementOf({ sig: bytes(sign('sha256', packedBase(signed), maker.privateKey)), x5c: [certificate] }),
      );
      await expect(refusal(packed)).resolves.toBe(message);
    });

    test('is refused when a part is not as the format wants it', async () => {
      const sign1 = signedBy(maker.privateKey);
      await expect(refusal(attest(u2f({ aaguid: AAGUID }), sign1))).resolves.toContain('aaguid must be zero');
      const two = signedBy(maker.privateKey, [certificate, certificate]);
      await expect(refusal(attest(u2f(), two))).resolves.toContain('exactly one certificate');
      await expect(refusal(attest(u2f(), signedBy(maker.privateKey, [])))).resolves.toContain(
        'exactly one certificate',
      );
      await expect(refusal(attest(u2f(), () => statementOf({ x5c: [certificate] })))).resolves.toContain(
        'no signature',
      );
      const rsa = u2f({ coseKey: rsaCose(rsaPasskey.publicKey) });
      await expect(refusal(attest(rsa, sign1))).resolves.toContain('credential key must be ES256');
      const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
      const other = makeCertificate({ publicKey: p384.publicKey, signer: maker.privateKey });
      await expect(refusal(attest(u2f(), signedBy(p384.privateKey, [other])))).resolves.toContain('not on P-256');
    });
  });

  describe('challenge', () => {
    const withChallenge = (field: string, challenge: string) => ({
      ...attest({ clientData: { ...defaults.clientData, challenge } }),
      challenge: field,
    });

    test('both alphabets and padding are the same challenge', async () => {
      const random = Buffer.from('fbefbeffbfffefff00', 'hex');
      const [url, standard] = [random.toString('base64url'), random.toString('base64')];
      expect(url).not.toBe(standard);
      for (const input of [withChallenge(standard, url), withChallenge(url, standard), withChallenge(`${url}`, url)]) {
        await expect(verifyAttestation(input, null)).resolves.toBeDefined();
      }
    });

    test('a field of hexadecimal text counts as base64 or as text', async () => {
      const hex = randomBytes(32).toString('hex');
      await expect(verifyAttestation(withChallenge(hex, hex), null)).resolves.toBeDefined();
      await expect(verifyAttestation(withChallenge(hex, b64u(hex)), null)).resolves.toBeDefined();
      await expect(
        verifyAttestation(withChallenge('not base64: é', b64u('not base64: é')), null),
      ).resolves.toBeDefined();
    });

    test('another challenge is refused', async () => {
      for (const challenge of [b64u(randomBytes(32)), '', 'not base64!', b64u(CHALLENGE.slice(1))]) {
        await expect(refusal(withChallenge(CHALLENGE, challenge))).resolves.toBe(
          'challenge does not match the client data',
        );
      }
    });
  });

  describe('client data and origin', () => {
    const withClientData = (changes: Record<string, unknown>) =>
      attest({ clientData: { ...defaults.clientData, ...changes } });

    test('the type must be that of a registration', async () => {
      await expect(refusal(withClientData({ type: 'webauthn.get' }))).resolves.toBe(
        'client data type is not webauthn.create',
      );
    });

    test('the origin must be in the list', async () => {
      await expect(refusal(attest(), ['https://other.example'])).resolves.toBe('origin is not allowed');
      await expect(refusal(attest(), [])).resolves.toBe('origin is not allowed');
    });

    test('the relying party is the host or a parent of it', async () => {
      await expect(
        verifyAttestation(withClientData({ origin: 'https://a.b.app.example' }), null),
      ).resolves.toBeDefined();
      for (const origin of ['https://example', 'https://app.example.test', 'https://other.example']) {
        await expect(refusal(withClientData({ origin }))).resolves.toContain('relying party is neither');
      }
    });

    test('an Android application has no host', async () => {
      await expect(verifyAttestation(withClientData({ origin: ANDROID }), [ANDROID])).resolves.toBeDefined();
      await expect(refusal(withClientData({ origin: ANDROID }), ['https://app.example'])).resolves.toContain(
        'not allowed',
      );
      await expect(refusal(withClientData({ origin: 'ios:bundle:x' }))).resolves.toContain('neither a web origin');
    });
  });

  describe('credential', () => {
    test.each([1, 23, 24, 255, 256, 1023])(
      'an id of %i bytes is accepted raw and as a CBOR byte string',
      async (length) => {
        const credentialId = randomBytes(length);
        const input = attest({ credentialId });
        const wrapped = { ...input, credentialId: b64u(isoCBOR.encode(bytes(credentialId) as Cbor)) };
        for (const one of [input, wrapped, { ...input, credentialId: credentialId.toString('base64') }]) {
          await expect(verifyAttestation(one, null)).resolves.toMatchObject({ credentialId: b64u(credentialId) });
        }
      },
    );

    test('an id of another credential, of no bytes or too many is refused', async () => {
      const other = { ...attest(), credentialId: b64u('another id') };
      await expect(refusal(other)).resolves.toBe('credentialId differs from the one in the authenticator data');
      const empty = { ...attest({ credentialId: Buffer.alloc(0) }), credentialId: 'QA' };
      await expect(refusal(empty)).resolves.toBe('credential id must have 1 to 1023 bytes');
      const long = { ...attest({ credentialId: Buffer.alloc(1024, 1) }), credentialId: 'QA' };
      await expect(refusal(long)).resolves.toBe('credential id must have 1 to 1023 bytes');
    });

    test('flags', async () => {
      await expect(refusal(attest({ flags: 0x44 }))).resolves.toBe('user was not present');
      await expect(refusal(attest({ flags: 0x05 }))).resolves.toBe('authenticator data holds no credential');
      await expect(verifyAttestation(attest({ flags: 0x41 }), null)).resolves.toBeDefined();
    });

    test('EdDSA and other keys are refused', async () => {
      const eddsa = member(generateKeyPairSync('ed25519').publicKey, 'x');
      await expect(refusal(attest({ coseKey: cose([1, 1], [3, -8], [-1, 6], [-2, eddsa]) }))).resolves.toBe(
        'credential public key: EdDSA is not supported, use ES256 or RS256',
      );
      await expect(refusal(attest({ coseKey: cose([1, 2], [3, -35]) }))).resolves.toContain(
        'algorithm is not supported',
      );
      const off = new Uint8Array(32).fill(1);
      const offCurve = cose([1, 2], [3, -7], [-1, 1], [-2, off], [-3, off]);
      await expect(refusal(attest({ coseKey: offCurve }))).resolves.toContain('not a valid public key');
      await expect(refusal(attest({ coseKey: isoCBOR.encode(7) }))).resolves.toContain('not a CBOR map');
    });

    test('bytes after the key, and a key cut short, are refused', async () => {
      const longer = Buffer.concat([defaults.coseKey, Buffer.of(0)]);
      await expect(refusal(attest({ coseKey: longer }))).resolves.toBe('authenticator data is malformed');
      const shorter = defaults.coseKey.subarray(0, -1);
      await expect(refusal(attest({ coseKey: shorter }))).resolves.toContain('credential public key');
      await expect(refusal(attest({ flags: 0xc5 }))).resolves.toBe('authenticator data is malformed');
    });
  });

  describe('malformed input', () => {
    test.each<[keyof AttestationInput, number]>([
      ['challenge', 1024],
      ['credentialId', 1400],
      ['clientDataJson', 8192],
      ['attestationObject', 65_536],
    ])('%s is bounded', async (field, max) => {
      const input = attest();
      await expect(refusal({ ...input, [field]: 'A'.repeat(max + 1) })).resolves.toBe(
        `${field} is longer than ${max} characters`,
      );
      await expect(refusal({ ...input, [field]: '' })).resolves.toBe(`${field} must be a non-empty string`);
      await expect(refusal({ ...input, [field]: 5 } as unknown as AttestationInput)).resolves.toContain(
        'non-empty string',
      );
      if (field !== 'challenge') {
        await expect(refusal({ ...input, [field]: '!' })).resolves.toBe(`${field} is not base64url`);
      }
    });

    test.each<[string, string]>([
      ['text', b64u('not cbor at all')],
      ['a number', b64u(isoCBOR.encode(5))],
      ['an array', b64u(isoCBOR.encode([]))],
      ['an empty map', b64u(isoCBOR.encode(new Map() as Cbor))],
      ['deep nesting', b64u(Buffer.alloc(40_000, 0x81))],
      ['a string beyond the end', b64u(Buffer.from('5bffffffffffffffff00', 'hex'))],
      ['a map of endless size', b64u(Buffer.from('bbffffffffffffffff0000', 'hex'))],
      ['an open length', b64u(Buffer.from('bf63666d74646e6f6e65ff', 'hex'))],
      ['bytes after it', `${VECTOR.attestationObject}AA`],
    ])('an attestation object is refused: %s', async (_name, attestationObject) => {
      await expect(refusal({ ...attest(), attestationObject })).resolves.toMatch(
        /attestationObject is not|format is not/,
      );
    });

    test('deep nesting inside the authenticator data is refused', async () => {
      const coseKey = Buffer.alloc(20_000, 0x81);
      await expect(refusal(attest({ coseKey }))).resolves.toBe('authenticator data is malformed');
    });

    test('random input never ends in another error', async () => {
      const text = fc.oneof(fc.string(), fc.uint8Array({ maxLength: 300 }).map(b64u));
      const changes = fc.record(
        { challenge: text, credentialId: text, clientDataJson: text, attestationObject: text },
        { requiredKeys: [] },
      );
      await fc.assert(
        fc.asyncProperty(changes, async (changed) => {
          fc.pre(Object.keys(changed).length > 0);
          await expect(refusal({ ...VECTOR, ...changed })).resolves.toBeTypeOf('string');
        }),
        { numRuns: 300 },
      );
    });

    test('a changed byte anywhere gives the one error or a well-formed answer', async () => {
      const maker = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const certificate = makeCertificate({ publicKey: maker.publicKey, signer: maker.privateKey, aaguid: AAGUID });
      const input = attest({ fmt: 'packed' }, (signed) =>
        statementOf({
          alg: -7,
          sig: bytes(sign('sha256', packedBase(signed), maker.privateKey)),
          x5c: [certificate],
        }),
      );
      const original = Buffer.from(input.attestationObject, 'base64url');
      await fc.assert(
        fc.asyncProperty(fc.nat(original.length - 1), fc.integer({ min: 1, max: 255 }), async (index, mask) => {
          const object = Buffer.from(original);
          object[index] = (object[index] ?? 0) ^ mask;
          try {
            await verifyAttestation({ ...input, attestationObject: b64u(object) }, null);
          } catch (error) {
            expect(error).toBeInstanceOf(ApiError);
            expect((error as ApiError).code).toBe('INVALID_ATTESTATION');
          }
        }),
        { numRuns: 1000 },
      );
    });
  });
});

describe('the published vector', () => {
  test('is accepted', async () => {
    const verified = await verifyAttestation(VECTOR, ['https://app.example']);
    expect(verified).toMatchObject({
      credentialId: '6kHtPPqRTKaLms_L0xFKpw',
      aaguid: '00000000-0000-0000-0000-000000000000',
      attestationType: 'none',
      signCount: 0,
    });
    expect(Buffer.from(verified.rpIdHash).equals(sha256('app.example'))).toBe(true);
    expect(verified.publicKey).toHaveLength(77);
    expect(importCoseKey(verified.publicKey).key.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  });
});

describe('parseWebauthnOrigins', () => {
  test.each([
    ['https://app.example', ['https://app.example']],
    [' https://app.example ', ['https://app.example']],
    ['https://App.Example:443', ['https://app.example']],
    ['https://app.example:8443', ['https://app.example:8443']],
    ['https://a.example, https://b.example,https://a.example', ['https://a.example', 'https://b.example']],
    ['["https://a.example","http://localhost:3000"]', ['https://a.example', 'http://localhost:3000']],
    [
      'http://localhost,http://127.0.0.1:80,http://[::1]:5173',
      ['http://localhost', 'http://127.0.0.1', 'http://[::1]:5173'],
    ],
    [ANDROID, [ANDROID]],
    [`https://app.example,${ANDROID}`, ['https://app.example', ANDROID]],
    ['https://bücher.example', ['https://xn--bcher-kva.example']],
  ])('reads %s', (value, origins) => {
    expect(parseWebauthnOrigins(value)).toEqual(origins);
  });

  test.each([
    '',
    ' ',
    ',',
    '[]',
    '[5]',
    '["https://a.example"',
    '["https://a.example",null]',
    'https://a.example,',
    'app.example',
    'http://app.example',
    'http://localhost.example',
    'https://',
    'https://*.example',
    'https://*',
    'https://app.example/',
    'https://app.example/path',
    'https://app.example?x',
    'https://app.example#x',
    'https://user@app.example',
    'https://app.example:99999',
    'https://app..example',
    'ftp://app.example',
    'android:apk-key-hash:',
    'android:apk-key-hash:a=b',
    'javascript:alert(1)',
    'null',
    `https://${'a'.repeat(300)}.example`,
    `https://a.example${' '.repeat(8200)}`,
    Array.from({ length: 101 }, (_, index) => `https://a${index}.example`).join(','),
  ])('refuses value %#', (value) => {
    let caught: unknown;
    try {
      parseWebauthnOrigins(value);
    } catch (error) {
      caught = error;
    }
    expect(caught).toBeInstanceOf(ApiError);
    expect((caught as ApiError).code).toBe('INVALID_FEATURE_VALUE');
  });

  test('any text gives origins or the one error', () => {
    const text = fc.oneof(
      fc.string(),
      fc.webUrl(),
      fc.json(),
      fc.domain().map((domain) => `https://${domain}`),
    );
    fc.assert(
      fc.property(text, (value) => {
        try {
          for (const origin of parseWebauthnOrigins(value)) expect(new URL(origin).origin).toBe(origin);
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError);
        }
      }),
    );
  });
});

interface CertificateOptions {
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly version?: 1 | 3;
  readonly unit?: string;
  readonly authority?: boolean;
  readonly aaguid?: Uint8Array;
}

/** A certificate (RFC 5280) with the fields that attestation looks at. */
function makeCertificate(options: CertificateOptions): Uint8Array {
  const { publicKey, signer, version = 3, unit = 'Authenticator Attestation', authority = false, aaguid } = options;
  const ecdsaWithSha256 = der(0x30, oid('2a8648ce3d040302'));
  const attribute = (type: string, tag: number, text: string) =>
    der(0x31, der(0x30, oid(type), der(tag, Buffer.from(text))));
  const subject = der(
    0x30,
    attribute('550406', 0x13, 'CH'),
    attribute('55040a', 0x0c, 'Test Maker'),
    attribute('55040b', 0x0c, unit),
    attribute('550403', 0x0c, 'Test Authenticator'),
  );
  const validity = der(0x30, der(0x17, Buffer.from('200101000000Z')), der(0x17, Buffer.from('210101000000Z')));
  const constraints = der(
    0x30,
    oid('551d13'),
    der(0x04, der(0x30, authority ? der(0x01, Buffer.of(0xff)) : Buffer.alloc(0))),
  );
  const model = aaguid && der(0x30, oid('2b0601040182e51c010104'), der(0x04, der(0x04, aaguid)));
  const tbs = der(
    0x30,
    version === 3 ? der(0xa0, der(0x02, Buffer.of(2))) : Buffer.alloc(0),
    der(0x02, Buffer.of(1)),
    ecdsaWithSha256,
    subject,
    validity,
    subject,
    publicKey.export({ format: 'der', type: 'spki' }),
    version === 3 ? der(0xa3, der(0x30, constraints, model ?? Buffer.alloc(0))) : Buffer.alloc(0),
  );
  const signature = der(0x03, Buffer.of(0), sign('sha256', tbs, signer));
  return bytes(der(0x30, tbs, ecdsaWithSha256, signature));
}

function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...head), content]);
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}
