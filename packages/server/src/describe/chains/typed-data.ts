import {
  type HashedTypedData,
  hashTypedDataJson,
  type TypedStruct,
  type TypedValue,
} from '../../chains/ethereum/eip712.ts';
import { configuredToken, evmCaip2 } from '../chain-names.ts';
import type { Mark } from '../risk.ts';
import type { Field, Sentence, SentenceContext } from '../sentence.ts';
import { counted, say, strong, type TextPart, written } from '../text.ts';
import { addressPart, amount, isUnlimited, shownAddress } from '../values.ts';
import { chainPart, evmAddressOf, impostorCaution, partyPart, recipientOf, signerPart } from './parties.ts';
import { type CallBudget, signedBatchOf, signedBatchSentence } from './signed-batch.ts';
import { contentsOf, endOf, hexAt, structsAt, type TypedContents, uintAt, untilWords } from './typed-values.ts';

// Typed data (EIP-712) that lets somebody take something is a payment that no chain shows before it is used.

/** Where Permit2 is, on every chain alike. */
const PERMIT2 = '0x000000000022d473030f116ddee9f6b43ac78ba3';

export function typedDataSentence(
  context: SentenceContext,
  signWith: string,
  json: string,
  budget: CallBudget,
): Sentence {
  const data = hashTypedDataJson(json);
  const { domain } = data;
  const caip2 = domain.chainId === undefined || domain.chainId === 0n ? undefined : evmCaip2(domain.chainId);
  const place: SignedPlace = { signer: signerPart(context, signWith), account: evmAddressOf(context, signWith), caip2 };
  const batch = signedBatchOf(data, place.account);
  const run = batch === undefined ? undefined : signedBatchSentence(context, place, batch, budget);
  if (run !== undefined) {
    // Its calls are told as calls.
    const rest = fieldsOf(context, { ...data, message: without(data.message, 'calls') }, caip2);
    return { ...run, fields: [...rest, ...(run.fields ?? [])] };
  }
  const permit = permitOf(data);
  const said = permit === undefined ? plain(context, place, data) : permitted(context, place, permit);
  const fields = fieldsOf(context, data, caip2);
  // Beside a permit too: a witness can ask for anything.
  const unread = unreadMarks(contentsOf(data));
  if (unread.length === 0) return { ...said, fields };
  return { ...said, marks: [...said.marks, ...unread], consequence: UNREAD_CONSEQUENCE, fields };
}

/** Who signs, and for which chain. */
interface SignedPlace {
  readonly signer: TextPart;
  readonly account: string;
  /** Undefined for typed data that names none. */
  readonly caip2: string | undefined;
}

const without = (struct: TypedStruct, name: string): TypedStruct =>
  new Map([...struct].filter(([member]) => member !== name));

interface Grant {
  readonly token: string;
  readonly spender: string;
  readonly amount: bigint;
}

interface Permit {
  readonly grants: readonly Grant[];
  /** Seconds; undefined for no end. */
  readonly until: bigint | undefined;
  /** It pays at once when it is used, and leaves no right behind. */
  readonly isTransfer: boolean;
  /** Whose tokens the message says they are; undefined where it does not. */
  readonly owner: string | undefined;
}

function permitOf({ primaryType, domain, message }: HashedTypedData): Permit | undefined {
  const contract = domain.verifyingContract?.toLowerCase();
  if (contract === undefined) return undefined;
  if (contract === PERMIT2) return permit2Of(primaryType, message);
  const spender = hexAt(message, 'spender');
  const owner = hexAt(message, 'owner') ?? hexAt(message, 'holder') ?? hexAt(message, 'from');
  if (primaryType === 'Permit' && spender !== undefined) {
    const allowed = message.get('allowed');
    const value = uintAt(message, 'value') ?? (allowed?.kind === 'bool' ? allAmount(allowed.value) : undefined);
    const until = uintAt(message, 'deadline') ?? uintAt(message, 'expiry');
    if (value === undefined) return undefined;
    return { grants: [{ token: contract, spender, amount: value }], until: endOf(until), isTransfer: false, owner };
  }
  const to = hexAt(message, 'to');
  const value = uintAt(message, 'value');
  // ERC-3009.
  if (/^(?:Transfer|Receive)WithAuthorization$/.test(primaryType) && to !== undefined && value !== undefined) {
    return {
      grants: [{ token: contract, spender: to, amount: value }],
      until: endOf(uintAt(message, 'validBefore')),
      isTransfer: true,
      owner,
    };
  }
  return undefined;
}

