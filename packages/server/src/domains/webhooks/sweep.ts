import { type Clock, DAY_MS } from '../../lib/clock.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Stores } from '../../storage/stores.ts';
import type { DeliveryObserver } from './recorder.ts';
import { ROUND_MS } from './schedule.ts';
import { WebhookStore } from './store/webhooks.ts';

const SWEEP_EVERY_MS = 60_000;
/** Few, because the embedded database holds up everything else meanwhile. */
const ROWS_PER_COMMIT = 200;
const COMMITS_MAX = 10;
/** Beyond the last moment at which a delivery may be tried again. */
const SLACK_MS = 60 * 60 * 1000;

/**
 * Gives up what could not be tried, because its endpoint was off or resting until the end, forgets what is older than
 * deliveries are kept or belongs to deleted endpoints. Some at a time, and not more often than once a minute.
 */
export function createSweep(
  storage: Storage,
  clock: Clock,
  elapsed: Clock,
  retentionDays: number,
  observe: Pick<DeliveryObserver, 'deliveriesExpired'>,
): () => Promise<void> {
  let nextAtMs = 0;
  /** Commits one after the other: requests come in between. */
  const clear = async (step: (store: Stores) => Promise<number>): Promise<{ count: number; isMore: boolean }> => {
    let count = 0;
    for (let commit = 0; commit < COMMITS_MAX; commit += 1) {
      const found = await storage.write(step);
      count += found;
      if (found === 0) return { count, isMore: false };
    }
    return { count, isMore: true };
  };
  return async () => {
    const atMs = elapsed();
    if (atMs < nextAtMs) return;
    nextAtMs = atMs + SWEEP_EVERY_MS;
    const nowMs = clock();
    const deadBeforeMs = nowMs - ROUND_MS - SLACK_MS;
    const keptSinceMs = nowMs - retentionDays * DAY_MS;
    const expired = await clear((store) => store(WebhookStore).expire(deadBeforeMs, nowMs, ROWS_PER_COMMIT));
    if (expired.count > 0) observe.deliveriesExpired(expired.count);
    const purged = await clear((store) => store(WebhookStore).purge(ROWS_PER_COMMIT));
    const swept = await clear((store) => store(WebhookStore).sweep(keptSinceMs, ROWS_PER_COMMIT));
    // With the next poll, where there is more.
    if ([expired, purged, swept].some(({ isMore }) => isMore)) nextAtMs = 0;
  };
}
