// @turnkey/crypto opens our export bundles and makes import bundles for us; it trusts the keys that we publish. What it
// carries in and out is compared with the libraries of the wallets that the keys come from or go to.
import { Keypair } from '@solana/web3.js';
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import {
  decryptExportBundle,
  decryptSecretBundle,
  encryptPrivateKeyToBundle,
  encryptSecretToBundle,
  encryptWalletToBundle,
  generateP256KeyPair,
} from '@turnkey/crypto';
import { TurnkeyClient } from '@turnkey/http';
import {
  DEFAULT_ETHEREUM_ACCOUNTS,
  DEFAULT_SOLANA_ACCOUNTS,
  defaultEthereumAccountAtIndex,
  defaultSolanaAccountAtIndex,
  type TurnkeyApiClient,
} from '@turnkey/sdk-server';
import { derivePath } from 'ed25519-hd-key';
import {
  dataSlice,
  decodeBase58,
  encodeBase58,
  HDNodeWallet,
  id,
  Mnemonic,
  randomBytes,
  toBeHex,
  Wallet,
  type Wordlist,
  wordlists,
} from 'ethers';
import { mnemonicToAccount, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKeyPair } from '../packages/server/test/harness/client.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { bundleSigner, connect, credentialsOf, errorCodeOf, fresh, importMnemonic, refusal, userOf } from './sdk.ts';

const ACCOUNTS = [...DEFAULT_ETHEREUM_ACCOUNTS, ...DEFAULT_SOLANA_ACCOUNTS];
const ETHEREUM_PATH = "m/44'/60'/0'/0/0";
const SOLANA_PATH = "m/44'/501'/0'/0'";
const SUITE = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';

/** What wallets for Solana do with a phrase. */
function solanaKeypair(phrase: Mnemonic, path = SOLANA_PATH): Keypair {
  return Keypair.fromSeed(derivePath(path, phrase.computeSeed().slice(2)).key);
}

const fromBase58 = (text: string): Uint8Array => Buffer.from(toBeHex(decodeBase58(text), 64).slice(2), 'hex');

const newPhrase = (bytes = 16, password?: string): Mnemonic => Mnemonic.fromEntropy(randomBytes(bytes), password);

let service: TestServer;
let root: TurnkeyApiClient;
let organizationId: string;
let userId: string;
let signer: string;

