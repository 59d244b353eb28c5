import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { requireBuilt } from '../test/fixtures/built.ts';
import { codeOf, ORGANIZATION } from '../test/fixtures/client.ts';
import { fromText, labelled, toHex } from '../test/fixtures/labels.ts';
import { PLAINTEXT_BYTES_MAX, sealText } from './bundle/credential-bundle.ts';
import { compressPoint, publicKeyOf } from './bundle/p256.ts';
import {
  type CoinbaseCall,
  createKeyring,
  type Holder,
  INSTALLATION_ID,
  type Keyring,
  KeyringError,
  SERVICE_ROLES,
  type SealedServiceKey,
} from './index.ts';
import { LocalKeyring } from './local-keyring.ts';
import { type RandomBytes, systemRandom } from './seal/envelope.ts';
import { RootKeyRing } from './seal/root-key.ts';
import { Secret } from './secret.ts';
import { ed25519PublicKey } from './sign/ed25519.ts';

// Secrets of on-ramp providers and what they sign, in a keyring of this process and in one of its own.

const onRampKey = labelled('an on-ramp key');
const onRampPublicKey = compressPoint(publicKeyOf(onRampKey));
/** `sk_test_é_123`, encrypted to the key above by the public client. */
const PUBLIC_CLIENT_BUNDLE =
  '7it7GVpm8XQdzPTUSJxcp1WKkvGYJh621BF2jG5RhckFRtyM2u7WBExm7nK2wvfjXGKoEDXLw7sSAvq8K4wWijUe6Qm';
const CALL: CoinbaseCall = {
  keyId: 'organizations/0/apiKeys/1',
  method: 'POST',
  host: 'api.developer.coinbase.com',
  path: '/onramp/v1/token',
  nowMs: 1_767_225_600_999,
};

let folder: string;
let inline: LocalKeyring;
let remote: Keyring;
let installationKey: Uint8Array;
let keys: SealedServiceKey[];
let holder: (ownerId: string) => Holder;

/** Hands out the given scalar first. */
async function openRing(...scalars: Uint8Array[]): Promise<LocalKeyring> {
  const random: RandomBytes = (length) =>
    length === 32 && scalars.length > 0 ? new Uint8Array(scalars.shift() as Uint8Array) : systemRandom(length);
  return new LocalKeyring(await RootKeyRing.open(`file:${join(folder, 'root.key')}`, true, systemRandom), random);
}

