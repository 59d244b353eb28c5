import type { FeedCursor } from './cursor.ts';
import type { FeedEnd, Follower, Seen } from './standing.ts';

/** One client that follows, and where it stands. */
export class Stream {
  readonly follower: Follower;
  cursor: FeedCursor = { origin: '', from: { below: 0, underWay: [] }, atMs: 0 };
  /** Under what it was found to be allowed. */
  seen: Seen;
  ending: FeedEnd | undefined;
  /** What comes after its cursor can no longer be told. */
  hasGap = false;
  isClosed = false;
  /** When a line was handed over that the client has not taken yet. */
  handedAtMs: number | undefined;
  /** Set by whoever writes to the client. */
  cut: () => void = () => {};
  #wake: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;

  constructor(follower: Follower) {
    this.follower = follower;
    this.seen = { ...follower.actor.home, sessionEndsAtMs: undefined };
  }

  taken(): void {
    this.handedAtMs = undefined;
  }

  /** Resolves with the next reason to look. Asked for before looking, so that nothing can be missed in between. */
  woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  wake(): void {
    clearTimeout(this.#timer);
    this.#wake();
  }

  end(reason: FeedEnd): void {
    this.ending ??= reason;
    this.wake();
  }

  /** Begins anew there, and says so. */
  skipTo(cursor: FeedCursor): void {
    this.cursor = cursor;
    this.hasGap = true;
    this.wake();
  }

  after(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      this.#timer = setTimeout(resolve, milliseconds);
    });
  }
}
