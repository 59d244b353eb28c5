import { RuntimeFailure, type Span } from '../language/errors.ts';
import { isNumber, isText, type Type } from '../language/types.ts';
import { type Frame, spendText } from './frame.ts';
import { type HexText, isCanonicalDecimal, isKey, renderValue, textEquals, textOf } from './values.ts';

export type Equality = (left: unknown, right: unknown, frame: Frame, span: Span) => boolean;

const same: Equality = (left, right) => left === right;

function sameText(left: unknown, right: unknown, frame: Frame, span: Span): boolean {
  const [a, b] = [left as string | HexText, right as string | HexText];
  const length = (textOf(a) as string).length;
  if (length === (textOf(b) as string).length || isKey(a) || isKey(b)) spendText(frame, length, span);
  return textEquals(a, b);
}

const mismatch = (left: unknown, right: unknown, span: Span): RuntimeFailure =>
  new RuntimeFailure('R_TYPE', span, `${renderValue(left)} and ${renderValue(right)} do not compare`);

/** Values of the same kind; lists, maps and tuples have no equality. */
function sameKind(left: unknown, right: unknown, frame: Frame, span: Span): boolean {
  const isScalar = typeof left === 'bigint' || typeof left === 'boolean';
  if (isScalar && typeof left === typeof right) return left === right;
  if (textOf(left) === undefined || textOf(right) === undefined) throw mismatch(left, right, span);
  return sameText(left, right, frame, span);
}

/**
 * As `sameKind`, and a number equals its canonical decimal text (protocol/policies 5.3). Hex is no decimal text,
 * whatever its digits.
 */
function sameKindOrDecimal(left: unknown, right: unknown, frame: Frame, span: Span): boolean {
  const [number, text] = typeof left === 'bigint' ? [left, right] : [right, left];
  if (typeof number !== 'bigint' || typeof text !== 'string') return sameKind(left, right, frame, span);
  spendText(frame, text.length, span);
  if (!isCanonicalDecimal(text)) throw mismatch(left, right, span);
  return number.toString() === text;
}

/** The equality of two static types as `==` means it. */
export function equalityOf(left: Type, right: Type): Equality {
  const isDynamic = left.kind === 'any' || right.kind === 'any' || isNumber(left) !== isNumber(right);
  return isDynamic ? sameKindOrDecimal : elementEqualityOf(left, right);
}

/** The equality of `in` and `contains`, which know no decimal texts. */
export function elementEqualityOf(left: Type, right: Type): Equality {
  if (left.kind === 'any' || right.kind === 'any') return sameKind;
  return isText(left) && (left.kind !== 'string' || right.kind !== 'string') ? sameText : same;
}

/** For operands that may turn out not to be numbers. */
export function requireNumbers(left: unknown, right: unknown, span: Span): void {
  if (typeof left !== 'bigint' || typeof right !== 'bigint') throw mismatch(left, right, span);
}
