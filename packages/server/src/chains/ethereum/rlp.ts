import { ApiError } from '../../lib/errors.ts';

/** An RLP item: a byte string or a list of items. */
export type RlpItem = Uint8Array | readonly RlpItem[];

/** Four times what public nodes relay, so that the bound is never what stops a transaction that a chain would take. */
export const TRANSACTION_BYTES_MAX = 512 * 1024;
const ITEMS_MAX = 65_536;
const DEPTH_MAX = 10;

const HEX = /^[0-9a-fA-F]*$/;

export function refuseTransaction(reason: string): never {
  throw new ApiError('INVALID_TRANSACTION', `failed to parse transaction: ${reason}`);
}

/** The bytes of a transaction given as hex, with or without 0x. */
export function transactionBytes(hex: string): Uint8Array {
  const digits = hex.startsWith('0x') ? hex.slice(2) : hex;
  if (digits.length === 0) refuseTransaction('it is empty');
  if (digits.length > TRANSACTION_BYTES_MAX * 2) refuseTransaction(`longer than ${TRANSACTION_BYTES_MAX} bytes`);
  if (digits.length % 2 !== 0) refuseTransaction('an odd number of hexadecimal digits');
  if (!HEX.test(digits)) refuseTransaction('not hexadecimal');
  return Buffer.from(digits, 'hex');
}

/**
 * Decodes exactly one item that fills the bytes. Only the canonical encoding is accepted, so encoding the result again
 * gives the same bytes.
 */
export function decodeRlp(bytes: Uint8Array): RlpItem {
  const reader = new Reader(bytes);
  const item = reader.item(bytes.length, 0);
  if (reader.position !== bytes.length) refuseTransaction('bytes after the end of the RLP item');
  return item;
}

class Reader {
  position = 0;
  private items = 0;
  private readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  item(end: number, depth: number): RlpItem {
    if (++this.items > ITEMS_MAX) refuseTransaction(`more than ${ITEMS_MAX} RLP items`);
    const first = this.take(1, end)[0] as number;
    if (first < 0x80) return this.bytes.subarray(this.position - 1, this.position);
    if (first < 0xc0) {
      const text = this.take(this.length(first - 0x80, end), end);
      if (text.length === 1 && (text[0] as number) < 0x80)
        refuseTransaction('RLP is not canonical: a byte with a prefix');
      return text;
    }
    if (depth === DEPTH_MAX) refuseTransaction(`RLP lists nested deeper than ${DEPTH_MAX}`);
    const length = this.length(first - 0xc0, end);
    const listEnd = this.position + length;
    if (listEnd > end) refuseTransaction('RLP item longer than what contains it');
    const list: RlpItem[] = [];
    while (this.position < listEnd) list.push(this.item(listEnd, depth + 1));
    return list;
  }

  /** The length given by the low part of a prefix: up to 55 itself, above that in the bytes that follow. */
  private length(code: number, end: number): number {
    if (code <= 55) return code;
    const size = this.take(code - 55, end);
    if (size[0] === 0) refuseTransaction('RLP is not canonical: a length with leading zeros');
    // Four bytes of length are far more than the bound on the whole, and stay exact in a number.
    if (size.length > 4) refuseTransaction('RLP item longer than what contains it');
    let length = 0;
    for (const byte of size) length = length * 256 + byte;
    if (length <= 55) refuseTransaction('RLP is not canonical: a long length for a short item');
    return length;
  }

  private take(length: number, end: number): Uint8Array {
    const start = this.position;
    if (start + length > end) refuseTransaction('RLP ends in the middle of an item');
    this.position = start + length;
    return this.bytes.subarray(start, this.position);
  }
}

export function encodeRlp(item: RlpItem): Uint8Array {
  const pieces: Uint8Array[] = [];
  const length = collect(item, pieces);
  const out = new Uint8Array(length);
  let end = length;
  for (const piece of pieces) {
    end -= piece.length;
    out.set(piece, end);
  }
  return out;
}

/** Pushes the encoding from its last piece to its first, because a header is known only after what it covers. */
function collect(item: RlpItem, pieces: Uint8Array[]): number {
  if (item instanceof Uint8Array) {
    pieces.push(item);
    if (item.length === 1 && (item[0] as number) < 0x80) return 1;
    return item.length + header(0x80, item.length, pieces);
  }
  let length = 0;
  for (let index = item.length - 1; index >= 0; index--) length += collect(item[index] as RlpItem, pieces);
  return length + header(0xc0, length, pieces);
}

function header(base: number, length: number, pieces: Uint8Array[]): number {
  const piece = length <= 55 ? [base + length] : longHeader(base, length);
  pieces.push(Uint8Array.from(piece));
  return piece.length;
}

function longHeader(base: number, length: number): number[] {
  const size: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) size.unshift(rest % 256);
  return [base + 55 + size.length, ...size];
}
