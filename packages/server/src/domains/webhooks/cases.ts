import { randomUUID } from 'node:crypto';
import { expect, vi } from 'vitest';
import { endpointParams, makeRoom, newIdleEndpoint } from '../../../test/fixtures/endpoints.ts';
import type { TestClient } from '../../../test/harness/client.ts';
import type { DomainCases } from '../../../test/operations/domain-cases.ts';
import { anId, PAGE_INFO, type World } from '../../../test/operations/every-case.ts';
import { byRoot, fresh } from '../../../test/operations/hostile-case.ts';

const RFC_3339 = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** About an activity that no test here does, so that nothing is sent which was not asked for. */
const SUBSCRIPTION = {
  eventType: 'ACTIVITY_UPDATES',
  filtersJson: '{"activityTypes":["ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE"]}',
  isActive: true,
};

const params = ({ outside }: World) => ({
  url: `${outside.issuer}/hooks?${randomUUID()}`,
  name: `Hook ${randomUUID()}`,
  subscriptions: [SUBSCRIPTION],
});

const anEndpoint = ({ root: { organizationId } }: World, given: Record<string, unknown>) => ({
  endpointId: anId,
  organizationId,
  isActive: true,
  includeDescription: false,
  ...given,
});

const endpoints = async (reader: TestClient) => (await reader.query('list_webhook_endpoints')).body.webhookEndpoints;

const deliveries = async (reader: TestClient, endpointId: string) =>
  (await reader.query('list_webhook_deliveries', { endpointId })).body.webhookDeliveries;

const newEndpoint = async (world: World, extra: Record<string, unknown> = {}): Promise<string> =>
  (await world.root.run('create_webhook_endpoint', { ...params(world), ...extra })).endpointId;

/** An endpoint to which something was sent. */
async function newDelivery(world: World): Promise<{ endpointId: string; deliveryId: string }> {
  const endpointId = await newEndpoint(world);
  const { deliveryId } = await world.root.run('test_webhook_endpoint', { endpointId });
  return { endpointId, deliveryId };
}

const ATTEMPT = { attemptedAt: RFC_3339, latencyMs: expect.any(Number), status: 200 };

const aDelivery = ({ organizationId }: TestClient, endpointId: unknown, attempts: readonly unknown[]) => ({
  deliveryId: anId,
  endpointId,
  eventId: anId,
  eventType: 'WEBHOOK_TEST',
  organizationId,
  state: 'WEBHOOK_DELIVERY_STATE_DELIVERED',
  attempts,
  createdAt: RFC_3339,
  updatedAt: RFC_3339,
});

const noEndpoint = (parameters: unknown) => ({ parameters, status: 404, code: 'WEBHOOK_ENDPOINT_NOT_FOUND' });

