import type { QueryResult } from 'kysely';
import type pg from 'pg';
import type { Defer, Execute } from '../connection-dialect.ts';
import { type Answer, Batch, type Prepared } from './batch.ts';
import { cancelAndClose } from './cancel.ts';
import { condemns, isTimeout, translate, Unanswered, unavailable } from './errors.ts';
import { Messages } from './messages.ts';

const OK = '00000';

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Under which the server keeps it. */
  readonly name: string | undefined;
  /** What its failure means. */
  readonly explain?: (error: unknown) => unknown;
  /** Undefined where nobody waits for its answer. */
  readonly resolve?: (answer: Answer) => void;
  readonly reject?: (error: unknown) => void;
}

export interface SessionOptions {
  readonly onTimeout: () => void;
  /** What the failure of any statement means. */
  readonly explain: (error: unknown) => unknown;
}

/** They end with what they did: `UPDATE 1`, `INSERT 0 1`. */
const countOf = (tag: string): bigint => {
  const count = tag.slice(tag.lastIndexOf(' ') + 1);
  return /^\d+$/.test(count) ? BigInt(count) : 0n;
};

const messages = new Messages();

/**
 * A session in the hands of who has borrowed it. Once it was given back everything is refused, also while somebody else has
 * it: what a unit left running must not become part of the next transaction.
 */
export interface Borrowed {
  readonly execute: Execute;
  readonly defer: Defer;
  /** Undoes what was done since a savepoint; what was deferred since is not sent at all. */
  readonly undo: (text: string) => Promise<void>;
}

const transactionEnded = (): Error => new Error('the transaction has ended');

/**
 * A connection, for as long as it lasts. Who borrows it has until a deadline for all statements together. Those of one turn
 * of the event loop travel together, in their order; one that is deferred waits for the next that is not, or the commit
 * (docs/decisions/0053).
 */
export class Session {
  readonly client: pg.PoolClient;
  readonly #onTimeout: () => void;
  readonly #explain: (error: unknown) => unknown;
  readonly #prepared = new Map<string, Prepared>();
  /** Statements that failed: the server has them, or has them not. */
  readonly #uncertain = new Set<string>();
  #queue: Statement[] = [];
  #isScheduled = false;
  #deadlineMs = 0;
  #isOpen = false;
  /** How often it was borrowed. */
  #borrowings = 0;
  #isSuspect = false;
  /** Since it was borrowed. */
  #hasSent = false;
  /** What failed first since it was borrowed. Nothing that comes after it is done. */
  #failure: { readonly error: unknown } | undefined;
  /** Another one after each rollback: what was sent before it no longer counts. */
  #epoch = 0;
  /** Of the statement that the server is at. */
  #warning: string | undefined;

  constructor(client: pg.PoolClient, { onTimeout, explain }: SessionOptions) {
    this.client = client;
    this.#onTimeout = onTimeout;
    this.#explain = explain;
    client.on('notice', ({ code, message }) => {
      if (code !== OK) this.#warning = message ?? 'a warning';
    });
    const isLost = (): void => {
      this.#isSuspect = true;
    };
    client.on('error', isLost);
    client.on('end', isLost);
  }

  /** Whether it must not be used again. */
  get isSuspect(): boolean {
    return this.#isSuspect;
  }

  begin(deadlineMs: number): void {
    this.#deadlineMs = deadlineMs;
    this.#queue = [];
    this.#failure = undefined;
    this.#hasSent = false;
    this.#isOpen = true;
    this.#borrowings += 1;
  }

  /** Who borrowed it gives it back. */
  end(): void {
    this.#isOpen = false;
  }

  /** For what may outlive the borrowing. */
  get borrowed(): Borrowed {
    const own = this.#borrowings;
    const requireOwn = (): void => {
      if (own !== this.#borrowings || !this.#isOpen) throw transactionEnded();
    };
    return {
      execute: (text, values, name) => {
        requireOwn();
        return this.execute(text, values, name);
      },
      defer: (text, values, name, explain) => {
        requireOwn();
        this.defer(text, values, name, explain);
      },
      undo: async (text) => {
        requireOwn();
        this.#forget();
        await this.query(text, [], text);
      },
    };
  }

  readonly execute: Execute = async (text, values, name): Promise<QueryResult<unknown>> => {
    const { rows, tag } = await this.query(text, values, name);
    return { rows, numAffectedRows: countOf(tag) };
  };

  query(text: string, values: readonly unknown[] = [], name?: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (!this.#take({ text, values, name, resolve, reject }, reject) || this.#isScheduled) return;
      this.#isScheduled = true;
      process.nextTick(() => {
        this.#isScheduled = false;
        this.#send();
      });
    });
  }

  /** Sent with the next statement that somebody waits for, or with the commit, which fails if it fails. */
  readonly defer: Defer = (text, values, name, explain) => {
    const refuse = (error: unknown): void => {
      throw error;
    };
    // It is written later, and whoever made the bytes may wipe them.
    const own = values.map((value) => (value instanceof Uint8Array ? new Uint8Array(value) : value));
    this.#take({ text, values: own, name, ...(explain && { explain }) }, refuse);
  };

