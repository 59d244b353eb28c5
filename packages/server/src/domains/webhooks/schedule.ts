import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/clock.ts';

/** The published delays after the first failures (protocol/webhooks 4.4); every further one is the last. */
const DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
];
const LAST_DELAY_MS = 6 * HOUR_MS;
/** Each delay is up to this part shorter or longer, so that what failed together does not come back together. */
const JITTER = 0.2;
/** How long a delivery is tried. */
export const ROUND_MS = 72 * HOUR_MS;

/** More than a round has room for; for one that began while a clock was ahead. */
const FAILURES_MAX = 24;

export interface FailedDelivery {
  /** How often it has failed in this round, this time included. */
  readonly failures: number;
  readonly roundStartedAtMs: number;
  /** How long the receiver asked to be left alone. */
  readonly retryAfterMs: number | undefined;
}

/** When to try again; undefined when it was tried for long enough. `random` is from 0 to 1. */
export function nextAttemptAt(
  { failures, roundStartedAtMs, retryAfterMs = 0 }: FailedDelivery,
  nowMs: number,
  random: number,
): number | undefined {
  const delayMs = DELAYS_MS[failures - 1] ?? LAST_DELAY_MS;
  const endsAtMs = roundStartedAtMs + ROUND_MS;
  const atMs = nowMs + Math.round(delayMs * (1 - JITTER + 2 * JITTER * random));
  if (atMs > endsAtMs || failures >= FAILURES_MAX) return undefined;
  // A receiver that asks for more time than is left gets one more attempt at the end.
  return Math.min(Math.max(atMs, nowMs + retryAfterMs), endsAtMs);
}

/** The Retry-After header: seconds, or a date (RFC 9110, 10.2.3). */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^[0-9]{1,9}$/.test(header)) return Number(header) * SECOND_MS;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) || atMs <= nowMs ? undefined : atMs - nowMs;
}
