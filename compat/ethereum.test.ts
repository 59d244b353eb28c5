// @turnkey/viem and @turnkey/ethers sign through the running service. What they bring back verifies with viem and ethers,
// and equals, byte for byte, what these libraries sign themselves with the same key.
import { ApiKeyStamper } from '@turnkey/api-key-stamper';
import { TurnkeySigner } from '@turnkey/ethers';
import { TurnkeyClient } from '@turnkey/http';
import { defaultEthereumAccountAtIndex, type TurnkeyApiClient } from '@turnkey/sdk-server';
import {
  createAccount,
  createAccountWithAddress,
  createApiKeyAccount,
  isTurnkeyActivityConsensusNeededError,
  TurnkeyActivityError,
  TurnkeyConsensusNeededError,
} from '@turnkey/viem';
import { HDNodeWallet, Transaction, verifyMessage as verifyMessageWithEthers, verifyTypedData } from 'ethers';
import {
  type Address,
  type BaseError,
  createWalletClient,
  custom,
  getTypesForEIP712Domain,
  type Hex,
  keccak256,
  type LocalAccount,
  parseGwei,
  parseTransaction,
  recoverAddress,
  recoverMessageAddress,
  recoverTransactionAddress,
  recoverTypedDataAddress,
  type TransactionSerializable,
  toHex,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { Account as TempoAccount, Transaction as TempoTransaction } from 'viem/tempo';
import { verifyAuthorization } from 'viem/utils';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { connect, fresh, importMnemonic, openCouncil } from './sdk.ts';

const PHRASE = 'test test test test test test test test test test test junk';
const RECEIVER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const STORAGE_KEY = `0x${'01'.repeat(32)}` as Hex;

const common = { chainId: 1, nonce: 7, gas: 90_000n, to: RECEIVER, value: 10n ** 18n, data: '0xdeadbeef' } as const;
const fees = { maxFeePerGas: parseGwei('30'), maxPriorityFeePerGas: parseGwei('2') };
const accessList = [{ address: RECEIVER, storageKeys: [STORAGE_KEY] }] as const;

const TRANSFER = { ...common, ...fees, type: 'eip1559' } as const;
const TRANSACTIONS: readonly [string, TransactionSerializable][] = [
  ['legacy without a chain', { ...common, chainId: undefined, type: 'legacy', gasPrice: parseGwei('20') }],
  ['legacy', { ...common, type: 'legacy', gasPrice: parseGwei('20') }],
  ['legacy on a chain with a large id', { ...common, chainId: 11_155_111, type: 'legacy', gasPrice: 1n }],
  ['EIP-2930', { ...common, type: 'eip2930', gasPrice: parseGwei('20'), accessList }],
  ['EIP-1559', { ...common, ...fees, type: 'eip1559', accessList }],
  ['EIP-1559 with nothing but a chain', { chainId: 137, type: 'eip1559' }],
  ['EIP-1559 that creates a contract', { ...common, ...fees, to: null, type: 'eip1559', data: '0x6000' }],
  [
    'EIP-4844 without blobs',
    { ...common, ...fees, type: 'eip4844', maxFeePerBlobGas: 3n, blobVersionedHashes: [`0x01${'ab'.repeat(31)}`] },
  ],
];

const TYPED_DATA = {
  domain: { name: 'Ether Mail', version: '1', chainId: 1, verifyingContract: RECEIVER },
  types: {
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallets', type: 'address[]' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person[]' },
      { name: 'amount', type: 'uint256' },
      { name: 'delta', type: 'int64' },
      { name: 'digest', type: 'bytes32' },
      { name: 'attachment', type: 'bytes' },
      { name: 'urgent', type: 'bool' },
    ],
  },
  primaryType: 'Mail',
  message: {
    from: { name: 'Zoë', wallets: [RECEIVER] },
    to: [{ name: 'Bob', wallets: [] }],
    amount: 2n ** 255n + 1n,
    delta: -5n,
    digest: STORAGE_KEY,
    attachment: '0x0102',
    urgent: true,
  },
} as const;
const ETHERS_TYPES = TYPED_DATA.types as unknown as Record<string, { name: string; type: string }[]>;

