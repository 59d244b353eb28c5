import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, type TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { WebhookReceiver } from '../../harness/webhook-receiver.ts';
import { outcome } from '../fixtures/policy-flows.ts';
import { doSomething, LOOPBACK, listen } from '../fixtures/webhooks.ts';

const HOUR_MS = 3_600_000;

describe.each(DATABASES)('what is told of deliveries on %s', (database) => {
  let app: TestApp;
  let receiver: WebhookReceiver;
  let sub: TestClient;
  let stranger: TestClient;

  beforeAll(async () => {
    app = await openTestApp(database, LOOPBACK);
    receiver = await WebhookReceiver.start();
    sub = await createSubOrganization(app.root, 'Told');
    stranger = await createSubOrganization(app.root, 'Stranger');
  });
  afterAll(async () => {
    await receiver[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  const statistics = async (parameters: Record<string, unknown>, client = sub) =>
    await client.query('get_webhook_statistics', { sinceMs: since(), bucketMs: '60000', ...parameters });
  const since = () => String(app.app.clock() - HOUR_MS);

  test('one delivery is shown as it was posted', async () => {
    const hook = receiver.hook();
    const endpointId = await listen(sub, hook);
    await doSomething(sub);
    const arrival = await hook.next();
    const { deliveryId } = await vi.waitFor(async () => {
      const [found] = (await sub.query('list_webhook_deliveries', { endpointId })).body.webhookDeliveries;
      expect(found.state).toBe('WEBHOOK_DELIVERY_STATE_DELIVERED');
      return found;
    });
    const { webhookDelivery } = (await sub.query('get_webhook_delivery', { deliveryId })).body;
    const [listed] = (await sub.query('list_webhook_deliveries', { endpointId })).body.webhookDeliveries;
    expect(webhookDelivery).toMatchObject(listed);
    expect(webhookDelivery.payload).toBe(arrival.raw.toString());
    for (const [name, value] of Object.entries(webhookDelivery.headers)) {
      expect(arrival.headers[name.toLowerCase()], name).toBe(value);
    }
    const sent = new Set(Object.keys(arrival.headers));
    for (const name of webhookDelivery.headersPerAttempt) {
      expect(sent.has(name.toLowerCase()), name).toBe(true);
      expect(webhookDelivery.headers).not.toHaveProperty(name);
    }
    // A target in the list of the operator: what it answers is nobody's business.
    expect(webhookDelivery.attempts[0]).not.toHaveProperty('answer');
    expect(outcome(await stranger.query('get_webhook_delivery', { deliveryId }))).toEqual([
      404,
      'WEBHOOK_DELIVERY_NOT_FOUND',
    ]);
    await sub.run('delete_webhook_endpoint', { endpointId });
    expect(outcome(await sub.query('get_webhook_delivery', { deliveryId }))).toEqual([
      404,
      'WEBHOOK_DELIVERY_NOT_FOUND',
    ]);
  });

  test('statistics count attempts and deliveries, of one endpoint or of all', async () => {
    const [fine, gone] = [receiver.hook(), receiver.hook()];
    const endpointId = await listen(sub, fine);
    // It is switched off with the first answer.
    gone.otherwise = 410;
    const goneId = await listen(sub, gone);
    await doSomething(sub);
    await doSomething(sub);
    await fine.next();
    await fine.next();
    await vi.waitFor(async () => {
      const { body } = await statistics({ endpointId: goneId });
      expect(body).toMatchObject({ succeeded: 0, failed: 1, failedForGood: 1 });
    });
    const { body } = await vi.waitFor(async () => {
      const found = await statistics({ endpointId });
      expect(found.body).toMatchObject({ failed: 0, waiting: 0, failedForGood: 0 });
      expect(found.body.succeeded).toBeGreaterThanOrEqual(2);
      return found;
    });
    expect(body).not.toHaveProperty('isPartial');
    expect(body.buckets).toHaveLength(61);
    const starts = body.buckets.map(({ startsAt }: { startsAt: string }) => Date.parse(startsAt));
    expect(new Set(starts.slice(1).map((at: number, index: number) => at - starts[index]))).toEqual(new Set([60_000]));
    const total = body.buckets.reduce((sum: number, { succeeded }: { succeeded: number }) => sum + succeeded, 0);
    expect(total).toBe(body.succeeded);
    const all = (await statistics({})).body;
    expect(all.succeeded).toBeGreaterThanOrEqual(body.succeeded);
    expect(all.failedForGood).toBe(1);
    // What is deleted is not counted any more.
    await sub.run('delete_webhook_endpoint', { endpointId: goneId });
    expect((await statistics({})).body.failedForGood).toBe(0);
    expect((await statistics({}, stranger)).body).toMatchObject({ succeeded: 0, failed: 0, waiting: 0 });
    expect(outcome(await statistics({ endpointId }, stranger))).toEqual([404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
  });

  test('statistics refuse what they cannot count', async () => {
    for (const [parameters, field] of [
      [{ bucketMs: '0' }, 'bucketMs'],
      [{ bucketMs: '999' }, 'bucketMs'],
      [{ bucketMs: '1000' }, 'bucketMs'],
      [{ bucketMs: 'x' }, 'bucketMs'],
      [{ sinceMs: '0' }, 'bucketMs'],
      [{ sinceMs: '-1' }, 'sinceMs'],
      [{ sinceMs: String(Date.now() + HOUR_MS) }, 'sinceMs'],
    ] as const) {
      const answer = await statistics(parameters);
      expect(outcome(answer), JSON.stringify(parameters)).toEqual([400, 'REQUEST_INVALID']);
      expect(answer.body.message).toContain(field);
    }
    expect((await statistics({ sinceMs: '999999999999999', bucketMs: '999999999999999' })).status).toBe(400);
    expect((await statistics({ sinceMs: '0', bucketMs: '999999999999999' })).body.buckets).toHaveLength(1);
  });

  test('a replay until a time wants a time to begin with', async () => {
    const endpointId = await listen(sub, receiver.hook());
    const replay = async (parameters: object) =>
      outcome(await sub.submit('replay_webhook_delivery', { endpointId, ...parameters }));
    expect(await replay({ untilMs: '5' })).toEqual([400, 'REQUEST_INVALID']);
    expect(await replay({ sinceMs: '6', untilMs: '5' })).toEqual([400, 'REQUEST_INVALID']);
    expect(await replay({ sinceMs: '5', untilMs: '5' })).toEqual([200, 'ACTIVITY_STATUS_COMPLETED']);
  });
});
