import { Sends } from '../../chains/send/sends.ts';
import type { Domain } from '../../engine/domain.ts';
import { provide } from '../../storage/stores.ts';
import { ethSendRawTransaction } from './operations/eth-send-raw-transaction.ts';
import { ethSendTransaction } from './operations/eth-send-transaction.ts';
import { getGasUsage } from './operations/get-gas-usage.ts';
import { getNonces } from './operations/get-nonces.ts';
import { getSendTransactionStatus } from './operations/get-send-transaction-status.ts';
import { getWalletAddressBalances } from './operations/get-wallet-address-balances.ts';
import { listChains } from './operations/list-chains.ts';
import { listEthTransactionHistory } from './operations/list-eth-transaction-history.ts';
import { listSends } from './operations/list-sends.ts';
import { solSendTransaction } from './operations/sol-send-transaction.ts';
import { upsertGasUsageConfig } from './operations/upsert-gas-usage-config.ts';
import { SendReader } from './store/sends.ts';
import { tables } from './tables.ts';

export const sends: Domain = {
  name: 'sends',
  operations: [
    ethSendRawTransaction,
    ethSendTransaction,
    getGasUsage,
    getNonces,
    getSendTransactionStatus,
    getWalletAddressBalances,
    listChains,
    listEthTransactionHistory,
    listSends,
    solSendTransaction,
    upsertGasUsageConfig,
  ],
  tables,
  provides: [provide(Sends, SendReader)],
};
