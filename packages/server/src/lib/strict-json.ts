// Longer than a file should be: parsing and redacting share one reader, so that both see the same values in a text.

import { Buffer, isAscii, isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { ApiError } from './errors.ts';

/** A parsed JSON value. Objects are plain objects that hold exactly the members of the text as own properties. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

export interface JsonObject {
  [key: string]: JsonValue;
}

/** How many values a text may have, and how many different names of members. */
export interface JsonBounds {
  readonly values: number;
  readonly names: number;
}

const UNBOUNDED: JsonBounds = { values: Number.POSITIVE_INFINITY, names: Number.POSITIVE_INFINITY };
const DEPTH_MAX = 32;
const KEY_SHOWN_MAX = 64;
/** An integer of this many digits is exact in a double at every step of its reading. */
const EXACT_DIGITS_MAX = 15;

/** By the code of the character behind the backslash. */
const SHORT_ESCAPES = new Uint8Array(128);
for (const letter of '"\\/bfnrt') SHORT_ESCAPES[letter.charCodeAt(0)] = 1;

const END = -1;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const LEFT_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const RIGHT_BRACKET = 0x5d;
const LOWER_E = 0x65;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const LOWER_T = 0x74;
const LOWER_U = 0x75;
const LEFT_BRACE = 0x7b;
const RIGHT_BRACE = 0x7d;

/**
 * Parses exactly RFC 8259 and refuses what two readers could understand differently: duplicate keys, lone surrogates, a
 * byte-order mark, numbers out of range. Every refusal is REQUEST_INVALID and names the byte where it was seen.
 * `bounds` bound the work: values and names take longer to read, copy and write than the bytes that they have.
 */
export function parseStrictJson(bytes: Uint8Array, bounds: JsonBounds = UNBOUNDED): JsonValue {
  if (bytes.length === 0) throw new ApiError('REQUEST_INVALID', 'the body is empty');
  return new Parser(decode(bytes), bounds).document();
}

/**
 * Replaces the values at the given paths of a JSON text by `"sha256:<hex>"` and keeps every other character. A string
 * is hashed unescaped, any other value by its exact text, and null stays null. A path is keys joined by dots, with `*`
 * for every element of an array; where two paths overlap, the shorter one wins.
 */
export function redactJson(text: string, paths: readonly string[]): string {
  return new Parser(text).redactedDocument(compilePaths(paths));
}

interface PathNode {
  secret: boolean;
  everyElement: PathNode | undefined;
  readonly members: Map<string, PathNode>;
}

function emptyNode(): PathNode {
  return { secret: false, everyElement: undefined, members: new Map() };
}

function compilePaths(paths: readonly string[]): PathNode {
  const root = emptyNode();
  for (const path of paths) {
    let node = root;
    for (const step of path.split('.')) {
      const known = step === '*' ? node.everyElement : node.members.get(step);
      const next: PathNode = known ?? emptyNode();
      if (step === '*') node.everyElement = next;
      else node.members.set(step, next);
      node = next;
    }
    node.secret = true;
  }
  return root;
}

function hashed(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
}

/** Assignment would reach the setter of `__proto__`, and fails for inherited names where the prototype is frozen. */
function setMember(object: JsonObject, key: string, value: JsonValue): void {
  if (object[key] === undefined) object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function decode(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isAscii(buffer)) return buffer.toString('latin1');
  if (!isUtf8(buffer)) {
    throw new ApiError('REQUEST_INVALID', `the body is not valid UTF-8 at byte ${invalidUtf8Offset(buffer)}`);
  }
  const text = buffer.toString('utf8');
  if (text.charCodeAt(0) === 0xfeff) throw new ApiError('REQUEST_INVALID', 'the body starts with a byte-order mark');
  return text;
}

/** The longest valid prefix, by halving: one that is cut inside a character counts as valid up to that character. */
function invalidUtf8Offset(buffer: Buffer): number {
  let valid = 0;
  let invalid = buffer.length;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >>> 1;
    if (isUtf8(buffer.subarray(0, wholeCharacters(buffer, middle)))) valid = middle;
    else invalid = middle;
  }
  return wholeCharacters(buffer, valid);
}

/** Steps back over the bytes of a character that has not ended at `length`. */
function wholeCharacters(buffer: Buffer, length: number): number {
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = buffer[length - back] as number;
    if (byte < 0x80) return length;
    if (byte < 0xc0) continue;
    const needed = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return needed > back ? length - back : length;
  }
  return length;
}

/** One pass over the text; the position is always at the next character to read. */
class Parser {
  private readonly text: string;
  private readonly bounds: JsonBounds;
  private readonly names = new Set<string>();
  private position = 0;
  private values = 0;

