import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import {
  type DeliveryResult,
  type DueDelivery,
  WEBHOOK_DELIVERY_STATES,
  type WebhookAttempt,
  type WebhookDeliveryState,
  type WebhookEndpoint,
  type WebhookEvent,
} from '../../src/domains/webhooks/model.ts';
import { WebhookReader } from '../../src/domains/webhooks/store/webhook-reader.ts';
import { WebhookStore } from '../../src/domains/webhooks/store/webhooks.ts';
import {
  type OrganizationId,
  randomId,
  type WebhookDeliveryId,
  type WebhookEndpointId,
  type WebhookEventId,
} from '../../src/lib/ids.ts';
import type { PageRequest } from '../../src/lib/pagination.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { builderOf, codeOf, NOW, Place, times, withOrganization } from './place.ts';

// Webhook endpoints, the queue of their deliveries and what is kept of them, on both databases.

const ALL = { kind: 'all', max: 1000 } as const;
const TABLES = ['webhook_endpoint', 'webhook_event', 'webhook_delivery', 'webhook_lane'] as const;

const endpointOf = (organizationId: OrganizationId, extra: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
  id: randomId(),
  organizationId,
  name: randomId(),
  url: 'https://example.org/hook',
  isActive: true,
  isFeature: false,
  subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson: '{"é":"😀"}', isActive: true }],
  createdAtMs: NOW,
  updatedAtMs: NOW + 1,
  ...extra,
});
const eventOf = (organizationId: OrganizationId, extra: Partial<WebhookEvent> = {}): WebhookEvent => ({
  organizationId,
  id: randomId(),
  type: 'ACTIVITY_UPDATES',
  aboutId: organizationId,
  body: '{"text":"é😀\\u0000"}',
  createdAtMs: NOW,
  ...extra,
});
const attempt = (extra: Partial<WebhookAttempt> = {}): WebhookAttempt => ({
  atMs: NOW,
  latencyMs: 12,
  status: 500,
  answer: 'no\u0000\ud800"é',
  ...extra,
});
const idsOf = (items: readonly { readonly id: string }[]): string[] => items.map(({ id }) => id);

