import { assert } from '../../lib/assert.ts';
import { RuntimeFailure, type Span } from '../language/errors.ts';
import { type Frame, spend, spendText } from './frame.ts';
import { foldAscii, hexText, isHex, isTuple, offsetOfCodePoint, renderValue, textOf } from './values.ts';

const wrongKind = (expected: string, value: unknown, span: Span): RuntimeFailure =>
  new RuntimeFailure('R_TYPE', span, `expected ${expected}, found ${renderValue(value)}`);

const outside = (span: Span, message: string): RuntimeFailure => new RuntimeFailure('R_INDEX', span, message);

/** A value that must be a list; statically typed lists always are. */
export function listIn(value: unknown, span: Span): readonly unknown[] {
  if (!Array.isArray(value)) throw wrongKind('a list', value, span);
  return value;
}

export const lengthOf = (value: unknown, span: Span): bigint => BigInt(listIn(value, span).length);

/** `0x` and up to 64 hex digits, or the digits alone. */
export function hexToUint(value: unknown, span: Span): bigint {
  const text = textOf(value);
  if (text === undefined) throw wrongKind('a string', value, span);
  const found = /^(?:0x)?([0-9a-fA-F]{1,64})$/.exec(isHex(value) ? foldAscii(text.slice(0, 67)) : text.slice(0, 67));
  if (found === null) throw new RuntimeFailure('R_HEX', span, 'expected 1 to 64 hex digits');
  return BigInt(`0x${found[1]}`);
}

function requirePosition(value: unknown, span: Span): asserts value is bigint {
  if (typeof value !== 'bigint') throw wrongKind('a number as position', value, span);
}

/** A position as a number that is safe to count with; anything beyond any length is the same mistake. */
function positionOf(value: unknown, span: Span): number {
  requirePosition(value, span);
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) throw outside(span, `there is no position ${value}`);
  return Number(value);
}

/** One element of a list, or one character of a text. */
export function elementAt(target: unknown, index: unknown, frame: Frame, span: Span): unknown {
  const position = positionOf(index, span);
  if (Array.isArray(target)) return itemAt(target, position, span);
  return cut(target, position, position + 1, frame, span);
}

function itemAt(items: readonly unknown[], position: number, span: Span): unknown {
  if (position >= items.length) throw outside(span, `there is no element ${position} in ${items.length}`);
  return items[position];
}

export function valueAt(target: unknown, key: unknown, span: Span): unknown {
  assert(target instanceof Map, 'a map is a Map');
  const text = textOf(key);
  if (text === undefined) throw wrongKind('a string as key', key, span);
  const value: unknown = target.get(text);
  if (value === undefined) throw new RuntimeFailure('R_MISSING_KEY', span, `there is no key ${renderValue(text)}`);
  return value;
}

/** Access into a value whose kind is only known now: maps by name, lists, tuples and texts by position. */
export function dynamicAccess(target: unknown, index: unknown, frame: Frame, span: Span): unknown {
  if (target instanceof Map) return valueAt(target, index, span);
  if (isTuple(target)) return itemAt(target.items, positionOf(index, span), span);
  if (Array.isArray(target) || textOf(target) !== undefined) return elementAt(target, index, frame, span);
  throw wrongKind('a list, a map or a string', target, span);
}

/** Half open: `from` is included, `to` is not. */
export function slice(target: unknown, from: unknown, to: unknown, frame: Frame, span: Span): unknown {
  if (!Array.isArray(target) && textOf(target) === undefined) throw wrongKind('a list or a string', target, span);
  // What is no position at all comes before positions that do not exist, whichever bound it is.
  requirePosition(from, span);
  requirePosition(to, span);
  const first = positionOf(from, span);
  const last = positionOf(to, span);
  if (last < first) throw outside(span, `${first}..${last} runs backwards`);
  if (!Array.isArray(target)) return cut(target, first, last, frame, span);
  if (last > target.length) throw outside(span, `there is no element ${last - 1} in ${target.length}`);
  spend(frame, last - first, span);
  return target.slice(first, last);
}

/** Positions count code points. Only the text up to the end of the cut is read, and it is paid for. */
function cut(target: unknown, first: number, last: number, frame: Frame, span: Span): unknown {
  const text = textOf(target) as string;
  spendText(frame, Math.min(last, text.length), span);
  const start = offsetOfCodePoint(text, first);
  const end = start === undefined ? undefined : offsetOfCodePoint(text, last - first, start);
  if (start === undefined || end === undefined) throw outside(span, `the text has no character ${last - 1}`);
  const part = text.slice(start, end);
  return isHex(target) ? hexText(part) : part;
}
