import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import type { Answer as ScriptedAnswer } from '../../harness/webhook-receiver.ts';
import { outcome } from '../fixtures/policy-flows.ts';
import { deliveriesOf, doSomething, endpointsOf, STATES, settled } from '../fixtures/webhooks.ts';
import { atMs, DAY, eventIds, giveUp, HOUR, MINUTE, openDeliveries, SECOND } from './support.ts';

/** protocol/webhooks 4.4. */
const DELAYS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR];

const LAST_DELAY = 6 * HOUR;
describe.each(databasesOf(import.meta.url))('deliveries on %s', (database) => {
  const suite = openDeliveries(database);

  test('a receiver that never answers well is tried for three days by the published schedule, and can have it then', async () => {
    const { sub, hook, endpointId } = await suite.world.newListener();
    const fence = await suite.world.newListener();
    hook.otherwise = 500;
    const { id } = await doSomething(sub);
    const first = await hook.next();
    expect(first.body.id).toBe(id);
    const { eventId } = first;
    const startedAtMs = suite.app.app.clock();
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
        suite.world.later(0.5 * planned);
        await suite.world.looked(fence);
        expect(hook.arrivals).toHaveLength(attempts + 1);
      }
      suite.world.later(Math.max(0, atMs(delivery.nextAttemptAt) + SECOND - suite.app.app.clock()));
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
    const spent = suite.app.app.clock() - startedAtMs;
    expect(spent).toBeGreaterThan(72 * HOUR - 1.2 * LAST_DELAY);
    expect(spent).toBeLessThan(72 * HOUR + MINUTE);
    expect(attempts).toBeGreaterThan(DELAYS.length + 8);
    expect(dead).not.toHaveProperty('nextAttemptAt');
    expect(dead.attempts.at(-1)).toMatchObject({ status: 500 });
    expect((await deliveriesOf(sub, { state: STATES.dead })).map(({ deliveryId }) => deliveryId)).toEqual([
      dead.deliveryId,
    ]);
    // Nothing more comes by itself; replayed, the round begins again.
    suite.world.later(DAY);
    await suite.world.looked(fence);
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
    suite.world.later(15 * SECOND);
    await settled(sub, { eventId }, 'delivered', attempts + 3);
    expect(hook.arrivals.filter((arrival) => arrival.eventId === eventId)).toHaveLength(attempts + 3);
  });

  test('every answer but 2xx and 410 is tried again, and nobody is followed elsewhere', async () => {
    const elsewhere = suite.world.receiver.hook();
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
      // Each has an endpoint of its own, so that what is tried again later does not take an answer from another.
      const { sub, hook, endpointId, tell: told } = await suite.world.newListener();
      hook.answerNext(answer);
      const [eventId] = (await told(1)).eventIds as [string];
      const isDelivered = state === STATES.delivered;
      const delivery = await settled(sub, { eventId }, isDelivered ? 'delivered' : 'pending', 1);
      expect(delivery.attempts).toEqual([
        { attemptedAt: expect.any(String), latencyMs: expect.any(Number), ...attempt },
      ]);
      expect('nextAttemptAt' in delivery).toBe(!isDelivered);
      const before = hook.arrivals.length;
      suite.world.later(10 * SECOND);
      if (!isDelivered) await hook.count(before + 1);
      const delivered = await settled(sub, { eventId }, 'delivered', isDelivered ? 1 : 2);
      expect(await deliveriesOf(sub, { endpointId, state: STATES.failed })).toEqual([]);
      expect(delivered.attempts).toHaveLength(isDelivered ? 1 : 2);
    }
    expect(elsewhere.arrivals).toEqual([]);
  });

  test('a connection that breaks off is tried again', async () => {
    const { sub, hook, tell: told } = await suite.world.newListener();
    // A connection that breaks off may be one that was kept for too long, so that it has a second chance at once.
    hook.otherwise = 'drop';
    const [dropped] = (await told(1)).eventIds as [string];
    const { attempts } = await settled(sub, { eventId: dropped }, 'pending', 1);
    expect(attempts).toMatchObject([{ error: 'network' }]);
    hook.otherwise = 200;
    suite.world.later(10 * SECOND);
    await settled(sub, { eventId: dropped }, 'delivered', 2);
  });

  test('failed ones are replayed since a time, and nobody replays what is not theirs', async () => {
    const { sub, hook, endpointId, tell: told } = await suite.world.newListener();
    const other = await suite.world.newListener();
    hook.answerNext(404, 404, 404, 200);
    const early = await told(2);
    await hook.count(3);
    await settled(sub, { eventId: early.eventIds[1] }, 'pending', 1);
    await giveUp(suite.app, early.deliveryIds);
    suite.world.later(MINUTE);
    const sinceMs = String(suite.app.app.clock());
    const late = await told(2);
    await settled(sub, { eventId: late.eventIds[1] }, 'delivered');
    await giveUp(suite.app, late.deliveryIds.slice(0, 1));
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
    const fence = await suite.world.newListener();
    for (const [retryAfter, seconds] of [
      [() => '90', 90],
      [() => new Date(suite.app.app.clock() + 600 * SECOND).toUTCString(), 600],
      [() => '3', 5],
      [() => 'soon', 5],
    ] as const) {
      const { sub, hook, tell: told } = await suite.world.newListener();
      hook.answerNext({ status: 429, headers: { 'retry-after': retryAfter() } });
      const [eventId] = (await told(1)).eventIds as [string];
      const delivery = await settled(sub, { eventId }, 'pending', 1);
      const delay = (atMs(delivery.nextAttemptAt) - atMs(delivery.attempts[0].attemptedAt)) / SECOND;
      expect(delay).toBeGreaterThanOrEqual(seconds === 5 ? 3 : seconds - 2);
      expect(delay).toBeLessThanOrEqual(seconds === 5 ? 8 : seconds + 3);
      const [next] = (await told(1)).eventIds as [string];
      if (seconds !== 5) {
        suite.world.later(Math.min(seconds, 60) * SECOND - 15 * SECOND);
        await suite.world.looked(fence);
        expect(hook.arrivals).toHaveLength(2);
        suite.world.later(20 * SECOND);
      } else suite.world.later(4 * SECOND);
      await settled(sub, { eventId: next }, 'delivered', 1);
      suite.world.later(seconds * SECOND + 10 * SECOND);
      await settled(sub, { eventId }, 'delivered', 2);
    }
  });

  test('410 switches an endpoint off, and its owner switches it on', async () => {
    const { sub, hook, endpointId, tell: told } = await suite.world.newListener();
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
    const { sub, hook, endpointId, tell: told } = await suite.world.newListener();
    const moved = suite.world.receiver.hook();
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
});
