import { strong as bold, type TextPart } from '../lib/text-part.ts';

export { type TextPart, textOf } from '../lib/text-part.ts';

/** What a template may hold between its words. */
export type Piece = string | number | TextPart | readonly TextPart[];

/** Names and texts of others are cut after so many characters. */
const USER_TEXT_MAX = 120;

/** Characters that show nothing, or turn what follows around. */
const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u2800\u3164\uffa0]|(?! )\p{Zs}/gu;

/** The text with everything invisible written out, so that two texts that differ never look the same. */
export const showInvisible = (text: string): string =>
  text.replace(INVISIBLE, (found) => `[U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`);

/** The beginning of a text, by characters; dots say that it goes on. */
export function cut(text: string, max = USER_TEXT_MAX): string {
  // No character has more than two code units, so most texts need no count.
  if (text.length <= max) return text;
  const characters = [...text.slice(0, max * 2 + 2)];
  return characters.length <= max && text.length <= max * 2 + 2 ? text : `${characters.slice(0, max).join('')}…`;
}

/** Text that somebody wrote, safe to stand in a sentence. */
export const written = (text: string, max = USER_TEXT_MAX): TextPart => ({
  text: showInvisible(cut(text, max)),
  userText: true,
});

/** The name that somebody gave to something. */
export const named = (name: string): TextPart => ({ text: written(name).text, strong: true, userText: true });

export const strong = (text: string | number): TextPart => bold(String(text));

/** `say\`Send ${amount} to ${name}.\`` */
export function say(words: TemplateStringsArray, ...pieces: readonly Piece[]): readonly TextPart[] {
  const parts: TextPart[] = [];
  for (const [index, word] of words.entries()) {
    add(parts, { text: word });
    const piece = pieces[index];
    if (piece === undefined) continue;
    if (typeof piece === 'string' || typeof piece === 'number') add(parts, { text: String(piece) });
    else if (isList(piece)) for (const part of piece) add(parts, part);
    else add(parts, piece);
  }
  return parts;
}

const isList = (piece: TextPart | readonly TextPart[]): piece is readonly TextPart[] => Array.isArray(piece);
const isPlain = ({ strong: bold, userText, address }: TextPart): boolean => !bold && !userText && address === undefined;

/** Plain words that follow each other are one part. */
function add(parts: TextPart[], part: TextPart): void {
  if (part.text === '') return;
  const last = parts.at(-1);
  if (last !== undefined && isPlain(last) && isPlain(part)) parts[parts.length - 1] = { text: last.text + part.text };
  else parts.push(part);
}

/** `a`, `a and b`, `a, b and c`; long lists end with how many more there are. */
export function listOf(pieces: readonly Piece[], max = 5, word: 'and' | 'or' = 'and'): readonly TextPart[] {
  const shown = pieces.length > max ? pieces.slice(0, max - 1) : pieces;
  const all: Piece[] =
    shown.length === pieces.length ? [...shown] : [...shown, `${count(pieces.length - shown.length)} more`];
  return all.flatMap((piece, index) => {
    const between = index === 0 ? '' : index === all.length - 1 ? ` ${word} ` : ', ';
    return say`${between}${piece}`;
  });
}

/** With commas by thousands. */
export const count = (value: number | bigint): string => value.toLocaleString('en-US');

/** `1 user`, `2 users`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
