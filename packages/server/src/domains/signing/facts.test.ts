import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58 } from '@scure/base';
import { p2pkh, p2wpkh, Transaction } from '@scure/btc-signer';
import { TxEnvelopeTempo } from 'ox/tempo';
import { encodeFunctionData, erc20Abi, type Hex, serializeTransaction } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NOW, organization, Place } from '../../../test/storage/place.ts';
import { createInterfaceCache } from '../../chains/contract-interface.ts';
import { OrganizationStore } from '../../core/store/organizations.ts';
import type { ActivityOperation, FactsContext, Movements } from '../../engine/define.ts';
import { randomId } from '../../lib/ids.ts';
import type { Namespaces } from '../../policy/index.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ReadStores } from '../../storage/stores.ts';
import { ContractInterfaceStore } from '../policies/store/contract-interfaces.ts';
import type { PrivateKey, Wallet, WalletAccount } from '../wallets/model.ts';
import { PrivateKeyStore } from '../wallets/store/private-keys.ts';
import { WalletStore } from '../wallets/store/wallets.ts';
import { signRawPayload } from './operations/sign-raw-payload.ts';
import { signRawPayloads } from './operations/sign-raw-payloads.ts';
import { signTransaction } from './operations/sign-transaction.ts';

const SECRET = new Uint8Array(32).fill(0x11);
const publicKey = secp256k1.getPublicKey(SECRET, true);
const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const ETHEREUM = privateKeyToAccount(`0x${hexOf(SECRET)}`).address;
const SOLANA = base58.encode(new Uint8Array(32).fill(1));
const PROGRAM = base58.encode(new Uint8Array(32).fill(9));
const TOKEN = `0x${'ab'.repeat(20)}` as const;
const TO = `0x${'cd'.repeat(20)}` as const;
const TIMES = { createdAtMs: NOW, updatedAtMs: NOW };

const home = organization();
const stranger = organization();
const wallet: Wallet = {
  id: randomId(),
  name: 'Treasury',
  sealedSeed: Uint8Array.of(1),
  exported: false,
  imported: true,
  ...TIMES,
};
const accountOf = (extra: Partial<WalletAccount>): WalletAccount => ({
  id: randomId(),
  walletId: wallet.id,
  name: undefined,
  curve: 'CURVE_SECP256K1',
  path: "m/44'/60'/0'/0/7",
  pathKey: "m/44'/60'/0'/0/7",
  addressFormat: 'ADDRESS_FORMAT_ETHEREUM',
  address: ETHEREUM,
  publicKey: hexOf(publicKey),
  exported: false,
  ...TIMES,
  ...extra,
});
const account = accountOf({});
const solanaAccount = accountOf({
  curve: 'CURVE_ED25519',
  path: "m/44'/501'/0",
  pathKey: "m/44'/501'/0'",
  addressFormat: 'ADDRESS_FORMAT_SOLANA',
  address: SOLANA,
  publicKey: '01'.repeat(32),
});
const key: PrivateKey = {
  id: randomId(),
  name: 'Hot',
  curve: 'CURVE_SECP256K1',
  publicKey: hexOf(publicKey),
  sealedKey: Uint8Array.of(2),
  addresses: [
    { format: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2PKH', address: p2pkh(publicKey).address ?? '' },
    { format: 'ADDRESS_FORMAT_BITCOIN_MAINNET_P2WPKH', address: p2wpkh(publicKey).address ?? '' },
  ],
  tagIds: [randomId()],
  exported: true,
  imported: false,
  ...TIMES,
};
const walletShown = { id: wallet.id, imported: true, exported: false, label: 'Treasury' };
const signedByAccount: Namespaces = {
  wallet: walletShown,
  wallet_account: {
    address: ETHEREUM,
    path_indexes: [44n, 60n, 0n, 0n, 7n],
    path_hardened: [true, true, true, false, false],
  },
};
const signedByKey: Namespaces = {
  private_key: { id: key.id, tags: key.tagIds, imported: false, exported: true, label: 'Hot' },
};

let place: Place;
let storage: Storage;

beforeAll(async () => {
  place = await Place.create('sqlite');
  storage = await place.open();
  const interfaceOf = (address: string, type: 'ETHEREUM' | 'SOLANA', definition: unknown) => ({
    id: randomId<'contract-interface'>(),
    type: `SMART_CONTRACT_INTERFACE_TYPE_${type}` as const,
    address,
    definition: JSON.stringify(definition),
    label: 'contract',
    notes: '',
    ...TIMES,
  });
  const idl = { types: [], instructions: [{ name: 'ping', discriminator: [7], accounts: [], args: [] }] };
  await storage.write(async (store) => {
    for (const one of [home, stranger]) await store(OrganizationStore).insert(one);
    await store(WalletStore).insert(home.id, wallet);
    await store(WalletStore).insertAccounts(home.id, [account, solanaAccount]);
    await store(PrivateKeyStore).insert(home.id, [key]);
    // Spelled as its owner likes; addresses of Ethereum are the same in any case.
    await store(ContractInterfaceStore).insert(
      home.id,
      interfaceOf(TOKEN.toUpperCase().replace('X', 'x'), 'ETHEREUM', erc20Abi),
    );
    await store(ContractInterfaceStore).insert(home.id, interfaceOf(PROGRAM, 'SOLANA', idl));
    await store(ContractInterfaceStore).insert(stranger.id, interfaceOf(TO, 'ETHEREUM', erc20Abi));
  });
});
afterAll(() => place[Symbol.asyncDispose]());

const contextOf = (): FactsContext => {
  const actor = { organization: home, organizationId: home.id };
  return {
    read: storage.read,
    actor,
    config: { chains: new Map() },
    interfaces: createInterfaceCache(),
  } as unknown as FactsContext;
};

interface Told {
  readonly elements: readonly Namespaces[];
  readonly movements: Movements | undefined;
}

async function tell(operation: ActivityOperation, sent: unknown, version = 0): Promise<Told> {
  const parameters = operation.versions[version]?.decode(sent);
  const described = await operation.describe?.(contextOf(), parameters);
  const movements = await operation.movements?.(contextOf(), parameters, described);
  return { elements: (await operation.facts?.(contextOf(), parameters, described)) ?? [], movements };
}

const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [TO, 9n] });
const ethereum = (to: Hex = TOKEN, data: Hex = transfer): string =>
  serializeTransaction({ type: 'eip1559', chainId: 10, nonce: 3, to, value: 5n, data, gas: 21_000n });
