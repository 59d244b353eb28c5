import type { JsonValue } from '../../../lib/strict-json.ts';
import { asList, asObject, member, refuseInterface, shown } from '../../interface-json.ts';

interface Layout {
  /** Whether its place in the head holds an offset to its data. */
  readonly dynamic: boolean;
  /** The bytes that it takes in the head: its own size, or 32 for an offset. */
  readonly headBytes: number;
}

/**
 * A parameter's type, taken apart, with how it lies in call data (Solidity documentation, "Contract ABI
 * Specification").
 */
export type AbiType = Layout &
  (
    | { readonly kind: 'uint' | 'int'; readonly bits: number }
    | { readonly kind: 'address' | 'bool' | 'bytes' | 'string' }
    | { readonly kind: 'fixedBytes'; readonly length: number }
    | { readonly kind: 'array'; readonly element: AbiType; readonly length: number | undefined }
    | { readonly kind: 'tuple'; readonly members: readonly AbiType[] }
  );

export interface NamedType {
  /** As it stands in a signature. */
  readonly text: string;
  readonly type: AbiType;
}

const WORD = 32;
/** More than any transaction holds. */
const STATIC_BYTES_MAX = 1024 * 1024;
const DIMENSIONS_MAX = 8;
const TYPE_TEXT_MAX = 256;

const TYPE = /^([a-z]+[0-9]*)((?:\[[0-9]*\])*)$/;
const INTEGER = /^(u?)int([1-9][0-9]{0,2})?$/;
const FIXED_BYTES = /^bytes([1-9][0-9]?)$/;

const STATIC: Layout = { dynamic: false, headBytes: WORD };
const DYNAMIC: Layout = { dynamic: true, headBytes: WORD };

/** The bytes of the head of several values in a row. */
export const headBytesOf = (types: readonly AbiType[]): number =>
  types.reduce((sum, { headBytes }) => sum + headBytes, 0);

/** The type of a parameter `{type, components?}`; `where` names the parameter in a refusal. */
export function readAbiType(value: JsonValue, where: string): NamedType {
  const parameter = asObject(value, where);
  const text = member(parameter, 'type');
  if (typeof text !== 'string' || text.length > TYPE_TEXT_MAX) return refuseInterface(`${where} has no type`);
  const [, base, dimensions] = TYPE.exec(text) ?? [];
  if (base === undefined || dimensions === undefined) return refuseType(text, where);
  const element =
    base === 'tuple'
      ? readTuple(member(parameter, 'components'), where)
      : (readAtomic(base) ?? refuseType(text, where));
  const lengths = [...dimensions.matchAll(/\[([0-9]*)\]/g)].map(([, digits]) => digits as string);
  if (lengths.length > DIMENSIONS_MAX) refuseInterface(`${where} has more than ${DIMENSIONS_MAX} dimensions`);
  return lengths.reduce((inner, digits) => arrayOf(inner, digits, where), element);
}

const refuseType = (text: string, where: string): never =>
  refuseInterface(`${where} is of the type ${shown(text)}, which is not supported`);

function readTuple(components: JsonValue | undefined, where: string): NamedType {
  const members = asList(components, `components of ${where}`).map((component, index) =>
    readAbiType(component, `component ${index} of ${where}`),
  );
  // Values without bytes would make call data of a few bytes stand for any number of them.
  if (members.length === 0) refuseInterface(`${where} is a tuple without components`);
  const types = members.map(({ type }) => type);
  const dynamic = types.some((type) => type.dynamic);
  return {
    text: `(${members.map(({ text }) => text).join(',')})`,
    type: {
      kind: 'tuple',
      members: types,
      dynamic,
      headBytes: dynamic ? WORD : boundedSize(headBytesOf(types), where),
    },
  };
}

function arrayOf({ text, type }: NamedType, digits: string, where: string): NamedType {
  if (digits === '')
    return { text: `${text}[]`, type: { kind: 'array', element: type, length: undefined, ...DYNAMIC } };
  const length = Number(digits);
  if (String(length) !== digits || length === 0) refuseInterface(`${where} is an array of ${digits} elements`);
  const size = boundedSize(length * type.headBytes, where);
  const layout = type.dynamic ? DYNAMIC : { dynamic: false, headBytes: size };
  return { text: `${text}[${digits}]`, type: { kind: 'array', element: type, length, ...layout } };
}

const boundedSize = (bytes: number, where: string): number =>
  bytes <= STATIC_BYTES_MAX ? bytes : refuseInterface(`${where} is larger than any transaction`);

function readAtomic(base: string): NamedType | undefined {
  if (base === 'address' || base === 'bool') return { text: base, type: { kind: base, ...STATIC } };
  if (base === 'bytes' || base === 'string') return { text: base, type: { kind: base, ...DYNAMIC } };
  // A contract address and a selector, laid out as bytes24.
  if (base === 'function') return { text: base, type: { kind: 'fixedBytes', length: 24, ...STATIC } };
  const integer = INTEGER.exec(base);
  if (integer !== null) {
    const bits = Number(integer[2] ?? 256);
    if (bits % 8 !== 0 || bits > 256) return undefined;
    return { text: `${integer[1]}int${bits}`, type: { kind: integer[1] === 'u' ? 'uint' : 'int', bits, ...STATIC } };
  }
  const length = Number(FIXED_BYTES.exec(base)?.[1] ?? 0);
  return length >= 1 && length <= WORD ? { text: base, type: { kind: 'fixedBytes', length, ...STATIC } } : undefined;
}
