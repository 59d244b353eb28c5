import { randomBytes, randomUUID } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { parseTransaction } from 'viem';
import { expect } from 'vitest';
import {
  encryptTo,
  KNOWN_WALLET,
  newImportTarget,
  newSecretTargets,
  Receiver,
  readSigned,
} from '../../harness/bundles.ts';
import type { TestClient } from '../../harness/client.ts';
import {
  type ActivityCase,
  type Arranged,
  anId,
  notFound,
  PAGE_INFO,
  type QueryCase,
  TIMESTAMP,
  type World,
} from './case.ts';

// Wallets, private keys, secrets and signatures in the table of every operation.

const SUITE = 'TRANSPORT_ENCRYPTION_SUITE_ENCLAVE_ENCRYPT_V1';
export const ETHEREUM = {
  curve: 'CURVE_SECP256K1',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/60'/0'/0/0",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
};
const SOLANA = {
  curve: 'CURVE_ED25519',
  pathFormat: 'PATH_FORMAT_BIP32',
  path: "m/44'/501'/0'/0'",
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
};
export const anEthereumAddress = expect.stringMatching(/^0x[0-9a-fA-F]{40}$/);
const aSolanaAddress = expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/);

/** A payment of nothing to 0x1111…, unsigned, of type 2 (EIP-1559). */
const TRANSACTION = `02df0180010182520894${'11'.repeat(20)}8080c0`;

const wallets = async (reader: TestClient) => (await reader.query('list_wallets')).body.wallets;
const accounts = async (reader: TestClient) => (await reader.query('list_wallet_accounts')).body.accounts;
const privateKeys = async (reader: TestClient) => (await reader.query('list_private_keys')).body.privateKeys;
const keyTags = async (reader: TestClient) => (await reader.query('list_private_key_tags')).body.privateKeyTags;
const secrets = async (reader: TestClient) => (await reader.query('list_secrets')).body.secrets;

interface TestWallet {
  readonly walletId: string;
  readonly address: string;
  readonly walletAccountId: string;
  readonly publicKey: string;
}

async function newWallet(client: TestClient): Promise<TestWallet> {
  const { walletId } = await client.run('create_wallet', {
    walletName: `Wallet ${randomUUID()}`,
    accounts: [ETHEREUM],
  });
  const { body } = await client.query('list_wallet_accounts', { walletId });
  const [{ address, walletAccountId, publicKey }] = body.accounts;
  return { walletId, address, walletAccountId, publicKey };
}

async function newPrivateKey(client: TestClient, privateKeyTags: readonly string[] = []): Promise<string> {
  const params = {
    privateKeyName: `Key ${randomUUID()}`,
    curve: 'CURVE_SECP256K1',
    privateKeyTags,
    addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
  };
  const { privateKeys: made } = await client.run('create_private_keys', { privateKeys: [params] });
  return made[0].privateKeyId;
}

async function newKeyTag(client: TestClient, privateKeyIds: readonly string[] = []): Promise<string> {
  const parameters = { privateKeyTagName: `Tag ${randomUUID()}`, privateKeyIds };
  return (await client.run('create_private_key_tag', parameters)).privateKeyTagId;
}

const secretParams = (targetPublicKey: string, plaintext: string) => ({
  name: `Secret ${randomUUID()}`,
  secretPayload: encryptTo(targetPublicKey, plaintext),
  targetPublicKey,
  encryptionSuite: SUITE,
  staticProperties: [{ key: 'purpose', value: 'test' }],
});

async function newSecret(client: TestClient, plaintext: string): Promise<string> {
  const [target = ''] = await newSecretTargets(client);
  return (await client.run('import_secrets', { secrets: [secretParams(target, plaintext)] })).secretIds[0];
}

async function tagsOf(reader: TestClient, privateKeyId: string): Promise<string[]> {
  return (await reader.query('get_private_key', { privateKeyId })).body.privateKey.privateKeyTags;
}

/** A bundle that the receiver can open and whose content is as it should be. */
const opensTo = (receiver: Receiver, { organizationId }: TestClient, isRight: (plaintext: Buffer) => boolean) =>
  expect.toSatisfy(
    (bundle: string) => isRight(receiver.open(bundle, organizationId)),
    'a bundle with the right content',
  );

const isKeyOf = (publicKey: string) => (key: Buffer) =>
  Buffer.from(secp256k1.getPublicKey(key)).toString('hex') === publicKey;

