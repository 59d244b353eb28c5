import { Pace } from './pace.ts';
import { type AdmissionObserver, ClientLeft, Refused } from './refused.ts';
import { Share, type Waiter } from './shares.ts';

export interface GateSettings {
  /** Its name in metrics. */
  readonly stage: string;
  /** How many run at once while nobody is short of its share. */
  readonly slots: number;
  /** Whoever could not start within so long is refused instead. */
  readonly waitMs: number;
  /** Milliseconds that only go forward. */
  readonly nowMs: () => number;
  readonly observe: AdmissionObserver;
}

/** Holds a slot until it ends. */
export interface Turn {
  end(): void;
}

/** A turn to come. */
export interface Waiting {
  readonly turn: Promise<Turn>;
  /** The client is gone: its place is free. */
  leave(): void;
}

/** The line never gets longer than this, however fast the gate is. */
const WAITING_PER_SLOT = 32;
/**
 * How far those who are short of their share may go beyond the slots, by level: the rest of the slots may be held for
 * long.
 */
const HEADROOM = [2, 1.5] as const;
/** How many classes are looked at for one that is short of its share. */
const LOOKED_AT = 8;
const SWEEP_MS = 100;

/**
 * Lets a bounded number of requests run at once. A request belongs to a class by its path: an address, or a tree and an
 * organization in it. While slots are free everybody enters. When requests wait, classes take turns, level by level, so
 * one that asks for little waits for little. See docs/decisions/0034.
 */
export class Gate {
  readonly #settings: GateSettings;
  readonly #everybody = new Share();
  readonly #pace = new Pace();
  #sweep: NodeJS.Timeout | undefined;

  constructor(settings: GateSettings) {
    this.#settings = settings;
  }

  get running(): number {
    return this.#everybody.running;
  }

  /** How many have something running or waiting. */
  get classes(): number {
    return this.#everybody.children.size;
  }

  get waiting(): number {
    return this.#everybody.waiting;
  }

  /** A turn at once where there is room, else a place in line. Throws Refused where the wait would be too long. */
  enter(path: readonly string[], sinceMs: number): Turn | Waiting {
    const share = this.#everybody.at(path);
    if (this.#hasRoomFor(share)) return this.#start(share);
    const nowMs = this.#settings.nowMs();
    const refusal = this.#refusalFor(share, sinceMs, nowMs);
    if (refusal !== undefined) {
      share.forget();
      throw refusal;
    }
    if (this.#isFull) this.#dropLastOfLongest(nowMs);
    return this.#wait(share, sinceMs, nowMs);
  }

  /** What a request of which only the head is here would be told if it were all here. */
  refusalFor(path: readonly string[], sinceMs: number): Refused | undefined {
    const nowMs = this.#settings.nowMs();
    const isLate = this.#isLate(sinceMs, nowMs);
    if (this.waiting === 0 && !isLate) return undefined;
    const share = this.#everybody.at(path);
    const isHopeless = isLate || !this.#hasRoomFor(share);
    const refusal = isHopeless ? this.#refusalFor(share, sinceMs, nowMs) : undefined;
    // A class that was made for this request alone.
    share.forget();
    return refusal;
  }

  #hasRoomFor(share: Share): boolean {
    if (this.waiting === 0 && this.running < this.#settings.slots) return true;
    return share.waiting === 0 && this.#isShort(share);
  }

  #start(share: Share): Turn {
    share.run(1);
    let isOver = false;
    return {
      end: () => {
        if (isOver) return;
        isOver = true;
        share.run(-1);
        this.#letIn();
      },
    };
  }

  #letIn(): void {
    if (this.waiting === 0) return;
    this.#pace.served(this.#settings.nowMs());
    while (this.running < this.#settings.slots) {
      const next = this.#everybody.next();
      if (next === undefined) return;
      next.start();
    }
    // Others hold all slots, perhaps for long; who has less than its share does not wait for them.
    for (let looked = 0; looked < Math.min(LOOKED_AT, this.#everybody.turns.size); looked += 1) {
      const next = this.#everybody.next();
      if (next === undefined || !this.#isShort(next.share)) continue;
      next.start();
      return;
    }
  }

  /** Whether the class has less than its share of the slots, at any level, and there is headroom for such. */
  #isShort(leaf: Share): boolean {
    const { slots } = this.#settings;
    const levels: Share[] = [];
    for (let share = leaf; share.parent !== undefined; share = share.parent) levels.unshift(share);
    let part = slots;
    return levels.some((share, level) => {
      part = Math.max(1, Math.floor(part / (share.parent?.children.size ?? 1)));
      return share.running < part && this.running < slots * (HEADROOM[level] ?? 1);
    });
  }

  get #isFull(): boolean {
    return this.waiting >= this.#settings.slots * WAITING_PER_SLOT;
  }

  #refusalFor(share: Share, sinceMs: number, nowMs: number): Refused | undefined {
    const expectedMs = nowMs - sinceMs + this.#pace.timeFor(share.position(), nowMs);
    const isLate = expectedMs > this.#settings.waitMs;
    if (!isLate && !(this.#isFull && share.waiting + 1 >= this.#everybody.longest().waiting)) return undefined;
    return this.#refusal(share, nowMs);
  }

  /** A full line is no reason to refuse somebody who has no part in it: the last of the longest line goes instead. */
  #dropLastOfLongest(nowMs: number): void {
    const longest = this.#everybody.longest();
    const last = [...longest.line].at(-1);
    if (last !== undefined && longest.leave(last)) last.refuse(this.#refusal(longest, nowMs));
  }

  #refusal(share: Share, nowMs: number): Refused {
    const reason = share.hasMoreThanOthers() ? 'share' : 'busy';
    this.#settings.observe.refused(this.#settings.stage, reason);
    const what =
      reason === 'share'
        ? 'others wait for the service, and too many requests of yours wait already'
        : 'the service has too much to do';
    return new Refused(reason, what, this.#pace.retryAfterSeconds(nowMs));
  }

  #wait(share: Share, sinceMs: number, nowMs: number): Waiting {
    if (this.waiting === 0) this.#pace.saturated(nowMs);
    let leave = (): void => {};
    const turn = new Promise<Turn>((resolve, reject) => {
      const waiter: Waiter = {
        share,
        sinceMs,
        start: () => {
          const started = this.#start(share);
          share.leave(waiter);
          resolve(started);
        },
        refuse: reject,
      };
      share.join(waiter);
      leave = () => {
        if (!share.leave(waiter)) return;
        this.#settings.observe.dropped(this.#settings.stage);
        reject(new ClientLeft());
      };
    });
    this.#sweep ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
    return { turn, leave };
  }

  /** Refuses those who waited too long after all, because the gate became slower. */
  sweep(): void {
    const nowMs = this.#settings.nowMs();
    this.#refuseOverdue(this.#everybody, nowMs);
    if (this.waiting > 0 || this.#sweep === undefined) return;
    clearInterval(this.#sweep);
    this.#sweep = undefined;
  }

  /** Twice as long as is expected of anybody, so that a hiccup refuses nobody. */
  #isLate(sinceMs: number, nowMs: number): boolean {
    return nowMs - sinceMs > 2 * this.#settings.waitMs;
  }

  #refuseOverdue(share: Share, nowMs: number): void {
    for (const child of share.turns) this.#refuseOverdue(child, nowMs);
    for (const waiter of share.line) {
      if (!this.#isLate(waiter.sinceMs, nowMs)) return;
      const error = this.#refusal(share, nowMs);
      if (share.leave(waiter)) waiter.refuse(error);
    }
  }
}
