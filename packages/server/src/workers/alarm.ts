/** One timer for things that are due at different times. It does not keep the process alive. */
export class Alarm {
  readonly #rings = new Map<() => void, number>();
  #timer: NodeJS.Timeout | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  /** Rings once, after so long, or earlier where it was set to. */
  set(ring: () => void, inMs: number): void {
    const atMs = Math.min(performance.now() + inMs, this.#rings.get(ring) ?? Number.POSITIVE_INFINITY);
    this.#rings.set(ring, atMs);
    if (atMs < this.#timerAtMs) this.#arm(atMs);
  }

  unset(ring: () => void): void {
    this.#rings.delete(ring);
  }

  clear(): void {
    this.#rings.clear();
    clearTimeout(this.#timer);
    this.#timerAtMs = Number.POSITIVE_INFINITY;
  }

  #arm(atMs: number): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => this.#ring(), Math.max(0, atMs - performance.now())).unref();
  }

  #ring(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    // Timers count whole milliseconds and may be early by a part of one.
    const nowMs = performance.now() + 1;
    const due = [...this.#rings].filter(([, atMs]) => atMs <= nowMs).map(([ring]) => ring);
    for (const ring of due) this.#rings.delete(ring);
    for (const ring of due) ring();
    const nextAtMs = Math.min(...this.#rings.values());
    if (nextAtMs < this.#timerAtMs) this.#arm(nextAtMs);
  }
}