const sign = (signWith: string, type: string, unsignedTransaction: string) =>
  tell(signTransaction, { signWith, type: `TRANSACTION_TYPE_${type}`, unsignedTransaction });

describe('sign_transaction', () => {
  const call = {
    from: ETHEREUM.toLowerCase(),
    to: TOKEN,
    data: transfer,
    value: 5n,
    gas: 21_000n,
    gas_price: 0n,
    chain_id: 10n,
    nonce: 3n,
    max_fee_per_gas: 0n,
    max_priority_fee_per_gas: 0n,
    max_fee_per_blob_gas: 0n,
    type: 'TYPE_2',
    function_name: 'transfer',
    function_signature: '0xa9059cbb',
    contract_call_args: new Map<string, unknown>([
      ['recipient', { kind: 'hex', text: TO }],
      ['amount', { kind: 'uint', value: 9n }],
    ]),
  };
  const moved = [
    { chain: 'eip155', chainReference: '10', kind: 'slip44', assetReference: '60', amount: 5n },
    { chain: 'eip155', chainReference: '10', kind: 'erc20', assetReference: TOKEN, amount: 9n },
  ];

  test.each([
    ['its address', ETHEREUM],
    ['its address in another case', ETHEREUM.toLowerCase()],
    ['its id', account.id],
  ])('by a wallet account, named by %s', async (_by, signWith) => {
    const { elements, movements } = await sign(signWith, 'ETHEREUM', ethereum());
    expect(elements).toEqual([{ eth: { tx: call }, ...signedByAccount }]);
    expect(movements).toEqual({ walletId: wallet.id, transfers: moved, uncounted: [], fees: [] });
  });

  test('by a private key, in both versions', async () => {
    const movements = { transfers: moved, uncounted: [], fees: [] };
    const told = { elements: [{ eth: { tx: call }, ...signedByKey }], movements };
    expect(await sign(key.id, 'ETHEREUM', ethereum())).toEqual(told);
    const sent = { privateKeyId: key.id, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: ethereum() };
    expect(await tell(signTransaction, sent, 1)).toEqual(told);
  });

  test('the interface of another organization tells nothing', async () => {
    const { elements } = await sign(ETHEREUM, 'ETHEREUM', ethereum(TO));
    expect(elements[0]?.eth?.tx).toMatchObject({ to: TO, function_name: '', function_signature: '' });
    expect(elements[0]?.eth?.tx).not.toHaveProperty('contract_call_args');
  });

  test('of Solana, with the interface of a program', async () => {
    const receiver = new Uint8Array(32).fill(2);
    const keys = [...base58.decode(SOLANA), ...receiver, ...base58.decode(PROGRAM), ...new Uint8Array(32)];
    const ping = [2, 0, 1, 7];
    const pay = [3, 2, 0, 1, 12, 2, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0];
    const bytes = Uint8Array.of(1, 0, 2, 4, ...keys, ...new Uint8Array(32).fill(8), 2, ...ping, ...pay);
    const { elements, movements } = await sign(SOLANA, 'SOLANA', hexOf(bytes));
    const [element] = elements;
    expect(elements).toHaveLength(1);
    expect(element?.solana?.tx?.instructions[0]?.parsed_instruction_data).toMatchObject({ instruction_name: 'ping' });
    expect(element?.solana?.tx?.transfers).toEqual([{ from: SOLANA, to: base58.encode(receiver), amount: 6n }]);
    expect(element?.wallet_account).toEqual({
      address: SOLANA,
      path_indexes: [44n, 501n, 0n],
      path_hardened: [true, true, true],
    });
    expect(movements?.transfers).toMatchObject([{ chain: 'solana', kind: 'slip44', amount: 6n }]);
  });

  test('of Bitcoin, by a key whose second address owns the input', async () => {
    const tx = new Transaction();
    tx.addInput({ txid: '22'.repeat(32), index: 0, witnessUtxo: { script: p2wpkh(publicKey).script, amount: 100n } });
    const other = p2wpkh(secp256k1.getPublicKey(new Uint8Array(32).fill(0x22), true));
    tx.addOutput({ script: other.script, amount: 70n });
    tx.addOutput({ script: p2pkh(publicKey).script, amount: 20n });
    const { elements, movements } = await sign(key.id, 'BITCOIN', hexOf(tx.toPSBT(0)));
    expect(elements).toMatchObject([{ ...signedByKey, bitcoin: { tx: { fee: 10n } } }]);
    expect(elements[0]?.bitcoin?.tx?.outputs.map(({ address }) => address)).toEqual([
      other.address,
      p2pkh(publicKey).address,
    ]);
    // Only what goes to the address that signs comes back.
    expect(movements).toMatchObject({ walletId: undefined, transfers: [{ chain: 'bip122', amount: 100n }] });
  });

  test('of Tron', async () => {
    const sized = (hex: string) => (hex.length / 2).toString(16).padStart(2, '0') + hex;
    const owner = `41${ETHEREUM.slice(2).toLowerCase()}`;
    const raw = (type: string, name: string, value: string) => {
      const url = Buffer.from(`type.googleapis.com/protocol.${name}`).toString('hex');
      const contract = `08${type}12${sized(`0a${sized(url)}12${sized(value)}`)}`;
      return `0a0202a22208e216e254e43ee10840015a${sized(contract)}7001`;
    };
    const transfer = raw('01', 'TransferContract', `0a15${owner}121541${'ab'.repeat(20)}1807`);
    const { elements, movements } = await sign(ETHEREUM, 'TRON', transfer);
    expect(elements).toMatchObject([{ ...signedByAccount, tron: { tx: { contract: [{ amount: 7n }] } } }]);
    expect(movements?.transfers).toMatchObject([{ chain: 'tron', kind: 'slip44', amount: 7n }]);
    // Nobody is asked about what no policy could judge.
    await expect(sign(ETHEREUM, 'TRON', raw('0d', 'WithdrawBalanceContract', `0a15${owner}`))).rejects.toMatchObject({
      code: 'INVALID_TRANSACTION',
      message: expect.stringContaining('WithdrawBalanceContract'),
    });
  });

  test('of Tempo', async () => {
    const calls = [{ to: TOKEN, data: transfer }];
    const envelope = TxEnvelopeTempo.from({ chainId: 10, calls, gas: 1n, maxFeePerGas: 1n, nonce: 0n });
    const { elements, movements } = await sign(ETHEREUM, 'TEMPO', TxEnvelopeTempo.serialize(envelope));
    expect(elements).toMatchObject([
      { ...signedByAccount, tempo: { tx: { calls: [{ to: TOKEN, input: transfer }] } } },
    ]);
    expect(movements?.transfers).toMatchObject([{ kind: 'erc20', amount: 9n }]);
  });
});

