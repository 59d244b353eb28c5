import {
  type HashedTypedData,
  hashTypedDataJson,
  type TypedStruct,
  type TypedValue,
} from '../../chains/ethereum/eip712.ts';
import { configuredToken, evmCaip2 } from '../chain-names.ts';
import type { Field, Sentence, SentenceContext } from '../sentence.ts';
import { say, strong, type TextPart, written } from '../text.ts';
import { addressPart, amount, dateText, isUnlimited, shownAddress } from '../values.ts';
import { cautionOf, chainPart, partyPart, recipientOf } from './parties.ts';

// Typed data (EIP-712) that lets somebody take something is a payment that no chain shows before it is used.

/** Where Permit2 is, on every chain alike. */
const PERMIT2 = '0x000000000022d473030f116ddee9f6b43ac78ba3';

export function typedDataSentence(context: SentenceContext, signer: TextPart, json: string): Sentence {
  const data = hashTypedDataJson(json);
  const { domain } = data;
  const caip2 = domain.chainId === undefined || domain.chainId === 0n ? undefined : evmCaip2(domain.chainId);
  const permit = permitOf(data);
  const said = permit === undefined ? plain(context, signer, data, caip2) : permitted(context, signer, permit, caip2);
  return { ...said, fields: fieldsOf(context, data, caip2) };
}

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
}

function permitOf({ primaryType, domain, message }: HashedTypedData): Permit | undefined {
  const contract = domain.verifyingContract?.toLowerCase();
  if (contract === undefined) return undefined;
  if (contract === PERMIT2) return permit2Of(primaryType, message);
  const spender = hexAt(message, 'spender');
  if (primaryType === 'Permit' && spender !== undefined) {
    const allowed = message.get('allowed');
    const value = uintAt(message, 'value') ?? (allowed?.kind === 'bool' ? allAmount(allowed.value) : undefined);
    const until = uintAt(message, 'deadline') ?? uintAt(message, 'expiry');
    if (value === undefined) return undefined;
    return { grants: [{ token: contract, spender, amount: value }], until: endOf(until), isTransfer: false };
  }
  const to = hexAt(message, 'to');
  const value = uintAt(message, 'value');
  // ERC-3009.
  if (/^(?:Transfer|Receive)WithAuthorization$/.test(primaryType) && to !== undefined && value !== undefined) {
    return {
      grants: [{ token: contract, spender: to, amount: value }],
      until: endOf(uintAt(message, 'validBefore')),
      isTransfer: true,
    };
  }
  return undefined;
}

/** DAI's permit knows all or nothing. */
const allAmount = (allowed: boolean): bigint => (allowed ? 2n ** 256n - 1n : 0n);
/** Times so far ahead are no end; zero means none in DAI's permit. */
const endOf = (seconds: bigint | undefined): bigint | undefined =>
  seconds === undefined || seconds === 0n || seconds > 100_000_000_000n ? undefined : seconds;

function permit2Of(primaryType: string, message: TypedStruct): Permit | undefined {
  const spender = hexAt(message, 'spender');
  if (spender === undefined) return undefined;
  if (primaryType === 'PermitSingle' || primaryType === 'PermitBatch') {
    const details = structsAt(message, 'details');
    const grants = details.flatMap((one) => grantOf(one, spender));
    if (grants.length !== details.length || grants.length === 0) return undefined;
    const [last = 0n] = details.map((one) => uintAt(one, 'expiration') ?? 0n).sort((a, b) => (a < b ? 1 : -1));
    return { grants, until: endOf(last), isTransfer: false };
  }
  if (/^Permit(?:Batch)?(?:Witness)?TransferFrom$/.test(primaryType)) {
    const permitted = structsAt(message, 'permitted');
    const grants = permitted.flatMap((one) => grantOf(one, spender));
    if (grants.length !== permitted.length || grants.length === 0) return undefined;
    return { grants, until: endOf(uintAt(message, 'deadline')), isTransfer: true };
  }
  return undefined;
}

