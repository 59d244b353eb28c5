import { ClockReader } from '../core/store/clock.ts';
import { InstallationReader } from '../core/store/installation.ts';
import { DAY_MS, isOfFuture, toRfc3339 } from '../lib/clock.ts';
import type { ReadStores } from '../storage/stores.ts';

/** A clock that is further ahead of everything that was stored may be wrong: a deployment in use stores something daily. */
const AHEAD_MS_MAX = 3 * DAY_MS;
/** Later times were not written by a clock. */
export const TIME_MS_MAX = Date.UTC(9998, 0, 1);
const THE_DATABASE = 'the clock of the database';

/** Why a clock may be wrong. */
export interface ClockDoubt {
  readonly isBehind: boolean;
  readonly reason: string;
}

/** Beside the database's own clock; undefined also where it has none. */
export async function doubtByDatabase(read: ReadStores, nowMs: number): Promise<ClockDoubt | undefined> {
  return doubtBesideDatabase(nowMs, await read(ClockReader).databaseNowMs());
}

export function doubtBesideDatabase(nowMs: number, databaseMs: number | undefined): ClockDoubt | undefined {
  if (databaseMs === undefined) return undefined;
  return (
    doubtIfBehind(nowMs, databaseMs, THE_DATABASE) ??
    (isOfFuture(nowMs, databaseMs) ? doubt(nowMs, 'ahead of', THE_DATABASE, databaseMs) : undefined)
  );
}

/**
 * Beside the newest time that was stored. What commands wrote, by their own clocks, cannot be later than now either; but it
 * does not vouch for a clock that is ahead, unless requests stored nothing yet.
 */
export async function doubtByStored(read: ReadStores, nowMs: number): Promise<ClockDoubt | undefined> {
  const byCommandsMs = await read(InstallationReader).newestKeyTimeMs();
  const storedMs = (await read(InstallationReader).newestTimeMs()) ?? byCommandsMs;
  const newestMs = Math.min(Math.max(storedMs, byCommandsMs), TIME_MS_MAX);
  return doubtIfBehind(nowMs, newestMs, 'the newest thing that was stored') ?? doubtIfDaysAhead(nowMs, storedMs);
}

export const doubtIfBehind = (nowMs: number, otherMs: number, other: string): ClockDoubt | undefined =>
  isOfFuture(otherMs, nowMs) ? doubt(nowMs, 'behind', other, otherMs) : undefined;

export const doubtIfDaysAhead = (nowMs: number, storedMs: number): ClockDoubt | undefined =>
  nowMs - storedMs > AHEAD_MS_MAX
    ? doubt(nowMs, 'days ahead of', 'the newest thing that the service stored', storedMs)
    : undefined;

const doubt = (nowMs: number, where: 'behind' | 'ahead of' | 'days ahead of', other: string, otherMs: number) => ({
  isBehind: where === 'behind',
  reason: `the clock (${toRfc3339(nowMs)}) is ${where} ${other} (${toRfc3339(Math.floor(otherMs))})`,
});
