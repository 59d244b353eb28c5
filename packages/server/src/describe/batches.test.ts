import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import {
  describeRequest,
  interfaceOf,
  STRANGER,
  SUPPLIER,
  type Told,
  TREASURY,
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
