import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { WebhookReceiver } from '../../harness/webhook-receiver.ts';
import { ClockClient } from '../fixtures/policy-flows.ts';
import { deliveriesOf, endpointsOf, LOOPBACK, listen, STATES, settled, tell } from '../fixtures/webhooks.ts';

// A receiver that is being deployed answers 404 for minutes: nothing that happened meanwhile is lost by it, and nothing
// else of the endpoint waits for it.

const SECOND = 1000;

describe.each(DATABASES)('a receiver that refuses, on %s', (database) => {
  let opened: TestApp;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    opened = await openTestApp(database, LOOPBACK);
    receiver = await WebhookReceiver.start();
  });
  afterAll(async () => {
    await receiver?.[Symbol.asyncDispose]();
    await opened?.[Symbol.asyncDispose]();
  });

  async function newListener() {
    const parent = new ClockClient(opened.app.clock, opened.root);
    const client = new ClockClient(opened.app.clock, await createSubOrganization(parent, 'Listener'));
    const hook = receiver.hook();
    const endpointId = await listen(client, hook);
    await settled(client, { endpointId }, 'delivered');
    return { client, hook, endpointId, tell: (count: number) => tell(opened, client, endpointId, count) };
  }
  const later = (milliseconds: number): void => {
    opened.advance(milliseconds);
    opened.app.webhooks.wake();
  };

  test('gets everything in the end, by the schedule', async () => {
    const { client, hook, endpointId, tell: told } = await newListener();
    hook.answerNext(200);
    const [honest] = (await told(1)).eventIds;
    await settled(client, { eventId: honest }, 'delivered', 1);
    // A deploy: pages that are not there, a login in front of them, a redirect to a page that says so.
    const answers = [404, 401, { status: 302, headers: { location: hook.url } }, 400, 403];
    hook.answerNext(...answers);
    const { eventIds } = await told(answers.length);
    for (const [index, eventId] of eventIds.entries()) {
      const { attempts, nextAttemptAt } = await settled(client, { eventId }, 'pending', 1);
      const delayMs = Date.parse(nextAttemptAt) - Date.parse(attempts[0].attemptedAt);
      expect([index, delayMs >= 4 * SECOND && delayMs <= 7 * SECOND]).toEqual([index, true]);
    }
    // Still not there.
    hook.otherwise = 404;
    later(10 * SECOND);
    for (const eventId of eventIds) await settled(client, { eventId }, 'pending', 2);
    hook.otherwise = 200;
    later(60 * SECOND);
    for (const eventId of eventIds) await settled(client, { eventId }, 'delivered', 3);
    expect(await deliveriesOf(client, { endpointId, state: STATES.failed })).toEqual([]);
    expect(await endpointsOf(client)).toMatchObject([{ isActive: true }]);
  });

  test('is not rested for it: what it takes comes at once', async () => {
    const { client, hook, tell: told } = await newListener();
    // More than make trouble of an endpoint that does not answer; one asks for an hour, for itself.
    hook.answerNext(404, 404, 400, { status: 404, headers: { 'retry-after': '3600' } }, 404, 200);
    const { eventIds } = await told(6);
    await settled(client, { eventId: eventIds[5] }, 'delivered', 1);
    const next = await told(1);
    await settled(client, { eventId: next.eventIds[0] }, 'delivered', 1);
    later(10 * SECOND);
    for (const eventId of eventIds.filter((_, index) => index !== 3)) await settled(client, { eventId }, 'delivered');
    const [patient] = await deliveriesOf(client, { eventId: eventIds[3] });
    expect(patient).toMatchObject({ state: STATES.pending, attempts: [{ status: 404 }] });
    later(3600 * SECOND);
    await settled(client, { eventId: eventIds[3] }, 'delivered', 2);
  });

  test('everything, is sent no more at a time than any other', async () => {
    const { client, hook, endpointId, tell: told } = await newListener();
    hook.otherwise = 400;
    const before = hook.arrivals.length;
    await told(60);
    await hook.count(before + 60);
    await expect.poll(() => deliveriesOf(client, { endpointId, state: STATES.pending })).toHaveLength(60);
    later(10 * SECOND);
    await hook.count(before + 120);
    expect(hook.inFlightMax).toBeLessThanOrEqual(16);
    // It is the last word of nobody but the receiver itself.
    hook.otherwise = 410;
    later(60 * SECOND);
    await expect.poll(() => endpointsOf(client)).toMatchObject([{ isActive: false }]);
  });
});
