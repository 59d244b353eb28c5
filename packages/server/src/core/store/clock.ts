import { sql } from 'kysely';
import { CLOCK_TOLERANCE_MS } from '../../lib/clock.ts';
import { Reader } from '../../storage/store.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Moments that something waits for, and more than the longest that it ever has to. */
const WAITS = [
  { table: 'chain_lane', column: 'claimed_until_ms', longestMs: MINUTE_MS, where: sql`is_active = 1` },
  { table: 'balance_cursor', column: 'claimed_until_ms', longestMs: MINUTE_MS, where: sql`owner <> ''` },
  { table: 'webhook_lane', column: 'claimed_until_ms', longestMs: MINUTE_MS, where: sql`owner <> ''` },
  { table: 'webhook_lane', column: 'resting_until_ms', longestMs: 2 * MINUTE_MS, where: sql`is_gone = 0` },
  { table: 'outbox_message', column: 'claimed_until_ms', longestMs: 2 * MINUTE_MS, where: sql`1 = 1` },
  { table: 'outbox_message', column: 'next_attempt_at_ms', longestMs: 2 * HOUR_MS, where: sql`1 = 1` },
  {
    table: 'webhook_delivery',
    column: 'next_attempt_at_ms',
    longestMs: 73 * HOUR_MS,
    // In the words of the index of the queue, which is by endpoint.
    where: sql`state = 'pending' AND endpoint_id IN (SELECT endpoint_id FROM webhook_lane)`,
  },
] as const;

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

  /** Ends waits that are longer than any can be: they were written while a clock was ahead. */
  async endImpossibleWaits(nowMs: number): Promise<void> {
    for (const { table, column, longestMs, where } of WAITS) {
      await sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${nowMs}
        WHERE ${where} AND ${sql.ref(column)} > ${nowMs + longestMs + CLOCK_TOLERANCE_MS}`.execute(this.db);
    }
  }
}
