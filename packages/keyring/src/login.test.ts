import { createHash, createPublicKey, verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { requireBuilt } from '../test/fixtures/built.ts';
import { codeOf, encryptTo, flipped, ORGANIZATION, readSigned } from '../test/fixtures/client.ts';
import { fromHex, fromText, labelled, toHex, toText } from '../test/fixtures/labels.ts';
import { openCredentialBundle, openText, PLAINTEXT_BYTES_MAX } from './bundle/credential-bundle.ts';
import { compressPoint, generatePrivateKey, publicKeyOf } from './bundle/p256.ts';
import { sealBox } from './bundle/sealed-box.ts';
import {
  type CreatedOtp,
  createKeyring,
  type Holder,
  INSTALLATION_ID,
  type Keyring,
  KeyringError,
  normalizeOtpCode,
  type OtpAttempt,
  type SealedServiceKey,
  type ServiceRole,
  type Session,
  sealForClient,
  type VerificationToken,
  verifyVerificationToken,
} from './index.ts';
import { LocalKeyring } from './local-keyring.ts';
import { type RandomBytes, systemRandom } from './seal/envelope.ts';
import { RootKeyRing } from './seal/root-key.ts';
import { Secret } from './secret.ts';
import { type OpenedServiceKey, ServiceKeys } from './service-keys.ts';

// The calls of logins, with the keys of the published vectors, in a keyring of this process and in one of its own.

const API_KEY = '0249d2d8b00d4d38c8254419df31a424e680d85ca14b099212ac70c3a7b0d0fc8a';
const ENC =
  '046b9900ff8a84553d18f46225ed79289ab12c66d21ff3f66e17cb7714c4d300e7599bee2a3c7ab6602d343f023bb5c0cd5f7244b2c231630ae896485980c15644';
const PUBLIC_ORGANIZATION = '00000000-0000-4000-8000-000000000001';
/** The form of a compressed key, and no point of the curve. */
const OFF_CURVE = `02${'00'.repeat(31)}01`;
const USER = '00000000-0000-4000-8000-000000000002';

const LABELS: Readonly<Record<ServiceRole, string>> = {
  'bundle-signer': 'vector bundle signer',
  'session-signer': 'vector notarizer',
  otp: 'vector otp token signer',
  'oauth-secret': 'vector tls fetcher encryption',
  'on-ramp-secret': 'an on-ramp key',
  'oidc-issuer': 'an issuer',
  'webhook-signer': 'vector webhook key',
};
const publicKeyFor = (role: ServiceRole): Uint8Array => publicKeyOf(labelled(LABELS[role]));
const OTP_SIGNER = toHex(publicKeyFor('otp'));

let folder: string;
let inline: LocalKeyring;
let remote: Keyring;
let installationKey: Uint8Array;
let keys: SealedServiceKey[];
let holder: (ownerId: string) => Holder;

/** Hands out the given scalars first. */
async function scriptedKeyring(...scalars: Uint8Array[]): Promise<LocalKeyring> {
  const random: RandomBytes = (length) =>
    length === 32 && scalars.length > 0 ? new Uint8Array(scalars.shift() as Uint8Array) : systemRandom(length);
  return new LocalKeyring(await RootKeyRing.open(`file:${join(folder, 'root.key')}`, true, systemRandom), random);
}

beforeAll(async () => {
  requireBuilt();
  folder = await mkdtemp(join(tmpdir(), 'custos-login-'));
  inline = await scriptedKeyring();
  remote = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, mode: 'process', threads: 2 });
  installationKey = await inline.createOrganizationKey(INSTALLATION_ID);
  keys = [];
  for (const [role, label] of Object.entries(LABELS) as [ServiceRole, string][]) {
    await using known = await scriptedKeyring(labelled(label));
    const { keyId, sealed } = await known.createServiceKey(installationKey, role);
    keys.push({ role, keyId, sealed });
  }
  for (const keyring of [inline, remote]) await keyring.loadServiceKeys(installationKey, keys);
  const organizationKey = await inline.createOrganizationKey(ORGANIZATION);
  holder = (ownerId) => ({ organizationKey, organizationId: ORGANIZATION, ownerId });
});

afterAll(async () => {
  await inline.close();
  await remote.close();
  await rm(folder, { recursive: true });
});

const MODES: [string, () => Keyring][] = [
  ['inline', () => inline],
  ['in a process of its own', () => remote],
];

const targetOf = ({ targetBundle }: CreatedOtp): string => readSigned(targetBundle, OTP_SIGNER).targetPublic ?? '';
const attemptOf = (otpCode: unknown, publicKey: unknown = API_KEY): Uint8Array =>
  fromText(JSON.stringify({ otp_code: otpCode, public_key: publicKey }));
const partsOf = (token: string): [string, string, string] => token.split('.') as [string, string, string];
const inputOf = (token: string): string => token.slice(0, token.lastIndexOf('.'));
const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));

