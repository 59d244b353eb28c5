import { describe, expect, test } from 'vitest';
import type { DeliveryResult, DueDelivery, WebhookEndpoint } from '../../../src/domains/webhooks/model.ts';
import { WebhookReader } from '../../../src/domains/webhooks/store/webhook-reader.ts';
import { WebhookStore } from '../../../src/domains/webhooks/store/webhooks.ts';
import { type OrganizationId, randomId, type WebhookDeliveryId, type WebhookEndpointId } from '../../../src/lib/ids.ts';
import { DATABASES } from '../../harness/databases.ts';
import { codeOf, NOW, times } from '../place.ts';
import { ALL, attempt, endpointOf, eventOf, idsOf, openWebhooks, TABLES } from './support.ts';

describe.each(DATABASES)('webhooks on %s', (kind) => {
  const suite = openWebhooks(kind);
  const { setUp } = suite;

  describe('endpoints', () => {
    test('come back as they went in, oldest first, to their organization alone', async () => {
      const { read, parent, child, addEndpoint } = await setUp();
      const made = [
        await addEndpoint(parent.id, { name: 'Straße' }),
        await addEndpoint(parent.id, {
          isActive: false,
          isFeature: true,
          includesDescription: true,
          subscriptions: [],
        }),
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
      await write((store) => store(WebhookStore).releaseQueue(made.id, 'me', end));
      expect(await dueIds()).toEqual([]);
      const changed = { ...made, name: 'other', url: 'https://example.org/other', updatedAtMs: NOW + 9 };
      await write((store) => store(WebhookStore).updateEndpoint(changed));
      expect(await read.getEndpoint(parent.id, made.id)).toEqual(changed);
      expect(await read.dueQueues(NOW, 10)).toEqual([{ endpointId: made.id, organizationId: parent.id, failures: 0 }]);
      const foreign = write((store) => store(WebhookStore).updateEndpoint({ ...changed, organizationId: child.id }));
      expect(await codeOf(foreign)).toBe('WEBHOOK_ENDPOINT_NOT_FOUND');
    });

    test('of an organization and its parent listen while they are active', async () => {
      const { read, parent, child, addEndpoint } = await setUp();
      const [own, above] = [await addEndpoint(child.id), await addEndpoint(parent.id)];
      await addEndpoint(child.id, { isActive: false });
      await addEndpoint(parent.id, { isActive: false });
      const listening = await read.listeners(child.id, parent.id);
      expect([...listening].sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([own, above]);
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

  describe('descriptions', () => {
    test('are added for who wants them, once and for all', async () => {
      const { write, parent, child, addEndpoint, batch, rows } = await setUp();
      const endpoints = [await addEndpoint(parent.id), await addEndpoint(parent.id, { includesDescription: true })];
      const [plain, worded] = endpoints as [WebhookEndpoint, WebhookEndpoint];
      const event = eventOf(parent.id, { activityId: randomId() });
      const deliveries = endpoints.map(({ id, includesDescription }) => ({
        id: randomId() as WebhookDeliveryId,
        endpointId: id,
        includesDescription,
      }));
      await write((store) => store(WebhookStore).insertEvent(event, deliveries));
      const due = async (endpoint: WebhookEndpoint) => (await batch(endpoint))[0];
      expect(await due(worded)).toMatchObject({ body: event.body, undescribed: event.activityId });
      expect(await due(plain)).not.toHaveProperty('undescribed');
      const keep = (organizationId: OrganizationId, description: string, id = event.id) =>
        write((store) => store(WebhookStore).describeEvents(organizationId, new Map([[id, description]])));
      // Neither of another organization nor of an event that is gone.
      expect(await keep(child.id, '{"text":"theirs"}')).toEqual(new Map());
      expect(await keep(parent.id, '{"text":"gone"}', randomId())).toEqual(new Map());
      const first = JSON.stringify({ text: 'é😀"\u0000\ud800' });
      expect(await keep(parent.id, first)).toEqual(new Map([[event.id, first]]));
      expect(await keep(parent.id, '{"text":"second"}')).toEqual(new Map([[event.id, first]]));
      const described = await due(worded);
      expect(described?.body).toBe(`${event.body.slice(0, -1)},"description":${first}}`);
      expect(described).not.toHaveProperty('undescribed');
      expect((await due(plain))?.body).toBe(event.body);
      expect(await rows('webhook_event')).toBe(1);
    });

    test('that there are none stays so too', async () => {
      const { write, parent, addEndpoint, batch } = await setUp();
      const endpoint = await addEndpoint(parent.id, { includesDescription: true });
      const event = eventOf(parent.id, { activityId: randomId() });
      const delivery = { id: randomId() as WebhookDeliveryId, endpointId: endpoint.id, includesDescription: true };
      await write((store) => store(WebhookStore).insertEvent(event, [delivery]));
      for (const description of ['', '{"text":"late"}']) {
        const kept = await write((store) =>
          store(WebhookStore).describeEvents(parent.id, new Map([[event.id, description]])),
        );
        expect(kept).toEqual(new Map([[event.id, '']]));
      }
      const [due] = await batch(endpoint);
      expect(due?.body).toBe(event.body);
      expect(due).not.toHaveProperty('undescribed');
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
        includesDescription: false,
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
      await write((store) => store(WebhookStore).releaseQueue(resting.id, 'me', rest));
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
      const all = await suite.storage.read(WebhookReader).dueQueues(NOW + 51, 100);
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
      await suite.storage.read(WebhookReader).batch(endpoint.organizationId, endpoint.id, NOW, limits, enter);
      expect(lengths).toEqual([bodies.join('').length]);
    });
  });

  describe('queues', () => {
    test('go to exactly one of many that want them', async () => {
      const { read, parent, addEndpoint, tell, claim } = await setUp();
      const made = await addEndpoint(parent.id);
      await tell([made]);
      const owners = times(12, (index) => `owner ${index}`);
      const claims = await Promise.all(owners.map((owner) => claim(made.id, owner)));
      expect(claims.filter((won) => won !== undefined)).toEqual([{ organizationId: parent.id, failures: 0 }]);
      expect(await read.dueQueues(NOW, 10)).toEqual([]);
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
        write((store) => store(WebhookStore).renewQueues('me', nowMs, untilMs));
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
        write((store) => store(WebhookStore).releaseQueue(id, owner, { failures: 4, restingUntilMs: NOW + 20 }));
      await claim(id, 'me');
      expect(await release('other')).toBe(false);
      expect(await release('me')).toBe(true);
      expect(await release('me')).toBe(false);
      expect(await read.dueQueues(NOW + 19, 10)).toEqual([]);
      expect(await read.dueQueues(NOW + 20, 10)).toEqual([{ endpointId: id, organizationId: parent.id, failures: 4 }]);
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
      await write((store) => store(WebhookStore).releaseAllQueues());
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
          includesDescription: false,
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
});
