import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../lib/clock.ts';
import { isDone } from '../../storage/integrity/apart.ts';
import type { Storage } from '../../storage/storage.ts';
import type { WebhookEndpoint } from './model.ts';
import type { Attempted } from './result.ts';
import { WebhookStore } from './store/webhooks.ts';

const AGAIN_MS = 250;
const AGAIN_MS_MAX = 5000;
/**
 * Commits are at least so far apart, because one costs more than a result; each has so many, because it holds others
 * up.
 */
const COMMIT_EVERY_MS = 20;
const RESULTS_PER_COMMIT = 128;

/** What is told about attempts as they are written down. */
export interface DeliveryObserver {
  delivery(attempted: Attempted): void;
  endpointDisabled(endpoint: Pick<WebhookEndpoint, 'organizationId' | 'id'>): void;
  /** Deliveries that were given up because they could not be tried in time. */
  deliveriesExpired(count: number): void;
  /** What is no fault of the outside. */
  internalError(errorId: string, operation: string, error: unknown): void;
  unavailable(operation: string, cause: unknown): void;
}

interface Waiting {
  readonly endpoint: WebhookEndpoint;
  readonly attempted: Attempted;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes down what became of deliveries, those of all queues together: while one commit is under way the next one's
 * results gather. What was delivered must not be sent again because the database is away for a moment, so it does not
 * give up before `end`.
 */
export function createRecorder(storage: Storage, clock: Clock, observe: DeliveryObserver, end: AbortSignal) {
  const waiting: Waiting[] = [];
  let isBusy = false;
  let nextCommitAtMs = 0;

  const commit = async (some: readonly Waiting[]): Promise<void> => {
    const disabled = await storage.write(
      async (store) => {
        const nowMs = clock();
        await store(WebhookStore).record(
          some.map(({ attempted }) => attempted),
          nowMs,
        );
        const gone: WebhookEndpoint[] = [];
        for (const { endpoint, attempted } of some) {
          const { organizationId, id, url } = endpoint;
          if (attempted.outcome !== 'gone') continue;
          // One that is not genuine is sent to no more in any case.
          await isDone(async () => {
            if (await store(WebhookStore).deactivate(organizationId, id, url, nowMs)) gone.push(endpoint);
          });
        }
        return gone;
        // What a power cut undoes is sent once more, with the same event id.
      },
      { isRepeatable: true },
    );
    for (const { attempted } of some) observe.delivery(attempted);
    for (const endpoint of disabled) observe.endpointDisabled(endpoint);
  };

  const commitInTheEnd = async (some: readonly Waiting[]): Promise<void> => {
    for (let delayMs = AGAIN_MS; ; delayMs = Math.min(2 * delayMs, AGAIN_MS_MAX)) {
      try {
        return await commit(some);
      } catch (error) {
        if (end.aborted) throw error;
        if (delayMs === AGAIN_MS) observe.unavailable('webhooks', error);
        await sleep(delayMs, undefined, { signal: end }).catch(() => {});
      }
    }
  };

  const run = async (): Promise<void> => {
    isBusy = true;
    while (waiting.length > 0) {
      const earlyMs = nextCommitAtMs - performance.now();
      if (earlyMs > 0 && waiting.length < RESULTS_PER_COMMIT) {
        await new Promise((resolve) => setTimeout(resolve, earlyMs));
      }
      nextCommitAtMs = performance.now() + COMMIT_EVERY_MS;
      const some = waiting.splice(0, RESULTS_PER_COMMIT);
      try {
        await commitInTheEnd(some);
        for (const { resolve } of some) resolve();
      } catch (error) {
        for (const { reject } of some) reject(error);
      }
    }
    isBusy = false;
  };

  return {
    /** Resolves after the commit. */
    record: (endpoint: WebhookEndpoint, attempted: Attempted): Promise<void> =>
      new Promise((resolve, reject) => {
        waiting.push({ endpoint, attempted, resolve, reject });
        if (!isBusy) void run();
      }),
  };
}

export type Recorder = ReturnType<typeof createRecorder>;