function verifyRaw(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const point = Buffer.from(publicKey);
  const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  return verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, signature);
}

function isStandardEs256(role: ServiceRole, token: string): boolean {
  return verifyRaw(publicKeyFor(role), fromText(inputOf(token)), Buffer.from(partsOf(token)[2], 'base64url'));
}

describe.each(MODES)('one-time codes %s', (_mode, keyringOf) => {
  test('vector 8: the target is signed, and the code that a client encrypted to it matches', async () => {
    const target =
      '0425b320d43698f4c6080c288ed1c54dcdbbf43aa266c9539361ec01639aa550e0ba97bf56bb9bef9f00ac617e350fa9cccfe6918ecd0d21ffcb1a384927692ec7';
    const ciphertext =
      '43a72800ed648960680c205b1821eef46c9837ea5258bc59f33daf7bafbec3daf65f157d4a8255f297b0083848694363ffc87cfe4814f72a8d0849c0f8168b8e04abc6b077e55158aca1ea48685232ceb54524c1b580dc4b79cc6dabd3adfa789ca52937ade5aef0aff7eccc30a87e774c17e7cc97943c';
    await using known = await scriptedKeyring(labelled('vector otp target'));
    await known.loadServiceKeys(installationKey, keys);
    const { sealedOtp, targetBundle } = await known.createOtp(holder('otp-8'), '123456');
    expect(toText(fromHex(JSON.parse(targetBundle).data))).toBe(`{"targetPublic":"${target}"}`);
    expect(readSigned(targetBundle, OTP_SIGNER)).toEqual({ targetPublic: target });
    const encryptedBundle = JSON.stringify({ encappedPublic: ENC, ciphertext });
    const checked = await keyringOf().checkOtp(holder('otp-8'), sealedOtp, { encryptedBundle });
    expect(checked).toEqual({ matches: true, publicKey: API_KEY });
  });

  test('match as they are read by people, and nothing else does', async () => {
    const { sealedOtp } = await keyringOf().createOtp(holder('otp'), '0K1QZ7X9A');
    const matches = async (code: string) => (await keyringOf().checkOtp(holder('otp'), sealedOtp, { code })).matches;
    for (const code of ['0K1QZ7X9A', '0k1qz7x9a', 'okiqz7x9a', 'OKLQZ7X9A', ' 0K1QZ7X9A\n']) {
      expect(await matches(code), code).toBe(true);
    }
    const wrong = [
      '',
      ' ',
      '0K1QZ7X9',
      '0K1QZ7X9AA',
      '0K1QZ7X9B',
      '0K1 QZ7X9A',
      '0K1QZ7X9A\0',
      '\ud800',
      'x'.repeat(1e6),
    ];
    for (const code of wrong) expect(await matches(code), code.slice(0, 20)).toBe(false);
    const answer = await keyringOf().checkOtp(holder('otp'), sealedOtp, { code: '0K1QZ7X9A' });
    expect(answer).toEqual({ matches: true });
  });

  test('come encrypted with a key, which is told only of the right one', async () => {
    const otp = await keyringOf().createOtp(holder('otp'), '123456');
    const checkPlain = (plaintext: Uint8Array, target = targetOf(otp)) =>
      keyringOf().checkOtp(holder('otp'), otp.sealedOtp, { encryptedBundle: encryptTo(target, plaintext) });
    expect(await checkPlain(attemptOf('123456'))).toEqual({ matches: true, publicKey: API_KEY });
    expect(await checkPlain(attemptOf(' i23456', API_KEY.toUpperCase()))).toEqual({
      matches: true,
      publicKey: API_KEY,
    });
    const another = await keyringOf().createOtp(holder('otp'), '123456');
    const refused = [
      checkPlain(attemptOf('123457')),
      checkPlain(attemptOf(123456)),
      checkPlain(attemptOf('123456', OFF_CURVE)),
      checkPlain(attemptOf('123456', toHex(publicKeyFor('otp')))),
      checkPlain(fromText('123456')),
      checkPlain(new Uint8Array(0)),
      checkPlain(Uint8Array.of(0xff)),
      checkPlain(attemptOf('123456'), targetOf(another)),
      checkPlain(attemptOf('123456'), OTP_SIGNER),
    ];
    for (const each of refused) expect(await each).toEqual({ matches: false });
    const texts = ['', '{', '{}', 'null', '[]', '123456', JSON.stringify({ encappedPublic: ENC, ciphertext: 'ab' })];
    for (const encryptedBundle of [...texts, '\ud800', 'x'.repeat(1e6)]) {
      expect(await keyringOf().checkOtp(holder('otp'), otp.sealedOtp, { encryptedBundle })).toEqual({ matches: false });
    }
  });

  test('open for their owner alone', async () => {
    const { sealedOtp } = await keyringOf().createOtp(holder('otp'), '123456');
    expect(await keyringOf().checkOtp(holder('otp'), sealedOtp, { code: '123456' })).toEqual({ matches: true });
    const others = [holder('other'), { ...holder('otp'), organizationId: 'another' }];
    for (const other of others) {
      expect(await codeOf(keyringOf().checkOtp(other, sealedOtp, { code: '123456' }))).toBe('NOT_OPENED');
    }
  });

  test('what is neither a code nor an attempt is refused', async () => {
    for (const code of ['', '   ', 'a b', 'a-b', 'é', 'x'.repeat(65), 123456, null, ['1'], undefined]) {
      expect(await codeOf(keyringOf().createOtp(holder('otp'), code as string))).toBe('INVALID_INPUT');
    }
    const { sealedOtp } = await keyringOf().createOtp(holder('otp'), 'x'.repeat(64));
    const attempts = [
      undefined,
      null,
      '123456',
      {},
      [],
      { code: 123456 },
      { code: null },
      { encryptedBundle: {} },
      { code: 'x'.repeat(64), encryptedBundle: '{}' },
      { code: 'x'.repeat(64), encryptedBundle: null },
    ];
    for (const attempt of attempts) {
      expect(await codeOf(keyringOf().checkOtp(holder('otp'), sealedOtp, attempt as OtpAttempt))).toBe('INVALID_INPUT');
    }
  });
});

