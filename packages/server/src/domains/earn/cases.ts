import { randomBytes } from 'node:crypto';
import { getAddress } from 'viem';
import { expect } from 'vitest';
import { TOKEN, VAULT } from '../../../test/chain/earn-chain.ts';
import { stubContract } from '../../../test/chain/stub-contracts.ts';
import {
  depositParams,
  feeWalletOf,
  newDeployedWrapper,
  newWrapper,
  sharedWrapper,
  untilDone,
  withdrawParams,
  wrapperParams,
} from '../../../test/fixtures/earn-wrappers.ts';
import { ASSET, EVM, NATIVE } from '../../../test/fixtures/ethereum-sends.ts';
import { newWallet } from '../../../test/fixtures/keys.ts';
import type { Outside } from '../../../test/fixtures/outside.ts';
import type { TestClient } from '../../../test/harness/client.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import {
  anId,
  EMPTY_PAGE,
  notFound,
  PAGE_INFO,
  type QueryCase,
  type World,
} from '../../../test/operations/every-case.ts';
import { byRoot } from '../../../test/operations/hostile-case.ts';
import { wrapperDeployment } from './contract-addresses.ts';

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

const HASH = expect.stringMatching(/^0x[0-9a-f]{64}$/);

const anAddress = (): string => `0x${randomBytes(20).toString('hex')}`;

const walletOf = async (root: TestClient): Promise<string> => (await newWallet(root, 'earner')).address;

/** The wrapper as it is listed, if it is. */
async function listed(reader: TestClient, wrapperAddress: string): Promise<{ depositsDisabled: boolean } | undefined> {
  const { enabledVaults } = (await reader.query('list_earn_enabled_vaults')).body;
  return enabledVaults.find((vault: { wrapperAddress: string }) => vault.wrapperAddress === wrapperAddress);
}

/** How many requests about a wrapper were accepted, each of which can be asked after. */
async function accepted(reader: TestClient, type: string, query: string, wrapperAddress: string): Promise<number> {
  const { activities } = (await reader.query('list_activities', { filterByType: [type] })).body;
  let count = 0;
  for (const { intent, result } of activities) {
    const [asked] = Object.values(intent as Record<string, { wrapperAddress: string }>);
    const [told] = Object.values(result as Record<string, Record<string, string>>);
    if (told === undefined || asked?.wrapperAddress !== wrapperAddress) continue;
    expect((await reader.query(query, told)).status).toBe(200);
    count += 1;
  }
  return count;
}

const effect = (type: string, query: string, wrapperAddress: string) => ({
  holds: async (reader: TestClient) => expect(await accepted(reader, type, query, wrapperAddress)).toBe(1),
  absent: async (reader: TestClient) => expect(await accepted(reader, type, query, wrapperAddress)).toBe(0),
});

/** A request that has been done, and what its status says. */
const doneQuery = (
  query: string,
  hash: string,
  make: (world: World) => Promise<Record<string, string>>,
  place?: 'parent',
): QueryCase => ({
  ...(place && { place }),
  parameters: async (world) => {
    const parameters = await make(world);
    await untilDone(world.root, query, parameters);
    return parameters;
  },
  answer: () => ({ status: 'COMPLETED', [hash]: HASH }),
});

/** The token that vaults of the chain of the tests hold. */
const vaultAsset = ({ ethereum }: Outside): string => `${ethereum.caip2}/erc20:${TOKEN}`;

const PROVIDER = 'EARN_PROVIDER_MORPHO';

