import type { JsonObject, JsonValue } from '../../../lib/strict-json.ts';
import { asList, asName, asObject, member, refuseInterface, refuseRepeated, shown } from '../../interface-json.ts';

/** The type of an argument with every name in it resolved. */
export type IdlType =
  | { readonly kind: 'bool' | 'string' | 'bytes' | 'publicKey' }
  | { readonly kind: 'uint' | 'int' | 'float'; readonly bytes: number }
  | { readonly kind: 'vec' | 'option'; readonly element: IdlType }
  | { readonly kind: 'array'; readonly element: IdlType; readonly length: number }
  | { readonly kind: 'tuple'; readonly members: readonly IdlType[] }
  | { readonly kind: 'struct'; readonly fields: readonly IdlField[] }
  | { readonly kind: 'enum'; readonly variants: readonly IdlVariant[] };

export interface IdlField {
  readonly name: string;
  readonly type: IdlType;
}

export interface IdlVariant {
  readonly name: string;
  /** Undefined for a variant that carries nothing. */
  readonly type: IdlType | undefined;
}

const DEPTH_MAX = 64;
const ARRAY_LENGTH_MAX = 65_536;
/** The tag of an enum is one byte. */
const VARIANTS_MAX = 256;

const SIMPLE: Readonly<Record<string, IdlType>> = {
  bool: { kind: 'bool' },
  string: { kind: 'string' },
  bytes: { kind: 'bytes' },
  publicKey: { kind: 'publicKey' },
  pubkey: { kind: 'publicKey' },
  f32: { kind: 'float', bytes: 4 },
  f64: { kind: 'float', bytes: 8 },
};
const INTEGER = /^([ui])(8|16|32|64|128|256)$/;

/** The named types of an IDL. Only those that arguments are made of are looked into: accounts may use others. */
export class IdlTypes {
  readonly #definitions = new Map<string, JsonObject>();
  readonly #resolved = new Map<string, { readonly type: IdlType; readonly depth: number }>();
  readonly #open = new Set<string>();
  /** How deep the type that is being read has gone so far: a type by name is as deep wherever it is used. */
  #depth = 0;

  constructor(json: JsonValue) {
    for (const [index, value] of asList(json, 'types').entries()) {
      const definition = asObject(value, `type ${index}`);
      const name = asName(member(definition, 'name'), `type ${index}`);
      if (this.#definitions.has(name)) refuseInterface(`type ${shown(name)} is declared twice`);
      this.#definitions.set(name, definition);
    }
  }

  /** Named members `[{name, type}]`, each once, in the spelling of Anchor before or since version 0.30. */
  fields(values: readonly JsonValue[], where: string): readonly IdlField[] {
    return this.#fields(values, where, 0);
  }

  #fields(values: readonly JsonValue[], where: string, level: number): readonly IdlField[] {
    const fields = values.map((value, index) => {
      const field = asObject(value, `member ${index} of ${where}`);
      const name = asName(member(field, 'name'), `member ${index} of ${where}`);
      return { name, type: this.#read(member(field, 'type'), `${shown(name)} of ${where}`, level) };
    });
    refuseRepeated(
      fields.map(({ name }) => name),
      where,
    );
    return fields;
  }

  #read(value: JsonValue | undefined, where: string, level: number): IdlType {
    this.#enter(level, where);
    if (typeof value === 'string')
      return simpleType(value) ?? refuseInterface(`${where} is of the type ${shown(value)}`);
    const object = asObject(value, `the type of ${where}`);
    const [kind, ...others] = Object.keys(object);
    if (kind === undefined || others.length > 0) return refuseInterface(`the type of ${where} does not say one thing`);
    const inner = object[kind];
    switch (kind) {
      case 'vec':
      case 'option':
        return { kind, element: this.#read(inner, where, level + 1) };
      case 'array':
        return this.#array(asList(inner, `the type of ${where}`), where, level);
      case 'defined':
        return this.#defined(inner, where, level);
      default:
        return refuseInterface(`${where} is of the type ${shown(kind)}, which is not supported`);
    }
  }

  #enter(level: number, where: string): void {
    if (level > DEPTH_MAX) refuseInterface(`types nested deeper than ${DEPTH_MAX} in ${where}`);
    this.#depth = Math.max(this.#depth, level);
  }

