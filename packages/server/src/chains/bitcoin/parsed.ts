import { toHex } from '../../lib/encoding.ts';
import type { Candidates, FittedSignable, SignerAccount } from '../signable.ts';
import { type BitcoinTransaction, bitcoinFormat, fitBitcoin } from './bitcoin.ts';
import { keyScripts } from './script.ts';

export interface ParsedBitcoin {
  readonly type: 'TRANSACTION_TYPE_BITCOIN';
  readonly transaction: BitcoinTransaction;
  /** The output script, in hex, of the inputs that are signed. */
  readonly signedScript: string;
  /**
   * Output scripts of the account that signs. Those of the key's other address formats are not among them: their inputs
   * are signed in other calls, and what returns must be subtracted in one of them only.
   */
  readonly ownScripts: ReadonlySet<string>;
}

/** The address decides what is the signer's to sign, and only for its signer is it known which amounts are proven. */
export function fitParsed(
  unsigned: string,
  { account: named, addresses }: Candidates,
): FittedSignable<ParsedBitcoin> & { readonly parsed: ParsedBitcoin } {
  const owned = addresses.filter(hasBitcoinAddress);
  const { account, signable } = fitBitcoin(unsigned, owned.length === 0 ? [named] : owned);
  return { account, signable, parsed: parsedFor(signable.transaction, account) };
}

const hasBitcoinAddress = ({ addressFormat }: SignerAccount): boolean =>
  addressFormat.startsWith('ADDRESS_FORMAT_BITCOIN_');

function parsedFor(transaction: BitcoinTransaction, account: SignerAccount): ParsedBitcoin {
  const { output, wrapped } = keyScripts(bitcoinFormat(account).type, account.publicKey);
  const scripts = wrapped === undefined ? [output] : [output, wrapped];
  return {
    type: 'TRANSACTION_TYPE_BITCOIN',
    transaction,
    signedScript: toHex(output),
    ownScripts: new Set(scripts.map(toHex)),
  };
}
