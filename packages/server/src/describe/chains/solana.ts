import { highestFee } from '../../chains/solana/fee.ts';
import { ADDRESS_TABLE_LOOKUP } from '../../chains/solana/message.ts';
import { solanaAddress } from '../../chains/solana/signatures.ts';
import { parseWire, type SolanaTransaction } from '../../chains/solana/solana.ts';
import { withoutBatches } from '../../chains/solana/transfers.ts';
import { toHex } from '../../lib/encoding.ts';
import type { Mark } from '../risk.ts';
import { type Field, riskOf, type Sentence, type SentenceContext, type Step } from '../sentence.ts';
import { counted, listOf, say, strong, type TextPart } from '../text.ts';
import { distinctMarks, sumWords, worstConsequence } from './clauses.ts';
import { type FeeWords, feeWords, settledFee } from './fee.ts';
import { chainPart, partyPart, senderOf, signerOf, signerPart } from './parties.ts';
import { accountPart, coinUnit, type SolanaClause, type SolanaPlace } from './solana-clause.ts';
import { solanaClause } from './solana-programs.ts';

/**
 * A Solana transaction, told for all of `signWiths` together: what leaves any of them is said. It names no chain; a send
 * does.
 */
export function solanaSentence(
  context: SentenceContext,
  unsigned: string,
  signWiths: readonly string[],
  caip2: string | undefined,
): Sentence {
  const { transaction, message } = parseWire(unsigned);
  const signers = signWiths.map((signWith) => ({ signWith, address: solanaAddressOf(context, signWith) }));
  const place: SolanaPlace = { caip2, own: new Set(signers.map(({ address }) => address)) };
  const clauses = withoutBatches(transaction.instructions).map((one) => solanaClause(context, place, one));
  const fee = feeOf(context, place, transaction, clauses);
  const tableCount = transaction.accountKeys.filter((key) => key === ADDRESS_TABLE_LOOKUP).length;
  const spoken = clauses.filter(({ step }) => step.length > 0);
  const marks: Mark[] = [...clauses.flatMap(({ marks: found }) => found), ...fee.marks];
  if (tableCount > 0) marks.push({ risk: 'LOOK_CLOSELY', text: 'accounts from a table' });
  if (spoken.length === 0) marks.push({ risk: 'LOOK_CLOSELY', text: 'moves nothing: it may log somebody in' });
  const all = listOf(signers.map(({ signWith }) => signerPart(context, signWith, caip2)));
  const consequence = worstConsequence([...clauses, fee]);
  const [first] = signers;
  return {
    parts: say`${wordsOf(context, place, spoken, all, fee.words)}${tableWords(tableCount)}.`,
    marks: distinctMarks(marks),
    ...(marks.length > 0 && { consequence: consequence ?? 'Not everything in it can be read here. I want it signed.' }),
    steps:
      spoken.length < 2
        ? []
        : spoken.map(({ step, marks: found }): Step => ({ sentence: step, risk: riskOf({ marks: found }) })),
    fields: [
      ...clauses.flatMap(({ fields }, index) =>
        clauses.length === 1 ? fields : fields.map((field) => ({ ...field, label: `${index + 1}. ${field.label}` })),
      ),
      fee.field,
      ...messageFields(transaction),
    ],
    sender: senderOf(context, first?.signWith ?? '', caip2),
    recipients: clauses.flatMap(({ recipients }) => recipients),
    bytes: { algorithm: 'none', digest: `0x${toHex(message)}`, unsigned: `0x${toHex(message)}` },
  };
}

/** A key that has several addresses is that of Solana here. */
function solanaAddressOf(context: SentenceContext, signWith: string): string {
  const signer = signerOf(context, signWith);
  if (signer === undefined || signer.curve !== 'CURVE_ED25519' || signer.publicKey === '') {
    return signer?.address ?? signWith;
  }
  return solanaAddress({ curve: signer.curve, publicKey: Buffer.from(signer.publicKey, 'hex') }) ?? signer.address;
}

function feeOf(
  context: SentenceContext,
  place: SolanaPlace,
  transaction: SolanaTransaction,
  clauses: readonly SolanaClause[],
): FeeWords {
  const payer = transaction.accountKeys[0] ?? '';
  if (!place.own.has(payer)) return settledFee(...say`paid by ${partyPart(context, payer, place.caip2)}`);
  const [most, unit] = [highestFee(transaction), coinUnit(context, place)];
  const sent = clauses.reduce((sum, { lamports }) => sum + lamports, 0n);
  return feeWords({ family: 'solana', most, unit, sent });
}

function wordsOf(
  context: SentenceContext,
  place: SolanaPlace,
  spoken: readonly SolanaClause[],
  all: readonly TextPart[],
  fee: readonly TextPart[],
): readonly TextPart[] {
  const where = say` on ${chainPart(place.caip2 ?? 'solana')}`;
  const [only, ...others] = spoken;
  if (only === undefined) return say`Sign a transaction of ${all}${where} that moves nothing${fee}`;
  if (others.length > 0) return say`From ${all}${where}, together: ${numbered(spoken)}${fee}`;
  if (only.paid === undefined) return say`From ${all}${where}: ${only.step}${fee}`;
  const { what, from, to, words } = only.paid;
  const cosigners = [...place.own].filter((address) => address !== from);
  const also =
    cosigners.length === 0
      ? []
      : say`; ${listOf(cosigners.map((address) => accountPart(context, place, address)))} ${cosigners.length === 1 ? 'signs' : 'sign'} it too`;
  const payer = accountPart(context, place, from);
  return words.length === 0
    ? say`Send ${what} from ${payer} to ${to}${where}${fee}${also}`
    : say`Send ${what} from ${payer}${where}${fee} to ${to}${words}${also}`;
}

const STEPS_SHOWN = 4;

const numbered = (spoken: readonly SolanaClause[]): readonly TextPart[] =>
  spoken
    .slice(0, STEPS_SHOWN)
    .flatMap(({ step }, index) => say`${index === 0 ? '' : '; '}${index + 1}. ${step}`)
    .concat(
      spoken.length > STEPS_SHOWN
        ? say`; and ${strong(`${spoken.length - STEPS_SHOWN} more`)}${sumWords(spoken.flatMap(({ moved }) => moved))}`
        : [],
    );

const tableWords = (tableCount: number): readonly TextPart[] =>
  tableCount === 0
    ? []
    : say`; ${strong(`${counted(tableCount, 'account')} ${tableCount === 1 ? 'comes' : 'come'} from a table`)} and cannot be read`;

function messageFields({
  programKeys,
  recentBlockhash,
  addressTableLookups,
  header,
}: SolanaTransaction): readonly Field[] {
  const fields: Field[] = [
    {
      label: 'Programs',
      value: listOf(
        programKeys.map((key) => ({ text: key })),
        20,
      ),
      kind: 'TEXT',
    },
    { label: 'Signatures needed', value: say`${header.requiredSignatures}`, kind: 'TEXT' },
    { label: 'Recent blockhash', value: [{ text: recentBlockhash }], kind: 'ID' },
  ];
  for (const { addressTableKey, writableIndexes, readonlyIndexes } of addressTableLookups) {
    fields.push({
      label: 'Address table',
      value: [{ text: addressTableKey, address: addressTableKey }],
      kind: 'ADDRESS',
      note: `${counted(writableIndexes.length + readonlyIndexes.length, 'account')} of it, which only the chain knows`,
    });
  }
  return fields;
}
