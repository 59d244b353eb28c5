import { assert } from '../../lib/assert.ts';

/**
 * Text that is known to be hex; it compares without regard to ASCII case, and so do its slices (protocol/policies 5.2).
 */
export interface HexText {
  readonly kind: 'hex';
  readonly text: string;
  /** Whether it is a public key, which compares without regard to how its point is written. */
  readonly isKey?: true;
}

/** An ABI tuple: members by position only. */
export interface Tuple {
  readonly kind: 'tuple';
  readonly items: readonly DynamicValue[];
}

/** A decoded integer and the family that it was declared in: an int outside 128 bits cannot be read. */
export interface Integer {
  readonly kind: 'int' | 'uint';
  readonly value: bigint;
}

/**
 * What decoded arguments and members of typed data are made of. Maps are Maps, because their keys come from outside.
 */
export type DynamicValue =
  | boolean
  | string
  | HexText
  | Integer
  | Tuple
  | readonly DynamicValue[]
  | ReadonlyMap<string, DynamicValue>;

export const hexText = (text: string): HexText => ({ kind: 'hex', text });
export const keyText = (text: string): HexText => ({ kind: 'hex', text, isKey: true });
export const intValue = (value: bigint): Integer => ({ kind: 'int', value });
export const uintValue = (value: bigint): Integer => ({ kind: 'uint', value });
export const tupleOf = (items: readonly DynamicValue[]): Tuple => ({ kind: 'tuple', items });

export const INT_MIN = -(2n ** 127n);
export const INT_MAX = 2n ** 127n - 1n;
export const UINT_MAX = 2n ** 256n - 1n;

const tagOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as { readonly kind?: unknown }).kind : undefined;

export const isHex = (value: unknown): value is HexText => tagOf(value) === 'hex';
export const isTuple = (value: unknown): value is Tuple => tagOf(value) === 'tuple';
export const isInteger = (value: unknown): value is Integer => tagOf(value) === 'int' || tagOf(value) === 'uint';

/** The characters of a text value; undefined for any other. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : isHex(value) ? value.text : undefined;

/** Folds A to Z and nothing else: the casing of other alphabets is not ours to touch. */
export const foldAscii = (text: string): string =>
  /[A-Z]/.test(text) ? text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : text;

const UNCOMPRESSED_POINT = /^04([0-9a-f]{64})[0-9a-f]{63}([0-9a-f])$/;

/** The one spelling of a public key: in lower case, and as a compressed point where both coordinates are given. */
export function foldKey(text: string): string {
  const folded = foldAscii(text);
  const [, x, lastDigit = ''] = UNCOMPRESSED_POINT.exec(folded) ?? [];
  return x === undefined ? folded : `${Number.parseInt(lastDigit, 16) % 2 === 0 ? '02' : '03'}${x}`;
}

export const isKey = (value: unknown): boolean => isHex(value) && value.isKey === true;

/**
 * Equality of two texts by code point, or without regard to ASCII case when at least one of them is hex; if one is a
 * public key, every spelling of it is equal.
 */
export function textEquals(left: string | HexText, right: string | HexText): boolean {
  if (typeof left === 'string' && typeof right === 'string') return left === right;
  const [leftText, rightText] = [textOf(left) as string, textOf(right) as string];
  if (isKey(left) || isKey(right)) return foldKey(leftText) === foldKey(rightText);
  // Folding keeps the length, so long texts that cannot be equal are not even read.
  return (
    leftText === rightText || (leftText.length === rightText.length && foldAscii(leftText) === foldAscii(rightText))
  );
}

/**
 * Whether a text is how we would write some integer; only such a text compares with a number (protocol/policies 5.3).
 */
export const isCanonicalDecimal = (text: string): boolean => /^(?:0|-?[1-9][0-9]*)$/.test(text);

/** The offset of a code point in a text that is counted in UTF-16 units; undefined when the text is shorter. */
export function offsetOfCodePoint(text: string, index: number, from = 0): number | undefined {
  let offset = from;
  for (let left = index; left > 0; left -= 1) {
    if (offset >= text.length) return undefined;
    const unit = text.charCodeAt(offset);
    const isPair = unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text, offset + 1);
    offset += isPair ? 2 : 1;
  }
  return offset;
}

function isLowSurrogate(text: string, offset: number): boolean {
  const unit = text.charCodeAt(offset);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

const SHOWN_MAX = 128;
export const STRUCT_SHOWN = 'a struct';

/** A value as a person reads it in an explanation; long ones are cut. */
export function renderValue(value: unknown): string {
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value);
  const text = textOf(value);
  if (text !== undefined) return text.length > SHOWN_MAX ? `'${text.slice(0, SHOWN_MAX)}…'` : `'${text}'`;
  if (Array.isArray(value)) return value.length === 1 ? 'a list of 1 element' : `a list of ${value.length} elements`;
  if (isTuple(value)) return `a tuple of ${value.items.length}`;
  if (value instanceof Map) return `a map of ${value.size}`;
  assert(typeof value === 'object' && value !== null, 'a policy value is of no known kind');
  return STRUCT_SHOWN;
}
