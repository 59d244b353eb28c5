import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../../server/test/harness/server.ts';
import {
  ApiKeyStamper,
  type CustosClient,
  createClient,
  fetchServiceKeys,
  generateTargetKey,
  openKeyBundle,
  openSecretBundle,
  openWalletBundle,
  sealMnemonic,
  sealPrivateKey,
  sealSecret,
  verifyAppProof,
} from '../src/index.ts';

// The SDK and a service that runs as its operators run it: what one makes, the other reads.

const MNEMONIC = `${'abandon '.repeat(11)}about`;
const ENCRYPTION_SUITE = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';

const account = <Curve extends string, Format extends string>(curve: Curve, path: string, addressFormat: Format) => ({
  curve,
  pathFormat: 'PATH_FORMAT_BIP32' as const,
  path,
  addressFormat,
});
const ETHEREUM = account('CURVE_SECP256K1', "m/44'/60'/0'/0/0", 'ADDRESS_FORMAT_ETHEREUM');
const ACCOUNTS = [
  ETHEREUM,
  account('CURVE_ED25519', "m/44'/501'/0'/0'", 'ADDRESS_FORMAT_SOLANA'),
  account('CURVE_SECP256K1', "m/86'/0'/0'/0/0", 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR'),
];

let server: TestServer;
let client: CustosClient;
let organizationId: string;
let userId: string;
let bundleSigner: string;

beforeAll(async () => {
  server = await TestServer.start();
  const { apiPublicKey, apiPrivateKey, ...root } = server.credentials;
  ({ organizationId, userId } = root);
  const stamper = new ApiKeyStamper({ publicKey: apiPublicKey, privateKey: apiPrivateKey });
  client = createClient({ baseUrl: server.baseUrl, organizationId, stamper });
  const keys = await fetchServiceKeys(server.baseUrl);
  bundleSigner = keys.find(({ role }) => role === 'bundle-signer')!.publicKey;
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

const trust = () => ({ organizationId, bundleSigner });

async function importWallet(walletName: string, mnemonic: string, passphrase = '') {
  const { importBundle } = await client.initImportWallet({ userId });
  const encryptedBundle = await sealMnemonic({ importBundle, mnemonic, passphrase, userId, ...trust() });
  return await client.importWallet({ userId, walletName, encryptedBundle, accounts: ACCOUNTS });
}

async function exportWallet(walletId: string) {
  const { publicKey: targetPublicKey, privateKey: targetPrivateKey } = await generateTargetKey();
  const { exportBundle } = await client.exportWallet({ walletId, targetPublicKey });
  return await openWalletBundle({ exportBundle, targetPrivateKey, ...trust() });
}

test('the service publishes a key for every role', async () => {
  const keys = await fetchServiceKeys(`${server.baseUrl}/`);
  expect(Object.fromEntries(keys.map(({ role, encoding }) => [role, encoding]))).toEqual({
    'bundle-signer': 'uncompressed',
    'session-signer': 'uncompressed',
    otp: 'uncompressed',
    'oauth-secret': 'uncompressed',
    'on-ramp-secret': 'compressed',
  });
  for (const { publicKey, encoding, keyId } of keys) {
    expect(publicKey).toMatch(encoding === 'compressed' ? /^0[23][0-9a-f]{64}$/ : /^04[0-9a-f]{128}$/);
    expect(keyId).not.toBe('');
  }
});

describe('wallets', () => {
  test('one that is created, exported and imported again has the same addresses', async () => {
    const created = await client.createWallet({ walletName: 'Made here', mnemonicLength: 24, accounts: ACCOUNTS });
    const { mnemonic, passphrase } = await exportWallet(created.walletId);
    expect([mnemonic.split(' ').length, passphrase]).toEqual([24, '']);
    expect((await importWallet('Again', mnemonic)).addresses).toEqual(created.addresses);
    expect(await client.getWallet({ walletId: created.walletId })).toMatchObject({ wallet: { exported: true } });
  });

  test('one from elsewhere has the address it has there, and comes back with its passphrase', async () => {
    const plain = await importWallet('From elsewhere', MNEMONIC);
    expect(plain.addresses[0]).toBe('0x9858EfFD232B4033E47d90003D41EC34EcaEda94');
    const locked = await importWallet('With a passphrase', MNEMONIC, 'hunter2\n\u2713');
    expect(locked.addresses[0]).not.toBe(plain.addresses[0]);
    expect(await exportWallet(locked.walletId)).toEqual({ mnemonic: MNEMONIC, passphrase: 'hunter2\n\u2713' });
  });

  test('bundles for others are refused before a mnemonic is sealed or opened', async () => {
    const { importBundle } = await client.initImportWallet({ userId });
    const good = { importBundle, mnemonic: MNEMONIC, userId, ...trust() };
    const other = '00000000-0000-4000-8000-000000000000';
    await expect(sealMnemonic({ ...good, userId: other })).rejects.toMatchObject({ check: 'user' });
    await expect(sealMnemonic({ ...good, organizationId: other })).rejects.toMatchObject({ check: 'organization' });
    const { publicKey } = await generateTargetKey();
    await expect(sealMnemonic({ ...good, bundleSigner: publicKey })).rejects.toMatchObject({ check: 'signer' });
    const session = (await fetchServiceKeys(server.baseUrl)).find(({ role }) => role === 'session-signer')!;
    await expect(sealMnemonic({ ...good, bundleSigner: session.publicKey })).rejects.toMatchObject({ check: 'signer' });
  });
});

test('the key of an account is exported and imported with the same address', async () => {
  const { addresses } = await client.createWallet({ walletName: 'One account', accounts: [ETHEREUM] });
  const { publicKey: targetPublicKey, privateKey: targetPrivateKey } = await generateTargetKey();
  const exported = await client.exportWalletAccount({ address: addresses[0]!, targetPublicKey });
  const privateKey = await openKeyBundle({ ...exported, targetPrivateKey, ...trust() });

  const { importBundle } = await client.initImportPrivateKey({ userId });
  const imported = await client.importPrivateKey({
    userId,
    privateKeyName: 'An account on its own',
    encryptedBundle: await sealPrivateKey({ importBundle, privateKey, userId, ...trust() }),
    curve: 'CURVE_SECP256K1',
    addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
  });
  expect(imported.addresses.map(({ address }) => address)).toEqual(addresses);

  const { privateKeyId } = imported;
  const again = await client.exportPrivateKey({ privateKeyId, targetPublicKey });
  expect(await openKeyBundle({ ...again, targetPrivateKey, ...trust() })).toEqual(privateKey);
});

test('secrets are imported and exported', async () => {
  const secrets = ['the token of another service', Uint8Array.of(0, 1, 254, 255)];
  const { enclaveTargetMessages } = await client.initImportSecrets({
    encryptionSuite: ENCRYPTION_SUITE,
    numSecrets: secrets.length,
  });
  const sealed = await Promise.all(
    secrets.map((secret, index) => sealSecret({ targetMessage: enclaveTargetMessages[index]!, secret, ...trust() })),
  );
  const { secretIds } = await client.importSecrets({
    secrets: sealed.map((one, index) => ({ name: `Secret ${index}`, ...one })),
  });
  const { publicKey: targetPublicKey, privateKey: targetPrivateKey } = await generateTargetKey();
  const { secretPayloads } = await client.exportSecrets({
    secrets: secretIds.map((secretId) => ({ secretId, targetPublicKey, encryptionSuite: ENCRYPTION_SUITE })),
  });
  const opened = await Promise.all(
    secretPayloads.map((exportBundle) => openSecretBundle({ exportBundle, targetPrivateKey, ...trust() })),
  );
  expect(opened.map((bytes) => Buffer.from(bytes))).toEqual(secrets.map((secret) => Buffer.from(secret)));
});

test('app proofs are made when they are asked for, and verify', async () => {
  const wallet = { walletName: 'Proven', accounts: ACCOUNTS };
  const { activity } = await client.createWallet(wallet, { generateAppProofs: true });
  const { appProofs } = await client.listAppProofs({ activityId: activity.id });
  expect(appProofs).toEqual(activity.appProofs);
  expect(appProofs).toHaveLength(1 + ACCOUNTS.length);
  for (const proof of appProofs) {
    expect(await verifyAppProof(proof)).toBe(true);
    expect(await verifyAppProof({ ...proof, proofPayload: `${proof.proofPayload} ` })).toBe(false);
  }
  const unproven = await client.createWallet({ ...wallet, walletName: 'Unproven' });
  expect(unproven.activity.appProofs ?? []).toEqual([]);
});
