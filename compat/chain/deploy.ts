// Contracts on a local node, with viem: accounts, deployments, calls that are mined when they return.
import { pbkdf2Sync } from 'node:crypto';
import {
  type Abi,
  type Account,
  type Address,
  type Chain,
  createPublicClient,
  createWalletClient,
  custom,
  defineChain,
  encodeDeployData,
  encodeFunctionData,
  formatTransactionReceipt,
  getAddress,
  type Hex,
  type PublicClient,
  type RpcTransactionReceipt,
  type TransactionReceipt,
  type Transport,
  toHex,
  type WalletClient,
} from 'viem';
import { type HDAccount, HDKey, hdKeyToAccount } from 'viem/accounts';
import { ANVIL_PHRASE, type Anvil } from './anvil.ts';

export interface Artifact {
  readonly abi: Abi | readonly unknown[];
  readonly bytecode: string;
}

export interface Deployed {
  readonly address: Address;
  readonly abi: Abi;
}

type Wallet = WalletClient<Transport, Chain, Account>;

/** BIP-39, by the runtime: to stretch the phrase in JavaScript takes longer than a deployment, and was most of a test. */
const master = HDKey.fromMasterSeed(pbkdf2Sync(ANVIL_PHRASE, 'mnemonic', 2048, 64, 'sha512'));
const accounts = new Map<number, HDAccount>();

/** Account `index` of the node, funded with 10,000 ether. */
export function fundedAccount(index: number): HDAccount {
  const account = accounts.get(index) ?? hdKeyToAccount(master, { addressIndex: index });
  accounts.set(index, account);
  return account;
}

/** Below the limit of one transaction. It is not estimated, since the next block's time may need more than this one's. */
const GAS = 16_000_000n;

type Sender = { readonly address: Address } | Address;

export interface ChainClient {
  readonly node: Anvil;
  readonly reader: PublicClient<Transport, Chain>;
  wallet(account: Account | Address): Wallet;
  /** The sender is an account that the node signs for, as are those of `write`. */
  deploy(artifact: Artifact, args?: readonly unknown[], from?: Sender): Promise<Deployed>;
  /** Sends a transaction that is mined when it returns; a revert is thrown with the contract's own error. */
  write(from: Sender, target: Deployed, functionName: string, args?: readonly unknown[]): Promise<TransactionReceipt>;
  read<Result>(target: Deployed, functionName: string, args?: readonly unknown[]): Promise<Result>;
}

export function connectTo(node: Anvil): ChainClient {
  const chain = defineChain({
    id: node.chainId,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [node.url] } },
  });
  const transport = custom(
    { request: ({ method, params }: { method: string; params?: readonly unknown[] }) => node.request(method, params) },
    { retryCount: 0 },
  );
  const reader = createPublicClient({ chain, transport, pollingInterval: 10, cacheTime: 0 });

  async function send(from: Sender, to: Address | undefined, data: Hex): Promise<TransactionReceipt> {
    const sender = typeof from === 'string' ? from : from.address;
    const receipt = await node.request('eth_sendTransactionSync', [{ from: sender, to, data, gas: toHex(GAS) }]);
    return formatTransactionReceipt(receipt as RpcTransactionReceipt);
  }

  return {
    node,
    reader,
    wallet: (account) => createWalletClient({ account, chain, transport }) as Wallet,
    async deploy(artifact, args = [], from = fundedAccount(0)) {
      const abi = artifact.abi as Abi;
      const data = encodeDeployData({ abi, bytecode: artifact.bytecode as Hex, args });
      const { contractAddress, status, transactionHash } = await send(from, undefined, data);
      if (status !== 'success' || !contractAddress) throw new Error(`deployment ${transactionHash} was reverted`);
      return { address: getAddress(contractAddress), abi };
    },
    async write(from, { address, abi }, functionName, args = []) {
      const receipt = await send(from, address, encodeFunctionData({ abi, functionName, args }));
      if (receipt.status === 'success') return receipt;
      const account = typeof from === 'string' ? from : from.address;
      const blockNumber = receipt.blockNumber - 1n;
      await reader.simulateContract({ account, address, abi, functionName, args, gas: GAS, blockNumber });
      throw new Error(`${functionName} was reverted in ${receipt.transactionHash}, and is not one block earlier`);
    },
    async read<Result>({ address, abi }: Deployed, functionName: string, args: readonly unknown[] = []) {
      return (await reader.readContract({ address, abi, functionName, args })) as Result;
    },
  };
}