describe('a sealed one-time code', () => {
  test('tells nothing about the code, and two of one code nothing about each other', async () => {
    const [one, other] = [
      await inline.createOtp(holder('otp'), '123456'),
      await inline.createOtp(holder('otp'), '123456'),
    ];
    expect(targetOf(one)).not.toBe(targetOf(other));
    for (const { sealedOtp, targetBundle } of [one, other]) {
      expect(Buffer.from(sealedOtp).includes('123456')).toBe(false);
      expect(targetBundle).not.toContain('123456');
    }
    // Not even the same plaintext: each has a hash key of its own.
    const lent = await lentBy(async () => {
      for (const { sealedOtp } of [one, other]) await inline.checkOtp(holder('otp'), sealedOtp, { code: '1' });
    });
    const plaintexts = lent.filter(({ length }) => length === 97).map((bytes) => toHex(bytes));
    expect(new Set(plaintexts.map((text) => text.slice(2, 66))).size).toBe(2);
    expect(new Set(plaintexts.map((text) => text.slice(66, 130))).size).toBe(2);
  });

  test('no flipped bit opens', async () => {
    const { sealedOtp } = await inline.createOtp(holder('otp'), '123456');
    expect((await inline.checkOtp(holder('otp'), sealedOtp, { code: '123456' })).matches).toBe(true);
    for (let bit = 0; bit < sealedOtp.length * 8; bit += 1) {
      const changed = inline.checkOtp(holder('otp'), flipped(sealedOtp, bit), { code: '123456' });
      expect(await codeOf(changed)).toBe('NOT_OPENED');
    }
  });

  test('no changed bit of an encrypted attempt matches', async () => {
    const otp = await inline.createOtp(holder('otp'), '123456');
    const bundle = JSON.parse(encryptTo(targetOf(otp), attemptOf('123456')));
    const matches = async (changed: object) =>
      (
        await inline.checkOtp(holder('otp'), otp.sealedOtp, {
          encryptedBundle: JSON.stringify({ ...bundle, ...changed }),
        })
      ).matches;
    expect(await matches({})).toBe(true);
    for (const name of ['encappedPublic', 'ciphertext']) {
      const bytes = fromHex(bundle[name]);
      for (let bit = 0; bit < bytes.length * 8; bit += 1) {
        expect(await matches({ [name]: toHex(flipped(bytes, bit)) })).toBe(false);
      }
    }
  });

  test('matches every spelling of its code and no other code', async () => {
    const alphabet = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
    const code = fc
      .array(fc.constantFrom(...alphabet), { minLength: 6, maxLength: 9 })
      .map((letters) => letters.join(''));
    await fc.assert(
      fc.asyncProperty(code, code, fc.infiniteStream(fc.boolean()), async (right, guess, flips) => {
        const typed = [...right]
          .map((letter) => (flips.next().value ? letter.toLowerCase() : letter))
          .map((letter) => (letter === '0' && flips.next().value ? 'o' : letter))
          .map((letter) => (letter === '1' && flips.next().value ? (flips.next().value ? 'l' : 'I') : letter))
          .join('');
        expect(normalizeOtpCode(typed)).toBe(right);
        const { sealedOtp } = await inline.createOtp(holder('otp'), right);
        expect(await inline.checkOtp(holder('otp'), sealedOtp, { code: typed })).toEqual({ matches: true });
        expect(await inline.checkOtp(holder('otp'), sealedOtp, { code: guess })).toEqual({ matches: guess === right });
      }),
      { numRuns: 50 },
    );
  });
});

