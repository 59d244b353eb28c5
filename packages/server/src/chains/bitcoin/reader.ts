import type { ApiError } from '../../lib/errors.ts';
import { unparsable } from '../input.ts';

/** A cursor over bytes that never reads past the end. Numbers are little-endian. */
export class Reader {
  readonly #bytes: Buffer;
  /** What the bytes are, for errors. */
  readonly #what: string;
  #position = 0;

  constructor(bytes: Uint8Array, what: string) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#what = what;
  }

  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  bytes(count: number): Buffer {
    const start = this.#position;
    this.skip(count);
    return this.#bytes.subarray(start, this.#position);
  }

  skip(count: number): void {
    if (count > this.remaining) throw this.#endsEarly();
    this.#position += count;
  }

  int32(): number {
    return this.bytes(4).readInt32LE();
  }

  uint32(): number {
    return this.bytes(4).readUInt32LE();
  }

  uint64(): bigint {
    return this.bytes(8).readBigUInt64LE();
  }

  /** In its shortest form. What the eight-byte form could announce never follows. */
  compactSize(): number {
    this.skip(1);
    const first = this.#bytes.readUInt8(this.#position - 1);
    if (first < 0xfd) return first;
    if (first === 0xff) throw this.#endsEarly();
    const value = first === 0xfd ? this.bytes(2).readUInt16LE() : this.uint32();
    if (value < (first === 0xfd ? 0xfd : 0x1_0000))
      throw unparsable(`a length in ${this.#what} is not in its shortest form`);
    return value;
  }

  varBytes(): Buffer {
    return this.bytes(this.compactSize());
  }

  skipVarBytes(): void {
    this.skip(this.compactSize());
  }

  /** How many elements follow, which take at least `least` bytes each: a false count costs nothing. */
  count(least: number): number {
    const count = this.compactSize();
    if (count * least > this.remaining) throw this.#endsEarly();
    return count;
  }

  list<Element>(least: number, read: () => Element): Element[] {
    return Array.from({ length: this.count(least) }, read);
  }

  end(): void {
    if (this.remaining > 0) throw unparsable(`bytes are left over after ${this.#what}`);
  }

  #endsEarly(): ApiError {
    return unparsable(`${this.#what} ends too early`);
  }
}
