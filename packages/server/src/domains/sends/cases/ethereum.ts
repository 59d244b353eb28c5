import { getAddress, type Hex, keccak256 } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { expect, vi } from 'vitest';
import { TOKEN } from '../../../../test/chain/earn-chain.ts';
import {
  ASSET,
  EVM,
  ethereumPayment,
  gasUsageConfig,
  NATIVE,
  NEVER,
  newEthereumSend,
  signedElsewhere,
} from '../../../../test/fixtures/ethereum-sends.ts';
import { newWallet } from '../../../../test/fixtures/keys.ts';
import type { TestClient } from '../../../../test/harness/client.ts';
import type { DomainCases } from '../../../../test/operations/domain-cases.ts';
import {
  type Arranged,
  anEthereumAddress,
  anId,
  EMPTY_PAGE,
  notFound,
  PAGE_INFO,
  type World,
} from '../../../../test/operations/every-case.ts';
import { another, byRoot } from '../../../../test/operations/hostile-case.ts';

const PATIENCE = { timeout: 20_000, interval: 20 };

const HASH = expect.stringMatching(/^0x[0-9a-f]{64}$/);

const included = async (reader: TestClient, sendTransactionStatusId: string) =>
  await vi.waitFor(async () => {
    const { body } = await reader.query('get_send_transaction_status', { sendTransactionStatusId });
    expect(body).toEqual({ txStatus: 'INCLUDED', eth: { txHash: HASH } });
    return body.eth.txHash as Hex;
  }, PATIENCE);

const newAddress = (): Hex => privateKeyToAccount(generatePrivateKey()).address;

const payment =
  (parameters: (from: string) => Record<string, unknown>) =>
  async ({ root, outside }: World): Promise<Arranged> => {
    const { address } = await newWallet(root, 'Sender');
    const sent = () => outside.ethereum.sentFrom(address);
    return {
      parameters: parameters(address),
      result: { sendTransactionStatusId: anId },
      holds: () => vi.waitFor(() => expect(sent()).toMatchObject([{ value: 1n, nonce: 0 }]), PATIENCE),
      absent: async () => expect(sent()).toEqual([]),
    };
  };

const usageOf = async (reader: TestClient) => (await reader.query('get_gas_usage')).body;

