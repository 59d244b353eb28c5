import { ApiError } from '../lib/errors.ts';
import { signableBitcoin } from './bitcoin/bitcoin.ts';
import { signableEthereum } from './ethereum/transaction.ts';
import type { Signable, SignerAccount } from './signable.ts';
import { signableSolana } from './solana/solana.ts';
import { signableTempo } from './tempo/transaction.ts';
import { signableTron } from './tron/tron.ts';

export const TRANSACTION_TYPES = [
  'TRANSACTION_TYPE_ETHEREUM',
  'TRANSACTION_TYPE_SOLANA',
  'TRANSACTION_TYPE_TRON',
  'TRANSACTION_TYPE_BITCOIN',
  'TRANSACTION_TYPE_TEMPO',
] as const;
export type TransactionType = (typeof TRANSACTION_TYPES)[number];

/** Parses an unsigned transaction for its signer; refuses before any key is touched. */
export function signableOf(type: string, unsigned: string, signer: SignerAccount): Signable {
  switch (type as TransactionType) {
    case 'TRANSACTION_TYPE_ETHEREUM':
      return signableEthereum(unsigned, signer);
    case 'TRANSACTION_TYPE_SOLANA':
      return signableSolana(unsigned, signer);
    case 'TRANSACTION_TYPE_TRON':
      return signableTron(unsigned, signer);
    case 'TRANSACTION_TYPE_BITCOIN':
      return signableBitcoin(unsigned, signer);
    case 'TRANSACTION_TYPE_TEMPO':
      return signableTempo(unsigned, signer);
    default:
      throw new ApiError('UNSUPPORTED_TRANSACTION_TYPE', `type must be one of ${TRANSACTION_TYPES.join(', ')}`);
  }
}
