import { sql } from 'kysely';
import type { OrganizationId } from '../lib/ids.ts';
import { change, statement, variants } from './statement.ts';
import { Reader } from './store.ts';
import { sweepExpired } from './sweep.ts';

const EXPIRING = { table: 'rate_window', key: 'name', expiry: 'stale_at_ms' } as const;

/** How often something happened up to a moment. */
type Happened = readonly [untilMs: number, count: number];

export interface CountKey {
  readonly organizationId: OrganizationId;
  readonly name: string;
}

interface Window extends Record<string, unknown> {
  readonly organizationId: string;
  readonly name: string;
}
/** Holds the row until the transaction ends, whether or not it was there. */
const openWindow = statement(
  'rate-window-open',
  (db, { organizationId, name, staleAtMs }: Window & { readonly staleAtMs: number }) =>
    db
      .insertInto('rate_window')
      .values({ organization_id: organizationId, name, times: '[]', stale_at_ms: staleAtMs })
      .onConflict((conflict) =>
        conflict.columns(['organization_id', 'name']).doUpdateSet((eb) => ({
          stale_at_ms: eb.ref('excluded.stale_at_ms'),
        })),
      )
      .returning('times'),
);
const setTimes = change(
  'rate-window-times',
  (db, { organizationId, name, times }: Window & { readonly times: string }) =>
    db.updateTable('rate_window').set({ times }).where('organization_id', '=', organizationId).where('name', '=', name),
);
const heldWindow = variants<Window, { times: string }>((_db, { organizationId, name }, kind) => {
  const lock = kind === 'postgres' ? sql`FOR UPDATE` : sql``;
  return sql<{
    times: string;
  }>`SELECT times FROM rate_window WHERE organization_id = ${organizationId} AND name = ${name} ${lock}`;
});

/** Up to this limit every time is kept; beyond it, times are counted together in slices of the window. */
const EXACT_MAX = 100;
const SLICES = 64;
/** The longest window that anybody counts in. */
const WINDOW_MS_MAX = 24 * 60 * 60 * 1000;

/** Slices end later than what they count, so that nothing is forgotten too early. */
function withMore(times: readonly Happened[], more: number, nowMs: number, sliceMs: number): Happened[] {
  const last = times.at(-1);
  if (last !== undefined && last[0] >= nowMs && sliceMs > 0) return [...times.slice(0, -1), [last[0], last[1] + more]];
  return [...times, [nowMs + Math.ceil(sliceMs), more]];
}

const timesOf = (row: { readonly times: string } | undefined): Happened[] =>
  row === undefined ? [] : parseTimes(row.times);

/** Whoever can write to the database may have written anything there: then nothing was counted. */
function parseTimes(text: string): Happened[] {
  try {
    const times: unknown = JSON.parse(text);
    return Array.isArray(times) ? times.filter(isHappened) : [];
  } catch {
    return [];
  }
}

const isHappened = (value: unknown): value is Happened =>
  Array.isArray(value) && value.length === 2 && value.every((each) => Number.isSafeInteger(each));

const latestOf = (times: readonly Happened[]): number => Math.max(0, ...times.map(([untilMs]) => untilMs));

/** How often something happened lately. */
export class RateWindowReader extends Reader {
  /**
   * Counts of any organization behind one of them, in the order of their keys, and the last moment that they count at.
   */
  async countsBehind(last: CountKey | undefined, limit: number): Promise<(CountKey & { readonly latestMs: number })[]> {
    const behind = last && sql`WHERE (organization_id, name) > (${last.organizationId}, ${last.name})`;
    const { rows } = await sql<CountKey & { times: string }>`SELECT organization_id AS "organizationId", name, times
      FROM rate_window ${behind ?? sql``} ORDER BY organization_id, name LIMIT ${limit}`.execute(this.db);
    return rows.map((row) => ({
      organizationId: row.organizationId,
      name: row.name,
      latestMs: latestOf(timesOf(row)),
    }));
  }
}

export class RateWindowStore extends RateWindowReader {
  static readonly writes = true;

  /**
   * Counts one more, or `more`, unless it would then have happened above `max` times within the window; answers whether
   * it was counted. The row is held until the transaction ends, so that parallel ones count one after the other on any
   * number of processes.
   */
  async countUp(
    organizationId: OrganizationId,
    name: string,
    {
      max,
      windowMs,
      nowMs,
      more = 1,
    }: { readonly max: number; readonly windowMs: number; readonly nowMs: number; readonly more?: number },
  ): Promise<boolean> {
    const [row] = await openWindow(this.db, { organizationId, name, staleAtMs: nowMs + windowMs });
    const recent = timesOf(row).filter(([untilMs]) => untilMs > nowMs - windowMs);
    if (recent.reduce((sum, [, count]) => sum + count, more) > max) return false;
    const times = JSON.stringify(withMore(recent, more, nowMs, max > EXACT_MAX ? windowMs / SLICES : 0));
    await setTimes(this.db, { organizationId, name, times });
    return true;
  }

  /** Forgets counts that have become stale. The last thing to do: it holds rows that others may want. */
  async sweepCounts(organizationId: OrganizationId, nowMs: number): Promise<void> {
    await sweepExpired(this.db, this.kind, EXPIRING, organizationId, nowMs);
  }

  /** Moves what was counted after `afterMs` back to now: it is forgotten when the window from now is over. */
  async moveBack({ organizationId, name }: CountKey, afterMs: number, nowMs: number): Promise<void> {
    const times = await this.#heldTimes(organizationId, name);
    if (latestOf(times) <= afterMs) return;
    const moved = times.map(([untilMs, count]): Happened => [untilMs > afterMs ? nowMs : untilMs, count]);
    await this.db
      .updateTable('rate_window')
      .set({ times: JSON.stringify(moved), stale_at_ms: nowMs + WINDOW_MS_MAX })
      .where('organization_id', '=', organizationId)
      .where('name', '=', name)
      .execute();
  }

  /** Takes the newest count back. */
  async countDown(organizationId: OrganizationId, name: string): Promise<void> {
    const times = await this.#heldTimes(organizationId, name);
    const last = times.at(-1);
    if (last === undefined) return;
    const [untilMs, count] = last;
    const kept = [...times.slice(0, -1), ...(count > 1 ? [[untilMs, count - 1]] : [])];
    await setTimes(this.db, { organizationId, name, times: JSON.stringify(kept) });
  }

  /** Nobody else counts until the transaction ends. */
  async #heldTimes(organizationId: OrganizationId, name: string): Promise<Happened[]> {
    const [row] = await heldWindow(this.kind)(this.db, { organizationId, name });
    return timesOf(row);
  }
}
