import { assert } from '../../lib/assert.ts';
import { RuntimeFailure, type Span } from '../language/errors.ts';
import type { Type } from '../language/types.ts';
import { hexText, INT_MAX, INT_MIN, isHex, isInteger, isTuple, keyText, UINT_MAX } from './values.ts';

/** Turns a stored fact into the value that operators see. Loading a value again gives the same value. */
export type Loader = (raw: unknown, span: Span) => unknown;

const outOfRange = (span: Span, type: string): RuntimeFailure =>
  new RuntimeFailure('R_INT_RANGE', span, `the value does not fit ${type}`);

function inRange(value: bigint, type: 'int' | 'uint', span: Span): bigint {
  if (type === 'int' && (value < INT_MIN || value > INT_MAX)) throw outOfRange(span, 'an int of 128 bits');
  if (type === 'uint' && (value < 0n || value > UINT_MAX)) throw outOfRange(span, 'a uint of 256 bits');
  return value;
}

function loadInt(raw: unknown, span: Span): bigint {
  assert(typeof raw === 'bigint', 'a number among the facts of a policy is a bigint');
  return inRange(raw, 'int', span);
}

function loadUint(raw: unknown, span: Span): bigint {
  assert(typeof raw === 'bigint', 'a number among the facts of a policy is a bigint');
  return inRange(raw, 'uint', span);
}

function loadBigint(raw: unknown): bigint {
  assert(typeof raw === 'bigint', 'a number among the facts of a policy is a bigint');
  return raw;
}

function loadBool(raw: unknown): boolean {
  assert(typeof raw === 'boolean', 'a bool among the facts of a policy is a boolean');
  return raw;
}

function loadText(raw: unknown): unknown {
  assert(typeof raw === 'string' || isHex(raw), 'a string among the facts of a policy is text');
  return raw;
}

const loadHex = (raw: unknown): unknown => (typeof raw === 'string' ? hexText(raw) : loadText(raw));

const loadKey = (raw: unknown): unknown => (typeof raw === 'string' ? keyText(raw) : loadText(raw));

const loadAddress = (raw: unknown): unknown =>
  typeof raw === 'string' && raw.startsWith('0x') ? hexText(raw) : loadText(raw);

function loadList(raw: unknown): unknown {
  assert(Array.isArray(raw), 'a list among the facts of a policy is an array');
  return raw;
}

function loadMap(raw: unknown): unknown {
  assert(raw instanceof Map, 'a map among the facts of a policy is a Map');
  return raw;
}

function loadStruct(raw: unknown): unknown {
  assert(typeof raw === 'object' && raw !== null, 'a struct among the facts of a policy is an object');
  return raw;
}

function loadAny(raw: unknown, span: Span): unknown {
  if (isInteger(raw)) return inRange(raw.value, raw.kind, span);
  assert(
    typeof raw === 'string' ||
      typeof raw === 'boolean' ||
      typeof raw === 'bigint' ||
      isHex(raw) ||
      isTuple(raw) ||
      Array.isArray(raw) ||
      raw instanceof Map,
    'a dynamic value among the facts of a policy is of no known kind',
  );
  return raw;
}

/**
 * The loader of a type. A fact of the wrong kind is our own mistake and stops the request: to report it as an error of the
 * policy would switch a DENY policy off.
 */
export function loaderOf(type: Type): Loader {
  switch (type.kind) {
    case 'bool':
      return loadBool;
    case 'int':
      return loadInt;
    case 'uint':
    case 'looseNumber':
      return loadUint;
    case 'number':
    case 'timestamp':
      return loadBigint;
    case 'string':
    case 'text':
      return loadText;
    case 'hex':
      return loadHex;
    case 'key':
      return loadKey;
    case 'address':
      return loadAddress;
    case 'list':
      return loadList;
    case 'map':
      return loadMap;
    case 'struct':
      return loadStruct;
    case 'any':
    case 'never':
      return loadAny;
  }
}
