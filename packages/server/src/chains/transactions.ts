import { type BitcoinTransaction, fitBitcoin } from './bitcoin/bitcoin.ts';
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

export interface FittedSignable {
  /** The account that the signatures are made as. */
  readonly account: SignerAccount;
  readonly signable: Signable;
  /** Of a Bitcoin transaction what it says, which depends on who signs. */
  readonly bitcoin?: BitcoinTransaction;
}

/** Who is asked to sign: one account, or a key by its id, which stands for all its addresses. */
interface Candidates {
  readonly account: SignerAccount;
  readonly addresses: readonly SignerAccount[];
}

/** Parses an unsigned transaction for its signer; refuses before any key is touched. */
export function signableOf(type: TransactionType, unsigned: string, signer: Candidates): FittedSignable {
  const { account } = signer;
  if (type !== 'TRANSACTION_TYPE_BITCOIN') return { account, signable: signableAs(type, unsigned, account) };
  // Only in Bitcoin does the address decide what is the signer's to sign.
  const owned = signer.addresses.filter(isBitcoin);
  const fitted = fitBitcoin(unsigned, owned.length === 0 ? [account] : owned);
  return { ...fitted, bitcoin: fitted.signable.transaction };
}

const isBitcoin = ({ addressFormat }: SignerAccount): boolean => addressFormat.startsWith('ADDRESS_FORMAT_BITCOIN_');

function signableAs(
  type: Exclude<TransactionType, 'TRANSACTION_TYPE_BITCOIN'>,
  unsigned: string,
  account: SignerAccount,
): Signable {
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
