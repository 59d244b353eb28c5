import type { Writable } from 'node:stream';

/** A frame above this is written as it is: to copy it would cost more than a write of its own. */
const COPIED_BYTES_MAX = 16 * 1024;

/** Writes the frames of one turn of the event loop together: a system call costs more than a small frame. */
export class Outbox {
  readonly #pipe: Writable;
  #frames: Uint8Array[] = [];
  #isScheduled = false;

  constructor(pipe: Writable) {
    this.#pipe = pipe;
  }

  /** The bytes are no longer the caller's. */
  send(frame: Uint8Array): void {
    this.#frames.push(frame);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.flush());
  }

  flush(): void {
    this.#isScheduled = false;
    const frames = this.#frames;
    if (frames.length === 0 || this.#pipe.destroyed) return;
    this.#frames = [];
    let start = 0;
    for (let at = 0; at < frames.length; at += 1) {
      if ((frames[at] as Uint8Array).length <= COPIED_BYTES_MAX) continue;
      this.#write(frames.slice(start, at));
      this.#pipe.write(frames[at]);
      start = at + 1;
    }
    this.#write(start === 0 ? frames : frames.slice(start));
  }

  #write(frames: readonly Uint8Array[]): void {
    if (frames.length === 0) return;
    // Answers may hold what was opened or lent: none of it stays behind.
    const [only] = frames;
    if (only !== undefined && frames.length === 1) {
      this.#pipe.write(only, () => only.fill(0));
      return;
    }
    // Memory of its own, not the pool's.
    const joined = Buffer.allocUnsafeSlow(frames.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const frame of frames) {
      joined.set(frame, at);
      at += frame.length;
      frame.fill(0);
    }
    this.#pipe.write(joined, () => joined.fill(0));
  }
}
