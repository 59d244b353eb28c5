import { keccak_256 } from '@noble/hashes/sha3.js';
import { CALLS_MAX, type EvmCall, unbatched } from '../../chains/ethereum/batch.ts';
import { authorityOf } from '../../chains/ethereum/eip7702.ts';
import { ethereumFees } from '../../chains/ethereum/fees.ts';
import { type EthereumTransaction, serializeEthereumTransaction } from '../../chains/ethereum/transaction.ts';
import { TEMPO_CHAIN_IDS } from '../../chains/tempo/fee-token.ts';
import { toHex } from '../../lib/encoding.ts';
import { ApiError } from '../../lib/errors.ts';
import { chainTitle, evmCaip2, nativeUnit } from '../chain-names.ts';
import type { Mark } from '../risk.ts';
import { type Field, riskOf, type Sentence, type SentenceContext, type SignedBytes, type Step } from '../sentence.ts';
import { count, say, strong, type TextPart } from '../text.ts';
import { addressPart, amountText } from '../values.ts';
import { distinctMarks, sumWords, worstConsequence } from './clauses.ts';
import { type Clause, type EvmPlace, evmClause } from './evm-clause.ts';
import { type FeeWords, feeWords, withFee } from './fee.ts';
import { codeField } from './handed-over.ts';
import { chainPart, senderOf, signerPart } from './parties.ts';

const NO_CODE = `0x${'00'.repeat(20)}`;

/** A transaction of an EVM chain that `from` signs. */
export function ethereumSentence(context: SentenceContext, tx: EthereumTransaction, from: string): Sentence {
  const caip2 = tx.chainId === 0n ? undefined : evmCaip2(tx.chainId);
  const said = withFee(callsSentence(context, caip2, from, [tx]), feeOf(context, tx));
  // Each takes a while to recover.
  const authorizations = tx.authorizationList
    .slice(0, AUTHORIZATIONS_MAX)
    .map((entry) => ({ ...entry, authority: authorityOf(entry) }));
  const delegated = authorizations
    .filter(({ authority }) => authority === from)
    .map((entry) => delegationClause(context, signerPart(context, from, caip2), entry.chainId, entry.address));
  const more = [
    ...(caip2 === undefined ? [UNPROTECTED] : []),
    ...(tx.authorizationList.length > AUTHORIZATIONS_MAX ? [MORE_AUTHORIZATIONS] : []),
  ];
  const consequence = worstConsequence([...more, said, ...delegated]);
  const marks = [said, ...delegated, ...more].flatMap(({ marks: found }): readonly Mark[] => found);
  return {
    ...said,
    parts: delegated.length === 0 ? said.parts : say`${said.parts} ${delegated.flatMap(({ alone }) => say`${alone} `)}`,
    marks,
    ...(consequence !== undefined && { consequence }),
    steps:
      delegated.length === 0
        ? (said.steps ?? [])
        : [
            ...(said.steps?.length ? said.steps : [{ sentence: said.parts, risk: riskOf(said) }]),
            ...delegated.map(({ alone, marks: found }) => ({ sentence: alone, risk: riskOf({ marks: found }) })),
          ],
    fields: [
      ...(said.fields ?? []),
      ...transactionFields(tx),
      ...authorizations.map((entry, index) => codeField(context, entry, index, entry.authority)),
    ],
    bytes: bytesOf(tx),
  };
}

const UNREAD_CONSEQUENCE =
  'Not everything in this transaction is told here. It may move everything the account holds. I want it signed.';

const AUTHORIZATIONS_MAX = 100;
const MORE_AUTHORIZATIONS = {
  marks: [{ risk: 'UNREADABLE', text: `more than ${AUTHORIZATIONS_MAX} authorizations` }],
  consequence: UNREAD_CONSEQUENCE,
} as const;

const UNPROTECTED = {
  marks: [{ risk: 'DANGER', text: 'good on every chain: it names none' }],
  consequence: 'Anybody can repeat this transaction on every other chain where the account has coins. I want that.',
} as const;

function bytesOf(tx: EthereumTransaction): SignedBytes {
  const unsigned = serializeEthereumTransaction(tx);
  const digest = toHex(keccak_256(Buffer.from(unsigned, 'hex')));
  return { algorithm: 'keccak-256', digest: `0x${digest}`, unsigned: `0x${unsigned}` };
}

export const gweiText = (wei: bigint): TextPart => ({ text: amountText(wei, { symbol: 'gwei', decimals: 9 }) });

/** Fees that a rollup takes for its data are not in a transaction. */
function feeOf(context: SentenceContext, tx: EthereumTransaction): FeeWords {
  const [fee] = ethereumFees(tx);
  return evmFee(context, tx.chainId, fee?.amount, tx.value);
}

/** Prices of gas on Tempo are in 10^-18 dollars. */
const DOLLARS = { symbol: 'USD', decimals: 18 };

export function evmFee(context: SentenceContext, chainId: bigint, most: bigint | undefined, sent: bigint): FeeWords {
  if (TEMPO_CHAIN_IDS.includes(chainId)) return feeWords({ family: 'tempo', most, unit: DOLLARS, sent: 0n });
  const unit = nativeUnit(context.chains, evmCaip2(chainId === 0n ? 1n : chainId));
  return feeWords({ family: 'eip155', most, unit, sent });
}

