import { getAddress, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { TOKEN } from '../chain/earn-chain.ts';
import type { TestClient } from '../harness/client.ts';
import { another, type Build, byRoot } from './case.ts';

// Transactions for EVM chains in the tests of every operation.

export const EVM = 'eip155:31337';
const RECEIVER = getAddress(`0x${'5afe'.repeat(10)}`);
/** As it is answered. */
export const ASSET = { caip19: `${EVM}/erc20:${getAddress(TOKEN)}`, symbol: 'USDC', name: 'A token', decimals: 6 };
/** Whom nobody here has the key of. */
const STRANGER = privateKeyToAccount(generatePrivateKey());
const NEVER = '4102444800';

export const ethereumPayment = (from: string) => ({
  from,
  caip2: EVM,
  calls: [{ to: RECEIVER, value: '1', data: '0x' }],
});

/** Limits that nothing here comes near to. */
export const gasUsageConfig = () => ({
  orgWindowLimitUsd: String(100_000_000 + another()),
  subOrgWindowLimitUsd: '1000000.50',
  windowDurationMinutes: '720',
  enabled: true,
  solanaConfig: { rentPrefundEnabled: false },
});

/** A transaction that was signed elsewhere, and never before. */
export const signedElsewhere = (): Promise<Hex> =>
  STRANGER.signTransaction({
    type: 'eip1559',
    chainId: 31_337,
    nonce: another(),
    gas: 21_000n,
    maxFeePerGas: 1n,
    to: RECEIVER,
  });

export const newEthereumSend = async (client: TestClient, from: string): Promise<string> =>
  (await client.run('eth_send_transaction', ethereumPayment(from))).sendTransactionStatusId;

export const ETHEREUM_SEND_CASES: Readonly<Record<string, Build>> = {
  eth_send_transaction: byRoot(({ ids }) => {
    const payment = ethereumPayment(ids.address);
    const fixed = { gasLimit: '30000', maxFeePerGas: '2000000000', maxPriorityFeePerGas: '1', deadline: NEVER };
    return { ...payment, ...payment.calls[0], ...fixed, nonce: String(another()), sponsor: false };
  }),
  eth_send_raw_transaction: byRoot(async () => ({ signedTransaction: await signedElsewhere(), caip2: EVM })),
  get_send_transaction_status: byRoot(({ ids }) => ({ sendTransactionStatusId: ids.send })),
  get_nonces: byRoot(({ ids }) => ({ address: ids.address, caip2: EVM, nonce: true, gasStationNonce: true })),
  get_wallet_address_balances: byRoot(({ ids }) => ({ address: ids.address, caip2: EVM })),
  list_eth_transaction_history: byRoot(({ ids }) => ({ address: ids.address, caip2: EVM })),
  list_supported_assets: byRoot(() => ({ caip2: EVM })),
  upsert_gas_usage_config: byRoot(() => gasUsageConfig()),
  get_gas_usage: byRoot(() => ({})),
};
