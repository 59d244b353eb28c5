import type { Domain } from '../../engine/domain.ts';
import { ethSendRawTransaction } from './operations/eth-send-raw-transaction.ts';
import { ethSendTransaction } from './operations/eth-send-transaction.ts';
import { getGasUsage } from './operations/get-gas-usage.ts';
import { getNonces } from './operations/get-nonces.ts';
import { getSendTransactionStatus } from './operations/get-send-transaction-status.ts';
import { getWalletAddressBalances } from './operations/get-wallet-address-balances.ts';
import { listEthTransactionHistory } from './operations/list-eth-transaction-history.ts';
import { solSendTransaction } from './operations/sol-send-transaction.ts';
import { upsertGasUsageConfig } from './operations/upsert-gas-usage-config.ts';

export const sends: Domain = {
  name: 'sends',
  operations: [
    ethSendRawTransaction,
    ethSendTransaction,
    getGasUsage,
    getNonces,
    getSendTransactionStatus,
    getWalletAddressBalances,
    listEthTransactionHistory,
    solSendTransaction,
    upsertGasUsageConfig,
  ],
};
