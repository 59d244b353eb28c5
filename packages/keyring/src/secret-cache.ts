const LIFETIME_MS = 60_000;

interface Entry<T> {
  readonly value: T;
  readonly expiresAtMs: number;
}

/**
 * A few opened keys, for a minute each. A key that leaves is wiped, so what `get` and `put` return must be used before
 * anything is awaited: a wiped key that is still in use would seal under zeros.
 */
export class SecretCache<T> {
  readonly #entriesMax: number;
  readonly #wipe: (value: T) => void;
  readonly #entries = new Map<string, Entry<T>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(entriesMax: number, wipe: (value: T) => void) {
    this.#entriesMax = entriesMax;
    this.#wipe = wipe;
  }

  get(name: string): T | undefined {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs <= performance.now()) {
      this.#drop(name, entry);
      return undefined;
    }
    // The map keeps the order of insertion, so the key used last goes to the end and leaves last.
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry.value;
  }

  /** When a key leaves at the latest. */
  expiryOf(name: string): number | undefined {
    return this.#entries.get(name)?.expiresAtMs;
  }

  /** Takes over the key; when one of that name is there already, that one is returned and the given one wiped. */
  put(name: string, value: T, leavesAtMs = Number.POSITIVE_INFINITY): T {
    const present = this.get(name);
    if (present !== undefined) {
      this.#wipe(value);
      return present;
    }
    const oldest = this.#entries.entries().next().value;
    if (this.#entries.size >= this.#entriesMax && oldest !== undefined) this.#drop(...oldest);
    this.#entries.set(name, { value, expiresAtMs: Math.min(leavesAtMs, performance.now() + LIFETIME_MS) });
    this.#timer ??= setTimeout(() => this.#sweep(), LIFETIME_MS).unref();
    return value;
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [name, entry] of this.#entries) this.#drop(name, entry);
  }

  #sweep(): void {
    const nowMs = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const [name, entry] of this.#entries) {
      if (entry.expiresAtMs <= nowMs) this.#drop(name, entry);
      else nextMs = Math.min(nextMs, entry.expiresAtMs - nowMs);
    }
    // A timer may fire a moment early, hence the lower bound.
    this.#timer = Number.isFinite(nextMs) ? setTimeout(() => this.#sweep(), Math.max(nextMs, 10)).unref() : undefined;
  }

  #drop(name: string, entry: Entry<T>): void {
    this.#wipe(entry.value);
    this.#entries.delete(name);
  }
}
