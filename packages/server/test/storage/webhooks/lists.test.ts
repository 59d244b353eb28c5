import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { OrganizationStore } from '../../../src/core/store/organizations.ts';
import { type DueDelivery, WEBHOOK_DELIVERY_STATES } from '../../../src/domains/webhooks/model.ts';
import { WebhookReader } from '../../../src/domains/webhooks/store/webhook-reader.ts';
import { WebhookStore } from '../../../src/domains/webhooks/store/webhooks.ts';
import type { OrganizationId, WebhookDeliveryId, WebhookEventId } from '../../../src/lib/ids.ts';
import type { PageRequest } from '../../../src/lib/pagination.ts';
import { partial } from '../../../src/storage/integrity/partial.ts';
import { DATABASES } from '../../harness/databases.ts';
import { builderOf, codeOf, NOW, withOrganization } from '../place.ts';
import { ALL, attempt, endpointOf, idsOf, openWebhooks, TABLES } from './support.ts';

describe.each(DATABASES)('webhooks on %s', (kind) => {
  const suite = openWebhooks(kind);
  const { setUp } = suite;

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
      const nobody = await find({ state: 'pending' }, (await withOrganization(suite.storage)).id);
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
      await write((store) => store(WebhookStore).releaseQueue(endpoint.id, 'me', end));
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
      const replay = (organizationId: OrganizationId, limit: number, untilMs?: number) =>
        write((store) =>
          store(WebhookStore).replayFailed(
            organizationId,
            endpoint.id,
            { sinceMs: NOW + 2, untilMs },
            limit,
            NOW + 100,
          ),
        );
      expect(await replay(parent.id, 10, NOW + 1)).toEqual({ count: 0, hasMore: false });
      expect(await replay(child.id, 10)).toEqual({ count: 0, hasMore: false });
      expect(await replay(parent.id, 10, NOW + 3)).toEqual({ count: 2, hasMore: false });
      expect(await replay(parent.id, 2)).toEqual({ count: 2, hasMore: true });
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
          .modifyFront(partial('which are kept'))
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
    expect(await suite.storage.read(WebhookReader).endpoints(child.id)).toEqual([]);
    expect(await suite.storage.read(WebhookReader).endpoints(parent.id)).toHaveLength(2);
  });
});
