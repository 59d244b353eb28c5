import { TxEnvelopeTempo } from 'ox/tempo';
import { encodeFunctionData, type Hex, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import { parseTempoTransaction } from '../tempo/transaction.ts';
import type { ParsedTransaction } from '../transactions.ts';
import { assetMovements, batchedCalls, needsOwnContracts } from '../transactions.ts';
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
  test('has its calls counted over all batches of a transaction', () => {
    const tooMany = expect.objectContaining({
      code: 'INVALID_TRANSACTION',
      message: expect.stringContaining('has more than 1000 calls'),
    });
    const own = (data: Hex): Call => ({ to: SELF, value: 0n, data });
    const of = (length: number, call: Call): Hex => run(...new Array<Call>(length).fill(call));
    expect(batchedCalls(parsed(of(1000, pay(1n))))).toHaveLength(1000);
    // 20 batches and 980 calls in them, and one more.
    const full = of(20, own(of(49, pay(1n))));
    expect(batchedCalls(parsed(full))).toHaveLength(1000);
    const over = of(20, own(of(50, pay(1n))));
    for (const read of [batchedCalls, assetMovements, needsOwnContracts]) {
      expect(() => read(parsed(over))).toThrow(tooMany);
    }
    const tempo = (...batches: readonly Hex[]): ParsedTransaction => ({
      type: 'TRANSACTION_TYPE_TEMPO',
      from: SELF,
      transaction: parseTempoTransaction(
        TxEnvelopeTempo.serialize(
          TxEnvelopeTempo.from({
            ...{ chainId: 1, gas: 1n, maxFeePerGas: 1n, nonce: 0n },
            calls: batches.map((data) => ({ to: SELF, data })),
          }),
        ),
      ),
    });
    const half = of(500, pay(1n));
    expect(batchedCalls(tempo(half, half))).toHaveLength(1000);
    for (const read of [batchedCalls, assetMovements, needsOwnContracts]) {
      expect(() => read(tempo(half, half, run(pay(1n))))).toThrow(tooMany);
    }
  });

  test('is refused where its calls share their bytes, which makes many of few', () => {
    const word = (value: number): string => value.toString(16).padStart(64, '0');
    /** `run` of so many offsets that all point at one call of the account itself. */
    const shared = (length: number, data: string): Hex => {
      const bytes = data.slice(2);
      const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0');
      const tuple = `${SELF.slice(2).padStart(64, '0')}${word(0)}${word(96)}${word(bytes.length / 2)}${padded}`;
      return `${run().slice(0, 10) as Hex}${word(32)}${word(length)}${word(length * 32).repeat(length)}${tuple}`;
    };
    expect(batchedCalls(parsed(shared(1, '0x')))).toHaveLength(1);
    for (const length of [2, 30, 150]) {
      expect(() => batchedCalls(parsed(shared(length, '0x')))).toThrow('cannot be read');
      expect(() => assetMovements(parsed(shared(length, shared(length, '0x'))))).toThrow('cannot be read');
    }
  });
});