/** A signed bundle with a one-time key for this user. */
const aTargetFor = ({ organizationId, userId }: TestClient) =>
  expect.toSatisfy((bundle: string) => {
    const document = readSigned(bundle);
    const isPoint = /^04[0-9a-f]{128}$/.test(document.targetPublic ?? '');
    return isPoint && document.organizationId === organizationId && document.userId === userId;
  }, 'an import bundle for this user');

/** r, s and v of a low-S signature over the digest. */
const aSignatureBy = (publicKey: string, digest: Uint8Array) =>
  expect.toSatisfy(
    ({ r, s, v }: Record<string, string>) =>
      /^0[01]$/.test(v ?? '') &&
      secp256k1.verify(Buffer.from(`${r}${s}`, 'hex'), digest, Buffer.from(publicKey, 'hex'), {
        prehash: false,
        lowS: true,
      }),
    'a signature of the payload',
  );

/** Nothing is stored by what only answers. */
const nothing = async (): Promise<void> => {};

function statusOf(query: string, parameters: Record<string, unknown>) {
  return async (reader: TestClient): Promise<number> => (await reader.query(query, parameters)).status;
}

/** Something that is there before and not after. */
function deleted(status: (reader: TestClient) => Promise<number>): Pick<Arranged, 'holds' | 'absent'> {
  return {
    holds: async (reader) => expect(await status(reader)).toBe(404),
    absent: async (reader) => expect(await status(reader)).toBe(200),
  };
}

const initImport = (kind: 'wallet' | 'private_key', name: string): ActivityCase => ({
  isForProposer: true,
  intentKey: `initImport${name}Intent`,
  resultKey: `initImport${name}Result`,
  // An open target shows only in an import, and the cases of those make one.
  arrange: async ({ root }) => ({
    parameters: { userId: root.userId },
    result: { importBundle: aTargetFor(root) },
    holds: nothing,
    absent: nothing,
  }),
  foreign: async (_world, other) => {
    expect(await newImportTarget(other.root, kind)).toMatch(/^04/);
    return { parameters: { userId: other.root.userId }, status: 403, code: 'REQUEST_NOT_AUTHORIZED' };
  },
});

const PAYLOADS = ['11'.repeat(40), 'ff'] as const;
const digestOf = (payload: string) => keccak_256(Buffer.from(payload, 'hex'));
const asHex = { encoding: 'PAYLOAD_ENCODING_HEXADECIMAL', hashFunction: 'HASH_FUNCTION_KECCAK256' };

/** The transaction above, signed by the key. */
const aTransactionBy = (publicKey: string) =>
  expect.toSatisfy((signed: string) => {
    const { r, s, to } = parseTransaction(`0x${signed}`);
    if (r === undefined || s === undefined || to !== `0x${'11'.repeat(20)}`) return false;
    const signature = Buffer.from(`${r.slice(2).padStart(64, '0')}${s.slice(2).padStart(64, '0')}`, 'hex');
    const digest = keccak_256(Buffer.from(TRANSACTION, 'hex'));
    return secp256k1.verify(signature, digest, Buffer.from(publicKey, 'hex'), { prehash: false });
  }, 'the transaction with a signature');

/** A signing operation in one version: what it signs with, and what it answers for that key. */
function signed(
  signer: 'signWith' | 'privateKeyId',
  rest: Record<string, unknown>,
  result: (publicKey: string) => unknown,
): (world: World) => Promise<Arranged> {
  return async ({ root }) => {
    if (signer === 'signWith') {
      const { address, publicKey } = await newWallet(root);
      return { parameters: { signWith: address, ...rest }, result: result(publicKey), holds: nothing, absent: nothing };
    }
    const privateKeyId = await newPrivateKey(root);
    const { publicKey } = (await root.query('get_private_key', { privateKeyId })).body.privateKey;
    return { parameters: { privateKeyId, ...rest }, result: result(publicKey), holds: nothing, absent: nothing };
  };
}

const signRaw = (signer: 'signWith' | 'privateKeyId') =>
  signed(signer, { ...asHex, payload: PAYLOADS[0] }, (publicKey) => aSignatureBy(publicKey, digestOf(PAYLOADS[0])));
