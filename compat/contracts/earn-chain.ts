// What the tests of the fee wrapper share: terms, a wrapper where the service would deploy it, and the steps of a holder.
import type { Abi, Address } from 'viem';
import {
  CREATE2_PROXY,
  type WrapperTerms,
  wrapperDeployment,
} from '../../packages/server/src/domains/earn/contract-addresses.ts';
import { artifact } from '../chain/artifacts.ts';
import { type ChainClient, type Deployed, fundedAccount } from '../chain/deploy.ts';

export const [operator, alice, bob, client, service, mallory] = [0, 1, 2, 3, 4, 5].map(fundedAccount) as [
  ReturnType<typeof fundedAccount>,
  ReturnType<typeof fundedAccount>,
  ReturnType<typeof fundedAccount>,
  ReturnType<typeof fundedAccount>,
  ReturnType<typeof fundedAccount>,
  ReturnType<typeof fundedAccount>,
];

/** Of the token, which has six decimals as the tests use it. */
export const units = (amount: number): bigint => BigInt(Math.round(amount * 1e6));

export interface Wrapper {
  readonly wrapper: Deployed;
  readonly splitter: Deployed;
}

export function termsFor(chain: ChainClient, vaultAddress: Address, more: Partial<WrapperTerms> = {}): WrapperTerms {
  return {
    organizationId: '01980000-0000-7000-8000-000000000001',
    chainId: BigInt(chain.node.chainId),
    provider: 'EARN_PROVIDER_MORPHO',
    vaultAddress,
    clientFeeBps: 2_000,
    clientFeeWallet: client.address,
    serviceFeeBps: 1_000,
    serviceFeeWallet: service.address,
    ...more,
  };
}

export async function deployWrapper(chain: ChainClient, terms: WrapperTerms): Promise<Wrapper> {
  const { data, wrapperAddress, splitterAddress } = wrapperDeployment(terms);
  const gas = 16_000_000n;
  const receipt = await chain.wallet(operator).sendTransactionSync({ to: CREATE2_PROXY, data, gas });
  if (receipt.status !== 'success') throw new Error('the wrapper was not deployed');
  const splitterAbi = artifact('EarnSplitter').abi as Abi;
  // Errors come through from either contract, and from a vault.
  const errors = [...splitterAbi, ...(artifact('EarnWrapper').abi as Abi)].filter(({ type }) => type === 'error');
  const abiOf = (abi: Abi): Abi => [...abi.filter(({ type }) => type !== 'error'), ...errors];
  return {
    wrapper: { address: wrapperAddress, abi: abiOf(artifact('EarnWrapper').abi as Abi) },
    splitter: { address: splitterAddress, abi: abiOf(splitterAbi) },
  };
}

/** Mints what is deposited, approves it and deposits it. */
export async function deposit(
  chain: ChainClient,
  token: Deployed,
  target: Deployed,
  from: { readonly address: Address },
  amount: bigint,
  receiver = from.address,
): Promise<void> {
  await chain.write(from, token, 'mint', [from.address, amount]);
  await chain.write(from, token, 'approve', [target.address, amount]);
  await chain.write(from, target, 'deposit', [amount, receiver]);
}
