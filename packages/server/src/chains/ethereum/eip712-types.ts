import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { JsonValue } from '../../lib/strict-json.ts';
import { asObject, member, refusePayload, shown } from './json-values.ts';

export interface TypedDataMember {
  readonly name: string;
  readonly type: string;
}

/** The struct types of a document, EIP712Domain among them. */
export type TypedDataTypes = ReadonlyMap<string, readonly TypedDataMember[]>;

/** A member's type, taken apart. */
export type MemberType =
  | { readonly kind: 'uint' | 'int'; readonly bits: number }
  | { readonly kind: 'bytes'; readonly length: number | undefined }
  | { readonly kind: 'address' | 'bool' | 'string' }
  | { readonly kind: 'struct'; readonly name: string }
  | { readonly kind: 'array'; readonly element: MemberType; readonly length: number | undefined };

const STRUCTS_MAX = 256;
const MEMBERS_MAX = 2048;
const DIMENSIONS_MAX = 8;
const NAME_MAX = 256;
/**
 * What hashing may still cost: values, and characters of types, which are encoded again wherever one is referred to.
 */
export interface HashBudget {
  values: number;
  typeLength: number;
}

/** For all documents of one request together. */
export const newHashBudget = (): HashBudget => ({ values: 8_192, typeLength: 1024 * 1024 });

