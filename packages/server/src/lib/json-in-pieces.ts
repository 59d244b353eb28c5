import { setImmediate } from 'node:timers/promises';

/** How long one request may write at a stretch while others wait. */
const TURN_MS = 10;
/** Lists are members of the answer or of its one member. */
const DEPTH_MAX = 3;
/** What is shorter is put together. */
const PIECE_LENGTH = 64 * 1024;
/** A text that does not make an answer long. */
const SHORT_TEXT = 1024;

/**
 * What `JSON.stringify` makes of plain data, with turns for other requests between the items of long lists: an answer
 * may have megabytes. It comes in pieces, so that nobody needs it whole in memory a second time, and at once where that
 * takes no longer than a turn.
 */
export function jsonInPieces(answer: unknown): string[] | Promise<string[]> {
  if (!mayBeLong(answer, DEPTH_MAX)) return [JSON.stringify(answer) ?? 'null'];
  const pieces = new Pieces();
  const turns = write(answer, DEPTH_MAX, pieces);
  return turns.next().done ? pieces.end() : writeByTurns(turns, pieces);
}

/** Whether it has a list, a long text, or more than answers without lists have. */
function mayBeLong(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.length > SHORT_TEXT;
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Array.isArray(value) || Object.values(value).some((member) => mayBeLong(member, depth - 1));
}

/** An answer that is written already. */
export class PrintedAnswer {
  readonly pieces: readonly string[];

  constructor(pieces: readonly string[]) {
    this.pieces = pieces;
  }
}

async function writeByTurns(turns: Iterator<void>, pieces: Pieces): Promise<string[]> {
  do await setImmediate();
  while (!turns.next().done);
  return pieces.end();
}

/** Each step is a turn. */
function* write(value: unknown, depth: number, pieces: Pieces): Generator<void, void> {
  if (depth === 0 || typeof value !== 'object' || value === null) {
    pieces.add(JSON.stringify(value) ?? 'null');
    return;
  }
  const isList = Array.isArray(value);
  let separator = isList ? '[' : '{';
  for (const [key, member] of isList ? value.entries() : Object.entries(value)) {
    if (!isList && member === undefined) continue;
    pieces.add(isList ? separator : `${separator}${JSON.stringify(key)}:`);
    separator = ',';
    // An item of a list is written whole.
    if (isList || typeof member !== 'object') pieces.add(JSON.stringify(member) ?? 'null');
    else yield* write(member, depth - 1, pieces);
    if (!pieces.isTurnOver()) continue;
    yield;
    pieces.beginTurn();
  }
  if (separator !== ',') pieces.add(separator);
  pieces.add(isList ? ']' : '}');
}

class Pieces {
  readonly #pieces: string[] = [];
  #tokens: string[] = [];
  #length = 0;
  #turnStartedAt = performance.now();

  add(token: string): void {
    if (token.length >= PIECE_LENGTH) {
      this.#endPiece();
      this.#pieces.push(token);
      return;
    }
    this.#tokens.push(token);
    this.#length += token.length;
    if (this.#length >= PIECE_LENGTH) this.#endPiece();
  }

  end(): string[] {
    this.#endPiece();
    return this.#pieces;
  }

  isTurnOver(): boolean {
    return performance.now() - this.#turnStartedAt >= TURN_MS;
  }

  beginTurn(): void {
    this.#turnStartedAt = performance.now();
  }

  #endPiece(): void {
    if (this.#length === 0) return;
    this.#pieces.push(this.#tokens.join(''));
    this.#tokens = [];
    this.#length = 0;
  }
}