function grantOf(struct: TypedStruct, spender: string): readonly Grant[] {
  const token = hexAt(struct, 'token');
  const value = uintAt(struct, 'amount');
  return token === undefined || value === undefined ? [] : [{ token, spender, amount: value }];
}

const hexAt = (struct: TypedStruct, name: string): string | undefined => {
  const found = struct.get(name);
  return found?.kind === 'hex' && found.value.length === 42 ? found.value : undefined;
};
const uintAt = (struct: TypedStruct, name: string): bigint | undefined => {
  const found = struct.get(name);
  return found?.kind === 'uint' ? found.value : undefined;
};
const structsAt = (struct: TypedStruct, name: string): readonly TypedStruct[] => {
  const found = struct.get(name);
  const list = found?.kind === 'list' ? found.value : found === undefined ? [] : [found];
  return list.flatMap((one) => (one.kind === 'struct' ? [one.value] : []));
};

function permitted(context: SentenceContext, signer: TextPart, permit: Permit, caip2: string | undefined): Sentence {
  const { spender: spenderAddress } = permit.grants[0] as Grant;
  const spender = partyPart(context, spenderAddress, caip2);
  const chain = caip2 ?? 'eip155';
  const recipient = recipientOf(context, spenderAddress, chain);
  const caution = recipient.lookAlike === undefined ? undefined : cautionOf(context, recipient, chain);
  const grants = permit.grants.map((grant) => grantPart(context, grant, caip2));
  const listed = grants.flatMap((part, index) => say`${index === 0 ? '' : ' and '}${part}`);
  const date = permit.until === undefined ? undefined : dateText(Number(permit.until) * 1000);
  const until =
    date === undefined ? say`, without an end` : say` until ${strong(withoutThisYear(date, context.nowMs))}`;
  const where = caip2 === undefined ? say`` : say` on ${chainPart(caip2)}`;
  const verb = permit.isTransfer ? 'take' : 'spend';
  return {
    parts: say`Sign a permit: ${spender} may ${verb} ${listed} of ${signer}${where}${until}; no chain shows it before use${caution?.words ?? []}.`,
    recipients: [recipient],
    marks: [
      ...(caution === undefined ? [] : [caution.mark]),
      {
        risk: 'DANGER',
        text: permit.grants.some(({ amount: value }) => isUnlimited(value, 160))
          ? 'unlimited spending, by signature'
          : 'lets somebody else spend, by signature',
      },
    ],
    consequence: 'Whoever gets this signature can use it, and nobody here sees it before that. I want that.',
  };
}

const withoutThisYear = (date: string, nowMs: number): string =>
  date.endsWith(` ${new Date(nowMs).getUTCFullYear()}`) ? date.slice(0, -5) : date;

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

/** Types and fields by which contracts usually give something away. */
const RIGHTS = /permit|approv|allow|authori[sz]|delegat|order|offer|transfer|withdraw/i;
const HOLDERS = ['spender', 'operator', 'delegatee', 'delegate'];

/** Typed data of which nobody here knows what it allows. */
function plain(
  context: SentenceContext,
  signer: TextPart,
  { domain, primaryType, message }: HashedTypedData,
  caip2: string | undefined,
): Sentence {
  const gives = RIGHTS.test(primaryType) || HOLDERS.some((name) => hexAt(message, name) !== undefined);
  const type = { ...written(primaryType, 80), strong: true as const };
  const contract = domain.verifyingContract;
  const place = contract === undefined ? say`` : say` for ${partyPart(context, contract.toLowerCase(), caip2)}`;
  const where = caip2 === undefined ? say` on every chain` : say` on ${chainPart(caip2)}`;
  return {
    parts: say`Sign the typed data ${type}${place} with ${signer}${where}: what it allows, the contract decides.`,
    marks: [
      gives
        ? { risk: 'DANGER', text: 'typed data that may let somebody take something: read the fields' }
        : { risk: 'LOOK_CLOSELY', text: 'typed data: read the fields' },
    ],
    consequence: 'I have read every field of this typed data and know what the contract does with it.',
  };
}

const FIELDS_MAX = 200;
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