describe.each(MODES)('credentials %s', (_mode, keyringOf) => {
  const receiver = labelled('vector receiver');

  test('open for the receiver alone, in either form of its key', async () => {
    for (const target of [publicKeyOf(receiver), compressPoint(publicKeyOf(receiver))]) {
      const { publicKey, credentialBundle } = await keyringOf().createCredential(target);
      expect(publicKey).toMatch(/^0[23][0-9a-f]{64}$/);
      const key = openCredentialBundle(receiver, credentialBundle);
      expect(toHex(compressPoint(publicKeyOf(key)))).toBe(publicKey);
      expect(() => openCredentialBundle(labelled('another'), credentialBundle)).toThrow(KeyringError);
    }
  });

  test('are new each time, also for one receiver', async () => {
    const made = await Promise.all([1, 2, 3].map(() => keyringOf().createCredential(publicKeyOf(receiver))));
    expect(new Set(made.map(({ publicKey }) => publicKey)).size).toBe(3);
  });

  test('are not made for what is no key', async () => {
    const point = publicKeyOf(receiver);
    const wrong = [new Uint8Array(0), new Uint8Array(65), fromHex(OFF_CURVE), point.subarray(1), toHex(point), null];
    for (const target of [...wrong, flipped(point, 8 * 64)]) {
      expect(await codeOf(keyringOf().createCredential(target as Uint8Array))).toBe('INVALID_INPUT');
    }
  });
});

describe('what is sealed for clients', () => {
  const receiver = labelled('vector receiver');

  test('vector 5: the credential of the published bundle, sealed anew', async () => {
    const published =
      'mBVv4YEViW3sotDDUimYaVFPYBnANutam6UzqnVu9J5UNXKDq54KqEmmiD8vrygdHFT2BRezx3Bz5BYbfydZGGXc1C6X8EGjUm6J7HpmDVbGdyrBb5s';
    const secret = labelled('vector credential private key');
    await using known = await scriptedKeyring(secret);
    const { publicKey, credentialBundle } = await known.createCredential(publicKeyOf(receiver));
    expect(publicKey).toBe(toHex(compressPoint(publicKeyOf(secret))));
    for (const bundle of [credentialBundle, published]) expect(openCredentialBundle(receiver, bundle)).toEqual(secret);
    // The sender's key is another one each time.
    expect(credentialBundle).not.toBe(published);
  });

  test('a bearer token returns, and one that is too long is refused', () => {
    for (const target of [publicKeyOf(receiver), compressPoint(publicKeyOf(receiver))]) {
      expect(toText(openText(receiver, sealForClient(target, fromText('a token é'))))).toBe('a token é');
    }
    expect(openText(receiver, sealForClient(publicKeyOf(receiver), new Uint8Array(PLAINTEXT_BYTES_MAX)))).toHaveLength(
      PLAINTEXT_BYTES_MAX,
    );
    const refusals = [
      () => sealForClient(publicKeyOf(receiver), new Uint8Array(PLAINTEXT_BYTES_MAX + 1)),
      () => sealForClient(new Uint8Array(65).fill(4), fromText('x')),
      () => sealForClient('04' as unknown as Uint8Array, fromText('x')),
      () => sealForClient(publicKeyOf(receiver), 'x' as unknown as Uint8Array),
    ];
    for (const refusal of refusals) expect(refusal).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
  });
});

