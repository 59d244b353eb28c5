import { pause } from './pause.ts';

/** What is under way, so that it can be waited for. */
export class Tasks {
  readonly #running = new Set<Promise<void>>();

  /** The task deals with its own failures. */
  add(task: Promise<void>): void {
    const tracked = task.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  /** When nothing is under way. After so long it is broken off, and then has only a moment to end. */
  async done(withinMs: number, breakOff: () => void, momentMs: number): Promise<void> {
    const isDone = new AbortController();
    const tooLate = async (): Promise<void> => {
      await pause(withinMs, isDone.signal);
      if (isDone.signal.aborted) return;
      breakOff();
      await pause(momentMs, isDone.signal);
    };
    await Promise.race([this.#drain(), tooLate()]);
    isDone.abort();
  }

  async #drain(): Promise<void> {
    // What ends may have begun something, such as a claim its work.
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}
