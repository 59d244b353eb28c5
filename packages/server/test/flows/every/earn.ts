import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { wrapperDeployment } from '../../../src/domains/earn/contract-addresses.ts';
import type { TestClient } from '../../harness/client.ts';
import {
  depositParams,
  feeWalletOf,
  newDeployedWrapper,
  newWrapper,
  sharedWrapper,
  untilDone,
  withdrawParams,
  wrapperParams,
} from '../../hostile/earn.ts';
import { newWallet } from '../../hostile/keys.ts';
import { type ActivityCase, anId, notFound, type QueryCase, type World } from './case.ts';

// Earn in the table of every operation.

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

export const EARN_CASES: Readonly<Record<string, ActivityCase>> = {
  earn_deploy_wrapper: {
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
  earn_deposit: {
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
  earn_withdraw: {
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
  earn_set_wrapper_state: {
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
  claim_earn_fees: {
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
};

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

export const EARN_QUERIES: Readonly<Record<string, QueryCase>> = {
  get_earn_deploy_status: doneQuery(
    'get_earn_deploy_status',
    'deployTxHash',
    async ({ root, outside }) => {
      const { deployRequestId } = await newWrapper(outside, root);
      return { deployRequestId };
    },
    'parent',
  ),
  get_earn_deposit_status: doneQuery('get_earn_deposit_status', 'depositTxHash', async ({ root, parent, outside }) => {
    const { wrapperAddress } = await sharedWrapper(outside, parent);
    return await root.run('earn_deposit', depositParams(outside, wrapperAddress, await walletOf(root)));
  }),
  get_earn_withdraw_status: doneQuery(
    'get_earn_withdraw_status',
    'withdrawTxHash',
    async ({ root, parent, outside }) => {
      const { wrapperAddress } = await sharedWrapper(outside, parent);
      return await root.run('earn_withdraw', withdrawParams(outside, wrapperAddress, await walletOf(root)));
    },
  ),
  get_claim_earn_fees_status: doneQuery(
    'get_claim_earn_fees_status',
    'claimTxHash',
    async ({ root, outside }) => {
      const { wrapperAddress } = await newDeployedWrapper(outside, root);
      return await root.run('claim_earn_fees', { wrapperAddress });
    },
    'parent',
  ),
};
