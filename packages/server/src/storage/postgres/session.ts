import type { QueryResult } from 'kysely';
import type pg from 'pg';
import { assert } from '../../lib/assert.ts';
import type { Execute } from '../connection-dialect.ts';
import { condemns, isTimeout, translate, unavailable } from './errors.ts';

/** Not in the driver's types, but in its documentation: how long the answer to one statement is waited for. */
type Query = pg.QueryConfig & { query_timeout: number };

const OK = '00000';

/** A connection, for as long as it lasts. Who borrows it has until a deadline for all statements together. */
export class Session {
  readonly client: pg.PoolClient;
  readonly #onTimeout: () => void;
  #deadlineMs = 0;
  #isSuspect = false;
  #warning: string | undefined;

  constructor(client: pg.PoolClient, onTimeout: () => void) {
    this.client = client;
    this.#onTimeout = onTimeout;
    client.on('notice', ({ code, message }) => {
      if (code !== OK) this.#warning = message ?? 'a warning';
    });
  }

  /** Whether it must not be used again. */
  get isSuspect(): boolean {
    return this.#isSuspect;
  }

  begin(deadlineMs: number): void {
    this.#deadlineMs = deadlineMs;
  }

  readonly execute: Execute = async (text, values, name): Promise<QueryResult<unknown>> => {
    const { rows, rowCount } = await this.query(text, values, name);
    return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
  };

  async query(text: string, values: readonly unknown[] = [], name?: string): Promise<pg.QueryResult> {
    const leftMs = this.#deadlineMs - performance.now();
    if (leftMs <= 0) {
      this.#isSuspect = true;
      this.#onTimeout();
      throw unavailable('the database took too long', new Error('the time for this work is used up'));
    }
    const query: Query = { text, values: [...values], query_timeout: leftMs, ...(name !== undefined && { name }) };
    try {
      return await this.client.query(query);
    } catch (error) {
      assert(error instanceof Error, 'the driver rejects with errors');
      if (condemns(error)) this.#isSuspect = true;
      if (isTimeout(error)) this.#onTimeout();
      throw translate(error);
    }
  }

  /**
   * Answers only when everything is durable. A transaction that failed unnoticed is rolled back by COMMIT, which says so in
   * its command tag alone. A COMMIT that gave up waiting for its standbys, because somebody or a time-out cancelled it,
   * succeeds with a warning: it is on this server, but gone if that fails over. Whoever sent it may ask again.
   */
  async commit(): Promise<void> {
    this.#warning = undefined;
    const { command } = await this.query('COMMIT');
    if (command !== 'COMMIT') {
      this.#isSuspect = true;
      throw unavailable('the database is not available', new Error(`COMMIT was answered with ${command}`));
    }
    if (this.#warning === undefined) return;
    this.#isSuspect = true;
    throw unavailable(
      'the database is not available',
      new Error(`COMMIT was answered with a warning: ${this.#warning}`),
    );
  }

  /** Leaves the connection as it was before the transaction, or to be thrown away. */
  async rollback(): Promise<void> {
    if (this.#isSuspect) return;
    await this.query('ROLLBACK').catch(() => {
      this.#isSuspect = true;
    });
  }
}