beforeAll(async () => {
  service = await TestServer.start();
  root = connect(service.baseUrl, service.credentials);
  ({ organizationId, userId } = service.credentials);
  signer = await bundleSigner(service.baseUrl);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const newWallet = async (mnemonicLength: 12 | 24 = 12) => {
  const created = await root.createWallet({ walletName: fresh('wallet'), accounts: ACCOUNTS, mnemonicLength });
  const [ethereum, solana] = created.addresses as [string, string];
  return { walletId: created.walletId, ethereum, solana };
};

/** Asks for a bundle and opens it. */
async function opened(
  ask: (targetPublicKey: string) => Promise<{ exportBundle: string }>,
  options: { readonly returnMnemonic?: boolean; readonly keyFormat?: 'SOLANA' | 'HEXADECIMAL' } = {},
): Promise<string> {
  const target = generateP256KeyPair();
  const { exportBundle } = await ask(target.publicKeyUncompressed);
  return await decryptExportBundle({
    exportBundle,
    organizationId,
    embeddedKey: target.privateKey,
    dangerouslyOverrideSignerPublicKey: signer,
    returnMnemonic: false,
    ...options,
  });
}

const exportedPhrase = (walletId: string) =>
  opened((targetPublicKey) => root.exportWallet({ walletId, targetPublicKey }), { returnMnemonic: true });

describe('export', () => {
  test('a wallet, whose phrase gives the same addresses in ethers, viem and Solana wallets', async () => {
    for (const length of [12, 24] as const) {
      const { walletId, ethereum, solana } = await newWallet(length);
      const phrase = await exportedPhrase(walletId);
      expect(phrase.split(' ')).toHaveLength(length);
      expect(Wallet.fromPhrase(phrase).address).toBe(ethereum);
      expect(mnemonicToAccount(phrase).address).toBe(ethereum);
      expect(solanaKeypair(Mnemonic.fromPhrase(phrase)).publicKey.toBase58()).toBe(solana);
    }
  });

  test('the key of an account, in the format of its chain', async () => {
    const { ethereum, solana } = await newWallet();
    const key = await opened((targetPublicKey) => root.exportWalletAccount({ address: ethereum, targetPublicKey }));
    expect(privateKeyToAccount(`0x${key}`).address).toBe(ethereum);
    const text = await opened((targetPublicKey) => root.exportWalletAccount({ address: solana, targetPublicKey }), {
      keyFormat: 'SOLANA',
    });
    expect(Keypair.fromSecretKey(fromBase58(text)).publicKey.toBase58()).toBe(solana);
  });

  test('a private key, in the format of its chain', async () => {
    const { privateKeys } = await root.createPrivateKeys({
      privateKeys: [
        {
          privateKeyName: fresh('key'),
          curve: 'CURVE_SECP256K1',
          addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
          privateKeyTags: [],
        },
        {
          privateKeyName: fresh('key'),
          curve: 'CURVE_ED25519',
          addressFormats: ['ADDRESS_FORMAT_SOLANA'],
          privateKeyTags: [],
        },
      ],
    });
    const [ethereum, solana] = privateKeys.map(({ privateKeyId, addresses }) => ({
      privateKeyId: privateKeyId as string,
      address: addresses?.[0]?.address,
    }));
    if (ethereum === undefined || solana === undefined) throw new Error('two keys were expected');
    const { privateKeyId } = ethereum;
    const hex = await opened((targetPublicKey) => root.exportPrivateKey({ privateKeyId, targetPublicKey }), {
      keyFormat: 'HEXADECIMAL',
    });
    expect(privateKeyToAccount(`0x${hex}`).address).toBe(ethereum.address);
    const text = await opened(
      (targetPublicKey) => root.exportPrivateKey({ privateKeyId: solana.privateKeyId, targetPublicKey }),
      { keyFormat: 'SOLANA' },
    );
    expect(Keypair.fromSecretKey(fromBase58(text)).publicKey.toBase58()).toBe(solana.address);
  });

  test('to a compressed target key', async () => {
    const { walletId, ethereum } = await newWallet();
    const target = generateP256KeyPair();
    const { exportBundle } = await root.exportWallet({ walletId, targetPublicKey: target.publicKey });
    const phrase = await decryptExportBundle({
      exportBundle,
      organizationId,
      embeddedKey: target.privateKey,
      dangerouslyOverrideSignerPublicKey: signer,
      returnMnemonic: true,
    });
    expect(mnemonicToAccount(phrase).address).toBe(ethereum);
  });

  test('the same entropy in the words of another language', async () => {
    const { walletId } = await newWallet();
    const { entropy } = Mnemonic.fromPhrase(await exportedPhrase(walletId));
    for (const [language, code] of [
      ['MNEMONIC_LANGUAGE_ITALIAN', 'it'],
      ['MNEMONIC_LANGUAGE_SPANISH', 'es'],
      ['MNEMONIC_LANGUAGE_KOREAN', 'ko'],
      ['MNEMONIC_LANGUAGE_JAPANESE', 'ja'],
    ] as const) {
      // As hex, because the package reads a mnemonic as Latin-1.
      const hex = await opened((targetPublicKey) => root.exportWallet({ walletId, targetPublicKey, language }));
      const phrase = Buffer.from(hex, 'hex').toString('utf8');
      expect([code, Mnemonic.phraseToEntropy(phrase, wordlists[code] as Wordlist)]).toEqual([code, entropy]);
    }
  });

  test('of a sub-organization, bound to its id', async () => {
    const key = newKeyPair();
    const { subOrganizationId, wallet } = await root.createSubOrganization({
      subOrganizationName: fresh('child'),
      rootQuorumThreshold: 1,
      rootUsers: [userOf('owner', key)],
      wallet: { walletName: 'w', accounts: ACCOUNTS },
    });
    const owner = connect(service.baseUrl, credentialsOf(subOrganizationId, key));
    const target = generateP256KeyPair();
    const { exportBundle } = await owner.exportWallet({
      walletId: wallet?.walletId as string,
      targetPublicKey: target.publicKeyUncompressed,
    });
    const bundle = {
      exportBundle,
      embeddedKey: target.privateKey,
      dangerouslyOverrideSignerPublicKey: signer,
      returnMnemonic: true,
    };
    const phrase = await decryptExportBundle({ ...bundle, organizationId: subOrganizationId });
    expect(mnemonicToAccount(phrase).address).toBe(wallet?.addresses[0]);
    await expect(decryptExportBundle({ ...bundle, organizationId })).rejects.toThrow('organization id does not match');
    // A client that was not told about our key trusts only its maker's.
    const { dangerouslyOverrideSignerPublicKey: _, ...untold } = bundle;
    await expect(decryptExportBundle({ ...untold, organizationId: subOrganizationId })).rejects.toThrow(
      'does not match signer key from bundle',
    );
    const stranger = generateP256KeyPair().privateKey;
    await expect(
      decryptExportBundle({ ...bundle, organizationId: subOrganizationId, embeddedKey: stranger }),
    ).rejects.toThrow('Error decrypting bundle');
  });
});

describe('import', () => {
  test.each([
    ['12 words', 16],
    ['15 words', 20],
    ['18 words', 24],
    ['21 words', 28],
    ['24 words', 32],
  ] as const)('a phrase of %s has the addresses that it had elsewhere', async (_, bytes) => {
    const phrase = newPhrase(bytes);
    const accounts = [0, 1].flatMap((index) => [
      defaultEthereumAccountAtIndex(index),
      defaultSolanaAccountAtIndex(index),
    ]);
    const { walletId, addresses } = await importMnemonic(service.baseUrl, root, phrase.phrase, {
      walletName: fresh('imported'),
      accounts,
    });
    expect(addresses).toEqual(
      accounts.map(({ addressFormat, path }) =>
        addressFormat === 'ADDRESS_FORMAT_ETHEREUM'
          ? HDNodeWallet.fromMnemonic(phrase, path).address
          : solanaKeypair(phrase, path).publicKey.toBase58(),
      ),
    );
    expect(addresses[0]).toBe(mnemonicToAccount(phrase.phrase).address);
    expect((await root.getWallet({ walletId })).wallet).toMatchObject({ imported: true, exported: false });
    expect(await exportedPhrase(walletId)).toBe(phrase.phrase);
  });

  test.each(['es', 'fr', 'it', 'ja', 'ko', 'cz', 'zh_cn', 'zh_tw'])('a phrase in %s', async (code) => {
    // Fixed, since one in hundreds of random phrases is at home in both Chinese lists.
    const phrase = Mnemonic.fromEntropy(dataSlice(id(code), 0, 16), undefined, wordlists[code] as Wordlist);
    const { walletId, addresses } = await importMnemonic(service.baseUrl, root, phrase.phrase, {
      walletName: fresh('imported'),
      accounts: ACCOUNTS,
    });
    expect(addresses).toEqual([
      HDNodeWallet.fromMnemonic(phrase, ETHEREUM_PATH).address,
      solanaKeypair(phrase).publicKey.toBase58(),
    ]);
    const hex = await opened((targetPublicKey) => root.exportWallet({ walletId, targetPublicKey }));
    const exported = Buffer.from(hex, 'hex').toString('utf8');
    expect(Mnemonic.phraseToEntropy(exported, wordlists[code] as Wordlist)).toBe(phrase.entropy);
  });

  test('a phrase with a passphrase', async () => {
    const phrase = newPhrase(16, 'Zoë’s passphrase');
    const { walletId, addresses } = await importMnemonic(
      service.baseUrl,
      root,
      `${phrase.phrase}\n--PASS--\n${phrase.password}`,
      { walletName: fresh('imported'), accounts: ACCOUNTS },
    );
    expect(addresses).toEqual([
      HDNodeWallet.fromMnemonic(phrase, ETHEREUM_PATH).address,
      solanaKeypair(phrase).publicKey.toBase58(),
    ]);
    expect(addresses[0]).not.toBe(mnemonicToAccount(phrase.phrase).address);
    const hex = await opened((targetPublicKey) => root.exportWallet({ walletId, targetPublicKey }));
    const [words, passphrase] = Buffer.from(hex, 'hex').toString('utf8').split('\n');
    expect(words).toBe(phrase.phrase);
    expect(passphrase?.normalize('NFKD')).toBe(phrase.password.normalize('NFKD'));
  });

  test('a private key of either chain', async () => {
    const importKey = async (
      privateKey: string,
      keyFormat: 'HEXADECIMAL' | 'SOLANA',
      params: Pick<Parameters<TurnkeyApiClient['importPrivateKey']>[0], 'curve' | 'addressFormats'>,
    ) => {
      const { importBundle } = await root.initImportPrivateKey({ userId });
      const encryptedBundle = await encryptPrivateKeyToBundle({
        privateKey,
        keyFormat,
        importBundle,
        userId,
        organizationId,
        dangerouslyOverrideSignerPublicKey: signer,
      });
      return await root.importPrivateKey({ userId, privateKeyName: fresh('imported'), encryptedBundle, ...params });
    };
    const wallet = Wallet.createRandom();
    const ethereum = await importKey(wallet.privateKey, 'HEXADECIMAL', {
      curve: 'CURVE_SECP256K1',
      addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
    });
    expect(ethereum.addresses).toEqual([{ format: 'ADDRESS_FORMAT_ETHEREUM', address: wallet.address }]);
    const keypair = Keypair.generate();
    const solana = await importKey(encodeBase58(keypair.secretKey), 'SOLANA', {
      curve: 'CURVE_ED25519',
      addressFormats: ['ADDRESS_FORMAT_SOLANA'],
    });
    expect(solana.addresses).toEqual([{ format: 'ADDRESS_FORMAT_SOLANA', address: keypair.publicKey.toBase58() }]);
    const { privateKey } = await root.getPrivateKey({ privateKeyId: solana.privateKeyId });
    expect(privateKey).toMatchObject({ imported: true, exported: false });
    const { privateKeyId } = ethereum;
    const hex = await opened((targetPublicKey) => root.exportPrivateKey({ privateKeyId, targetPublicKey }));
    expect(`0x${hex}`).toBe(wallet.privateKey);
  });

  test('what cannot be imported', async () => {
    const params = { walletName: fresh('refused'), accounts: ACCOUNTS };
    const bad = await refusal(
      importMnemonic(service.baseUrl, root, 'twelve words that are in no list of words at all anywhere', params),
    );
    expect(bad.code).toBe(3);
    expect(bad.message).toContain('invalid mnemonic');

    // Another's import, and one import used twice.
    const { importBundle } = await root.initImportWallet({ userId });
    const encryptedBundle = await encryptWalletToBundle({
      mnemonic: newPhrase().phrase,
      importBundle,
      userId,
      organizationId,
      dangerouslyOverrideSignerPublicKey: signer,
    });
    const key = newKeyPair();
    const { userIds } = await root.createUsers({ users: [{ ...userOf('somebody', key), userTags: [] }] });
    const foreign = await refusal(root.initImportWallet({ userId: userIds[0] as string }));
    expect(foreign.code).toBe(7);
    const used = await root.importWallet({ ...params, userId, encryptedBundle });
    expect(used.addresses).toHaveLength(2);
    const again = await refusal(root.importWallet({ ...params, walletName: fresh('again'), userId, encryptedBundle }));
    expect(['FAILED_PRECONDITION', 'INVALID_BUNDLE']).toContain(errorCodeOf(again));

    // The client checks whose import it is before it encrypts.
    const other = { mnemonic: newPhrase().phrase, importBundle, dangerouslyOverrideSignerPublicKey: signer };
    await expect(encryptWalletToBundle({ ...other, organizationId, userId: organizationId })).rejects.toThrow(
      'user id does not match',
    );
    await expect(encryptWalletToBundle({ ...other, organizationId: userId, userId })).rejects.toThrow(
      'organization id does not match',
    );
  });
});

test('secrets go in and out', async () => {
  const { apiPublicKey, apiPrivateKey } = service.credentials;
  // Only the low-level client knows how to begin.
  const http = new TurnkeyClient({ baseUrl: service.baseUrl }, new ApiKeyStamper({ apiPublicKey, apiPrivateKey }));
  const { activity } = await http.initImportSecrets({
    type: 'ACTIVITY_TYPE_INIT_IMPORT_SECRETS',
    timestampMs: String(Date.now()),
    organizationId,
    parameters: { encryptionSuite: SUITE, numSecrets: 2 },
  });
  const bundles = activity.result.initImportSecretsResult?.enclaveTargetMessages as string[];
  expect(bundles).toHaveLength(2);
  const plaintexts = ['correct horse', 'Zoë ✓'];
  const secrets = await Promise.all(
    bundles.map((ingressTargetBundle, index) =>
      encryptSecretToBundle({
        plaintext: plaintexts[index] as string,
        ingressTargetBundle,
        organizationId,
        dangerouslyOverrideSignerPublicKey: signer,
      }),
    ),
  );
  const names = [fresh('secret'), fresh('secret')];
  const { secretIds } = await root.importSecrets({
    secrets: secrets.map((secret, index) => ({
      ...secret,
      name: names[index] as string,
      encryptionSuite: SUITE,
      staticProperties: [{ key: 'index', value: String(index) }],
    })),
  });
  const listed = await root.listSecrets({});
  expect(listed.secrets.map(({ secretId, name }) => ({ secretId, name }))).toEqual(
    [1, 0].map((index) => ({ secretId: secretIds[index], name: names[index] })),
  );
  const target = generateP256KeyPair();
  const { secretPayloads } = await root.exportSecrets({
    secrets: secretIds.map((secretId) => ({
      secretId,
      targetPublicKey: target.publicKeyUncompressed,
      encryptionSuite: SUITE,
    })),
  });
  for (const [index, secretPayload] of secretPayloads.entries()) {
    const text = await decryptSecretBundle({
      secretPayload,
      embeddedPrivateKey: target.privateKey,
      organizationId,
      dangerouslyOverrideSignerPublicKey: signer,
    });
    expect(text).toBe(plaintexts[index]);
  }
});
