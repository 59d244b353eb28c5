import type { WebhookEndpointId } from '../../lib/ids.ts';

/** While requests are answered so many deliveries begin in each slice of time: eight hundred a second. */
const SLICE_MS = 5;
const TURNS_PER_SLICE = 4;

/** Resolves when one more delivery to an endpoint may begin. */
export type Pace = (endpointId: WebhookEndpointId) => Promise<void>;

/**
 * Deliveries can wait for some milliseconds, requests should not: without requests there is no limit. Endpoints take
 * turns, so that one with a single event does not wait for all that others have.
 */
export function createPace(isBusy: () => boolean): Pace {
  /** In the order of their turns. */
  const waiting = new Map<WebhookEndpointId, (() => void)[]>();
  let left = TURNS_PER_SLICE;
  let isRunning = false;

  const nextSlice = (): void => {
    isRunning = false;
    left = TURNS_PER_SLICE;
    const isLimited = isBusy();
    for (const [endpointId, queue] of waiting) {
      if (isLimited && left === 0) break;
      left -= 1;
      queue.shift()?.();
      waiting.delete(endpointId);
      // Behind all others, where this loop comes to it again.
      if (queue.length > 0) waiting.set(endpointId, queue);
    }
    if (left < TURNS_PER_SLICE) run();
  };
  const run = (): void => {
    if (isRunning) return;
    isRunning = true;
    setTimeout(nextSlice, SLICE_MS);
  };

  return async (endpointId) => {
    if (!isBusy()) return;
    run();
    if (left > 0) left -= 1;
    else {
      await new Promise<void>((resolve) => {
        const queue = waiting.get(endpointId);
        if (queue === undefined) waiting.set(endpointId, [resolve]);
        else queue.push(resolve);
      });
    }
  };
}
