import { createStore } from '../lib/store.ts';

/** What the last answers say about the way to the service. */
export interface Connection {
  /** Since when nothing was answered, or only that the service cannot; undefined while answers come. */
  readonly lostSinceMs: number | undefined;
  /** When the page tries again by itself, while nothing is answered. */
  readonly nextTryMs: number | undefined;
  /** How far the service's clock is ahead of this computer's. */
  readonly clockOffsetMs: number;
}

export const connection = createStore<Connection>({
  lostSinceMs: undefined,
  nextTryMs: undefined,
  clockOffsetMs: 0,
});

/** Headers carry whole seconds. */
const RESOLUTION_MS = 1000;

/** The service did not really answer. A 503 without a time to come back means that a setting is missing instead. */
const isNoAnswer = ({ status, headers }: Response): boolean =>
  status === 502 || status === 504 || (status === 503 && (headers.has('retry-after') || !isJson(headers)));

const isJson = (headers: Headers): boolean => headers.get('content-type')?.includes('json') ?? false;

/** No answer comes, or none that helps. */
export function noteLoss(): void {
  const before = connection.get();
  if (before.lostSinceMs === undefined) connection.set({ ...before, lostSinceMs: Date.now() });
}

export function noteNextTry(nextTryMs: number): void {
  const before = connection.get();
  if (before.lostSinceMs !== undefined) connection.set({ ...before, nextTryMs });
}

/** Asks at once whether the service is back; undefined while nobody asks by itself. */
let probe: (() => void) | undefined;

/**
 * While somebody asks whether the service is back, that alone tells: with one question that keeps failing among others
 * that are answered, the connection would be lost and found again all the time.
 */
export function probeBy(ask: () => void): () => void {
  probe = ask;
  return () => {
    if (probe === ask) probe = undefined;
  };
}

/** Whether somebody asks now. */
export function tryNow(): boolean {
  probe?.();
  return probe !== undefined;
}

export function noteBack(): void {
  connection.set({ ...connection.get(), lostSinceMs: undefined, nextTryMs: undefined });
}

/** When the service last said to come back, by the status it said so with. */
const waits = new Map<number, number>();

/** Undefined where it said nothing, or that time is over. */
export function askedToWaitUntilMs(status: number, nowMs: number = Date.now()): number | undefined {
  const untilMs = waits.get(status);
  return untilMs !== undefined && untilMs > nowMs ? untilMs : undefined;
}

function noteAnswer(response: Response): void {
  const seconds = Number(response.headers.get('retry-after') ?? '');
  if (seconds > 0) waits.set(response.status, Date.now() + seconds * 1000);
  const said = Date.parse(response.headers.get('date') ?? '');
  const offsetMs = Number.isNaN(said) ? 0 : said - Date.now();
  const clockOffsetMs =
    Math.abs(offsetMs) <= 2 * RESOLUTION_MS ? 0 : Math.round(offsetMs / RESOLUTION_MS) * RESOLUTION_MS;
  const before = connection.get();
  if (isNoAnswer(response)) {
    connection.set({ ...before, lostSinceMs: before.lostSinceMs ?? Date.now(), clockOffsetMs });
    return;
  }
  if (before.clockOffsetMs !== clockOffsetMs) connection.set({ ...before, clockOffsetMs });
  if (before.lostSinceMs !== undefined && probe === undefined) noteBack();
}

/** `fetch`, which notes whether the service answers and what time it has. */
export const watchedFetch: typeof globalThis.fetch = async (input, init) => {
  try {
    const response = await globalThis.fetch(input, init);
    noteAnswer(response);
    return response;
  } catch (error) {
    // The page itself gave up, so this says nothing about the service. The caller notes an answer that took too long.
    const isAborted = init?.signal?.aborted === true && !(error instanceof TypeError);
    if (!isAborted) noteLoss();
    throw error;
  }
};