export const cases: DomainCases = {
  create_webhook_endpoint: {
    activity: {
      intentKey: 'createWebhookEndpointIntent',
      resultKey: 'createWebhookEndpointResult',
      arrange: async (world) => {
        const parameters = { ...params(world), includeDescription: true };
        return {
          parameters,
          result: { endpointId: anId, webhookEndpoint: anEndpoint(world, parameters) },
          holds: async (reader) => expect(await endpoints(reader)).toEqual([anEndpoint(world, parameters)]),
          absent: async (reader) => expect(await endpoints(reader)).toEqual([]),
        };
      },
    },
    hostile: byRoot(async (tenant) => {
      await makeRoom(tenant.root);
      return { ...endpointParams(tenant, fresh(tenant)), includeDescription: true };
    }),
  },
  update_webhook_endpoint: {
    activity: {
      intentKey: 'updateWebhookEndpointIntent',
      resultKey: 'updateWebhookEndpointResult',
      arrange: async (world) => {
        const before = params(world);
        const endpointId = await newEndpoint(world, before);
        const change = {
          url: `${world.outside.issuer}/other`,
          name: `Other ${randomUUID()}`,
          isActive: false,
          includeDescription: true,
        };
        const after = anEndpoint(world, { ...before, ...change });
        return {
          parameters: { endpointId, ...change },
          result: { endpointId, webhookEndpoint: after },
          holds: async (reader) => expect(await endpoints(reader)).toEqual([after]),
          absent: async (reader) => expect(await endpoints(reader)).toEqual([anEndpoint(world, before)]),
        };
      },
      foreign: async (_world, other) => noEndpoint({ endpointId: await newEndpoint(other), isActive: false }),
    },
    hostile: byRoot(async (tenant) => ({
      endpointId: await newIdleEndpoint(tenant, fresh(tenant)),
      url: tenant.outside.hook(fresh(tenant)),
      name: fresh(tenant),
      isActive: false,
      includeDescription: true,
    })),
  },
  delete_webhook_endpoint: {
    activity: {
      intentKey: 'deleteWebhookEndpointIntent',
      resultKey: 'deleteWebhookEndpointResult',
      arrange: async (world) => {
        const { endpointId } = await newDelivery(world);
        const listed = async (reader: TestClient) =>
          (await reader.query('list_webhook_deliveries')).body.webhookDeliveries.length;
        return {
          parameters: { endpointId },
          result: { endpointId },
          holds: async (reader) => expect([await endpoints(reader), await listed(reader)]).toEqual([[], 0]),
          absent: async (reader) => expect([await endpoints(reader), await listed(reader)]).toMatchObject([[{}], 1]),
        };
      },
      foreign: async (_world, other) => noEndpoint({ endpointId: await newEndpoint(other) }),
    },
    hostile: byRoot(async (tenant) => ({ endpointId: await newIdleEndpoint(tenant, fresh(tenant)) })),
  },
  replay_webhook_delivery: {
    activity: {
      intentKey: 'replayWebhookDeliveryIntent',
      resultKey: 'replayWebhookDeliveryResult',
      arrange: async (world) => {
        const { endpointId, deliveryId } = await newDelivery(world);
        const attempts = (count: number) => [aDelivery(world.root, endpointId, Array(count).fill(ATTEMPT))];
        const sent = async (reader: TestClient, count: number) =>
          expect(await deliveries(reader, endpointId)).toEqual(attempts(count));
        return {
          parameters: { endpointId, deliveryId },
          result: { endpointId, replayedCount: 1, hasMore: false },
          holds: (reader) => vi.waitFor(() => sent(reader, 2), { timeout: 10_000, interval: 20 }),
          absent: (reader) => sent(reader, 1),
        };
      },
      foreign: async (world, other) => {
        const theirs = await newDelivery(other);
        const endpointId = await newEndpoint(world);
        expect((await world.root.submit('replay_webhook_delivery', theirs)).body.errorCode).toBe(
          'WEBHOOK_ENDPOINT_NOT_FOUND',
        );
        const { deliveryId } = await newDelivery(world);
        // Of another endpoint of the same organization is no better.
        const elsewhere = await world.root.submit('replay_webhook_delivery', { endpointId, deliveryId });
        expect(elsewhere.body.errorCode).toBe('WEBHOOK_DELIVERY_NOT_FOUND');
        return { parameters: { ...theirs, endpointId }, status: 404, code: 'WEBHOOK_DELIVERY_NOT_FOUND' };
      },
    },
    // Either the one delivery or those since a time.
    hostile: byRoot(({ ids }) => ({ endpointId: ids.webhookEndpoint, deliveryId: ids.webhookDelivery })),
  },
  test_webhook_endpoint: {
    activity: {
      intentKey: 'testWebhookEndpointIntent',
      resultKey: 'testWebhookEndpointResult',
      arrange: async (world) => {
        const endpointId = await newEndpoint(world);
        return {
          parameters: { endpointId },
          result: { endpointId, deliveryId: anId, eventId: anId, delivered: true, attempt: ATTEMPT },
          holds: async (reader) =>
            expect(await deliveries(reader, endpointId)).toEqual([aDelivery(world.root, endpointId, [ATTEMPT])]),
          absent: async (reader) => expect(await deliveries(reader, endpointId)).toEqual([]),
        };
      },
      foreign: async (_world, other) => noEndpoint({ endpointId: await newEndpoint(other) }),
    },
    hostile: byRoot(({ ids }) => ({ endpointId: ids.webhookEndpoint })),
  },
  list_webhook_endpoints: {
    query: {
      parameters: async (world) => {
        await newEndpoint(world, { name: 'First' });
        await newEndpoint(world, { name: 'Second', subscriptions: [] });
        return {};
      },
      answer: (world) => ({
        webhookEndpoints: [
          anEndpoint(world, { name: 'First', url: expect.any(String), subscriptions: [SUBSCRIPTION] }),
          anEndpoint(world, { name: 'Second', url: expect.any(String), subscriptions: [] }),
        ],
        pageInfo: PAGE_INFO,
      }),
    },
    hostile: byRoot(() => ({})),
  },
  list_webhook_deliveries: {
    ids: { filterByActivityId: [] },
    query: {
      parameters: async (world) => {
        await newDelivery(world);
        const { endpointId } = await newDelivery(world);
        return { endpointId, state: 'WEBHOOK_DELIVERY_STATE_DELIVERED' };
      },
      answer: ({ root }) => ({ webhookDeliveries: [aDelivery(root, anId, [ATTEMPT])], pageInfo: PAGE_INFO }),
    },
    hostile: byRoot(({ ids }) => ({
      endpointId: ids.webhookEndpoint,
      eventId: ids.webhookEvent,
      filterByActivityId: ids.activity,
      state: 'WEBHOOK_DELIVERY_STATE_DELIVERED',
    })),
  },
  get_webhook_delivery: {
    query: {
      parameters: async (world) => ({ deliveryId: (await newDelivery(world)).deliveryId }),
      answer: ({ root }) => ({
        webhookDelivery: {
          ...aDelivery(root, anId, [ATTEMPT]),
          payload: expect.stringContaining(root.organizationId),
          headers: expect.objectContaining({
            'Content-Type': 'application/json',
            'X-Service-Event-Id': anId,
            'X-Service-Organization-Id': root.organizationId,
            'X-Service-Event-Type': 'WEBHOOK_TEST',
          }),
          headersPerAttempt: expect.arrayContaining(['X-Service-Signature', 'X-Service-Timestamp']),
        },
      }),
    },
    hostile: byRoot(({ ids }) => ({ deliveryId: ids.webhookDelivery })),
  },
  get_webhook_statistics: {
    query: {
      parameters: async (world) => {
        const { endpointId } = await newDelivery(world);
        return { endpointId, sinceMs: String(Date.now() - 60_000), bucketMs: '3600000' };
      },
      answer: () => ({ buckets: expect.any(Array), succeeded: 1, failed: 0, waiting: 0, failedForGood: 0 }),
    },
    hostile: byRoot(({ ids }) => ({
      endpointId: ids.webhookEndpoint,
      sinceMs: String(Date.now() - 60_000),
      bucketMs: '60000',
    })),
  },
};
