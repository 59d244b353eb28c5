import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import type { Arrival } from '../../harness/webhook-receiver.ts';
import { deliveriesOf, doSomething, endpointsOf, rowsOf, STATES, settled, subscribe } from '../fixtures/webhooks.ts';
import { atMs, DAY, eventIds, giveUp, HOUR, openDeliveries, SECOND, World } from './support.ts';

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

const numbers = (arrivals: readonly Arrival[]): number[] => arrivals.map(({ body }) => body.number);
describe.each(DATABASES)('deliveries on %s', (database) => {
  const suite = openDeliveries(database);

  test('fifty events arrive in the order in which they happened', async () => {
    const { sub, hook } = await suite.world.newListener();
    const done: string[] = [];
    for (let index = 0; index < 50; index += 1) done.push((await doSomething(sub)).id);
    await hook.count(51);
    expect(hook.arrivals.slice(1).map(({ body }) => body.id)).toEqual(done);
    expect(hook.inFlightMax).toBe(1);
  });

  test('an endpoint that hangs delays no other', async () => {
    const { sub, hook, endpointId } = await suite.world.newListener();
    const quick = suite.world.receiver.hook();
    await subscribe(sub, quick);
    await hook.count(2);
    hook.otherwise = 'hang';
    const done: string[] = [];
    for (let index = 0; index < 20; index += 1) done.push((await doSomething(sub)).id);
    await quick.count(21);
    expect(quick.arrivals.slice(1).map(({ body }) => body.id)).toEqual(done);
    expect([hook.inFlight, hook.arrivals.length]).toEqual([1, 3]);
    // And gets what it missed when it is itself again.
    hook.otherwise = 200;
    hook.release();
    await hook.count(22);
    expect(new Set(hook.arrivals.slice(2).map(({ body }) => body.id))).toEqual(new Set(done));
    await settled(sub, { endpointId }, 'delivered');
  });

  test('an endpoint in trouble rests, and recovers with its backlog in order', async () => {
    const { sub, hook, endpointId, tell: told } = await suite.world.newListener();
    hook.answerNext(500, 500, 500, 500);
    const { eventIds: ids } = await told(10);
    // Three failures in a row, and it is left alone for a second, then for longer.
    await settled(sub, { eventId: ids[3] }, 'any', 1);
    suite.world.later(2.5 * SECOND);
    await settled(sub, { eventId: ids[9] }, 'delivered', 1);
    const firstAt: number[] = [];
    for (const eventId of ids) firstAt.push(atMs((await deliveriesOf(sub, { eventId }))[0].attempts[0].attemptedAt));
    const pauses = firstAt.slice(1).map((ms, index) => ms - (firstAt[index] as number));
    expect(pauses[2]).toBeGreaterThanOrEqual(SECOND);
    expect([...firstAt].sort((one, other) => one - other)).toEqual(firstAt);
    expect([...new Set(numbers(hook.arrivals.slice(1)))]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    suite.world.later(10 * SECOND);
    for (const eventId of ids.slice(0, 4)) await settled(sub, { eventId }, 'delivered', 2);
    expect(await deliveriesOf(sub, { endpointId, state: STATES.pending })).toEqual([]);
  });

  test('what waits for an endpoint waits while it is off, and follows it to another URL', async () => {
    const { sub, hook, endpointId, tell: told } = await suite.world.newListener();
    const fence = await suite.world.newListener();
    const moved = suite.world.receiver.hook();
    hook.answerNext('hang');
    const [first] = (await told(1)).eventIds as [string];
    await hook.inFlightCount(1);
    const rest = await told(3);
    await sub.run('update_webhook_endpoint', { endpointId, isActive: false });
    hook.release(500);
    await settled(sub, { eventId: first }, 'pending', 1);
    suite.world.later(HOUR);
    await suite.world.looked(fence);
    expect(hook.arrivals).toHaveLength(2);
    expect(await deliveriesOf(sub, { endpointId, state: STATES.pending })).toHaveLength(4);
    await sub.run('update_webhook_endpoint', { endpointId, url: moved.url, isActive: true });
    for (const eventId of [first, ...rest.eventIds]) await settled(sub, { eventId }, 'delivered');
    expect(hook.arrivals).toHaveLength(2);
    expect(new Set(eventIds(moved.arrivals))).toEqual(
      new Set([first, ...rest.eventIds, ...eventIds(moved.arrivals.filter(({ body }) => 'type' in body))]),
    );
    expect(numbers(moved.arrivals.filter(({ eventId }) => rest.eventIds.includes(eventId)))).toEqual([0, 1, 2]);
  });

  test('a deleted endpoint leaves nothing behind that could be sent', async () => {
    const { sub, hook, endpointId, tell: told } = await suite.world.newListener();
    const fence = await suite.world.newListener();
    hook.answerNext('hang');
    await told(1);
    await hook.inFlightCount(1);
    const [eventId] = (await told(5)).eventIds as [string];
    expect(await deliveriesOf(sub, { eventId })).toHaveLength(1);
    await sub.run('delete_webhook_endpoint', { endpointId });
    // It is not there any more for anybody, and what is left of it goes by and by.
    for (const filter of [{}, { eventId }, { state: STATES.pending }])
      expect(await deliveriesOf(sub, filter)).toEqual([]);
    expect(await endpointsOf(sub)).toEqual([]);
    hook.release();
    await hook.inFlightCount(0);
    suite.world.later(HOUR);
    await suite.world.looked(fence);
    expect(hook.arrivals).toHaveLength(2);
    for (const table of ['webhook_endpoint', 'webhook_lane', 'webhook_delivery'] as const) {
      await expect.poll(() => rowsOf(suite.app, table, sub.organizationId), { timeout: 20_000 }).toEqual([]);
    }
  });

  test('more than the receiver takes in turn is sent sixteen at a time, each once', async () => {
    const { sub, hook, endpointId, tell: told } = await suite.world.newListener();
    hook.otherwise = 'hang';
    const { eventIds: ids } = await told(60);
    await hook.inFlightCount(16);
    hook.otherwise = 200;
    hook.release();
    await hook.count(61);
    expect(hook.inFlightMax).toBe(16);
    expect(eventIds(hook.arrivals.slice(1)).sort()).toEqual([...ids].sort());
    await settled(sub, { endpointId, state: STATES.delivered }, 'delivered');
    await expect.poll(() => deliveriesOf(sub, { endpointId, state: STATES.pending })).toEqual([]);
  });

  test('a list has pages, the newest first, of what its filters choose', async () => {
    const { sub, hook, endpointId, tell: told } = await suite.world.newListener();
    const second = suite.world.receiver.hook();
    const secondId = await subscribe(sub, second, { filters: { statuses: ['ACTIVITY_STATUS_FAILED'] } });
    await hook.count(2);
    hook.answerNext(...times(100, (index) => (index % 10 === 0 ? 404 : 200)));
    const made: string[] = [];
    for (let index = 0; index < 10; index += 1) {
      made.push(...(await told(10)).deliveryIds);
      await hook.count(12 + 10 * index);
    }
    await expect.poll(() => deliveriesOf(sub, { endpointId, state: STATES.pending })).toHaveLength(10);
    await giveUp(
      suite.app,
      made.filter((_, index) => index % 10 === 0),
    );
    const pages = async (filter: Record<string, unknown>, limit: string) => {
      const found: string[] = [];
      const sizes: number[] = [];
      let after: string | undefined;
      for (;;) {
        const paginationOptions = { limit, ...(after !== undefined && { after }) };
        const { body } = await sub.query('list_webhook_deliveries', { ...filter, paginationOptions });
        const ids = body.webhookDeliveries.map((delivery: { deliveryId: string }) => delivery.deliveryId);
        found.push(...ids);
        sizes.push(ids.length);
        if (!body.pageInfo.hasNextPage) return { found, sizes };
        after = body.pageInfo.endCursor;
      }
    };
    const newestFirst = [...made].reverse();
    const all = await pages({ endpointId }, '30');
    expect(all.sizes).toEqual([30, 30, 30, 12]);
    expect(all.found.slice(0, 100)).toEqual(newestFirst);
    expect((await pages({}, '100')).found).toEqual(all.found);
    const failed = await pages({ endpointId, state: STATES.failed }, '3');
    expect(failed.found).toHaveLength(10);
    expect(failed.found).toEqual(newestFirst.filter((id) => failed.found.includes(id)));
    expect((await pages({ state: STATES.failed }, '100')).found).toEqual(failed.found);
    expect((await pages({ endpointId: secondId }, '10')).found).toEqual([]);
    const [one] = (await deliveriesOf(sub, { endpointId })) as [Answer['body']];
    expect(await deliveriesOf(sub, { eventId: one.eventId, endpointId })).toEqual([one]);
    expect(await deliveriesOf(sub, { eventId: one.eventId, endpointId: secondId })).toEqual([]);
    expect(await deliveriesOf(sub, { eventId: randomUUID() })).toEqual([]);
    for (const filter of [{ state: 'delivered' }, { state: '' }, { endpointId: 'mine' }, { eventId: 7 }]) {
      expect((await sub.query('list_webhook_deliveries', filter)).status, JSON.stringify(filter)).toBe(400);
    }
  });
});

describe.each(DATABASES)('retention on %s', (database) => {
  test('old ones go, what is younger or waits stays, and what was never tried is given up', async () => {
    await using world = await World.open(database, undefined, { CUSTOS_WEBHOOK_RETENTION_DAYS: '4' });
    const { app } = world;
    const { sub, hook, endpointId, tell: told } = await world.newListener();
    const asleep = await world.newListener();
    const [old, replayed] = (await told(2)).eventIds as [string, string];
    await settled(sub, { eventId: replayed }, 'delivered');
    asleep.hook.answerNext('hang');
    const [hung] = (await asleep.tell(1)).eventIds as [string];
    await asleep.hook.inFlightCount(1);
    const [untried] = (await asleep.tell(1)).eventIds as [string];
    await asleep.sub.run('update_webhook_endpoint', { endpointId: asleep.endpointId, isActive: false });
    asleep.hook.release(503);
    await settled(asleep.sub, { eventId: hung }, 'pending', 1);

    // Three days and a bit more: they are given up, and can be replayed.
    world.later(3 * DAY + 2 * HOUR);
    await settled(asleep.sub, { eventId: untried }, 'dead', 0);
    await settled(asleep.sub, { eventId: hung }, 'dead', 1);
    const [again] = (await deliveriesOf(sub, { eventId: replayed })) as [Answer['body']];
    await sub.run('replay_webhook_delivery', { endpointId, deliveryId: again.deliveryId });
    await settled(sub, { eventId: replayed }, 'delivered', 2);
    hook.otherwise = 500;
    const [young] = (await told(1)).eventIds as [string];
    await settled(sub, { eventId: young }, 'pending', 1);
    expect(await deliveriesOf(sub, { eventId: old })).toHaveLength(1);

    world.later(DAY);
    await expect.poll(() => deliveriesOf(sub, { eventId: old }), { timeout: 20_000 }).toEqual([]);
    await expect.poll(() => deliveriesOf(asleep.sub), { timeout: 20_000 }).toEqual([]);
    expect(await rowsOf(app, 'webhook_event', asleep.sub.organizationId)).toEqual([]);
    for (const eventId of [replayed, young]) expect(await deliveriesOf(sub, { eventId })).toHaveLength(1);
    const kept = (await rowsOf(app, 'webhook_event', sub.organizationId)).map(({ id }) => id);
    expect(kept).toContain(young);
    expect(kept).not.toContain(old);
  });
});
