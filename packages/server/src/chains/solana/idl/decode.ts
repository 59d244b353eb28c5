import { isUtf8 } from 'node:buffer';
import { base58 } from '@scure/base';
import { type DynamicValue, hexText, intValue, tupleOf, uintValue } from '../../../policy/index.ts';
import type { IdlField, IdlType } from './types.ts';

const KEY_BYTES = 32;

/** How many values may be decoded: types that take no bytes would otherwise let a short text stand for any number. */
export interface DecodeBudget {
  values: number;
}

/** A value that exists but compares with nothing: a float, or an option that is not set where a place must be kept. */
const NOT_COMPARABLE: DynamicValue = tupleOf([]);

class Undecodable extends Error {
  override readonly name = 'Undecodable';
}

/** The fields in the borsh encoding (borsh.io) that fills `data` exactly; anything else is undefined. */
export function decodeBorsh(
  fields: readonly IdlField[],
  data: Buffer,
  budget: DecodeBudget,
): ReadonlyMap<string, DynamicValue> | undefined {
  try {
    const reader = new BorshReader(data, budget);
    const values = reader.fields(fields);
    return reader.ended ? values : undefined;
  } catch (error) {
    if (error instanceof Undecodable) return undefined;
    throw error;
  }
}

class BorshReader {
  readonly #data: Buffer;
  readonly #budget: DecodeBudget;
  #position = 0;

  constructor(data: Buffer, budget: DecodeBudget) {
    this.#data = data;
    this.#budget = budget;
  }

  get ended(): boolean {
    return this.#position === this.#data.length;
  }

  /** An option that is not set leaves its name out, so that reading it is an error and no value passes for it. */
  fields(fields: readonly IdlField[]): ReadonlyMap<string, DynamicValue> {
    const values = new Map<string, DynamicValue>();
    for (const { name, type } of fields) {
      const value = this.#optional(type);
      if (value !== undefined) values.set(name, value);
    }
    return values;
  }

  #optional(type: IdlType): DynamicValue | undefined {
    if (type.kind !== 'option') return this.#value(type);
    this.#spend();
    return this.#flag() ? this.#optional(type.element) : undefined;
  }

  #value(type: IdlType): DynamicValue {
    this.#spend();
    switch (type.kind) {
      case 'bool':
        return this.#flag();
      case 'uint':
        return uintValue(this.#integer(type.bytes));
      case 'int':
        return intValue(BigInt.asIntN(type.bytes * 8, this.#integer(type.bytes)));
      case 'float':
        return this.#float(type.bytes);
      case 'bytes':
        return hexText(this.#take(this.#length()).toString('hex'));
      case 'string':
        return this.#text();
      case 'publicKey':
        return base58.encode(this.#take(KEY_BYTES));
      case 'option':
        return this.#optional(type) ?? NOT_COMPARABLE;
      case 'vec':
        return this.#list(type.element, this.#length());
      case 'array':
        return this.#list(type.element, type.length);
      case 'tuple':
        return tupleOf(type.members.map((member) => this.#value(member)));
      case 'struct':
        return this.fields(type.fields);
      case 'enum': {
        const variant = type.variants[this.#byte()];
        if (variant === undefined) throw new Undecodable();
        return variant.type === undefined ? variant.name : new Map([[variant.name, this.#value(variant.type)]]);
      }
    }
  }

  #list(element: IdlType, length: number): readonly DynamicValue[] {
    const values: DynamicValue[] = [];
    for (let left = length; left > 0; left -= 1) values.push(this.#value(element));
    return values;
  }

  #spend(): void {
    this.#budget.values -= 1;
    if (this.#budget.values < 0) throw new Undecodable();
  }

  #take(length: number): Buffer {
    const start = this.#position;
    if (length > this.#data.length - start) throw new Undecodable();
    this.#position = start + length;
    return this.#data.subarray(start, this.#position);
  }

  #byte(): number {
    return this.#take(1).readUInt8(0);
  }

  #flag(): boolean {
    const byte = this.#byte();
    if (byte > 1) throw new Undecodable();
    return byte === 1;
  }

  #length(): number {
    return this.#take(4).readUInt32LE(0);
  }

  #integer(bytes: number): bigint {
    return BigInt(`0x${Buffer.from(this.#take(bytes)).reverse().toString('hex')}`);
  }

  /** Borsh knows no NaN. */
  #float(bytes: number): DynamicValue {
    const taken = this.#take(bytes);
    if (Number.isNaN(bytes === 4 ? taken.readFloatLE(0) : taken.readDoubleLE(0))) throw new Undecodable();
    return NOT_COMPARABLE;
  }

  #text(): string {
    const bytes = this.#take(this.#length());
    if (!isUtf8(bytes)) throw new Undecodable();
    return bytes.toString('utf8');
  }
}
