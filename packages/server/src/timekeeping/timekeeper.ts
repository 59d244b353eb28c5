import { ClockReader } from '../core/store/clock.ts';
import type { Clock, SteadyClock } from '../lib/clock.ts';
import type { Storage } from '../storage/storage.ts';
import { settleFuture } from './settle.ts';
import type { WatchedClock } from './watched-clock.ts';

const LOOK_EVERY_MS = 1000;
const MEASURE_EVERY_MS = 30_000;
const SETTLE_EVERY_MS = 60 * 60 * 1000;
/** After one that failed. */
const SETTLE_AGAIN_MS = 10_000;
/** A clock that is slowed down or sped up to become right changes by less between two looks. */
const JUMP_MS = 1000;
/** An answer that took longer does not tell the time. */
const ROUND_TRIP_MS_MAX = 500;

const AT_ONCE = Number.NEGATIVE_INFINITY;

export interface ClockObserver {
  /** By how much our clock is ahead of the database's. */
  clockSkew(milliseconds: number): void;
  clockJumped(milliseconds: number): void;
  unavailable(operation: string, cause: unknown): void;
}

export interface TimekeeperParts {
  readonly storage: Storage;
  readonly clock: WatchedClock;
  readonly elapsed: Clock;
  readonly steady: SteadyClock;
  readonly observe: ClockObserver;
}

/** Compares the clock with the time that passes and with the database's, and settles what it got wrong. */
export class Timekeeper {
  readonly #parts: TimekeeperParts;
  #aheadMs: number;
  #measureAtMs = AT_ONCE;
  #settleAtMs = AT_ONCE;
  #isRunning = false;
  #timer: NodeJS.Timeout | undefined;
  #looking = Promise.resolve();

  constructor(parts: TimekeeperParts) {
    this.#parts = parts;
    this.#aheadMs = parts.clock.ahead().nowMs;
  }

  start(): void {
    this.#isRunning = true;
    this.#looking = this.#look();
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    this.#noticeJump();
    await this.#guard(() => this.#measure());
    await this.#guard(() => this.#settle());
    if (!this.#isRunning) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, LOOK_EVERY_MS).unref();
  }

  #noticeJump(): void {
    const { clock, steady, observe } = this.#parts;
    const { nowMs, mostMs } = clock.ahead();
    const fellMs = mostMs - nowMs;
    const jumpMs = fellMs > JUMP_MS ? -fellMs : nowMs - this.#aheadMs;
    this.#aheadMs = nowMs;
    // Begins the hour after which a jump is believed, also where nobody else asks.
    steady();
    if (Math.abs(jumpMs) <= JUMP_MS) return;
    observe.clockJumped(jumpMs);
    this.#measureAtMs = AT_ONCE;
    if (jumpMs < 0) this.#settleAtMs = AT_ONCE;
  }

  async #measure(): Promise<void> {
    const { storage, clock, elapsed, steady, observe } = this.#parts;
    const askedAtMs = elapsed();
    if (askedAtMs < this.#measureAtMs) return;
    this.#measureAtMs = askedAtMs + MEASURE_EVERY_MS;
    const databaseMs = await storage.read(ClockReader).databaseNowMs();
    const roundTripMs = elapsed() - askedAtMs;
    if (databaseMs === undefined || roundTripMs > ROUND_TRIP_MS_MAX) return;
    const nowMs = databaseMs + roundTripMs / 2;
    observe.clockSkew(clock() - nowMs);
    steady.compare(nowMs);
  }

  async #settle(): Promise<void> {
    const { storage, clock, elapsed } = this.#parts;
    if (elapsed() < this.#settleAtMs) return;
    this.#settleAtMs = elapsed() + SETTLE_AGAIN_MS;
    await settleFuture(storage, clock());
    this.#settleAtMs = elapsed() + SETTLE_EVERY_MS;
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#parts.observe.unavailable('clock', error);
    }
  }
}