/** DAI's permit knows all or nothing. */
const allAmount = (allowed: boolean): bigint => (allowed ? 2n ** 256n - 1n : 0n);
function permit2Of(primaryType: string, message: TypedStruct): Permit | undefined {
  const spender = hexAt(message, 'spender');
  if (spender === undefined) return undefined;
  if (primaryType === 'PermitSingle' || primaryType === 'PermitBatch') {
    const details = structsAt(message, 'details');
    const grants = details.flatMap((one) => grantOf(one, spender));
    if (grants.length !== details.length || grants.length === 0) return undefined;
    const [last = 0n] = details.map((one) => uintAt(one, 'expiration') ?? 0n).sort((a, b) => (a < b ? 1 : -1));
    return { grants, until: endOf(last), isTransfer: false, owner: undefined };
  }
  if (/^Permit(?:Batch)?(?:Witness)?TransferFrom$/.test(primaryType)) {
    const permitted = structsAt(message, 'permitted');
    const grants = permitted.flatMap((one) => grantOf(one, spender));
    if (grants.length !== permitted.length || grants.length === 0) return undefined;
    return { grants, until: endOf(uintAt(message, 'deadline')), isTransfer: true, owner: undefined };
  }
  return undefined;
}

function grantOf(struct: TypedStruct, spender: string): readonly Grant[] {
  const token = hexAt(struct, 'token');
  const value = uintAt(struct, 'amount');
  return token === undefined || value === undefined ? [] : [{ token, spender, amount: value }];
}

function permitted(context: SentenceContext, { signer, account, caip2 }: SignedPlace, permit: Permit): Sentence {
  const { spender: spenderAddress } = permit.grants[0] as Grant;
  const spender = partyPart(context, spenderAddress, caip2);
  const chain = caip2 ?? 'eip155';
  const recipient = recipientOf(context, spenderAddress, chain);
  const caution = impostorCaution(context, recipient, chain);
  const grants = permit.grants.map((grant) => grantPart(context, grant, caip2));
  const listed = grants.flatMap((part, index) => say`${index === 0 ? '' : ' and '}${part}`);
  const until = untilWords(permit.until, context.nowMs);
  const where = caip2 === undefined ? say` on ${strong('every chain')}` : say` on ${chainPart(caip2)}`;
  const isOthers = permit.owner !== undefined && permit.owner !== account;
  const owner = isOthers ? partyPart(context, permit.owner, caip2) : signer;
  const by = isOthers ? say`, signed with ${signer}` : [];
  const verb = permit.isTransfer ? 'take' : 'spend';
  return {
    parts: say`Sign a permit: ${spender} may ${verb} ${listed} of ${owner}${where}${until}${by}; no chain shows it before use${caution?.words ?? []}.`,
    recipients: [recipient],
    marks: [
      ...(caution === undefined ? [] : [caution.mark]),
      {
        risk: 'DANGER',
        text: permit.grants.some(({ amount: value }) => isUnlimited(value, 160))
          ? 'unlimited spending, by signature'
          : 'lets somebody else spend, by signature',
      },
      ...(caip2 === undefined ? [EVERY_CHAIN] : []),
      ...(isOthers ? [OTHERS] : []),
    ],
    consequence: 'Whoever gets this signature can use it, and nobody here sees it before that. I want that.',
  };
}

function grantPart(context: SentenceContext, { token, amount: value }: Grant, caip2: string | undefined) {
  const unit = caip2 === undefined ? undefined : configuredToken(context.chains, caip2, token);
  if (unit !== undefined) {
    return isUnlimited(value, 160) ? say`${strong(`unlimited ${unit.symbol}`)}` : say`up to ${amount(value, unit)}`;
  }
  const party = partyPart(context, token, caip2);
  return isUnlimited(value, 160)
    ? say`${strong('unlimited')} ${party}`
    : say`up to ${strong(String(value))} of the smallest unit of ${party}`;
}

const EVERY_CHAIN: Mark = { risk: 'DANGER', text: 'good on every chain: it names none' };
const OTHERS: Mark = { risk: 'DANGER', text: 'names another owner than the account that signs' };

/** Types and members by which contracts usually give something away, at any depth. */
const RIGHTS =
  /permit|approv|allow|authori[sz]|delegat|order|offer|transfer|withdraw|spender|operator|operation|execut|batch|transaction|forward|payment/i;