  #array([element, length, ...others]: readonly JsonValue[], where: string, level: number): IdlType {
    if (typeof length !== 'number' || !Number.isInteger(length) || length < 0 || length > ARRAY_LENGTH_MAX) {
      return refuseInterface(`${where} is an array without a length from 0 to ${ARRAY_LENGTH_MAX}`);
    }
    if (others.length > 0) refuseInterface(`${where} is an array of more than an element and a length`);
    return { kind: 'array', element: this.#read(element, where, level + 1), length };
  }

  /** `"Name"`, or since 0.30 `{"name": "Name"}`. */
  #defined(reference: JsonValue | undefined, where: string, level: number): IdlType {
    const object = typeof reference === 'string' ? { name: reference } : asObject(reference, `the type of ${where}`);
    if (asListOrNone(member(object, 'generics')).length > 0) return refuseInterface(`${where} is of a generic type`);
    const name = asName(member(object, 'name'), `the type of ${where}`);
    const known = this.#resolved.get(name);
    if (known !== undefined) {
      this.#enter(level + known.depth, where);
      return known.type;
    }
    return this.#resolve(name, where, level);
  }

  #resolve(name: string, where: string, level: number): IdlType {
    const definition = this.#definitions.get(name);
    if (definition === undefined)
      return refuseInterface(`${where} is of the type ${shown(name)}, which is not in types`);
    if (this.#open.has(name)) return refuseInterface(`type ${shown(name)} contains itself`);
    this.#open.add(name);
    const outerDepth = this.#depth;
    this.#depth = level;
    const type = this.#definition(definition, `type ${shown(name)}`, level + 1);
    this.#resolved.set(name, { type, depth: this.#depth - level });
    this.#depth = Math.max(this.#depth, outerDepth);
    this.#open.delete(name);
    return type;
  }

  #definition(definition: JsonObject, where: string, level: number): IdlType {
    this.#enter(level, where);
    const serialization = member(definition, 'serialization') ?? 'borsh';
    if (serialization !== 'borsh') return refuseInterface(`${where} is an argument, but not serialised with borsh`);
    if (asListOrNone(member(definition, 'generics')).length > 0) return refuseInterface(`${where} is generic`);
    const body = asObject(member(definition, 'type'), where);
    switch (member(body, 'kind')) {
      case 'struct':
        return this.#shape(member(body, 'fields'), where, level) ?? { kind: 'struct', fields: [] };
      case 'enum':
        return this.#enum(asList(member(body, 'variants'), `variants of ${where}`), where, level);
      case 'alias':
        return this.#read(member(body, 'value'), where, level + 1);
      case 'type':
        return this.#read(member(body, 'alias'), where, level + 1);
      default:
        return refuseInterface(`${where} is no struct, enum or alias`);
    }
  }

  /** Members with names or, when they are types alone, by position; undefined when there are none. */
  #shape(json: JsonValue | undefined, where: string, level: number): IdlType | undefined {
    const members = asListOrNone(json);
    const [first] = members;
    if (first === undefined) return undefined;
    const named = typeof first === 'object' && first !== null && !Array.isArray(first) && Object.hasOwn(first, 'name');
    if (named) return { kind: 'struct', fields: this.#fields(members, where, level + 1) };
    return { kind: 'tuple', members: members.map((type, index) => this.#read(type, `${where}.${index}`, level + 1)) };
  }

  #enum(json: readonly JsonValue[], where: string, level: number): IdlType {
    if (json.length === 0 || json.length > VARIANTS_MAX) refuseInterface(`${where} has ${json.length} variants`);
    const variants = json.map((value, index) => {
      const variant = asObject(value, `variant ${index} of ${where}`);
      const name = asName(member(variant, 'name'), `variant ${index} of ${where}`);
      return { name, type: this.#shape(member(variant, 'fields'), `${where}.${name}`, level) };
    });
    refuseRepeated(
      variants.map(({ name }) => name),
      where,
    );
    return { kind: 'enum', variants };
  }
}

const asListOrNone = (value: JsonValue | undefined): readonly JsonValue[] =>
  value === undefined || value === null ? [] : asList(value, 'a list of types');

function simpleType(name: string): IdlType | undefined {
  const [, sign, bits] = INTEGER.exec(name) ?? [];
  if (sign !== undefined) return { kind: sign === 'u' ? 'uint' : 'int', bytes: Number(bits) / 8 };
  return Object.hasOwn(SIMPLE, name) ? SIMPLE[name] : undefined;
}
