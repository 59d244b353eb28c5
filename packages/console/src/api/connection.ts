import { createStore } from '../lib/store.ts';

/** What the last answers say about the way to the service. */
export interface Connection {
  /** Since when nothing was answered; undefined while answers come. */
  readonly lostSinceMs: number | undefined;
  /** How far the service's clock is ahead of this computer's. */
  readonly clockOffsetMs: number;
}

export const connection = createStore<Connection>({ lostSinceMs: undefined, clockOffsetMs: 0 });

/** Headers carry whole seconds. */
const RESOLUTION_MS = 1000;

/** `fetch`, which notes whether the service answers and what time it has. */
export const watchedFetch: typeof globalThis.fetch = async (input, init) => {
  try {
    const response = await globalThis.fetch(input, init);
    const said = Date.parse(response.headers.get('date') ?? '');
    const offsetMs = Number.isNaN(said) ? 0 : said - Date.now();
    connection.set({
      lostSinceMs: undefined,
      clockOffsetMs: Math.abs(offsetMs) <= 2 * RESOLUTION_MS ? 0 : Math.round(offsetMs / RESOLUTION_MS) * RESOLUTION_MS,
    });
    return response;
  } catch (error) {
    const isAborted = init?.signal?.aborted === true && !(error instanceof TypeError);
    if (!isAborted) connection.set({ ...connection.get(), lostSinceMs: connection.get().lostSinceMs ?? Date.now() });
    throw error;
  }
};
