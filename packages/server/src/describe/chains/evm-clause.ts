import type { EvmCall } from '../../chains/ethereum/batch.ts';
import type { DynamicValue } from '../../policy/index.ts';
import { nativeUnit } from '../chain-names.ts';
import type { Mark } from '../risk.ts';
import type { Field, Recipient, SentenceContext } from '../sentence.ts';
import { count, counted, say, strong, type TextPart, written } from '../text.ts';
import { addressPart, amount, amountText, byteCount, isUnlimited } from '../values.ts';
import { type EvmReading, readEvmCall, type Token } from './evm-call.ts';
import { cautionOf, chainPart, historyText, partyPart, recipientOf } from './parties.ts';

/** Where a call happens. */
export interface EvmPlace {
  /** Undefined for a transaction that names no chain. */
  readonly caip2: string | undefined;
  readonly from: TextPart;
  readonly fromAddress: string;
}

/** A call in words: as a sentence of its own, and as a step of several. */
export interface Clause {
  readonly alone: readonly TextPart[];
  /** In lower case, without who and where. */
  readonly step: readonly TextPart[];
  readonly marks: readonly Mark[];
  readonly consequence?: string;
  readonly recipients: readonly Recipient[];
  readonly fields: readonly Field[];
}

/** Words around the sentence that depend on the place alone. */
const onOf = (caip2: string | undefined): readonly TextPart[] =>
  caip2 === undefined ? say` on ${strong('every chain')}` : say` on ${chainPart(caip2)}`;

export function evmClause(context: SentenceContext, place: EvmPlace, call: EvmCall): Clause {
  const reading = readEvmCall(context, place.caip2, call);
  const clause = clauseOf(context, place, call, reading);
  return { ...clause, fields: [...callFields(context, place, call, reading), ...clause.fields] };
}

type Spoken = Omit<Clause, 'fields' | 'recipients'> & Partial<Pick<Clause, 'fields' | 'recipients'>>;

function clauseOf(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: EvmReading): Clause {
  const spoken = speak(context, place, call, reading);
  return { fields: [], recipients: [], ...spoken };
}

function speak(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: EvmReading): Spoken {
  switch (reading.kind) {
    case 'payment':
      return payment(context, place, reading.to, amount(call.value, unitOf(context, place)));
    case 'transfer':
      return transfer(context, place, call, reading);
    case 'approval':
      return approval(context, place, call, reading);
    case 'reduction':
      return reduction(context, place, call, reading);
    case 'approval-for-all':
      return approvalForAll(context, place, call, reading);
    case 'call':
      return known(context, place, call, reading);
    case 'unreadable':
      return unknown(context, place, call, reading);
    case 'creation':
      return creation(context, place, call);
  }
}

const unitOf = ({ chains }: SentenceContext, { caip2 }: EvmPlace) => nativeUnit(chains, caip2 ?? 'eip155:1');

const ROUTINE = { marks: [] } as const;

/** Coins or tokens that go to somebody. */
function payment(
  context: SentenceContext,
  place: EvmPlace,
  to: string,
  what: Piece,
  extra: readonly TextPart[] = [],
): Spoken {
  const { caip2, from } = place;
  const recipient = recipientOf(context, to, caip2);
  const caution = cautionOf(context, recipient);
  const party = partyPart(context, to, caip2);
  const alone =
    caip2 === undefined
      ? say`Send ${what} from ${from} to ${party}${extra}${caution === undefined ? '' : say`${caution.words},`}${onOf(caip2)}: the transaction names none.`
      : caution === undefined
        ? say`Send ${what} from ${from} to ${party}${onOf(caip2)}${extra}.`
        : say`Send ${what} from ${from}${onOf(caip2)}${extra} to ${party}${caution.words}.`;
  const field: Field = {
    label: 'To',
    value: [{ ...addressPart(to, caip2), text: recipient.address }],
    kind: 'ADDRESS',
    note: historyText(recipient, context.nowMs),
  };
  return {
    alone,
    step: say`send ${what} to ${party}${extra}${caution?.words ?? []}`,
    marks: caution === undefined ? [] : [caution.mark],
    ...(caution !== undefined && { consequence: caution.consequence }),
    recipients: [recipient],
    fields: [field],
  };
}