describe.each(MODES)('tokens %s', (_mode, keyringOf) => {
  const session: Session = {
    expiresAtSeconds: 1893456000,
    publicKey: fromHex(API_KEY),
    userId: USER,
    organizationId: PUBLIC_ORGANIZATION,
  };
  const token: VerificationToken = {
    id: '00000000-0000-4000-8000-000000000003',
    verificationType: 'OTP_TYPE_EMAIL',
    contact: 'user@example.com',
    organizationId: PUBLIC_ORGANIZATION,
    expiresAtMs: 1893456000000,
    publicKey: fromHex(API_KEY),
  };

  test('vector 9: a session, by the session signer over the hash of the hash', async () => {
    const published =
      'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjE4OTM0NTYwMDAsInB1YmxpY19rZXkiOiIwMjQ5ZDJkOGIwMGQ0ZDM4YzgyNTQ0MTlkZjMxYTQyNGU2ODBkODVjYTE0YjA5OTIxMmFjNzBjM2E3YjBkMGZjOGEiLCJzZXNzaW9uX3R5cGUiOiJTRVNTSU9OX1RZUEVfUkVBRF9XUklURSIsInVzZXJfaWQiOiIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDIiLCJvcmdhbml6YXRpb25faWQiOiIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDEifQ.TvhmkWildtSMxzuJbekmkIg-MgtUISjmqdQb0CBqxFN5sqGwE34Bm60z-LH_demo9_VCnHTXpL3Z4aCq59ZDiA';
    const made = await keyringOf().signSession(session);
    expect(inputOf(made)).toBe(inputOf(published));
    const digest = createHash('sha256').update(inputOf(made)).digest();
    for (const each of [made, published]) {
      expect(verifyRaw(publicKeyFor('session-signer'), digest, Buffer.from(partsOf(each)[2], 'base64url'))).toBe(true);
    }
    expect(isStandardEs256('session-signer', made)).toBe(false);
  });

  test('a session of a profile, whose scope would break clients if it were not escaped', async () => {
    for (const name of ['a', 'ab', 'abc']) {
      const profile = { id: 'p-1', name, scope: 'a >= 12 ? "~é" : "\u{1f600}"' };
      const made = await keyringOf().signSession({ ...session, profile });
      expect(partsOf(made)[1]).toMatch(/^[A-Za-z0-9]+$/);
      expect(decode(partsOf(made)[1])).toMatchObject({
        session_type: name,
        session_profile_id: 'p-1',
        scope: profile.scope,
      });
    }
    const whole = { id: 'p', name: 'n', scope: '>'.repeat(16_384) };
    expect(await keyringOf().signSession({ ...session, profile: whole })).toBeTypeOf('string');
  });

  test('vector 8: a verification token, by the OTP signer as a standard signature', async () => {
    const published =
      'eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJleHAiOiIxODkzNDU2MDAwMDAwIiwiaWQiOiIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDMiLCJvcmdhbml6YXRpb25faWQiOiIwMDAwMDAwMC0wMDAwLTQwMDAtODAwMC0wMDAwMDAwMDAwMDEiLCJ2ZXJpZmljYXRpb25fdHlwZSI6Ik9UUF9UWVBFX0VNQUlMIiwiY29udGFjdCI6InVzZXJAZXhhbXBsZS5jb20iLCJwdWJsaWNfa2V5IjoiMDI0OWQyZDhiMDBkNGQzOGM4MjU0NDE5ZGYzMWE0MjRlNjgwZDg1Y2ExNGIwOTkyMTJhYzcwYzNhN2IwZDBmYzhhIn0.LZow9AbcrVLQjVtgxGlcnVoKcMfiCgxGGv5aoer0VsR_CSvg51qpHg8hTZm3JyaAZrk_5mOFAsMj6veO83rV8g';
    const made = await keyringOf().signVerificationToken(token);
    expect(inputOf(made)).toBe(inputOf(published));
    expect(isStandardEs256('otp', made)).toBe(true);
    for (const each of [made, published]) {
      const read = verifyVerificationToken(publicKeyFor('otp'), each, token.expiresAtMs - 1);
      expect({ ...read, publicKey: toHex(read.publicKey as Uint8Array) }).toEqual({ ...token, publicKey: API_KEY });
    }
    for (const role of ['session-signer', 'oidc-issuer', 'bundle-signer'] as const) {
      expect(() => verifyVerificationToken(publicKeyFor(role), made, 0)).toThrow(KeyringError);
    }
  });

  test('vector 10: the key in a verification token is who signed what the client wants', async () => {
    const read = verifyVerificationToken(publicKeyFor('otp'), await keyringOf().signVerificationToken(token), 0);
    const messages = {
      [`{"login":{"publicKey":"${API_KEY}"},"tokenId":"${read.id}","type":"USAGE_TYPE_LOGIN"}`]:
        '33d17c5ceac4a6c9c161afe6a12633931b365644d3c5047003be410bfa9f554b083495c4bb2777641a0ee3642e34f85af5274b29ec1c2552f753891e75bc44b0',
      [`{"signupV2":{"apiKeys":[],"authenticators":[],"oauthProviders":[],"email":"${read.contact}"},"tokenId":"${read.id}","type":"USAGE_TYPE_SIGNUP"}`]:
        '4cf586115b76955fc6f93258df65e65ebb9ca5cbab7541a8a4ee2bed3b836d75386ba115b812fc74b6b70cc5ba42b56d584506a4ad580e995473c26aa2d4887a',
    };
    const point = publicKeyOf(labelled('test vector api key p256'));
    expect(compressPoint(point)).toEqual(Buffer.from(read.publicKey as Uint8Array));
    for (const [message, signature] of Object.entries(messages)) {
      expect(verifyRaw(point, fromText(message), fromHex(signature))).toBe(true);
      expect(verifyRaw(point, fromText(`${message} `), fromHex(signature))).toBe(false);
    }
  });

  test('an ID token, by the issuer as a standard signature that names its key', async () => {
    const claims = {
      iss: 'https://custos.example',
      aud: ['client', 'other'],
      sub: 'x:7',
      nonce: 'ab',
      iat: 1,
      exp: 601,
      email_verified: false,
      encrypted_bearer_token: sealForClient(publicKeyFor('otp'), fromText('bearer')),
      name: 'é?>~',
    };
    const made = await keyringOf().signIdToken(claims);
    const { keyId } = keys.find(({ role }) => role === 'oidc-issuer') as SealedServiceKey;
    expect(Buffer.from(partsOf(made)[0], 'base64url').toString('utf8')).toBe(
      `{"alg":"ES256","typ":"JWT","kid":"${keyId}"}`,
    );
    expect(decode(partsOf(made)[1])).toEqual(claims);
    expect(partsOf(made)[1]).toMatch(/^[A-Za-z0-9]+$/);
    expect(isStandardEs256('oidc-issuer', made)).toBe(true);
    for (const role of ['otp', 'session-signer', 'bundle-signer'] as const) {
      expect(isStandardEs256(role, made)).toBe(false);
    }
  });

  test('the longest bearer token that can be sealed fits', async () => {
    const encrypted_bearer_token = sealForClient(publicKeyFor('otp'), new Uint8Array(PLAINTEXT_BYTES_MAX));
    expect(await keyringOf().signIdToken({ encrypted_bearer_token })).toBeTypeOf('string');
  });

  test('sessions, tokens and claims that are none are refused', async () => {
    const wrong: ((keyring: Keyring) => Promise<unknown>)[] = [
      ...[
        { expiresAtSeconds: -1 },
        { expiresAtSeconds: 1.5 },
        { expiresAtSeconds: '1893456000' },
        { expiresAtSeconds: undefined },
        { publicKey: fromHex(OFF_CURVE) },
        { publicKey: API_KEY },
        { publicKey: undefined },
        { userId: '' },
        { userId: 7 },
        { userId: '\ud800' },
        { organizationId: 'x'.repeat(1025) },
        { profile: null },
        { profile: {} },
        { profile: { id: 'p', name: '', scope: 's' } },
        { profile: { id: 'p', name: 'n', scope: 7 } },
        { profile: { id: 'p', name: 'n', scope: 's'.repeat(65_537) } },
      ].map((change) => (keyring: Keyring) => keyring.signSession({ ...session, ...change } as Session)),
      ...[
        { id: '' },
        { contact: undefined },
        { contact: ['user@example.com'] },
        { contact: 'x'.repeat(1025) },
        { verificationType: '\udfff' },
        { organizationId: {} },
        { expiresAtMs: '1893456000000' },
        { expiresAtMs: -1 },
        { expiresAtMs: Number.NaN },
        { publicKey: null },
        { publicKey: new Uint8Array(65) },
      ].map(
        (change) => (keyring: Keyring) => keyring.signVerificationToken({ ...token, ...change } as VerificationToken),
      ),
      ...[
        {},
        { sub: undefined },
        { sub: null },
        { sub: { nested: 'x' } },
        { sub: 1.5 },
        { sub: 2 ** 53 },
        { sub: 1n },
        { sub: '\ud800' },
        { sub: [] },
        { sub: [1] },
        { sub: [['x']] },
        { sub: new Date(0) },
        { sub: new Uint8Array(1) },
        { '': 'x' },
        { sub: 'x'.repeat(16_384) },
        { a: 'x'.repeat(9000), b: 'x'.repeat(9000) },
        Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`c${index}`, 1])),
        ['x'],
        new Map([['sub', 'x']]),
        'text',
        null,
        undefined,
      ].map((claims) => (keyring: Keyring) => keyring.signIdToken(claims as Record<string, unknown>)),
    ];
    for (const call of wrong) expect(await codeOf(call(keyringOf()))).toBe('INVALID_INPUT');
  });
});