  constructor(text: string, bounds: JsonBounds = UNBOUNDED) {
    this.text = text;
    this.bounds = bounds;
  }

  document(): JsonValue {
    const value = this.value(this.next(), DEPTH_MAX);
    if (this.next() !== END) this.fail('unexpected content after the JSON value');
    return value;
  }

  redactedDocument(paths: PathNode): string {
    const pieces: string[] = [];
    const copied = this.redact(paths, pieces, 0, DEPTH_MAX);
    if (this.next() !== END) this.fail('unexpected content after the JSON value');
    pieces.push(this.text.slice(copied));
    return pieces.join('');
  }

  /** Reads the value at the position; `copied` is where the text that is not yet in `pieces` starts. */
  private redact(node: PathNode | undefined, pieces: string[], copied: number, depth: number): number {
    const code = this.next();
    const start = this.position;
    if (node === undefined || node.secret) {
      const value = this.value(code, depth);
      if (node === undefined || value === null) return copied;
      const secret = typeof value === 'string' ? value : this.text.slice(start, this.position);
      pieces.push(this.text.slice(copied, start), `"${hashed(secret)}"`);
      return this.position;
    }
    if (code !== LEFT_BRACE && code !== LEFT_BRACKET) {
      this.value(code, depth);
      return copied;
    }
    if (depth === 0) this.failDepth();
    this.position++;
    const close = code === LEFT_BRACE ? RIGHT_BRACE : RIGHT_BRACKET;
    if (this.next() === close) {
      this.position++;
      return copied;
    }
    let done = copied;
    do {
      const child = code === LEFT_BRACE ? node.members.get(this.key(this.next())) : node.everyElement;
      done = this.redact(child, pieces, done, depth - 1);
    } while (this.continues(close));
    return done;
  }

  private value(code: number, depth: number): JsonValue {
    this.values += 1;
    if (this.values > this.bounds.values) this.fail(`more than ${this.bounds.values} values`);
    switch (code) {
      case QUOTE:
        return this.string();
      case LEFT_BRACE:
        return this.object(depth);
      case LEFT_BRACKET:
        return this.array(depth);
      case LOWER_T:
        return this.literal('true', true);
      case LOWER_F:
        return this.literal('false', false);
      case LOWER_N:
        return this.literal('null', null);
      default:
        if (code === MINUS || (code >= ZERO && code <= NINE)) return this.number(code);
        return this.fail('expected a JSON value');
    }
  }

  private object(depth: number): JsonObject {
    if (depth === 0) this.failDepth();
    const object: JsonObject = {};
    this.position++;
    let code = this.next();
    if (code === RIGHT_BRACE) {
      this.position++;
      return object;
    }
    for (;;) {
      const keyStart = this.position;
      const key = this.key(code);
      if (this.names.add(key).size > this.bounds.names) this.fail(`more than ${this.bounds.names} names`, keyStart);
      const value = this.value(this.next(), depth - 1);
      // A member is never undefined, so this one lookup tells new keys from those that are own or inherited.
      if (object[key] === undefined) object[key] = value;
      else if (Object.hasOwn(object, key)) this.failDuplicate(key, keyStart);
      else setMember(object, key, value);
      if (!this.continues(RIGHT_BRACE)) return object;
      code = this.next();
    }
  }

  private array(depth: number): JsonValue[] {
    if (depth === 0) this.failDepth();
    const array: JsonValue[] = [];
    this.position++;
    let code = this.next();
    if (code === RIGHT_BRACKET) {
      this.position++;
      return array;
    }
    for (;;) {
      array.push(this.value(code, depth - 1));
      if (!this.continues(RIGHT_BRACKET)) return array;
      code = this.next();
    }
  }

  /** A member's name and the colon after it. */
  private key(code: number): string {
    if (code !== QUOTE) this.fail('expected an object key in double quotes');
    const key = this.string();
    if (this.next() !== COLON) this.fail('expected a colon after the object key');
    this.position++;
    return key;
  }

  /** After an element: true behind a comma, false behind the closing bracket. */
  private continues(close: number): boolean {
    const code = this.next();
    if (code !== COMMA && code !== close) this.fail(`expected a comma or ${close === RIGHT_BRACE ? '}' : ']'}`);
    this.position++;
    return code === COMMA;
  }

