import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { VelocityReader } from '../../../src/domains/policies/store/velocity.ts';
import { WebhookStore } from '../../../src/domains/webhooks/store/webhooks.ts';
import { RateWindowReader, RateWindowStore } from '../../../src/storage/rate-windows.ts';
import { settleFuture } from '../../../src/timekeeping/settle.ts';
import { StubError, StubNode } from '../../chain/stub-node.ts';
import { newWallet } from '../../fixtures/keys.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { WebhookReceiver } from '../../harness/webhook-receiver.ts';
import { outcome, policyFor } from '../fixtures/access.ts';
import { ClockClient } from '../fixtures/policy-flows.ts';
import { LOOPBACK, listen, settled, tell } from '../fixtures/webhooks.ts';

// Somebody sets the clock of the machine a year ahead, and back when it is noticed. No limit is used up for a year by
// what was counted meanwhile, none can be passed by it, and nothing waits for the year to come.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 365 * 24 * HOUR;
const PATIENCE = { timeout: 15_000, interval: 20 };
const TAG = 'ACTIVITY_TYPE_CREATE_USER_TAG';
const DONE = [200, 'ACTIVITY_STATUS_COMPLETED'];
const EXCEEDED = [403, 'VELOCITY_EXCEEDED'];

describe.each(DATABASES)('a clock that was a year ahead, on %s', (database) => {
  let opened: TestApp;
  let receiver: WebhookReceiver;
  let node: StubNode;

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    node = await StubNode.start();
    const chains = JSON.stringify(node.settings({ sendWithinSeconds: 600 }));
    opened = await openTestApp(database, { ...LOOPBACK, CUSTOS_CHAINS: chains });
    opened.app.sends.start();
  });
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
    await node?.[Symbol.asyncDispose]();
    await receiver?.[Symbol.asyncDispose]();
  });

  const newOrganization = async ({ app, root }: TestApp = opened): Promise<TestClient> =>
    new ClockClient(app.clock, await createSubOrganization(new ClockClient(app.clock, root), randomUUID()));
  const tag = async (client: TestClient) =>
    outcome(await client.submit('create_user_tag', { userTagName: randomUUID(), userIds: [] }));

  /** Two tags in an hour, for everybody but the root quorum. */
  async function limited(on: TestApp = opened) {
    const root = await newOrganization(on);
    const user = new ClockClient(on.app.clock, await createUser(root, 'user'));
    await policyFor(root, user);
    const { velocityControlId } = await root.run('create_velocity_control', {
      name: 'Tags',
      identifier: randomUUID(),
      dataSource: { activityExecution: { filter: { activity: [{ activityType: TAG }] } } },
      aggregation: {
        method: 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
        operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
        threshold: '2',
        window: { rolling: { duration: '1h' } },
        groupBy: { organization: {} },
      },
    });
    const control = { organizationId: root.organizationId as never, controlId: velocityControlId };
    const isAhead = async () => {
      const groups = await opened.app.storage
        .read(VelocityReader)
        .groupsBehind(control, '', opened.app.clock() + HOUR, 10);
      return groups.some(({ hasLater }) => hasLater);
    };
    return { user, isAhead };
  }
  test('a velocity control lets through what fits, and no more', async () => {
    const { user, isAhead } = await limited();
    expect(await tag(user)).toEqual(DONE);
    opened.setClock(YEAR);
    // By the clock the window has passed.
    expect(await tag(user)).toEqual(DONE);
    expect(await tag(user)).toEqual(DONE);
    expect(await tag(user)).toEqual(EXCEEDED);
    expect(await isAhead()).toBe(false);
    opened.setClock(0);
    expect(await isAhead()).toBe(true);
    expect(await tag(user)).toEqual(EXCEEDED);
    await vi.waitFor(async () => expect(await isAhead()).toBe(false), PATIENCE);
    // What was counted ahead counts for an hour from now.
    expect(await tag(user)).toEqual(EXCEEDED);
    opened.advance(HOUR - MINUTE);
    expect(await tag(user)).toEqual(EXCEEDED);
    opened.advance(2 * MINUTE);
    expect(await tag(user)).toEqual(DONE);
    expect(await tag(user)).toEqual(DONE);
    expect(await tag(user)).toEqual(EXCEEDED);
  });

  test('what is limited by the minute is not limited for a year', async () => {
    const { clock, storage } = opened.app;
    const key = { organizationId: (await newOrganization()).organizationId as never, name: 'something' };
    const count = () =>
      storage.write((store) =>
        store(RateWindowStore).countUp(key.organizationId, key.name, { max: 2, windowMs: MINUTE, nowMs: clock() }),
      );
    expect([await count(), await count(), await count()]).toEqual([true, true, false]);
    opened.setClock(YEAR);
    expect([await count(), await count(), await count()]).toEqual([true, true, false]);
    opened.setClock(0);
    expect(await count()).toBe(false);
    const latest = async () =>
      (await storage.read(RateWindowReader).countsBehind(undefined, 1000)).find(({ name }) => name === key.name)
        ?.latestMs ?? 0;
    await vi.waitFor(async () => expect(await latest()).toBeLessThan(clock() + HOUR), PATIENCE);
    expect(await count()).toBe(false);
    opened.advance(2 * MINUTE);
    expect([await count(), await count(), await count()]).toEqual([true, true, false]);
  });

  test('webhooks are neither given up nor late', async () => {
    const client = await newOrganization();
    const hook = receiver.hook();
    const endpointId = await listen(client, hook);
    await settled(client, { endpointId }, 'delivered');
    // Waits when the clock goes ahead.
    hook.otherwise = 503;
    const before = (await tell(opened, client, endpointId, 1)).eventIds[0];
    await settled(client, { eventId: before }, 'pending', 1);
    opened.setClock(YEAR);
    const during = (await tell(opened, client, endpointId, 1)).eventIds[0];
    opened.app.webhooks.wake();
    await settled(client, { eventId: during }, 'pending', 1);
    // Time for what clears away.
    opened.advance(2 * MINUTE);
    opened.app.webhooks.wake();
    await settled(client, { eventId: before }, 'pending', 2);
    await settled(client, { eventId: during }, 'pending', 2);
    opened.setClock(0);
    hook.otherwise = 200;
    opened.advance(3 * MINUTE);
    opened.app.webhooks.wake();
    await settled(client, { eventId: before }, 'delivered', 3);
    await settled(client, { eventId: during }, 'delivered', 3);
  });

  test('sends are neither given up nor late', async () => {
    const client = await newOrganization();
    const send = async () => {
      const { address: from } = await newWallet(client, randomUUID());
      const calls = [{ to: `0x${'35'.repeat(20)}`, value: '5', data: '0x' }];
      return (await client.run('eth_send_transaction', { from, caip2: node.caip2, calls })).sendTransactionStatusId;
    };
    const isIncluded = async (sendTransactionStatusId: string) =>
      await vi.waitFor(async () => {
        const { body } = await client.query('get_send_transaction_status', { sendTransactionStatusId });
        expect(body).toMatchObject({ txStatus: 'INCLUDED' });
      }, PATIENCE);
    await isIncluded(await send());
    let asked = 0;
    node.methods.set('eth_getTransactionCount', () => {
      asked += 1;
      throw new StubError('not now');
    });
    const before = await send();
    await vi.waitFor(() => expect(asked).toBeGreaterThan(0), PATIENCE);
    opened.setClock(YEAR);
    const during = await send();
    const soFar = asked;
    await vi.waitFor(() => expect(asked).toBeGreaterThan(soFar + 2), PATIENCE);
    node.methods.clear();
    await isIncluded(before);
    opened.setClock(0);
    await isIncluded(during);
  });

  test('what a process held that died meanwhile is free again', async () => {
    const { clock, storage } = opened.app;
    const client = await newOrganization();
    const { endpointId } = await client.run('create_webhook_endpoint', {
      url: receiver.hook().url,
      name: 'Held',
      subscriptions: [],
    });
    const claim = (owner: string) =>
      storage.write((store) => store(WebhookStore).claimQueue(endpointId, owner, clock(), clock() + 10_000));
    opened.setClock(YEAR);
    expect(await claim('who dies')).toMatchObject({ organizationId: client.organizationId });
    opened.setClock(0);
    expect(await claim('another')).toBeUndefined();
    await vi.waitFor(async () => expect(await claim('another')).toBeDefined(), PATIENCE);
  });

  // An embedded database has no clock of its own to compare with.
  if (database === 'postgres')
    test('a process that is behind does not age what others have counted', async () => {
      await using other = await openTestApp(database);
      const { user } = await limited(other);
      expect([await tag(user), await tag(user)]).toEqual([DONE, DONE]);
      await settleFuture(other.app.storage, other.app.clock() - YEAR);
      expect(await tag(user)).toEqual(EXCEEDED);
    });

  test('the difference is measured where the database has a clock', async () => {
    const { metrics } = opened.app.observe;
    const skew = async () => /^custos_clock_skew_seconds (.+)$/m.exec(await metrics.metrics())?.[1];
    opened.setClock(1000 * HOUR);
    if (database === 'postgres') {
      await vi.waitFor(async () => expect(Number(await skew())).toBeGreaterThan(3_500_000), PATIENCE);
    } else expect(await skew()).toBeUndefined();
    opened.setClock(0);
  });
});