/** Typed data of which nobody here knows what it allows. */
function plain(context: SentenceContext, { signer, caip2 }: SignedPlace, data: HashedTypedData): Sentence {
  const { domain, primaryType } = data;
  const { names, opaqueBytes } = contentsOf(data);
  const gives = [...names].some((name) => RIGHTS.test(name)) || PAID.every((pattern) => hasMember(names, pattern));
  const type = { ...written(primaryType, 80), strong: true as const };
  const contract = domain.verifyingContract;
  const place = contract === undefined ? say`` : say` for ${partyPart(context, contract.toLowerCase(), caip2)}`;
  const where = caip2 === undefined ? say` on every chain` : say` on ${chainPart(caip2)}`;
  const opaque = opaqueBytes === 0 ? [] : say`, with ${strong(counted(opaqueBytes, 'byte'))} that nobody here can read`;
  return {
    parts: say`Sign the typed data ${type}${place} with ${signer}${where}${opaque}: what it allows, the contract decides.`,
    marks: [
      gives
        ? { risk: 'DANGER', text: 'typed data that may let somebody take something: read the fields' }
        : { risk: 'LOOK_CLOSELY', text: 'typed data: read the fields' },
    ],
    consequence: 'I have read every field of this typed data and know what the contract does with it.',
  };
}

const UNREAD_CONSEQUENCE = 'Nobody here can say what the contract does with all of it. I want it signed.';

const unreadMarks = ({ opaqueBytes, leafCount }: TypedContents): readonly Mark[] => [
  ...(opaqueBytes > 0
    ? [{ risk: 'UNREADABLE' as const, text: 'carries bytes that nobody here can read: they may be a call' }]
    : []),
  ...(leafCount > LEAVES_MAX ? [{ risk: 'UNREADABLE' as const, text: 'more fields than fit here' }] : []),
];

/** Somebody, and how much: both together are a payment, whatever it is called. */
const PAID = [
  /^(?:to|recipient|receiver|beneficiary|payee|destination|target)$/i,
  /^(?:value|amount|wad|quantity|sum)$/i,
];
const hasMember = (names: ReadonlySet<string>, pattern: RegExp): boolean =>
  [...names].some((name) => pattern.test(name));

const FIELDS_MAX = 200;
/** Beside them stand the type, the domain and its contract. */
const LEAVES_MAX = FIELDS_MAX - 3;
const VALUE_MAX = 600;

function fieldsOf(context: SentenceContext, data: HashedTypedData, caip2: string | undefined): readonly Field[] {
  const { domain, primaryType, message } = data;
  const fields: Field[] = [{ label: 'Type', value: [written(primaryType)], kind: 'CODE' }];
  if (domain.name !== undefined) {
    fields.push({ label: 'Domain', value: [written(domain.name)], kind: 'TEXT', note: 'as the request calls it' });
  }
  if (domain.verifyingContract !== undefined) {
    fields.push(addressField(context, 'Contract', domain.verifyingContract.toLowerCase(), caip2));
  }
  for (const [label, value] of flat('', message)) {
    if (fields.length === FIELDS_MAX) {
      fields.push({ label: 'More', value: say`fields that do not fit here: read the bytes`, kind: 'TEXT' });
      break;
    }
    fields.push(
      value.kind === 'hex' && value.value.length === 42
        ? addressField(context, label, value.value, caip2)
        : { label: written(label, 80).text, value: [written(String(value.value), VALUE_MAX)], kind: kindOf(value) },
    );
  }
  return fields;
}

const kindOf = ({ kind }: TypedValue): Field['kind'] => (kind === 'hex' ? 'BYTES' : 'TEXT');

function addressField(context: SentenceContext, label: string, address: string, caip2: string | undefined): Field {
  const party = partyPart(context, address, caip2);
  const full = shownAddress(address);
  const isNamed = party.text !== addressPart(address).text;
  return {
    label: written(label, 80).text,
    value: isNamed ? say`${party} ${full}` : [{ ...party, text: full }],
    kind: 'ADDRESS',
  };
}

function* flat(prefix: string, struct: TypedStruct): Generator<readonly [string, TypedValue]> {
  for (const [name, value] of struct) yield* flatValue(prefix === '' ? name : `${prefix}.${name}`, value);
}

function* flatValue(label: string, value: TypedValue): Generator<readonly [string, TypedValue]> {
  if (value.kind === 'struct') yield* flat(label, value.value);
  else if (value.kind === 'list')
    for (const [index, item] of value.value.entries()) yield* flatValue(`${label}.${index}`, item);
  else yield [label, value];
}
