import { KeyringError } from '@custos/keyring';
import { holdOf } from '../../fence/hold.ts';
import type { Clock } from '../../lib/clock.ts';
import { ApiError } from '../../lib/errors.ts';
import { randomId, type WebhookEndpointId } from '../../lib/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import { tellOnce } from '../../workers/away.ts';
import type { Topic } from '../../workers/claim.ts';
import type { Strategy, WorkerObserver } from '../../workers/strategy.ts';
import { LeasedWorker } from '../../workers/worker.ts';
import { createDescriber, type DescribeActivities } from './describer.ts';
import { EndpointQueue, type QueueClaim, type QueueEnd, type QueueParts, TROUBLED_AT } from './endpoint-queue.ts';
import { createGate } from './gate.ts';
import { createRecorder, type DeliveryObserver } from './recorder.ts';
import type { WebhookSender } from './sender.ts';
import { WebhookReader } from './store/webhook-reader.ts';
import { WebhookStore } from './store/webhooks.ts';

/** How many endpoints are served at once; of those in trouble fewer, so that they cannot take all places. */
const PLACES = { all: 1024, troubled: 256 };
/** How many of them may have an event in memory that is larger than a usual batch. */
const LARGE_BATCHES_MAX = 16;
/** Until a queue is tried again whose database or keyring was away. */
const AWAY_MS = 5000;

export interface DispatcherParts {
  readonly storage: Storage;
  /** One that jumps ahead would give up deliveries and take endpoints from others. */
  readonly clock: Clock;
  readonly elapsed: Clock;
  readonly send: WebhookSender;
  readonly describe: DescribeActivities;
  readonly observe: DeliveryObserver;
  /** Breaks off what is being sent. */
  readonly breakOff: () => Promise<void>;
  /** Deletes what is kept no longer; called with every poll. */
  readonly sweep: () => Promise<void>;
  readonly places?: { readonly all: number; readonly troubled: number };
}

interface EndpointTopic extends Topic {
  readonly key: WebhookEndpointId;
}

const groupOf = (failures: number) => (failures >= TROUBLED_AT ? 'troubled' : undefined);

/**
 * Sends what transactions have stored, with any number of processes at it. Each endpoint has a queue that one process
 * holds at a time, so that its deliveries keep their order and a slow one delays nobody else. A delivery stays stored
 * until its receiver has answered: it is never lost, and repeated with the same event id by whoever dies in between.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #worker: LeasedWorker<EndpointTopic, QueueClaim, QueueEnd>;

  constructor(parts: DispatcherParts) {
    const { clock, elapsed } = parts;
    this.#parts = parts;
    this.#worker = new LeasedWorker(endpointStrategy(parts), {
      clock,
      elapsed,
      hold: holdOf(parts.storage),
      observe: observerOf(parts.observe),
    });
  }

  start(): void {
    this.#worker.start();
  }

  /**
   * To be called after a commit with deliveries in it, with their endpoints; without any it looks for all that are due.
   */
  wake(endpointIds?: readonly WebhookEndpointId[]): void {
    this.#worker.wake(endpointIds?.map((key) => ({ key })));
  }

  /** Begins nothing new, finishes what is being sent, and breaks it off when that takes too long. */
  async stop(): Promise<void> {
    await this.#worker.stop();
    await this.#parts.breakOff();
  }
}

/** A queue is held under the name of this process, and nothing refuses what an earlier holder records. */
function endpointStrategy(parts: DispatcherParts): Strategy<EndpointTopic, QueueClaim, QueueEnd> {
  const { storage, clock, elapsed, send, describe, observe, breakOff, sweep, places = PLACES } = parts;
  const owner: string = randomId();
  const end = new AbortController();
  const recorder = createRecorder(storage, clock, observe, end.signal);
  const queueParts: QueueParts = {
    storage,
    clock,
    elapsed,
    send,
    describe: createDescriber(storage, describe, observe),
    recorder,
    large: createGate(LARGE_BATCHES_MAX),
  };
  let lookAfter: WebhookEndpointId | '' = '';
  return {
    limits: { all: places.all, groups: { troubled: places.troubled } },
    topics: 'claim',
    // Who is killed is followed when the lease is over.
    lease: { ms: 10_000, renewEveryMs: 3000 },
    pollEveryMs: 1000,
    stopMs: 6000,
    whose: ({ organizationId }) => organizationId,
    async recover() {
      // The embedded database has one process: who else holds a queue was killed.
      if (storage.kind === 'sqlite') await storage.write((store) => store(WebhookStore).releaseAllQueues());
    },
    async due(nowMs) {
      const due = await storage.read(WebhookReader).dueQueues(nowMs, places.all, lookAfter, storage.fence.scope);
      // Where there are more, the next look goes on behind them: those in front may find no place for long.
      lookAfter = due.length < places.all ? '' : (due.at(-1)?.endpointId ?? '');
      return due.map(({ endpointId, failures }) => ({ key: endpointId, group: groupOf(failures) }));
    },
    async claim({ key }, _room, nowMs, untilMs) {
      const claim = await storage.write((store) => store(WebhookStore).claimQueue(key, owner, nowMs, untilMs));
      // Of one that was woken by a new event it is known only now whether it is in trouble.
      return claim === undefined ? [] : [{ key, group: groupOf(claim.failures), ...claim }];
    },
    async renew(_claims, nowMs, untilMs) {
      const held = await storage.write((store) => store(WebhookStore).renewQueues(owner, nowMs, untilMs));
      return held.map((key) => ({ key }));
    },
    serve: (lease) => new EndpointQueue(queueParts, lease).run(),
    async release({ key, failures }, outcome) {
      const restingUntilMs = outcome === 'failed' ? clock() + AWAY_MS : 0;
      const left = typeof outcome === 'string' ? { failures, restingUntilMs } : outcome;
      await storage.write((store) => store(WebhookStore).releaseQueue(key, owner, left));
      return undefined;
    },
    tidy: sweep,
    breakOff() {
      end.abort();
      void breakOff();
    },
    releaseAll: () => storage.write((store) => store(WebhookStore).releaseOwner(owner)),
  };
}

/** Outages are told of once until they are over; anything else is a mistake of ours, and told of each time. */
function observerOf(observe: DeliveryObserver): WorkerObserver {
  const outage = tellOnce((error) => observe.unavailable('webhooks', error));
  return {
    failed(error) {
      if (error instanceof ApiError || error instanceof KeyringError) outage.failed(error);
      else observe.internalError(randomId(), 'webhooks', error);
    },
    recovered: outage.recovered,
  };
}
