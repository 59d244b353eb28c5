import { POLICY_LIMITS } from '../limits.ts';
import { type Span, StaticFailure } from './errors.ts';

type TokenKind = 'integer' | 'string' | 'name' | 'symbol' | 'end';

export interface Token extends Span {
  readonly kind: TokenKind;
  /**
   * The source text, or the value of a string literal. `true`, `false` and `in` are symbols: nothing can be named so.
   */
  readonly text: string;
}

const RESERVED = new Set(['true', 'false', 'in']);
const SYMBOL = /\.\.|&&|\|\||[=!<>]=|[()[\],.!<>-]/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const DIGITS = /[0-9]+/y;
const SPACE = /[ \t\r\n]*/y;

/** What people write by habit, and what to write instead. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['"', 'strings are written in single quotes'],
  ['=', "equality is written '=='"],
  ['&', "logical and is written '&&'"],
  ['|', "logical or is written '||'"],
  ['+', 'there is no arithmetic'],
  ['*', 'there is no arithmetic'],
  ['/', 'there is no arithmetic and there are no comments'],
  ['%', 'there is no arithmetic'],
  ['#', 'there are no comments'],
  ['?', 'there is no conditional operator'],
]);

/** Refuses texts that nobody should have to scan. */
export function requireSize(text: string): void {
  const tooLong = () =>
    new StaticFailure('E_LIMIT', { start: 0, end: 0 }, `longer than ${POLICY_LIMITS.expressionCodePoints} characters`);
  // A code point has at most two units, so most long texts need no counting.
  if (text.length > 2 * POLICY_LIMITS.expressionCodePoints) throw tooLong();
  let codePoints = 0;
  for (const _ of text) codePoints += 1;
  if (codePoints > POLICY_LIMITS.expressionCodePoints) throw tooLong();
}

/** Reads one token after the other, so that the leftmost mistake is the one reported (protocol/policies 2). */
export function createLexer(text: string): () => Token {
  let position = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = position;
    return pattern.exec(text)?.[0];
  };
  const take = (kind: TokenKind, source: string, value = source): Token => {
    const start = position;
    position += source.length;
    return { kind, text: value, start, end: position };
  };

  return () => {
    position += match(SPACE)?.length ?? 0;
    if (position >= text.length) return { kind: 'end', text: '', start: text.length, end: text.length };
    const name = match(NAME);
    if (name !== undefined) return take(RESERVED.has(name) ? 'symbol' : 'name', name);
    const digits = match(DIGITS);
    if (digits !== undefined) return take('integer', requireInteger(text, position, digits));
    if (text[position] === "'") {
      const { source, value } = readString(text, position);
      return take('string', source, value);
    }
    const symbol = match(SYMBOL);
    if (symbol !== undefined) return take('symbol', symbol);
    throw unexpected(text, position);
  };
}

function requireInteger(text: string, start: number, digits: string): string {
  const end = start + digits.length;
  if (digits.length > 1 && digits.startsWith('0')) {
    throw new StaticFailure('E_SYNTAX', { start, end }, 'a number has no leading zeros');
  }
  if (/[A-Za-z_]/.test(text[end] ?? '')) {
    throw new StaticFailure('E_SYNTAX', { start, end: end + 1 }, 'a number is written in decimal digits only');
  }
  return digits;
}

function readString(text: string, start: number): { readonly source: string; readonly value: string } {
  let value = '';
  for (let at = start + 1; at < text.length; at += 1) {
    const unit = text[at] as string;
    if (unit === "'") return { source: text.slice(start, at + 1), value };
    if (unit === '\n' || unit === '\r') {
      throw new StaticFailure('E_SYNTAX', { start: at, end: at + 1 }, 'a string cannot contain a line break');
    }
    if (unit === '\\') {
      at += 1;
      const escaped = text[at];
      if (escaped !== "'" && escaped !== '\\') {
        throw new StaticFailure('E_SYNTAX', { start: at - 1, end: at + 1 }, "the only escapes are \\' and \\\\");
      }
      value += escaped;
    } else value += unit;
  }
  throw new StaticFailure('E_SYNTAX', { start, end: text.length }, 'this string has no closing quote');
}

function unexpected(text: string, start: number): StaticFailure {
  const codePoint = text.codePointAt(start) as number;
  const character = String.fromCodePoint(codePoint);
  const span = { start, end: start + character.length };
  const hint = HINTS.get(character);
  if (hint !== undefined) return new StaticFailure('E_SYNTAX', span, `unexpected ${character}: ${hint}`);
  const name = `U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}`;
  // An invisible or look-alike character is named by its number, or nobody would find it.
  const shown = /^[!-~]$/.test(character) ? character : `character ${name}`;
  const why = /^\s$/u.test(character) ? ': only space, tab, CR and LF separate tokens' : '';
  return new StaticFailure('E_SYNTAX', span, `unexpected ${shown}${why}`);
}