  #take(statement: Statement, refuse: (error: unknown) => void): boolean {
    const refused = this.#isOpen ? this.#failure : { error: transactionEnded() };
    if (refused === undefined) this.#queue.push(statement);
    else refuse(refused.error);
    return refused === undefined;
  }

  #send(): void {
    const statements = this.#queue;
    if (statements.length === 0) return;
    this.#queue = [];
    if (this.#failure !== undefined) {
      this.#fail(statements, this.#failure.error);
      return;
    }
    const leftMs = this.#deadlineMs - performance.now();
    if (leftMs <= 0) {
      // Unless nothing was sent at all, a transaction may be open.
      this.#isSuspect ||= this.#hasSent;
      this.#onTimeout();
      this.#fail(statements, unavailable('the database took too long', new Unanswered()));
      return;
    }
    let patience: NodeJS.Timeout | undefined;
    try {
      const parts = this.#write(statements);
      const epoch = this.#epoch;
      const batch = new Batch(messages.take(), parts, {
        onEnd: (answers, error) => {
          clearTimeout(patience);
          this.#onEnd(statements, answers, error, epoch);
        },
        onNext: () => {
          this.#warning = undefined;
        },
      });
      patience = setTimeout(() => this.#abandon(batch), leftMs);
      this.#hasSent = true;
      this.client.query(batch);
    } catch (error) {
      clearTimeout(patience);
      // Nothing was sent, and nothing else is: what is missing here must not be committed without.
      for (const { name } of statements) if (name !== undefined) this.#doubt(name);
      this.#fail(statements, error);
    }
  }

  #write(statements: readonly Statement[]) {
    messages.clear();
    const parts = statements.map(({ text, values, name, resolve }) => {
      const known = name === undefined ? undefined : this.#prepared.get(name);
      const prepared: Prepared = known ?? { columns: undefined };
      if (known === undefined) {
        const kept = name ?? '';
        if (this.#uncertain.delete(kept)) messages.close(kept);
        messages.parse(kept, text);
        messages.describe(kept);
        if (name !== undefined) this.#prepared.set(name, prepared);
      }
      messages.run(name ?? '', values);
      return { prepared, isRead: resolve !== undefined };
    });
    messages.sync();
    return parts;
  }

  /**
   * The batch may hold a COMMIT, and wait for a lock in front of it: the server has to give it up too, and not commit once
   * the lock is free.
   */
  #abandon(batch: Batch): void {
    batch.abandon(new Unanswered());
    void cancelAndClose(this.client);
  }

  #onEnd(statements: readonly Statement[], answers: readonly Answer[], error: Error | undefined, epoch: number): void {
    for (let index = 0; index < answers.length; index += 1) statements[index]?.resolve?.(answers[index] as Answer);
    if (error === undefined) return;
    const undone = statements.slice(answers.length);
    for (const { name } of undone) if (name !== undefined) this.#doubt(name);
    if (condemns(error)) this.#isSuspect = true;
    if (isTimeout(error)) this.#onTimeout();
    const failure = translate(this.#explain(undone[0]?.explain?.(error) ?? error));
    if (epoch === this.#epoch) this.#fail(undone, failure);
    else for (const { reject } of undone) reject?.(failure);
  }

  /** What failed, and all behind it, for the reason of the first. */
  #fail(undone: readonly Statement[], error: unknown): void {
    this.#failure ??= { error };
    const { error: first } = this.#failure;
    for (const { reject } of undone) reject?.(first);
  }

  #doubt(name: string): void {
    this.#prepared.delete(name);
    this.#uncertain.add(name);
  }

  /**
   * Answers only when everything is durable. A transaction that failed unnoticed is rolled back by COMMIT, which says so in
   * its command tag alone. A COMMIT that gave up waiting for its standbys, because somebody or a time-out cancelled it,
   * succeeds with a warning: it is on this server, but gone if that fails over. Whoever sent it may ask again.
   */
  async commit(): Promise<void> {
    this.#warning = undefined;
    const committed = this.query('COMMIT', [], 'COMMIT');
    this.#isOpen = false;
    this.#send();
    const { tag } = await committed;
    if (tag !== 'COMMIT') throw this.#notCommitted(`COMMIT was answered with ${tag}`);
    if (this.#warning !== undefined) throw this.#notCommitted(`COMMIT was answered with a warning: ${this.#warning}`);
  }

  #notCommitted(why: string): Error {
    this.#isSuspect = true;
    return unavailable('the database is not available', new Error(why));
  }

  /** Leaves the connection as it was before the transaction, or to be thrown away. */
  async rollback(): Promise<void> {
    // Whatever comes from now on would be a transaction of its own.
    this.#isOpen = false;
    if (this.#isSuspect) return;
    this.#forget();
    if (!this.#hasSent) return;
    try {
      await new Promise<Answer>((resolve, reject) => {
        this.#queue.push({ text: 'ROLLBACK', values: [], name: 'ROLLBACK', resolve, reject });
        this.#send();
      });
    } catch {
      this.#isSuspect = true;
    }
  }

  #forget(): void {
    const dropped = this.#queue;
    this.#queue = [];
    this.#fail(dropped, new Error('the transaction was rolled back'));
    this.#failure = undefined;
    this.#epoch += 1;
  }
}
