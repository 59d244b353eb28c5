import { toHex } from '../../lib/encoding.ts';
import { unparsable } from '../input.ts';

// The wire format of Protocol Buffers (protobuf.dev, "Encoding").

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

const MAX_FIELD_NUMBER = 2 ** 29 - 1;
const MAX_UINT64 = 2n ** 64n - 1n;
const MAX_INT64 = 2n ** 63n - 1n;
const MAX_INT32 = 2n ** 31n - 1n;

interface Field {
  readonly wireType: number;
  readonly varint: bigint;
  readonly bytes: Uint8Array;
}

const EMPTY = new Uint8Array();

/**
 * One message, read strictly: a field the caller asks for must have its declared wire type and, unless it is asked for
 * as a list, occur once, because readers differ in how they merge repetitions.
 */
export class ProtoMessage {
  readonly #fields = new Map<number, Field[]>();
  readonly #asked = new Set<number>();
  readonly #name: string;

  constructor(bytes: Uint8Array, name: string) {
    this.#name = name;
    const cursor = { bytes, position: 0 };
    while (cursor.position < bytes.length) {
      const tag = readVarint(cursor);
      const number = Number(tag >> 3n);
      if (number < 1 || number > MAX_FIELD_NUMBER) throw unparsable(`${name} has a field number out of range`);
      const field = readField(cursor, Number(tag & 7n), name);
      const known = this.#fields.get(number);
      if (known === undefined) this.#fields.set(number, [field]);
      else known.push(field);
    }
  }

  /** For when every field was asked for: what the others mean to the nodes, nobody could judge. */
  refuseOthers(): void {
    for (const number of this.#fields.keys()) {
      if (!this.#asked.has(number)) throw unparsable(`${this.#name} has a field ${number}, which is not known`);
    }
  }

  /** An int64 that must not be negative; zero when absent. */
  uint63(number: number, label: string): bigint {
    return this.#number(number, label, MAX_INT64);
  }

  /** An int32 or enum that must not be negative; zero when absent. */
  uint31(number: number, label: string): number {
    return Number(this.#number(number, label, MAX_INT32));
  }

  bool(number: number, label: string): boolean {
    return this.#number(number, label, 1n) === 1n;
  }

  /** Empty when absent. */
  bytes(number: number, label: string): Uint8Array {
    return this.#single(number, label, LENGTH_DELIMITED)?.bytes ?? EMPTY;
  }

  hex(number: number, label: string): string {
    return toHex(this.bytes(number, label));
  }

  text(number: number, label: string): string {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(this.bytes(number, label));
    } catch {
      throw unparsable(`${this.#name}.${label} is not UTF-8`);
    }
  }

  message(number: number, label: string): ProtoMessage | undefined {
    const field = this.#single(number, label, LENGTH_DELIMITED);
    return field === undefined ? undefined : new ProtoMessage(field.bytes, `${this.#name}.${label}`);
  }

  messages(number: number, label: string): ProtoMessage[] {
    return this.#all(number, label, LENGTH_DELIMITED).map(
      (field) => new ProtoMessage(field.bytes, `${this.#name}.${label}`),
    );
  }

  #number(number: number, label: string, max: bigint): bigint {
    const value = this.#single(number, label, VARINT)?.varint ?? 0n;
    if (value > max) throw unparsable(`${this.#name}.${label} is out of range`);
    return value;
  }

  #single(number: number, label: string, wireType: number): Field | undefined {
    const fields = this.#all(number, label, wireType);
    if (fields.length > 1) throw unparsable(`${this.#name}.${label} occurs more than once`);
    return fields[0];
  }

  #all(number: number, label: string, wireType: number): readonly Field[] {
    this.#asked.add(number);
    const fields = this.#fields.get(number) ?? [];
    if (fields.some((field) => field.wireType !== wireType)) {
      throw unparsable(`${this.#name}.${label} has a wrong wire type`);
    }
    return fields;
  }
}

interface Cursor {
  readonly bytes: Uint8Array;
  position: number;
}

function readField(cursor: Cursor, wireType: number, name: string): Field {
  switch (wireType) {
    case VARINT:
      return { wireType, varint: readVarint(cursor), bytes: EMPTY };
    case FIXED_64:
      return { wireType, varint: 0n, bytes: take(cursor, 8n) };
    case LENGTH_DELIMITED:
      return { wireType, varint: 0n, bytes: take(cursor, readVarint(cursor)) };
    case FIXED_32:
      return { wireType, varint: 0n, bytes: take(cursor, 4n) };
    default:
      throw unparsable(`${name} has a field of wire type ${wireType}`);
  }
}

function take(cursor: Cursor, length: bigint): Uint8Array {
  if (length > BigInt(cursor.bytes.length - cursor.position)) throw unparsable('it ends too early');
  const start = cursor.position;
  cursor.position += Number(length);
  return cursor.bytes.subarray(start, cursor.position);
}

/** Up to 64 bits in their shortest form. */
function readVarint(cursor: Cursor): bigint {
  let value = 0n;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = cursor.bytes[cursor.position];
    if (byte === undefined) throw unparsable('it ends too early');
    cursor.position += 1;
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) {
      if (byte === 0 && shift > 0n) throw unparsable('a number is not in its shortest form');
      if (value > MAX_UINT64) break;
      return value;
    }
  }
  throw unparsable('a number exceeds 64 bits');
}

/** A length-delimited field as it is written. The number must be below 16. */
export function lengthDelimited(number: number, bytes: Uint8Array): Uint8Array {
  const length: number[] = [];
  let rest = bytes.length;
  while (rest >= 0x80) {
    length.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  length.push(rest);
  return Buffer.concat([Uint8Array.of((number << 3) | LENGTH_DELIMITED, ...length), bytes]);
}
