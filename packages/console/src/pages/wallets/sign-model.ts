import type { SignRawPayloadParameters } from '@custos/sdk';
import type { Account } from '../../api/chains.ts';
import { personalMessage } from '../../lib/evm.ts';

type Signer = Pick<Account, 'address' | 'addressFormat' | 'curve'>;

const isEthereum = ({ addressFormat }: Signer): boolean => addressFormat === 'ADDRESS_FORMAT_ETHEREUM';

/** What is signed for a message, by the habits of the account's chain. */
export function signParameters(account: Signer, message: string): SignRawPayloadParameters {
  const text = { signWith: account.address, payload: message, encoding: 'PAYLOAD_ENCODING_TEXT_UTF8' } as const;
  if (account.curve === 'CURVE_ED25519') return { ...text, hashFunction: 'HASH_FUNCTION_NOT_APPLICABLE' };
  if (!isEthereum(account)) return { ...text, hashFunction: 'HASH_FUNCTION_SHA256' };
  // As text and not as hex: only so can those who approve read what they approve.
  return { ...text, payload: personalMessage(message), hashFunction: 'HASH_FUNCTION_KECCAK256' };
}

export function signRule(account: Signer): { readonly title: string; readonly text: string } {
  if (isEthereum(account)) {
    return {
      title: 'As personal_sign does (EIP-191).',
      text: 'A prefix stands before the message, so that it can never be a transaction.',
    };
  }
  if (account.curve === 'CURVE_ED25519') {
    return {
      title: 'The text itself is signed (Ed25519), without a prefix.',
      text: 'Solana wallets do the same for messages. Sui and Aptos wallets wrap messages: what expects that will not accept this signature.',
    };
  }
  return {
    title: 'SHA-256 of the text is signed, without a prefix.',
    text: 'Wallets of this chain wrap messages in their own way, such as BIP-322 on Bitcoin: what expects that will not accept this signature.',
  };
}

interface Numbers {
  readonly r: string;
  readonly s: string;
  readonly v: string;
}

/** The form in which others check it. */
export const signatureText = (account: Signer, numbers: Numbers, join: (numbers: Numbers) => string): string =>
  isEthereum(account) ? join(numbers) : `${numbers.r}${numbers.s}`;
