// The same tokens with other white space between them.
import fc from 'fast-check';
import { type Token, tokenize } from '../reference/lexer.ts';
import { oneOf, quote } from './pools.ts';

const SEPARATORS = ['', '', ' ', ' ', '  ', '\t', '\n', '\r\n'];

/** The tokens of a text as they would be written. */
export function lexemesOf(text: string): string[] {
  return tokenize(text)
    .filter(({ kind }) => kind !== 'end')
    .map(lexemeOf);
}

/** Writes the text anew with random separators; words are never run together. */
export function respaced(text: string): fc.Arbitrary<string> {
  const lexemes = lexemesOf(text);
  return fc.array(oneOf(SEPARATORS), { minLength: lexemes.length, maxLength: lexemes.length }).map((separators) =>
    lexemes
      .map((lexeme, index) => {
        const joinsWords = isWord(lexeme) && isWord(lexemes[index + 1] ?? '');
        return `${lexeme}${joinsWords && separators[index] === '' ? ' ' : separators[index]}`;
      })
      .join(''),
  );
}

const lexemeOf = ({ kind, text }: Token): string => (kind === 'string' ? quote(text) : text);

const isWord = (lexeme: string): boolean => /^[A-Za-z0-9_]/.test(lexeme);
