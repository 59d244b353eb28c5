import type { Candidates } from '../signable.ts';
import { ethereumAddress } from './address.ts';
import { requireSecp256k1 } from './fields.ts';
import type { EthereumTransaction } from './transaction.ts';

export interface ParsedEthereum {
  readonly type: 'TRANSACTION_TYPE_ETHEREUM';
  readonly transaction: EthereumTransaction;
  /** Whose transaction it is, in lower case. */
  readonly from: string;
}

export function senderOf({ account }: Candidates): string {
  requireSecp256k1(account);
  return ethereumAddress(account.publicKey);
}
