import type { Clock } from '../lib/clock.ts';

/** A clock that remembers how far ahead of the time that passes it was whenever somebody read it. */
export interface WatchedClock {
  (): number;
  /** How far ahead it is, and the most that it was at any reading since the last call. */
  ahead(): { readonly nowMs: number; readonly mostMs: number };
}

/** However short a jump was: if nobody read the clock meanwhile, nothing was written by it. */
export function watchedClock(clock: Clock, elapsed: Clock): WatchedClock {
  let mostMs = clock() - elapsed();
  const watched = (): number => {
    const nowMs = clock();
    mostMs = Math.max(mostMs, nowMs - elapsed());
    return nowMs;
  };
  const ahead = (): ReturnType<WatchedClock['ahead']> => {
    const nowMs = clock() - elapsed();
    const seen = { nowMs, mostMs: Math.max(mostMs, nowMs) };
    mostMs = nowMs;
    return seen;
  };
  return Object.assign(watched, { ahead });
}