type Piece = TextPart | readonly TextPart[];

/** `12,500 USDC`, `unlimited USDC`, `1000000 of the smallest unit of 0x…`, `token 42 of 0x…`. */
function quantity(
  context: SentenceContext,
  { caip2 }: EvmPlace,
  { address, unit }: Token,
  { amount: value, isItem }: { readonly amount: bigint; readonly isItem: boolean },
): readonly TextPart[] {
  if (isItem) return say`${strong(`token ${value}`)} of ${partyPart(context, address, caip2)}`;
  if (unit !== undefined) {
    return [isUnlimited(value) ? strong(`unlimited ${unit.symbol}`) : amount(value, unit)];
  }
  const token = partyPart(context, address, caip2);
  if (isUnlimited(value)) return say`${strong('unlimited')} ${token}`;
  return say`${strong(String(value))} of the smallest unit of ${token}`;
}

/** Coins that a call takes along. */
const withValue = (context: SentenceContext, place: EvmPlace, { value }: EvmCall): readonly TextPart[] =>
  value === 0n ? [] : say` and send ${amount(value, unitOf(context, place))} with it`;

type Reading<Kind extends EvmReading['kind']> = EvmReading & { readonly kind: Kind };

function transfer(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: Reading<'transfer'>): Spoken {
  const { owner, to, token } = reading;
  const what = quantity(context, place, token, reading);
  if (owner === undefined || owner === place.fromAddress) {
    return payment(context, place, to, what, withValue(context, place, call));
  }
  // What is taken from another account by its leave is still sent by this signature.
  const ownerPart = partyPart(context, owner, place.caip2);
  const taken = payment(context, place, to, what, say` out of ${ownerPart}${withValue(context, place, call)}`);
  return {
    ...taken,
    marks: [...taken.marks, { risk: 'LOOK_CLOSELY', text: 'moves what another account holds' }],
    consequence: taken.consequence ?? 'It takes from an account that is not the one that signs. I want that.',
  };
}

function approval(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: Reading<'approval'>): Spoken {
  const { caip2, from } = place;
  const spender = partyPart(context, reading.spender, caip2);
  const coin = tokenPart(context, place, reading.token);
  const extra = withValue(context, place, call);
  if (reading.amount === 0n && !reading.adds && !reading.isItem) {
    return {
      alone: say`Take back from ${spender} the right to spend ${coin} of ${from}${extra}.`,
      step: say`take back from ${spender} the right to spend ${coin}${extra}`,
      ...ROUTINE,
    };
  }
  const what = quantity(context, place, reading.token, reading);
  if (reading.isItem) {
    return {
      alone: say`Let ${spender} take ${what} from ${from}${onOf(caip2)}, at any time${extra}.`,
      step: say`let ${spender} take ${what}${extra}`,
      marks: [{ risk: 'LOOK_CLOSELY', text: 'somebody else may take it' }],
      consequence: 'Whoever controls that address can take this token at any time. I want that.',
    };
  }
  if (isUnlimited(reading.amount)) {
    return {
      alone: say`Let ${spender} spend ${what} of ${from}${onOf(caip2)}, until taken back${extra}.`,
      step: say`let ${spender} spend ${what}, until taken back${extra}`,
      marks: [{ risk: 'DANGER', text: 'unlimited spending' }],
      consequence: 'Whoever controls that address can take all of this token, now and later. I want that.',
    };
  }
  const upTo = reading.adds ? 'spend another' : 'spend up to';
  return {
    alone: say`Let ${spender} ${upTo} ${what} of ${from}${onOf(caip2)}, at any time${extra}.`,
    step: say`let ${spender} spend ${what}${extra}`,
    marks: [{ risk: 'LOOK_CLOSELY', text: 'somebody else may spend' }],
    consequence: 'Whoever controls that address can take this amount at any time. I want that.',
  };
}

