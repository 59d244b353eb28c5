import { base58 } from '@scure/base';
import { ADDRESS_TABLE_LOOKUP, type SolanaInstruction } from '../../chains/solana/message.ts';
import { mintUnit, nativeUnit } from '../chain-names.ts';
import type { Mark, Risk } from '../risk.ts';
import type { Field, Recipient, SentenceContext } from '../sentence.ts';
import { say, strong, type TextPart } from '../text.ts';
import { addressPart, amount, isUnlimited, type Unit } from '../values.ts';
import type { Moved } from './clauses.ts';
import { cautionOf, historyText, partyPart, recipientOf, signerOf } from './parties.ts';

// What one instruction of a Solana transaction says. Every instruction becomes exactly one clause, made by one of the
// functions below, and only two of them can be routine: a payment, and what is on a closed list (protocol/activities 8.4).

/** Where instructions run, and for whom they are told. */
export interface SolanaPlace {
  /** Undefined for a transaction that is signed and not sent: it names no chain. */
  readonly caip2: string | undefined;
  /** The addresses that sign here. */
  readonly own: ReadonlySet<string>;
}

export interface SolanaClause {
  /** In lower case, without where; empty for what need not be said. */
  readonly step: readonly TextPart[];
  readonly marks: readonly Mark[];
  readonly consequence?: string;
  readonly recipients: readonly Recipient[];
  readonly fields: readonly Field[];
  /** What a sentence of its own is made of, where the clause is a payment. */
  readonly paid?: Paid;
  /** Lamports that it takes from an account that signs here. */
  readonly lamports: bigint;
  readonly moved: readonly Moved[];
}

interface Paid {
  readonly what: readonly TextPart[];
  readonly from: string;
  readonly to: TextPart;
  readonly words: readonly TextPart[];
}

/** A mark that asks for care. */
type Care = Mark & { readonly risk: Exclude<Risk, 'ROUTINE'> };

export const care = (risk: Care['risk'], text: string): Care => ({ risk, text });

/** Known to do nothing to what anybody holds. */
export const harmless = (step: readonly TextPart[] = [], fields: readonly Field[] = []): SolanaClause => ({
  step,
  marks: [],
  recipients: [],
  fields,
  lamports: 0n,
  moved: [],
});

/** Anything that is neither a payment nor harmless: at least one mark says why. */
export const told = (
  step: readonly TextPart[],
  marks: readonly [Care, ...Care[]],
  consequence: string,
  more: { readonly recipients?: readonly Recipient[]; readonly fields?: readonly Field[] } = {},
): SolanaClause => ({ step, marks, consequence, recipients: [], fields: [], lamports: 0n, moved: [], ...more });

/** What nobody here can read. */
export const unread = (name: readonly TextPart[], program: string): SolanaClause =>
  told(
    say`run ${name}, which nobody here can read`,
    [care('UNREADABLE', 'instructions that nobody here can read')],
    'Nobody here can say what these programs do with the accounts. I want it signed.',
    { fields: [addressField('Program', program)] },
  );

/** Who gets something must be readable. */
export const hiddenMarks = (address: string, role: string): readonly Care[] =>
  address === ADDRESS_TABLE_LOOKUP
    ? [care('UNREADABLE', `nobody here can read ${role}: the account comes from a table`)]
    : [];

/** An account as the sentence names it. */
export const accountPart = (context: SentenceContext, place: SolanaPlace, address: string): TextPart =>
  address === ADDRESS_TABLE_LOOKUP ? strong('an account from a table') : partyPart(context, address, place.caip2);

export const addressField = (label: string, address: string, note?: string): Field => ({
  label,
  value: [{ ...addressPart(address), text: address }],
  kind: 'ADDRESS',
  ...(note !== undefined && { note }),
});

export const isOwn = (context: SentenceContext, place: SolanaPlace, address: string): boolean =>
  place.own.has(address) || signerOf(context, address) !== undefined;

/** Of whom something is taken, where that is not the one who signs anyway. */
const ofWhom = (context: SentenceContext, place: SolanaPlace, from: string): readonly TextPart[] =>
  place.own.size === 1 && place.own.has(from) ? [] : say` of ${accountPart(context, place, from)}`;

interface PaymentTerms {
  readonly verb?: string;
  readonly what: readonly TextPart[];
  /** Whose it is. */
  readonly from: string;
  readonly to: string;
  readonly lamports?: bigint;
  /** Tokens that are paid. */
  readonly moved?: readonly Moved[];
  /** Words behind the recipient. */
  readonly extra?: readonly TextPart[];
  readonly marks?: readonly Care[];
  readonly fields?: readonly Field[];
  readonly consequence?: string;
}

