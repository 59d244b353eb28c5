export type Outcome<T> = { readonly value: T } | { readonly error: unknown };

interface ProbeLimits {
  /** An outcome serves everybody who asks within this time. */
  readonly everyMs: number;
  /** Then the outcome is a failure, whatever comes later. */
  readonly deadlineMs: number;
}

/**
 * A question to something that may hang, for any number of callers: it is never under way twice, and nobody waits for it
 * beyond its deadline. While one hangs there is no other, and callers get the failure at once.
 */
export class Probe<T> {
  readonly #ask: () => Promise<T>;
  readonly #limits: ProbeLimits;
  #outcome: Promise<Outcome<T>> | undefined;
  #askedAtMs = 0;
  #isUnderWay = false;

  constructor(ask: () => Promise<T>, limits: ProbeLimits) {
    this.#ask = ask;
    this.#limits = limits;
  }

  outcome(): Promise<Outcome<T>> {
    const isFresh = performance.now() - this.#askedAtMs < this.#limits.everyMs;
    if (this.#outcome !== undefined && (this.#isUnderWay || isFresh)) return this.#outcome;
    this.#askedAtMs = performance.now();
    this.#outcome = this.#askOnce();
    return this.#outcome;
  }

  #askOnce(): Promise<Outcome<T>> {
    const { deadlineMs } = this.#limits;
    this.#isUnderWay = true;
    return new Promise((resolve) => {
      const timer = setTimeout(
        () => resolve({ error: new Error(`no answer within ${deadlineMs / 1000} s`) }),
        deadlineMs,
      ).unref();
      const settle = (outcome: Outcome<T>): void => {
        clearTimeout(timer);
        this.#isUnderWay = false;
        resolve(outcome);
      };
      this.#ask().then(
        (value) => settle({ value }),
        (error: unknown) => settle({ error }),
      );
    });
  }
}