const tokenPart = (context: SentenceContext, { caip2 }: EvmPlace, { address, unit }: Token): TextPart =>
  unit === undefined ? partyPart(context, address, caip2) : strong(unit.symbol);

function reduction(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: Reading<'reduction'>): Spoken {
  const spender = partyPart(context, reading.spender, place.caip2);
  const what = quantity(context, place, reading.token, reading);
  const extra = withValue(context, place, call);
  return {
    alone: say`Let ${spender} spend ${what} less of ${place.from}${onOf(place.caip2)}${extra}.`,
    step: say`let ${spender} spend ${what} less${extra}`,
    ...ROUTINE,
  };
}

function approvalForAll(
  context: SentenceContext,
  place: EvmPlace,
  call: EvmCall,
  { operator, approved, token }: Reading<'approval-for-all'>,
): Spoken {
  const party = partyPart(context, operator, place.caip2);
  const contract = partyPart(context, token.address, place.caip2);
  const extra = withValue(context, place, call);
  if (!approved) {
    return {
      alone: say`Take back from ${party} the right to move what ${place.from} holds in ${contract}${extra}.`,
      step: say`take back from ${party} the right to move what is held in ${contract}${extra}`,
      ...ROUTINE,
    };
  }
  return {
    alone: say`Let ${party} move everything that ${place.from} holds or will hold in ${contract}${extra}.`,
    step: say`let ${party} move everything that is or will be held in ${contract}${extra}`,
    marks: [{ risk: 'DANGER', text: 'gives away everything in a contract' }],
    consequence: 'Whoever controls that address can take everything held there, now and later. I want that.',
  };
}

/** A call that an uploaded interface explains. Its arguments stand among the fields. */
function known(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: Reading<'call'>): Spoken {
  const { caip2, from, fromAddress } = place;
  const contract = partyPart(context, reading.contract, caip2);
  const name = { ...strong(reading.name), userText: true as const };
  const extra = withValue(context, place, call);
  const strangers = [...addressesIn([...reading.args.values()])].some((address) => address !== fromAddress);
  const hasBytes = [...reading.args.values()].some(holdsBytes);
  const mark: Mark | undefined = strangers
    ? { risk: 'LOOK_CLOSELY', text: 'names other addresses: read the fields' }
    : hasBytes
      ? { risk: 'LOOK_CLOSELY', text: 'carries bytes that may be another call: read the fields' }
      : undefined;
  return {
    alone: say`Call ${name} of ${contract} from ${from}${onOf(caip2)}${extra}.`,
    step: say`call ${name} of ${contract}${extra}`,
    marks: mark === undefined ? [] : [mark],
    ...(mark !== undefined && { consequence: 'I have read every argument in the fields and want this call.' }),
    fields: [...reading.args].map(([label, value]) => argumentField(context, place, label, value)),
  };
}

function unknown(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: Reading<'unreadable'>): Spoken {
  const contract = partyPart(context, reading.contract, place.caip2);
  const coins = call.value === 0n ? [] : say`, with ${amount(call.value, unitOf(context, place))},`;
  const where = onOf(place.caip2);
  return {
    alone: say`Sign a call of ${contract} from ${place.from}${where}${coins} that nobody here can read.`,
    step: say`make a call of ${contract}${coins} that nobody here can read`,
    marks: [{ risk: 'UNREADABLE', text: `cannot be read: ${reading.why}` }],
    consequence: 'Nobody here can say what this call does. It may move everything the account holds. I want it signed.',
    ...(reading.guess !== undefined && {
      fields: [
        {
          label: 'Looks like',
          value: [{ text: reading.guess }],
          kind: 'CODE',
          note: 'a guess by its first four bytes; nobody here vouches for it',
        },
      ],
    }),
  };
}

