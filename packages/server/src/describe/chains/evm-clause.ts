import type { EvmCall } from '../../chains/ethereum/batch.ts';
import type { DynamicValue } from '../../policy/index.ts';
import { nativeUnit } from '../chain-names.ts';
import type { Mark } from '../risk.ts';
import type { Field, Recipient, SentenceContext } from '../sentence.ts';
import { count, counted, say, strong, type TextPart, written } from '../text.ts';
import { addressPart, amount, amountText, byteCount, isUnlimited } from '../values.ts';
import { type Moved, worstConsequence } from './clauses.ts';
import { type EvmReading, readEvmCall, type Token } from './evm-call.ts';
import { cautionOf, chainPart, historyText, impostorCaution, partyPart, recipientOf } from './parties.ts';

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
  readonly moved: readonly Moved[];
}

/** Words around the sentence that depend on the place alone. */
const onOf = (caip2: string | undefined): readonly TextPart[] =>
  caip2 === undefined ? say` on ${strong('every chain')}` : say` on ${chainPart(caip2)}`;

const UPLOADED: Mark = {
  risk: 'LOOK_CLOSELY',
  text: 'read by an uploaded interface: whoever uploaded it vouches',
};

/** The words of a call, with what is true of every call: who vouches for its meaning, and who gets its coins. */
export function evmClause(context: SentenceContext, place: EvmPlace, call: EvmCall): Clause {
  const reading = readEvmCall(context, place.caip2, call);
  const { fields = [], recipients = [], ...spoken } = speak(context, place, call, reading);
  const coins = coinsOf(context, place, call, reading);
  const isUploaded = 'isUploaded' in reading && reading.isUploaded;
  const marks = [
    ...spoken.marks,
    ...(coins?.caution === undefined ? [] : [coins.caution.mark]),
    ...(isUploaded ? [UPLOADED] : []),
  ];
  const agreed = worstConsequence([
    spoken,
    ...(coins?.caution === undefined ? [] : [{ ...coins.caution, marks: [coins.caution.mark] }]),
    ...(isUploaded ? [{ marks: [UPLOADED], consequence: UPLOADED_CONSEQUENCE }] : []),
  ]);
  return {
    ...spoken,
    marks,
    ...(agreed !== undefined && { consequence: agreed }),
    recipients: [...recipients, ...(coins === undefined ? [] : [coins.recipient])],
    fields: [...callFields(context, place, call, reading), ...fields],
    moved: movedBy(context, place, call, reading),
  };
}

function movedBy(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: EvmReading): readonly Moved[] {
  const unit = unitOf(context, place);
  const coins = call.value === 0n ? [] : [{ asset: '', amount: call.value, unit, name: strong(unit.symbol) }];
  if (reading.kind !== 'transfer' || reading.isItem) return coins;
  const { token, amount: value } = reading;
  const name = tokenPart(context, place, token);
  return [...coins, { asset: token.address, amount: value, unit: token.unit, name }];
}

const UPLOADED_CONSEQUENCE =
  'The contract does what its uploader says only if the uploader is right. I have read the fields and want this call.';

/** The contract that gets the coins of a call. Wrapping gives back as many, by a contract that the operator has named. */
function coinsOf(context: SentenceContext, place: EvmPlace, { to, value }: EvmCall, { kind }: EvmReading) {
  if (value === 0n || to === '' || kind === 'payment') return undefined;
  const recipient = recipientOf(context, to, chainOf(place));
  return { recipient, caution: kind === 'wrapping' ? undefined : cautionOf(context, recipient, chainOf(place)) };
}

/** What the history of payments goes by. */
const chainOf = ({ caip2 }: EvmPlace): string => caip2 ?? 'eip155';

type Spoken = Omit<Clause, 'fields' | 'recipients' | 'moved'> & Partial<Pick<Clause, 'fields' | 'recipients'>>;

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
    case 'wrapping':
      return wrapping(context, place, call, reading);
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
  const recipient = recipientOf(context, to, chainOf(place));
  const caution = cautionOf(context, recipient, chainOf(place));
  const party = partyPart(context, to, caip2);
  const alone =
    caip2 === undefined
      ? say`Send ${what} from ${from} to ${party}${extra}${caution === undefined ? '' : say`${caution.words},`}${onOf(caip2)}: the transaction names none.`
      : caution === undefined
        ? say`Send ${what} from ${from} to ${party}${onOf(caip2)}${extra}.`
        : say`Send ${what} from ${from}${onOf(caip2)}${extra} to ${party}${caution.words}.`;
  const paid: Field = { label: 'Amount', value: say`${what}`, kind: 'AMOUNT' };
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
    fields: [field, paid],
  };
}

