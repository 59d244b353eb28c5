import { expect, test } from 'vitest';
import { CHAIN } from '../../../test/chain/fake-chain.ts';
import type { EvmNode, Nodes } from '../../chains/nodes/node.ts';
import { createPrices } from './prices.ts';

const tokenAt = (index: number): string => `eip155:31337/erc20:0x${index.toString(16).padStart(40, '0')}`;

test('the configured price is told although too much is being read', async () => {
  let asked = 0;
  const node = {
    chain: CHAIN,
    callMany: () => {
      asked += 1;
      return new Promise(() => {});
    },
  } as unknown as EvmNode;
  const prices = createPrices({ evm: () => node } as unknown as Nodes, () => 0);
  const chain = {
    ...CHAIN,
    aavePoolAddressesProvider: `0x${'c1'.repeat(20)}`,
    prices: new Map([[tokenAt(999), '1.25']]),
  };
  // As many as may be read or wait, all of which wait for ever.
  for (let index = 1; index <= 72; index += 1) void prices.of(chain, tokenAt(index));
  await expect.poll(() => asked, { interval: 1 }).toBe(8);
  expect(await prices.of(chain, tokenAt(999))).toBe('1.25');
  expect(await prices.of(chain, tokenAt(998))).toBeUndefined();
});
