import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { JsonObject, JsonValue } from '../../lib/strict-json.ts';
import {
  type HashBudget,
  type MemberType,
  newHashBudget,
  readTypes,
  type TypedDataMember,
  type TypedDataTypes,
  TypeTable,
} from './eip712-types.ts';
import { hexItem } from './fields.ts';
import { asHex, asInteger, asObject, member, parseJsonObject, refusePayload } from './json-values.ts';

export type { TypedDataTypes } from './eip712-types.ts';

/** A value as it was hashed, by its declared type. Hex is lower case with 0x. */
export type TypedValue =
  | { readonly kind: 'uint' | 'int'; readonly value: bigint }
  | { readonly kind: 'hex' | 'string'; readonly value: string }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'list'; readonly value: readonly TypedValue[] }
  | { readonly kind: 'struct'; readonly value: TypedStruct };

/** The members that the type declares, and no others: what is not hashed is not here. */
export type TypedStruct = ReadonlyMap<string, TypedValue>;

/** The members of the domain that were hashed. */
export interface TypedDataDomain {
  readonly name?: string;
  readonly version?: string;
  readonly chainId?: bigint;
  readonly verifyingContract?: string;
  readonly salt?: string;
}

export interface HashedTypedData {
  readonly digest: Uint8Array;
  readonly domain: TypedDataDomain;
  readonly primaryType: string;
  readonly message: TypedStruct;
  readonly types: TypedDataTypes;
}

const DOMAIN = 'EIP712Domain';
/** EIP-712: the members of a domain, in the order in which they are hashed. */
const DOMAIN_MEMBERS: readonly TypedDataMember[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
];
const PREFIX = Uint8Array.of(0x19, 0x01);
const WORD_MODULUS = 2n ** 256n;

/** The EIP-712 digest of a JSON text `{types, primaryType, domain, message}`, with everything it covers. */
export function hashTypedDataJson(text: string, budget: HashBudget = newHashBudget()): HashedTypedData {
  const document = parseJsonObject(text);
  const types = readTypes(member(document, 'types'));
  const domain = asObject(member(document, 'domain') ?? {}, 'domain');
  // A type given for the domain counts as it is; otherwise it is made of the members that are present.
  if (!types.has(DOMAIN)) {
    types.set(
      DOMAIN,
      DOMAIN_MEMBERS.filter(({ name }) => (member(domain, name) ?? null) !== null),
    );
  }
  const primaryType = member(document, 'primaryType');
  if (typeof primaryType !== 'string') return refusePayload('primaryType is missing or not text');
  const encoder = new Encoder(new TypeTable(types, budget), budget);
  const separator = encoder.struct(DOMAIN, domain, 'domain');
  if (primaryType === DOMAIN) {
    return {
      digest: keccak_256(Buffer.concat([PREFIX, separator.hash])),
      domain: knownMembers(separator.value),
      primaryType,
      message: new Map(),
      types,
    };
  }
  const message = encoder.struct(primaryType, asObject(member(document, 'message'), 'message'), 'message');
  return {
    digest: keccak_256(Buffer.concat([PREFIX, separator.hash, message.hash])),
    domain: knownMembers(separator.value),
    primaryType,
    message: message.value,
    types,
  };
}

/** Members whose declared type is not the usual kind are left out, because nothing that reads them expects it. */
function knownMembers(domain: TypedStruct): TypedDataDomain {
  const text = (name: string) => {
    const entry = domain.get(name);
    return entry?.kind === 'string' ? { [name]: entry.value } : {};
  };
  const hex = (name: string) => {
    const entry = domain.get(name);
    return entry?.kind === 'hex' || entry?.kind === 'string' ? { [name]: entry.value } : {};
  };
  const chainId = domain.get('chainId');
  return {
    ...text('name'),
    ...text('version'),
    ...(chainId?.kind === 'uint' || chainId?.kind === 'int' ? { chainId: chainId.value } : {}),
    ...hex('verifyingContract'),
    ...hex('salt'),
  };
}

