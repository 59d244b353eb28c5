import { ApiError } from '../lib/errors.ts';
import { signableBitcoin } from './bitcoin/bitcoin.ts';
import { signableEthereum } from './ethereum/transaction.ts';
import { refused } from './input.ts';
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

export const isTaproot = (addressFormat: string): boolean => /^ADDRESS_FORMAT_BITCOIN_.*_P2TR$/.test(addressFormat);
export const isSpark = (addressFormat: string): boolean => addressFormat.startsWith('ADDRESS_FORMAT_SPARK_');

interface FittedSignable {
  /** The account that the signatures are made as. */
  readonly account: SignerAccount;
  readonly signable: Signable;
}

/** Who is asked to sign: one account, or a key by its id, which stands for all its addresses. */
interface Candidates {
  readonly account: SignerAccount;
  readonly addresses: readonly SignerAccount[];
}

/** Parses an unsigned transaction for its signer; refuses before any key is touched. */
export function signableOf(type: TransactionType, unsigned: string, signer: Candidates): FittedSignable {
  // Only in Bitcoin does the address decide what is the signer's to sign.
  const owned = type === 'TRANSACTION_TYPE_BITCOIN' ? signer.addresses.filter(isBitcoin) : [];
  const refusals: unknown[] = [];
  for (const account of owned.length === 0 ? [signer.account] : owned) {
    try {
      return { account, signable: signableAs(type, unsigned, account) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refusals.push(error);
    }
  }
  throw refusals[0];
}

const isBitcoin = ({ addressFormat }: SignerAccount): boolean => addressFormat.startsWith('ADDRESS_FORMAT_BITCOIN_');

function signableAs(type: TransactionType, unsigned: string, account: SignerAccount): Signable {
  if (type === 'TRANSACTION_TYPE_BITCOIN') return signableBitcoin(unsigned, account);
  if (isTaproot(account.addressFormat) || isSpark(account.addressFormat)) {
    throw refused('an account that signs with Schnorr signatures cannot sign it');
  }
  switch (type) {
    case 'TRANSACTION_TYPE_ETHEREUM':
      return signableEthereum(unsigned, account);
    case 'TRANSACTION_TYPE_SOLANA':
      return signableSolana(unsigned, account);
    case 'TRANSACTION_TYPE_TRON':
      return signableTron(unsigned, account);
    case 'TRANSACTION_TYPE_TEMPO':
      return signableTempo(unsigned, account);
  }
}
