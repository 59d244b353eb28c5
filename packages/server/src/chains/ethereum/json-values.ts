import { ApiError } from '../../lib/errors.ts';
import { type JsonObject, type JsonValue, parseStrictJson } from '../../lib/strict-json.ts';

const TEXT_BYTES_MAX = 512 * 1024;
const DECIMAL = /^-?[0-9]{1,78}$/;
const HEX_INTEGER = /^0x[0-9a-fA-F]{1,64}$/;
const HEX_BYTES = /^0x[0-9a-fA-F]*$/;
const LONE_SURROGATE = /\p{Surrogate}/u;
const SHOWN_MAX = 80;

export function refusePayload(reason: string): never {
  throw new ApiError('INVALID_PAYLOAD_ENCODING', `invalid payload encoding: ${reason}`);
}

/** A name from the caller as it may stand in a message. */
export function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_MAX ? `${name.slice(0, SHOWN_MAX)}...` : name);
}

export function parseJsonObject(text: string): JsonObject {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length > TEXT_BYTES_MAX) refusePayload(`the JSON text is longer than ${TEXT_BYTES_MAX} bytes`);
  // Turning text into bytes would replace half a surrogate pair and so change what is signed.
  if (LONE_SURROGATE.test(text)) refusePayload('lone surrogate in the JSON text');
  return asObject(parse(bytes), 'the payload');
}

function parse(bytes: Uint8Array): JsonValue {
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (error instanceof ApiError) return refusePayload(`the JSON text is refused: ${error.message}`);
    throw error;
  }
}

export function asObject(value: JsonValue | undefined, where: string): JsonObject {
  if (value === undefined) return refusePayload(`${where} is missing`);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) refusePayload(`${where} is not an object`);
  return value;
}

/** The member itself, and never one that every object inherits. */
export function member(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** An integer as a JSON number, decimal text, or hexadecimal text with 0x. */
export function asInteger(value: JsonValue | undefined, min: bigint, max: bigint, where: string): bigint {
  const integer = readInteger(value, where);
  if (integer < min || integer > max) refusePayload(`${where} is out of range`);
  return integer;
}

function readInteger(value: JsonValue | undefined, where: string): bigint {
  if (value === undefined) return refusePayload(`${where} is missing`);
  if (typeof value === 'number') {
    // Beyond this the text and the number that was read may differ.
    if (!Number.isSafeInteger(value)) refusePayload(`${where} is not an integer, or too large unless given as text`);
    return BigInt(value);
  }
  if (typeof value === 'string' && (DECIMAL.test(value) || HEX_INTEGER.test(value))) return BigInt(value);
  return refusePayload(`${where} is not an integer`);
}

/** Bytes as lower-case hex with 0x; exactly `length` of them when that is given. */
export function asHex(value: JsonValue | undefined, length: number | undefined, where: string): string {
  if (value === undefined) return refusePayload(`${where} is missing`);
  if (typeof value !== 'string' || value.length % 2 !== 0 || !HEX_BYTES.test(value)) {
    return refusePayload(`${where} is not hexadecimal with 0x`);
  }
  const actual = value.length / 2 - 1;
  if (length !== undefined && actual !== length) refusePayload(`${where} has ${actual} bytes, expected ${length}`);
  return value.toLowerCase();
}