function creation(context: SentenceContext, place: EvmPlace, call: EvmCall): Spoken {
  const size = count(byteCount(call.data));
  const where = onOf(place.caip2);
  const extra = withValue(context, place, call);
  return {
    alone: say`Deploy a contract from ${place.from}${where}${extra}: ${strong(`${size} bytes`)} of code that nobody here can read.`,
    step: say`deploy a contract of ${strong(`${size} bytes`)} that nobody here can read${extra}`,
    marks: [{ risk: 'UNREADABLE', text: 'code that nobody here can read' }],
    consequence: 'Nobody here can say what this code does. I want it deployed.',
  };
}

function callFields(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: EvmReading): readonly Field[] {
  const { caip2 } = place;
  if (reading.kind === 'payment') return [];
  const note = 'note' in reading ? reading.note : reading.kind === 'unreadable' ? reading.why : undefined;
  const contract: Field | undefined =
    call.to === ''
      ? undefined
      : {
          label: 'Calls',
          value: [{ ...addressPart(call.to, caip2), text: addressPart(call.to).address ?? call.to }],
          kind: 'ADDRESS',
          ...(note !== undefined && { note }),
        };
  const value: Field = {
    label: 'Coins sent',
    value: [{ text: amountText(call.value, unitOf(context, place)) }],
    kind: 'AMOUNT',
  };
  const data: Field = { label: 'Data', value: [{ text: cutHex(call.data) }], kind: 'BYTES' };
  return [...(contract === undefined ? [] : [contract]), value, data];
}

const HEX_MAX = 2_048;

/** What is long stands whole among the bytes. */
export const cutHex = (hex: string): string =>
  hex.length <= HEX_MAX ? hex : `${hex.slice(0, HEX_MAX)}… (${counted(byteCount(hex), 'byte')})`;

const isAddress = (value: DynamicValue): value is { readonly kind: 'hex'; readonly text: string } =>
  typeof value === 'object' && 'kind' in value && value.kind === 'hex' && value.text.length === 42;

function* addressesIn(values: readonly DynamicValue[]): Generator<string> {
  for (const value of values) {
    if (isAddress(value)) yield value.text;
    else if (Array.isArray(value)) yield* addressesIn(value);
    else if (value instanceof Map) yield* addressesIn([...value.values()]);
    else if (typeof value === 'object' && 'items' in value) yield* addressesIn(value.items);
  }
}

function holdsBytes(value: DynamicValue): boolean {
  if (typeof value === 'boolean' || typeof value === 'string') return false;
  if (Array.isArray(value)) return value.some(holdsBytes);
  if (value instanceof Map) return [...value.values()].some(holdsBytes);
  if ('items' in value) return value.items.some(holdsBytes);
  return 'text' in value && value.text.length > 2 + 64 && value.kind === 'hex';
}

const ARGUMENT_MAX = 600;

/** Decoded values as text, in the notation of JSON with bare hex and numbers. */
export function valueText(value: DynamicValue): string {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(', ')}]`;
  if (value instanceof Map) return `{${[...value].map(([key, item]) => `${key}: ${valueText(item)}`).join(', ')}}`;
  if ('items' in value) return `(${value.items.map(valueText).join(', ')})`;
  return 'text' in value ? value.text : String((value as { readonly value: bigint }).value);
}

export function argumentField(
  context: SentenceContext,
  { caip2 }: EvmPlace,
  label: string,
  value: DynamicValue,
): Field {
  if (isAddress(value)) {
    const part = partyPart(context, value.text, caip2);
    const full = addressPart(value.text, caip2);
    return {
      label,
      value:
        part.text === full.text ? [{ ...full, text: full.address ?? value.text }] : say`${part} ${full.address ?? ''}`,
      kind: 'ADDRESS',
    };
  }
  return { label: written(label, 80).text, value: [written(valueText(value), ARGUMENT_MAX)], kind: 'TEXT' };
}
