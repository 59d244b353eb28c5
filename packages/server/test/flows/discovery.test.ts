import { createPublicKey, ECDH } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { Receiver } from '../harness/bundles.ts';
import { databasesOf } from '../harness/databases.ts';
import { newWallet } from './fixtures/wallets.ts';

// protocol/bundles 5.2: the spelling that each helper of the public SDK compares with, or takes as its override.
const ENCODINGS = {
  'bundle-signer': 'uncompressed',
  'session-signer': 'uncompressed',
  otp: 'uncompressed',
  'oauth-secret': 'uncompressed',
  'on-ramp-secret': 'compressed',
} as const;

interface PublishedKey {
  readonly role: keyof typeof ENCODINGS;
  readonly publicKey: string;
  readonly encoding: string;
  readonly keyId: string;
}

describe.each(databasesOf(import.meta.url))('discovery of keys on %s', (database) => {
  let service: TestApp;

  beforeAll(async () => {
    service = await openTestApp(database);
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const get = (init: RequestInit = {}) => fetch(`${service.baseUrl}/public/v1/discovery/keys`, init);
  const published = async (): Promise<PublishedKey[]> => (await (await get()).json()).keys;

  test('publishes one key for each role, in its one spelling', async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const body = await response.json();
    expect(Object.keys(body)).toEqual(['keys']);
    const keys: PublishedKey[] = body.keys;
    expect(Object.fromEntries(keys.map(({ role, encoding }) => [role, encoding]))).toEqual(ENCODINGS);
    expect(keys).toHaveLength(5);
    for (const key of keys) {
      expect(Object.keys(key).sort()).toEqual(['encoding', 'keyId', 'publicKey', 'role']);
      const spelling = key.encoding === 'compressed' ? /^0[23][0-9a-f]{64}$/ : /^04[0-9a-f]{128}$/;
      expect(key.publicKey, key.role).toMatch(spelling);
      // A point of the curve, which createPublicKey insists on.
      const point = ECDH.convertKey(key.publicKey, 'prime256v1', 'hex', undefined, 'uncompressed') as Buffer;
      const [x, y] = [point.toString('base64url', 1, 33), point.toString('base64url', 33)];
      expect(createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' }).asymmetricKeyType).toBe('ec');
    }
    expect(new Set(keys.map(({ publicKey }) => publicKey.slice(2, 66))).size).toBe(keys.length);
    expect(new Set(keys.map(({ keyId }) => keyId)).size).toBe(keys.length);
  });

  test('needs no stamp and minds none, and answers HEAD', async () => {
    const stamped = await get({ headers: { 'x-stamp': 'nonsense' } });
    expect(await stamped.json()).toEqual({ keys: await published() });
    const head = await get({ method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('cache-control')).toBe('public, max-age=300');
    expect(Number(head.headers.get('content-length'))).toBe((await (await get()).arrayBuffer()).byteLength);
  });

  test('the bundle signer is who signs bundles, as the very same text', async () => {
    const signer = (await published()).find(({ role }) => role === 'bundle-signer');
    const root = service.root;
    const { walletId } = await newWallet(root);
    const { exportBundle } = await root.run('export_wallet', { walletId, targetPublicKey: new Receiver().publicKey });
    expect(JSON.parse(exportBundle).enclaveQuorumPublic).toBe(signer?.publicKey);
  });

  test('stay the same when the service starts again', async () => {
    const before = await published();
    const root = service.root;
    const { walletId, addresses } = await newWallet(root);
    await service.restart();
    expect(await published()).toEqual(before);
    // And what was sealed before still opens.
    const client = service.root;
    const derived = await client.run('create_wallet_accounts', {
      walletId,
      persist: false,
      accounts: [
        {
          curve: 'CURVE_SECP256K1',
          pathFormat: 'PATH_FORMAT_BIP32',
          path: "m/44'/60'/0'/0/0",
          addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
        },
      ],
    });
    expect(derived).toEqual({ addresses });
  });
});

test('every deployment has keys of its own', async () => {
  await using one = await openTestApp('sqlite');
  await using other = await openTestApp('sqlite');
  const keysOf = async ({ baseUrl }: TestApp): Promise<string[]> =>
    (await (await fetch(`${baseUrl}/public/v1/discovery/keys`)).json()).keys.map((key: PublishedKey) => key.publicKey);
  const all = [...(await keysOf(one)), ...(await keysOf(other))];
  expect(new Set(all).size).toBe(10);
});
