import { encodeAbiParameters } from 'viem';
import { expect, test } from 'vitest';
import type { EvmCall, EvmNode } from '../../chains/nodes/node.ts';
import { createContractReader } from './contract-reader.ts';
import { token } from './views.ts';

const TOKEN = `0x${'a1'.repeat(20)}`;
const holder = (index: number): string => `0x${String(index).padStart(40, '0')}`;

test('a reader within a limit asks no more than that, and keeps nobody else from asking', async () => {
  const asked: EvmCall[] = [];
  const node = {
    callMany: async (calls: readonly EvmCall[]) => {
      asked.push(...calls);
      return calls.map(({ data }) => ({
        ok: true,
        data: encodeAbiParameters([{ type: 'uint256' }], [BigInt(data.slice(-4))]),
      }));
    },
  } as unknown as EvmNode;
  const reader = createContractReader(node);
  const read = (from: typeof reader, ...holders: number[]) =>
    Promise.all(holders.map((index) => from.read(token.balanceOf, TOKEN, holder(index))));
  expect(await read(reader, 1)).toEqual([1n]);
  const limited = reader.within(2);
  // What is known costs nothing.
  expect(await read(limited, 1, 1, 2, 3, 4, 2)).toEqual([1n, 1n, 2n, 3n, undefined, 2n]);
  expect(await read(limited, 5, 3)).toEqual([undefined, 3n]);
  expect(asked).toHaveLength(3);
  expect(await read(reader, 4, 5)).toEqual([4n, 5n]);
  expect(await read(limited, 4)).toEqual([4n]);
  // One within another has the limit of both.
  expect(await read(reader.within(1).within(9), 6, 7)).toEqual([6n, undefined]);
});
