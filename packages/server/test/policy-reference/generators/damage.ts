// Well-typed expressions with some tokens lost, doubled, swapped or replaced, or with a character that belongs nowhere.
// The result may still be fine: what must agree is whether it is accepted, and if so what it yields.
import fc from 'fast-check';
import { oneOf } from './pools.ts';
import { lexemesOf } from './spacing.ts';

const TOKENS = [
  '(',
  ')',
  '[',
  ']',
  ',',
  '.',
  '..',
  '!',
  '&&',
  '||',
  '==',
  '<',
  '>=',
  '-',
  'in',
  'true',
  '0',
  "'a'",
  'x',
];
const STRAY_CHARACTERS = [
  '"',
  '+',
  '=',
  '&',
  '|',
  '/',
  '@',
  '{',
  '}',
  ';',
  '\u00a0',
  '\u200b',
  'é',
  '\\',
  "'",
  '\u0000',
];

/** Replacements that leave the syntax alone, or nearly so. */
const CLASSES: readonly (readonly string[])[] = [
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['&&', '||'],
  ['any', 'all', 'filter'],
  ['id', 'tags', 'type', 'count', 'tx', 'value', 'params', 'user_id', 'now', 'data', 'domain', 'x'],
  ['wallet', 'wallets', 'eth', 'activity', 'approvers', 'credentials', 'time', 'x', 'nobody', 'constructor'],
];
const OPERANDS = ['0', '- 1', "'a'", 'true', '[ 1 ]', "[ 'a' ]", '[ ]', 'x', 'wallet', 'approvers', 'time . now'];

type Damage = (lexemes: readonly string[], at: number, token: string) => string[];

const DAMAGES: readonly Damage[] = [
  (lexemes, at) => lexemes.toSpliced(at, 1),
  (lexemes, at) => lexemes.toSpliced(at, 0, lexemes[at]!),
  (lexemes, at) => (at === 0 ? [...lexemes] : lexemes.toSpliced(at - 1, 2, lexemes[at]!, lexemes[at - 1]!)),
  (lexemes, at, token) => lexemes.toSpliced(at, 1, token),
  (lexemes, at, token) => lexemes.toSpliced(at, 0, token),
  (lexemes, at) => lexemes.slice(0, at + 1),
  (lexemes, at) => lexemes.slice(at),
];

/** One or two injuries to the text; words stay apart. */
export function damaged(text: string): fc.Arbitrary<string> {
  const injuries = fc.array(fc.tuple(oneOf(DAMAGES), fc.nat(), oneOf(TOKENS)), { minLength: 1, maxLength: 2 });
  const byTokens = injuries.map((list) => {
    let lexemes = lexemesOf(text);
    for (const [damage, position, token] of list) {
      if (lexemes.length > 0) lexemes = damage(lexemes, position % lexemes.length, token);
    }
    return lexemes.join(' ');
  });
  const byCharacter = fc.tuple(fc.nat(), oneOf(STRAY_CHARACTERS)).map(([position, character]) => {
    const lexemes = lexemesOf(text);
    return lexemes.toSpliced(position % (lexemes.length + 1), 0, character).join(' ');
  });
  return fc.oneof({ weight: 4, arbitrary: byTokens }, { weight: 1, arbitrary: byCharacter });
}

/** One to three tokens replaced by others of their class; nearly always well formed, mostly ill typed. */
export function mutated(text: string): fc.Arbitrary<string> {
  return fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 3 }).map((replacements) => {
    let lexemes = lexemesOf(text);
    for (const [position, choice] of replacements) {
      const at = position % lexemes.length;
      const candidates = candidatesFor(lexemes[at]!);
      lexemes = lexemes.with(at, candidates[choice % candidates.length]!);
    }
    return lexemes.join(' ');
  });
}

function candidatesFor(lexeme: string): readonly string[] {
  const sameClass = CLASSES.find((members) => members.includes(lexeme));
  if (sameClass !== undefined) return sameClass;
  if (/^['0-9]|^(true|false)$/.test(lexeme)) return OPERANDS;
  return /^[A-Za-z_]/.test(lexeme) ? CLASSES[3]! : [lexeme];
}