type Piece = TextPart | readonly TextPart[];

/** `12,500 USDC`, `unlimited USDC`, `1000000 of the smallest unit of 0x…`, `token 42 of 0x…`. */
function quantity(
  context: SentenceContext,
  { caip2 }: EvmPlace,
  { address, unit }: Token,
  { amount: value, isItem }: { readonly amount: bigint; readonly isItem: boolean },
  isAll = isUnlimited(value),
): readonly TextPart[] {
  if (isItem) return say`${strong(`token ${value}`)} of ${partyPart(context, address, caip2)}`;
  if (unit !== undefined) {
    return [isAll ? strong(`unlimited ${unit.symbol}`) : amount(value, unit)];
  }
  const token = partyPart(context, address, caip2);
  if (isAll) return say`${strong('unlimited')} ${token}`;
  return say`${strong(String(value))} of the smallest unit of ${token}`;
}

/** Coins that a call takes along, and what is to be said of the contract that gets them. */
function withValue(context: SentenceContext, place: EvmPlace, call: EvmCall): readonly TextPart[] {
  if (call.value === 0n) return [];
  const coins = say` and send ${amount(call.value, unitOf(context, place))} with it`;
  if (call.to === '') return coins;
  const caution = cautionOf(context, recipientOf(context, call.to, chainOf(place)), chainOf(place));
  return caution === undefined ? coins : say`${coins} to this contract${caution.words}`;
}

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

/** Balances of some tokens are counted in 96 bits: so much is more than there is of any. */
const isAsGoodAsAll = (value: bigint): boolean => isUnlimited(value, 96);

/** Who may take something: not paid, but to be compared like somebody who is. */
function spenderOf(context: SentenceContext, place: EvmPlace, address: string) {
  const recipient = recipientOf(context, address, chainOf(place));
  const caution = impostorCaution(context, recipient, chainOf(place));
  const field: Field = {
    label: 'Spender',
    value: [{ ...addressPart(address, place.caip2), text: recipient.address }],
    kind: 'ADDRESS',
    note: historyText(recipient, context.nowMs),
  };
  return {
    part: partyPart(context, address, place.caip2),
    recipients: [recipient],
    fields: [field],
    words: caution?.words ?? [],
    marks: caution === undefined ? [] : [caution.mark],
  };
}

function approval(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: Reading<'approval'>): Spoken {
  const { caip2, from } = place;
  const { part: spender, words, marks, ...told } = spenderOf(context, place, reading.spender);
  const coin = tokenPart(context, place, reading.token);
  const extra = withValue(context, place, call);
  if (reading.amount === 0n && !reading.adds && !reading.isItem) {
    return {
      alone: say`Take back from ${spender} the right to spend ${coin} of ${from}${onOf(caip2)}${extra}.`,
      step: say`take back from ${spender} the right to spend ${coin}${extra}`,
      fields: told.fields,
      ...ROUTINE,
    };
  }
  // Permit2 counts in 160 bits, and no token has half as many units.
  const isAll = !reading.isItem && isUnlimited(reading.amount, 160);
  const what = quantity(context, place, reading.token, reading, isAll);
  if (reading.isItem) {
    return {
      alone: say`Let ${spender} take ${what} from ${from}${onOf(caip2)}, at any time${extra}${words}.`,
      step: say`let ${spender} take ${what}${extra}${words}`,
      marks: [{ risk: 'LOOK_CLOSELY', text: 'somebody else may take it' }, ...marks],
      consequence: 'Whoever controls that address can take this token at any time. I want that.',
      ...told,
    };
  }
  if (isAll) {
    return {
      alone: say`Let ${spender} spend ${what} of ${from}${onOf(caip2)}, until taken back${extra}${words}.`,
      step: say`let ${spender} spend ${what}, until taken back${extra}${words}`,
      marks: [{ risk: 'DANGER', text: 'unlimited spending' }, ...marks],
      consequence: 'Whoever controls that address can take all of this token, now and later. I want that.',
      ...told,
    };
  }
  const upTo = reading.adds ? 'spend another' : 'spend up to';
  const mark: Mark = isAsGoodAsAll(reading.amount)
    ? { risk: 'DANGER', text: 'so much that it is as good as unlimited' }
    : { risk: 'LOOK_CLOSELY', text: 'somebody else may spend' };
  return {
    alone: say`Let ${spender} ${upTo} ${what} of ${from}${onOf(caip2)}, at any time${extra}${words}.`,
    step: say`let ${spender} spend ${what}${extra}${words}`,
    marks: [mark, ...marks],
    consequence: 'Whoever controls that address can take this amount at any time. I want that.',
    ...told,
  };
}