export const ethereumCases: DomainCases = {
  eth_send_transaction: {
    activity: {
      intentKey: 'ethSendTransactionIntentV2',
      resultKey: 'ethSendTransactionResultV2',
      arrange: payment(ethereumPayment),
      legacy: {
        ACTIVITY_TYPE_ETH_SEND_TRANSACTION: {
          intentKey: 'ethSendTransactionIntent',
          resultKey: 'ethSendTransactionResult',
          arrange: payment((from) => {
            const { calls, ...rest } = ethereumPayment(from);
            return { ...rest, ...calls[0] };
          }),
        },
      },
      foreign: async (_world, other) => notFound(ethereumPayment((await newWallet(other.root, 'Foreign')).address)),
    },
    hostile: byRoot(({ ids }) => {
      const payment = ethereumPayment(ids.address);
      const fixed = { gasLimit: '30000', maxFeePerGas: '2000000000', maxPriorityFeePerGas: '1', deadline: NEVER };
      return { ...payment, ...payment.calls[0], ...fixed, nonce: String(another()), sponsor: false };
    }),
  },
  eth_send_raw_transaction: {
    activity: {
      intentKey: 'ethSendRawTransactionIntent',
      resultKey: 'ethSendRawTransactionResult',
      arrange: async ({ outside }) => {
        const signedTransaction = await signedElsewhere();
        const transactionHash = keccak256(signedTransaction);
        const isThere = () =>
          outside.ethereum.blocks.some(({ mined }) =>
            mined.some(({ transaction }) => transaction.hash === transactionHash),
          );
        return {
          parameters: { signedTransaction, caip2: EVM },
          result: { transactionHash, sendTransactionStatusId: anId },
          holds: () => vi.waitFor(() => expect(isThere()).toBe(true), PATIENCE),
          absent: async () => expect(isThere()).toBe(false),
        };
      },
    },
    hostile: byRoot(async () => ({ signedTransaction: await signedElsewhere(), caip2: EVM })),
  },
  upsert_gas_usage_config: {
    activity: {
      place: 'parent',
      intentKey: 'upsertGasUsageConfigIntent',
      resultKey: 'upsertGasUsageConfigResult',
      arrange: async () => {
        const parameters = gasUsageConfig();
        const windowLimitUsd = parameters.orgWindowLimitUsd;
        return {
          parameters,
          result: { gasUsageConfigId: anId },
          holds: async (reader) =>
            expect(await usageOf(reader)).toMatchObject({ windowDurationMinutes: 720, windowLimitUsd }),
          absent: async (reader) => expect((await usageOf(reader)).windowLimitUsd).not.toBe(windowLimitUsd),
        };
      },
    },
    hostile: byRoot(() => gasUsageConfig()),
  },
  get_send_transaction_status: {
    query: {
      parameters: async ({ root }) => {
        const { address } = await newWallet(root, 'Sender');
        const sendTransactionStatusId = await newEthereumSend(root, address);
        await included(root, sendTransactionStatusId);
        return { sendTransactionStatusId };
      },
      answer: () => ({ txStatus: 'INCLUDED', eth: { txHash: HASH } }),
    },
    hostile: byRoot(({ ids }) => ({ sendTransactionStatusId: ids.send })),
  },
  get_gas_usage: {
    query: {
      answer: () => ({
        windowDurationMinutes: expect.any(Number),
        windowLimitUsd: expect.any(String),
        usageUsd: expect.stringMatching(/^\d+(\.\d+)?$/),
      }),
    },
    hostile: byRoot(() => ({})),
  },
  list_chains: {
    query: {
      answer: () => ({
        chains: expect.arrayContaining([
          {
            caip2: EVM,
            nativeAsset: NATIVE,
            batches: expect.any(Boolean),
            sponsors: expect.any(Boolean),
            hasVaults: expect.any(Boolean),
          },
        ]),
      }),
      isOfChain: true,
    },
    hostile: byRoot(() => ({})),
  },
  get_nonces: {
    query: {
      parameters: async () => ({ address: newAddress(), caip2: EVM, nonce: true, gasStationNonce: true }),
      answer: () => ({ nonce: '0', gasStationNonce: expect.stringMatching(/^\d+$/) }),
      isOfChain: true,
    },
    hostile: byRoot(({ ids }) => ({ address: ids.address, caip2: EVM, nonce: true, gasStationNonce: true })),
    // What an address has on a chain is there for everybody to see.
    ids: { address: [] },
  },
  get_wallet_address_balances: {
    query: {
      parameters: async ({ outside }) => {
        const address = newAddress();
        outside.ethereum.balances.set(address.toLowerCase(), 25n * 10n ** 17n);
        return { address, caip2: EVM };
      },
      answer: () => ({
        balances: [{ ...NATIVE, balance: '2500000000000000000', display: { usd: '5000.00', crypto: '2.5' } }],
        pageInfo: PAGE_INFO,
      }),
      isOfChain: true,
    },
    hostile: byRoot(({ ids }) => ({ address: ids.address, caip2: EVM })),
    // What an address has on a chain is there for everybody to see.
    ids: { address: [] },
    hasPublicCursors: true,
  },
  list_sends: {
    query: {
      parameters: async ({ root }) => {
        const { address } = await newWallet(root, 'Listed');
        await included(root, await newEthereumSend(root, address));
        return { senderAddress: address.toLowerCase(), filterByState: ['INCLUDED', 'FAILED'] };
      },
      answer: () => ({
        sends: [
          {
            sendTransactionStatusId: anId,
            activityId: anId,
            caip2: EVM,
            from: anEthereumAddress,
            to: anEthereumAddress,
            value: '1',
            callCount: 1,
            purpose: 'SEND',
            state: 'INCLUDED',
            txHash: HASH,
            blockNumber: expect.stringMatching(/^\d+$/),
            blockTime: expect.any(String),
            attempts: [
              {
                txHash: HASH,
                at: expect.any(String),
                nonce: '0',
                maxFeePerGas: expect.stringMatching(/^\d+$/),
                maxPriorityFeePerGas: expect.stringMatching(/^\d+$/),
                gasLimit: expect.stringMatching(/^\d+$/),
              },
            ],
            gasUsed: '21000',
            feePaid: '21000000000000',
            sponsored: false,
            createdAt: expect.any(String),
            updatedAt: expect.any(String),
          },
        ],
        pageInfo: PAGE_INFO,
      }),
      foreignAnswer: { sends: [], pageInfo: EMPTY_PAGE },
    },
    hostile: byRoot(({ ids }) => ({
      filterByState: ['INITIALIZED', 'BROADCASTING', 'INCLUDED', 'FAILED'],
      senderAddress: ids.address,
      caip2: EVM,
    })),
    // It narrows the list: of an activity elsewhere there is nothing.
    ids: { activityId: [] },
  },
  list_eth_transaction_history: {
    query: {
      parameters: async ({ outside }) => {
        const address = newAddress();
        outside.ethereum.mineTransfer(TOKEN, newAddress(), address, 5_000_000n);
        return { address, caip2: EVM };
      },
      answer: () => ({
        transactions: [
          {
            transactionHash: HASH,
            block: { number: expect.stringMatching(/^\d+$/), hash: HASH, timestamp: expect.stringMatching(/Z$/) },
            status: 'FINALIZED',
            origin: 'EXTERNAL',
            from: expect.stringMatching(/^0x/),
            to: getAddress(TOKEN),
            fee: { amount: '21000000000000', caip19: NATIVE.caip19 },
            transfers: [
              {
                direction: 'IN',
                asset: ASSET,
                amount: '5000000',
                counterparty: expect.stringMatching(/^0x/),
                display: { usd: '5.00', crypto: '5' },
              },
            ],
            executionFailed: false,
          },
        ],
        pageInfo: PAGE_INFO,
      }),
      isOfChain: true,
    },
    hostile: byRoot(({ ids }) => ({ address: ids.address, caip2: EVM })),
    // What an address has on a chain is there for everybody to see.
    ids: { address: [] },
  },
};