beforeAll(async () => {
  requireBuilt();
  folder = await mkdtemp(join(tmpdir(), 'custos-on-ramp-'));
  inline = await openRing();
  remote = await createKeyring({ rootKey: `file:${join(folder, 'root.key')}`, mode: 'process', threads: 1 });
  installationKey = await inline.createOrganizationKey(INSTALLATION_ID);
  keys = [];
  for (const role of SERVICE_ROLES) {
    await using known = await openRing(...(role === 'on-ramp-secret' ? [onRampKey] : []));
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

const bundleOf = (secret: string | Uint8Array): string =>
  sealText(onRampPublicKey, typeof secret === 'string' ? fromText(secret) : secret);
const credential = () => holder('credential');
const hmacOf = (secret: string, search: string): string => createHmac('sha256', secret).update(search).digest('base64');
const decode = (part = ''): Record<string, unknown> => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));

const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ed25519Seed = labelled('a seed');
const ed25519Pair = (publicKey = ed25519PublicKey(ed25519Seed)): string =>
  Buffer.concat([ed25519Seed, publicKey]).toString('base64');
const ed25519Public = (): KeyObject => {
  const x = Buffer.from(ed25519PublicKey(ed25519Seed)).toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
};
const pem = (key: KeyObject, type: 'pkcs8' | 'sec1'): string => key.export({ type, format: 'pem' }) as string;

const MODES: [string, () => Keyring][] = [
  ['inline', () => inline],
  ['in a process of its own', () => remote],
];

describe.each(MODES)('on-ramp secrets %s', (_mode, keyringOf) => {
  const imported = (secret: string | Uint8Array, owner = credential()): Promise<Uint8Array> =>
    keyringOf().importOnRampSecret(owner, bundleOf(secret));
  const token = async (secret: string, call: CoinbaseCall = CALL): Promise<string> =>
    keyringOf().signCoinbaseToken(credential(), await imported(secret), call);

  test('what the public client encrypted is sealed for its owner, and signs queries', async () => {
    const sealed = await keyringOf().importOnRampSecret(credential(), PUBLIC_CLIENT_BUNDLE);
    expect(Buffer.from(sealed).includes('sk_test')).toBe(false);
    const search = '?apiKey=pk_test_1&currencyCode=eth&walletAddress=0xde0b&redirectURL=https%3A%2F%2Fa.test%2F%3Fx';
    expect(await keyringOf().signMoonpayQuery(credential(), sealed, search)).toBe(hmacOf('sk_test_é_123', search));
  });

  test('any text signs any query', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 }),
        fc
          .string({ unit: 'grapheme', maxLength: 100 })
          .map((text) => new URL(`https://a.test/?a=${encodeURIComponent(text)}`).search),
        async (secret, search) => {
          const signature = await keyringOf().signMoonpayQuery(credential(), await imported(secret), search);
          expect(signature).toBe(hmacOf(secret, search));
        },
      ),
      { numRuns: 20 },
    );
  });

  test.each([
    ['PKCS #8', () => pem(p256.privateKey, 'pkcs8')],
    ['SEC1', () => pem(p256.privateKey, 'sec1')],
    ['SEC1 as JSON spells it', () => pem(p256.privateKey, 'sec1').replaceAll('\n', '\\n')],
    ['SEC1 with white space around it', () => ` \r\n\t${pem(p256.privateKey, 'sec1')}\n `],
    ['PKCS #8 with the line ends of another system', () => pem(p256.privateKey, 'pkcs8').replaceAll('\n', '\r\n')],
  ])('a key in PEM (%s) signs tokens with ES256', async (_form, secret) => {
    const jwt = await token(secret());
    const [header, claims, signature = ''] = jwt.split('.');
    expect(decode(header)).toEqual({
      alg: 'ES256',
      kid: CALL.keyId,
      typ: 'JWT',
      nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(decode(claims)).toEqual({
      sub: CALL.keyId,
      iss: 'cdp',
      aud: ['cdp_service'],
      uris: ['POST api.developer.coinbase.com/onramp/v1/token'],
      iat: 1_767_225_600,
      nbf: 1_767_225_600,
      exp: 1_767_225_720,
    });
    const bytes = Buffer.from(signature, 'base64url');
    const key = { key: p256.publicKey, dsaEncoding: 'ieee-p1363' } as const;
    expect(verify('sha256', fromText(`${header}.${claims}`), key, bytes)).toBe(true);
    expect(verify('sha256', fromText(`${header}.${claims}x`), key, bytes)).toBe(false);
  });

  test('64 bytes in base64 sign tokens with EdDSA, each with a nonce of its own', async () => {
    const path = '/proxied/onramp/v1/buy/user/sandbox-0195d1f0_1/transactions';
    const call = { ...CALL, method: 'GET', host: '[::1]:8080', path } as const;
    const tokens = [await token(ed25519Pair(), call), await token(`${ed25519Pair()}\n`, call)];
    const nonces = tokens.map((jwt) => {
      const [header, claims, signature = ''] = jwt.split('.');
      expect(decode(header).alg).toBe('EdDSA');
      expect(decode(claims).uris).toEqual([`GET [::1]:8080${path}`]);
      const message = fromText(`${header}.${claims}`);
      expect(verify(null, message, ed25519Public(), Buffer.from(signature, 'base64url'))).toBe(true);
      return decode(header).nonce;
    });
    expect(new Set(nonces).size).toBe(2);
  });

  test('a secret that is no such key signs no token', async () => {
    const encrypted = p256.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' });
    const wrong = [
      'sk_test_123',
      pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey, 'sec1'),
      pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey, 'pkcs8'),
      pem(generateKeyPairSync('ed25519').privateKey, 'pkcs8'),
      pem(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey, 'pkcs8'),
      encrypted as string,
      p256.publicKey.export({ type: 'spki', format: 'pem' }) as string,
      pem(p256.privateKey, 'pkcs8').slice(0, -40),
      `${' '.repeat(3)}${pem(p256.privateKey, 'pkcs8').slice(0, 60)}`,
      Buffer.alloc(63, 7).toString('base64'),
      Buffer.alloc(65, 7).toString('base64'),
      ed25519Pair(labelled('another public key')),
      ed25519Pair().replaceAll('=', ''),
      Buffer.from(ed25519Pair(), 'base64').toString('base64url'),
    ];
    for (const secret of wrong) expect(await codeOf(token(secret)), secret).toBe('INVALID_KEY');
    expect(await token(ed25519Pair())).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  test('what does not open, is empty or is no text is no bundle', async () => {
    const good = bundleOf('x');
    expect(await keyringOf().importOnRampSecret(credential(), good)).toBeInstanceOf(Uint8Array);
    const bundles = [
      bundleOf(''),
      bundleOf(Uint8Array.of(0xc3, 0x28)),
      sealText(publicKeyOf(labelled('another key')), fromText('x')),
      good.slice(1),
      `${good}1`,
      `${good.slice(0, -1)}${good.endsWith('2') ? '3' : '2'}`,
      '',
      'secret',
      '0OIl',
      '\ud800',
      '1'.repeat(1e6),
    ];
    for (const text of bundles) {
      expect(await codeOf(keyringOf().importOnRampSecret(credential(), text)), text.slice(0, 99)).toBe(
        'INVALID_BUNDLE',
      );
    }
    for (const text of [undefined, null, 7, {}, fromText(good)]) {
      expect(await codeOf(keyringOf().importOnRampSecret(credential(), text as string))).toBe('INVALID_INPUT');
    }
    expect(await imported('x'.repeat(PLAINTEXT_BYTES_MAX))).toBeInstanceOf(Uint8Array);
  });

  test('nothing is signed but the query of a URL and the calls of an on-ramp', async () => {
    const secret = await imported('sk_test');
    const sign = (search: unknown) => keyringOf().signMoonpayQuery(credential(), secret, search as string);
    expect(await sign('?a')).toBe(hmacOf('sk_test', '?a'));
    expect(await sign(`?${'a'.repeat(16_383)}`)).toMatch(/=$/);
    const searches = ['', '?', 'a=b', ' ?a', '?a b', '?a#b', '?a"', '?a\n', '?é', `?${'a'.repeat(16_384)}`, null, 7];
    for (const search of searches) expect(await codeOf(sign(search)), String(search)).toBe('INVALID_INPUT');

    const key = await imported(ed25519Pair());
    const call = (change: object) => keyringOf().signCoinbaseToken(credential(), key, { ...CALL, ...change });
    await call({});
    await call({ host: 'a.test:8443', path: '/x/y.z/onramp/v1/token' });
    const wrong: object[] = [
      { keyId: '' },
      { keyId: 'é' },
      { keyId: 'x'.repeat(257) },
      { keyId: 7 },
      { method: 'DELETE' },
      { method: 'GET' },
      { host: '' },
      { host: 'A.test' },
      { host: 'a.test/x' },
      { host: 'user@a.test' },
      { host: 'a.test:' },
      { host: `${'a'.repeat(256)}` },
      { path: '' },
      { path: '/onramp/v1/token/' },
      { path: '/onramp/v1/token?a=b' },
      { path: '/platform/v2/evm/accounts' },
      { path: '/onramp/v1/token/../../../platform/v2' },
      { path: 'x/onramp/v1/token' },
      { path: `/${'a'.repeat(512)}/onramp/v1/token` },
      { method: 'GET', path: '/onramp/v1/buy/user//transactions' },
      { method: 'GET', path: '/onramp/v1/buy/user/a/b/transactions' },
      { method: 'GET', path: `/onramp/v1/buy/user/${'a'.repeat(65)}/transactions` },
      { nowMs: -1 },
      { nowMs: 1.5 },
      { nowMs: Number.NaN },
      { nowMs: '0' },
    ];
    for (const change of wrong) expect(await codeOf(call(change)), JSON.stringify(change)).toBe('INVALID_INPUT');
    const instead = keyringOf().signCoinbaseToken(credential(), key, null as unknown as CoinbaseCall);
    expect(await codeOf(instead)).toBe('INVALID_INPUT');
  });

  test('is used for its owner alone, and nothing else is used as one', async () => {
    const sealed = await imported(ed25519Pair());
    const uses = [
      (owner: Holder, blob: Uint8Array) => keyringOf().signMoonpayQuery(owner, blob, '?a=b'),
      (owner: Holder, blob: Uint8Array) => keyringOf().signCoinbaseToken(owner, blob, CALL),
    ];
    const { organizationKey, ownerId } = credential();
    const binding = { organizationId: ORGANIZATION, ownerId, kind: 'dev-message' };
    const others = [
      (await keyringOf().createPrivateKey(credential(), 'CURVE_P256', [])).sealedKey,
      (await keyringOf().createOtp(credential(), '123456')).sealedOtp,
      await keyringOf().seal(organizationKey, binding, fromText('xy')),
    ];
    for (const use of uses) {
      expect(await use(credential(), sealed)).toMatch(/./);
      for (const owner of [holder('other'), { ...credential(), organizationId: 'another' }]) {
        expect(await codeOf(use(owner, sealed))).toBe('NOT_OPENED');
      }
      for (const blob of others) expect(await codeOf(use(credential(), blob))).toBe('NOT_OPENED');
    }
    expect(await codeOf(keyringOf().lendOauthSecret(credential(), sealed))).toBe('NOT_OPENED');
    const asOwn = { ...binding, kind: 'on-ramp-secret' };
    expect(await codeOf(keyringOf().open(organizationKey, asOwn, sealed))).toBe('INVALID_INPUT');
    expect(await codeOf(keyringOf().open(organizationKey, binding, sealed))).toBe('NOT_OPENED');
  });
});