function transactionFields(tx: EthereumTransaction): readonly Field[] {
  const caip2 = evmCaip2(tx.chainId === 0n ? 1n : tx.chainId);
  const fields: Field[] = [
    {
      label: 'Chain',
      value: [{ text: tx.chainId === 0n ? 'every chain: none is named' : `${chainTitle(caip2)} (${caip2})` }],
      kind: 'TEXT',
    },
    { label: 'Nonce', value: [{ text: count(tx.nonce) }], kind: 'TEXT' },
    { label: 'Gas limit', value: [{ text: count(tx.gas) }], kind: 'TEXT' },
    { label: 'Price of gas, at most', value: [gweiText(tx.maxFeePerGas)], kind: 'AMOUNT' },
    ...(tx.type === 'TYPE_2' || tx.type === 'TYPE_3' || tx.type === 'TYPE_4'
      ? [{ label: 'Tip, at most', value: [gweiText(tx.maxPriorityFeePerGas)], kind: 'AMOUNT' as const }]
      : []),
  ];
  if (tx.accessList.length > 0) {
    fields.push({ label: 'Access list', value: say`${tx.accessList.length} contracts`, kind: 'TEXT' });
  }
  if (tx.blobVersionedHashes.length > 0) {
    fields.push({ label: 'Blobs', value: say`${tx.blobVersionedHashes.length}`, kind: 'TEXT' });
  }
  return fields;
}

/** Calls that an account makes in one transaction; those of a batch stand in its place. */
export function callsSentence(
  context: SentenceContext,
  caip2: string | undefined,
  from: string,
  calls: readonly EvmCall[],
): Sentence {
  const place: EvmPlace = { caip2, from: signerPart(context, from, caip2), fromAddress: from.toLowerCase() };
  const read = readCalls(place.fromAddress, calls);
  const clauses = read.calls.map((call) => evmClause(context, place, call));
  const sender = senderOf(context, from, caip2);
  const marks = distinctMarks([...clauses.flatMap(({ marks: found }) => found), ...read.marks]);
  const consequence = worstConsequence([
    ...clauses,
    ...(read.marks.length === 0 ? [] : [{ marks: read.marks, consequence: UNREAD_CONSEQUENCE }]),
  ]);
  const recipients = clauses.flatMap(({ recipients: paid }) => paid);
  const common = { marks, ...(consequence !== undefined && { consequence }), sender, recipients };
  const [only, ...others] = clauses;
  if (only !== undefined && others.length === 0) return { ...common, parts: only.alone, fields: only.fields };
  const where = say` on ${caip2 === undefined ? strong('every chain') : chainPart(caip2)}`;
  const numbered = clauses.slice(0, STEPS_SHOWN).map(({ step }, index) => say`${index + 1}. ${step}`);
  const rest = clauses.length - numbered.length;
  const listed = numbered.flatMap((parts, index) => say`${index === 0 ? '' : '; '}${parts}`);
  return {
    ...common,
    parts: say`From ${place.from}${where}, together: ${listed}${rest === 0 ? '' : say`; and ${strong(`${count(rest)} more`)}${sumWords(clauses.flatMap(({ moved }) => moved))}`}.`,
    steps: clauses.map(({ step, marks: found }): Step => ({ sentence: step, risk: riskOf({ marks: found }) })),
    fields: clauses.flatMap(({ fields }, index) =>
      fields.map((field) => ({ ...field, label: `${index + 1}. ${field.label}` })),
    ),
  };
}

/** More are told one by one below the sentence. */
const STEPS_SHOWN = 4;

interface ReadCalls {
  readonly calls: readonly EvmCall[];
  /** Of what is not told, or not known. */
  readonly marks: readonly Mark[];
}

/** A batch that cannot be read, or that has nothing in it, stays the one call that it is. */
function readCalls(from: string, calls: readonly EvmCall[]): ReadCalls {
  try {
    const read = unbatched(from, calls);
    return bounded(read.length === 0 ? calls : read);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { calls: told, marks } = bounded(calls);
    return { calls: told, marks: [{ risk: 'UNREADABLE', text: `cannot be read: ${error.message}` }, ...marks] };
  }
}

const bounded = (calls: readonly EvmCall[]): ReadCalls =>
  calls.length <= CALLS_MAX
    ? { calls, marks: [] }
    : {
        calls: calls.slice(0, CALLS_MAX),
        marks: [{ risk: 'UNREADABLE', text: `more than ${count(CALLS_MAX)} calls` }],
      };

/** EIP-7702: an account borrows code. */
export function delegationClause(
  context: SentenceContext,
  account: TextPart,
  chainId: bigint,
  address: string,
): Pick<Clause, 'alone' | 'marks' | 'consequence'> {
  const caip2 = chainId === 0n ? undefined : evmCaip2(chainId);
  const where = caip2 === undefined ? say`on ${strong('every chain')}` : say`on ${chainPart(caip2)}`;
  if (address === NO_CODE) {
    return { alone: say`Take ${account} back from the code that it was handed to, ${where}.`, marks: [] };
  }
  const isBatch = [...context.chains.values()].some(
    (chain) =>
      (caip2 === undefined || chain.caip2 === caip2) && chain.batchContract?.toLowerCase() === address.toLowerCase(),
  );
  if (isBatch && caip2 !== undefined) {
    return {
      alone: say`Let ${account} borrow the code of ${strong('CustosBatch')} ${where}: it obeys no key but that of ${account}.`,
      marks: [{ risk: 'LOOK_CLOSELY', text: 'changes what the account can do' }],
      consequence: 'The account then runs the code of the configured batch contract. I want that.',
    };
  }
  return {
    alone: say`Hand ${account} over to the code of ${addressPart(address, caip2)} ${where}: it can then move everything in it.`,
    marks: [{ risk: 'DANGER', text: 'hands the whole account over to code' }],
    consequence: 'That code can then move everything in the account, until it is taken back. I want that.',
  };
}
