import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';

const WINDOW_MS = 60_000;
const ADDRESSES_MAX = 100_000;

/**
 * Counts failed authentications per client address. Only failures are slowed: a stamp that verifies is never refused
 * (protocol/stamps 9.3), so nobody can lock a neighbour behind the same address out.
 */
export class FailedAuthLimit {
  readonly #perMinute: number;
  readonly #clock: Clock;
  #windowStartedMs = 0;
  #failures = new Map<string, number>();

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** The error to answer with: the given one, or RATE_LIMIT_EXCEEDED when this address has failed too often. */
  decide(address: string, error: ApiError): ApiError {
    if (this.#perMinute === 0) return error;
    const nowMs = this.#clock();
    if (
      nowMs - this.#windowStartedMs >= WINDOW_MS ||
      nowMs < this.#windowStartedMs ||
      this.#failures.size >= ADDRESSES_MAX
    ) {
      this.#windowStartedMs = nowMs;
      this.#failures = new Map();
    }
    const failures = (this.#failures.get(address) ?? 0) + 1;
    this.#failures.set(address, failures);
    if (failures <= this.#perMinute) return error;
    const retryAfterSeconds = Math.max(1, Math.ceil((this.#windowStartedMs + WINDOW_MS - nowMs) / 1000));
    return new ApiError('RATE_LIMIT_EXCEEDED', 'Too many failed authentications from this address, try again later', {
      retryAfterSeconds,
    });
  }
}