/** Coins or tokens that go to somebody. Routine only where an own account pays somebody who was paid before. */
export function payment(context: SentenceContext, place: SolanaPlace, terms: PaymentTerms): SolanaClause {
  const { verb, what, from, to, extra = [], lamports = 0n } = terms;
  const party = accountPart(context, place, to);
  const isHidden = to === ADDRESS_TABLE_LOOKUP;
  const recipient = recipientOf(context, to, place.caip2 ?? 'solana');
  const caution = isHidden ? undefined : cautionOf(context, recipient, place.caip2 ?? 'solana');
  const marks = [
    ...(caution === undefined ? [] : [caution.mark]),
    ...hiddenMarks(to, 'who is paid'),
    ...(place.own.has(from) ? [] : [care('LOOK_CLOSELY', 'moves what another account holds')]),
    ...(terms.marks ?? []),
  ];
  const isPlain = verb === undefined && extra.length === 0;
  const consequence = isHidden
    ? 'Nobody here can say who gets this. I want it signed.'
    : (terms.consequence ??
      caution?.consequence ??
      (marks.length === 0 ? undefined : 'I have read every step of this transaction and want it.'));
  return {
    step: say`${verb ?? 'send'} ${what}${ofWhom(context, place, from)} to ${party}${extra}${caution?.words ?? []}`,
    marks,
    ...(consequence !== undefined && { consequence }),
    recipients: isHidden ? [] : [recipient],
    fields: [
      addressField('To', to, isHidden ? 'only the chain knows it' : historyText(recipient, context.nowMs)),
      { label: 'Amount', value: what, kind: 'AMOUNT' },
      ...(terms.fields ?? []),
    ],
    ...(isPlain && { paid: { what, from, to: party, words: caution?.words ?? [] } }),
    lamports: place.own.has(from) ? lamports : 0n,
    moved: [...coinsMoved(context, place, lamports), ...(terms.moved ?? [])],
  };
}

export const coinUnit = ({ chains }: SentenceContext, { caip2 }: SolanaPlace): Unit =>
  nativeUnit(chains, caip2 ?? 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp');

function coinsMoved(context: SentenceContext, place: SolanaPlace, lamports: bigint): readonly Moved[] {
  const unit = coinUnit(context, place);
  return lamports === 0n ? [] : [{ asset: '', amount: lamports, unit, name: strong(unit.symbol) }];
}

export const coins = (context: SentenceContext, place: SolanaPlace, lamports: bigint): readonly TextPart[] => [
  amount(lamports, coinUnit(context, place)),
];

/** `12,500 USDC`, or as much as is known of it, with what to look at. */
export function tokens(
  context: SentenceContext,
  place: SolanaPlace,
  value: bigint,
  mint: string | undefined,
): { readonly what: readonly TextPart[]; readonly marks: readonly Care[]; readonly moved: readonly Moved[] } {
  const known = mint === undefined || mint === ADDRESS_TABLE_LOOKUP ? undefined : mint;
  const unit = known === undefined ? undefined : mintUnit(context.chains, place.caip2, known);
  if (unit !== undefined) {
    return {
      what: isUnlimited(value, 64) ? [strong(`unlimited ${unit.symbol}`)] : [amount(value, unit)],
      marks: [],
      moved: [{ asset: known ?? '', amount: value, unit, name: strong(unit.symbol) }],
    };
  }
  const token = known === undefined ? strong('a token that it does not name') : partyPart(context, known, place.caip2);
  return {
    what: isUnlimited(value, 64)
      ? say`${strong('unlimited')} ${token}`
      : say`${strong(String(value))} of the smallest unit of ${token}`,
    marks: [
      known === undefined
        ? care('LOOK_CLOSELY', 'does not name its token')
        : care('LOOK_CLOSELY', 'a token that the operator has not configured'),
    ],
    // Tokens without a name may be different ones.
    moved: known === undefined ? [] : [{ asset: known, amount: value, unit: undefined, name: token }],
  };
}

/** Reads one instruction by position. What is not there makes the whole of it unreadable. */
export class InstructionReader {
  readonly data: Buffer;
  readonly accounts: readonly string[];

  constructor({ accounts, dataHex }: SolanaInstruction) {
    this.data = Buffer.from(dataHex, 'hex');
    this.accounts = accounts.map(({ accountKey }) => accountKey);
  }

  /** The number that the instruction starts with. */
  kind(width: 1 | 4): number | undefined {
    if (this.data.length < width) return undefined;
    return width === 1 ? this.data[0] : this.data.readUInt32LE(0);
  }

  account(index: number): string {
    return required(this.accounts[index]);
  }

  byte(offset: number): number {
    return required(this.data[offset]);
  }

  u64(offset: number): bigint {
    return this.#has(offset, 8).readBigUInt64LE(offset);
  }

  key(offset: number): string {
    return base58.encode(this.#has(offset, KEY_BYTES).subarray(offset, offset + KEY_BYTES));
  }

  /** The place behind a text with its length before it. */
  behindText(offset: number): number {
    const length = this.u64(offset);
    return length > BigInt(this.data.length) ? Number.MAX_SAFE_INTEGER : offset + 8 + Number(length);
  }

  #has(offset: number, bytes: number): Buffer {
    if (offset + bytes > this.data.length) throw new MissingPart();
    return this.data;
  }
}

const KEY_BYTES = 32;

/** An instruction ends before what it must have. */
export class MissingPart extends Error {}

function required<T>(found: T | undefined): T {
  if (found === undefined) throw new MissingPart();
  return found;
}