/** Printable ASCII without what separates names in the encoding of a type, so that two types never encode alike. */
const NAME = /^[!-'*+\--Z\\^-~]+$/;
const IDENTIFIER = /^\w+$/;
const ATOMIC = /^(?:address|bool|string|u?int[0-9]*|bytes[0-9]*)$/;
/** EIP-712 has no aliases, so an integer type always has its width. */
const INTEGER = /^(u?)int([1-9][0-9]{0,2})$/;
const BYTES = /^bytes([1-9][0-9]?)?$/;
const DIMENSION = /^(.*)\[([1-9][0-9]{0,6})?\]$/;

/** Reads `types` and refuses names, references and cycles that EIP-712 gives no meaning. */
export function readTypes(value: JsonValue | undefined): Map<string, readonly TypedDataMember[]> {
  const object = asObject(value, 'types');
  const names = Object.keys(object);
  if (names.length > STRUCTS_MAX) refusePayload(`more than ${STRUCTS_MAX} types`);
  const types = new Map<string, readonly TypedDataMember[]>();
  let members = 0;
  for (const name of names) {
    if (!isName(name) || ATOMIC.test(name)) refusePayload(`${shown(name)} cannot be the name of a struct type`);
    const struct = readMembers(name, object[name] as JsonValue);
    members += struct.length;
    if (members > MEMBERS_MAX) refusePayload(`more than ${MEMBERS_MAX} members in all types`);
    types.set(name, struct);
  }
  return types;
}

const isName = (name: string): boolean => name.length <= NAME_MAX && NAME.test(name);

function readMembers(struct: string, value: JsonValue): readonly TypedDataMember[] {
  if (!Array.isArray(value)) return refusePayload(`type ${shown(struct)} is not a list of members`);
  const seen = new Set<string>();
  return value.map((entry) => {
    const object = asObject(entry, `a member of type ${shown(struct)}`);
    const name = member(object, 'name');
    const type = member(object, 'type');
    if (typeof name !== 'string' || !isName(name)) refusePayload(`type ${shown(struct)} has a member without a name`);
    if (typeof type !== 'string' || type.length > NAME_MAX) {
      refusePayload(`member ${shown(name)} of type ${shown(struct)} has no type`);
    }
    if (seen.has(name)) refusePayload(`type ${shown(struct)} has two members ${shown(name)}`);
    seen.add(name);
    return { name, type };
  });
}

/** The types of one document with what is worked out from them once. */
export class TypeTable {
  readonly types: TypedDataTypes;
  private readonly parsed = new Map<string, MemberType>();
  private readonly hashes = new Map<string, Uint8Array>();
  private readonly budget: HashBudget;

  constructor(types: TypedDataTypes, budget: HashBudget) {
    this.types = types;
    this.budget = budget;
    for (const [struct, members] of types) {
      for (const { type } of members) this.checkReference(struct, this.memberType(type));
    }
    this.refuseCycles();
  }

  members(struct: string): readonly TypedDataMember[] {
    return this.types.get(struct) ?? refusePayload(`unknown type ${shown(struct)}`);
  }

  memberType(text: string): MemberType {
    const known = this.parsed.get(text);
    if (known !== undefined) return known;
    const type = this.parse(text, 0);
    this.parsed.set(text, type);
    return type;
  }

  /** keccak256 of the encoding of a type: the struct itself, then those it refers to in alphabetical order. */
  typeHash(struct: string): Uint8Array {
    const known = this.hashes.get(struct);
    if (known !== undefined) return known;
    const referred = new Set<string>([struct]);
    for (const name of referred) for (const next of this.references(name)) referred.add(next);
    referred.delete(struct);
    const text = [struct, ...[...referred].sort()].map((name) => this.definition(name)).join('');
    this.budget.typeLength -= text.length;
    if (this.budget.typeLength < 0) refusePayload('the types refer to each other too often');
    const hash = keccak_256(utf8ToBytes(text));
    this.hashes.set(struct, hash);
    return hash;
  }

  private definition(struct: string): string {
    const members = this.members(struct).map(({ name, type }) => `${type} ${name}`);
    return `${struct}(${members.join(',')})`;
  }

  private parse(text: string, dimensions: number): MemberType {
    const array = DIMENSION.exec(text);
    if (array !== null) {
      if (dimensions === DIMENSIONS_MAX) refusePayload(`an array of more than ${DIMENSIONS_MAX} dimensions`);
      const element = this.parse(array[1] as string, dimensions + 1);
      return { kind: 'array', element, length: array[2] === undefined ? undefined : Number(array[2]) };
    }
    return parseAtomic(text) ?? this.parseStruct(text);
  }

  private parseStruct(text: string): MemberType {
    return this.types.has(text) ? { kind: 'struct', name: text } : refusePayload(`unknown type ${shown(text)}`);
  }

  /**
   * Some protocols name the primary type with a colon. Programs agree on its hash only while no struct refers to it and
   * it refers to none, so more than that is refused.
   */
  private checkReference(struct: string, type: MemberType): void {
    const target = structName(type);
    if (target === undefined) return;
    for (const name of [struct, target]) {
      if (!IDENTIFIER.test(name)) refusePayload(`type ${shown(name)} has no plain name and takes part in a reference`);
    }
  }

  private references(struct: string): string[] {
    return this.members(struct).flatMap(({ type }) => structName(this.memberType(type)) ?? []);
  }

  /** EIP-712 leaves cyclical data undefined. The number of types bounds the recursion. */
  private refuseCycles(): void {
    const open = new Set<string>();
    const done = new Set<string>();
    const visit = (struct: string): void => {
      if (done.has(struct)) return;
      if (open.has(struct)) refusePayload(`type ${shown(struct)} contains itself`);
      open.add(struct);
      for (const next of this.references(struct)) visit(next);
      open.delete(struct);
      done.add(struct);
    };
    for (const struct of this.types.keys()) visit(struct);
  }
}

function structName(type: MemberType): string | undefined {
  if (type.kind === 'array') return structName(type.element);
  return type.kind === 'struct' ? type.name : undefined;
}

function parseAtomic(text: string): MemberType | undefined {
  if (text === 'address' || text === 'bool' || text === 'string') return { kind: text };
  const integer = INTEGER.exec(text);
  if (integer !== null) {
    const bits = Number(integer[2]);
    if (bits % 8 !== 0 || bits > 256) refusePayload(`unknown type ${shown(text)}`);
    return { kind: integer[1] === 'u' ? 'uint' : 'int', bits };
  }
  const bytes = BYTES.exec(text);
  if (bytes === null) return undefined;
  const length = bytes[1] === undefined ? undefined : Number(bytes[1]);
  if (length !== undefined && length > 32) refusePayload(`unknown type ${shown(text)}`);
  return { kind: 'bytes', length };
}