describe.each(DATABASES)('webhooks on %s', (kind) => {
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
    const batch = (
      endpoint: WebhookEndpoint,
      nowMs = NOW,
      limits: Parameters<WebhookReader['batch']>[3] = { fresh: 100, retries: 100 },
    ) => storage.read(WebhookReader).batch(endpoint.organizationId, endpoint.id, nowMs, limits);
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
      (await storage.read(WebhookReader).dueLanes(nowMs, limit, after)).map(({ endpointId }) => endpointId);
    const claim = (endpointId: WebhookEndpointId, owner: string, nowMs = NOW, untilMs = nowMs + 10_000) =>
      write((store) => store(WebhookStore).claimLane(endpointId, owner, nowMs, untilMs));
    const rows = async (table: (typeof TABLES)[number]): Promise<number> =>
      (await write((store) => builderOf(store).selectFrom(table).select('organization_id').execute())).length;
    const stateOf = async (organizationId: OrganizationId, id: string): Promise<string> => {
      const found = await storage.read(WebhookReader).deliveries(organizationId, {}, ALL);
      return found.items.find((delivery) => delivery.id === id)?.state ?? 'none';
    };
    const read = storage.read(WebhookReader);
    return { write, read, parent, child, addEndpoint, tell, batch, record, settle, dueIds, claim, rows, stateOf };
  }

  describe('endpoints', () => {
    test('come back as they went in, oldest first, to their organization alone', async () => {
      const { read, parent, child, addEndpoint } = await setUp();
      const made = [
        await addEndpoint(parent.id, { name: 'Straße' }),
        await addEndpoint(parent.id, { isActive: false, isFeature: true, subscriptions: [] }),
        await addEndpoint(parent.id, { name: 'strasse' }),
      ];
      const [first] = made as [WebhookEndpoint];
      const other = await addEndpoint(child.id, { name: 'Straße' });
      expect(await read.endpoints(parent.id)).toEqual(made);
      expect(await read.endpoints(child.id)).toEqual([other]);
      expect(await read.getEndpoint(parent.id, first.id)).toEqual(first);
      expect(await read.findEndpoint(parent.id, first.id)).toEqual(first);
      expect(await read.countEndpoints(parent.id)).toBe(2);
      expect(await read.findEndpoint(child.id, first.id)).toBeUndefined();
      expect(await codeOf(read.getEndpoint(child.id, first.id))).toBe('WEBHOOK_ENDPOINT_NOT_FOUND');
    });

    test('have a name of their own in their organization', async () => {
      const { write, parent, child, addEndpoint } = await setUp();
      const one = await addEndpoint(parent.id, { name: 'one' });
      expect(await codeOf(addEndpoint(parent.id, { name: 'one' }))).toBe('ALREADY_EXISTS');
      await addEndpoint(child.id, { name: 'one' });
      const two = await addEndpoint(parent.id, { name: 'two' });
      const rename = (name: string) =>
        codeOf(write((store) => store(WebhookStore).updateEndpoint({ ...two, name, updatedAtMs: NOW + 9 })));
      expect(await rename(one.name)).toBe('ALREADY_EXISTS');
      expect(await rename('three')).toBe('done');
    });

    test('are changed, and then tried again at once', async () => {
      const { write, read, parent, child, addEndpoint, tell, claim, dueIds } = await setUp();
      const made = await addEndpoint(parent.id);
      await tell([made]);
      await claim(made.id, 'me');
      const end = { failures: 7, restingUntilMs: NOW + 60_000 };
      await write((store) => store(WebhookStore).releaseLane(made.id, 'me', end));
      expect(await dueIds()).toEqual([]);
      const changed = { ...made, name: 'other', url: 'https://example.org/other', updatedAtMs: NOW + 9 };
      await write((store) => store(WebhookStore).updateEndpoint(changed));
      expect(await read.getEndpoint(parent.id, made.id)).toEqual(changed);
      expect(await read.dueLanes(NOW, 10)).toEqual([{ endpointId: made.id, organizationId: parent.id, failures: 0 }]);
      const foreign = write((store) => store(WebhookStore).updateEndpoint({ ...changed, organizationId: child.id }));
      expect(await codeOf(foreign)).toBe('WEBHOOK_ENDPOINT_NOT_FOUND');
    });

    test('of an organization and its parent listen while they are active', async () => {
      const { read, parent, child, addEndpoint } = await setUp();
      const [own, above] = [await addEndpoint(child.id), await addEndpoint(parent.id)];
      await addEndpoint(child.id, { isActive: false });
      await addEndpoint(parent.id, { isActive: false });
      const listening = await read.listeners(child.id, parent.id);
      expect(listening.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([own, above]);
      expect(await read.listeners(child.id, undefined)).toEqual([own]);
      expect(await read.listeners(parent.id, undefined)).toEqual([above]);
      expect(await read.listeners(randomId(), randomId())).toEqual([]);
    });

    test('are switched off once, and not when they go elsewhere by now', async () => {
      const { write, read, parent, child, addEndpoint } = await setUp();
      const { id, url } = await addEndpoint(parent.id);
      const off = (organizationId: OrganizationId, target: string) =>
        write((store) => store(WebhookStore).deactivate(organizationId, id, target, NOW + 5));
      expect(await off(parent.id, `${url}/before`)).toBe(false);
      expect(await off(child.id, url)).toBe(false);
      expect((await read.getEndpoint(parent.id, id)).isActive).toBe(true);
      expect(await off(parent.id, url)).toBe(true);
      expect(await read.getEndpoint(parent.id, id)).toMatchObject({ isActive: false, updatedAtMs: NOW + 5 });
      expect(await off(parent.id, url)).toBe(false);
    });

    test('go, then their deliveries by and by, and leave those of others', async () => {
      const { write, read, parent, child, addEndpoint, tell, rows, dueIds, batch, claim } = await setUp();
      const [gone, kept] = [await addEndpoint(parent.id), await addEndpoint(parent.id)];
      const { ids, event } = await tell([gone, kept]);
      await tell([gone]);
      const remove = (organizationId: OrganizationId) =>
        codeOf(write((store) => store(WebhookStore).deleteEndpoint(organizationId, gone.id)));
      expect(await remove(child.id)).toBe('WEBHOOK_ENDPOINT_NOT_FOUND');
      expect(await rows('webhook_delivery')).toBe(3);
      expect(await remove(parent.id)).toBe('done');
      expect(await remove(parent.id)).toBe('WEBHOOK_ENDPOINT_NOT_FOUND');
      expect(await dueIds()).toEqual([kept.id]);
      expect(idsOf(await batch(kept))).toEqual([ids[1]]);
      expect(await claim(gone.id, 'somebody')).toBeUndefined();
      // Nothing is shown of them, although they are still there.
      const shown = async (filter: Parameters<typeof read.deliveries>[1]) =>
        idsOf((await read.deliveries(parent.id, filter, ALL)).items);
      for (const filter of [{}, { eventId: event.id }, { state: 'pending' as const }]) {
        expect(await shown(filter)).toEqual([ids[1]]);
      }
      expect(await shown({ endpointId: gone.id })).toEqual([]);
      expect(await Promise.all(TABLES.map(rows))).toEqual([1, 2, 3, 2]);
      const purge = () => write((store) => store(WebhookStore).purge(1));
      expect([await purge(), await purge(), await purge(), await purge()]).toEqual([1, 1, 1, 0]);
      expect(await Promise.all(TABLES.map(rows))).toEqual([1, 2, 1, 1]);
    });
  });

  describe('the queue', () => {
    test('has first attempts in the order of what happened, then the retries that are due', async () => {
      const { parent, addEndpoint, tell, batch, record } = await setUp();
      const [one, two] = [await addEndpoint(parent.id), await addEndpoint(parent.id)];
      const told = [];
      // The newest id first, so that it is not the order of ids that is kept.
      const ids = times(6, () => randomId<'webhook-event'>()).reverse();
      for (const id of ids) told.push(await tell([two, one], { id, aboutId: randomId() }));
      const due = await batch(one);
      expect(due.map(({ eventId }) => eventId)).toEqual(ids);
      const [first] = told as [Awaited<ReturnType<typeof tell>>];
      expect(due[0]).toEqual({
        id: first.ids[1] as WebhookDeliveryId,
        organizationId: parent.id,
        endpointId: one.id,
        eventId: first.event.id,
        eventType: 'ACTIVITY_UPDATES',
        aboutId: first.event.aboutId,
        state: 'pending',
        failures: 0,
        attempts: [],
        nextAttemptAtMs: 0,
        roundStartedAtMs: NOW,
        createdAtMs: NOW,
        updatedAtMs: NOW,
        seq: expect.any(Number),
        body: first.event.body,
      } satisfies DueDelivery);
      const behind = async (index: number) => {
        const limits = { fresh: 3, retries: 3, behind: due[index]?.seq ?? 0 };
        return (await batch(one, NOW, limits)).map(({ eventId }) => ids.indexOf(eventId));
      };
      expect([await behind(0), await behind(3), await behind(5)]).toEqual([[1, 2, 3], [4, 5], []]);
      const retryAt = [30, 20, 20, 40];
      const results = retryAt.map((later, index) => ({
        delivery: due[index] as DueDelivery,
        attempt: attempt(),
        state: 'pending' as const,
        nextAttemptAtMs: NOW + later,
      }));
      expect(await record(results)).toBe(4);
      const orderAt = async (nowMs: number, limits?: { fresh: number; retries: number }) =>
        (await batch(one, nowMs, limits)).map(({ eventId }) => ids.indexOf(eventId));
      expect(await orderAt(NOW)).toEqual([4, 5]);
      expect(await orderAt(NOW + 30)).toEqual([1, 4, 5, 2, 0]);
      expect(await orderAt(NOW + 30, { fresh: 1, retries: 2 })).toEqual([1, 4, 2]);
      expect(await orderAt(NOW + 30, { fresh: 0, retries: 1 })).toEqual([1]);
      expect(await orderAt(NOW + 40, { fresh: 9, retries: 0 })).toEqual([4, 5]);
      expect(await batch({ ...one, organizationId: randomId() }, NOW + 40)).toEqual([]);
      expect(await batch(two, NOW + 40)).toHaveLength(6);
    });

    test('has nothing of what was rolled back', async () => {
      const { write, parent, addEndpoint, batch, rows } = await setUp();
      const endpoint = await addEndpoint(parent.id);
      const failed = write(async (store) => {
        await store(WebhookStore).insertEvent(eventOf(parent.id), [{ id: randomId(), endpointId: endpoint.id }]);
        throw new Error('rolled back');
      });
      await expect(failed).rejects.toThrow('rolled back');
      expect(await batch(endpoint)).toEqual([]);
      expect(await rows('webhook_event')).toBe(0);
    });

    test('names the active endpoints that have something due, are free and do not rest', async () => {
      const { write, parent, child, addEndpoint, tell, settle, dueIds, claim } = await setUp();
      const made = times(9, (index) => endpointOf(index % 2 === 0 ? parent.id : child.id));
      await write(async (store) => {
        for (const endpoint of made) await store(WebhookStore).insertEndpoint(endpoint);
      });
      const [fresh, retry, later, claimed, resting, off, idle, two, other] = made as [
        ...[WebhookEndpoint, WebhookEndpoint, WebhookEndpoint, WebhookEndpoint, WebhookEndpoint],
        ...[WebhookEndpoint, WebhookEndpoint, WebhookEndpoint, WebhookEndpoint],
      ];
      for (const endpoint of made) if (endpoint !== idle) await tell([endpoint]);
      await tell([two]);
      await settle(retry, 'pending', NOW + 50);
      await settle(later, 'pending', NOW + 51);
      await claim(claimed.id, 'me', NOW, NOW + 51);
      await claim(resting.id, 'me');
      const rest = { failures: 3, restingUntilMs: NOW + 51 };
      await write((store) => store(WebhookStore).releaseLane(resting.id, 'me', rest));
      await write((store) => store(WebhookStore).deactivate(child.id, off.id, off.url, NOW));
      const delivered = await addEndpoint(parent.id);
      await tell([delivered]);
      await settle(delivered, 'delivered');

      const free = [fresh.id, retry.id, two.id, other.id];
      expect(await dueIds(NOW + 50)).toEqual(free);
      expect(await dueIds(NOW + 49)).toEqual([fresh.id, two.id, other.id]);
      expect(await dueIds(NOW + 50, 2)).toEqual(free.slice(0, 2));
      expect(await dueIds(NOW + 50, 2, retry.id)).toEqual(free.slice(2));
      expect(await dueIds(NOW + 50, 9, other.id)).toEqual([]);
      const all = await storage.read(WebhookReader).dueLanes(NOW + 51, 100);
      expect(all.map(({ endpointId }) => endpointId)).toEqual(
        [fresh, retry, later, claimed, resting, two, other].map(({ id }) => id),
      );
      expect(all.find(({ endpointId }) => endpointId === resting.id)).toEqual({
        endpointId: resting.id,
        organizationId: parent.id,
        failures: 3,
      });
    });

    test('gives no more bodies at once than fit, but always one', async () => {
      const { parent, addEndpoint, tell, batch, settle } = await setUp();
      const endpoint = await addEndpoint(parent.id);
      const PART = 64 * 1024;
      for (const length of [5, 1, 2, 3]) await tell([endpoint], { body: 'x'.repeat(length * PART) });
      const lengths = async () => (await batch(endpoint)).map(({ body }) => body.length / PART);
      expect(await lengths()).toEqual([5]);
      await settle(endpoint, 'delivered');
      expect(await lengths()).toEqual([1, 2]);
    });
  });

  describe('bodies', () => {
    test('short and long ones come as they went in, in their order', async () => {
      const { parent, addEndpoint, tell, batch } = await setUp();
      const endpoint = await addEndpoint(parent.id);
      const bodies = ['a'.repeat(4097), 'b'.repeat(4096), '', 'ü'.repeat(4096), '漢'.repeat(4097), '{}'];
      for (const body of bodies) await tell([endpoint], { body });
      const lengths: number[] = [];
      const enter = async (length: number): Promise<void> => void lengths.push(length);
      expect((await batch(endpoint)).map(({ body }) => body)).toEqual(bodies);
      const limits = { fresh: 100, retries: 100 };
      await storage.read(WebhookReader).batch(endpoint.organizationId, endpoint.id, NOW, limits, enter);
      expect(lengths).toEqual([bodies.join('').length]);
    });
  });

  describe('lanes', () => {
    test('go to exactly one of many that want them', async () => {
      const { read, parent, addEndpoint, tell, claim } = await setUp();
      const made = await addEndpoint(parent.id);
      await tell([made]);
      const owners = times(12, (index) => `owner ${index}`);
      const claims = await Promise.all(owners.map((owner) => claim(made.id, owner)));
      expect(claims.filter((won) => won !== undefined)).toEqual([{ organizationId: parent.id, failures: 0 }]);
      expect(await read.dueLanes(NOW, 10)).toEqual([]);
      const winner = owners[claims.findIndex((won) => won !== undefined)] as string;
      expect(await claim(made.id, winner)).toBeDefined();
      expect(await claim(made.id, 'another', NOW + 9999)).toBeUndefined();
      // A claim that ran out is no claim.
      expect(await claim(made.id, 'another', NOW + 10_000)).toBeDefined();
      expect(await claim(made.id, winner, NOW + 10_000)).toBeUndefined();
      expect(await claim(randomId(), 'me')).toBeUndefined();
    });

    test('are renewed by who still has them', async () => {
      const { write, parent, addEndpoint, claim } = await setUp();
      const made = [await addEndpoint(parent.id), await addEndpoint(parent.id), await addEndpoint(parent.id)];
      const [one, two, three] = idsOf(made) as [WebhookEndpointId, WebhookEndpointId, WebhookEndpointId];
      await claim(one, 'me', NOW, NOW + 100);
      await claim(two, 'me', NOW, NOW + 10);
      await claim(three, 'other', NOW, NOW + 100);
      const renew = (nowMs: number, untilMs: number) =>
        write((store) => store(WebhookStore).renewLanes('me', nowMs, untilMs));
      expect(await renew(NOW + 10, NOW + 200)).toEqual([one]);
      expect(await claim(one, 'other', NOW + 199)).toBeUndefined();
      expect(await claim(two, 'other', NOW + 10)).toBeDefined();
      expect(await renew(NOW + 200, NOW + 300)).toEqual([]);
    });

    test('are given back by who has them, with what was learnt', async () => {
      const { write, read, parent, addEndpoint, tell, claim } = await setUp();
      const { id } = await addEndpoint(parent.id);
      await tell([await read.getEndpoint(parent.id, id)]);
      const release = (owner: string) =>
        write((store) => store(WebhookStore).releaseLane(id, owner, { failures: 4, restingUntilMs: NOW + 20 }));
      await claim(id, 'me');
      expect(await release('other')).toBe(false);
      expect(await release('me')).toBe(true);
      expect(await release('me')).toBe(false);
      expect(await read.dueLanes(NOW + 19, 10)).toEqual([]);
      expect(await read.dueLanes(NOW + 20, 10)).toEqual([{ endpointId: id, organizationId: parent.id, failures: 4 }]);
      // Who was woken for a resting one leaves it alone too.
      expect(await claim(id, 'other', NOW + 19)).toBeUndefined();
      expect(await claim(id, 'other', NOW + 20)).toEqual({ organizationId: parent.id, failures: 4 });
    });

    test('of one owner, and of all, can be given back at once', async () => {
      const { write, parent, addEndpoint, tell, claim, dueIds } = await setUp();
      const made = [await addEndpoint(parent.id), await addEndpoint(parent.id), await addEndpoint(parent.id)];
      await tell(made);
      const ids = made.map(({ id }) => id);
      for (const [index, id] of ids.entries()) await claim(id, index < 2 ? 'me' : 'other');
      expect(await dueIds()).toEqual([]);
      await write((store) => store(WebhookStore).releaseOwner('me'));
      expect(await dueIds()).toEqual(ids.slice(0, 2));
      await claim(ids[0] as WebhookEndpointId, 'me');
      await write((store) => store(WebhookStore).releaseAllLanes());
      expect(await dueIds()).toEqual(ids);
    });
  });

  describe('results', () => {
    test('are noted once, whoever else has them too', async () => {
      const { read, parent, child, addEndpoint, tell, batch, record } = await setUp();
      const [one, two] = [await addEndpoint(parent.id), await addEndpoint(child.id)];
      await tell([one]);
      await tell([one]);
      await tell([two]);
      const due = [...(await batch(one)), ...(await batch(two))] as [DueDelivery, DueDelivery, DueDelivery];
      const tried = attempt();
      const results: DeliveryResult[] = [
        { delivery: due[0], attempt: tried, state: 'delivered', nextAttemptAtMs: 0 },
        { delivery: due[1], attempt: tried, state: 'pending', nextAttemptAtMs: NOW + 5 },
        { delivery: due[2], attempt: tried, state: 'failed', nextAttemptAtMs: 0 },
      ];
      const noted = await Promise.all(times(5, () => record(results, NOW + 3)));
      expect(noted.sort()).toEqual([0, 0, 0, 0, 3]);
      const { body: _, seq: __, ...retried } = due[1];
      expect(await read.getDelivery(parent.id, retried.id)).toEqual({
        ...retried,
        failures: 1,
        attempts: [tried],
        nextAttemptAtMs: NOW + 5,
        updatedAtMs: NOW + 3,
      });
      expect(await read.getDelivery(parent.id, due[0].id)).toMatchObject({ state: 'delivered', failures: 0 });
      expect(await read.getDelivery(child.id, due[2].id)).toMatchObject({ state: 'failed', failures: 1 });
      expect(await record([])).toBe(0);
      const foreign = { ...results[1], delivery: { ...due[1], failures: 1, organizationId: child.id } };
      expect(await record([foreign as DeliveryResult])).toBe(0);
    });

    test('of a delivery that is gone changes none that has its number now', async () => {
      const { read, parent, addEndpoint, tell, batch, record, write } = await setUp();
      const [old, other] = [await addEndpoint(parent.id), await addEndpoint(parent.id)];
      await tell([old]);
      const [late] = (await batch(old)) as [DueDelivery];
      await write(async (store) => {
        await store(WebhookStore).deleteEndpoint(parent.id, old.id);
        expect(await store(WebhookStore).purge(10)).toBe(1);
      });
      const { ids } = await tell([other]);
      const [next] = (await batch(other)) as [DueDelivery];
      // As SQLite numbers them; elsewhere it is made so.
      const result = { attempt: attempt(), state: 'delivered', nextAttemptAtMs: 0 } as const;
      if (kind === 'sqlite') expect(next.seq).toBe(late.seq);
      expect(await record([{ ...result, delivery: { ...late, seq: next.seq } }])).toBe(0);
      expect(await read.getDelivery(parent.id, ids[0] as string)).toMatchObject({ state: 'pending', attempts: [] });
    });

    test('of which there are many, are the last ones', async () => {
      const { read, parent, addEndpoint, tell, batch, record } = await setUp();
      const endpoint = await addEndpoint(parent.id);
      const { ids } = await tell([endpoint]);
      for (let index = 0; index < 30; index += 1) {
        const [delivery] = (await batch(endpoint)) as [DueDelivery];
        expect([delivery.failures, delivery.attempts.length]).toEqual([index, Math.min(index, 25)]);
        const result = { delivery, attempt: attempt({ atMs: index }), state: 'pending', nextAttemptAtMs: 1 } as const;
        await record([result]);
      }
      const { attempts, failures } = await read.getDelivery(parent.id, ids[0] as string);
      expect(failures).toBe(30);
      expect(attempts.map(({ atMs }) => atMs)).toEqual(times(25, (index) => index + 5));
    });

    test('that are known before, are written down with their event', async () => {
      const { write, read, parent, addEndpoint, batch } = await setUp();
      const endpoint = await addEndpoint(parent.id);
      for (const state of ['delivered', 'failed'] as const) {
        const event = eventOf(parent.id, { type: 'WEBHOOK_TEST' });
        const finished = { id: randomId<'webhook-delivery'>(), endpointId: endpoint.id, state, attempt: attempt() };
        await write((store) => store(WebhookStore).insertFinished(event, finished));
        expect(await read.getDelivery(parent.id, finished.id)).toEqual({
          id: finished.id,
          organizationId: parent.id,
          endpointId: endpoint.id,
          eventId: event.id,
          eventType: 'WEBHOOK_TEST',
          aboutId: parent.id,
          state,
          failures: state === 'failed' ? 1 : 0,
          attempts: [finished.attempt],
          nextAttemptAtMs: finished.attempt.atMs,
          roundStartedAtMs: NOW,
          createdAtMs: NOW,
          updatedAtMs: NOW,
        });
      }
      expect(await batch(endpoint, NOW + 9)).toEqual([]);
    });
  });

  describe('lists of deliveries', () => {
    /** Deliveries in all states to two endpoints, newest first. */
    async function filled() {
      const at = await setUp();
      const [one, two] = [await at.addEndpoint(at.parent.id), await at.addEndpoint(at.parent.id)];
      const foreign = await at.addEndpoint(at.child.id);
      const { ids: theirs } = await at.tell([foreign]);
      const all: { id: string; endpointId: string; eventId: string; state: string }[] = [];
      for (const [index, state] of [...WEBHOOK_DELIVERY_STATES, ...WEBHOOK_DELIVERY_STATES].entries()) {
        const { event, ids } = await at.tell(index % 3 === 0 ? [one, two] : [one]);
        for (const [position, id] of ids.entries()) {
          all.push({ id, endpointId: position === 0 ? one.id : two.id, eventId: event.id, state });
        }
        for (const endpoint of [one, two]) if (state !== 'pending') await at.settle(endpoint, state);
        if (state === 'pending') await at.settle(two, state);
        if (state === 'pending') await at.settle(one, state);
      }
      return { ...at, one, two, foreign, theirs, all: all.reverse() };
    }

    test('choose by endpoint, event and state, newest first', async () => {
      const { read, parent, child, one, two, foreign, theirs, all } = await filled();
      const find = async (filter: Parameters<typeof read.deliveries>[1], owner = parent.id) =>
        idsOf((await read.deliveries(owner, filter, ALL)).items);
      expect(await find({})).toEqual(idsOf(all));
      const eventIds = [undefined, ...new Set(all.map(({ eventId }) => eventId))];
      for (const endpointId of [undefined, one.id, two.id]) {
        for (const state of [undefined, ...WEBHOOK_DELIVERY_STATES]) {
          for (const eventId of eventIds) {
            const expected = all.filter(
              (delivery) =>
                (endpointId ?? delivery.endpointId) === delivery.endpointId &&
                (state ?? delivery.state) === delivery.state &&
                (eventId ?? delivery.eventId) === delivery.eventId,
            );
            expect(await find({ endpointId, state, eventId }), `${endpointId} ${state} ${eventId}`).toEqual(
              idsOf(expected),
            );
          }
        }
      }
      expect(await find({}, child.id)).toEqual(theirs);
      expect(await find({ endpointId: foreign.id })).toEqual([]);
      expect(await find({ endpointId: foreign.id, state: 'pending' }, child.id)).toEqual(theirs);
      expect(await find({ eventId: all[0]?.eventId }, child.id)).toEqual([]);
      const nobody = await find({ state: 'pending' }, (await withOrganization(storage)).id);
      expect(nobody).toEqual([]);
      expect(await codeOf(read.getDelivery(child.id, all[0]?.id as string))).toBe('WEBHOOK_DELIVERY_NOT_FOUND');
    });

    test('page both ways', async () => {
      const { read, parent, one, theirs, all } = await filled();
      const filters = [
        {},
        { endpointId: one.id },
        { state: 'failed' },
        { endpointId: one.id, state: 'delivered' },
        { eventId: all.find(({ eventId }, index) => eventId === all[index + 1]?.eventId)?.eventId },
      ] as const;
      for (const filter of filters) {
        const whole = idsOf((await read.deliveries(parent.id, filter, ALL)).items);
        expect(whole.length).toBeGreaterThan(1);
        const paged: string[] = [];
        let end: string | undefined;
        do {
          const request: PageRequest = { kind: 'page', limit: 1, ...(end !== undefined && { after: end }) };
          const { items, pageInfo } = await read.deliveries(parent.id, filter, request);
          expect(pageInfo.hasPreviousPage).toBe(end !== undefined);
          paged.push(...idsOf(items));
          end = pageInfo.hasNextPage ? pageInfo.endCursor : undefined;
        } while (end !== undefined);
        expect(paged).toEqual(whole);
        const last = whole.at(-1) as string;
        const back = await read.deliveries(parent.id, filter, { kind: 'page', limit: 1, before: last });
        expect(idsOf(back.items)).toEqual([whole.at(-2)]);
      }
      const list = (request: PageRequest) => codeOf(read.deliveries(parent.id, {}, request));
      expect(await list({ kind: 'page', limit: 2, after: theirs[0] as string })).toBe('REQUEST_INVALID');
      expect(await list({ kind: 'all', max: all.length - 1 })).toBe('RESULT_TOO_LARGE');
      expect(await list({ kind: 'all', max: all.length })).toBe('done');
    });
  });

  describe('replays', () => {
    test('begin a new round and keep the event for longer', async () => {
      const { write, read, parent, child, addEndpoint, tell, settle, batch, claim, dueIds } = await setUp();
      const endpoint = await addEndpoint(parent.id);
      const { ids } = await tell([endpoint]);
      await settle(endpoint, 'dead');
      await claim(endpoint.id, 'me');
      const end = { failures: 5, restingUntilMs: NOW + 60_000 };
      await write((store) => store(WebhookStore).releaseLane(endpoint.id, 'me', end));
      const [id] = ids as [WebhookDeliveryId];
      const before = await read.getDelivery(parent.id, id);
      const replay = (organizationId: OrganizationId) =>
        codeOf(write((store) => store(WebhookStore).replay(organizationId, id, NOW + 500)));
      expect(await replay(child.id)).toBe('WEBHOOK_DELIVERY_NOT_FOUND');
      expect(await read.getDelivery(parent.id, id)).toEqual(before);
      expect(await replay(parent.id)).toBe('done');
      const begun = { nextAttemptAtMs: NOW + 500, roundStartedAtMs: NOW + 500, updatedAtMs: NOW + 500 };
      expect(await read.getDelivery(parent.id, id)).toEqual({ ...before, state: 'pending', failures: 0, ...begun });
      expect(idsOf(await batch(endpoint, NOW + 500, { fresh: 0, retries: 9 }))).toEqual([id]);
      expect(await dueIds(NOW + 500)).toEqual([endpoint.id]);
      await settle(endpoint, 'delivered');
      const [again] = (await batch(endpoint, NOW + 500)) as [DueDelivery];
      await write((store) =>
        store(WebhookStore).record(
          [{ delivery: again, attempt: attempt(), state: 'delivered', nextAttemptAtMs: 0 }],
          NOW,
        ),
      );
      expect(await write((store) => store(WebhookStore).sweep(NOW + 500, 10))).toBe(0);
      expect(await write((store) => store(WebhookStore).sweep(NOW + 501, 10))).toBe(1);
    });

    test('of all that failed since a moment take the oldest first, and at most so many', async () => {
      const { write, parent, child, addEndpoint, tell, settle, batch, stateOf } = await setUp();
      const [endpoint, other] = [await addEndpoint(parent.id), await addEndpoint(parent.id)];
      const failed: string[] = [];
      for (let index = 0; index < 8; index += 1) {
        const { ids } = await tell([endpoint], { createdAtMs: NOW + index });
        await settle(endpoint, index % 2 === 0 ? 'failed' : 'dead');
        failed.push(...ids);
      }
      const { ids: fine } = await tell([endpoint], { createdAtMs: NOW + 9 });
      await settle(endpoint, 'delivered');
      const { ids: elsewhere } = await tell([other], { createdAtMs: NOW + 9 });
      await settle(other, 'failed');
      const replay = (organizationId: OrganizationId, limit: number) =>
        write((store) => store(WebhookStore).replayFailed(organizationId, endpoint.id, NOW + 2, limit, NOW + 100));
      expect(await replay(child.id, 10)).toEqual({ count: 0, hasMore: false });
      expect(await replay(parent.id, 4)).toEqual({ count: 4, hasMore: true });
      expect(idsOf(await batch(endpoint, NOW + 100))).toEqual(failed.slice(2, 6));
      expect(await replay(parent.id, 4)).toEqual({ count: 2, hasMore: false });
      expect(await replay(parent.id, 4)).toEqual({ count: 0, hasMore: false });
      expect(idsOf(await batch(endpoint, NOW + 100))).toEqual(failed.slice(2));
      expect(await stateOf(parent.id, failed[1] as string)).toBe('dead');
      expect(await stateOf(parent.id, fine[0] as string)).toBe('delivered');
      expect(await stateOf(parent.id, elsewhere[0] as string)).toBe('failed');
      const kept = await write((store) =>
        builderOf(store)
          .selectFrom('webhook_event')
          .select('id')
          .where('kept_since_ms', '=', NOW + 100)
          .execute(),
      );
      expect(kept).toHaveLength(6);
    });
  });

  describe('clearing away', () => {
    test('gives up what was not tried in its round, some at a time', async () => {
      const { write, read, parent, child, addEndpoint, tell, settle, stateOf, batch } = await setUp();
      const [off, slow] = [await addEndpoint(parent.id), await addEndpoint(child.id)];
      const old = [...(await tell([off])).ids, ...(await tell([off])).ids];
      await settle(off, 'pending', NOW + 400);
      old.push(...(await tell([off], { createdAtMs: NOW + 1 })).ids);
      const [young] = (await tell([off], { createdAtMs: NOW + 50 })).ids;
      await write((store) => store(WebhookStore).deactivate(parent.id, off.id, off.url, NOW));
      const [slowOld] = (await tell([slow])).ids;
      const [slowYoung] = (await tell([slow], { createdAtMs: NOW + 50 })).ids;
      const expire = (nowMs: number, limit: number) =>
        write((store) => store(WebhookStore).expire(NOW + 50, nowMs, limit));
      const states = async () => [
        ...(await Promise.all(old.map((id) => stateOf(parent.id, id)))),
        await stateOf(parent.id, young as string),
        await stateOf(child.id, slowOld as string),
        await stateOf(child.id, slowYoung as string),
      ];
      // Retries wait until they are due.
      expect(await expire(NOW + 399, 10)).toBe(2);
      expect(await states()).toEqual(['pending', 'pending', 'dead', 'pending', 'dead', 'pending']);
      expect(await expire(NOW + 400, 1)).toBe(1);
      expect(await expire(NOW + 400, 10)).toBe(1);
      expect(await expire(NOW + 400, 10)).toBe(0);
      expect(await states()).toEqual(['dead', 'dead', 'dead', 'pending', 'dead', 'pending']);
      expect(await read.getDelivery(parent.id, old[0] as string)).toMatchObject({
        failures: 1,
        updatedAtMs: NOW + 400,
      });
      expect(idsOf(await batch(slow))).toEqual([slowYoung]);
    });

    test('deletes what waits for an endpoint that is gone', async () => {
      const { write, parent, addEndpoint, tell, rows, batch } = await setUp();
      const [gone, kept] = [endpointOf(parent.id), await addEndpoint(parent.id)];
      // As a transaction leaves them that had read its endpoint before it was deleted.
      for (let index = 0; index < 3; index += 1) await tell([gone, kept]);
      const expire = (limit: number) => write((store) => store(WebhookStore).expire(NOW - 1, NOW, limit));
      expect(await expire(2)).toBe(2);
      expect(await expire(2)).toBe(1);
      expect(await expire(2)).toBe(0);
      expect(await rows('webhook_delivery')).toBe(3);
      expect(await batch(kept)).toHaveLength(3);
    });

    test('sweeps what is old, some at a time, and nothing that is pending', async () => {
      const { write, read, parent, child, addEndpoint, tell, settle } = await setUp();
      const [one, two] = [await addEndpoint(parent.id), await addEndpoint(parent.id)];
      const foreign = await addEndpoint(child.id);
      const told: string[] = [];
      for (let index = 0; index < 5; index += 1) {
        told.push((await tell([one], { createdAtMs: NOW + index })).event.id);
      }
      await settle(one, 'delivered');
      // One of its two deliveries waits.
      const waiting = await tell([one, two]);
      await settle(one, 'dead');
      // The same event of another organization.
      const theirs = await tell([foreign], { id: told[4] as WebhookEventId });
      const sweep = () => write((store) => store(WebhookStore).sweep(NOW + 4, 3));
      expect([await sweep(), await sweep(), await sweep()]).toEqual([3, 1, 0]);
      const left = async (organizationId: OrganizationId) =>
        (await read.deliveries(organizationId, {}, ALL)).items.map(({ eventId }) => eventId);
      const { id } = waiting.event;
      expect((await left(parent.id)).sort()).toEqual([id, id, told[4] as string].sort());
      expect(await left(child.id)).toEqual([theirs.event.id]);
      await settle(two, 'failed');
      expect(await sweep()).toBe(1);
      expect(await left(parent.id)).toEqual([told[4]]);
    });

    test('sweeps the events of deleted endpoints by their age', async () => {
      const { write, parent, addEndpoint, tell, rows } = await setUp();
      const endpoint = await addEndpoint(parent.id);
      await tell([endpoint]);
      await write((store) => store(WebhookStore).deleteEndpoint(parent.id, endpoint.id));
      expect(await write((store) => store(WebhookStore).purge(10))).toBe(1);
      expect([await rows('webhook_delivery'), await rows('webhook_event')]).toEqual([0, 1]);
      expect(await write((store) => store(WebhookStore).sweep(NOW, 10))).toBe(0);
      expect(await write((store) => store(WebhookStore).sweep(NOW + 1, 10))).toBe(1);
      expect(await rows('webhook_event')).toBe(0);
    });

    if (kind === 'postgres') {
      test('gives nothing up that was replayed while it waited', async () => {
        const { write, parent, addEndpoint, tell, stateOf } = await setUp();
        const endpoint = await addEndpoint(parent.id);
        const { ids } = await tell([endpoint]);
        const [id] = ids as [WebhookDeliveryId];
        let expired: Promise<number> | undefined;
        await write(async (store) => {
          await store(WebhookStore).replay(parent.id, id, NOW + 500);
          expired = write((other) => other(WebhookStore).expire(NOW + 1, NOW + 500, 10));
          // Until it waits for the row.
          const waits = () =>
            sql`SELECT 1 FROM pg_locks WHERE NOT granted AND pid <> pg_backend_pid()`.execute(builderOf(store));
          while ((await waits()).rows.length === 0) await new Promise(setImmediate);
        });
        expect(await expired).toBe(0);
        expect(await stateOf(parent.id, id)).toBe('pending');
      });

      test('does not wait for a replay that has not committed, and leaves it what it needs', async () => {
        const { write, parent, addEndpoint, tell, settle, batch } = await setUp();
        const endpoint = await addEndpoint(parent.id);
        const { ids } = await tell([endpoint]);
        await settle(endpoint, 'failed');
        await write(async (store) => {
          await store(WebhookStore).replay(parent.id, ids[0] as string, NOW + 500);
          expect(await write((other) => other(WebhookStore).sweep(NOW + 1, 10))).toBe(0);
        });
        expect(idsOf(await batch(endpoint, NOW + 500))).toEqual(ids);
      });
    }
  });

  test('an erased organization keeps none of it', async () => {
    const { write, parent, child, addEndpoint, tell, rows } = await setUp();
    for (const { id } of [parent, child]) await tell([await addEndpoint(id), await addEndpoint(id)]);
    expect(await Promise.all(TABLES.map(rows))).toEqual([4, 2, 4, 4]);
    await write((store) => store(OrganizationStore).erase(child.id, NOW));
    expect(await Promise.all(TABLES.map(rows))).toEqual([2, 1, 2, 2]);
    expect(await storage.read(WebhookReader).endpoints(child.id)).toEqual([]);
    expect(await storage.read(WebhookReader).endpoints(parent.id)).toHaveLength(2);
  });
});
