import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../lib/clock.ts';

const DELAYS_MS = [5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS, HOUR_MS];
const AGE_MS_MAX = 24 * HOUR_MS;
/** More than a day has room for; for a message that was made while a clock was ahead. */
const ATTEMPTS_MAX = 32;

/** A message that could not be handed over. */
export interface Waiting {
  /** How often it was tried, the last time included. */
  readonly attempts: number;
  readonly createdAtMs: number;
  readonly notAfterMs: number | undefined;
}

/** When to try again; undefined when that would be too late. */
export function nextAttemptAt({ attempts, createdAtMs, notAfterMs }: Waiting, nowMs: number): number | undefined {
  if (attempts >= ATTEMPTS_MAX) return undefined;
  const atMs = nowMs + (DELAYS_MS[attempts - 1] ?? HOUR_MS);
  return atMs < Math.min(notAfterMs ?? Number.POSITIVE_INFINITY, createdAtMs + AGE_MS_MAX) ? atMs : undefined;
}
