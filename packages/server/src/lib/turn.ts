import { setImmediate } from 'node:timers/promises';

/** So many bytes are read, checked and written in a few milliseconds. */
const LARGE_BYTES = 64 * 1024;

/** Between the steps of a request with a large body others have their turn; SQLite alone would give them none. */
export async function turnAfter(bytes: number): Promise<void> {
  if (bytes > LARGE_BYTES) await setImmediate();
}