export const cases: DomainCases = {
  list_earn_vaults: {
    query: {
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
    hostile: byRoot(({ outside }) => ({ caip19: vaultAsset(outside), provider: PROVIDER })),
    hasPublicCursors: true,
  },
  list_earn_positions: {
    query: {
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
      foreignAnswer: { positions: [], pageInfo: EMPTY_PAGE },
    },
    hostile: byRoot(({ ids }) => ({ walletAddress: ids.address })),
    // Whatever holds nothing that the caller may see has an empty list.
    ids: { walletAddress: [] },
    hasPublicCursors: true,
  },
  list_earn_position_history: {
    query: {
      parameters: async ({ root }) => ({ walletAddress: (await newWallet(root, 'Past')).address }),
      answer: () => ({ points: [] }),
      foreignAnswer: { points: [] },
    },
    hostile: byRoot(({ ids }) => ({ walletAddress: ids.address })),
    // As for the list of positions; the wrapper only narrows what is found.
    ids: { walletAddress: [], wrapperAddress: [] },
  },
  list_earn_enabled_vaults: {
    query: {
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
    hostile: byRoot(({ outside }) => ({
      caip19: vaultAsset(outside),
      provider: PROVIDER,
      includeExposure: true,
    })),
    hasPublicCursors: true,
  },
  earn_deploy_wrapper: {
    activity: {
      place: 'parent',
      intentKey: 'earnDeployWrapperIntent',
      resultKey: 'earnDeployWrapperResult',
      arrange: async ({ root, outside }) => {
        const parameters = wrapperParams(outside, await feeWalletOf(root));
        const { wrapperAddress, splitterAddress } = wrapperDeployment({
          organizationId: root.organizationId,
          chainId: BigInt(outside.ethereum.chainId),
          provider: 'EARN_PROVIDER_MORPHO',
          vaultAddress: parameters.vaultAddress,
          clientFeeBps: Number(parameters.clientFeeBps),
          clientFeeWallet: parameters.clientFeeWallet,
          serviceFeeBps: 0,
          serviceFeeWallet: undefined,
        });
        return {
          parameters,
          result: { wrapperAddress, splitterAddress, deployRequestId: anId },
          holds: async (reader) =>
            expect(await listed(reader, wrapperAddress)).toMatchObject({ depositsDisabled: false }),
          absent: async (reader) => expect(await listed(reader, wrapperAddress)).toBeUndefined(),
        };
      },
      foreign: async ({ outside }, other) => notFound(wrapperParams(outside, await walletOf(other.root))),
    },
    hostile: byRoot(({ outside, ids }) => wrapperParams(outside, ids.address)),
  },
  earn_deposit: {
    activity: {
      intentKey: 'earnDepositIntent',
      resultKey: 'earnDepositResult',
      arrange: async ({ root, parent, outside }) => {
        const { wrapperAddress } = await sharedWrapper(outside, parent);
        return {
          parameters: depositParams(outside, wrapperAddress, await walletOf(root)),
          result: { depositRequestId: anId },
          ...effect('ACTIVITY_TYPE_EARN_DEPOSIT', 'get_earn_deposit_status', wrapperAddress),
        };
      },
      foreign: async ({ parent, outside }, other) => {
        const { wrapperAddress } = await sharedWrapper(outside, parent);
        return notFound(depositParams(outside, wrapperAddress, await walletOf(other.root)));
      },
    },
    hostile: byRoot(({ outside, ids }) => depositParams(outside, ids.earnWrapper, ids.address)),
  },
  earn_withdraw: {
    activity: {
      intentKey: 'earnWithdrawIntent',
      resultKey: 'earnWithdrawResult',
      arrange: async ({ root, parent, outside }) => {
        const { wrapperAddress } = await sharedWrapper(outside, parent);
        return {
          parameters: withdrawParams(outside, wrapperAddress, await walletOf(root)),
          result: { withdrawRequestId: anId },
          ...effect('ACTIVITY_TYPE_EARN_WITHDRAW', 'get_earn_withdraw_status', wrapperAddress),
        };
      },
      foreign: async ({ parent, outside }, other) => {
        const { wrapperAddress } = await sharedWrapper(outside, parent);
        return notFound(withdrawParams(outside, wrapperAddress, await walletOf(other.root)));
      },
    },
    hostile: byRoot(({ outside, ids }) => withdrawParams(outside, ids.earnWrapper, ids.address)),
  },
  earn_set_wrapper_state: {
    activity: {
      place: 'parent',
      intentKey: 'earnSetWrapperStateIntent',
      resultKey: 'earnSetWrapperStateResult',
      arrange: async ({ root, outside }) => {
        const { wrapperAddress } = await newWrapper(outside, root);
        const shown = (depositsDisabled: boolean) => async (reader: TestClient) =>
          expect(await listed(reader, wrapperAddress)).toMatchObject({ depositsDisabled });
        return {
          parameters: { wrapperAddress, depositsDisabled: true },
          result: { wrapperAddress, depositsDisabled: true },
          holds: shown(true),
          absent: shown(false),
        };
      },
      foreign: async () => notFound({ wrapperAddress: anAddress(), depositsDisabled: true }),
    },
    // One that may be spoiled; only parents have any.
    hostile: byRoot(async ({ outside, scope, root, ids }) => ({
      wrapperAddress: scope === 'parent' ? (await newWrapper(outside, root)).wrapperAddress : ids.earnWrapper,
      depositsDisabled: true,
    })),
  },
  claim_earn_fees: {
    activity: {
      place: 'parent',
      intentKey: 'claimEarnFeesIntent',
      resultKey: 'claimEarnFeesResult',
      arrange: async ({ root, outside }) => {
        const { wrapperAddress } = await newDeployedWrapper(outside, root);
        return {
          parameters: { wrapperAddress },
          result: { claimRequestId: anId },
          ...effect('ACTIVITY_TYPE_CLAIM_EARN_FEES', 'get_claim_earn_fees_status', wrapperAddress),
        };
      },
      foreign: async () => notFound({ wrapperAddress: anAddress() }),
    },
    hostile: byRoot(({ ids }) => ({ wrapperAddress: ids.earnWrapper })),
  },
  get_earn_deploy_status: {
    query: doneQuery(
      'get_earn_deploy_status',
      'deployTxHash',
      async ({ root, outside }) => {
        const { deployRequestId } = await newWrapper(outside, root);
        return { deployRequestId };
      },
      'parent',
    ),
    hostile: byRoot(({ ids }) => ({ deployRequestId: ids.earnDeployment })),
    isOfParents: true,
  },
  get_earn_deposit_status: {
    query: doneQuery('get_earn_deposit_status', 'depositTxHash', async ({ root, parent, outside }) => {
      const { wrapperAddress } = await sharedWrapper(outside, parent);
      return await root.run('earn_deposit', depositParams(outside, wrapperAddress, await walletOf(root)));
    }),
    hostile: byRoot(({ ids }) => ({ depositRequestId: ids.earnDeposit })),
  },
  get_earn_withdraw_status: {
    query: doneQuery('get_earn_withdraw_status', 'withdrawTxHash', async ({ root, parent, outside }) => {
      const { wrapperAddress } = await sharedWrapper(outside, parent);
      return await root.run('earn_withdraw', withdrawParams(outside, wrapperAddress, await walletOf(root)));
    }),
    hostile: byRoot(({ ids }) => ({ withdrawRequestId: ids.earnWithdrawal })),
  },
  get_claim_earn_fees_status: {
    query: doneQuery(
      'get_claim_earn_fees_status',
      'claimTxHash',
      async ({ root, outside }) => {
        const { wrapperAddress } = await newDeployedWrapper(outside, root);
        return await root.run('claim_earn_fees', { wrapperAddress });
      },
      'parent',
    ),
    hostile: byRoot(({ ids }) => ({ claimRequestId: ids.earnClaim })),
    isOfParents: true,
  },
  list_supported_assets: {
    query: {
      parameters: async () => ({ caip2: EVM }),
      answer: () => ({
        assets: [
          { ...NATIVE, earnProviders: [] },
          { ...ASSET, earnProviders: expect.any(Array) },
        ],
        pageInfo: PAGE_INFO,
      }),
      isOfChain: true,
    },
    hostile: byRoot(() => ({ caip2: EVM })),
    hasPublicCursors: true,
  },
};
