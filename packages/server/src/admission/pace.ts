const WINDOW_MS = 250;
/** How much a new window counts. */
const WEIGHT = 0.4;
/** What was measured so long ago no longer counts. */
const FORGOTTEN_MS = 2000;
/** What is assumed of a gate until it was measured. */
const UNMEASURED_PER_MS = 0.25;
/** How many may come again for each that can be served: a few are refused again, and nothing idles. */
const DEMAND = 1.25;
const RETRY_MIN_MS = 1000;
const RETRY_MAX_MS = 16_000;

/** How fast a gate serves while requests wait, and when those that it refuses should come again. */
export class Pace {
  #windowAtMs = 0;
  #served = 0;
  #perMs: number | undefined;
  #measuredAtMs = 0;
  readonly #outside = new LineOutside();

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
    this.#measuredAtMs = nowMs;
    this.saturated(nowMs);
  }

  /** How long it takes until so many were served. */
  timeFor(requests: number, nowMs: number): number {
    return requests / this.#perMsAt(nowMs);
  }

  /** A gate that was found so slow that nobody may wait is measured no more, so what was measured is forgotten. */
  #perMsAt(nowMs: number): number {
    if (nowMs - this.#measuredAtMs > FORGOTTEN_MS) this.#perMs = undefined;
    return this.#perMs ?? UNMEASURED_PER_MS;
  }

  /** For somebody who is refused now. */
  retryAfterSeconds(nowMs: number): number {
    return this.#outside.join(nowMs, DEMAND * this.#perMsAt(nowMs));
  }
}

/** The refused stand in a line of their own, outside: each is told to come again when its turn would be. */
export class LineOutside {
  #lastAtMs = 0;

  /** The seconds until somebody who joins now should come again, if so many may come in a millisecond. */
  join(nowMs: number, perMs: number): number {
    this.#lastAtMs = Math.max(this.#lastAtMs, nowMs + RETRY_MIN_MS) + 1 / perMs;
    const waitMs = this.#lastAtMs - nowMs;
    if (waitMs <= RETRY_MAX_MS) return Math.round(waitMs / 1000);
    // The line has no room for more. They must not come again together.
    this.#lastAtMs = nowMs + RETRY_MAX_MS;
    return Math.round((RETRY_MAX_MS * (1 + Math.random())) / 2000);
  }
}
