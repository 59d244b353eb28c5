import { unparsable } from '../input.ts';

/** A cursor over bytes that never reads past the end. */
export class Reader {
  readonly #bytes: Uint8Array;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  /** The next byte, which stays unread. */
  peek(): number {
    const byte = this.#bytes[this.#position];
    if (byte === undefined) throw unparsable('it ends too early');
    return byte;
  }

  byte(): number {
    const byte = this.peek();
    this.#position += 1;
    return byte;
  }

  bytes(count: number): Uint8Array {
    if (count > this.remaining) throw unparsable('it ends too early');
    const start = this.#position;
    this.#position += count;
    return this.#bytes.subarray(start, this.#position);
  }

  /** Everything that is left. */
  rest(): Uint8Array {
    return this.bytes(this.remaining);
  }

  /**
   * A compact-u16 (Solana documentation, "Compact-array format"): seven bits a byte, low bits first, at most three
   * bytes. As in the validator, an encoding that is longer than necessary is an error.
   */
  compactU16(): number {
    let value = 0;
    for (let index = 0; index < 3; index += 1) {
      const byte = this.byte();
      if (index > 0 && byte === 0) throw unparsable('a length is not in its shortest form');
      if (index === 2 && byte > 0x03) throw unparsable('a length exceeds 16 bits');
      value |= (byte & 0x7f) << (7 * index);
      if (byte < 0x80) return value;
    }
    throw unparsable('a length exceeds 16 bits');
  }

  /** A compact array whose elements are `size` bytes each. */
  elements(size: number): Uint8Array[] {
    const count = this.compactU16();
    if (count * size > this.remaining) throw unparsable('it ends too early');
    return Array.from({ length: count }, () => this.bytes(size));
  }
}
