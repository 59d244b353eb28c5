import { describe, expect, test } from 'vitest';
import type { WebhookEvent } from '../../../src/domains/webhooks/model.ts';
import { localPoster, type Poster } from '../../../src/domains/webhooks/poster/poster.ts';
import type { Posting } from '../../../src/domains/webhooks/poster/posting.ts';
import { WebhookStore } from '../../../src/domains/webhooks/store/webhooks.ts';
import { createWebhooks, type RunningWebhooks, type WebhookParts } from '../../../src/domains/webhooks/webhooks.ts';
import { dataModel } from '../../../src/domains.ts';
import { loadIntegrity } from '../../../src/integrity/load.ts';
import { type OrganizationId, randomId, type WebhookDeliveryId, type WebhookEndpointId } from '../../../src/lib/ids.ts';
import { openStorage } from '../../../src/storage/open.ts';
import type { TestApp } from '../../harness/app.ts';
import { outcome } from '../fixtures/policy-flows.ts';
import { deliveriesOf, endpointsOf, rowsOf, STATES, settled } from '../fixtures/webhooks.ts';
import { eventIds, SECOND, World } from './support.ts';

const ALLOW = ['127.0.0.0/8'];

describe('one process', () => {
  test('waits for no answer longer than its patience, and tries again', async () => {
    await using world = await World.open('sqlite', localPoster({ allow: ALLOW, timeoutMs: 300 }));
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
      poster: localPoster({ allow: ALLOW }),
      checkTarget: app.webhooks.checkTarget,
      describe: async () => new Map(),
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
    for (const queue of await rowsOf(app, 'webhook_lane')) expect(queue).toMatchObject({ owner: '', failures: 0 });
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
        integrity: storage.integrity,
        fence: storage.fence,
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
    const answering = (answer: string): Poster => ({
      deliver: async () => ({ latencyMs: 3, status: 418, answer }),
      close: async () => {},
    });

    test('and tells what came back, but not what it said inside the operator’s networks', async () => {
      await using world = await World.open('sqlite', localPoster({ allow: ALLOW, timeoutMs: 300 }));
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
  const watched = (owner: string): Poster => {
    const poster = localPoster({ allow: ALLOW });
    return {
      async deliver(posting: Posting) {
        const here = underWay.get(posting.url) ?? new Set();
        underWay.set(posting.url, here.add(owner));
        seen.together = Math.max(seen.together, here.size);
        seen.by.set(owner, (seen.by.get(owner) ?? 0) + 1);
        try {
          return await poster.deliver(posting);
        } finally {
          here.delete(owner);
        }
      },
      close: () => poster.close(),
    };
  };
  await using world = await World.open('postgres', watched('first'));
  const { app } = world.app;
  const storage = await openStorage({ dataModel, ...app.config, nowMs: Date.now(), onIdleError: () => {} });
  storage.fence.load([], new Set());
  await loadIntegrity(storage, app.keyring);
  const second = createWebhooks({
    config: app.config,
    storage,
    keyring: app.keyring,
    serviceKeys: () => app.serviceKeys,
    clock: app.clock,
    steady: app.clock,
    elapsed: app.elapsed,
    observe: app.observe,
    poster: watched('second'),
    checkTarget: app.webhooks.checkTarget,
    describe: async () => new Map(),
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
