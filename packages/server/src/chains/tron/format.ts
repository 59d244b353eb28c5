import type { ChainFormat, TransactionFormat } from '../chain.ts';
import { fitAccount } from '../signable.ts';
import { readTronAddress } from './address.ts';
import { tronFacts } from './facts.ts';
import { TRON_FIELDS } from './field-table.ts';
import { tronMovements } from './movements.ts';
import { parseTron, signableTron, type TronTransaction } from './tron.ts';

export interface ParsedTron {
  readonly type: 'TRANSACTION_TYPE_TRON';
  readonly transaction: TronTransaction;
}

const COIN = '195';

const transactions: TransactionFormat<ParsedTron> = {
  type: 'TRANSACTION_TYPE_TRON',
  fields: TRON_FIELDS,
  fit: fitAccount(signableTron),
  read: (unsigned) => ({ type: 'TRANSACTION_TYPE_TRON', transaction: parseTron(unsigned) }),
  interfacesNeeded: () => [],
  namespaces: ({ transaction }) => ({ tron: { tx: tronFacts(transaction) } }),
  batched: () => [],
  movements: ({ transaction }) => tronMovements(transaction),
  needsOwnContracts: () => false,
  // What is taken for bandwidth is not in a transaction.
  fees({ transaction: { contract, feeLimit: amount } }) {
    if (contract[0].type !== 'TriggerSmartContract') return [];
    return [{ chain: 'tron', chainReference: undefined, kind: 'slip44', assetReference: COIN, amount }];
  },
};

export const tronFormat = {
  namespace: 'tron',
  assets: {
    kinds: {
      slip44: (reference) => (reference === COIN ? reference : undefined),
      trc10: (reference) => (/^(0|[1-9][0-9]*)$/.test(reference) ? reference : undefined),
      trc20: readTronAddress,
    },
  },
  transactions,
} as const satisfies ChainFormat;