describe.each(MODES)('client secrets %s', (_mode, keyringOf) => {
  const credential = () => holder('credential');
  const box = (secret: Uint8Array): string => sealBox(publicKeyFor('oauth-secret'), secret);

  test('vector 11: is sealed for its owner, and lent to it', async () => {
    const published =
      '000102030405060708090a0b049ec02d66c68ea6bf70fe02437cd99b77ed07c9009c43769288beb05ef123d973b60d2dab1195f03f3d6229fdc55c399695d650fdfd17a34777e8765bd8463f6721000000de140e48bc0df81a9637dd1c1e06835db81ee03a4230d2d8773c7a4ba768b985a8';
    const sealed = await keyringOf().importOauthSecret(credential(), published);
    expect(Buffer.from(sealed).includes('client-secret')).toBe(false);
    const lent = await keyringOf().lendOauthSecret(credential(), sealed);
    expect(toText(lent)).toBe('client-secret-123');
    // Bytes of its own: to wipe them wipes nothing else.
    expect([lent.constructor, lent.byteLength]).toEqual([Uint8Array, lent.buffer.byteLength]);
    lent.fill(0);
    expect(toText(await keyringOf().lendOauthSecret(credential(), sealed))).toBe('client-secret-123');
  });

  test('any text returns', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }), async (secret) => {
        const sealed = await keyringOf().importOauthSecret(credential(), box(fromText(secret)));
        expect(toText(await keyringOf().lendOauthSecret(credential(), sealed))).toBe(secret);
      }),
      { numRuns: 20 },
    );
  });

  test('empty ones, other bytes than text, and what does not open are no bundles', async () => {
    expect(await keyringOf().importOauthSecret(credential(), box(fromText('x')))).toBeInstanceOf(Uint8Array);
    const good = box(fromText('x'));
    const boxes = [
      box(new Uint8Array(0)),
      box(Uint8Array.of(0xc3, 0x28)),
      sealBox(publicKeyFor('otp'), fromText('x')),
      good.slice(2),
      `${good}00`,
      `0x${good}`,
      toHex(flipped(fromHex(good), 8 * (good.length / 2 - 1))),
      '',
      'secret',
      '\ud800',
      'ab'.repeat(1e6),
    ];
    for (const text of boxes) {
      expect(await codeOf(keyringOf().importOauthSecret(credential(), text))).toBe('INVALID_BUNDLE');
    }
    for (const text of [undefined, null, 7, {}, fromHex(good)]) {
      expect(await codeOf(keyringOf().importOauthSecret(credential(), text as string))).toBe('INVALID_INPUT');
    }
  });

  test('are lent to their owner alone, and nothing else is lent as one', async () => {
    const sealed = await keyringOf().importOauthSecret(credential(), box(fromText('x')));
    for (const other of [holder('other'), { ...credential(), organizationId: 'another' }]) {
      expect(await codeOf(keyringOf().lendOauthSecret(other, sealed))).toBe('NOT_OPENED');
    }
    const owner = credential();
    const { organizationKey } = owner;
    const binding = { organizationId: ORGANIZATION, ownerId: owner.ownerId, kind: 'dev-message' };
    const blobs = [
      (await keyringOf().createWallet(owner, 12, [])).sealedSeed,
      (await keyringOf().createPrivateKey(owner, 'CURVE_P256', [])).sealedKey,
      (await keyringOf().createImportTarget(owner, 'u')).sealedTarget,
      (await keyringOf().createSecretTargets(owner, 1))[0]?.sealedTarget,
      (await keyringOf().createOtp(owner, '123456')).sealedOtp,
      await keyringOf().seal(organizationKey, binding, Uint8Array.of(1, 2)),
      keys[0]?.sealed,
    ];
    for (const blob of blobs) {
      expect(await codeOf(keyringOf().lendOauthSecret(owner, blob as Uint8Array))).toBe('NOT_OPENED');
    }
    expect(await codeOf(keyringOf().open(organizationKey, { ...binding, kind: 'oauth-secret' }, sealed))).toBe(
      'INVALID_INPUT',
    );
    expect(await codeOf(keyringOf().open(organizationKey, binding, sealed))).toBe('NOT_OPENED');
  });
});

