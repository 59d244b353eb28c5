import type { ChainFormat, TransactionFormat } from '../chain.ts';
import { bitcoinFacts } from './facts.ts';
import { BITCOIN_FIELDS } from './field-table.ts';
import { bitcoinMovements } from './movements.ts';
import { fitParsed, type ParsedBitcoin } from './parsed.ts';

const transactions: TransactionFormat<ParsedBitcoin> = {
  type: 'TRANSACTION_TYPE_BITCOIN',
  fields: BITCOIN_FIELDS,
  fit: fitParsed,
  read: (unsigned, signer) => fitParsed(unsigned, signer).parsed,
  interfacesNeeded: () => [],
  namespaces: ({ transaction }) => ({ bitcoin: { tx: bitcoinFacts(transaction) } }),
  batched: () => [],
  movements: bitcoinMovements,
  needsOwnContracts: () => false,
  // The fee is part of what leaves.
  fees: () => [],
};

export const bitcoinChainFormat = {
  namespace: 'bip122',
  // 1 stands for the coin of every test network.
  assets: { kinds: { slip44: (reference) => (reference === '0' || reference === '1' ? reference : undefined) } },
  transactions,
} as const satisfies ChainFormat;
