// protocol/policies 4 and protocol/policies 5 at run time: equality with the hex rule and the decimal rule, order,
// indices, slices.
import { RuntimeFailure } from './codes.ts';
import type { Cell, Value } from './values.ts';

const CANONICAL_DECIMAL = /^(?:0|-?[1-9][0-9]*)$/;

/** `==` and `!=`: a number also equals its decimal text. Hex text is no decimal text. */
export function areEqual(left: Value, right: Value): boolean {
  if (left.kind === 'number' && right.kind === 'text' && !right.hex) return left.value === decimalOf(right.text);
  if (left.kind === 'text' && right.kind === 'number' && !left.hex) return decimalOf(left.text) === right.value;
  return areSame(left, right);
}

/** The equality of `in` and `contains`. */
export function areSame(left: Value, right: Value): boolean {
  if (left.kind === 'number' && right.kind === 'number') return left.value === right.value;
  if (left.kind === 'bool' && right.kind === 'bool') return left.value === right.value;
  if (left.kind === 'timestamp' && right.kind === 'timestamp') return left.nanoseconds === right.nanoseconds;
  if (left.kind === 'text' && right.kind === 'text') {
    if (left.key || right.key) return spelling(left.text) === spelling(right.text);
    if (!left.hex && !right.hex) return left.text === right.text;
    return foldAscii(left.text) === foldAscii(right.text);
  }
  throw new RuntimeFailure('R_TYPE', `${left.kind} against ${right.kind}`);
}

/** The compressed point that a public key is, in lower case. */
function spelling(key: string): string {
  const folded = foldAscii(key);
  if (folded.length !== 130 || !folded.startsWith('04') || !/^[0-9a-f]*$/.test(folded)) return folded;
  const isOdd = BigInt(`0x${folded.slice(66)}`) % 2n === 1n;
  return `${isOdd ? '03' : '02'}${folded.slice(2, 66)}`;
}

/** Negative, zero or positive, as for sorting. */
export function order(left: Value, right: Value): number {
  if (left.kind === 'number' && right.kind === 'number') return sign(left.value - right.value);
  if (left.kind === 'timestamp' && right.kind === 'timestamp') return sign(left.nanoseconds - right.nanoseconds);
  throw new RuntimeFailure('R_TYPE', `order of ${left.kind} and ${right.kind}`);
}

export function elementAt(receiver: Value, index: Value): Value {
  if (receiver.kind === 'map') {
    if (index.kind !== 'text') throw new RuntimeFailure('R_TYPE', 'a key must be a string');
    const cell = receiver.entries.get(index.text);
    if (cell === undefined) throw new RuntimeFailure('R_MISSING_KEY', index.text);
    return cell();
  }
  const position = positionOf(index);
  if (receiver.kind === 'list' || receiver.kind === 'tuple') {
    const cell = position < 0n ? undefined : receiver.items[Number(position)];
    if (cell === undefined) throw new RuntimeFailure('R_INDEX', `${position}`);
    return cell();
  }
  if (receiver.kind === 'text') {
    const character = position < 0n ? undefined : [...receiver.text][Number(position)];
    if (character === undefined) throw new RuntimeFailure('R_INDEX', `${position}`);
    return { kind: 'text', text: character, hex: receiver.hex };
  }
  throw new RuntimeFailure('R_TYPE', `index of ${receiver.kind}`);
}

export function slice(receiver: Value, from: Value, to: Value): Value {
  if (receiver.kind === 'list') return { kind: 'list', items: sliceItems(receiver.items, from, to) };
  if (receiver.kind === 'text') {
    return { kind: 'text', text: sliceItems([...receiver.text], from, to).join(''), hex: receiver.hex };
  }
  throw new RuntimeFailure('R_TYPE', `slice of ${receiver.kind}`);
}

export function hexToUint(receiver: Value): Value {
  if (receiver.kind !== 'text') throw new RuntimeFailure('R_TYPE', `hex_to_uint of ${receiver.kind}`);
  const match = /^(?:0x)?([0-9a-fA-F]{1,64})$/.exec(receiver.text);
  if (match === null) throw new RuntimeFailure('R_HEX', receiver.text);
  return { kind: 'number', value: BigInt(`0x${match[1]}`) };
}

export function itemsOf(value: Value): readonly Cell[] {
  if (value.kind !== 'list') throw new RuntimeFailure('R_TYPE', `${value.kind} is no list`);
  return value.items;
}

function sliceItems<T>(items: readonly T[], from: Value, to: Value): T[] {
  const start = positionOf(from);
  const end = positionOf(to);
  if (start < 0n || end < start || end > BigInt(items.length)) {
    throw new RuntimeFailure('R_INDEX', `${start}..${end} of ${items.length}`);
  }
  return items.slice(Number(start), Number(end));
}

function positionOf(index: Value): bigint {
  if (index.kind !== 'number') throw new RuntimeFailure('R_TYPE', 'an index must be a number');
  return index.value;
}

function decimalOf(text: string): bigint {
  if (!CANONICAL_DECIMAL.test(text)) throw new RuntimeFailure('R_TYPE', `${text} is no canonical decimal`);
  return BigInt(text);
}

const foldAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

const sign = (difference: bigint): number => (difference < 0n ? -1 : difference > 0n ? 1 : 0);