interface Encoded {
  /** 32 bytes: the value itself, or the hash of one that is longer. */
  readonly word: Uint8Array;
  readonly value: TypedValue;
}

class Encoder {
  private readonly table: TypeTable;
  private readonly budget: HashBudget;

  constructor(table: TypeTable, budget: HashBudget) {
    this.table = table;
    this.budget = budget;
  }

  /** hashStruct of EIP-712. Members that the type does not declare are ignored, as every other program does. */
  struct(name: string, data: JsonObject, where: string): { hash: Uint8Array; value: TypedStruct } {
    const words: Uint8Array[] = [this.table.typeHash(name)];
    const value = new Map<string, TypedValue>();
    for (const { name: key, type } of this.table.members(name)) {
      const entry = this.encode(this.table.memberType(type), member(data, key), `${where}.${key}`);
      words.push(entry.word);
      value.set(key, entry.value);
    }
    return { hash: keccak_256(Buffer.concat(words)), value };
  }

  private encode(type: MemberType, data: JsonValue | undefined, where: string): Encoded {
    // Most values cost a hash, so their number bounds the time that a request takes.
    if (--this.budget.values < 0) refusePayload('too many values');
    const place = where.length > 200 ? `${where.slice(0, 200)}...` : where;
    if (data === undefined) return refusePayload(`${place} is missing`);
    switch (type.kind) {
      case 'uint':
      case 'int': {
        const max = 2n ** BigInt(type.kind === 'int' ? type.bits - 1 : type.bits) - 1n;
        const value = asInteger(data, type.kind === 'int' ? -max - 1n : 0n, max, place);
        return { word: integerWord(value), value: { kind: type.kind, value } };
      }
      case 'address': {
        const value = asHex(data, 20, place);
        return { word: integerWord(BigInt(value)), value: { kind: 'hex', value } };
      }
      case 'bytes':
        return encodeBytes(asHex(data, type.length, place), type.length !== undefined);
      case 'bool':
        if (typeof data !== 'boolean') return refusePayload(`${place} is not true or false`);
        return { word: integerWord(data ? 1n : 0n), value: { kind: 'bool', value: data } };
      case 'string':
        if (typeof data !== 'string') return refusePayload(`${place} is not text`);
        return { word: keccak_256(utf8ToBytes(data)), value: { kind: 'string', value: data } };
      case 'struct': {
        const { hash, value } = this.struct(type.name, asObject(data, place), place);
        return { word: hash, value: { kind: 'struct', value } };
      }
      case 'array':
        return this.encodeArray(type, data, place);
    }
  }

  private encodeArray(type: MemberType & { kind: 'array' }, data: JsonValue, where: string): Encoded {
    if (!Array.isArray(data)) return refusePayload(`${where} is not a list`);
    if (type.length !== undefined && data.length !== type.length) {
      refusePayload(`${where} has ${data.length} elements, expected ${type.length}`);
    }
    const elements = data.map((element, index) => this.encode(type.element, element, `${where}.${index}`));
    return {
      word: keccak_256(Buffer.concat(elements.map(({ word }) => word))),
      value: { kind: 'list', value: elements.map(({ value }) => value) },
    };
  }
}

function encodeBytes(value: string, fixed: boolean): Encoded {
  const bytes = hexItem(value);
  if (!fixed) return { word: keccak_256(bytes), value: { kind: 'hex', value } };
  const word = new Uint8Array(32);
  word.set(bytes);
  return { word, value: { kind: 'hex', value } };
}

/** Big endian in 32 bytes, negative integers as two's complement. */
function integerWord(value: bigint): Uint8Array {
  const unsigned = value < 0n ? value + WORD_MODULUS : value;
  return Buffer.from(unsigned.toString(16).padStart(64, '0'), 'hex');
}
