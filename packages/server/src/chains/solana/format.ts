import { base58 } from '@scure/base';
import type { ChainFormat, TransactionFormat } from '../chain.ts';
import type { ContractInterface } from '../contract-interface-types.ts';
import { fitAccount } from '../signable.ts';
import { isSolanaKey } from './address.ts';
import { solanaFacts } from './facts.ts';
import { highestFee } from './fee.ts';
import { SOLANA_FIELDS } from './field-table.ts';
import { type SolanaInterface, solanaInterfaces } from './interface.ts';
import { solanaMovements } from './movements.ts';
import { solanaNetwork } from './network.ts';
import { parseSolana, type SolanaTransaction, signableSolana } from './solana.ts';

export interface ParsedSolana {
  readonly type: 'TRANSACTION_TYPE_SOLANA';
  readonly transaction: SolanaTransaction;
  /** Whose movements count. */
  readonly signer: string;
}

const transactions: TransactionFormat<ParsedSolana> = {
  type: 'TRANSACTION_TYPE_SOLANA',
  fields: SOLANA_FIELDS,
  fit: fitAccount(signableSolana),
  read: (unsigned, { account }) => ({
    type: 'TRANSACTION_TYPE_SOLANA',
    transaction: parseSolana(unsigned),
    signer: base58.encode(account.publicKey),
  }),
  interfacesNeeded: ({ transaction: { programKeys } }) =>
    programKeys.map((address) => ({ type: solanaInterfaces.type, address })),
  namespaces: ({ transaction }, interfaces) => ({ solana: { tx: solanaFacts(transaction, byProgram(interfaces)) } }),
  batched: () => [],
  movements: ({ transaction, signer }) => solanaMovements(transaction, signer),
  needsOwnContracts: () => false,
  fees({ transaction, signer }) {
    if (transaction.accountKeys[0] !== signer) return [];
    const amount = highestFee(transaction);
    return [{ chain: 'solana', chainReference: undefined, kind: 'slip44', assetReference: '501', amount }];
  },
};

const byProgram = (interfaces: readonly ContractInterface[]): ReadonlyMap<string, SolanaInterface> =>
  new Map(interfaces.filter((known) => known.type === solanaInterfaces.type).map((known) => [known.address, known]));

export const solanaFormat = {
  namespace: 'solana',
  assets: {
    kinds: {
      slip44: (reference) => (reference === solanaNetwork.coin.type ? reference : undefined),
      token: (reference) => (isSolanaKey(reference) ? reference : undefined),
    },
  },
  transactions,
  interfaces: solanaInterfaces,
  network: solanaNetwork,
} as const satisfies ChainFormat;
