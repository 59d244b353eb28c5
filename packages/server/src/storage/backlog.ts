import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Schema } from './schema.ts';

export interface Backlog {
  readonly waiting: number;
  /** There are more; nobody counted them. */
  readonly isMore: boolean;
  readonly oldestAtMs: number | undefined;
}

const COUNTED_MAX = 10_000;

/** How much waits and since when, of rows that an index holds by themselves; past a bound nobody counts. */
export async function readBacklog(db: Kysely<Schema>, table: string, waits: RawBuilder<unknown>): Promise<Backlog> {
  const { rows } = await sql<{ waiting: number | string; oldest: number | string | null }>`
    SELECT /* partial: counts */ COUNT(*) AS waiting, MIN(created_at_ms) AS oldest
    FROM (SELECT created_at_ms FROM ${sql.table(table)} WHERE ${waits} LIMIT ${COUNTED_MAX + 1}) AS counted`.execute(
    db,
  );
  const waiting = Number(rows[0]?.waiting ?? 0);
  const oldest = rows[0]?.oldest ?? undefined;
  return {
    waiting: Math.min(waiting, COUNTED_MAX),
    isMore: waiting > COUNTED_MAX,
    oldestAtMs: oldest === undefined ? undefined : Number(oldest),
  };
}
