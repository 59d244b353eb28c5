import { type CustosError, NetworkError } from './errors.ts';

const LOST_DELAY_MS = 500;
const LOST_DELAY_MS_MAX = 10_000;
/** What is added to what the service asked for, so that those whom it sent away together do not come back together. */
const SPREAD = 0.25;
const SPREAD_MS_MIN = 100;
/** Statuses by which a service says that it did nothing, as long as it also says when to come back. */
const RETRIED: ReadonlySet<number> = new Set([429, 503]);

/**
 * How long to wait before the same bytes are sent again; undefined when that would not help. `random` is from 0 to 1.
 */
export function retryDelayMs(
  error: CustosError,
  retryAfter: string | null,
  attempt: number,
  random: number,
): number | undefined {
  if (error instanceof NetworkError) {
    return Math.min(LOST_DELAY_MS * 2 ** attempt, LOST_DELAY_MS_MAX) * (0.5 + random / 2);
  }
  if (retryAfter === null || !RETRIED.has(error.httpStatus ?? 0)) return undefined;
  const askedMs = askedDelayMs(retryAfter, Date.now());
  return askedMs === undefined ? undefined : askedMs + random * Math.max(askedMs * SPREAD, SPREAD_MS_MIN);
}

/** Retry-After is seconds or a date. */
function askedDelayMs(header: string, nowMs: number): number | undefined {
  if (/^[0-9]{1,9}$/.test(header)) return Number(header) * 1000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
