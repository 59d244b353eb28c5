import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, test } from 'vitest';
import {
  CHAINS,
  describeRequest,
  interfaceOf,
  STRANGER,
  SUPPLIER,
  type Told,
  TREASURY,
  USDC,
} from '../../test/fixtures/sentences.ts';
import { type EthereumTransaction, serializeEthereumTransaction } from '../chains/ethereum/transaction.ts';

// Batches that an account runs by calling itself (protocol/activities 8.5).

const ETHER = 10n ** 18n;
const ABI = parseAbi(['struct Call { address to; uint256 value; bytes data; }', 'function run(Call[] calls)']);
type Call = { readonly to: string; readonly value?: bigint; readonly data?: Hex };

const run = (calls: readonly Call[]): Hex =>
  encodeFunctionData({
    abi: ABI,
    args: [calls.map(({ to, value = 0n, data = '0x' }) => ({ to: to as Hex, value, data }))],
  });
const sign = (fields: Partial<EthereumTransaction>, told?: Told) =>
  describeRequest(
    'ACTIVITY_TYPE_SIGN_TRANSACTION_V2',
    {
      signWith: TREASURY,
      type: 'TRANSACTION_TYPE_ETHEREUM',
      unsignedTransaction: serializeEthereumTransaction({
        ...{ type: 'TYPE_2', chainId: 1n, nonce: 7n, to: TREASURY, value: 0n, data: '0x', selector: '' },
        ...{ gas: 65_000n, gasPrice: 10n ** 9n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 1n },
        ...{ maxFeePerBlobGas: 0n, accessList: [], blobVersionedHashes: [], authorizationList: [] },
        ...fields,
      }),
    },
    told,
  );
const plain = (text: string): string => text.replaceAll('\u00a0', ' ');
const times = <Item>(length: number, item: Item): readonly Item[] => new Array<Item>(length).fill(item);

describe('a batch that is not read', () => {
  const nested = run(times(40, { to: TREASURY, data: run(times(40, { to: SUPPLIER, value: 1n })) }));

  test('for it has too many calls stays one call, whatever it is called', () => {
    const calls = {
      name: 'calls',
      type: 'tuple[]',
      components: [
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'data', type: 'bytes' },
      ],
    };
    const upload = interfaceOf(TREASURY, 'Tidy up', [{ name: 'run', inputs: [calls] }]);
    for (const told of [sign({ data: nested }), sign({ data: nested }, { known: { contractInterface: upload } })]) {
      expect(told.steps).toEqual([]);
      expect(told.recipients).toEqual([]);
      expect(told.risk).toBe('UNREADABLE');
      expect(told.marks).toContainEqual({
        risk: 'UNREADABLE',
        text: expect.stringContaining('has more than 1000 calls'),
      });
    }
  });

  test('for it is empty stays the call that it is', () => {
    const told = sign({ data: run([]), value: 5n * ETHER });
    expect(told.risk).toBe('UNREADABLE');
    expect(plain(told.text)).toMatch(/^Sign a call of Treasury from Treasury on Ethereum, with 5 ETH for it/);
    expect(sign({ data: run([{ to: STRANGER, value: 1n }]) }).text).toMatch(/^Send /);
  });
});

describe('many payments', () => {
  const word = (value: bigint | string): string =>
    (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');
  const coins = (value: bigint): Call => ({ to: SUPPLIER, value });
  const tokens = (value: bigint): Call => ({ to: USDC, data: `0xa9059cbb${word(SUPPLIER)}${word(value)}` });

  test('are told with their sum where the sentence leaves any out', () => {
    const four = sign({ data: run(times(4, coins(ETHER))) });
    expect(four.text).not.toContain('in all');
    const told = sign({
      data: run([...times(5, coins(ETHER)), coins(1_000n * ETHER), tokens(7_500_000n), tokens(1n)]),
    });
    expect(told.risk).toBe('ROUTINE');
    expect(plain(told.text)).toMatch(
      /; 4\. send 1 ETH to Northwind GmbH; and 4 more; in all 1,005 ETH and 7\.500001 USDC\.$/,
    );
  });

  test('of which some are not told cannot be read', () => {
    const told = sign({ data: run([...times(250, coins(1n)), ...times(50, coins(1_000n * ETHER))]) });
    expect(told.risk).toBe('UNREADABLE');
    expect(told.steps).toHaveLength(200);
    expect(told.marks).toContainEqual({ risk: 'UNREADABLE', text: '100 of 300 steps are not told here' });
    expect(told.consequence).toContain('Not everything');
    expect(plain(told.text)).toContain('in all 50,000.00000000000000025 ETH');
    expect(sign({ data: run(times(200, coins(1n))) }).risk).toBe('ROUTINE');
  });

  test('have their amounts among the fields', () => {
    const amounts = (told: ReturnType<typeof sign>) =>
      told.fields
        .filter(({ label }) => label.endsWith('Amount'))
        .map(({ label, value, kind }) => `${label} ${kind} ${plain(value.map(({ text }) => text).join(''))}`);
    expect(amounts(sign({ to: SUPPLIER, value: 3n * ETHER }))).toEqual(['Amount AMOUNT 3 ETH']);
    expect(amounts(sign({ data: run([coins(ETHER), tokens(5_000_000n)]) }))).toEqual([
      '1. Amount AMOUNT 1 ETH',
      '2. Amount AMOUNT 5 USDC',
    ]);
  });
});

test('an authorization beside a call leaves the worst consequence of both', async () => {
  const key = privateKeyToAccount(`0x${'11'.repeat(32)}`);
  const address = key.address.toLowerCase();
  const batchContract = STRANGER as Hex;
  const [ethereum] = CHAINS.values();
  const chains = new Map([['eip155:1', { ...ethereum, batchContract } as NonNullable<typeof ethereum>]]);
  const signed = await key.signAuthorization({ address: batchContract, chainId: 1, nonce: 8 });
  const entry = {
    ...{ chainId: 1n, address: batchContract, nonce: 8n },
    ...{ yParity: BigInt(signed.yParity ?? 0), r: BigInt(signed.r), s: BigInt(signed.s) },
  };
  const told = (fields: Partial<EthereumTransaction>) =>
    sign(
      { type: 'TYPE_4', authorizationList: [entry], ...fields },
      {
        chains,
        known: {
          signer: {
            [address]: { name: 'Treasury' } as never,
            [TREASURY]: {
              ...{ name: 'Treasury', address, curve: 'CURVE_SECP256K1', addressFormat: 'ADDRESS_FORMAT_ETHEREUM' },
              publicKey: key.publicKey.slice(2),
            },
          },
        },
      },
    );
  const blind = told({ to: SUPPLIER, data: '0xdeadbeef' });
  expect(blind.risk).toBe('UNREADABLE');
  expect(blind.consequence).toContain('Nobody here can say what this call does');
  const paid = told({ to: SUPPLIER, value: 1n });
  expect(paid.risk).toBe('LOOK_CLOSELY');
  expect(paid.consequence).toContain('the code of the configured batch contract');
  expect(paid.text).toContain('borrow the code of CustosBatch');
  expect(paid.fields).toContainEqual(
    expect.objectContaining({ label: 'Code 1', note: 'borrowed on Ethereum, at nonce 8 of Treasury' }),
  );
  const many = told({ to: SUPPLIER, value: 1n, authorizationList: [...times(100, { ...entry, s: 0n }), entry] });
  expect(many.marks).toContainEqual({ risk: 'UNREADABLE', text: 'more than 100 authorizations' });
});