describe('raw payloads', () => {
  const document = (value: number) =>
    JSON.stringify({
      types: { Pay: [{ name: 'value', type: 'uint256' }] },
      primaryType: 'Pay',
      domain: {},
      message: { value },
    });
  const typed = (value: bigint) => ({
    eth: { eip_712: { primary_type: 'Pay', domain: {}, message: new Map([['value', { kind: 'uint', value }]]) } },
    ...signedByAccount,
  });
  const eip712 = { signWith: ETHEREUM, encoding: 'PAYLOAD_ENCODING_EIP712', hashFunction: 'HASH_FUNCTION_NO_OP' };
  const movements = {
    walletId: wallet.id,
    transfers: [],
    uncounted: [{ name: 'the typed data', certainty: 'unknown', reach: [] }],
  };

  test('typed data has a meaning, and each of several its own element', async () => {
    expect(await tell(signRawPayload, { ...eip712, payload: document(5) })).toEqual({
      elements: [typed(5n)],
      movements,
    });
    const payloads = [document(5), document(6)];
    const elements = [typed(5n), typed(6n)];
    expect(await tell(signRawPayloads, { ...eip712, payloads })).toEqual({ elements, movements });
  });

  test('so has an authorization', async () => {
    const authorization = { chainId: 10, address: TO, nonce: 3 };
    const encoding = 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION';
    const payloads = [JSON.stringify(authorization), JSON.stringify({ ...authorization, nonce: 4 })];
    const { elements, movements } = await tell(signRawPayloads, { ...eip712, encoding, payloads });
    const reach = [{ chain: 'eip155', chainReference: '10' }];
    const given = { name: 'the EIP-7702 authorization', certainty: 'known', reach };
    expect(movements?.uncounted).toEqual([given, given]);
    expect(elements).toEqual(
      [3n, 4n].map((nonce) => ({
        eth: { eip_7702_authorization: { address: TO, chain_id: 10n, nonce } },
        ...signedByAccount,
      })),
    );
  });

  test.each(['HEXADECIMAL', 'TEXT_UTF8'])('%s is opaque, so one element stands for all', async (name) => {
    const sent = { signWith: key.id, encoding: `PAYLOAD_ENCODING_${name}`, hashFunction: 'HASH_FUNCTION_SHA256' };
    const uncounted = [{ name: 'the raw payload', certainty: 'unknown', reach: [] }];
    const told = { elements: [signedByKey], movements: { walletId: undefined, transfers: [], uncounted } };
    expect(await tell(signRawPayload, { ...sent, payload: 'ab' })).toEqual(told);
    expect(await tell(signRawPayloads, { ...sent, payloads: ['ab', 'cd'] })).toEqual(told);
    const { signWith: privateKeyId, ...rest } = sent;
    expect(await tell(signRawPayload, { ...rest, privateKeyId, payload: 'ab' }, 1)).toEqual(told);
  });
});

