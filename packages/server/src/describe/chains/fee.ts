import type { Mark } from '../risk.ts';
import type { Field, Sentence } from '../sentence.ts';
import { say, strong, type TextPart } from '../text.ts';
import { amountText, type Unit } from '../values.ts';
import { distinctMarks, worstConsequence } from './clauses.ts';

// What a transaction costs besides what it sends. A fee can empty an account as well as a payment can, and nobody gets it
// who was paid before (protocol/activities 8.5).

type FeeFamily = 'eip155' | 'tempo' | 'solana' | 'bip122' | 'tron';

/** Ten times what is dangerous beside a small payment is so beside any. */
const ALWAYS = 10n;

/** In thousandths of the coin: from where on a fee is to be looked at, and is dangerous if it is above what is sent too. */
const LIMITS: Readonly<Record<FeeFamily, { readonly look: bigint; readonly danger: bigint }>> = {
  eip155: { look: 50n, danger: 100n },
  // In dollars.
  tempo: { look: 10_000n, danger: 100_000n },
  solana: { look: 10n, danger: 100n },
  bip122: { look: 1n, danger: 10n },
  tron: { look: 200_000n, danger: 1_000_000n },
};

export interface Fee {
  readonly family: FeeFamily;
  /** The most that may be charged; undefined where nothing limits it. */
  readonly most: bigint | undefined;
  readonly unit: Unit;
  /** Coins that the transaction sends. */
  readonly sent: bigint;
  /** Known to the last unit, as on chains where it is what the inputs leave over. */
  readonly isExact?: boolean;
  readonly note?: string;
}

export interface FeeWords {
  readonly field: Field;
  readonly marks: readonly Mark[];
  /** What the sentence adds where the fee is not usual. */
  readonly words: readonly TextPart[];
  readonly consequence?: string;
}

export function feeWords({ family, most, unit, sent, isExact = false, note }: Fee): FeeWords {
  const label = isExact ? 'Fee' : 'Fee, at most';
  const noted = note === undefined ? {} : { note };
  if (most === undefined) {
    return {
      field: { label, value: [{ text: 'not limited by the request' }], kind: 'TEXT', ...noted },
      marks: [{ risk: 'LOOK_CLOSELY', text: 'nothing in the request limits the fee' }],
      words: say`, for ${strong('a fee that nothing limits')}`,
      consequence: 'The fee can be as high as the chain asks for. I want that.',
    };
  }
  const field: Field = { label, value: [{ text: amountText(most, unit) }], kind: 'AMOUNT', ...noted };
  const scale = 10n ** BigInt(unit.decimals);
  const { look, danger } = LIMITS[family];
  const isAbove = (thousandths: bigint): boolean => most * 1000n > thousandths * scale;
  const words = say`, for a fee of ${isExact ? '' : 'up to '}${strong(amountText(most, unit))}`;
  const isMore = most > sent;
  if (isAbove(danger) && (isMore || isAbove(danger * ALWAYS))) {
    const text = isMore ? 'the fee can be more than what is sent' : 'an extreme fee';
    return {
      field,
      marks: [{ risk: 'DANGER', text }],
      words,
      consequence: 'The fee goes to whoever builds the block, and does not come back. I want to pay that much.',
    };
  }
  if (!isAbove(look)) return { field, marks: [], words: [] };
  return {
    field,
    marks: [{ risk: 'LOOK_CLOSELY', text: 'a high fee' }],
    words,
    consequence: 'The fee is high, and does not come back. I want to pay that much.',
  };
}

/** For a fee that somebody else pays, or that is settled later. */
export const settledFee = (...value: readonly TextPart[]): FeeWords => ({
  field: { label: 'Fee', value, kind: 'TEXT' },
  marks: [],
  words: [],
});

/** A fee that is not usual is said behind the sentence. */
export function withFee(said: Sentence, fee: FeeWords): Sentence {
  const consequence = worstConsequence([said, fee]);
  return {
    ...said,
    parts: fee.words.length === 0 ? said.parts : say`${said.parts} It is sent${fee.words}.`,
    marks: distinctMarks([...said.marks, ...fee.marks]),
    ...(consequence !== undefined && { consequence }),
    fields: [...(said.fields ?? []), fee.field],
  };
}
