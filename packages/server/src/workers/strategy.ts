import type { Claim, Topic } from './claim.ts';
import type { Lease } from './lease.ts';

export interface LeaseTerms {
  readonly ms: number;
  /** Without it the lease is never renewed, and `workMs` keeps the work within it. */
  readonly renewEveryMs?: number;
  /** How long the work on one claim may take before its signal aborts. */
  readonly workMs?: number;
  /**
   * Every write of the work is refused once somebody else has claimed. The passing of time then does not end the work:
   * only a renewal that finds another holder does.
   */
  readonly isFenced?: boolean;
}

/** Why a claim goes back without a result: its work threw, or never began. */
export type Unserved = 'failed' | 'untouched';

/** One kind of work, as `LeasedWorker` does it. Whatever throws here is tried again later. */
export interface Strategy<T extends Topic, C extends Claim, E> {
  /** How many claims are worked on at once, in all and of each group. */
  readonly limits: { readonly all: number; readonly groups?: Readonly<Record<string, number>> };
  /** `claim`: each topic is one claim, under the same key. `queue`: each topic holds any number of them. */
  readonly topics: 'claim' | 'queue';
  readonly lease: LeaseTerms;
  readonly pollEveryMs: number;
  /** How long a stop waits for what runs before it breaks it off. */
  readonly stopMs: number;

  /**
   * Whose work a claim is; undefined where it is that of several, of whom `serve` asks one by one. While some organizations
   * are held and others not, `due` and `claim` leave out those who are. Without this nobody can tell them apart, and all
   * of the work waits until none is held.
   */
  whose?(claim: C): string | undefined;
  /** Why `tidy` goes on while organizations are held; unless it is told, it waits too. */
  readonly tidiesMeanwhile?: string;

  /** Called once, before anything is claimed: ends the claims of processes that cannot be alive. */
  recover?(): Promise<void>;
  /** Topics that have work now and that nobody holds, the most urgent first. */
  due(nowMs: number): Promise<readonly T[]>;
  /** Takes what the topic has, at most `room` claims; none where somebody else holds it. */
  claim(topic: T, room: number, nowMs: number, untilMs: number): Promise<readonly C[]>;
  /** Prolongs leases; answers with those that this process holds now, also where it does not know of them. */
  renew?(claims: readonly C[], nowMs: number, untilMs: number): Promise<readonly T[]>;
  /**
   * Works on one claim until there is nothing to do, `lease.isOver`, or others wait for the place (`lease.isWanted`).
   */
  serve(lease: Lease<C>): Promise<E>;
  /**
   * Writes down what became of a claim and gives it back. Repeated until it succeeds, so it changes nothing where the
   * claim is another one's by now. May answer after how many milliseconds the topic has work again.
   */
  release(claim: C, end: E | Unserved): Promise<number | undefined>;
  /** Called with every poll, for what has to be cleared away now and then. */
  tidy?(): Promise<void>;
  /** Called when a stop has waited long enough, beside the signal of each lease. */
  breakOff?(): void;
  /** The last act of a stop: gives back whatever this process may still hold. */
  releaseAll?(): Promise<void>;
}

/** Hears of errors that the worker has dealt with. Calls come as often as something fails. */
export interface WorkerObserver {
  failed(error: unknown): void;
  /** A poll has succeeded. */
  recovered(): void;
}
