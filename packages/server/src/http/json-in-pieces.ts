import { setImmediate } from 'node:timers/promises';

/** How long one request may write at a stretch while others wait. */
const TURN_MS = 10;
/** Lists are members of the answer or of its one member. */
const DEPTH_MAX = 3;

/**
 * What `JSON.stringify` makes of plain data, with turns for other requests between the items of long lists: an answer
 * may have megabytes.
 */
export async function jsonInPieces(answer: unknown): Promise<string> {
  const pieces: string[] = [];
  let turnStartedAt = performance.now();
  const write = async (value: unknown, depth: number): Promise<void> => {
    if (depth === 0 || typeof value !== 'object' || value === null) {
      pieces.push(JSON.stringify(value) ?? 'null');
      return;
    }
    const isList = Array.isArray(value);
    let separator = isList ? '[' : '{';
    for (const [key, member] of isList ? value.entries() : Object.entries(value)) {
      if (!isList && member === undefined) continue;
      pieces.push(separator, isList ? '' : `${JSON.stringify(key)}:`);
      separator = ',';
      // An item of a list is written whole.
      await write(member, isList ? 0 : depth - 1);
      if (performance.now() - turnStartedAt < TURN_MS) continue;
      await setImmediate();
      turnStartedAt = performance.now();
    }
    if (separator !== ',') pieces.push(separator);
    pieces.push(isList ? ']' : '}');
  };
  await write(answer, DEPTH_MAX);
  return pieces.join('');
}
