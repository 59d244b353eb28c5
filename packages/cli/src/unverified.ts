// What a command shows of rows and files that nobody has verified: they may hold anything.

/** One line of text, without the characters that a terminal acts on. */
export const plain = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?').slice(0, 200);

/** A moment, or the number itself if no calendar has such a moment. */
export function time(atMs: number): string {
  const date = new Date(atMs);
  return Number.isNaN(date.getTime()) ? plain(String(atMs)) : date.toISOString();
}
