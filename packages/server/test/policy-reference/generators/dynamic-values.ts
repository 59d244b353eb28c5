// Decoded arguments and typed messages: the keys, what hides behind each, and the values as tagged JSON.
import fc from 'fast-check';
import type { Json, JsonObject } from '../reference/values.ts';
import { HEX_TEXTS, NUMBERS, oneOf, SMALL_NUMBERS, TEXTS } from './pools.ts';

/** What generators know about the value behind a key; expressions use it as such, or on purpose not. */
export type DynamicShape =
  | 'number'
  | 'text'
  | 'hex'
  | 'bool'
  | 'numbers'
  | 'hexes'
  | 'maps'
  | 'tuples'
  | 'tuple'
  | 'map';

export const DYNAMIC_KEYS: Readonly<Record<DynamicShape, readonly string[]>> = {
  number: ['amount', 'wad', 'delta'],
  text: ['contents', 'memo'],
  hex: ['dst', 'token'],
  bool: ['ok'],
  numbers: ['amounts'],
  hexes: ['recipients'],
  maps: ['permitted'],
  tuples: ['calls'],
  tuple: ['pair'],
  map: ['order'],
};

/** Keys that no generated map has, among them names that JavaScript objects inherit. */
export const ABSENT_KEYS = ['missing', 'Amount', 'constructor', '__proto__', 'toString'];

const number: fc.Arbitrary<Json> = oneOf(SMALL_NUMBERS).map((value) => ({ $uint: String(value) }));

const largeNumber: fc.Arbitrary<Json> = fc.oneof(
  { weight: 6, arbitrary: number },
  {
    weight: 3,
    arbitrary: oneOf(NUMBERS).map((value) => (value < 0n ? { $int: String(value) } : { $uint: String(value) })),
  },
  // Signed values beyond 128 bits exist on chain and cannot be used.
  { weight: 1, arbitrary: oneOf([2n ** 127n, -(2n ** 127n) - 1n]).map((value) => ({ $int: String(value) })) },
);

const hex: fc.Arbitrary<Json> = oneOf(HEX_TEXTS).map((text) => ({ $hex: text }));

const innerMap: fc.Arbitrary<Json> = fc.record(
  { amount: number, token: hex, contents: oneOf(TEXTS) },
  { noNullPrototype: true },
);

const tuple: fc.Arbitrary<Json> = fc.tuple(hex, number, hex).map((members) => ({ $tuple: members }));

const VALUES: Readonly<Record<DynamicShape, fc.Arbitrary<Json>>> = {
  number: largeNumber,
  text: oneOf(TEXTS),
  hex,
  bool: fc.boolean(),
  numbers: fc.array(number, { maxLength: 3 }),
  hexes: fc.array(hex, { maxLength: 3 }),
  maps: fc.array(innerMap, { maxLength: 2 }),
  tuples: fc.array(tuple, { maxLength: 2 }),
  tuple,
  map: innerMap,
};

/** A map with most of the known keys. */
export function dynamicMap(): fc.Arbitrary<JsonObject> {
  const entries = Object.entries(DYNAMIC_KEYS).flatMap(([shape, keys]) =>
    keys.map((key): [string, fc.Arbitrary<Json | undefined>] => [
      key,
      fc.option(VALUES[shape as DynamicShape], { nil: undefined, freq: 9 }),
    ]),
  );
  return fc.record(Object.fromEntries(entries)).map(withoutAbsent);
}

/** Drops what is undefined, so that a context is JSON and nothing else. */
export function withoutAbsent(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