test('only what is encrypted to the service needs its key, and a closed keyring does nothing', async () => {
  const keyring = await openRing();
  const sealed = await inline.importOnRampSecret(credential(), bundleOf(ed25519Pair()));
  const calls = [
    () => keyring.importOnRampSecret(credential(), bundleOf('x')),
    () => keyring.signMoonpayQuery(credential(), sealed, '?a=b'),
    () => keyring.signCoinbaseToken(credential(), sealed, CALL),
  ];
  const others = keys.filter(({ role }) => role !== 'on-ramp-secret');
  await keyring.loadServiceKeys(installationKey, others);
  const codes = await Promise.all(calls.map((call) => call().catch((error: KeyringError) => error.code)));
  expect(codes[0]).toBe('UNAVAILABLE');
  expect(codes.slice(1)).toEqual([expect.stringMatching(/=$/), expect.stringMatching(/\./)]);
  await keyring.loadServiceKeys(installationKey, keys);
  expect(await calls[0]?.()).toBeInstanceOf(Uint8Array);
  await keyring.close();
  for (const call of calls)
    await expect(call()).rejects.toThrow(new KeyringError('INVALID_INPUT', 'the keyring is closed'));
});

test('what was lent is wiped', async () => {
  const lent: Uint8Array[] = [];
  const copies: string[] = [];
  const use = Secret.prototype.use;
  const spy = vi.spyOn(Secret.prototype, 'use').mockImplementation(function (this: Secret, fn) {
    return use.call(this, (bytes) => {
      lent.push(bytes);
      copies.push(toHex(bytes));
      return fn(bytes);
    }) as ReturnType<typeof fn>;
  });
  const secret = pem(p256.privateKey, 'sec1');
  try {
    const sealed = await inline.importOnRampSecret(credential(), bundleOf(secret));
    await inline.signMoonpayQuery(credential(), sealed, '?a=b');
    await inline.signCoinbaseToken(credential(), sealed, CALL);
  } finally {
    spy.mockRestore();
  }
  expect(copies.filter((text) => text.endsWith(toHex(fromText(secret)))).length).toBeGreaterThanOrEqual(4);
  expect(lent.filter((bytes) => bytes.some((byte) => byte !== 0))).toEqual([]);
});
