import { toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import type { EvmLog, EvmLogFilter, EvmNode, Hex } from '../../chains/nodes/node.ts';
import { NodeError } from '../../chains/nodes/node-error.ts';
import type { ContractReader } from './contract-reader.ts';
import { createFactoryScans, makerOf } from './factory-scan.ts';

const address = (digit: string): Hex => `0x${digit.repeat(40)}`;
const topic = (value: Hex): Hex => `0x${value.slice(2).padStart(64, '0')}`;
const FACTORY = address('f');
const ASSET = address('a');
const CREATE_V1 = toEventSelector('CreateMetaMorpho(address,address,address,uint256,address,string,string,bytes32)');
const CREATE_V2 = toEventSelector('CreateVaultV2(address,address,bytes32,address)');

interface Made {
  readonly vault: Hex;
  readonly block: bigint;
  readonly event?: Hex;
  readonly asset?: Hex;
  readonly topics?: readonly Hex[];
}

function topicsOf({ vault, event = CREATE_V1, asset = ASSET, topics }: Made): readonly Hex[] {
  if (topics !== undefined) return topics;
  return event === CREATE_V1
    ? [event, topic(vault), topic(address('c')), topic(asset)]
    : [event, topic(address('c')), topic(asset), topic(vault)];
}

/** A chain of events, whose nodes answer for `windowMax` blocks at once. */
function arrange(made: readonly Made[], { windowMax = 10n ** 12n, confirms = (_vault: string): boolean => true } = {}) {
  const asked: (readonly [bigint, bigint])[] = [];
  const refused: bigint[] = [];
  let failure: NodeError | undefined;
  const node = {
    chain: { caip2: 'eip155:1', morphoFactories: [FACTORY] },
    async logs({ topics = [], ...range }: EvmLogFilter): Promise<readonly EvmLog[]> {
      if ('blockHash' in range) throw new Error('a range is asked for');
      const { fromBlock, toBlock } = range;
      if (failure !== undefined) throw failure;
      const blocks = toBlock - fromBlock + 1n;
      if (blocks > windowMax) {
        refused.push(blocks);
        throw new NodeError('too-large', 'query returned more than 10000 results');
      }
      if (topics[0] === CREATE_V1) asked.push([fromBlock, toBlock]);
      return made
        .filter(({ block }) => block >= fromBlock && block <= toBlock)
        .map((one) => ({ ...one, topics: topicsOf(one) }))
        .filter((one) => topics.every((wanted, index) => wanted === null || one.topics[index] === wanted))
        .map(({ block, topics: found }) => ({ address: FACTORY, topics: found, blockNumber: block }) as EvmLog);
    },
  } as unknown as EvmNode;
  const reader = {
    read: async (_view: unknown, _factory: string, vault: string) => confirms(vault),
  } as unknown as ContractReader;
  const scans = createFactoryScans();
  return {
    asked,
    refused,
    fail: (error: NodeError | undefined) => {
      failure = error;
    },
    find: (latest: bigint) => scans.vaultsOf(node, reader, ASSET, latest),
  };
}

describe('vaults by the events of their factories', () => {
  test('of both kinds, and of this asset alone', async () => {
    const { find } = arrange([
      { vault: address('1'), block: 5n },
      { vault: address('2'), block: 6n, event: CREATE_V2 },
      { vault: address('3'), block: 7n, asset: address('b') },
      { vault: address('4'), block: 8n, asset: address('b'), event: CREATE_V2 },
    ]);
    expect(await find(100n)).toEqual([address('1'), address('2')]);
  });

  test('that a factory does not know are left out, and so is what is no address', async () => {
    const { find } = arrange(
      [
        { vault: address('1'), block: 5n },
        { vault: address('2'), block: 6n },
        { vault: address('3'), block: 7n, topics: [CREATE_V1, `0x${'e'.repeat(64)}`, topic(FACTORY), topic(ASSET)] },
        { vault: address('0'), block: 8n },
      ],
      { confirms: (vault) => vault !== address('2') },
    );
    expect(await find(100n)).toEqual([address('1')]);
  });

  test('are remembered, and only new blocks are asked for again, with a few that may have changed', async () => {
    const made: Made[] = [{ vault: address('1'), block: 5n }];
    const { find, asked } = arrange(made);
    await find(1_000n);
    made.push({ vault: address('2'), block: 1_001n }, { vault: address('3'), block: 990n });
    expect(await find(1_010n)).toEqual([address('1'), address('2'), address('3')]);
    expect(asked).toEqual([
      [0n, 1_000n],
      [937n, 1_010n],
    ]);
  });

  test('are found in halves where the nodes answer for few blocks, which is remembered', async () => {
    const { find, asked, refused } = arrange([{ vault: address('1'), block: 3_999_999n }], { windowMax: 300_000n });
    expect(await find(4_000_000n)).toEqual([address('1')]);
    expect(refused.length).toBeGreaterThan(0);
    expect(asked.every(([from, to]) => to - from + 1n <= 300_000n)).toBe(true);
    expect(asked.at(-1)?.[1]).toBe(4_000_000n);
    refused.length = 0;
    await find(4_000_010n);
    expect(refused).toEqual([]);
  });

  test('of a long chain are found in several goes', async () => {
    const { find } = arrange([{ vault: address('1'), block: 190_000n }], { windowMax: 1_000n });
    expect(await find(200_000n)).toEqual([]);
    for (let go = 0; go < 3; go += 1) await find(200_000n);
    expect(await find(200_000n)).toEqual([address('1')]);
  });

  test('a node that is away is told, and what was found before is not forgotten', async () => {
    const { find, fail, asked } = arrange([{ vault: address('1'), block: 5n }]);
    await find(1_000n);
    fail(new NodeError('unavailable', 'away'));
    await expect(find(2_000n)).rejects.toThrow('away');
    fail(undefined);
    expect(await find(2_000n)).toEqual([address('1')]);
    expect(asked.at(-1)?.[0]).toBe(937n);
  });
});

test('a vault belongs to the factory that says so', async () => {
  const reader = {
    read: async (_view: unknown, factory: string) => (factory === FACTORY ? true : undefined),
  } as unknown as ContractReader;
  expect(await makerOf(reader, [address('e'), FACTORY], address('1'))).toBe(FACTORY);
  expect(await makerOf(reader, [address('e')], address('1'))).toBeUndefined();
});
