import { getAddress } from 'viem';
import { expect } from 'vitest';
import { TOKEN, VAULT } from '../../chain/earn-chain.ts';
import { stubContract } from '../../chain/stub-contracts.ts';
import { newDeployedWrapper } from '../../hostile/earn.ts';
import { vaultAsset } from '../../hostile/earn-list-cases.ts';
import { newWallet } from '../../hostile/keys.ts';
import type { Outside } from '../../hostile/outside.ts';
import { anId, PAGE_INFO, type QueryCase, type World } from './case.ts';

// The lists of Earn in the table of every operation.

const CAIP19 = ({ ethereum }: Outside): string => `${ethereum.caip2}/erc20:${getAddress(TOKEN)}`;
/** Its price does not move, but that takes a while to know. */
const RATE = expect.stringMatching(/^0?$/);
const EVERYTHING = { usd: '1000.00', crypto: '1000' };

/** The wrappers that were made for an organization. */
const wrappers = new Map<string, string>();
const wrapperOf = ({ root }: World): string => wrappers.get(root.organizationId) ?? '';

/** A wrapper of the parent on the chain, of which one wallet has all shares. */
async function arrangeWrapper({ root, parent, outside }: World, wallet?: string): Promise<void> {
  const { wrapperAddress } = await newDeployedWrapper(outside, parent);
  outside.ethereum.contracts.set(
    wrapperAddress.toLowerCase(),
    stubContract({
      'totalAssets() returns (uint256)': 2_500_000n,
      'balanceOf(address) returns (uint256)': (holder: string) => (holder === wallet ? 500n : 0n),
      'convertToAssets(uint256) returns (uint256)': (shares: bigint) => shares * 5_000n,
    }),
  );
  wrappers.set(root.organizationId, wrapperAddress);
}

export const EARN_LIST_QUERIES: Readonly<Record<string, QueryCase>> = {
  list_earn_vaults: {
    parameters: async ({ outside }) => ({ caip19: vaultAsset(outside) }),
    answer: ({ outside }) => ({
      vaults: [
        {
          vaultAddress: getAddress(VAULT),
          provider: 'EARN_PROVIDER_MORPHO',
          caip19: CAIP19(outside),
          tvl: '1000000000',
          apyPct: RATE,
          enabled: expect.any(Boolean),
          display: EVERYTHING,
          name: 'A vault',
          curator: '',
          liquidity: '1000000000',
          liquidityDisplay: EVERYTHING,
        },
      ],
      pageInfo: PAGE_INFO,
    }),
    isOfChain: true,
  },
  list_earn_positions: {
    parameters: async (world) => {
      const { address } = await newWallet(world.root, 'Holder');
      await arrangeWrapper(world, address);
      return { walletAddress: address };
    },
    answer: (world) => ({
      positions: [
        {
          vaultAddress: getAddress(VAULT),
          wrapperAddress: wrapperOf(world),
          provider: 'EARN_PROVIDER_MORPHO',
          caip19: CAIP19(world.outside),
          currentValue: '2500000',
          totalDeposited: '0',
          totalWithdrawn: '0',
          display: {
            currentValueUsd: '2.50',
            totalDepositedUsd: '0.00',
            totalWithdrawnUsd: '0.00',
            currentValueCrypto: '2.5',
            totalDepositedCrypto: '0',
            totalWithdrawnCrypto: '0',
          },
          depositsDisabled: false,
        },
      ],
      pageInfo: PAGE_INFO,
    }),
    foreignAnswer: { positions: [], pageInfo: { ...PAGE_INFO, startCursor: '', endCursor: '' } },
  },
  list_earn_enabled_vaults: {
    parameters: async (world) => {
      await arrangeWrapper(world);
      return {};
    },
    answer: (world) => ({
      enabledVaults: expect.arrayContaining([
        {
          vaultAddress: getAddress(VAULT),
          wrapperAddress: wrapperOf(world),
          provider: 'EARN_PROVIDER_MORPHO',
          caip19: CAIP19(world.outside),
          apyPct: RATE,
          netApyPct: RATE,
          totalDeposited: '2500000',
          display: { usd: '2.50', crypto: '2.5' },
          clientFeeBps: expect.stringMatching(/^\d+$/),
          depositsDisabled: false,
          name: 'A vault',
          curator: '',
          liquidity: '1000000000',
          liquidityDisplay: EVERYTHING,
          deployStatus: 'COMPLETED',
          deployRequestId: anId,
        },
      ]),
      pageInfo: PAGE_INFO,
    }),
  },
};
