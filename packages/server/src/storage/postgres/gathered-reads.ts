import type { QueryResult } from 'kysely';
import { chunks } from '../../lib/collections.ts';
import { isTooLate } from './errors.ts';

/** One short statement that only reads. */
export interface QuickRead {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly name: string | undefined;
}

type Answer = QueryResult<unknown>;

/** Runs some on one connection, as one batch. Behind one that fails all fail; without a connection it throws. */
type RunTogether = (
  reads: readonly QuickRead[],
  deadlineMs: number,
) => Promise<readonly PromiseSettledResult<Answer>[]>;

interface Waiting extends QuickRead {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** More would make the last of them wait for all others where the database has cores to spare. */
const TOGETHER_MAX = 16;

/**
 * Reads that every request begins with, gathered over one turn of the event loop and sent as one batch (docs/decisions/0056).
 * To wake a process of the database, and to be woken by it, costs more than such a read.
 */
export class GatheredReads {
  readonly #run: RunTogether;
  readonly #timeoutMs: number;
  #waiting: Waiting[] = [];

  constructor(timeoutMs: number, run: RunTogether) {
    this.#timeoutMs = timeoutMs;
    this.#run = run;
  }

  add(read: QuickRead): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // All that has arrived is read before this.
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push({ ...read, resolve, reject });
    });
  }

  #flush(): void {
    const all = this.#waiting;
    this.#waiting = [];
    const deadlineMs = performance.now() + this.#timeoutMs;
    for (const some of chunks(all, TOGETHER_MAX)) void this.#send(some, deadlineMs);
  }

  async #send(reads: readonly Waiting[], deadlineMs: number): Promise<void> {
    try {
      const outcomes = await this.#run(reads, deadlineMs);
      for (const [index, read] of reads.entries()) {
        const outcome = outcomes[index] as PromiseSettledResult<Answer>;
        if (outcome.status === 'fulfilled') read.resolve(outcome.value);
        else if (reads.length === 1 || isTooLate(outcome.reason)) read.reject(outcome.reason);
        // Most fail only because of one before them, and a read can be done again.
        else void this.#send([read], deadlineMs);
      }
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  }
}
