import { sql } from 'kysely';
import { CLOCK_TOLERANCE_MS } from '../../lib/clock.ts';
import { amendEach, isMarked } from '../../storage/integrity/amend.ts';
import { Reader, type Transaction } from '../../storage/store.ts';
import type { Table } from '../../storage/table.ts';

export class ClockReader extends Reader {
  /** What the database takes for now; undefined where it has no clock but ours. */
  async databaseNowMs(): Promise<number | undefined> {
    if (this.kind === 'sqlite') return undefined;
    const { rows } = await sql<{ now_ms: string }>`
      SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS text) AS now_ms`.execute(this.db);
    return rows[0] && Number(rows[0].now_ms);
  }
}

export class ClockStore extends ClockReader {
  static readonly writes = true;
  readonly #tables: readonly Table[];

  constructor(transaction: Transaction) {
    super(transaction);
    this.#tables = transaction.tables;
  }

  /** Ends waits that are longer than any can be: they were written while a clock was ahead. */
  async endImpossibleWaits(nowMs: number): Promise<void> {
    for (const { name, waits = [] } of this.#tables) {
      for (const { column, longestMs, where = sql`1 = 1` } of waits) {
        const condition = sql`${where} AND ${sql.ref(column)} > ${nowMs + longestMs + CLOCK_TOLERANCE_MS}`;
        // One that is not genuine waits as long as it says, and is reported.
        if (isMarked(this.db, name, column)) await amendEach(this.db, name, condition, () => ({ [column]: nowMs }));
        else
          await sql`UPDATE /* unmarked: how long it waits */ ${sql.table(name)} SET ${sql.ref(column)} = ${nowMs}
            WHERE ${condition}`.execute(this.db);
      }
    }
  }
}
