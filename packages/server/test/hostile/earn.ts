import { vi } from 'vitest';
import { randomId } from '../../src/lib/ids.ts';
import { VAULT } from '../chain/earn-chain.ts';
import type { TestClient } from '../harness/client.ts';
import { newWallet } from './keys.ts';
import type { Outside } from './outside.ts';

// Fee wrappers and what is done with them, for the tests of every operation.

interface Wrapper {
  readonly wrapperAddress: string;
  readonly deployRequestId: string;
}

/** Fees differ, so that each is a wrapper of its own; there are as many as may be asked for. */
let fees = 0;
const FEES = 4000;

export function wrapperParams({ ethereum }: Outside, clientFeeWallet: string) {
  fees = (fees % FEES) + 1;
  return { vaultAddress: VAULT, chainCaip2: ethereum.caip2, clientFeeBps: String(fees), clientFeeWallet };
}

const feeWallets = new Map<string, Promise<string>>();

/** The wallet of an organization that gets fees, made when it is first needed. */
export function feeWalletOf(client: TestClient): Promise<string> {
  const known =
    feeWallets.get(client.organizationId) ?? newWallet(client, 'fees').then(({ address }) => address as string);
  feeWallets.set(client.organizationId, known);
  return known;
}

/** A wrapper of a parent that is on its way. */
export const newWrapper = async (outside: Outside, parent: TestClient): Promise<Wrapper> =>
  await parent.run('earn_deploy_wrapper', wrapperParams(outside, await feeWalletOf(parent)));

/** One that is there. */
export async function newDeployedWrapper(outside: Outside, parent: TestClient): Promise<Wrapper> {
  const wrapper = await newWrapper(outside, parent);
  await untilDone(parent, 'get_earn_deploy_status', { deployRequestId: wrapper.deployRequestId });
  return wrapper;
}

const wrappers = new Map<string, Promise<Wrapper>>();

/** One that everybody in a parent's tree uses and nobody changes. */
export function sharedWrapper(outside: Outside, parent: TestClient): Promise<Wrapper> {
  const known = wrappers.get(parent.organizationId) ?? newDeployedWrapper(outside, parent);
  wrappers.set(parent.organizationId, known);
  return known;
}

export async function untilDone(client: TestClient, query: string, parameters: Record<string, unknown>): Promise<void> {
  await vi.waitFor(
    async () => {
      const { body } = await client.query(query, parameters);
      if (body.status !== 'COMPLETED') throw new Error(JSON.stringify(body));
    },
    { timeout: 10_000, interval: 20 },
  );
}

export const depositParams = ({ ethereum }: Outside, wrapperAddress: string, signWith: string) => ({
  wrapperAddress,
  signWith,
  assets: '1000',
  chainCaip2: ethereum.caip2,
  sponsor: false,
});

export const withdrawParams = ({ ethereum }: Outside, wrapperAddress: string, signWith: string) => ({
  wrapperAddress,
  signWith,
  amountValue: '1000',
  chainCaip2: ethereum.caip2,
  sponsor: false,
});

/** What a tenant has of Earn. A sub-organization has its parent's wrapper, and ids of deployments that lead nowhere. */
export async function newEarnWorld(outside: Outside, root: TestClient, treeRoot: TestClient, wallet: string) {
  const { wrapperAddress, deployRequestId } = await sharedWrapper(outside, treeRoot);
  const isParent = root === treeRoot;
  const deposit = await root.run('earn_deposit', depositParams(outside, wrapperAddress, wallet));
  const withdrawal = await root.run('earn_withdraw', withdrawParams(outside, wrapperAddress, wallet));
  const claim = isParent ? await root.run('claim_earn_fees', { wrapperAddress }) : { claimRequestId: randomId() };
  return {
    earnWrapper: wrapperAddress,
    earnDeployment: isParent ? deployRequestId : (randomId() as string),
    earnDeposit: deposit.depositRequestId as string,
    earnWithdrawal: withdrawal.withdrawRequestId as string,
    earnClaim: claim.claimRequestId as string,
  };
}
