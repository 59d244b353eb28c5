import type { Clock } from '../lib/clock.ts';
import type { Claim } from './claim.ts';

/**
 * A claim as the work on it sees it. The work reads the getters and waits with `rest`; the worker calls what follows
 * after it.
 *
 * A wake is a flag that stays up until the work says with `listen` that it is about to look. If the work ends with the
 * flag up, the worker claims again, so a wake at any moment is heeded.
 */
export class Lease<C extends Claim> {
  #claim: C;
  #group: string | undefined;
  readonly #elapsed: Clock;
  readonly #leftGroup: (group: string) => void;
  /** By the time that passes: a clock that is set must not prolong a lease. */
  #heldUntilMs: number;
  readonly #abort = new AbortController();
  #isEnding = false;
  #isWanted = false;
  #isWoken = false;
  #interrupt: (() => void) | undefined;

  constructor(claim: C, heldUntilMs: number, elapsed: Clock, leftGroup: (group: string) => void = () => {}) {
    this.#leftGroup = leftGroup;
    this.#claim = claim;
    this.#group = claim.group;
    this.#heldUntilMs = heldUntilMs;
    this.#elapsed = elapsed;
  }

  get claim(): C {
    return this.#claim;
  }

  get group(): string | undefined {
    return this.#group;
  }

  /** Whether to begin nothing more: the lease is lost or has run out, or the worker stops. */
  get isOver(): boolean {
    return this.#isEnding || this.hasRunOut;
  }

  /** Whether the worker stops or has lost the lease for good. One that has run out may still be prolonged. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  get hasRunOut(): boolean {
    return this.#elapsed() >= this.#heldUntilMs;
  }

  /** Whether another topic waits for this place. */
  get isWanted(): boolean {
    return this.#isWanted;
  }

  /** Whether something may have come in since the last `listen`. */
  get isWoken(): boolean {
    return this.#isWoken;
  }

  /** Aborts when the lease is lost, the work takes too long, or a stop has waited long enough. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** To be called before looking for work: what was there by now will be found. */
  listen(): void {
    this.#isWoken = false;
  }

  /** Frees a place of its group: the work has turned out not to belong there. */
  leaveGroup(): void {
    const group = this.#group;
    if (group === undefined) return;
    this.#group = undefined;
    this.#leftGroup(group);
  }

  /** Waits, until there is reason to go on earlier: a wake, somebody who wants the place, the end. */
  async rest(milliseconds: number): Promise<void> {
    if (!this.#isWoken && !this.#isWanted) await this.pause(milliseconds);
  }

  /** Waits, whether woken before or not; a further wake or the end cuts it short. */
  async pause(milliseconds: number): Promise<void> {
    if (this.isOver || milliseconds <= 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#interrupt = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#interrupt = undefined;
  }

  /** Something may have come in. */
  wake(): void {
    this.#isWoken = true;
    this.#interrupt?.();
  }

  /** Others wait for the place. */
  want(): void {
    this.#isWanted = true;
    this.#interrupt?.();
  }

  /** The claim was prolonged, or made once more by this process. */
  keep(heldUntilMs: number, claim: C = this.#claim): void {
    this.#heldUntilMs = heldUntilMs;
    this.#claim = claim;
  }

  /** Nothing more is to be begun; what runs may finish. */
  end(): void {
    this.#isEnding = true;
    this.#interrupt?.();
  }

  /** Ends, and breaks off what runs. */
  abort(): void {
    this.end();
    this.#abort.abort();
  }
}
