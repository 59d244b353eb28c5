import type { QueryResult } from 'kysely';
import { chunks } from '../../lib/collections.ts';
import type { BoundStatement } from '../connection-dialect.ts';
import { isTooLate } from './errors.ts';

type Answer = QueryResult<unknown>;

/** Runs some on one connection, as one batch. Behind one that fails all fail; without a connection it throws. */
type RunTogether = (
  reads: readonly BoundStatement[],
  deadlineMs: number,
) => Promise<readonly PromiseSettledResult<Answer>[]>;

/** What one caller asked for, which stays together and in its order. */
interface Group {
  readonly reads: readonly BoundStatement[];
  readonly resolve: (answers: readonly Answer[]) => void;
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
  #waiting: Group[] = [];

  constructor(timeoutMs: number, run: RunTogether) {
    this.#timeoutMs = timeoutMs;
    this.#run = run;
  }

  add(reads: readonly BoundStatement[]): Promise<readonly Answer[]> {
    return new Promise((resolve, reject) => {
      // All that has arrived is read before this.
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push({ reads, resolve, reject });
    });
  }

  #flush(): void {
    const deadlineMs = performance.now() + this.#timeoutMs;
    const all = this.#waiting;
    this.#waiting = [];
    // Several of one caller have a connection of their own: who only wants to be known does not wait behind a list.
    for (const group of all) if (group.reads.length > 1) void this.#send([group], deadlineMs);
    const single = all.filter(({ reads }) => reads.length === 1);
    for (const some of chunks(single, TOGETHER_MAX)) void this.#send(some, deadlineMs);
  }

  async #send(groups: readonly Group[], deadlineMs: number): Promise<void> {
    try {
      const outcomes = await this.#run(
        groups.flatMap(({ reads }) => reads),
        deadlineMs,
      );
      let from = 0;
      for (const group of groups) {
        const own = outcomes.slice(from, from + group.reads.length);
        from += group.reads.length;
        const failed = own.find((outcome) => outcome.status === 'rejected');
        if (failed === undefined)
          group.resolve(own.map((outcome) => (outcome as PromiseFulfilledResult<Answer>).value));
        else if (groups.length === 1 || isTooLate(failed.reason)) group.reject(failed.reason);
        // Most fail only because of one before them, and a read can be done again.
        else void this.#send([group], deadlineMs);
      }
    } catch (error) {
      for (const { reject } of groups) reject(error);
    }
  }
}