const signTransaction = (signer: 'signWith' | 'privateKeyId') =>
  signed(signer, { type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: TRANSACTION }, (publicKey) => ({
    signedTransaction: aTransactionBy(publicKey),
  }));

/** Another organization's account, by its address. */
const foreignSigner = (rest: Record<string, unknown>) => async (_world: World, other: World) =>
  notFound({ signWith: (await newWallet(other.root)).address, ...rest });

export const WALLET_CASES: Readonly<Record<string, ActivityCase>> = {
  create_wallet: {
    intentKey: 'createWalletIntent',
    resultKey: 'createWalletResult',
    arrange: async () => ({
      parameters: { walletName: 'New', accounts: [{ ...ETHEREUM, name: 'First' }, SOLANA], mnemonicLength: 24 },
      result: { walletId: anId, addresses: [anEthereumAddress, aSolanaAddress] },
      holds: async (reader) => {
        const [wallet, ...more] = await wallets(reader);
        expect(more).toEqual([]);
        const times = { createdAt: TIMESTAMP, updatedAt: TIMESTAMP };
        expect(wallet).toEqual({ walletId: anId, walletName: 'New', exported: false, imported: false, ...times });
        const { walletId } = wallet;
        const shape = { walletAccountId: anId, organizationId: reader.organizationId, walletId, ...times };
        expect(await accounts(reader)).toEqual([
          {
            ...shape,
            ...ETHEREUM,
            name: 'First',
            address: anEthereumAddress,
            publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
            caip2Prefix: 'eip155',
          },
          {
            ...shape,
            ...SOLANA,
            address: aSolanaAddress,
            publicKey: expect.stringMatching(/^[0-9a-f]{64}$/),
            caip2Prefix: 'solana',
          },
        ]);
      },
      absent: async (reader) => expect(await wallets(reader)).toEqual([]),
    }),
  },
  update_wallet: {
    intentKey: 'updateWalletIntent',
    resultKey: 'updateWalletResult',
    arrange: async ({ root }) => {
      const { walletId } = await newWallet(root);
      const name = async (reader: TestClient) => (await wallets(reader))[0].walletName;
      return {
        parameters: { walletId, walletName: 'Renamed' },
        result: { walletId },
        holds: async (reader) => expect(await name(reader)).toBe('Renamed'),
        absent: async (reader) => expect(await name(reader)).not.toBe('Renamed'),
      };
    },
    foreign: async (_world, other) => notFound({ ...(await onlyWallet(other)), walletName: 'Renamed' }),
  },
  delete_wallets: {
    intentKey: 'deleteWalletsIntent',
    resultKey: 'deleteWalletsResult',
    arrange: async ({ root }) => {
      const { walletId } = await newWallet(root);
      const kept = await newWallet(root);
      return {
        parameters: { walletIds: [walletId], deleteWithoutExport: true },
        result: { walletIds: [walletId] },
        holds: async (reader) => {
          expect(await statusOf('get_wallet', { walletId })(reader)).toBe(404);
          expect(await accounts(reader)).toMatchObject([{ address: kept.address }]);
        },
        absent: async (reader) => {
          expect(await statusOf('get_wallet', { walletId })(reader)).toBe(200);
          expect(await accounts(reader)).toHaveLength(2);
        },
      };
    },
    foreign: async ({ root }, other) => {
      const walletIds = [(await newWallet(root)).walletId, (await newWallet(other.root)).walletId];
      return notFound({ walletIds, deleteWithoutExport: true });
    },
  },
  create_wallet_accounts: {
    intentKey: 'createWalletAccountsIntent',
    resultKey: 'createWalletAccountsResult',
    arrange: async ({ root }) => {
      const { walletId } = await newWallet(root);
      return {
        parameters: { walletId, accounts: [SOLANA] },
        result: { addresses: [aSolanaAddress] },
        holds: async (reader) => expect(await accounts(reader)).toMatchObject([ETHEREUM, { ...SOLANA, walletId }]),
        absent: async (reader) => expect(await accounts(reader)).toMatchObject([ETHEREUM]),
      };
    },
    foreign: async (_world, other) => notFound({ ...(await onlyWallet(other)), accounts: [SOLANA] }),
  },
  delete_wallet_accounts: {
    intentKey: 'deleteWalletAccountsIntent',
    resultKey: 'deleteWalletAccountsResult',
    arrange: async ({ root }) => {
      const { walletId, walletAccountId, address } = await newWallet(root);
      return {
        parameters: { walletAccountIds: [walletAccountId], deleteWithoutExport: true },
        result: { walletAccountIds: [walletAccountId] },
        ...deleted(statusOf('get_wallet_account', { walletId, address })),
      };
    },
    foreign: async ({ root }, other) => {
      const walletAccountIds = [(await newWallet(root)).walletAccountId, (await newWallet(other.root)).walletAccountId];
      return notFound({ walletAccountIds, deleteWithoutExport: true });
    },
  },
  export_wallet: {
    intentKey: 'exportWalletIntent',
    resultKey: 'exportWalletResult',
    arrange: async ({ root }) => {
      const { walletId } = await newWallet(root);
      const receiver = new Receiver();
      const isMnemonic = (plaintext: Buffer) => /^[a-z]+( [a-z]+){11}$/.test(plaintext.toString());
      const exported = async (reader: TestClient) => (await wallets(reader))[0].exported;
      return {
        parameters: { walletId, targetPublicKey: receiver.publicKey },
        result: { walletId, exportBundle: opensTo(receiver, root, isMnemonic) },
        holds: async (reader) => expect(await exported(reader)).toBe(true),
        absent: async (reader) => expect(await exported(reader)).toBe(false),
      };
    },
    foreign: async (_world, other) =>
      notFound({ ...(await onlyWallet(other)), targetPublicKey: new Receiver().publicKey }),
  },
  export_wallet_account: {
    intentKey: 'exportWalletAccountIntent',
    resultKey: 'exportWalletAccountResult',
    arrange: async ({ root }) => {
      const { address, publicKey } = await newWallet(root);
      const receiver = new Receiver();
      const isUnmarked = async (reader: TestClient) =>
        expect(await wallets(reader)).toMatchObject([{ exported: false }]);
      return {
        parameters: { address, targetPublicKey: receiver.publicKey },
        result: { address, exportBundle: opensTo(receiver, root, isKeyOf(publicKey)) },
        // The mark of an account shows only when it is deleted; its wallet stays unmarked (protocol/wallets 5.2).
        holds: isUnmarked,
        absent: isUnmarked,
      };
    },
    foreign: async (_world, other) => {
      const { address } = await newWallet(other.root);
      return notFound({ address, targetPublicKey: new Receiver().publicKey });
    },
  },
  init_import_wallet: initImport('wallet', 'Wallet'),
  import_wallet: {
    isForProposer: true,
    intentKey: 'importWalletIntent',
    resultKey: 'importWalletResult',
    arrange: async ({ root }) => {
      const encryptedBundle = encryptTo(await newImportTarget(root, 'wallet'), KNOWN_WALLET.mnemonic);
      return {
        parameters: { userId: root.userId, walletName: 'Imported', encryptedBundle, accounts: [ETHEREUM] },
        result: { walletId: anId, addresses: [KNOWN_WALLET.address] },
        holds: async (reader) => {
          expect(await wallets(reader)).toMatchObject([{ walletName: 'Imported', exported: false, imported: true }]);
          expect(await accounts(reader)).toMatchObject([{ ...ETHEREUM, address: KNOWN_WALLET.address }]);
        },
        absent: async (reader) => expect(await wallets(reader)).toEqual([]),
      };
    },
    foreign: async ({ root }, other) => {
      const encryptedBundle = encryptTo(await newImportTarget(root, 'wallet'), KNOWN_WALLET.mnemonic);
      const parameters = { userId: other.root.userId, walletName: 'x', encryptedBundle, accounts: [] };
      return { parameters, status: 403, code: 'REQUEST_NOT_AUTHORIZED' };
    },
  },
  create_private_keys: {
    intentKey: 'createPrivateKeysIntentV2',
    resultKey: 'createPrivateKeysResultV2',
    arrange: async ({ root }) => {
      const tagId = await newKeyTag(root);
      const addresses = [
        { format: 'ADDRESS_FORMAT_ETHEREUM', address: anEthereumAddress },
        { format: 'ADDRESS_FORMAT_COMPRESSED', address: expect.stringMatching(/^0[23][0-9a-f]{64}$/) },
      ];
      const key = { privateKeyName: 'New', curve: 'CURVE_SECP256K1', privateKeyTags: [tagId] };
      return {
        parameters: { privateKeys: [{ ...key, addressFormats: addresses.map(({ format }) => format) }] },
        result: { privateKeys: [{ privateKeyId: anId, addresses }] },
        holds: async (reader) => {
          const [found, ...more] = await privateKeys(reader);
          expect(more).toEqual([]);
          expect(found).toEqual({
            ...key,
            privateKeyId: anId,
            publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
            addresses: expect.any(Array),
            exported: false,
            imported: false,
            createdAt: TIMESTAMP,
            updatedAt: TIMESTAMP,
          });
          expect(found.addresses).toEqual(addresses);
        },
        absent: async (reader) => expect(await privateKeys(reader)).toEqual([]),
      };
    },
    legacy: {
      ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: {
        intentKey: 'createPrivateKeysIntent',
        resultKey: 'createPrivateKeysResult',
        arrange: async () => ({
          parameters: {
            privateKeys: [{ privateKeyName: 'Old', curve: 'CURVE_ED25519', privateKeyTags: [], addressFormats: [] }],
          },
          result: { privateKeyIds: [anId] },
          holds: async (reader) => expect(await privateKeys(reader)).toMatchObject([{ privateKeyName: 'Old' }]),
          absent: async (reader) => expect(await privateKeys(reader)).toEqual([]),
        }),
      },
    },
    foreign: async (_world, other) => {
      const key = { privateKeyName: 'x', curve: 'CURVE_P256', privateKeyTags: [await newKeyTag(other.root)] };
      return notFound({ privateKeys: [{ ...key, addressFormats: [] }] });
    },
  },
  delete_private_keys: {
    intentKey: 'deletePrivateKeysIntent',
    resultKey: 'deletePrivateKeysResult',
    arrange: async ({ root }) => {
      const privateKeyId = await newPrivateKey(root);
      return {
        parameters: { privateKeyIds: [privateKeyId], deleteWithoutExport: true },
        result: { privateKeyIds: [privateKeyId] },
        ...deleted(statusOf('get_private_key', { privateKeyId })),
      };
    },
    foreign: async ({ root }, other) => {
      const privateKeyIds = [await newPrivateKey(root), await newPrivateKey(other.root)];
      return notFound({ privateKeyIds, deleteWithoutExport: true });
    },
  },
  export_private_key: {
    intentKey: 'exportPrivateKeyIntent',
    resultKey: 'exportPrivateKeyResult',
    arrange: async ({ root }) => {
      const privateKeyId = await newPrivateKey(root);
      const [{ publicKey }] = await privateKeys(root);
      const receiver = new Receiver();
      const exported = async (reader: TestClient) => (await privateKeys(reader))[0].exported;
      return {
        parameters: { privateKeyId, targetPublicKey: receiver.publicKey },
        result: { privateKeyId, exportBundle: opensTo(receiver, root, isKeyOf(publicKey)) },
        holds: async (reader) => expect(await exported(reader)).toBe(true),
        absent: async (reader) => expect(await exported(reader)).toBe(false),
      };
    },
    foreign: async (_world, other) => {
      const privateKeyId = await newPrivateKey(other.root);
      return notFound({ privateKeyId, targetPublicKey: new Receiver().publicKey });
    },
  },
  init_import_private_key: initImport('private_key', 'PrivateKey'),
  import_private_key: {
    isForProposer: true,
    intentKey: 'importPrivateKeyIntent',
    resultKey: 'importPrivateKeyResult',
    arrange: async ({ root }) => {
      const key = secp256k1.utils.randomSecretKey();
      const publicKey = Buffer.from(secp256k1.getPublicKey(key)).toString('hex');
      const addresses = [{ format: 'ADDRESS_FORMAT_COMPRESSED', address: publicKey }];
      return {
        parameters: {
          userId: root.userId,
          privateKeyName: 'Imported',
          encryptedBundle: encryptTo(await newImportTarget(root, 'private_key'), key),
          curve: 'CURVE_SECP256K1',
          addressFormats: ['ADDRESS_FORMAT_COMPRESSED'],
        },
        result: { privateKeyId: anId, addresses },
        holds: async (reader) =>
          expect(await privateKeys(reader)).toMatchObject([
            { privateKeyName: 'Imported', publicKey, addresses, exported: false, imported: true },
          ]),
        absent: async (reader) => expect(await privateKeys(reader)).toEqual([]),
      };
    },
    foreign: async ({ root }, other) => {
      const encryptedBundle = encryptTo(await newImportTarget(root, 'private_key'), randomBytes(32));
      const key = { privateKeyName: 'x', curve: 'CURVE_ED25519', addressFormats: [] };
      const parameters = { userId: other.root.userId, encryptedBundle, ...key };
      return { parameters, status: 403, code: 'REQUEST_NOT_AUTHORIZED' };
    },
  },
  create_private_key_tag: {
    intentKey: 'createPrivateKeyTagIntent',
    resultKey: 'createPrivateKeyTagResult',
    arrange: async ({ root }) => {
      const privateKeyId = await newPrivateKey(root);
      return {
        parameters: { privateKeyTagName: 'New', privateKeyIds: [privateKeyId] },
        result: { privateKeyTagId: anId, privateKeyIds: [privateKeyId] },
        holds: async (reader) => {
          const [tag] = await keyTags(reader);
          const shape = { tagId: anId, tagName: 'New', tagType: 'TAG_TYPE_PRIVATE_KEY' };
          expect(tag).toEqual({ ...shape, createdAt: TIMESTAMP, updatedAt: TIMESTAMP });
          expect(await tagsOf(reader, privateKeyId)).toEqual([tag.tagId]);
        },
        absent: async (reader) => expect(await keyTags(reader)).toEqual([]),
      };
    },
    foreign: async ({ root }, other) =>
      notFound({
        privateKeyTagName: 'x',
        privateKeyIds: [await newPrivateKey(root), await newPrivateKey(other.root)],
      }),
  },
  update_private_key_tag: {
    intentKey: 'updatePrivateKeyTagIntent',
    resultKey: 'updatePrivateKeyTagResult',
    arrange: async ({ root }) => {
      const [before, after] = [await newPrivateKey(root), await newPrivateKey(root)];
      const privateKeyTagId = await newKeyTag(root, [before]);
      return {
        parameters: {
          privateKeyTagId,
          newPrivateKeyTagName: 'New',
          addPrivateKeyIds: [after],
          removePrivateKeyIds: [before],
        },
        result: { privateKeyTagId },
        holds: async (reader) => {
          expect((await keyTags(reader))[0].tagName).toBe('New');
          expect(await tagsOf(reader, before)).toEqual([]);
          expect(await tagsOf(reader, after)).toEqual([privateKeyTagId]);
        },
        absent: async (reader) => {
          expect((await keyTags(reader))[0].tagName).not.toBe('New');
          expect(await tagsOf(reader, before)).toEqual([privateKeyTagId]);
        },
      };
    },
    foreign: async ({ root }, other) => {
      // A tag of users is not one of private keys.
      const { userTagId } = await root.run('create_user_tag', { userTagName: randomUUID(), userIds: [] });
      const none = { addPrivateKeyIds: [], removePrivateKeyIds: [] };
      expect((await root.submit('update_private_key_tag', { privateKeyTagId: userTagId, ...none })).status).toBe(404);
      const addPrivateKeyIds = [await newPrivateKey(other.root)];
      return notFound({ ...none, privateKeyTagId: await newKeyTag(root), addPrivateKeyIds });
    },
  },
  delete_private_key_tags: {
    intentKey: 'deletePrivateKeyTagsIntent',
    resultKey: 'deletePrivateKeyTagsResult',
    arrange: async ({ root }) => {
      const privateKeyId = await newPrivateKey(root);
      const privateKeyTagId = await newKeyTag(root, [privateKeyId]);
      return {
        parameters: { privateKeyTagIds: [privateKeyTagId] },
        result: { privateKeyTagIds: [privateKeyTagId], privateKeyIds: [privateKeyId] },
        holds: async (reader) => {
          expect(await keyTags(reader)).toEqual([]);
          expect(await tagsOf(reader, privateKeyId)).toEqual([]);
        },
        absent: async (reader) => expect(await tagsOf(reader, privateKeyId)).toEqual([privateKeyTagId]),
      };
    },
    foreign: async ({ root }, other) =>
      notFound({ privateKeyTagIds: [await newKeyTag(root), await newKeyTag(other.root)] }),
  },
  init_import_secrets: {
    intentKey: 'initImportSecretsIntent',
    resultKey: 'initImportSecretsResult',
    arrange: async ({ root }) => {
      const aTarget = expect.toSatisfy((bundle: string) => {
        const { organizationId, targetPublic = '', ...more } = readSigned(bundle);
        const isPoint = /^04[0-9a-f]{128}$/.test(targetPublic);
        return isPoint && organizationId === root.organizationId && Object.keys(more).length === 0;
      }, 'a target of this organization');
      return {
        parameters: { encryptionSuite: SUITE, numSecrets: 2 },
        result: { enclaveTargetMessages: [aTarget, aTarget] },
        holds: nothing,
        absent: nothing,
      };
    },
  },
  import_secrets: {
    intentKey: 'importSecretsIntent',
    resultKey: 'importSecretsResult',
    arrange: async ({ root }) => {
      const params = (await newSecretTargets(root, 2)).map((target) => secretParams(target, 'the secret'));
      const stored = params.map(({ name, staticProperties }) => ({
        secretId: anId,
        name,
        staticProperties,
        createdAtUnixMs: expect.stringMatching(/^\d{13}$/),
      }));
      return {
        parameters: { secrets: params },
        result: { secretIds: [anId, anId] },
        holds: async (reader) => expect(await secrets(reader)).toEqual([...stored].reverse()),
        absent: async (reader) => expect(await secrets(reader)).toEqual([]),
      };
    },
    foreign: async ({ root }, other) => {
      await newSecretTargets(root);
      const [target = ''] = await newSecretTargets(other.root);
      const parameters = { secrets: [secretParams(target, 'x')] };
      return { parameters, status: 400, code: 'FAILED_PRECONDITION' };
    },
  },
  export_secrets: {
    intentKey: 'exportSecretsIntent',
    resultKey: 'exportSecretsResult',
    arrange: async ({ root }) => {
      const secretId = await newSecret(root, 'the secret');
      const receiver = new Receiver();
      return {
        parameters: { secrets: [{ secretId, targetPublicKey: receiver.publicKey, encryptionSuite: SUITE }] },
        result: { secretPayloads: [opensTo(receiver, root, (plaintext) => plaintext.toString() === 'the secret')] },
        holds: nothing,
        absent: nothing,
      };
    },
    foreign: async ({ root }, other) => {
      const to = { targetPublicKey: new Receiver().publicKey, encryptionSuite: SUITE };
      const ids = [await newSecret(root, 'mine'), await newSecret(other.root, 'theirs')];
      return notFound({ secrets: ids.map((secretId) => ({ secretId, ...to })) });
    },
  },
  delete_secrets: {
    intentKey: 'deleteSecretsIntent',
    resultKey: 'deleteSecretsResult',
    arrange: async ({ root }) => {
      const secretId = await newSecret(root, 'the secret');
      return {
        parameters: { secretIds: [secretId] },
        result: { secretIds: [secretId] },
        holds: async (reader) => expect(await secrets(reader)).toEqual([]),
        absent: async (reader) => expect(await secrets(reader)).toMatchObject([{ secretId }]),
      };
    },
    foreign: async ({ root }, other) =>
      notFound({ secretIds: [await newSecret(root, 'mine'), await newSecret(other.root, 'theirs')] }),
  },
  sign_raw_payload: {
    intentKey: 'signRawPayloadIntentV2',
    resultKey: 'signRawPayloadResult',
    arrange: signRaw('signWith'),
    legacy: {
      ACTIVITY_TYPE_SIGN_RAW_PAYLOAD: {
        intentKey: 'signRawPayloadIntent',
        resultKey: 'signRawPayloadResult',
        arrange: signRaw('privateKeyId'),
      },
    },
    foreign: foreignSigner({ ...asHex, payload: PAYLOADS[0] }),
  },
  sign_raw_payloads: {
    intentKey: 'signRawPayloadsIntent',
    resultKey: 'signRawPayloadsResult',
    arrange: signed('signWith', { ...asHex, payloads: PAYLOADS }, (publicKey) => ({
      signatures: PAYLOADS.map((payload) => aSignatureBy(publicKey, digestOf(payload))),
    })),
    foreign: foreignSigner({ ...asHex, payloads: PAYLOADS }),
  },
  sign_transaction: {
    intentKey: 'signTransactionIntentV2',
    resultKey: 'signTransactionResult',
    arrange: signTransaction('signWith'),
    legacy: {
      ACTIVITY_TYPE_SIGN_TRANSACTION: {
        intentKey: 'signTransactionIntent',
        resultKey: 'signTransactionResult',
        arrange: signTransaction('privateKeyId'),
      },
    },
    foreign: foreignSigner({ type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: TRANSACTION }),
  },
};