  private string(): string {
    const text = this.text;
    const start = this.position + 1;
    for (let at = start; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.position = at + 1;
        return text.slice(start, at);
      }
      if (code === BACKSLASH) return this.escapedString(start, at);
      if (code < SPACE) this.fail('control character in a string', at);
    }
    return this.fail('string without an end', text.length);
  }

  /** Checks every escape here and leaves the unescaping to the native parser, which then cannot fail. */
  private escapedString(start: number, firstEscape: number): string {
    const text = this.text;
    let at = firstEscape;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.position = at + 1;
        return JSON.parse(text.slice(start - 1, at + 1)) as string;
      }
      if (code < SPACE) this.fail('control character in a string', at);
      at = code === BACKSLASH ? this.escape(at) : at + 1;
    }
    return this.fail('string without an end', text.length);
  }

  /** The position after the escape, or after both halves of an escaped surrogate pair. */
  private escape(at: number): number {
    const letter = this.text.charCodeAt(at + 1);
    if (letter !== LOWER_U) {
      if (SHORT_ESCAPES[letter] === 1) return at + 2;
      // Not a number at the end of the text, where there is no character.
      if (Number.isNaN(letter)) this.fail('string without an end', this.text.length);
      this.fail('unknown escape in a string', at);
    }
    const unit = this.hexUnit(at + 2);
    if (unit < 0) this.fail('\\u needs four hexadecimal digits', at);
    if (unit < 0xd800 || unit > 0xdfff) return at + 6;
    // Characters that are not escaped come from valid UTF-8, so only an escape can complete a pair begun by one.
    if (unit <= 0xdbff && this.text.charCodeAt(at + 6) === BACKSLASH && this.text.charCodeAt(at + 7) === LOWER_U) {
      const second = this.hexUnit(at + 8);
      if (second >= 0xdc00 && second <= 0xdfff) return at + 12;
    }
    return this.fail('lone surrogate in a string', at);
  }

  private hexUnit(at: number): number {
    let unit = 0;
    for (let index = at; index < at + 4; index++) {
      const code = this.text.charCodeAt(index);
      const lower = code | 0x20;
      if (code >= ZERO && code <= NINE) unit = unit * 16 + code - ZERO;
      else if (lower >= 0x61 && lower <= LOWER_F) unit = unit * 16 + lower - 0x57;
      else return -1;
    }
    return unit;
  }

  private number(first: number): number {
    const text = this.text;
    const start = this.position;
    const digits = first === MINUS ? start + 1 : start;
    let at = digits;
    let integer = 0;
    let code = this.codeAt(at);
    while (code >= ZERO && code <= NINE) {
      integer = integer * 10 + code - ZERO;
      code = this.codeAt(++at);
    }
    if (at === digits) this.fail('expected a digit', at);
    if (at > digits + 1 && text.charCodeAt(digits) === ZERO) this.fail('number with a leading zero', start);
    const whole = code !== DOT && (code | 0x20) !== LOWER_E;
    if (whole && at - digits <= EXACT_DIGITS_MAX) {
      this.position = at;
      return first === MINUS ? -integer : integer;
    }
    if (code === DOT) {
      at = this.digits(at + 1);
      code = this.codeAt(at);
    }
    if ((code | 0x20) === LOWER_E) {
      code = this.codeAt(at + 1);
      at = this.digits(code === PLUS || code === MINUS ? at + 2 : at + 1);
    }
    const value = Number(text.slice(start, at));
    if (!Number.isFinite(value)) this.fail('number out of range', start);
    this.position = at;
    return value;
  }

  /** The position after one or more digits. */
  private digits(start: number): number {
    let at = start;
    let code = this.codeAt(at);
    while (code >= ZERO && code <= NINE) code = this.codeAt(++at);
    if (at === start) this.fail('expected a digit', at);
    return at;
  }

  private literal<T extends JsonValue>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.position)) this.fail('expected a JSON value');
    this.position += word.length;
    return value;
  }

  /** Skips white space and looks at the character there without taking it. */
  private next(): number {
    const text = this.text;
    let at = this.position;
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (code > SPACE || (code !== SPACE && code !== LINE_FEED && code !== CARRIAGE_RETURN && code !== TAB)) {
        this.position = at;
        return code;
      }
      at++;
    }
    this.position = at;
    return END;
  }

  private codeAt(at: number): number {
    return at < this.text.length ? this.text.charCodeAt(at) : END;
  }

  private failDepth(): never {
    return this.fail(`nesting deeper than ${DEPTH_MAX}`);
  }

  private failDuplicate(key: string, at: number): never {
    const shown = key.length > KEY_SHOWN_MAX ? `${key.slice(0, KEY_SHOWN_MAX)}...` : key;
    return this.fail(`duplicate object key ${JSON.stringify(shown)}`, at);
  }

  private fail(problem: string, at: number = this.position): never {
    const where = at >= this.text.length ? 'at the end of the text, byte' : 'at byte';
    throw new ApiError('REQUEST_INVALID', `${problem} ${where} ${Buffer.byteLength(this.text.slice(0, at))}`);
  }
}
