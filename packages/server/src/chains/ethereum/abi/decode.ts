import { isUtf8 } from 'node:buffer';
import { type DynamicValue, hexText, intValue, tupleOf, uintValue } from '../../../policy/index.ts';
import { type AbiType, headBytesOf } from './types.ts';

const WORD = 32;

/** The data is not the one encoding of values of these types. */
class Undecodable extends Error {
  override readonly name = 'Undecodable';
}

/**
 * The values that `data` encodes in exactly the form of the specification's strict mode: every offset points right behind
 * what precedes it, padding is zero, nothing is left over. Anything else is undefined, because contracts may read such data
 * differently. Each byte is read once, so the work grows with the data and not with what it claims.
 */
export function decodeAbi(types: readonly AbiType[], data: Buffer): readonly DynamicValue[] | undefined {
  try {
    const { values, end } = new Decoder(data).sequence(types, 0);
    return end === data.length ? values : undefined;
  } catch (error) {
    if (error instanceof Undecodable) return undefined;
    throw error;
  }
}

interface Sequence {
  readonly values: readonly DynamicValue[];
  readonly end: number;
}

class Decoder {
  readonly #data: Buffer;

  constructor(data: Buffer) {
    this.#data = data;
  }

  /** Values in a row: their heads first, then what the heads point at. */
  sequence(types: readonly AbiType[], start: number): Sequence {
    let head = start;
    let end = start + headBytesOf(types);
    this.#need(end);
    const values: DynamicValue[] = [];
    for (const type of types) {
      if (type.dynamic) {
        if (this.#length(head) !== end - start) throw new Undecodable();
        const decoded = this.#tail(type, end);
        values.push(decoded.value);
        end = decoded.end;
      } else {
        values.push(this.#inline(type, head));
      }
      head += type.headBytes;
    }
    return { values, end };
  }

  /** A value without offsets in it. */
  #inline(type: AbiType, at: number): DynamicValue {
    switch (type.kind) {
      case 'uint':
        return uintValue(this.#integer(at, type.bits, false));
      case 'int':
        return intValue(this.#integer(at, type.bits, true));
      case 'bool':
        return this.#integer(at, 1, false) === 1n;
      case 'address':
        this.#zeros(at, at + 12);
        return hexText(this.#hex(at + 12, at + WORD));
      case 'fixedBytes':
        this.#zeros(at + type.length, at + WORD);
        return hexText(this.#hex(at, at + type.length));
      default:
        return this.#members(type, at).value;
    }
  }

  /** What an offset points at. */
  #tail(type: AbiType, at: number): { readonly value: DynamicValue; readonly end: number } {
    if (type.kind !== 'bytes' && type.kind !== 'string') return this.#members(type, at);
    const length = this.#length(at);
    const start = at + WORD;
    const end = start + Math.ceil(length / WORD) * WORD;
    this.#need(end);
    this.#zeros(start + length, end);
    if (type.kind === 'bytes') return { value: hexText(this.#hex(start, start + length)), end };
    const text = this.#data.subarray(start, start + length);
    if (!isUtf8(text)) throw new Undecodable();
    return { value: text.toString('utf8'), end };
  }

  #members(type: AbiType, at: number): { readonly value: DynamicValue; readonly end: number } {
    if (type.kind === 'tuple') {
      const { values, end } = this.sequence(type.members, at);
      return { value: tupleOf(values), end };
    }
    if (type.kind !== 'array') throw new Undecodable();
    const { element } = type;
    const length = type.length ?? this.#length(at);
    const start = type.length === undefined ? at + WORD : at;
    this.#need(start + length * element.headBytes);
    const { values, end } = this.sequence(new Array<AbiType>(length).fill(element), start);
    return { value: values, end };
  }

  #need(end: number): void {
    if (end > this.#data.length) throw new Undecodable();
  }

  #hex(start: number, end: number): string {
    return `0x${this.#data.toString('hex', start, end)}`;
  }

  #zeros(start: number, end: number): void {
    for (let at = start; at < end; at += 1) if (this.#data[at] !== 0) throw new Undecodable();
  }

  /** A number of bytes or elements; one that exceeds the data cannot be true. */
  #length(at: number): number {
    this.#need(at + WORD);
    this.#zeros(at, at + WORD - 4);
    const length = this.#data.readUInt32BE(at + WORD - 4);
    if (length > this.#data.length) throw new Undecodable();
    return length;
  }

  #integer(at: number, bits: number, signed: boolean): bigint {
    const word = BigInt(this.#hex(at, at + WORD));
    const value = signed ? BigInt.asIntN(256, word) : word;
    if (value !== (signed ? BigInt.asIntN(bits, word) : BigInt.asUintN(bits, word))) throw new Undecodable();
    return value;
  }
}
