import type { RingState } from '@custos/keyring';
import { ClockReader } from '../core/store/clock.ts';
import { InstallationReader } from '../core/store/installation.ts';
import { doubtBesideDatabase, doubtIfBehind, doubtIfDaysAhead, TIME_MS_MAX } from '../key-rotation/clock-doubt.ts';
import type { Storage } from '../storage/storage.ts';

/** The clock of this machine beside all others that this deployment knows of (docs/decisions/0058). */
export interface KnownTimes {
  readonly nowMs: number;
  /** The database's own clock; undefined where it has none. */
  readonly databaseMs: number | undefined;
  /** The newest thing that the service stored. What commands wrote is left out: they would vouch for their own clock. */
  readonly storedMs: number;
  /** The newest time that anybody wrote, in the database or in the key ring: it cannot be earlier now. */
  readonly newestMs: number;
}

export async function readTimes(storage: Storage, { retired = [] }: RingState): Promise<KnownTimes> {
  const databaseMs = await storage.read(ClockReader).databaseNowMs();
  const storedMs = bounded((await storage.read(InstallationReader).newestTimeMs()) ?? 0);
  const written = await storage.read(InstallationReader).newestKeyTimeMs();
  const newestMs = Math.max(storedMs, bounded(written), ...retired.map(({ retiredAtMs }) => bounded(retiredAtMs)));
  return { nowMs: Date.now(), databaseMs: databaseMs && Math.floor(databaseMs), storedMs, newestMs };
}

/** Why the clock of this machine may be wrong. */
export const doubtOf = (times: KnownTimes): string | undefined => {
  const { nowMs, storedMs, newestMs } = times;
  return (
    doubtByDatabase(times) ??
    (doubtIfBehind(nowMs, newestMs, 'the newest time that was written down') ?? doubtIfDaysAhead(nowMs, storedMs))
      ?.reason
  );
};

export const doubtByDatabase = ({ nowMs, databaseMs }: KnownTimes): string | undefined =>
  doubtBesideDatabase(nowMs, databaseMs)?.reason;

const bounded = (timeMs: number): number => (timeMs >= 0 ? Math.min(timeMs, TIME_MS_MAX) : 0);
