/**
 * Static types (protocol/policies 5.1). `int`, `uint` and `number` are all numbers and compare with each other by
 * value.
 */
export interface ScalarType<K extends ScalarKind = ScalarKind> {
  readonly kind: K;
}

export type ScalarKind =
  | 'bool'
  | 'int'
  | 'uint'
  /** A number that is already known to be in range: a literal, or a mix of int and uint. */
  | 'number'
  /** A number that may also be compared with its decimal text (the fields of EIP-7702). */
  | 'looseNumber'
  | 'string'
  | 'hex'
  /** Hex that is a public key: its spellings are equal, compressed or not. */
  | 'key'
  /** Text that is hex when it starts with 0x. */
  | 'address'
  /** Text that may be hex or not, each value by itself. */
  | 'text'
  | 'timestamp'
  /** Decided at run time: decoded arguments, members of typed data. */
  | 'any'
  /** The element of `[]`, which fits every list. */
  | 'never';

export interface ListType<T extends Type = Type> {
  readonly kind: 'list';
  readonly of: T;
}

export interface MapType<T extends Type = Type> {
  readonly kind: 'map';
  readonly of: T;
}

/** Whether a field is there whenever its struct is; if not, what its absence means. */
export type Presence = 'always' | 'optional' | 'keyword' | 'parameter' | 'defaulted';

export interface Field<T extends Type = Type, P extends Presence = Presence> {
  readonly type: T;
  readonly presence: P;
}

export interface FieldTable {
  readonly [name: string]: Field;
}

export interface StructType<F extends FieldTable = FieldTable> {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: F;
  /** Other spellings that public clients use, and the field they mean. */
  readonly aliases: ReadonlyMap<string, string>;
}

export type Type = ScalarType | ListType | MapType | StructType;

const scalar = <K extends ScalarKind>(kind: K): ScalarType<K> => ({ kind });

export const BOOL = scalar('bool');
export const INT = scalar('int');
export const UINT = scalar('uint');
export const NUMBER = scalar('number');
export const LOOSE_NUMBER = scalar('looseNumber');
export const STRING = scalar('string');
export const HEX = scalar('hex');
export const KEY = scalar('key');
export const ADDRESS = scalar('address');
export const TEXT = scalar('text');
export const TIMESTAMP = scalar('timestamp');
export const ANY = scalar('any');
export const NEVER = scalar('never');

export const listOf = <T extends Type>(of: T): ListType<T> => ({ kind: 'list', of });
export const mapOf = <T extends Type>(of: T): MapType<T> => ({ kind: 'map', of });

export const isNumber = ({ kind }: Type): boolean =>
  kind === 'int' || kind === 'uint' || kind === 'number' || kind === 'looseNumber';

export const isText = ({ kind }: Type): boolean =>
  kind === 'string' || kind === 'hex' || kind === 'key' || kind === 'address' || kind === 'text';

/** The field that a name means, also by an alias; never something that objects inherit. */
export function fieldOf(
  struct: StructType,
  name: string,
): { readonly name: string; readonly field: Field } | undefined {
  const canonical = struct.aliases.get(name) ?? name;
  if (!Object.hasOwn(struct.fields, canonical)) return undefined;
  return { name: canonical, field: struct.fields[canonical] as Field };
}

/** The type that both fit, or undefined when one list cannot hold both (protocol/policies 5.1). */
export function unify(left: Type, right: Type): Type | undefined {
  if (left === right || right.kind === 'never') return left;
  if (left.kind === 'never') return right;
  if (isNumber(left) && isNumber(right)) return left.kind === right.kind ? left : NUMBER;
  if (isText(left) && isText(right)) return left.kind === right.kind ? left : TEXT;
  if (left.kind === 'list' && right.kind === 'list') {
    const of = unify(left.of, right.of);
    return of === undefined ? undefined : listOf(of);
  }
  if (left.kind === 'map' && right.kind === 'map') {
    const of = unify(left.of, right.of);
    return of === undefined ? undefined : mapOf(of);
  }
  return left.kind === right.kind && left.kind !== 'struct' ? left : undefined;
}

/** How a message names a type. */
export function describeType(type: Type): string {
  switch (type.kind) {
    case 'list':
      return type.of.kind === 'never' ? 'an empty list' : `a list of ${plural(type.of)}`;
    case 'map':
      return 'a map';
    case 'struct':
      return `the struct ${type.name}`;
    case 'int':
      return 'an int';
    case 'uint':
      return 'a uint';
    case 'number':
    case 'looseNumber':
      return 'a number';
    case 'bool':
      return 'a bool';
    case 'timestamp':
      return 'a timestamp';
    case 'any':
      return 'a value whose type is only known at run time';
    case 'never':
      return 'nothing';
    case 'string':
    case 'hex':
    case 'key':
    case 'address':
    case 'text':
      return 'a string';
  }
}

function plural(type: Type): string {
  if (type.kind === 'list') return 'lists';
  if (type.kind === 'struct') return type.name;
  if (type.kind === 'any') return 'values whose type is only known at run time';
  return `${describeType(type).replace(/^an? /, '')}s`;
}