let service: TestServer;
let root: TurnkeyApiClient;
let http: TurnkeyClient;
let organizationId: string;
/** The same key in the hands of viem and ethers. */
const local = mnemonicToAccount(PHRASE);
const localWallet = HDNodeWallet.fromPhrase(PHRASE);
const { address } = local;

beforeAll(async () => {
  service = await TestServer.start();
  const { apiPublicKey, apiPrivateKey } = service.credentials;
  ({ organizationId } = service.credentials);
  root = connect(service.baseUrl, service.credentials);
  http = new TurnkeyClient({ baseUrl: service.baseUrl }, new ApiKeyStamper({ apiPublicKey, apiPrivateKey }));
  const { addresses } = await importMnemonic(service.baseUrl, root, PHRASE, {
    walletName: fresh('known'),
    accounts: [defaultEthereumAccountAtIndex(0)],
  });
  expect(addresses).toEqual([address]);
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const newPrivateKey = async () => {
  const { privateKeys } = await root.createPrivateKeys({
    privateKeys: [
      {
        privateKeyName: fresh('key'),
        curve: 'CURVE_SECP256K1',
        addressFormats: ['ADDRESS_FORMAT_ETHEREUM'],
        privateKeyTags: [],
      },
    ],
  });
  return {
    privateKeyId: privateKeys[0]?.privateKeyId as string,
    address: privateKeys[0]?.addresses?.[0]?.address as Address,
  };
};

/** Two of three must agree on what this organization signs. */
const openTreasury = async () => {
  const { id, members } = await openCouncil(service.baseUrl, root, 2);
  const [first, second] = members as [TurnkeyApiClient, TurnkeyApiClient];
  const asked = await first.createWallet({ walletName: 'treasury', accounts: [defaultEthereumAccountAtIndex(0)] });
  await second.approveActivity({ fingerprint: asked.activity.fingerprint });
  const { activity } = await first.getActivity({ activityId: asked.activity.id });
  return { id, first, second, signWith: activity.result.createWalletResult?.addresses[0] as Address };
};

async function failure(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => {
      throw new Error('it was signed');
    },
    (error: unknown) => error,
  );
}

describe.each([
  ['the server SDK', () => root],
  ['the HTTP client', () => http],
] as const)('@turnkey/viem over %s', (_, client) => {
  let account: LocalAccount;

  beforeAll(async () => {
    // The signer's types name another version of the HTTP client.
    account = await createAccount({ client: client() as typeof root, organizationId, signWith: address });
    expect(account.address).toBe(address);
  });

  test.each([
    ['text', 'Zoë says hello'],
    ['empty', ''],
    ['bytes', { raw: '0x00ff' }],
  ] as const)('a message: %s', async (_name, message) => {
    const signature = await account.signMessage({ message });
    expect(await recoverMessageAddress({ message, signature })).toBe(address);
    expect(signature).toBe(await local.signMessage({ message }));
  });

  test('a hash', async () => {
    const hash = keccak256('0x1234');
    const signature = (await account.sign?.({ hash })) as Hex;
    expect(await recoverAddress({ hash, signature })).toBe(address);
    expect(signature).toBe(await local.sign({ hash }));
  });

  test('typed data', async () => {
    // A wallet client writes the type of the domain, which an account wants to be told.
    const wallet = createWalletClient({ account, transport: custom({ request: async () => undefined }) });
    const signature = await wallet.signTypedData(TYPED_DATA);
    expect(await recoverTypedDataAddress({ ...TYPED_DATA, signature })).toBe(address);
    expect(signature).toBe(await local.signTypedData(TYPED_DATA));
    const EIP712Domain = getTypesForEIP712Domain({ domain: TYPED_DATA.domain });
    const complete = { ...TYPED_DATA, types: { ...TYPED_DATA.types, EIP712Domain } };
    expect(await account.signTypedData(complete as typeof TYPED_DATA)).toBe(signature);
  });

  test('an authorization, and the transaction that carries it', async () => {
    const request = { contractAddress: RECEIVER, chainId: 1, nonce: 3 } as const;
    const authorization = await account.signAuthorization?.(request);
    if (authorization === undefined) throw new Error('the account signs no authorizations');
    expect(await verifyAuthorization({ address, authorization })).toBe(true);
    const { r, s, yParity } = (await local.signAuthorization?.(request)) ?? {};
    expect(authorization).toMatchObject({ address: RECEIVER, chainId: 1, nonce: 3, r, s, yParity });
    const transaction = { ...common, ...fees, type: 'eip7702', authorizationList: [authorization] } as const;
    const serializedTransaction = (await account.signTransaction(transaction)) as `0x04${string}`;
    expect(await recoverTransactionAddress({ serializedTransaction })).toBe(address);
    expect(serializedTransaction).toBe(await local.signTransaction(transaction));
    const { authorizationList } = parseTransaction(serializedTransaction);
    expect(authorizationList).toMatchObject([{ address: RECEIVER.toLowerCase(), chainId: 1, nonce: 3 }]);
  });

  test.each(TRANSACTIONS)('a transaction: %s', async (_name, transaction) => {
    const serializedTransaction = await account.signTransaction(transaction);
    const recovered = await recoverTransactionAddress({
      serializedTransaction: serializedTransaction as `0x02${string}`,
    });
    expect(recovered).toBe(address);
    expect(serializedTransaction).toBe(await local.signTransaction(transaction));
  });
});

describe('@turnkey/viem', () => {
  test('a private key by its id', async () => {
    const key = await newPrivateKey();
    const accounts = [
      await createAccount({ client: root, organizationId, signWith: key.privateKeyId }),
      createAccountWithAddress({
        client: root,
        organizationId,
        signWith: key.privateKeyId,
        ethereumAddress: key.address,
      }),
      await createApiKeyAccount({
        ...service.credentials,
        baseUrl: service.baseUrl,
        privateKeyId: key.privateKeyId,
      }),
    ];
    for (const account of accounts) {
      expect(account.address).toBe(key.address);
      const signature = await account.signMessage({ message: 'mine' });
      expect(await recoverMessageAddress({ message: 'mine', signature })).toBe(key.address);
      const serializedTransaction = (await account.signTransaction(TRANSFER)) as `0x02${string}`;
      expect(await recoverTransactionAddress({ serializedTransaction })).toBe(key.address);
    }
  });

  test('a Tempo transaction', async () => {
    const transaction = {
      type: 'tempo',
      chainId: 42_431,
      nonce: 3,
      nonceKey: 1n,
      gas: 100_000n,
      ...fees,
      feeToken: '0x20c0000000000000000000000000000000000001',
      calls: [
        { to: RECEIVER, data: '0xdeadbeef' },
        { to: RECEIVER, value: 5n },
      ],
    } as const;
    const account = await createAccount({ client: root, organizationId, signWith: address });
    const serializer = TempoTransaction.serialize as never;
    const signed = await account.signTransaction(transaction as never, { serializer });
    const key = toHex(local.getHdKey().privateKey as Uint8Array);
    expect(signed).toBe(await TempoAccount.fromSecp256k1(key).signTransaction(transaction));
    expect(TempoTransaction.deserialize(signed as `0x76${string}`)).toMatchObject({
      from: address.toLowerCase(),
      nonceKey: 1n,
    });
  });

  test('an account that is not there', async () => {
    const stranger = createAccountWithAddress({ client: root, organizationId, signWith: RECEIVER });
    const error = await failure(stranger.signMessage({ message: 'nobody' }));
    expect(error).toBeInstanceOf(TurnkeyActivityError);
    expect((error as Error).message).toContain('Failed to sign: Turnkey error 5: signWith is not an address');
  });

  test('a quorum that has not agreed yet', async () => {
    const { id, first, second, signWith } = await openTreasury();
    const account = await createAccount({ client: first, organizationId: id, signWith });
    for (const work of [() => account.signMessage({ message: 'spend' }), () => account.signTransaction(TRANSFER)]) {
      const error = await failure(work());
      expect(error).toBeInstanceOf(TurnkeyConsensusNeededError);
      expect(isTurnkeyActivityConsensusNeededError(error as BaseError)).toBeTruthy();
      const { activityId, activityStatus } = error as TurnkeyConsensusNeededError;
      expect(activityStatus).toBe('ACTIVITY_STATUS_CONSENSUS_NEEDED');
      const { activity } = await first.getActivity({ activityId: activityId as string });
      await second.approveActivity({ fingerprint: activity.fingerprint });
      const { activity: decided } = await first.getActivity({ activityId: activityId as string });
      expect(decided.status).toBe('ACTIVITY_STATUS_COMPLETED');
      const signed = decided.result.signTransactionResult?.signedTransaction;
      if (signed === undefined) continue;
      expect(await recoverTransactionAddress({ serializedTransaction: `0x02${signed.slice(2)}` })).toBe(signWith);
    }
  });
});

describe.each([
  ['the server SDK', () => root],
  ['the HTTP client', () => http],
] as const)('@turnkey/ethers over %s', (_, client) => {
  let signer: TurnkeySigner;

  beforeAll(async () => {
    // The package is typed against an older client than the one that is used here.
    signer = new TurnkeySigner({ client: client() as never, organizationId, signWith: address });
    expect(await signer.getAddress()).toBe(address);
  });

  test.each([
    ['text', 'Zoë says hello'],
    ['bytes', new Uint8Array([0, 255])],
  ])('a message: %s', async (_name, message) => {
    const signature = await signer.signMessage(message);
    expect(verifyMessageWithEthers(message, signature)).toBe(address);
    expect(signature).toBe(await localWallet.signMessage(message));
  });

  test('typed data', async () => {
    const { domain, message } = TYPED_DATA;
    const signature = await signer.signTypedData(domain, ETHERS_TYPES, message);
    expect(verifyTypedData(domain, ETHERS_TYPES, message, signature)).toBe(address);
    expect(signature).toBe(await localWallet.signTypedData(domain, ETHERS_TYPES, message));
  });

  const gasPrice = 20n * 10n ** 9n;
  const base = { chainId: 1, nonce: 7, gasLimit: 90_000n, to: RECEIVER, value: 1n, data: '0xdeadbeef' };
  const list = [{ address: RECEIVER, storageKeys: [STORAGE_KEY as string] }];
  test.each([
    ['legacy', { ...base, type: 0, gasPrice }],
    ['legacy without a chain', { ...base, chainId: 0, type: 0, gasPrice }],
    ['EIP-2930', { ...base, type: 1, gasPrice, accessList: list }],
    ['EIP-1559', { ...base, ...fees, type: 2, accessList: list }],
    [
      'EIP-4844 without blobs',
      { ...base, ...fees, type: 3, maxFeePerBlobGas: 3n, blobVersionedHashes: [`0x01${'ab'.repeat(31)}`] },
    ],
  ])('a transaction: %s', async (_name, transaction) => {
    const signed = await signer.signTransaction({ ...transaction, from: address });
    expect(Transaction.from(signed)).toMatchObject({ from: address, type: transaction.type });
    expect(signed).toBe(await localWallet.signTransaction(transaction));
  });

  test('a transaction with an authorization', async () => {
    const authorization = await localWallet.authorize({ address: RECEIVER, chainId: 1, nonce: 3 });
    const transaction = { ...base, ...fees, type: 4, authorizationList: [authorization] };
    const signed = await signer.signTransaction({ ...transaction });
    expect(Transaction.from(signed)).toMatchObject({ from: address, type: 4 });
    expect(signed).toBe(await localWallet.signTransaction(transaction));
  });
});

describe('@turnkey/ethers', () => {
  test('a private key by its id', async () => {
    const key = await newPrivateKey();
    const signer = new TurnkeySigner({ client: root, organizationId, signWith: key.privateKeyId });
    expect(await signer.getAddress()).toBe(key.address);
    expect(verifyMessageWithEthers('mine', await signer.signMessage('mine'))).toBe(key.address);
  });

  test('an account that is not there, and a quorum that has not agreed yet', async () => {
    const stranger = new TurnkeySigner({ client: root, organizationId, signWith: RECEIVER });
    expect(await failure(stranger.signMessage('nobody'))).toMatchObject({
      name: 'TurnkeyActivityError',
      message: expect.stringContaining('Failed to sign: Turnkey error 5: signWith is not an address'),
    });
    const { id, first, signWith } = await openTreasury();
    const signer = new TurnkeySigner({ client: first, organizationId: id, signWith });
    expect(await failure(signer.signMessage('spend'))).toMatchObject({
      name: 'TurnkeyActivityConsensusNeededError',
      activityStatus: 'ACTIVITY_STATUS_CONSENSUS_NEEDED',
    });
  });
});
