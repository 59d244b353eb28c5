import { ROOTS } from '../language/checker.ts';
import { fieldOf, type StructType, type Type } from '../language/types.ts';
import { instantFromMs, parseTimestamp } from '../time/timestamp.ts';
import type { FactsByKind } from './expression.ts';
import { type DynamicValue, hexText, intValue, tupleOf, uintValue } from './values.ts';

/** Facts as a file can hold them: why some JSON is not such facts, and where. */
export class FactsError extends Error {
  override readonly name = 'FactsError';
  /** A dotted path such as `eth.tx.value`. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(`${path}: ${message}`);
    this.path = path;
  }
}

/**
 * Facts from JSON, for tests of policies: numbers as JSON integers or decimal strings, times as RFC 3339 or milliseconds,
 * hex as plain strings. Values without a declared type are tagged: {"$uint": "1"}, {"$int": "-1"}, {"$hex": "0x"},
 * {"$tuple": []}; other objects are maps. Fields may be left out. Throws FactsError.
 */
export function factsFromJson<K extends keyof FactsByKind>(kind: K, json: unknown): FactsByKind[K] {
  return readStruct(ROOTS[kind], json, kind) as FactsByKind[K];
}

type JsonRecord = Readonly<Record<string, unknown>>;

const isRecord = (json: unknown): json is JsonRecord =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

function requireRecord(json: unknown, path: string): JsonRecord {
  if (!isRecord(json)) throw new FactsError(path, 'expected an object');
  return json;
}

function readStruct(struct: StructType, json: unknown, path: string): object {
  const facts: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(requireRecord(json, path))) {
    const found = fieldOf(struct, key);
    // A misspelt fact would make a test pass for the wrong reason.
    if (found === undefined) throw new FactsError(`${path}.${key}`, `${struct.name} has no such field`);
    facts[found.name] = readValue(found.field.type, value, `${path}.${key}`);
  }
  return facts;
}

function readValue(type: Type, json: unknown, path: string): unknown {
  switch (type.kind) {
    case 'bool':
      if (typeof json !== 'boolean') throw new FactsError(path, 'expected true or false');
      return json;
    case 'int':
    case 'uint':
    case 'number':
    case 'looseNumber':
      return readInteger(json, path);
    case 'string':
    case 'hex':
    case 'key':
    case 'address':
    case 'text':
      if (typeof json !== 'string') throw new FactsError(path, 'expected a string');
      return json;
    case 'timestamp':
      return readInstant(json, path);
    case 'list':
      return readList(json, path, (item, itemPath) => readValue(type.of, item, itemPath));
    case 'map':
      return readMap(json, path, (item, itemPath) => readValue(type.of, item, itemPath));
    case 'struct':
      return readStruct(type, json, path);
    case 'any':
    case 'never':
      return readDynamic(json, path);
  }
}

function readInteger(json: unknown, path: string): bigint {
  if (typeof json === 'number' && Number.isSafeInteger(json)) return BigInt(json);
  if (typeof json === 'string' && /^-?[0-9]{1,100}$/.test(json)) return BigInt(json);
  throw new FactsError(path, 'expected an integer, as a number or a decimal string');
}

function readInstant(json: unknown, path: string): bigint {
  if (typeof json === 'number' && Number.isSafeInteger(json)) return instantFromMs(json);
  const instant = typeof json === 'string' ? parseTimestamp(json) : undefined;
  if (instant === undefined) throw new FactsError(path, 'expected an RFC 3339 time in UTC');
  return instant;
}

function readList<Item>(json: unknown, path: string, read: (item: unknown, path: string) => Item): Item[] {
  if (!Array.isArray(json)) throw new FactsError(path, 'expected a list');
  return json.map((item, index) => read(item, `${path}.${index}`));
}

function readMap<Item>(json: unknown, path: string, read: (item: unknown, path: string) => Item): Map<string, Item> {
  const entries = Object.entries(requireRecord(json, path));
  return new Map(entries.map(([key, item]) => [key, read(item, `${path}.${key}`)]));
}

function readDynamic(json: unknown, path: string): DynamicValue {
  if (typeof json === 'boolean' || typeof json === 'string') return json;
  if (Array.isArray(json)) return readList(json, path, readDynamic);
  if (!isRecord(json)) throw new FactsError(path, 'expected a bool, a string, a list, a map or a tagged value');
  const [tag, ...others] = Object.keys(json);
  if (tag === undefined || !tag.startsWith('$')) return readMap(json, path, readDynamic);
  if (others.length > 0) throw new FactsError(path, 'a tagged value has one member');
  return readTagged(tag, json[tag], path);
}

function readTagged(tag: string, json: unknown, path: string): DynamicValue {
  switch (tag) {
    case '$uint':
      return uintValue(readInteger(json, path));
    case '$int':
      return intValue(readInteger(json, path));
    case '$tuple':
      return tupleOf(readList(json, path, readDynamic));
    case '$hex':
      if (typeof json !== 'string') throw new FactsError(path, 'expected a string');
      return hexText(json);
    default:
      throw new FactsError(path, `unknown tag ${tag}; expected $uint, $int, $hex or $tuple`);
  }
}
