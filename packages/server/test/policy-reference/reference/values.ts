// Run-time values, and how they are read from a context written as JSON (the format of policy-cases.json).
import { RuntimeFailure } from './codes.ts';
import { INT_MAX, INT_MIN, UINT_MAX } from './limits.ts';
import { parseTimestamp } from './timestamp.ts';
import type { Type } from './types.ts';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Reading may fail (an integer out of range), and only a value that is really read may fail. */
export type Cell = () => Value;

export type Value =
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'number'; readonly value: bigint }
  | { readonly kind: 'text'; readonly text: string; readonly hex: boolean; readonly key?: boolean }
  | { readonly kind: 'timestamp'; readonly nanoseconds: bigint }
  | { readonly kind: 'list'; readonly items: readonly Cell[] }
  | { readonly kind: 'tuple'; readonly items: readonly Cell[] }
  | { readonly kind: 'map'; readonly entries: ReadonlyMap<string, Cell> }
  | { readonly kind: 'struct'; readonly name: string; readonly fields: JsonObject };

/** Reads a value whose type the struct tables give. */
export function readTyped(raw: Json, type: Type): Value {
  switch (type.kind) {
    case 'bool':
      if (typeof raw !== 'boolean') throw malformed(raw, type.kind);
      return { kind: 'bool', value: raw };
    case 'int':
      return readNumber(raw, INT_MIN, INT_MAX);
    case 'uint':
    case 'loose':
      return readNumber(raw, 0n, UINT_MAX);
    case 'string':
      return { kind: 'text', text: readText(raw), hex: false };
    case 'hex':
      return { kind: 'text', text: readText(raw), hex: true };
    case 'key':
      return { kind: 'text', text: readText(raw), hex: true, key: true };
    case 'address':
      return { kind: 'text', text: readText(raw), hex: readText(raw).startsWith('0x') };
    case 'timestamp':
      return { kind: 'timestamp', nanoseconds: readInstant(raw) };
    case 'any':
      return readDynamic(raw);
    case 'list':
      if (!Array.isArray(raw)) throw malformed(raw, type.kind);
      return { kind: 'list', items: raw.map((item: Json) => () => readTyped(item, type.element)) };
    case 'map':
      return { kind: 'map', entries: readEntries(readObject(raw), (item) => readTyped(item, type.element)) };
    case 'struct':
      return { kind: 'struct', name: type.name, fields: readObject(raw) };
    case 'nothing':
    case 'refused':
      throw new Error(`no value has the type ${type.kind}`);
  }
}

/** Reads a value that describes itself: decoded arguments and members of typed messages. */
function readDynamic(raw: Json): Value {
  if (typeof raw === 'boolean') return { kind: 'bool', value: raw };
  if (typeof raw === 'string') return { kind: 'text', text: raw, hex: false };
  if (typeof raw === 'number') return readNumber(raw, INT_MIN, INT_MAX);
  if (Array.isArray(raw)) return { kind: 'list', items: raw.map((item: Json) => () => readDynamic(item)) };
  const object = readObject(raw);
  const keys = Object.keys(object);
  const tagged = keys.length === 1 ? object[keys[0]!] : undefined;
  if (tagged !== undefined) {
    if (keys[0] === '$int') return readNumber(tagged, INT_MIN, INT_MAX);
    if (keys[0] === '$uint') return readNumber(tagged, 0n, UINT_MAX);
    if (keys[0] === '$hex') return { kind: 'text', text: readText(tagged), hex: true };
    if (keys[0] === '$tuple' && Array.isArray(tagged)) {
      return { kind: 'tuple', items: tagged.map((item: Json) => () => readDynamic(item)) };
    }
  }
  return { kind: 'map', entries: readEntries(object, readDynamic) };
}

function readEntries(object: JsonObject, readItem: (item: Json) => Value): ReadonlyMap<string, Cell> {
  const entries = new Map<string, Cell>();
  for (const [key, item] of Object.entries(object)) {
    if (item !== undefined) entries.set(key, () => readItem(item));
  }
  return entries;
}

function readNumber(raw: Json, min: bigint, max: bigint): Value {
  if (typeof raw !== 'number' && typeof raw !== 'string') throw malformed(raw, 'number');
  const value = BigInt(raw);
  if (value < min || value > max) throw new RuntimeFailure('R_INT_RANGE', `${value} does not fit`);
  return { kind: 'number', value };
}

function readText(raw: Json): string {
  if (typeof raw !== 'string') throw malformed(raw, 'string');
  return raw;
}

function readInstant(raw: Json): bigint {
  const nanoseconds = parseTimestamp(readText(raw));
  if (nanoseconds === undefined) throw malformed(raw, 'timestamp');
  return nanoseconds;
}

function readObject(raw: Json): JsonObject {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw)) throw malformed(raw, 'object');
  return raw as JsonObject;
}

/** A context that contradicts the struct tables is a mistake of the test that made it. */
function malformed(raw: Json, wanted: string): Error {
  return new Error(`malformed context: ${JSON.stringify(raw)} is no ${wanted}`);
}