const withId =
  (name: string, id: (world: World) => Promise<string>) =>
  async (world: World): Promise<Record<string, unknown>> => ({ [name]: await id(world) });

async function onlyWallet({ root }: World): Promise<{ walletId: string }> {
  return { walletId: (await newWallet(root)).walletId };
}

const WALLET = {
  walletId: anId,
  walletName: expect.stringMatching(/^Wallet /),
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
  exported: false,
  imported: false,
};
const account = (organizationId: string) => ({
  ...ETHEREUM,
  walletAccountId: anId,
  organizationId,
  walletId: anId,
  address: anEthereumAddress,
  publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
  caip2Prefix: 'eip155',
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
});
const PRIVATE_KEY = {
  privateKeyId: anId,
  publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
  privateKeyName: expect.stringMatching(/^Key /),
  curve: 'CURVE_SECP256K1',
  addresses: [{ format: 'ADDRESS_FORMAT_ETHEREUM', address: anEthereumAddress }],
  privateKeyTags: [],
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
  exported: false,
  imported: false,
};
const EMPTY_PAGE = { ...PAGE_INFO, startCursor: '', endCursor: '' };

export const WALLET_QUERIES: Readonly<Record<string, QueryCase>> = {
  get_wallet: { parameters: onlyWallet, answer: () => ({ wallet: WALLET }) },
  list_wallets: { answer: () => ({ wallets: [], pageInfo: EMPTY_PAGE }) },
  get_wallet_account: {
    parameters: async (world) => ({ ...(await onlyWallet(world)), path: ETHEREUM.path }),
    answer: ({ root }) => ({ account: account(root.organizationId) }),
  },
  list_wallet_accounts: {
    parameters: async (world) => ({ ...(await onlyWallet(world)), includeWalletDetails: true }),
    answer: ({ root }) => ({
      accounts: [{ ...account(root.organizationId), walletDetails: WALLET }],
      pageInfo: PAGE_INFO,
    }),
  },
  get_private_key: {
    parameters: withId('privateKeyId', ({ root }) => newPrivateKey(root)),
    answer: () => ({ privateKey: PRIVATE_KEY }),
  },
  list_private_keys: { answer: () => ({ privateKeys: [], pageInfo: EMPTY_PAGE }) },
  list_private_key_tags: { answer: () => ({ privateKeyTags: [], pageInfo: EMPTY_PAGE }) },
  list_secrets: { answer: () => ({ secrets: [], pageInfo: EMPTY_PAGE }) },
  get_activity_votes: {
    parameters: withId('activityId', async ({ root }) => {
      const wallet = { walletName: 'Voted', accounts: [ETHEREUM] };
      return (await root.submit('create_wallet', wallet)).body.activity.id;
    }),
    answer: () => ({
      votes: [
        expect.objectContaining({
          selection: 'VOTE_SELECTION_APPROVED',
          message: expect.stringContaining('ACTIVITY_TYPE_CREATE_WALLET'),
          publicKey: expect.stringMatching(/^0[23][0-9a-f]{64}$/),
          signature: expect.stringMatching(/^30[0-9a-f]+$/),
          scheme: 'SIGNATURE_SCHEME_TK_API_P256',
        }),
      ],
      pageInfo: PAGE_INFO,
    }),
  },
  list_app_proofs: {
    parameters: withId('activityId', async ({ root }) => {
      const wallet = { walletName: 'Proven', accounts: [ETHEREUM] };
      return (await root.submit('create_wallet', wallet, { generateAppProofs: true })).body.activity.id;
    }),
    answer: () => ({
      appProofs: ['APP_PROOF_TYPE_POLICY_OUTCOME', 'APP_PROOF_TYPE_ADDRESS_DERIVATION'].map((type) => ({
        scheme: 'SIGNATURE_SCHEME_EPHEMERAL_KEY_P256',
        publicKey: expect.stringMatching(/^(?:04[0-9a-f]{128}){2}$/),
        proofPayload: expect.stringContaining(`"type":"${type}"`),
        signature: expect.stringMatching(/^[0-9a-f]{128}$/),
      })),
      pageInfo: PAGE_INFO,
    }),
  },
};
