import { keccak_256 } from '@noble/hashes/sha3.js';
import { bitcoinFormat } from '../../chains/bitcoin/bitcoin.ts';
import { fitParsed } from '../../chains/bitcoin/parsed.ts';
import { parseEthereumTransaction } from '../../chains/ethereum/transaction.ts';
import type { Candidates, SignerAccount } from '../../chains/signable.ts';
import { evmCalls } from '../../chains/tempo/movements.ts';
import { parseTempoTransaction } from '../../chains/tempo/transaction.ts';
import type { TransactionType } from '../../chains/transactions.ts';
import { parseTron } from '../../chains/tron/tron.ts';
import { toHex } from '../../lib/encoding.ts';
import { ApiError } from '../../lib/errors.ts';
import { evmCaip2 } from '../chain-names.ts';
import type { SignerRecord } from '../names.ts';
import { type Sentence, type SentenceContext, unreadable } from '../sentence.ts';
import { say } from '../text.ts';
import { bitcoinSentence } from './bitcoin.ts';
import { worstConsequence } from './clauses.ts';
import { callsSentence, ethereumSentence, evmFee } from './evm.ts';
import { settledFee, withFee } from './fee.ts';
import { handedOver } from './handed-over.ts';
import { evmAddressOf, senderOf, signerOf, signerPart } from './parties.ts';
import { solanaSentence } from './solana.ts';
import { tronSentence } from './tron.ts';

/** A transaction to be signed, of any family. */
export function transactionSentence(
  context: SentenceContext,
  type: TransactionType,
  unsigned: string,
  signWith: string,
): Sentence {
  try {
    return read(context, type, unsigned, signWith);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return {
      ...unreadable(
        say`Sign a transaction with ${signerPart(context, signWith)} that cannot be read.`,
        `cannot be read: ${error.message}`,
        'This transaction cannot be read, and signing it will be refused.',
      ),
      sender: senderOf(context, signWith),
    };
  }
}

function read(context: SentenceContext, type: TransactionType, unsigned: string, signWith: string): Sentence {
  const signer = signerOf(context, signWith);
  switch (type) {
    case 'TRANSACTION_TYPE_ETHEREUM':
      return ethereumSentence(context, parseEthereumTransaction(unsigned), evmAddressOf(context, signWith));
    case 'TRANSACTION_TYPE_TEMPO':
      return tempoSentence(context, unsigned, evmAddressOf(context, signWith));
    case 'TRANSACTION_TYPE_SOLANA':
      return solanaSentence(context, unsigned, [signWith], undefined);
    case 'TRANSACTION_TYPE_TRON':
      return tronSentence(context, parseTron(unsigned), unsigned, signWith);
    case 'TRANSACTION_TYPE_BITCOIN': {
      if (signer === undefined) {
        throw new ApiError('RESOURCE_NOT_FOUND', 'the key that signs it is not here any more');
      }
      const { parsed, account } = fitParsed(unsigned, candidatesOf(signer));
      return bitcoinSentence(context, parsed, bitcoinFormat(account).network, unsigned, signWith);
    }
  }
}

function candidatesOf({ curve, publicKey, address, addressFormat, addresses }: SignerRecord): Candidates {
  const key = Buffer.from(publicKey, 'hex');
  const account: SignerAccount = { curve, publicKey: key, address, addressFormat };
  return { account, addresses: addresses?.map((one) => ({ ...account, ...one })) ?? [account] };
}

const HANDED_OVER = {
  marks: [{ risk: 'DANGER', text: 'lets other keys or code act for the account' }],
  consequence: 'Other keys or code can then act for the account. I want that.',
} as const;

function tempoSentence(context: SentenceContext, unsigned: string, from: string): Sentence {
  const transaction = parseTempoTransaction(unsigned);
  const { chainId, gasLimit, maxFeePerGas, feePayer } = transaction;
  const fee =
    feePayer.kind === 'sender'
      ? evmFee(context, chainId, gasLimit * maxFeePerGas, 0n)
      : settledFee({ text: 'paid by another account' });
  const said = withFee(callsSentence(context, evmCaip2(chainId), from, evmCalls(transaction)), fee);
  const bytes = Buffer.from(unsigned.replace(/^0x/i, ''), 'hex');
  const handed = handedOver(context, transaction);
  return {
    ...said,
    ...(handed !== undefined && {
      parts: say`${said.parts} It also lets ${handed.who} act for the account.`,
      fields: [...handed.fields, ...(said.fields ?? [])],
      marks: [...said.marks, ...HANDED_OVER.marks],
      consequence: worstConsequence([said, HANDED_OVER]) ?? HANDED_OVER.consequence,
    }),
    // With a fee payer the signature leaves out what that one chooses, so the digest is not that of these bytes.
    ...(feePayer.kind === 'sender' && {
      bytes: { algorithm: 'keccak-256', digest: `0x${toHex(keccak_256(bytes))}`, unsigned: `0x${toHex(bytes)}` },
    }),
  };
}
