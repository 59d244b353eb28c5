import { ApiError } from '../lib/errors.ts';
import { type JsonObject, type JsonValue, parseStrictJson } from '../lib/strict-json.ts';

const SHOWN_MAX = 80;

/** Why a contract interface cannot be used. */
export function refuseInterface(reason: string): never {
  const description = `invalid smart contract interface: ${reason}`;
  const violations = [{ field: 'parameters.smartContractInterface', description }];
  throw new ApiError('INVALID_CONTRACT_INTERFACE', description, { violations });
}

/** A name from the caller as it may stand in a message. */
export function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}...` : name);
}

export function parseInterfaceJson(text: string): JsonValue {
  if (text.trim() === '') return refuseInterface('the text is empty');
  try {
    return parseStrictJson(Buffer.from(text, 'utf8'));
  } catch (error) {
    if (error instanceof ApiError) return refuseInterface(`not JSON that everyone reads alike: ${error.message}`);
    throw error;
  }
}

/** The member itself, and never one that every object inherits; null means absent (protocol/http 2.3). */
export function member(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined;
}

export function asObject(value: JsonValue | undefined, where: string): JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return refuseInterface(`${where} is not an object`);
  }
  return value;
}

export function asList(value: JsonValue | undefined, where: string): readonly JsonValue[] {
  return Array.isArray(value) ? value : refuseInterface(`${where} is not a list`);
}

export function asName(value: JsonValue | undefined, where: string): string {
  return typeof value === 'string' && value !== '' ? value : refuseInterface(`${where} has no name`);
}

/** Two things of one name could not be told apart by a policy. */
export function refuseRepeated(names: readonly string[], where: string): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name)) refuseInterface(`${where} has ${shown(name)} twice`);
    seen.add(name);
  }
}
