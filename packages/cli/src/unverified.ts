// What a command shows of rows and files that nobody has verified: they may hold anything.

const LENGTH_MAX = 200;
/** What a terminal acts on, or what changes how the rest of a line reads. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** One line of text, with unfit characters as \u{…}. */
export const line = (text: string): string =>
  text.replace(UNFIT, (unfit) => `\\u{${unfit.codePointAt(0)?.toString(16)}}`);

/** The same, and no more than so much of it. */
export const plain = (text: string): string => line(text.slice(0, LENGTH_MAX));

/** A moment, or the number itself if no calendar has such a moment. */
export function time(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? plain(String(atMs)) : date.toISOString();
}
