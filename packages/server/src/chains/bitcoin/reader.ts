import { unparsable } from '../input.ts';

/** A cursor over bytes that never reads past the end. Numbers are little-endian. */
export class Reader {
  readonly #bytes: Buffer;
  #position: number;

  constructor(bytes: Uint8Array, position = 0) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#position = position;
  }

  get position(): number {
    return this.#position;
  }

  get remaining(): number {
    return this.#bytes.length - this.#position;
  }

  bytes(count: number): Buffer {
    if (count > this.remaining) throw unparsable('it ends too early');
    const start = this.#position;
    this.#position += count;
    return this.#bytes.subarray(start, this.#position);
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
    const first = this.bytes(1).readUInt8();
    if (first < 0xfd) return first;
    if (first === 0xff) throw unparsable('it ends too early');
    const value = first === 0xfd ? this.bytes(2).readUInt16LE() : this.uint32();
    if (value < (first === 0xfd ? 0xfd : 0x1_0000)) throw unparsable('a length is not in its shortest form');
    return value;
  }

  varBytes(): Buffer {
    return this.bytes(this.compactSize());
  }

  /** A list whose elements take at least `least` bytes each, so that a false count costs nothing. */
  list<Element>(least: number, read: () => Element): Element[] {
    const count = this.compactSize();
    if (count * least > this.remaining) throw unparsable('it ends too early');
    return Array.from({ length: count }, read);
  }

  end(what: string): void {
    if (this.remaining > 0) throw unparsable(`bytes are left over after ${what}`);
  }
}
