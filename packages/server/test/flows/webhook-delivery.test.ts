import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Courier, localCourier, type Parcel } from '../../src/domains/webhooks/courier/courier.ts';
import type { WebhookEvent } from '../../src/domains/webhooks/model.ts';
import { WebhookStore } from '../../src/domains/webhooks/store/webhooks.ts';
import { createWebhooks, type RunningWebhooks, type WebhookParts } from '../../src/domains/webhooks/webhooks.ts';
import { type OrganizationId, randomId, type WebhookDeliveryId, type WebhookEndpointId } from '../../src/lib/ids.ts';
import { openStorage } from '../../src/storage/open.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { type Answer, createSubOrganization, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import {
  type Arrival,
  type Hook,
  type Answer as ScriptedAnswer,
  WebhookReceiver,
} from '../harness/webhook-receiver.ts';
import { builderOf } from '../storage/place.ts';
import { ClockClient, outcome } from './fixtures/policy-flows.ts';
import {
  deliveriesOf,
  doSomething,
  endpointsOf,
  LOOPBACK,
  listen,
  rowsOf,
  STATES,
  settled,
  subscribe,
  tell,
} from './fixtures/webhooks.ts';

// How events reach their receivers: when, in which order, how often, and what becomes of those that do not.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** protocol/webhooks 4.4. */
const DELAYS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];
const LAST_DELAY = 6 * HOUR;

const ALLOW = ['127.0.0.0/8'];
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const eventIds = (arrivals: readonly Arrival[]): string[] => arrivals.map(({ eventId }) => eventId);
const numbers = (arrivals: readonly Arrival[]): number[] => arrivals.map(({ body }) => body.number);
const atMs = (rfc3339: string): number => Date.parse(rfc3339);

class World implements AsyncDisposable {
  readonly app: TestApp;
  readonly receiver: WebhookReceiver;
  readonly parent: ClockClient;

  private constructor(app: TestApp, receiver: WebhookReceiver) {
    this.app = app;
    this.receiver = receiver;
    this.parent = new ClockClient(app.app.clock, app.root);
  }

  static async open(
    database: (typeof DATABASES)[number],
    courier?: Courier,
    env: Record<string, string> = {},
  ): Promise<World> {
    const app = await openTestApp(database, { ...LOOPBACK, ...env }, courier === undefined ? {} : { courier });
    return new World(app, await WebhookReceiver.start());
  }

  /** An organization with an endpoint that has nothing to do yet. */
  async newListener() {
    const sub = new ClockClient(this.app.app.clock, await createSubOrganization(this.parent, `Org ${randomUUID()}`));
    const hook = this.receiver.hook();
    const endpointId = await listen(sub, hook);
    await settled(sub, { endpointId }, 'delivered');
    const told = (count: number, extra = {}) => tell(this.app, sub, endpointId, count, extra);
    return { sub, hook, endpointId, tell: told };
  }

  /** Lets time pass for the service and its dispatcher. */
  later(milliseconds: number): void {
    this.app.advance(milliseconds);
    this.app.app.webhooks.wake();
  }

  /** The dispatcher has looked for what is due, and whoever has nothing by then was not due. */
  async looked({ tell: told, hook }: { tell: (count: number) => Promise<unknown>; hook: Hook }): Promise<void> {
    const before = hook.arrivals.length;
    await told(1);
    this.app.app.webhooks.wake();
    await hook.count(before + 1);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.receiver[Symbol.asyncDispose]();
    await this.app[Symbol.asyncDispose]();
  }
}

/** As older versions did after an answer of 4xx. */
async function giveUp({ app }: TestApp, deliveryIds: readonly string[]): Promise<void> {
  await app.storage.write(async (store) => {
    const update = builderOf(store).updateTable('webhook_delivery').set({ state: 'failed' });
    await update.where('id', 'in', [...deliveryIds]).execute();
  });
}