test('until somebody judges, the signer is all that is read', async () => {
  const reads: string[] = [];
  const read = ((reader: abstract new () => object) =>
    new Proxy(storage.read(reader), {
      get: (target, member) => {
        reads.push(`${reader.name}.${String(member)}`);
        const value: unknown = Reflect.get(target, member);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    })) as ReadStores;
  const context = { ...contextOf(), read } as unknown as FactsContext;
  const parameters = { signWith: ETHEREUM, type: 'TRANSACTION_TYPE_ETHEREUM', unsignedTransaction: ethereum() };
  const described = await signTransaction.describe?.(context, parameters);
  expect(reads).toEqual(['SignerReader.find']);
  // A limit on amounts needs the transaction and nothing more.
  await signTransaction.movements?.(context, parameters, described);
  expect(reads).toEqual(['SignerReader.find']);
  const { transaction } = described as { transaction: () => unknown };
  expect(transaction()).toBe(transaction());
  await signTransaction.facts?.(context, parameters, described);
  expect(reads.slice(1)).toEqual(['ContractInterfaceReader.ofAddresses']);
});

test('the facts are those of the wallet that was found, and one that is gone is not found again', async () => {
  const gone: Wallet = { ...wallet, id: randomId(), name: 'Gone' };
  const last = accountOf({ walletId: gone.id, address: TO });
  await storage.write(async (store) => {
    await store(WalletStore).insert(home.id, gone);
    await store(WalletStore).insertAccounts(home.id, [last]);
  });
  const parameters = {
    signWith: TO,
    payload: 'ab',
    encoding: 'PAYLOAD_ENCODING_HEXADECIMAL',
    hashFunction: 'HASH_FUNCTION_SHA256',
  };
  const described = await signRawPayload.describe?.(contextOf(), parameters);
  await storage.write((store) => store(WalletStore).delete(home.id, [gone.id]));
  expect(await signRawPayload.facts?.(contextOf(), parameters, described)).toMatchObject([
    { wallet: { label: 'Gone' } },
  ]);
  await expect(signRawPayload.describe?.(contextOf(), parameters)).rejects.toMatchObject({
    code: 'RESOURCE_NOT_FOUND',
  });
});
