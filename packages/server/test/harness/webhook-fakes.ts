import type { DeliveryResult, DueDelivery, WebhookEndpoint } from '../../src/domains/webhooks/model.ts';
import type { Receipt } from '../../src/domains/webhooks/poster/posting.ts';
import { WebhookReader } from '../../src/domains/webhooks/store/webhook-reader.ts';
import {
  type OrganizationId,
  randomId,
  type WebhookDeliveryId,
  type WebhookEndpointId,
  type WebhookEventId,
} from '../../src/lib/ids.ts';
import { Fence } from '../../src/storage/fence.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { fakeStores } from './fake-stores.ts';

// Stand-ins for what the dispatcher works with, which a test can make slow or take away.

export const ORGANIZATION = randomId() as OrganizationId;

export const endpointOf = (extra: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
  id: randomId() as WebhookEndpointId,
  organizationId: ORGANIZATION,
  name: 'receiver',
  url: 'https://receiver.example/',
  isActive: true,
  isFeature: false,
  includesDescription: false,
  subscriptions: [],
  createdAtMs: 0,
  updatedAtMs: 0,
  ...extra,
});

let lastSeq = 0;

export const deliveryOf = (endpoint: WebhookEndpoint, extra: Partial<DueDelivery> = {}): DueDelivery => ({
  id: randomId() as WebhookDeliveryId,
  organizationId: endpoint.organizationId,
  endpointId: endpoint.id,
  eventId: randomId() as WebhookEventId,
  eventType: 'ACTIVITY_UPDATES',
  aboutId: endpoint.organizationId,
  includesDescription: endpoint.includesDescription,
  state: 'pending',
  failures: 0,
  attempts: [],
  nextAttemptAtMs: 0,
  roundStartedAtMs: 0,
  createdAtMs: 0,
  updatedAtMs: 0,
  seq: ++lastSeq,
  body: '{}',
  ...extra,
});

export const DELIVERED: Receipt = { latencyMs: 1, status: 200 };
export const REFUSED: Receipt = { latencyMs: 1, status: 500 };
export const BROKEN_OFF: Receipt = { latencyMs: 1, error: 'network' };

interface FakeEndpointQueue {
  owner: string;
  claimedUntilMs: number;
  restingUntilMs: number;
  failures: number;
}

/** The part of the store that the dispatcher uses, in memory: the stored of every endpoint and who works on it. */
export class FakeDeliveries {
  readonly endpoints = new Map<WebhookEndpointId, WebhookEndpoint>();
  readonly queues = new Map<WebhookEndpointId, FakeEndpointQueue>();
  readonly pending = new Map<WebhookDeliveryId, DueDelivery>();
  readonly recorded: DeliveryResult[] = [];
  /** What was read at once, of each batch. */
  readonly batches: { readonly fresh: number; readonly retries: number }[] = [];
  /** Is asked before each call; throws for a database that is away. */
  before: (method: string) => void = () => {};
  /** Is waited for between what a batch found and its answer. */
  afterRead: () => Promise<void> = async () => {};
  /** Is told when somebody found nothing to send. */
  emptied: () => void = () => {};

  add(
    endpoint: WebhookEndpoint,
    deliveries: readonly DueDelivery[] = [],
    queue: Partial<FakeEndpointQueue> = {},
  ): void {
    this.endpoints.set(endpoint.id, endpoint);
    this.queues.set(endpoint.id, { owner: '', claimedUntilMs: 0, restingUntilMs: 0, failures: 0, ...queue });
    for (const delivery of deliveries) this.pending.set(delivery.id, delivery);
  }

