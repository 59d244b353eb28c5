import type { ChainFormat, TransactionFormat } from '../chain.ts';
import { evmAssets } from '../ethereum/assets.ts';
import { batchedCalls } from '../ethereum/batch.ts';
import { selectorOf } from '../ethereum/fields.ts';
import { mayCallWrappers } from '../ethereum/movements.ts';
import { senderOf } from '../ethereum/parsed.ts';
import { fitAccount } from '../signable.ts';
import { tempoFacts } from './facts.ts';
import { tokenFee } from './fee-token.ts';
import { TEMPO_FIELDS } from './field-table.ts';
import { evmCalls, tempoMovements } from './movements.ts';
import { parseTempoTransaction, signableTempo, type TempoTransaction } from './transaction.ts';

export interface ParsedTempo {
  readonly type: 'TRANSACTION_TYPE_TEMPO';
  readonly transaction: TempoTransaction;
  /** Whose transaction it is, in lower case. */
  readonly from: string;
}

const transactions: TransactionFormat<ParsedTempo> = {
  type: 'TRANSACTION_TYPE_TEMPO',
  fields: TEMPO_FIELDS,
  fit: fitAccount(signableTempo),
  read: (unsigned, signer) => ({
    type: 'TRANSACTION_TYPE_TEMPO',
    transaction: parseTempoTransaction(unsigned),
    from: senderOf(signer),
  }),
  interfacesNeeded: () => [],
  namespaces: ({ transaction, from }) => ({ tempo: { tx: tempoFacts(transaction, from) } }),
  batched: (parsed) =>
    batchedCalls(parsed.from, evmCalls(parsed.transaction)).map(({ to, value, data }) => ({
      ...parsed,
      transaction: { ...parsed.transaction, calls: [{ to, value, input: data, selector: selectorOf(data) }] },
    })),
  movements: ({ transaction, from }, own) => tempoMovements(transaction, from, own),
  needsOwnContracts: ({ transaction, from }) =>
    transaction.authorizationList.length > 0 || mayCallWrappers(from, evmCalls(transaction)),
  fees({ transaction: { chainId, gasLimit, maxFeePerGas, feePayer, feeToken } }) {
    if (feePayer.kind !== 'sender') return [];
    // The account's own choice, or that of its calls, where the transaction names none.
    return [tokenFee(chainId, feeToken === '' ? undefined : feeToken, gasLimit * maxFeePerGas)];
  },
};

/** Its chains are configured as EVM chains; transactions of its own type are signed and not sent. */
export const tempoFormat = { namespace: 'eip155', assets: evmAssets, transactions } as const satisfies ChainFormat;
