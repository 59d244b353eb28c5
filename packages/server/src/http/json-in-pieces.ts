import { setImmediate } from 'node:timers/promises';

/** How long one request may write at a stretch while others wait. */
const TURN_MS = 10;
/** Lists are members of the answer or of its one member. */
const DEPTH_MAX = 3;
/** What is shorter is put together. */
const PIECE_LENGTH = 64 * 1024;

/**
 * What `JSON.stringify` makes of plain data, with turns for other requests between the items of long lists: an answer
 * may have megabytes. It comes in pieces, so that nobody needs it whole in memory a second time.
 */
export async function jsonInPieces(answer: unknown): Promise<string[]> {
  const pieces: string[] = [];
  let tokens: string[] = [];
  let length = 0;
  const add = (token: string): void => {
    if (token.length >= PIECE_LENGTH) {
      endPiece();
      pieces.push(token);
      return;
    }
    tokens.push(token);
    length += token.length;
    if (length >= PIECE_LENGTH) endPiece();
  };
  const endPiece = (): void => {
    if (length === 0) return;
    pieces.push(tokens.join(''));
    tokens = [];
    length = 0;
  };
  let turnStartedAt = performance.now();
  const write = async (value: unknown, depth: number): Promise<void> => {
    if (depth === 0 || typeof value !== 'object' || value === null) {
      add(JSON.stringify(value) ?? 'null');
      return;
    }
    const isList = Array.isArray(value);
    let separator = isList ? '[' : '{';
    for (const [key, member] of isList ? value.entries() : Object.entries(value)) {
      if (!isList && member === undefined) continue;
      add(isList ? separator : `${separator}${JSON.stringify(key)}:`);
      separator = ',';
      // An item of a list is written whole.
      await write(member, isList ? 0 : depth - 1);
      if (performance.now() - turnStartedAt < TURN_MS) continue;
      await setImmediate();
      turnStartedAt = performance.now();
    }
    if (separator !== ',') add(separator);
    add(isList ? ']' : '}');
  };
  await write(answer, DEPTH_MAX);
  endPiece();
  return pieces;
}
