/** The current time in milliseconds since the epoch. Passed in everywhere, so that tests can move it. */
export type Clock = () => number;

export const systemClock: Clock = () => Date.now();

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The wire's Timestamp object (protocol/http 3.2): both parts are decimal strings. */
export interface Timestamp {
  readonly seconds: string;
  readonly nanos: string;
}

export function toTimestamp(atMs: number): Timestamp {
  const seconds = Math.floor(atMs / 1000);
  return { seconds: String(seconds), nanos: String((atMs - seconds * 1000) * 1_000_000) };
}

/** Activities carry their times as RFC 3339 text with milliseconds (protocol/activities 3.1). */
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

/** A clock that is ahead of the time that has passed is believed after so long, unless something confirms it sooner. */
const BELIEVED_AFTER_MS = 60 * 60 * 1000;

/** The time of day for whatever waits or gives up by it: a jump forward does not make anything late. */
export interface SteadyClock {
  (): number;
  /** Another clock, such as the database's, says what time it is. */
  compare(otherMs: number): void;
}

/**
 * Follows the clock, at once where it falls or goes a little wrong. Where it jumps ahead, time passes on as before until
 * another clock confirms the jump, or it has stayed for an hour.
 */
export function steadyClock(clock: Clock, elapsed: Clock): SteadyClock {
  let anchorMs = clock();
  let anchoredAtMs = elapsed();
  let aheadSinceMs: number | undefined;
  const steady = (): number => {
    const seenMs = clock();
    const passedMs = elapsed();
    const expectedMs = Math.floor(anchorMs + passedMs - anchoredAtMs);
    if (isOfFuture(seenMs, expectedMs)) {
      aheadSinceMs ??= passedMs;
      if (passedMs - aheadSinceMs < BELIEVED_AFTER_MS) return expectedMs;
    }
    aheadSinceMs = undefined;
    anchorMs = seenMs;
    anchoredAtMs = passedMs;
    return seenMs;
  };
  const compare = (otherMs: number): void => {
    if (aheadSinceMs === undefined) return;
    const nowMs = clock();
    aheadSinceMs = isOfFuture(nowMs, otherMs) ? elapsed() : Number.NEGATIVE_INFINITY;
  };
  return Object.assign(steady, { compare });
}