describe('service keys', () => {
  const calls: [ServiceRole, (keyring: Keyring) => Promise<unknown>][] = [
    ['otp', (keyring) => keyring.createOtp(holder('o'), '123456')],
    ['otp', (keyring) => keyring.signVerificationToken({ ...verification })],
    [
      'session-signer',
      (keyring) => keyring.signSession({ ...verification, userId: 'u', expiresAtSeconds: 1, publicKey }),
    ],
    ['oidc-issuer', (keyring) => keyring.signIdToken({ sub: 'x' })],
    [
      'oauth-secret',
      (keyring) => keyring.importOauthSecret(holder('c'), sealBox(publicKeyFor('oauth-secret'), fromText('x'))),
    ],
  ];
  const publicKey = fromHex(API_KEY);
  const verification = { id: 'i', verificationType: 't', contact: 'c', organizationId: 'o', expiresAtMs: 1 };

  test('each call needs the key of its own role and of no other', async () => {
    await using keyring = await scriptedKeyring();
    for (const [role, call] of calls) {
      await keyring.loadServiceKeys(
        installationKey,
        keys.filter((key) => key.role === role),
      );
      await call(keyring);
      await keyring.loadServiceKeys(
        installationKey,
        keys.filter((key) => key.role !== role),
      );
      expect(await codeOf(call(keyring))).toBe('UNAVAILABLE');
    }
    // These use none.
    await keyring.loadServiceKeys(installationKey, []);
    await keyring.createCredential(publicKey);
  });

  test('of several keys for a role the first is used', async () => {
    await using keyring = await scriptedKeyring();
    const { keyId, sealed } = await keyring.createServiceKey(installationKey, 'oidc-issuer');
    const issuer = keys.find(({ role }) => role === 'oidc-issuer') as SealedServiceKey;
    const kidOf = async (list: SealedServiceKey[]) => {
      await keyring.loadServiceKeys(installationKey, list);
      return (decode(partsOf(await keyring.signIdToken({ sub: 'x' }))[0]) as { kid: string }).kid;
    };
    expect(await kidOf([{ role: 'oidc-issuer', keyId, sealed }, issuer])).toBe(keyId);
    expect(await kidOf([issuer, { role: 'oidc-issuer', keyId, sealed }])).toBe(issuer.keyId);
  });

  test('secrets that were encrypted to the earlier key open beside the new one, until it is gone', async () => {
    await using keyring = await scriptedKeyring();
    const { keyId, sealed, publicKey } = await keyring.createServiceKey(installationKey, 'oauth-secret');
    const next: SealedServiceKey = { role: 'oauth-secret', keyId, sealed };
    const old = sealBox(publicKeyFor('oauth-secret'), fromText('old'));
    const fresh = sealBox(fromHex(publicKey), fromText('new'));
    await keyring.loadServiceKeys(installationKey, [next, ...keys]);
    for (const box of [old, fresh]) await keyring.importOauthSecret(holder('c'), box);
    await keyring.loadServiceKeys(installationKey, [next]);
    await keyring.importOauthSecret(holder('c'), fresh);
    expect(await codeOf(keyring.importOauthSecret(holder('c'), old))).toBe('INVALID_BUNDLE');
  });

  test('the keys that secrets of providers are encrypted to are wiped when others are loaded and when they are cleared', () => {
    for (const role of ['oauth-secret', 'on-ramp-secret'] as const) {
      const opened = (): OpenedServiceKey[] => [{ role, keyId: 'k', key: generatePrivateKey() }];
      const loaded = new ServiceKeys();
      const given = opened();
      loaded.load(given);
      const [first = new Uint8Array(0)] = loaded.decryptionKeys(role);
      expect(first).toEqual(given[0]?.key);
      // A copy, since whoever opened the key wipes it.
      expect(first).not.toBe(given[0]?.key);
      expect(() => loaded.load([...opened(), { role: 'otp', keyId: 'x', key: new Uint8Array(32) }])).toThrow(
        KeyringError,
      );
      expect(loaded.decryptionKeys(role)[0]).toBe(first);
      loaded.load(opened());
      expect(first.every((byte) => byte === 0)).toBe(true);
      const [second = new Uint8Array(0)] = loaded.decryptionKeys(role);
      expect(second.every((byte) => byte === 0)).toBe(false);
      loaded.clear();
      expect(second.every((byte) => byte === 0)).toBe(true);
      expect(() => loaded.decryptionKeys(role)).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
      expect(() => loaded.signer('otp')).toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }));
    }
  });

  test('a closed keyring answers none of the calls', async () => {
    const keyring = await scriptedKeyring();
    await keyring.loadServiceKeys(installationKey, keys);
    await keyring.close();
    const others: ((keyring: Keyring) => Promise<unknown>)[] = [
      (each) => each.createCredential(publicKey),
      (each) => each.checkOtp(holder('o'), new Uint8Array(219), { code: '1' }),
      (each) => each.lendOauthSecret(holder('o'), new Uint8Array(139)),
    ];
    for (const call of [...calls.map(([, each]) => each), ...others]) {
      const refusal = await call(keyring).then(
        () => undefined,
        (error: KeyringError) => error.message,
      );
      expect(refusal).toBe('the keyring is closed');
    }
  });
});

