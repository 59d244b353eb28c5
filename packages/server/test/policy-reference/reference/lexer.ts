// protocol/policies 2.
import { SyntaxRefusal } from './codes.ts';

export type TokenKind = 'name' | 'reserved' | 'integer' | 'string' | 'punctuator' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** The name, digits or punctuator as written; for a string its value without quotes and escapes. */
  readonly text: string;
  readonly column: number;
}

const RESERVED_WORDS = new Set(['true', 'false', 'in']);
const SEPARATORS = new Set([' ', '\t', '\r', '\n']);
// Longest first, so that `..` is not read as two dots.
const PUNCTUATORS = ['&&', '||', '==', '!=', '<=', '>=', '..', '(', ')', '[', ']', ',', '.', '!', '<', '>', '-'];

export function tokenize(source: string): Token[] {
  const characters = [...source];
  const tokens: Token[] = [];
  let position = 0;
  while (position < characters.length) {
    const character = characters[position]!;
    if (SEPARATORS.has(character)) {
      position += 1;
      continue;
    }
    const { token, next } = readToken(characters, position);
    tokens.push(token);
    position = next;
  }
  tokens.push({ kind: 'end', text: '', column: characters.length + 1 });
  return tokens;
}

interface Reading {
  readonly token: Token;
  readonly next: number;
}

function readToken(characters: readonly string[], start: number): Reading {
  const first = characters[start]!;
  if (/[A-Za-z_]/.test(first)) return readName(characters, start);
  if (/[0-9]/.test(first)) return readInteger(characters, start);
  if (first === "'") return readString(characters, start);
  const punctuator = PUNCTUATORS.find((text) => characters.slice(start, start + text.length).join('') === text);
  if (punctuator === undefined) throw new SyntaxRefusal('E_SYNTAX', start + 1, `unexpected ${JSON.stringify(first)}`);
  return {
    token: { kind: 'punctuator', text: punctuator, column: start + 1 },
    next: start + punctuator.length,
  };
}

function readRun(characters: readonly string[], start: number, member: RegExp): { text: string; next: number } {
  let next = start;
  while (next < characters.length && member.test(characters[next]!)) next += 1;
  return { text: characters.slice(start, next).join(''), next };
}

function readName(characters: readonly string[], start: number): Reading {
  const { text, next } = readRun(characters, start, /[A-Za-z0-9_]/);
  return { token: { kind: RESERVED_WORDS.has(text) ? 'reserved' : 'name', text, column: start + 1 }, next };
}

function readInteger(characters: readonly string[], start: number): Reading {
  const { text, next } = readRun(characters, start, /[0-9]/);
  if (text.length > 1 && text.startsWith('0')) throw new SyntaxRefusal('E_SYNTAX', start + 1, 'leading zero');
  return { token: { kind: 'integer', text, column: start + 1 }, next };
}

function readString(characters: readonly string[], start: number): Reading {
  let text = '';
  let position = start + 1;
  for (;;) {
    const character = characters[position];
    if (character === undefined) throw new SyntaxRefusal('E_SYNTAX', start + 1, 'missing closing quote');
    if (character === '\n' || character === '\r') {
      throw new SyntaxRefusal('E_SYNTAX', position + 1, 'line break inside a string');
    }
    if (character === "'") break;
    if (character === '\\') {
      const escaped = characters[position + 1];
      if (escaped !== "'" && escaped !== '\\') throw new SyntaxRefusal('E_SYNTAX', position + 1, 'unknown escape');
      text += escaped;
      position += 2;
    } else {
      text += character;
      position += 1;
    }
  }
  return { token: { kind: 'string', text, column: start + 1 }, next: position + 1 };
}
