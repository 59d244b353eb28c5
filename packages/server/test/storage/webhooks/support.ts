import { afterAll, beforeAll, expect } from 'vitest';
import type {
  DeliveryResult,
  WebhookAttempt,
  WebhookDeliveryState,
  WebhookEndpoint,
  WebhookEvent,
} from '../../../src/domains/webhooks/model.ts';
import { WebhookReader } from '../../../src/domains/webhooks/store/webhook-reader.ts';
import { WebhookStore } from '../../../src/domains/webhooks/store/webhooks.ts';
import { type OrganizationId, randomId, type WebhookDeliveryId, type WebhookEndpointId } from '../../../src/lib/ids.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { DatabaseKind } from '../../harness/databases.ts';
import { builderOf, NOW, Place, withOrganization } from '../place.ts';

// Webhook endpoints, the queue of their deliveries and what is kept of them, on both databases.

export const ALL = { kind: 'all', max: 1000 } as const;

export const TABLES = ['webhook_endpoint', 'webhook_event', 'webhook_delivery', 'webhook_lane'] as const;

export const endpointOf = (organizationId: OrganizationId, extra: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
  id: randomId(),
  organizationId,
  name: randomId(),
  url: 'https://example.org/hook',
  isActive: true,
  isFeature: false,
  includesDescription: false,
  subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson: '{"é":"😀"}', isActive: true }],
  createdAtMs: NOW,
  updatedAtMs: NOW + 1,
  ...extra,
});

export const eventOf = (organizationId: OrganizationId, extra: Partial<WebhookEvent> = {}): WebhookEvent => ({
  organizationId,
  id: randomId(),
  type: 'ACTIVITY_UPDATES',
  aboutId: organizationId,
  body: '{"text":"é😀\\u0000"}',
  createdAtMs: NOW,
  ...extra,
});

export const attempt = (extra: Partial<WebhookAttempt> = {}): WebhookAttempt => ({
  atMs: NOW,
  latencyMs: 12,
  status: 500,
  answer: 'no\u0000\ud800"é',
  ...extra,
});

export const idsOf = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);

/** Opened before the tests of a file, closed after them. */
export function openWebhooks(kind: DatabaseKind) {
  let place: Place;
  let storage: Storage;

  beforeAll(async () => {
    place = await Place.create(kind);
    storage = await place.open();
  });

  afterAll(() => place[Symbol.asyncDispose]());

  /** The queue knows no organization, so that each test begins with none but its own rows. */
  async function setUp() {
    const write = storage.write.bind(storage);
    await write(async (store) => {
      for (const table of TABLES) await builderOf(store).deleteFrom(table).execute();
    });
    const parent = await withOrganization(storage);
    const child = await withOrganization(storage, { parentId: parent.id });
    const addEndpoint = async (organizationId: OrganizationId, extra: Partial<WebhookEndpoint> = {}) => {
      const made = endpointOf(organizationId, extra);
      await write((store) => store(WebhookStore).insertEndpoint(made));
      return made;
    };
    /** An event for these endpoints; answers with the ids of the deliveries. */
    const tell = async (endpoints: readonly WebhookEndpoint[], extra: Partial<WebhookEvent> = {}) => {
      const event = eventOf(endpoints[0]?.organizationId as OrganizationId, extra);
      const made = endpoints.map(({ id }) => ({ id: randomId() as WebhookDeliveryId, endpointId: id }));
      await write((store) => store(WebhookStore).insertEvent(event, made));
      return { event, ids: idsOf(made) as WebhookDeliveryId[] };
    };
    const batch = async (
      endpoint: WebhookEndpoint,
      nowMs = NOW,
      limits: Parameters<WebhookReader['batch']>[3] = { fresh: 100, retries: 100 },
    ) => (await storage.read(WebhookReader).batch(endpoint.organizationId, endpoint.id, nowMs, limits)).due;
    const record = (results: readonly DeliveryResult[], nowMs = NOW) =>
      write((store) => store(WebhookStore).record(results, nowMs));
    /** Makes the deliveries of an endpoint that wait for their first attempt what `state` says. */
    const settle = async (
      endpoint: WebhookEndpoint,
      state: WebhookDeliveryState,
      nextAttemptAtMs = NOW + 5000,
    ): Promise<void> => {
      const due = await batch(endpoint, NOW, { fresh: 100, retries: 0 });
      const results = due.map((delivery) => ({ delivery, attempt: attempt(), state, nextAttemptAtMs }));
      expect(await record(results)).toBe(due.length);
    };
    const dueIds = async (nowMs = NOW, limit = 100, after?: WebhookEndpointId) =>
      (await storage.read(WebhookReader).dueQueues(nowMs, limit, after)).map(({ endpointId }) => endpointId);
    const claim = (endpointId: WebhookEndpointId, owner: string, nowMs = NOW, untilMs = nowMs + 10_000) =>
      write((store) => store(WebhookStore).claimQueue(endpointId, owner, nowMs, untilMs));
    const rows = async (table: (typeof TABLES)[number]): Promise<number> =>
      (await write((store) => builderOf(store).selectFrom(table).selectAll().execute())).length;
    const stateOf = async (organizationId: OrganizationId, id: string): Promise<string> => {
      const found = await storage.read(WebhookReader).deliveries(organizationId, {}, ALL);
      return found.items.find((delivery) => delivery.id === id)?.state ?? 'none';
    };
    const read = storage.read(WebhookReader);
    return { write, read, parent, child, addEndpoint, tell, batch, record, settle, dueIds, claim, rows, stateOf };
  }

  return {
    setUp,
    get storage() {
      return storage;
    },
  };
}
