const WINDOW_MS = 250;
/** How much a new window counts. */
const WEIGHT = 0.4;
const RETRY_MS = 1000;
const RETRY_SECONDS_MAX = 8;
/** How many may come for each that can be served: a few are refused, and nothing idles. */
const DEMAND = 1.25;

/** How fast a gate serves while requests wait, and when those that it refuses should come again. */
export class Pace {
  #windowAtMs = 0;
  #served = 0;
  #perMs: number | undefined;
  readonly #delay = new RetryDelay();
  #arrivals = 0;
  #starts = 0;

  /** From here on every slot is taken, so what ends is what can be served. */
  saturated(nowMs: number): void {
    this.#windowAtMs = nowMs;
    this.#served = 0;
  }

  served(nowMs: number): void {
    this.#served += 1;
    const elapsedMs = nowMs - this.#windowAtMs;
    if (elapsedMs < WINDOW_MS) return;
    const perMs = this.#served / elapsedMs;
    this.#perMs = this.#perMs === undefined ? perMs : this.#perMs + WEIGHT * (perMs - this.#perMs);
    this.saturated(nowMs);
  }

  /** How long it takes until so many were served; 0 while that was never measured. */
  timeFor(requests: number): number {
    return this.#perMs === undefined ? 0 : requests / this.#perMs;
  }

  arrived(): void {
    this.#arrivals += 1;
  }

  started(): void {
    this.#starts += 1;
  }

  /** For somebody who is refused now. */
  retryAfterSeconds(nowMs: number): number {
    return this.#delay.seconds(nowMs, () => {
      const demand = this.#arrivals / (DEMAND * Math.max(1, this.#starts));
      this.#arrivals = 0;
      this.#starts = 0;
      return demand;
    });
  }
}

/** When those should come again for whom there is no room: so few at a time that to refuse them costs little. */
export class RetryAfter {
  readonly #perSecond: number;
  readonly #delay = new RetryDelay();
  #refused = 0;

  constructor(perSecond: number) {
    this.#perSecond = perSecond;
  }

  seconds(nowMs: number): number {
    this.#refused += 1;
    return this.#delay.seconds(nowMs, (elapsedMs) => {
      const demand = (this.#refused * 1000) / (elapsedMs * this.#perSecond);
      this.#refused = 0;
      return demand;
    });
  }
}

/** How long the refused should stay away: longer while more come than should, shorter while fewer do. */
class RetryDelay {
  #changedAtMs = 0;
  #seconds = 1;

  /** `demand` says how many came for each that should have, since it was asked last. */
  seconds(nowMs: number, demand: (elapsedMs: number) => number): number {
    const elapsedMs = nowMs - this.#changedAtMs;
    if (elapsedMs >= RETRY_MS) {
      this.#seconds = clamp(this.#seconds * clamp(demand(elapsedMs), 0.7, 2), 1, RETRY_SECONDS_MAX);
      this.#changedAtMs = nowMs;
    }
    return spread(this.#seconds);
  }
}

/** Those who are refused together must not come again together. */
const spread = (seconds: number): number => Math.max(1, Math.round(seconds * (0.5 + Math.random())));

const clamp = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value));
