/** The current time in milliseconds since the epoch. Passed in everywhere, so that tests can move it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

/** The wire's Timestamp object (spec 2.1): both parts are decimal strings. */
export interface Timestamp {
  readonly seconds: string;
  readonly nanos: string;
}

export function toTimestamp(atMs: number): Timestamp {
  const seconds = Math.floor(atMs / 1000);
  return { seconds: String(seconds), nanos: String((atMs - seconds * 1000) * 1_000_000) };
}

/** Activities carry their times as RFC 3339 text with milliseconds (decision 1). */
export const toRfc3339 = (atMs: number): string => new Date(atMs).toISOString();

/** Clocks that serve one database differ by less. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** Whether a stored time was written while a clock was ahead: nobody waits for it to come. */
export const isOfFuture = (atMs: number, nowMs: number): boolean => atMs > nowMs + CLOCK_TOLERANCE_MS;

/**
 * Milliseconds that pass, from no particular moment. For whatever is only compared within this process: the time of day
 * can be set, and whoever waits for a difference of it then waits for as long as it was wrong.
 */
export const monotonicClock: Clock = () => performance.now();