/** Copies of what was lent by secrets during the work, after a check that the lent bytes themselves are wiped. */
async function lentBy(work: () => Promise<unknown>): Promise<Uint8Array[]> {
  const lent: Uint8Array[] = [];
  const copies: Uint8Array[] = [];
  const use = Secret.prototype.use;
  const spy = vi.spyOn(Secret.prototype, 'use').mockImplementation(function (this: Secret, fn) {
    return use.call(this, (bytes) => {
      lent.push(bytes);
      copies.push(Uint8Array.from(bytes));
      return fn(bytes);
    }) as ReturnType<typeof fn>;
  });
  try {
    await work();
  } finally {
    spy.mockRestore();
  }
  expect(lent.filter((bytes) => bytes.some((byte) => byte !== 0))).toEqual([]);
  return copies;
}

test('what was lent is wiped: targets, hashes, credentials, client secrets', async () => {
  const receiver = generatePrivateKey();
  const secret = fromText('client-secret-123');
  const made = new Map<string, Uint8Array>();
  const copies = await lentBy(async () => {
    const otp = await inline.createOtp(holder('otp'), '123456');
    const encryptedBundle = encryptTo(targetOf(otp), attemptOf('123456'));
    expect((await inline.checkOtp(holder('otp'), otp.sealedOtp, { encryptedBundle })).matches).toBe(true);
    const { credentialBundle } = await inline.createCredential(publicKeyOf(receiver));
    made.set('credential', openCredentialBundle(receiver, credentialBundle));
    const sealed = await inline.importOauthSecret(holder('c'), sealBox(publicKeyFor('oauth-secret'), secret));
    made.set('secret', await inline.lendOauthSecret(holder('c'), sealed));
  });
  const texts = copies.map(toHex);
  // What the test knows was there to be wiped.
  expect(texts).toContain(toHex(made.get('credential') as Uint8Array));
  expect(texts.filter((text) => text.endsWith(toHex(secret))).length).toBeGreaterThanOrEqual(3);
  expect(texts.some((text) => text === toHex(attemptOf('123456')))).toBe(true);
  expect(toText(made.get('secret') as Uint8Array)).toBe('client-secret-123');
});