  #due(endpointId: WebhookEndpointId, nowMs: number): DueDelivery[] {
    return [...this.pending.values()].filter(
      (delivery) => delivery.endpointId === endpointId && delivery.nextAttemptAtMs <= nowMs,
    );
  }

  readonly #store = {
    findEndpoint: async (_organizationId: OrganizationId, id: WebhookEndpointId) => {
      const endpoint = this.endpoints.get(id);
      if (endpoint?.isActive !== true) this.emptied();
      return endpoint;
    },
    dueQueues: async (nowMs: number, limit: number, after: WebhookEndpointId | '' = '') => {
      const due = new Set<WebhookEndpointId>();
      for (const { endpointId, nextAttemptAtMs } of this.pending.values()) {
        if (nextAttemptAtMs <= nowMs) due.add(endpointId);
      }
      return [...this.queues]
        .filter(([id, queue]) => id > after && queue.claimedUntilMs <= nowMs && queue.restingUntilMs <= nowMs)
        .filter(([id]) => due.has(id) && this.endpoints.get(id)?.isActive === true)
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .slice(0, limit)
        .map(([endpointId, { failures }]) => ({ endpointId, organizationId: ORGANIZATION, failures }));
    },
    batch: async (
      _organizationId: OrganizationId,
      endpointId: WebhookEndpointId,
      nowMs: number,
      limits: { readonly fresh: number; readonly retries: number; readonly behind?: number },
    ) => {
      const { behind = 0 } = limits;
      this.batches.push({ fresh: limits.fresh, retries: limits.retries });
      const due = this.#due(endpointId, nowMs);
      const fresh = due
        .filter(({ nextAttemptAtMs, seq }) => nextAttemptAtMs === 0 && seq > behind)
        .slice(0, limits.fresh);
      const retries = due.filter(({ nextAttemptAtMs }) => nextAttemptAtMs > 0);
      retries.sort((one, other) => one.nextAttemptAtMs - other.nextAttemptAtMs);
      const batch = [...fresh, ...retries.slice(0, limits.retries)];
      if (due.length === 0) this.emptied();
      await this.afterRead();
      return { due: batch, refused: [] };
    },
    claimQueue: async (id: WebhookEndpointId, owner: string, nowMs: number, untilMs: number) => {
      const queue = this.queues.get(id);
      if (queue === undefined || queue.restingUntilMs > nowMs) return undefined;
      if (queue.claimedUntilMs > nowMs && queue.owner !== owner) return undefined;
      Object.assign(queue, { owner, claimedUntilMs: untilMs });
      return { organizationId: ORGANIZATION, failures: queue.failures };
    },
    renewQueues: async (owner: string, nowMs: number, untilMs: number) => {
      const held = [...this.queues].filter(([, queue]) => queue.owner === owner && queue.claimedUntilMs > nowMs);
      for (const [, queue] of held) queue.claimedUntilMs = untilMs;
      return held.map(([id]) => id);
    },
    releaseQueue: async (
      id: WebhookEndpointId,
      owner: string,
      { failures, restingUntilMs }: { readonly failures: number; readonly restingUntilMs: number },
    ) => {
      const queue = this.queues.get(id);
      if (queue?.owner !== owner) return false;
      Object.assign(queue, { owner: '', claimedUntilMs: 0, failures, restingUntilMs });
      return true;
    },
    releaseOwner: async (owner: string) => {
      for (const queue of this.queues.values()) {
        if (queue.owner === owner) Object.assign(queue, { owner: '', claimedUntilMs: 0 });
      }
    },
    releaseAllQueues: async () => {
      for (const queue of this.queues.values()) Object.assign(queue, { owner: '', claimedUntilMs: 0 });
    },
    record: async (results: readonly DeliveryResult[]) => {
      for (const result of results) {
        const { delivery, state, nextAttemptAtMs, attempt } = result;
        const before = this.pending.get(delivery.id);
        if (before === undefined || before.failures !== delivery.failures) continue;
        this.recorded.push(result);
        const failures = before.failures + (state === 'delivered' ? 0 : 1);
        if (state !== 'pending') this.pending.delete(delivery.id);
        else {
          const attempts = [...before.attempts, attempt];
          this.pending.set(delivery.id, { ...before, failures, attempts, nextAttemptAtMs });
        }
      }
      return results.length;
    },
    deactivate: async (_organizationId: OrganizationId, id: WebhookEndpointId, url: string) => {
      const endpoint = this.endpoints.get(id);
      if (endpoint?.isActive !== true || endpoint.url !== url) return false;
      this.endpoints.set(id, { ...endpoint, isActive: false });
      return true;
    },
  };

  /** Under `sqlite` queues wait for a wake alone; under `postgres` they look for themselves. */
  storage(kind: Storage['kind'] = 'sqlite'): Storage {
    type Call = (...values: unknown[]) => Promise<unknown>;
    const calls = Object.entries(this.#store) as [string, Call][];
    const webhooks = Object.fromEntries(
      calls.map(([method, call]): [string, Call] => [
        method,
        async (...values) => {
          await undefined;
          this.before(method);
          return await call(...values);
        },
      ]),
    );
    const stores = fakeStores([WebhookReader, webhooks]);
    return {
      kind,
      fence: Fence.down(),
      read: stores,
      write: (unit: (store: typeof stores) => Promise<unknown>) => unit(stores),
      close: async () => {},
    } as unknown as Storage;
  }
}
