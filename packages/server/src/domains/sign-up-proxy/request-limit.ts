import type { Clock } from '../../lib/clock.ts';
import { ApiError, type ErrorCode } from '../../lib/errors.ts';
import { normalizeCidr, parseAddress } from '../../lib/network.ts';

const WINDOW_MS = 60_000;
const CLIENTS_MAX = 100_000;
/** Of IPv6 a client usually has at least so much. */
const IPV6_BLOCK = 64;

/** Which client an address stands for; undefined where the address is not known. */
export function clientOf(address: string | undefined): string | undefined {
  const parsed = address === undefined ? undefined : parseAddress(address);
  if (parsed === undefined) return undefined;
  return parsed.kind() === 'ipv4' ? parsed.toString() : normalizeCidr(`${parsed.toString()}/${IPV6_BLOCK}`);
}

interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Calls per client and minute, in this process. Clients that cannot be told apart share what one may do. */
export class RequestLimit {
  readonly #perMinute: number;
  readonly #clock: Clock;
  readonly #refuse: Refusal;
  #windowStartedMs = 0;
  #calls = new Map<string, number>();

  constructor(perMinute: number, clock: Clock, refuse: Refusal) {
    this.#perMinute = perMinute;
    this.#clock = clock;
    this.#refuse = refuse;
  }

  take(address: string | undefined): void {
    if (this.#perMinute === 0) return;
    const nowMs = this.#clock();
    if (this.#add(address, 1, nowMs) <= this.#perMinute) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((this.#windowStartedMs + WINDOW_MS - nowMs) / 1000));
    throw new ApiError(this.#refuse.code, this.#refuse.message, { retryAfterSeconds });
  }

  /** Counts a call that was let in for as many more as it costs: those that follow have to wait for it. */
  addCost(address: string | undefined, calls: number): void {
    if (this.#perMinute > 0 && calls > 0) this.#add(address, calls, this.#clock());
  }

  #add(address: string | undefined, more: number, nowMs: number): number {
    const age = nowMs - this.#windowStartedMs;
    if (age >= WINDOW_MS || age < 0) {
      this.#windowStartedMs = nowMs;
      this.#calls = new Map();
    }
    const known = clientOf(address) ?? '';
    // Beyond so many those who come last share one share, rather than that everybody gets a new one.
    const client = this.#calls.size < CLIENTS_MAX || this.#calls.has(known) ? known : '';
    const calls = (this.#calls.get(client) ?? 0) + more;
    this.#calls.set(client, calls);
    return calls;
  }
}