const tokenPart = (context: SentenceContext, { caip2 }: EvmPlace, { address, unit }: Token): TextPart =>
  unit === undefined ? partyPart(context, address, caip2) : strong(unit.symbol);

function reduction(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: Reading<'reduction'>): Spoken {
  const { part: spender, fields } = spenderOf(context, place, reading.spender);
  const what = quantity(context, place, reading.token, reading);
  const extra = withValue(context, place, call);
  return {
    alone: say`Let ${spender} spend ${what} less of ${place.from}${onOf(place.caip2)}${extra}.`,
    step: say`let ${spender} spend ${what} less${extra}`,
    fields,
    ...ROUTINE,
  };
}

function approvalForAll(
  context: SentenceContext,
  place: EvmPlace,
  call: EvmCall,
  { operator, approved, token }: Reading<'approval-for-all'>,
): Spoken {
  const { part: party, words, marks, ...told } = spenderOf(context, place, operator);
  const contract = partyPart(context, token.address, place.caip2);
  const extra = withValue(context, place, call);
  const where = onOf(place.caip2);
  if (!approved) {
    return {
      alone: say`Take back from ${party} the right to move what ${place.from} holds in ${contract}${where}${extra}.`,
      step: say`take back from ${party} the right to move what is held in ${contract}${extra}`,
      fields: told.fields,
      ...ROUTINE,
    };
  }
  return {
    alone: say`Let ${party} move everything that ${place.from} holds or will hold in ${contract}${where}${extra}${words}.`,
    step: say`let ${party} move everything that is or will be held in ${contract}${extra}${words}`,
    marks: [{ risk: 'DANGER', text: 'gives away everything in a contract' }, ...marks],
    consequence: 'Whoever controls that address can take everything held there, now and later. I want that.',
    ...told,
  };
}

/** Coins in another form: the contract holds them, and gives as many tokens for them. */
function wrapping(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: Reading<'wrapping'>): Spoken {
  const contract = partyPart(context, reading.contract, place.caip2);
  const coins = say` and send ${amount(call.value, unitOf(context, place))} with it`;
  return {
    alone: say`Call ${strong('deposit')} of ${contract} from ${place.from}${onOf(place.caip2)}${coins}.`,
    step: say`call ${strong('deposit')} of ${contract}${coins}`,
    ...ROUTINE,
  };
}

/** A call that an uploaded interface explains. Its arguments stand among the fields. */
function known(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: Reading<'call'>): Spoken {
  const { caip2, from, fromAddress } = place;
  const contract = partyPart(context, reading.contract, caip2);
  const name = { ...strong(written(reading.name, 80).text), userText: true as const };
  const extra = withValue(context, place, call);
  const strangers = [...addressesIn([...reading.args.values()])].some((address) => address !== fromAddress);
  const { opaqueBytes } = reading;
  const opaque = opaqueBytes === 0 ? [] : say`, with ${strong(counted(opaqueBytes, 'byte'))} that nobody here can read`;
  const marks: Mark[] = [
    ...(strangers ? [{ risk: 'LOOK_CLOSELY' as const, text: 'names other addresses: read the fields' }] : []),
    ...(opaqueBytes > 0
      ? [{ risk: 'UNREADABLE' as const, text: 'carries bytes that nobody here can read: they may be another call' }]
      : []),
  ];
  const consequence =
    opaqueBytes > 0
      ? 'Nobody here can say what the contract does with these bytes. I want this call.'
      : 'I have read every argument in the fields and want this call.';
  return {
    alone: say`Call ${name} of ${contract} from ${from}${onOf(caip2)}${extra}${opaque}.`,
    step: say`call ${name} of ${contract}${extra}${opaque}`,
    marks,
    ...(marks.length > 0 && { consequence }),
    fields: [...reading.args].map(([label, value]) => argumentField(context, place, label, value)),
  };
}

function unknown(context: SentenceContext, place: EvmPlace, call: EvmCall, reading: Reading<'unreadable'>): Spoken {
  const contract = partyPart(context, reading.contract, place.caip2);
  const caution =
    call.value === 0n ? undefined : cautionOf(context, recipientOf(context, call.to, chainOf(place)), chainOf(place));
  const coins =
    call.value === 0n ? [] : say`, with ${amount(call.value, unitOf(context, place))} for it${caution?.words ?? []},`;
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
      label: written(label, 80).text,
      value:
        part.text === full.text ? [{ ...full, text: full.address ?? value.text }] : say`${part} ${full.address ?? ''}`,
      kind: 'ADDRESS',
    };
  }
  return { label: written(label, 80).text, value: [written(valueText(value), ARGUMENT_MAX)], kind: 'TEXT' };
}