describe.each(DATABASES)('deliveries on %s', (database) => {
  let world: World;
  let app: TestApp;

  beforeAll(async () => {
    world = await World.open(database);
    app = world.app;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test('a receiver that never answers well is tried for three days by the published schedule, and can have it then', async () => {
    const { sub, hook, endpointId } = await world.newListener();
    const fence = await world.newListener();
    hook.otherwise = 500;
    const { id } = await doSomething(sub);
    const first = await hook.next();
    expect(first.body.id).toBe(id);
    const { eventId } = first;
    const startedAtMs = app.app.clock();
    let attempts = 1;
    let last = first;
    let delivery = await settled(sub, { eventId }, 'pending', 1);
    while (delivery.state === STATES.pending) {
      const delay = atMs(delivery.nextAttemptAt) - atMs(delivery.attempts.at(-1).attemptedAt);
      const planned = DELAYS[attempts - 1] ?? LAST_DELAY;
      // An attempt takes a moment.
      expect(delay).toBeGreaterThanOrEqual(0.8 * planned);
      expect(delay).toBeLessThanOrEqual(1.2 * planned + 5 * SECOND);
      if (attempts === 2 || attempts === 3) {
        world.later(0.5 * planned);
        await world.looked(fence);
        expect(hook.arrivals).toHaveLength(attempts + 1);
      }
      world.later(Math.max(0, atMs(delivery.nextAttemptAt) + SECOND - app.app.clock()));
      const next = await hook.next();
      attempts += 1;
      expect(next.eventId).toBe(eventId);
      expect(next.raw.equals(first.raw)).toBe(true);
      expect(Number(next.headers['x-service-timestamp'])).toBeGreaterThan(Number(last.headers['x-service-timestamp']));
      expect(next.headers['x-service-signature']).not.toBe(last.headers['x-service-signature']);
      last = next;
      delivery = await settled(sub, { eventId }, 'any', attempts);
    }
    const dead = delivery;
    expect(dead.state).toBe(STATES.dead);
    const spent = app.app.clock() - startedAtMs;
    expect(spent).toBeGreaterThan(72 * HOUR - 1.2 * LAST_DELAY);
    expect(spent).toBeLessThan(72 * HOUR + MINUTE);
    expect(attempts).toBeGreaterThan(DELAYS.length + 8);
    expect(dead).not.toHaveProperty('nextAttemptAt');
    expect(dead.attempts.at(-1)).toMatchObject({ status: 500 });
    expect((await deliveriesOf(sub, { state: STATES.dead })).map(({ deliveryId }) => deliveryId)).toEqual([
      dead.deliveryId,
    ]);
    // Nothing more comes by itself; replayed, the round begins again.
    world.later(DAY);
    await world.looked(fence);
    expect(hook.arrivals).toHaveLength(attempts + 1);
    hook.otherwise = 200;
    const replay = () => sub.run('replay_webhook_delivery', { endpointId, deliveryId: dead.deliveryId });
    expect(await replay()).toEqual({ endpointId, replayedCount: 1, hasMore: false });
    await settled(sub, { eventId }, 'delivered', attempts + 1);
    // And once more, though it was delivered.
    hook.otherwise = 503;
    await replay();
    const retry = await settled(sub, { eventId }, 'pending', attempts + 2);
    hook.otherwise = 200;
    const delay = atMs(retry.nextAttemptAt) - atMs(retry.attempts.at(-1).attemptedAt);
    expect(delay).toBeLessThanOrEqual(1.2 * (DELAYS[0] as number) + 5 * SECOND);
    world.later(15 * SECOND);
    await settled(sub, { eventId }, 'delivered', attempts + 3);
    expect(hook.arrivals.filter((arrival) => arrival.eventId === eventId)).toHaveLength(attempts + 3);
  });

  test('every answer but 2xx and 410 is tried again, and nobody is followed elsewhere', async () => {
    const { sub, hook, endpointId, tell: told } = await world.newListener();
    const elsewhere = world.receiver.hook();
    const cases: readonly (readonly [ScriptedAnswer, string, Record<string, unknown>])[] = [
      [408, STATES.pending, { status: 408 }],
      [425, STATES.pending, { status: 425 }],
      [429, STATES.pending, { status: 429 }],
      [500, STATES.pending, { status: 500 }],
      [502, STATES.pending, { status: 502 }],
      [503, STATES.pending, { status: 503 }],
      [599, STATES.pending, { status: 599 }],
      [{ status: 301, headers: { location: elsewhere.url } }, STATES.pending, { status: 301 }],
      [{ status: 307, headers: { location: elsewhere.url } }, STATES.pending, { status: 307 }],
      [304, STATES.pending, { status: 304 }],
      [400, STATES.pending, { status: 400 }],
      [401, STATES.pending, { status: 401 }],
      [403, STATES.pending, { status: 403 }],
      [404, STATES.pending, { status: 404 }],
      [413, STATES.pending, { status: 413 }],
      [201, STATES.delivered, { status: 201 }],
      [204, STATES.delivered, { status: 204 }],
      [{ status: 202, body: 'x'.repeat(200_000) }, STATES.delivered, { status: 202 }],
    ];
    for (const [answer, state, attempt] of cases) {
      // A good one in between, so that the endpoint does not get into trouble.
      hook.answerNext(answer, 200);
      const { eventIds: ids } = await told(2);
      const [eventId, good] = ids as [string, string];
      await settled(sub, { eventId: good }, 'delivered', 1);
      const [delivery] = await deliveriesOf(sub, { eventId });
      expect([answer, delivery.state]).toEqual([answer, state]);
      expect(delivery.attempts).toEqual([
        { attemptedAt: expect.any(String), latencyMs: expect.any(Number), ...attempt },
      ]);
      expect('nextAttemptAt' in delivery).toBe(state === STATES.pending);
    }
    expect(elsewhere.arrivals).toEqual([]);
    // A connection that breaks off may be one that was kept for too long, so that it has a second chance at once.
    hook.otherwise = 'drop';
    const [dropped] = (await told(1)).eventIds as [string];
    const { attempts } = await settled(sub, { eventId: dropped }, 'pending', 1);
    expect(attempts).toMatchObject([{ error: 'network' }]);
    hook.otherwise = 200;
    const waiting = cases.filter(([, state]) => state === STATES.pending).length + 1;
    const found = async (state: string) => (await deliveriesOf(sub, { endpointId, state })).length;
    expect([await found(STATES.failed), await found(STATES.pending)]).toEqual([0, waiting]);
    const before = hook.arrivals.length;
    world.later(10 * SECOND);
    await hook.count(before + waiting);
    expect(new Set(eventIds(hook.arrivals)).size).toBe(1 + 2 * cases.length + 1);
  });

  test('failed ones are replayed since a time, and nobody replays what is not theirs', async () => {
    const { sub, hook, endpointId, tell: told } = await world.newListener();
    const other = await world.newListener();
    hook.answerNext(404, 404, 404, 200);
    const early = await told(2);
    await hook.count(3);
    await settled(sub, { eventId: early.eventIds[1] }, 'pending', 1);
    await giveUp(app, early.deliveryIds);
    world.later(MINUTE);
    const sinceMs = String(app.app.clock());
    const late = await told(2);
    await settled(sub, { eventId: late.eventIds[1] }, 'delivered');
    await giveUp(app, late.deliveryIds.slice(0, 1));
    const replay = (client: TestClient, parameters: Record<string, unknown>) =>
      client.submit('replay_webhook_delivery', { endpointId, ...parameters });
    const [deliveryId] = early.deliveryIds as [string];
    for (const [parameters, status] of [
      [{}, 400],
      [{ deliveryId, sinceMs: '0' }, 400],
      [{ sinceMs: '-1' }, 400],
      [{ sinceMs: 'yesterday' }, 400],
      [{ deliveryId: 'none' }, 400],
      [{ deliveryId: randomUUID() }, 404],
      [{ deliveryId: other.endpointId }, 404],
      [{ endpointId: other.endpointId, deliveryId }, 404],
    ] as const) {
      const answer = await replay(sub, parameters);
      expect([JSON.stringify(parameters), answer.status]).toEqual([JSON.stringify(parameters), status]);
    }
    expect((await replay(other.sub, { deliveryId })).status).toBe(404);
    const asOther = await replay(other.sub, { endpointId: other.endpointId, deliveryId });
    expect(outcome(asOther)).toEqual([404, 'WEBHOOK_DELIVERY_NOT_FOUND']);
    const before = hook.arrivals.length;
    const { body } = await replay(sub, { sinceMs });
    expect(body.activity.result.replayWebhookDeliveryResult).toMatchObject({ replayedCount: 1 });
    await settled(sub, { eventId: late.eventIds[0] }, 'delivered', 2);
    // Of the older ones nothing came, and they are still there to be had.
    await hook.count(before + 2);
    expect(eventIds(hook.arrivals.slice(before)).filter((eventId) => early.eventIds.includes(eventId))).toEqual([]);
    expect((await replay(sub, { sinceMs: '0' })).body.activity.result.replayWebhookDeliveryResult.replayedCount).toBe(
      2,
    );
    for (const eventId of early.eventIds) await settled(sub, { eventId }, 'delivered', 2);
  });

  test('a receiver that asks for time is given it, and so are its other events for a while', async () => {
    const fence = await world.newListener();
    for (const [retryAfter, seconds] of [
      [() => '90', 90],
      [() => new Date(app.app.clock() + 600 * SECOND).toUTCString(), 600],
      [() => '3', 5],
      [() => 'soon', 5],
    ] as const) {
      const { sub, hook, tell: told } = await world.newListener();
      hook.answerNext({ status: 429, headers: { 'retry-after': retryAfter() } });
      const [eventId] = (await told(1)).eventIds as [string];
      const delivery = await settled(sub, { eventId }, 'pending', 1);
      const delay = (atMs(delivery.nextAttemptAt) - atMs(delivery.attempts[0].attemptedAt)) / SECOND;
      expect(delay).toBeGreaterThanOrEqual(seconds === 5 ? 3 : seconds - 2);
      expect(delay).toBeLessThanOrEqual(seconds === 5 ? 8 : seconds + 3);
      const [next] = (await told(1)).eventIds as [string];
      if (seconds !== 5) {
        world.later(Math.min(seconds, 60) * SECOND - 15 * SECOND);
        await world.looked(fence);
        expect(hook.arrivals).toHaveLength(2);
        world.later(20 * SECOND);
      } else world.later(4 * SECOND);
      await settled(sub, { eventId: next }, 'delivered', 1);
      world.later(seconds * SECOND + 10 * SECOND);
      await settled(sub, { eventId }, 'delivered', 2);
    }
  });

  test('410 switches an endpoint off, and its owner switches it on', async () => {
    const { sub, hook, endpointId, tell: told } = await world.newListener();
    hook.answerNext(410);
    const ids = (await told(3)).eventIds as [string, string, string];
    await settled(sub, { eventId: ids[0] }, 'failed', 1);
    expect(await endpointsOf(sub)).toMatchObject([{ endpointId, isActive: false }]);
    await doSomething(sub);
    // What waited waits on, and there is nothing new.
    expect(await deliveriesOf(sub, { endpointId })).toHaveLength(4);
    expect(await deliveriesOf(sub, { endpointId, state: STATES.pending })).toHaveLength(2);
    expect(hook.arrivals).toHaveLength(2);
    await sub.run('update_webhook_endpoint', { endpointId, isActive: true });
    for (const eventId of ids.slice(1)) await settled(sub, { eventId }, 'delivered', 1);
    await sub.run('replay_webhook_delivery', { endpointId, sinceMs: '0' });
    await settled(sub, { eventId: ids[0] }, 'delivered', 2);
  });

  test('410 from where an endpoint no longer is does not switch it off', async () => {
    const { sub, hook, endpointId, tell: told } = await world.newListener();
    const moved = world.receiver.hook();
    hook.answerNext('hang');
    const [eventId] = (await told(1)).eventIds as [string];
    await hook.inFlightCount(1);
    await sub.run('update_webhook_endpoint', { endpointId, url: moved.url });
    hook.release(410);
    await settled(sub, { eventId }, 'failed', 1);
    expect(await endpointsOf(sub)).toMatchObject([{ endpointId, url: moved.url, isActive: true }]);
    await moved.next();
    const { id } = await doSomething(sub);
    expect((await moved.next()).body.id).toBe(id);
  });

  test('fifty events arrive in the order in which they happened', async () => {
    const { sub, hook } = await world.newListener();
    const done: string[] = [];
    for (let index = 0; index < 50; index += 1) done.push((await doSomething(sub)).id);
    await hook.count(51);
    expect(hook.arrivals.slice(1).map(({ body }) => body.id)).toEqual(done);
    expect(hook.inFlightMax).toBe(1);
  });

  test('an endpoint that hangs delays no other', async () => {
    const { sub, hook, endpointId } = await world.newListener();
    const quick = world.receiver.hook();
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
    const { sub, hook, endpointId, tell: told } = await world.newListener();
    hook.answerNext(500, 500, 500, 500);
    const { eventIds: ids } = await told(10);
    // Three failures in a row, and it is left alone for a second, then for longer.
    await settled(sub, { eventId: ids[3] }, 'any', 1);
    world.later(2.5 * SECOND);
    await settled(sub, { eventId: ids[9] }, 'delivered', 1);
    const firstAt: number[] = [];
    for (const eventId of ids) firstAt.push(atMs((await deliveriesOf(sub, { eventId }))[0].attempts[0].attemptedAt));
    const pauses = firstAt.slice(1).map((ms, index) => ms - (firstAt[index] as number));
    expect(pauses[2]).toBeGreaterThanOrEqual(SECOND);
    expect([...firstAt].sort((one, other) => one - other)).toEqual(firstAt);
    expect([...new Set(numbers(hook.arrivals.slice(1)))]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    world.later(10 * SECOND);
    for (const eventId of ids.slice(0, 4)) await settled(sub, { eventId }, 'delivered', 2);
    expect(await deliveriesOf(sub, { endpointId, state: STATES.pending })).toEqual([]);
  });

  test('what waits for an endpoint waits while it is off, and follows it to another URL', async () => {
    const { sub, hook, endpointId, tell: told } = await world.newListener();
    const fence = await world.newListener();
    const moved = world.receiver.hook();
    hook.answerNext('hang');
    const [first] = (await told(1)).eventIds as [string];
    await hook.inFlightCount(1);
    const rest = await told(3);
    await sub.run('update_webhook_endpoint', { endpointId, isActive: false });
    hook.release(500);
    await settled(sub, { eventId: first }, 'pending', 1);
    world.later(HOUR);
    await world.looked(fence);
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
    const { sub, hook, endpointId, tell: told } = await world.newListener();
    const fence = await world.newListener();
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
    world.later(HOUR);
    await world.looked(fence);
    expect(hook.arrivals).toHaveLength(2);
    for (const table of ['webhook_endpoint', 'webhook_lane', 'webhook_delivery'] as const) {
      await expect.poll(() => rowsOf(app, table, sub.organizationId), { timeout: 20_000 }).toEqual([]);
    }
  });

  test('more than the receiver takes in turn is sent sixteen at a time, each once', async () => {
    const { sub, hook, endpointId, tell: told } = await world.newListener();
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
    const { sub, hook, endpointId, tell: told } = await world.newListener();
    const second = world.receiver.hook();
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
      app,
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

describe('one process', () => {
  test('waits for no answer longer than its patience, and tries again', async () => {
    await using world = await World.open('sqlite', localCourier({ allow: ALLOW, timeoutMs: 300 }));
    const { sub, hook, tell: told } = await world.newListener();
    hook.answerNext('hang');
    const [eventId] = (await told(1)).eventIds as [string];
    const delivery = await settled(sub, { eventId }, 'pending', 1);
    expect(delivery.attempts[0]).toEqual({
      attemptedAt: expect.any(String),
      latencyMs: expect.any(Number),
      error: 'timeout',
    });
    world.later(10 * SECOND);
    await settled(sub, { eventId }, 'delivered', 2);
    await world.receiver.close();
    const [refused] = (await told(1)).eventIds as [string];
    expect((await settled(sub, { eventId: refused }, 'pending', 1)).attempts[0]).toMatchObject({ error: 'network' });
  });

  test('sends a large event as it is', async () => {
    await using world = await World.open('sqlite');
    const { sub, hook, tell: told } = await world.newListener();
    const body = JSON.stringify({ text: 'é😀\u0000"\\\ud800 '.repeat(150_000) });
    expect(Buffer.byteLength(body)).toBeGreaterThan(1024 * 1024);
    const { eventIds: ids } = await told(3, { body });
    await hook.count(4);
    for (const { raw } of hook.arrivals.slice(1)) expect(raw.equals(Buffer.from(body))).toBe(true);
    for (const eventId of ids) await settled(sub, { eventId }, 'delivered', 1);
  });

  test('replays very many in parts, and not without end', async () => {
    await using world = await World.open('sqlite');
    const { app } = world.app;
    const { sub, endpointId } = await world.newListener();
    // Nothing is sent meanwhile.
    await sub.run('update_webhook_endpoint', { endpointId, isActive: false });
    const organizationId = sub.organizationId as OrganizationId;
    const attempt = { atMs: app.clock(), latencyMs: 1, status: 404 };
    await app.storage.write(async (store) => {
      for (let index = 0; index < 501; index += 1) {
        const event: WebhookEvent = {
          organizationId,
          id: randomId(),
          type: 'ACTIVITY_UPDATES',
          aboutId: organizationId,
          body: '{}',
          createdAtMs: app.clock(),
        };
        const delivery = { id: randomId() as WebhookDeliveryId, endpointId: endpointId as WebhookEndpointId };
        await store(WebhookStore).insertFinished(event, { ...delivery, state: 'failed', attempt });
      }
    });
    const replay = () => sub.submit('replay_webhook_delivery', { endpointId, sinceMs: '0' });
    const results: unknown[] = [];
    for (let index = 0; index < 30; index += 1) {
      const { activity } = (await replay()).body;
      if (index < 3) results.push(activity.result.replayWebhookDeliveryResult);
      expect(activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    }
    expect(results).toEqual([
      { endpointId, replayedCount: 500, hasMore: true },
      { endpointId, replayedCount: 1, hasMore: false },
      { endpointId, replayedCount: 0, hasMore: false },
    ]);
    expect(await deliveriesOf(sub, { endpointId, state: STATES.failed })).toEqual([]);
    const refused = await replay();
    expect(outcome(refused)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
    world.later(61 * SECOND);
    expect((await replay()).status).toBe(200);
  });

  /** Another dispatcher on the database of an app. */
  function another({ app }: TestApp, extra: Partial<WebhookParts> = {}): RunningWebhooks {
    const made = createWebhooks({
      config: app.config,
      storage: app.storage,
      keyring: app.keyring,
      serviceKeys: () => app.serviceKeys,
      clock: app.clock,
      steady: app.clock,
      elapsed: app.elapsed,
      observe: app.observe,
      courier: localCourier({ allow: ALLOW }),
      checkTarget: app.webhooks.checkTarget,
      isBusy: () => false,
      ...extra,
    });
    made.start();
    return made;
  }

  test('that stops finishes what is under way; what breaks off is as if never tried', async () => {
    await using world = await World.open('sqlite');
    const { app } = world;
    const [one, other] = [await world.newListener(), await world.newListener()];
    for (const { hook } of [one, other]) hook.answerNext('hang');
    const [answered] = (await one.tell(1)).eventIds as [string];
    const [broken] = (await other.tell(1)).eventIds as [string];
    await Promise.all([one.hook.inFlightCount(1), other.hook.inFlightCount(1)]);
    const waiting = await one.tell(2);
    const stopped = app.app.webhooks.stop();
    one.hook.release(200);
    other.hook.release('drop');
    await stopped;
    const stateOf = async (eventId: string) => {
      const rows = await rowsOf(app, 'webhook_delivery');
      const row = rows.find((each) => each['event_id'] === eventId);
      return [row?.['state'], row?.['failures'], JSON.parse(String(row?.['attempts'])).length];
    };
    expect(await stateOf(answered)).toEqual(['delivered', 0, 1]);
    expect(await stateOf(broken)).toEqual(['pending', 0, 0]);
    for (const eventId of waiting.eventIds) expect(await stateOf(eventId)).toEqual(['pending', 0, 0]);
    for (const lane of await rowsOf(app, 'webhook_lane')) expect(lane).toMatchObject({ owner: '', failures: 0 });
    // The next start goes on with the same events.
    const next = another(app);
    try {
      await other.hook.count(3);
      await one.hook.count(4);
      expect(eventIds(other.hook.arrivals.slice(1))).toEqual([broken, broken]);
      expect(eventIds(one.hook.arrivals.slice(1))).toEqual([answered, ...waiting.eventIds]);
    } finally {
      await next.stop();
    }
    expect(await stateOf(broken)).toEqual(['delivered', 0, 1]);
  });

  test('whose keyring or database is away for a moment loses nothing', async () => {
    await using world = await World.open('sqlite');
    const { app } = world;
    const { hook, tell: told, sub } = await world.newListener();
    await app.app.webhooks.stop();
    const trouble = { isKeyringAway: true, isDatabaseAway: false, refusals: 0 };
    const { storage, keyring } = app.app;
    const refuse = (what: string): never => {
      trouble.refusals += 1;
      throw new Error(`${what} is away`);
    };
    const unreliable = another(app, {
      keyring: new Proxy(keyring, {
        get: (target, name) => {
          if (name !== 'signWebhooks') return Reflect.get(target, name);
          return async (...values: Parameters<typeof keyring.signWebhooks>) =>
            trouble.isKeyringAway ? refuse('the keyring') : await target.signWebhooks(...values);
        },
      }),
      storage: {
        kind: storage.kind,
        load: [],
        read: storage.read,
        close: () => storage.close(),
        write: (unit) => (trouble.isDatabaseAway ? refuse('the database') : storage.write(unit)),
      },
    });
    try {
      const first = await told(3);
      unreliable.wake();
      await expect.poll(() => trouble.refusals).toBeGreaterThan(0);
      expect(hook.arrivals).toHaveLength(1);
      trouble.isKeyringAway = false;
      app.advance(6 * SECOND);
      unreliable.wake();
      await hook.count(4);
      for (const eventId of first.eventIds) await settled(sub, { eventId }, 'delivered', 1);
      // Delivered, and not yet written down.
      hook.answerNext('hang');
      const [eventId] = (await told(1)).eventIds as [string];
      unreliable.wake();
      await hook.inFlightCount(1);
      trouble.isDatabaseAway = true;
      trouble.refusals = 0;
      hook.release(200);
      await expect.poll(() => trouble.refusals).toBeGreaterThan(1);
      trouble.isDatabaseAway = false;
      await settled(sub, { eventId }, 'delivered', 1);
      expect(hook.arrivals.filter((arrival) => arrival.eventId === eventId)).toHaveLength(1);
    } finally {
      await unreliable.stop();
    }
  });

  describe('tests an endpoint', () => {
    const answering = (answer: string): Courier => ({
      deliver: async () => ({ latencyMs: 3, status: 418, answer }),
      close: async () => {},
    });

    test('and tells what came back, but not what it said inside the operator’s networks', async () => {
      await using world = await World.open('sqlite', localCourier({ allow: ALLOW, timeoutMs: 300 }));
      const { parent, receiver } = world;
      const hook = receiver.hook();
      const endpointId = (await parent.run('create_webhook_endpoint', { url: hook.url, name: 'one' })).endpointId;
      const run = () => parent.run('test_webhook_endpoint', { endpointId });
      hook.answerNext({ status: 200, body: 'the secret of the intranet' });
      const good = await run();
      expect(good).toEqual({
        endpointId,
        deliveryId: expect.any(String),
        eventId: expect.any(String),
        delivered: true,
        attempt: { attemptedAt: expect.any(String), latencyMs: expect.any(Number), status: 200 },
      });
      const arrival = await hook.next();
      expect(arrival.eventId).toBe(good.eventId);
      expect(arrival.headers['x-service-event-type']).toBe('WEBHOOK_TEST');
      expect(arrival.body).toMatchObject({ type: 'webhook:test', organizationId: parent.organizationId, endpointId });
      hook.answerNext({ status: 500, body: 'another secret' });
      expect(await run()).toMatchObject({ delivered: false, attempt: { status: 500 } });
      hook.answerNext({ status: 302, headers: { location: 'http://127.0.0.1:1/' } });
      expect(await run()).toMatchObject({ delivered: false, attempt: { status: 302 } });
      hook.otherwise = 'drop';
      expect(await run()).toMatchObject({ delivered: false, attempt: { error: 'network' } });
      hook.otherwise = 200;
      hook.answerNext('hang');
      expect(await run()).toMatchObject({ delivered: false, attempt: { error: 'timeout' } });
      // 410 is told and changes nothing here; one that is off can be tested.
      hook.answerNext(410);
      expect(await run()).toMatchObject({ delivered: false, attempt: { status: 410 } });
      expect(await endpointsOf(parent)).toMatchObject([{ isActive: true }]);
      await parent.run('update_webhook_endpoint', { endpointId, isActive: false });
      expect(await run()).toMatchObject({ delivered: true });
      await receiver.close();
      expect(await run()).toMatchObject({ delivered: false, attempt: { error: 'network' } });
      const listed = await deliveriesOf(parent, { endpointId });
      expect(listed).toHaveLength(8);
      expect(listed.at(-1)).toMatchObject({
        deliveryId: good.deliveryId,
        eventId: good.eventId,
        eventType: 'WEBHOOK_TEST',
        state: STATES.delivered,
        attempts: [good.attempt],
      });
      expect(new Set(listed.map(({ state }) => state))).toEqual(new Set([STATES.delivered, STATES.failed]));
      expect(JSON.stringify(listed)).not.toContain('secret');
    });

    test('whose answer is public, and no more than thirty times in a minute', async () => {
      await using world = await World.open('sqlite', answering('I am a teapot'));
      const { parent, app } = world;
      const { endpointId } = await parent.run('create_webhook_endpoint', {
        url: world.receiver.hook().url,
        name: 'one',
      });
      const run = () => parent.submit('test_webhook_endpoint', { endpointId });
      const first = await run();
      expect(first.body.activity.result.testWebhookEndpointResult.attempt).toMatchObject({
        status: 418,
        answer: 'I am a teapot',
      });
      for (let index = 1; index < 30; index += 1) expect((await run()).status).toBe(200);
      const refused = await run();
      expect(outcome(refused)).toEqual([429, 'RATE_LIMIT_EXCEEDED']);
      expect(refused.headers.get('retry-after')).not.toBeNull();
      expect(await deliveriesOf(parent, { endpointId })).toHaveLength(30);
      app.advance(61 * SECOND);
      expect((await run()).status).toBe(200);
    });
  });
});

test('two processes on one database share the endpoints and never work on one together', async () => {
  const underWay = new Map<string, Set<string>>();
  const seen = { together: 0, by: new Map<string, number>() };
  /** Notes who posts where. */
  const watched = (owner: string): Courier => {
    const courier = localCourier({ allow: ALLOW });
    return {
      async deliver(parcel: Parcel) {
        const here = underWay.get(parcel.url) ?? new Set();
        underWay.set(parcel.url, here.add(owner));
        seen.together = Math.max(seen.together, here.size);
        seen.by.set(owner, (seen.by.get(owner) ?? 0) + 1);
        try {
          return await courier.deliver(parcel);
        } finally {
          here.delete(owner);
        }
      },
      close: () => courier.close(),
    };
  };
  await using world = await World.open('postgres', watched('first'));
  const { app } = world.app;
  const storage = await openStorage({ ...app.config, nowMs: Date.now(), onIdleError: () => {} });
  const second = createWebhooks({
    config: app.config,
    storage,
    keyring: app.keyring,
    serviceKeys: () => app.serviceKeys,
    clock: app.clock,
    steady: app.clock,
    elapsed: app.elapsed,
    observe: app.observe,
    courier: watched('second'),
    checkTarget: app.webhooks.checkTarget,
    isBusy: () => false,
  });
  second.start();
  try {
    const listeners = [];
    for (let index = 0; index < 6; index += 1) listeners.push(await world.newListener());
    // One holds the first endpoint, and the other one cannot have it meanwhile.
    const [held] = listeners as [(typeof listeners)[0]];
    held.hook.answerNext('hang');
    await held.tell(1);
    await held.hook.inFlightCount(1);
    const wakeBoth = (endpointId: string, index: number) => {
      const ids = [endpointId as WebhookEndpointId];
      (index % 2 === 0 ? second : app.webhooks).wake(ids);
      (index % 2 === 0 ? app.webhooks : second).wake(ids);
    };
    for (let round = 0; round < 3; round += 1) {
      for (const [index, listener] of listeners.entries()) {
        await listener.tell(3);
        wakeBoth(listener.endpointId, index + round);
      }
    }
    await Promise.all(listeners.slice(1).map(({ hook }) => hook.count(1 + 9)));
    expect(held.hook.arrivals).toHaveLength(2);
    held.hook.release();
    await held.hook.count(2 + 9);
    for (const { sub, endpointId, hook } of listeners) {
      await expect.poll(() => deliveriesOf(sub, { endpointId, state: STATES.pending }), { timeout: 5000 }).toEqual([]);
      expect(new Set(eventIds(hook.arrivals)).size).toBe(hook.arrivals.length);
    }
    expect(seen.together).toBe(1);
    // Who is told of nothing finds it all the same, when the other one has stopped.
    await app.webhooks.stop();
    const before = seen.by.get('second') ?? 0;
    for (const listener of listeners) await listener.tell(2);
    await expect.poll(() => seen.by.get('second'), { timeout: 10_000 }).toBe(before + 12);
  } finally {
    await second.stop();
    await storage.close();
  }
});
