import { encodeFunctionResult, parseAbi } from 'viem';
import { describe, expect, test } from 'vitest';
import type { CallResult, EvmBlock, EvmNode } from '../../chains/nodes/node.ts';
import { NodeError } from '../../chains/nodes/node-error.ts';
import { createGrowth, sharesOf } from './growth.ts';

const VAULT = `0x${'11'.repeat(20)}`;
const DAY = 86_400;
const HEIGHT = 100_000n;
const START = 1_700_000_000;
const SHARES = sharesOf(18);
const abi = parseAbi(['function convertToAssets(uint256) view returns (uint256)']);

const blockAt = (number: bigint, timestamp: number): EvmBlock => ({
  number,
  timestamp,
  hash: `0x${'00'.repeat(32)}`,
  parentHash: `0x${'00'.repeat(32)}`,
  baseFeePerGas: undefined,
  transactions: [],
});
const answer = (price: bigint): CallResult => ({
  ok: true,
  data: encodeFunctionResult({ abi, functionName: 'convertToAssets', result: price }),
});

/** A chain with a block every 12 seconds whose past is what `past` says. */
function chain(past: (at: bigint) => CallResult | Promise<CallResult>) {
  const calls: bigint[] = [];
  const node = {
    chain: { caip2: 'eip155:1' },
    block: async (number: bigint) => blockAt(number, START - Number(HEIGHT - number) * 12),
    call: async (_call: unknown, at: bigint) => {
      calls.push(at);
      return await past(at);
    },
  } as unknown as EvmNode;
  return { node, calls };
}

const refuses = (): CallResult => ({ ok: false, message: 'execution reverted', data: undefined });

describe('the pace of a price', () => {
  test('is learnt from the chain of a day ago', async () => {
    const { node, calls } = chain(() => answer(1_000_000n));
    const rate = await createGrowth(() => 0).rateOf(node, blockAt(HEIGHT, START), VAULT, 1_000_100n, SHARES);
    const seconds = Number(HEIGHT - (calls[0] as bigint)) * 12;
    expect(seconds).toBeGreaterThan(DAY * 0.9);
    expect(seconds).toBeLessThanOrEqual(DAY);
    expect(rate).toBeCloseTo(1.0001 ** ((365 * DAY) / seconds) - 1, 10);
  });

  test('is learnt by and by where the chain does not tell, from a minute on', async () => {
    const { node } = chain(refuses);
    const growth = createGrowth(() => 0);
    const rateAt = (seconds: number, price: bigint) =>
      growth.rateOf(node, blockAt(HEIGHT, START + seconds), VAULT, price, SHARES);
    expect(await rateAt(0, 1_000_000n)).toBeUndefined();
    expect(await rateAt(59, 1_000_100n)).toBeUndefined();
    expect(await rateAt(DAY / 2, 1_000_100n)).toBeCloseTo(1.0001 ** 730 - 1, 10);
    // The longest window of at most a day: by now the first price is too old.
    expect(await rateAt(DAY + 1, 1_000_200n)).toBeCloseTo(
      (1_000_200 / 1_000_100) ** ((365 * DAY) / (DAY / 2 + 1)) - 1,
      8,
    );
  });

  test('of a loss is below zero, and of nothing unknown', async () => {
    const { node } = chain(() => answer(1_000_000n));
    const latest = blockAt(HEIGHT, START);
    expect(await createGrowth(() => 0).rateOf(node, latest, VAULT, 999_900n, SHARES)).toBeLessThan(-0.03);
    const empty = chain(() => answer(0n));
    expect(await createGrowth(() => 0).rateOf(empty.node, latest, VAULT, 1n, SHARES)).toBeUndefined();
  });

  test('is not learnt from a block of the future', async () => {
    const { node } = chain(refuses);
    const growth = createGrowth(() => 0);
    await growth.rateOf(node, blockAt(HEIGHT, START + 10_000), VAULT, 1_000_000n, SHARES);
    expect(await growth.rateOf(node, blockAt(HEIGHT, START), VAULT, 2_000_000n, SHARES)).toBeUndefined();
  });

  test('a node without the past is asked for it once an hour, for all vaults', async () => {
    let nowMs = 0;
    const { node, calls } = chain(() => Promise.reject(new NodeError('unavailable', 'missing trie node')));
    const growth = createGrowth(() => nowMs);
    const ask = (height: bigint, ...digits: string[]) =>
      Promise.all(
        digits.map((digit) => growth.rateOf(node, blockAt(height, START), VAULT.replaceAll('1', digit), 1n, SHARES)),
      );
    await ask(HEIGHT, '1', '2', '3');
    await ask(HEIGHT + 1n, '4');
    expect(calls).toHaveLength(1);
    nowMs = 3_600_000;
    await ask(HEIGHT + 300n, '1', '2');
    expect(calls).toHaveLength(2);
  });
});
