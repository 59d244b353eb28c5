import { TxEnvelopeTempo } from 'ox/tempo';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { parseTempoTransaction } from '../tempo/transaction.ts';
import type { ParsedTransaction } from '../transactions.ts';
import { assetMovements, batchedCalls } from '../transactions.ts';
import { custosBatchAbi } from './contract-artifacts.ts';

const ABI = parseAbi(['struct Call { address to; uint256 value; bytes data; }', 'function run(Call[] calls)']);
const SELF = `0x${'11'.repeat(20)}` as const;
const OTHER = `0x${'22'.repeat(20)}` as const;

type Call = { to: Hex; value: bigint; data: Hex };
const run = (...calls: Call[]): Hex => encodeFunctionData({ abi: ABI, args: [calls] });
const pay = (value: bigint, data: Hex = '0x'): Call => ({ to: OTHER, value, data });
const parsed = (data: Hex, to: string = SELF): ParsedTransaction => ({
  type: 'TRANSACTION_TYPE_ETHEREUM',
  from: SELF,
  transaction: {
    ...{ type: 'TYPE_2', chainId: 1n, nonce: 0n, to, value: 0n, data, selector: data.slice(0, 10), gas: 0n },
    ...{ gasPrice: 0n, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n, maxFeePerBlobGas: 0n },
    ...{ accessList: [], blobVersionedHashes: [], authorizationList: [] },
  },
});

describe('a batch that an account runs itself', () => {
  test('shows every call in it, also of batches inside', () => {
    const nested = run(pay(1n, '0xa9059cbb00'), { to: SELF, value: 0n, data: run(pay(2n)) });
    const calls = batchedCalls(parsed(nested));
    expect(calls).toMatchObject([
      { from: SELF, transaction: { to: OTHER, value: 1n, data: '0xa9059cbb00', selector: '0xa9059cbb' } },
      { transaction: { to: SELF } },
      { transaction: { to: OTHER, value: 2n, selector: '' } },
    ]);
    expect(assetMovements(parsed(nested)).transfers.map(({ amount }) => amount)).toEqual([1n, 2n]);
  });

  test('may be signed, or stand in a transaction of Tempo', () => {
    const signed = encodeFunctionData({
      abi: custosBatchAbi,
      functionName: 'runSigned',
      args: [1n, 2n, [pay(3n)], '0x'],
    });
    expect(batchedCalls(parsed(signed))).toMatchObject([{ transaction: { to: OTHER, value: 3n } }]);
    const calls = [
      { to: OTHER, data: '0x01' },
      { to: SELF, data: run(pay(1n, '0xa9059cbb00'), { to: SELF, value: 0n, data: run(pay(2n)) }) },
    ] as const;
    const tempo: ParsedTransaction = {
      type: 'TRANSACTION_TYPE_TEMPO',
      from: SELF,
      transaction: parseTempoTransaction(
        TxEnvelopeTempo.serialize(TxEnvelopeTempo.from({ chainId: 1, calls, gas: 1n, maxFeePerGas: 1n, nonce: 0n })),
      ),
    };
    expect(batchedCalls(tempo)).toMatchObject([
      { transaction: { calls: [{ to: OTHER, value: 1n, input: '0xa9059cbb00', selector: '0xa9059cbb' }] } },
      { transaction: { calls: [{ to: SELF }] } },
      { transaction: { calls: [{ to: OTHER, value: 2n }] } },
    ]);
    expect(assetMovements(tempo).transfers.map(({ amount }) => amount)).toEqual([1n, 2n]);
    expect(assetMovements(tempo).uncounted.map(({ name }) => name)).toEqual([
      `the call 0x01 of ${OTHER}`,
      `the call 0xa9059cbb of ${OTHER}`,
    ]);
  });

  test('is one only where the account calls itself', () => {
    expect(batchedCalls(parsed(run(pay(1n)), OTHER))).toEqual([]);
    expect(batchedCalls(parsed('0x12345678'))).toEqual([]);
    expect(batchedCalls(parsed('0x'))).toEqual([]);
  });

  test('is refused where it cannot be read', () => {
    const whole = run(pay(1n));
    expect(batchedCalls(parsed(whole))).toHaveLength(1);
    const refusal = expect.objectContaining({ code: 'INVALID_TRANSACTION' });
    expect(() => batchedCalls(parsed(whole.slice(0, 80) as Hex))).toThrow(refusal);
    let deep = whole;
    for (let depth = 0; depth < 5; depth += 1) deep = run({ to: SELF, value: 0n, data: deep });
    expect(() => batchedCalls(parsed(deep))).toThrow(refusal);
  });
});
