const codeOf = (found: string): string =>
  `[U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;

/** A text of others with everything invisible written out, so that it shows what it is and turns nothing around. */
export const plain = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, codeOf);

/** A text that somebody has to type again: what looks like a space and is another character is written out too. */
export const typed = (text: string): string => plain(text).replace(/(?! )\p{Zs}/gu, codeOf);

/** Spaces at an end are not seen, and a text is typed again without them. */
export function lengthOf(text: string): string {
  const length = [...text].length;
  const spaces = [...text].filter((character) => character === ' ').length;
  const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
  return `${counted(length, 'character')}${spaces === 0 ? '' : `, ${counted(spaces, 'space')} among them`}`;
}

/** A moment as people read it; a text that is none as it is. */
export const momentOf = (text: string): string =>
  plain(text.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/, '$1, $2 UTC'));
