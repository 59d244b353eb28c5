/** A value as PostgreSQL is given it: text, or bytes as they are. */
type Value = string | number | bigint | boolean | null | undefined | Uint8Array;

const SCRATCH_BYTES = 64 * 1024;
const SCRATCH_BYTES_MAX = 1024 * 1024;
/** UTF-8 takes at most so many bytes for a unit of a string. */
const BYTES_PER_UNIT = 3;

const CODE = { parse: 0x50, bind: 0x42, describe: 0x44, execute: 0x45, close: 0x43, sync: 0x53 } as const;
const STATEMENT = 0x53;

/**
 * Messages of the extended query protocol, written one behind the other. Nothing is on the way before `take`, so a value
 * that cannot be written sends nothing at all.
 */
export class Messages {
  #bytes = Buffer.allocUnsafe(SCRATCH_BYTES);
  #length = 0;

  clear(): void {
    this.#length = 0;
  }

  parse(name: string, text: string): void {
    const start = this.#begin(CODE.parse);
    this.#cstring(name);
    this.#cstring(text);
    this.#int16(0);
    this.#end(start);
  }

  /** Asks for the columns of a statement. */
  describe(name: string): void {
    const start = this.#begin(CODE.describe);
    this.#byte(STATEMENT);
    this.#cstring(name);
    this.#end(start);
  }

  /** Forgets a statement; one that does not exist is no error. */
  close(name: string): void {
    const start = this.#begin(CODE.close);
    this.#byte(STATEMENT);
    this.#cstring(name);
    this.#end(start);
  }

  run(name: string, values: readonly unknown[]): void {
    const start = this.#begin(CODE.bind);
    this.#cstring('');
    this.#cstring(name);
    const hasBytes = values.some((value) => value instanceof Uint8Array);
    this.#int16(hasBytes ? values.length : 0);
    if (hasBytes) for (const value of values) this.#int16(value instanceof Uint8Array ? 1 : 0);
    this.#int16(values.length);
    for (const value of values) this.#value(value as Value);
    // All columns as text.
    this.#int16(0);
    this.#end(start);
    const execute = this.#begin(CODE.execute);
    this.#cstring('');
    this.#int32(0);
    this.#end(execute);
  }

  sync(): void {
    this.#end(this.#begin(CODE.sync));
  }

  /** All messages, as bytes that nothing else is written to. */
  take(): Buffer {
    const taken = Buffer.allocUnsafe(this.#length);
    this.#bytes.copy(taken, 0, 0, this.#length);
    this.#length = 0;
    if (this.#bytes.length > SCRATCH_BYTES_MAX) this.#bytes = Buffer.allocUnsafe(SCRATCH_BYTES);
    return taken;
  }

  #begin(code: number): number {
    this.#byte(code);
    const start = this.#length;
    this.#int32(0);
    return start;
  }

  #end(start: number): void {
    this.#bytes.writeInt32BE(this.#length - start, start);
  }

  #value(value: Value): void {
    if (value === null || value === undefined) {
      this.#int32(-1);
      return;
    }
    if (value instanceof Uint8Array) {
      this.#int32(value.length);
      this.#reserve(value.length);
      this.#bytes.set(value, this.#length);
      this.#length += value.length;
      return;
    }
    if (typeof value === 'object' || typeof value === 'function' || typeof value === 'symbol')
      throw new TypeError(`a statement cannot be given ${Object.prototype.toString.call(value)}`);
    const start = this.#length;
    this.#int32(0);
    this.#text(String(value));
    this.#bytes.writeInt32BE(this.#length - start - 4, start);
  }

  #cstring(text: string): void {
    this.#text(text);
    this.#byte(0);
  }

  #text(text: string): void {
    this.#reserve(text.length * BYTES_PER_UNIT);
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  #byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  #int16(value: number): void {
    this.#reserve(2);
    this.#length = this.#bytes.writeUInt16BE(value, this.#length);
  }

  #int32(value: number): void {
    this.#reserve(4);
    this.#length = this.#bytes.writeInt32BE(value, this.#length);
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
