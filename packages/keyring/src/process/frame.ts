import { DefaultSerializer } from 'node:v8';

// What crosses a line between a service and a thread of its keyring process: SPEC.md, section 8.

/** Length of the body (4 bytes), id (8 bytes, given back as they came), and what it is (1 byte). */
const HEAD_BYTES = 13;

export interface Frame {
  readonly id: number;
  /** Of a call the number of its method, of an answer its kind. */
  readonly tag: number;
  /** Undefined when it was longer than allowed; its bytes were skipped. */
  readonly body: Uint8Array | undefined;
}

/** A frame with a value in it, written in one piece. */
export function encodeFrame(id: number, tag: number, value: unknown): Uint8Array {
  const serializer = new DefaultSerializer();
  serializer.writeRawBytes(Buffer.alloc(HEAD_BYTES));
  serializer.writeHeader();
  serializer.writeValue(value);
  const frame = serializer.releaseBuffer();
  frame.writeUInt32LE(frame.length - HEAD_BYTES, 0);
  frame.writeDoubleLE(id, 4);
  frame.writeUInt8(tag, 12);
  return frame;
}

/** Puts frames together from whatever pieces they come in. Keeps no more than one that is allowed. */
export class FrameReader {
  readonly #bytesMax: (tag: number) => number;
  readonly #found: (frame: Frame) => void;
  /** A head or a frame of which only the beginning has come. */
  #partial: Buffer | undefined;
  #filled = 0;
  #toSkip = 0;

  constructor(bytesMax: (tag: number) => number, found: (frame: Frame) => void) {
    this.#bytesMax = bytesMax;
    this.#found = found;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#toSkip > 0) rest = this.#skip(rest);
      else if (this.#partial === undefined) rest = this.#read(rest);
      else rest = this.#fill(this.#partial, rest);
    }
  }

  /** Takes the frame in front, or what there is of it; answers with what is behind. */
  #read(bytes: Buffer): Buffer {
    if (bytes.length < HEAD_BYTES) return this.#begin(HEAD_BYTES, bytes);
    const bodyLength = bytes.readUInt32LE(0);
    const id = bytes.readDoubleLE(4);
    const tag = bytes.readUInt8(12);
    if (bodyLength > this.#bytesMax(tag)) {
      this.#toSkip = bodyLength;
      this.#found({ id, tag, body: undefined });
      return bytes.subarray(HEAD_BYTES);
    }
    const end = HEAD_BYTES + bodyLength;
    if (bytes.length < end) return this.#begin(end, bytes);
    this.#found({ id, tag, body: bytes.subarray(HEAD_BYTES, end) });
    return bytes.subarray(end);
  }

  #begin(length: number, bytes: Buffer): Buffer {
    this.#partial = Buffer.allocUnsafeSlow(length);
    this.#filled = 0;
    return this.#fill(this.#partial, bytes);
  }

  #fill(partial: Buffer, bytes: Buffer): Buffer {
    const piece = bytes.subarray(0, partial.length - this.#filled);
    piece.copy(partial, this.#filled);
    // It may be a part of what was opened or lent.
    piece.fill(0);
    this.#filled += piece.length;
    if (this.#filled === partial.length) {
      this.#partial = undefined;
      this.#read(partial);
    }
    return bytes.subarray(piece.length);
  }

  #skip(bytes: Buffer): Buffer {
    const skipped = Math.min(this.#toSkip, bytes.length);
    this.#toSkip -= skipped;
    return bytes.subarray(skipped);
  }
}
