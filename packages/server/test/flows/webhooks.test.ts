import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { Receiver } from '../harness/bundles.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { type Arrival, type Hook, WebhookReceiver } from '../harness/webhook-receiver.ts';
import { LoginService, loginParameters } from './fixtures/logins.ts';
import { idToken, startKnownIssuer } from './fixtures/oauth.ts';
import {
  allow,
  approve,
  COMPLETED,
  FAILED,
  newOrganization,
  outcome,
  PENDING,
  path,
  REJECTED,
  read,
  reject,
  rename,
  voters,
} from './fixtures/policy-flows.ts';
import { ProxyWorld } from './fixtures/proxy.ts';
import {
  activityUpdates,
  allWebhookText,
  arrivalsBefore,
  deliveriesOf,
  doSomething,
  endpointsOf,
  LOOPBACK,
  listen,
  rowsOf,
  STATES,
  settled,
  subscribe,
} from './fixtures/webhooks.ts';

// What is told to whom. How it is delivered is in webhook-delivery.test.ts, how it is signed in webhook-keys.test.ts.

const digest = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const statuses = (arrivals: readonly Arrival[]): string[] => arrivals.map(({ body }) => body.status);

describe.each(DATABASES)('webhooks on %s', (database) => {
  let app: TestApp;
  let receiver: WebhookReceiver;
  let parent: TestClient;

  beforeAll(async () => {
    app = await openTestApp(database, LOOPBACK);
    receiver = await WebhookReceiver.start();
    parent = app.root;
  });
  afterAll(async () => {
    await receiver[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  const newSub = () => createSubOrganization(parent, `Org ${randomUUID()}`);

  /** An organization whose root users have to agree, all of them, and a receiver that knows nothing of it yet. */
  async function newQuorum() {
    const { root, second, third } = await newOrganization(parent, 'second', 'third');
    const hook = receiver.hook();
    const endpointId = await listen(root, hook);
    const userIds = [root, second, third].map(({ userId }) => userId);
    await root.run('update_root_quorum', { threshold: 3, userIds });
    await hook.next();
    return { root, second, third, hook, endpointId };
  }

  describe('events', () => {
    test('what is created and completed at once is one event: the activity itself', async () => {
      const sub = await newSub();
      const hook = receiver.hook();
      await listen(sub, hook);
      const activity = await doSomething(sub);
      const [arrival, ...more] = await arrivalsBefore(sub, hook);
      expect(more).toEqual([]);
      expect(arrival?.body).toEqual(await read(sub, activity.id));
      expect(arrival?.body).toMatchObject({ status: COMPLETED, canApprove: false, canReject: false });
      expect(Object.keys(arrival?.body)).toEqual(Object.keys(activity));
    });

    test('each change of an activity that many decide is one, in order, with its votes', async () => {
      const { root, second, third, hook } = await newQuorum();
      const { id, fingerprint } = (await rename(root)).body.activity;
      await approve(second, fingerprint);
      await approve(third, fingerprint);
      const [proposed, supported, done] = (await hook.take(3)) as [Arrival, Arrival, Arrival];
      const all = [proposed, supported, done];
      expect(all.map(({ body }) => body.id)).toEqual([id, id, id]);
      expect(statuses(all)).toEqual([PENDING, PENDING, COMPLETED]);
      expect(all.map(({ body }) => voters(body))).toEqual([
        [root.userId],
        [root.userId, second.userId],
        [root.userId, second.userId, third.userId],
      ]);
      for (const { body } of all) expect(body).toMatchObject({ canApprove: false, canReject: false });
      expect([proposed.body.result, supported.body.result]).toEqual([{}, {}]);
      expect(done.body).toEqual(await read(root, id));
      expect(new Set(all.map(({ eventId }) => eventId)).size).toBe(3);
      // Votes and reads of what is done change nothing.
      await approve(second, fingerprint);
      await rename(second, 'x', root.userId).then(({ body }) => reject(root, body.activity.fingerprint));
      const [proposedNext, rejected] = await hook.take(2);
      expect(statuses([proposedNext, rejected] as Arrival[])).toEqual([PENDING, REJECTED]);
      expect(rejected?.body.votes.map((vote: { selection: string }) => vote.selection)).toEqual([
        'VOTE_SELECTION_APPROVED',
        'VOTE_SELECTION_REJECTED',
      ]);
    });

    test('approvals that come together are told one after the other, and the last one completes it', async () => {
      const { root, second, third, hook } = await newQuorum();
      const { id, fingerprint } = (await rename(root)).body.activity;
      await Promise.all([second, third, second, third].map((client) => approve(client, fingerprint)));
      const arrivals = await hook.take(3);
      expect(statuses(arrivals)).toEqual([PENDING, PENDING, COMPLETED]);
      expect(arrivals.map(({ body }) => body.votes.length)).toEqual([1, 2, 3]);
      expect(arrivals[2]?.body).toEqual(await read(root, id));
      await reject(root, (await rename(second)).body.activity.fingerprint);
      expect(statuses(await hook.take(2))).toEqual([PENDING, REJECTED]);
    });

    test('an approved activity that cannot be done is told as failed, and why', async () => {
      const { root, second, third, hook } = await newQuorum();
      const tag = { userTagName: 'taken', userIds: [] };
      const ask = async () => (await root.submit('create_user_tag', tag)).body.activity;
      const asked = [await ask(), await ask()];
      expect(statuses(await hook.take(2))).toEqual([PENDING, PENDING]);
      for (const [index, status] of [COMPLETED, FAILED].entries()) {
        const { fingerprint } = asked[index];
        await approve(second, fingerprint);
        const { id } = (await approve(third, fingerprint)).body.activity;
        const arrivals = await hook.take(2);
        expect(statuses(arrivals)).toEqual([PENDING, status]);
        expect(arrivals[1]?.body).toEqual(await read(root, id));
        if (status === FAILED) expect(arrivals[1]?.body).toMatchObject({ result: {}, failure: { code: 6 } });
      }
    });

    test('what was refused or undone is not told, a denial is', async () => {
      const sub = await newSub();
      const plain = await createUser(sub, 'plain');
      const hook = receiver.hook();
      await listen(sub, hook);
      const tag = { userTagName: 'mine', userIds: [] };
      const body = sub.submitBody('create_user_tag', tag);
      expect((await sub.sendStamped(path('create_user_tag'), body)).status).toBe(200);
      expect(statuses([await hook.next()])).toEqual([COMPLETED]);
      // The same bytes again, the same effect again, and what never became an activity.
      expect((await sub.sendStamped(path('create_user_tag'), body)).status).toBe(200);
      expect((await sub.submit('create_user_tag', tag)).status).toBe(409);
      expect((await sub.submit('create_user_tag', { userTagName: '' })).status).toBe(400);
      expect((await sub.as(newKeyPair()).submit('create_user_tag', tag)).status).toBe(401);
      expect((await sub.submit('create_user_tag', tag, { timestampMs: '1' })).status).toBe(400);
      expect(await arrivalsBefore(sub, hook)).toEqual([]);
      const denied = await plain.submit('create_user_tag', { userTagName: 'theirs', userIds: [] });
      expect(outcome(denied)).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      const [arrival, ...more] = await arrivalsBefore(sub, hook);
      expect(more).toEqual([]);
      expect(arrival?.body).toMatchObject({ status: REJECTED, result: {} });
      expect(voters(arrival?.body)).toEqual([plain.userId]);
      // Asked again it is refused again, and that is no news.
      expect((await sub.query('get_activity', { activityId: arrival?.body.id })).body.activity).toEqual(arrival?.body);
    });

    test('where nobody subscribes nothing is written', async () => {
      const sub = await newSub();
      const hooks = Array.from({ length: 4 }, () => receiver.hook()) as [Hook, Hook, Hook, Hook];
      await doSomething(sub);
      // One that is off, one whose subscription is, one that wants something else, and one that wants nothing.
      const off = await subscribe(sub, hooks[0], { filters: { statuses: [FAILED] } });
      await sub.run('update_webhook_endpoint', { endpointId: off, isActive: false });
      await subscribe(sub, hooks[1], { isActive: false });
      await subscribe(sub, hooks[2], { filters: { activityTypes: ['ACTIVITY_TYPE_CREATE_WALLET'] } });
      await sub.run('create_webhook_endpoint', { url: hooks[3].url, name: 'nothing' });
      await doSomething(sub);
      const rows = () => Promise.all([rowsOf(app, 'webhook_event'), rowsOf(app, 'webhook_delivery')]);
      const ofSub = (all: Record<string, unknown>[]) =>
        all.filter((row) => row['organization_id'] === sub.organizationId);
      const [events, deliveries] = await rows();
      expect([ofSub(events), ofSub(deliveries)]).toEqual([[], []]);
      for (const { arrivals } of hooks) expect(arrivals).toEqual([]);
    });

    test('a sub-organization that is deleted says so to its parent, and has nothing left of its own', async () => {
      const sub = await newSub();
      const [own, parents] = [receiver.hook(), receiver.hook()];
      await listen(sub, own);
      const filters = { organizationIds: [sub.organizationId] };
      const endpointId = await subscribe(parent, parents, { filters });
      const answer = await sub.submit('delete_sub_organization', {});
      expect(outcome(answer)).toEqual([200, COMPLETED]);
      const arrival = await parents.next();
      expect(arrival.body).toMatchObject({ type: 'ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION', status: COMPLETED });
      expect(arrival.headers['x-service-organization-id']).toBe(sub.organizationId);
      for (const table of ['webhook_endpoint', 'webhook_event', 'webhook_delivery', 'webhook_lane'] as const) {
        expect(await rowsOf(app, table, sub.organizationId)).toEqual([]);
      }
      await settled(parent, { endpointId }, 'delivered');
      await parent.run('delete_webhook_endpoint', { endpointId });
    });
  });

  describe('subscriptions', () => {
    test('filters, switches and several endpoints choose for themselves', async () => {
      const sub = await newSub();
      const plain = await createUser(sub, 'plain');
      const other = await newSub();
      const choices = {
        everything: {},
        types: { filters: { activityTypes: ['ACTIVITY_TYPE_CREATE_USER_TAG', 'ACTIVITY_TYPE_CREATE_POLICY_V3'] } },
        statuses: { filters: { statuses: [REJECTED, FAILED] } },
        both: { filters: { activityTypes: ['ACTIVITY_TYPE_CREATE_USER_TAG'], statuses: [REJECTED] } },
        own: { filters: { organizationIds: [sub.organizationId] } },
        others: { filters: { organizationIds: [other.organizationId, parent.organizationId] } },
        empty: { filters: {} },
        paused: { isActive: false },
        off: {},
      };
      const ids: Record<string, string> = {};
      for (const [name, options] of Object.entries(choices)) {
        ids[name] = await subscribe(sub, receiver.hook(), { name, ...options });
      }
      await sub.run('update_webhook_endpoint', { endpointId: ids['off'], isActive: false });
      const before: Record<string, number> = {};
      const counts = async () => {
        const found: Record<string, number> = {};
        for (const [name, endpointId] of Object.entries(ids))
          found[name] = (await deliveriesOf(sub, { endpointId })).length;
        return found;
      };
      Object.assign(before, await counts());
      await doSomething(sub);
      await rename(sub);
      expect((await rename(plain)).status).toBe(403);
      expect((await plain.submit('create_user_tag', { userTagName: 'no', userIds: [] })).status).toBe(403);
      await doSomething(other);
      const after = await counts();
      const made = Object.fromEntries(
        Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]),
      );
      expect(made).toEqual({
        everything: 4,
        types: 2,
        statuses: 2,
        both: 1,
        own: 4,
        others: 0,
        empty: 4,
        paused: 0,
        off: 0,
      });
    });

    test('a parent is told of its sub-organizations, and they of themselves alone', async () => {
      const [sub, sibling] = [await newSub(), await newSub()];
      const [own, siblings, parents, narrow] = [receiver.hook(), receiver.hook(), receiver.hook(), receiver.hook()];
      await listen(sub, own);
      await listen(sibling, siblings);
      const filters = { organizationIds: [sub.organizationId, sibling.organizationId] };
      const endpointIds = [
        await subscribe(parent, parents, { filters }),
        await subscribe(parent, narrow, { filters: { organizationIds: [parent.organizationId] } }),
      ];
      const subscribed = await narrow.next();
      expect(subscribed.headers['x-service-organization-id']).toBe(parent.organizationId);
      const activity = await doSomething(sub);
      const [toSub, toParent] = [await own.next(), await parents.next()];
      expect(toSub.eventId).toBe(toParent.eventId);
      expect(toSub.body).toEqual(toParent.body);
      expect(toParent.body.id).toBe(activity.id);
      for (const { headers } of [toSub, toParent]) {
        expect(headers['x-service-organization-id']).toBe(sub.organizationId);
        expect(headers['x-service-event-type']).toBe('ACTIVITY_UPDATES');
      }
      await doSomething(parent);
      const third = await doSomething(sibling);
      expect((await parents.next()).body.id).toBe(third.id);
      expect((await siblings.next()).body.id).toBe(third.id);
      expect(own.arrivals).toHaveLength(2);
      expect((await narrow.next()).body.organizationId).toBe(parent.organizationId);
      // Each organization sees the deliveries of its own endpoints only, also by the id of the common event.
      const { eventId } = toSub;
      expect(await deliveriesOf(sub, { eventId })).toHaveLength(1);
      expect(await deliveriesOf(parent, { eventId })).toHaveLength(1);
      expect(await deliveriesOf(sibling, { eventId })).toEqual([]);
      for (const endpointId of endpointIds) {
        const asSub = await sub.query('list_webhook_deliveries', { endpointId });
        expect(outcome(asSub)).toEqual([404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
        await parent.run('delete_webhook_endpoint', { endpointId });
      }
    });
  });
});

describe('endpoints', () => {
  let app: TestApp;
  let receiver: WebhookReceiver;
  let parent: TestClient;

  beforeAll(async () => {
    // Balances can be subscribed to where a chain is configured; nobody asks it.
    const chains = { 'eip155:31337': { rpcUrls: ['http://127.0.0.1:1'] } };
    app = await openTestApp('sqlite', { ...LOOPBACK, CUSTOS_CHAINS: JSON.stringify(chains) });
    receiver = await WebhookReceiver.start();
    parent = app.root;
  });
  afterAll(async () => {
    await receiver[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  const newSub = () => createSubOrganization(parent, `Org ${randomUUID()}`);
  const create = (client: TestClient, extra: Record<string, unknown> = {}) =>
    client.submit('create_webhook_endpoint', { url: receiver.hook().url, name: randomUUID(), ...extra });

  test('are created, listed, changed and deleted', async () => {
    const sub = await newSub();
    const [hook, moved] = [receiver.hook(), receiver.hook()];
    const subscription = { eventType: 'ACTIVITY_UPDATES', isActive: true };
    const { endpointId, webhookEndpoint } = await sub.run('create_webhook_endpoint', {
      url: hook.url,
      name: '  first  ',
      subscriptions: [{ eventType: 'ACTIVITY_UPDATES' }],
    });
    const expected = {
      endpointId,
      organizationId: sub.organizationId,
      url: hook.url,
      name: 'first',
      isActive: true,
      subscriptions: [subscription],
    };
    expect(webhookEndpoint).toEqual(expected);
    expect(await endpointsOf(sub)).toEqual([expected]);
    const renamed = await sub.run('update_webhook_endpoint', { endpointId, name: 'second' });
    expect(renamed).toEqual({ endpointId, webhookEndpoint: { ...expected, name: 'second' } });
    const changed = await sub.run('update_webhook_endpoint', { endpointId, url: moved.url, isActive: false });
    const after = { ...expected, name: 'second', url: moved.url, isActive: false };
    expect(changed.webhookEndpoint).toEqual(after);
    expect(await endpointsOf(sub)).toEqual([after]);
    // The parent may read them and not change them, others neither.
    const asParent = { organizationId: sub.organizationId };
    expect((await parent.query('list_webhook_endpoints', asParent)).body.webhookEndpoints).toEqual([after]);
    const other = await newSub();
    expect(await endpointsOf(other)).toEqual([]);
    for (const [operation, parameters] of [
      ['update_webhook_endpoint', { endpointId, name: 'theirs' }],
      ['delete_webhook_endpoint', { endpointId }],
      ['test_webhook_endpoint', { endpointId }],
      ['replay_webhook_delivery', { endpointId, sinceMs: '0' }],
    ] as const) {
      for (const client of [other, parent]) {
        expect(outcome(await client.submit(operation, parameters))).toEqual([404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
      }
    }
    expect(await sub.run('delete_webhook_endpoint', { endpointId })).toEqual({ endpointId });
    expect(await endpointsOf(sub)).toEqual([]);
    for (const operation of ['update_webhook_endpoint', 'delete_webhook_endpoint', 'test_webhook_endpoint']) {
      const gone = await sub.submit(operation, { endpointId, ...(operation.startsWith('update') && { name: 'x' }) });
      expect(outcome(gone)).toEqual([404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
    }
    expect(outcome(await sub.query('list_webhook_deliveries', { endpointId }))).toEqual([
      404,
      'WEBHOOK_ENDPOINT_NOT_FOUND',
    ]);
  });

  test('are governed by policies like anything else', async () => {
    const sub = await newSub();
    const [clerk, plain] = [await createUser(sub, 'clerk'), await createUser(sub, 'plain')];
    await allow(sub, {
      condition: "activity.resource == 'WEBHOOK_ENDPOINT' && activity.action == 'CREATE'",
      consensus: `approvers.any(u, u.id == '${clerk.userId}')`,
    });
    expect((await create(plain)).status).toBe(403);
    const answer = await create(clerk);
    expect(outcome(answer)).toEqual([200, COMPLETED]);
    const { endpointId } = answer.body.activity.result.createWebhookEndpointResult;
    for (const [operation, parameters] of [
      ['update_webhook_endpoint', { endpointId, isActive: false }],
      ['delete_webhook_endpoint', { endpointId }],
      ['test_webhook_endpoint', { endpointId }],
      ['replay_webhook_delivery', { endpointId, sinceMs: '0' }],
    ] as const) {
      expect((await clerk.submit(operation, parameters)).status, operation).toBe(403);
    }
    // One endpoint alone can be given away.
    await allow(sub, {
      condition: `activity.resource == 'WEBHOOK_ENDPOINT' && activity.params.endpoint_id == '${endpointId}'`,
      consensus: `approvers.any(u, u.id == '${plain.userId}')`,
    });
    expect((await plain.submit('update_webhook_endpoint', { endpointId, isActive: false })).status).toBe(200);
    const another = (await create(sub)).body.activity.result.createWebhookEndpointResult.endpointId;
    expect((await plain.submit('update_webhook_endpoint', { endpointId: another, isActive: false })).status).toBe(403);
  });

  test('have names of their own', async () => {
    const sub = await newSub();
    const endpointIds: string[] = [];
    for (const name of ['one', 'two', 'One']) {
      const answer = await create(sub, { name });
      endpointIds.push(answer.body.activity.result.createWebhookEndpointResult.endpointId);
    }
    expect(outcome(await create(sub, { name: 'one' }))).toEqual([409, 'ALREADY_EXISTS']);
    const rename = (name: string) => sub.submit('update_webhook_endpoint', { endpointId: endpointIds[1], name });
    expect(outcome(await rename('one'))).toEqual([409, 'ALREADY_EXISTS']);
    expect((await rename('two')).status).toBe(200);
    expect((await create(await newSub(), { name: 'one' })).status).toBe(200);
    for (const name of ['', ' ', 'a\u0000b', 'x'.repeat(300), 7, null]) {
      expect((await create(sub, { name })).status, String(name)).toBe(400);
    }
  });

  test('are changed by something or not at all', async () => {
    const sub = await newSub();
    const { endpointId } = (await create(sub)).body.activity.result.createWebhookEndpointResult;
    const update = (parameters: Record<string, unknown>) =>
      sub.submit('update_webhook_endpoint', { endpointId, ...parameters });
    expect((await update({ isActive: true })).status).toBe(200);
    expect((await update({})).status).toBe(400);
    for (const parameters of [{ isActive: 'yes' }, { url: '' }, { name: '' }, { endpointId: 'none' }, { x: 1 }]) {
      expect((await update(parameters)).status, JSON.stringify(parameters)).toBe(400);
    }
    expect((await update({ url: 'http://10.0.0.1/' })).body.errorCode).toBe('INVALID_WEBHOOK_URL');
    expect(outcome(await update({ endpointId: randomUUID(), isActive: true }))).toEqual([
      404,
      'WEBHOOK_ENDPOINT_NOT_FOUND',
    ]);
  });

  test.each([
    ['an unknown event', [{ eventType: 'EVERYTHING' }]],
    ['the event of tests', [{ eventType: 'WEBHOOK_TEST' }]],
    ['a name of every object', [{ eventType: 'constructor' }]],
    ['no event', [{}]],
    ['another case', [{ eventType: 'activity_updates' }]],
    ['contradictions', [activityUpdates(), activityUpdates({ isActive: false })]],
    ['contradicting filters', [activityUpdates({ filters: { statuses: [FAILED] } }), activityUpdates()]],
  ])('cannot subscribe to %s', async (_what, subscriptions) => {
    const sub = await newSub();
    expect((await create(sub, { subscriptions: [activityUpdates()] })).status).toBe(200);
    const answer = await create(sub, { subscriptions });
    expect(answer.status, JSON.stringify(answer.body)).toBe(400);
    expect(await endpointsOf(sub)).toHaveLength(1);
  });

  test.each([
    '[]',
    '7',
    'null',
    '"text"',
    'activityTypes',
    '{',
    '{"types":["ACTIVITY_TYPE_CREATE_USERS"]}',
    '{"__proto__":["x"]}',
    '{"constructor":["x"]}',
    '{"activityTypes":"ACTIVITY_TYPE_CREATE_USERS"}',
    '{"activityTypes":[]}',
    '{"activityTypes":["ACTIVITY_TYPE_NOTHING"]}',
    '{"activityTypes":[7]}',
    '{"statuses":["DONE"]}',
    '{"statuses":[null]}',
    '{"organizationIds":["mine"]}',
    '{"addresses":["0x1"]}',
    'a hundred and one values',
  ])('cannot filter by %s', async (text) => {
    const filtersJson = text.startsWith('a hundred') ? JSON.stringify({ statuses: Array(101).fill(FAILED) }) : text;
    const answer = await create(parent, { subscriptions: [{ eventType: 'ACTIVITY_UPDATES', filtersJson }] });
    expect(outcome(answer)).toEqual([400, 'INVALID_WEBHOOK_FILTER']);
    expect(answer.body.message).toContain('parameters.subscriptions.0.filtersJson');
  });

  test('the same subscription twice is one', async () => {
    const sub = await newSub();
    const wanted = activityUpdates({ filters: { statuses: [FAILED, REJECTED] } });
    const answer = await create(sub, { subscriptions: [wanted, { ...wanted, isActive: true }] });
    const { webhookEndpoint } = answer.body.activity.result.createWebhookEndpointResult;
    expect(webhookEndpoint.subscriptions).toEqual([{ ...wanted, isActive: true }]);
  });

  test.each(['BALANCE_CONFIRMED_UPDATES', 'BALANCE_FINALIZED_UPDATES', 'SEND_TRANSACTION_STATUS_UPDATES'])(
    '%s is for parents',
    async (eventType) => {
      const sub = await newSub();
      const subscriptions = [activityUpdates(), { eventType }];
      const answer = await create(parent, { subscriptions });
      expect(outcome(answer)).toEqual([200, COMPLETED]);
      expect(outcome(await create(sub, { subscriptions }))).toEqual([403, 'REQUEST_NOT_AUTHORIZED']);
      expect((await create(sub, { subscriptions: [activityUpdates()] })).status).toBe(200);
      const { endpointId } = answer.body.activity.result.createWebhookEndpointResult;
      await parent.run('delete_webhook_endpoint', { endpointId });
    },
  );

  describe('FEATURE_NAME_WEBHOOK', () => {
    const set = (client: TestClient, value: string) =>
      client.submit('set_organization_feature', { name: 'FEATURE_NAME_WEBHOOK', value });
    const remove = (client: TestClient) =>
      client.submit('remove_organization_feature', { name: 'FEATURE_NAME_WEBHOOK' });

    test('tells a URL of every activity from then on, until it is removed', async () => {
      const sub = await newSub();
      const [hook, moved] = [receiver.hook(), receiver.hook()];
      expect(outcome(await set(sub, hook.url))).toEqual([200, COMPLETED]);
      expect((await hook.next()).body.type).toBe('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE');
      const [endpoint] = await endpointsOf(sub);
      expect(endpoint).toMatchObject({
        url: hook.url,
        isActive: true,
        subscriptions: [activityUpdates({ isActive: true })],
      });
      const activity = await doSomething(sub);
      expect((await hook.next()).body).toEqual(await read(sub, activity.id));
      // Another value moves it; the endpoint and what it was sent stay.
      expect(outcome(await set(sub, moved.url))).toEqual([200, COMPLETED]);
      expect((await moved.next()).body.type).toBe('ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE');
      const after = await endpointsOf(sub);
      expect(after).toEqual([{ ...endpoint, url: moved.url }]);
      const { features } = (await sub.query('get_organization_configs')).body.configs;
      expect(features).toContainEqual({ name: 'FEATURE_NAME_WEBHOOK', value: moved.url });
      expect(await deliveriesOf(sub, { endpointId: endpoint.endpointId })).toHaveLength(3);
      expect(outcome(await remove(sub))).toEqual([200, COMPLETED]);
      expect(await endpointsOf(sub)).toEqual([]);
      await doSomething(sub);
      expect((await deliveriesOf(sub)).length).toBe(0);
      expect((await remove(sub)).status).toBe(200);
      expect([hook.arrivals.length, moved.arrivals.length]).toEqual([2, 1]);
    });

    test('is under the rules for URLs', async () => {
      const sub = await newSub();
      const { url } = receiver.hook();
      for (const bad of [
        'nothing',
        'http://10.0.0.1/',
        'https://10.0.0.1/',
        'https://[::1]/',
        'https://user:word@hook.example/',
        'ftp://127.0.0.1/',
        `${url}#part`,
        `https://hook.example/${'x'.repeat(3000)}`,
      ]) {
        expect(outcome(await set(sub, bad)), bad).toEqual([400, 'INVALID_WEBHOOK_URL']);
      }
      expect(await endpointsOf(sub)).toEqual([]);
      expect((await set(sub, url)).status).toBe(200);
      expect(outcome(await set(sub, 'http://10.0.0.1/'))).toEqual([400, 'INVALID_WEBHOOK_URL']);
      expect((await endpointsOf(sub)).map((endpoint) => endpoint.url)).toEqual([url]);
    });

    test('has an endpoint that only the feature changes', async () => {
      const sub = await newSub();
      const hook = receiver.hook();
      await set(sub, hook.url);
      const [{ endpointId, name }] = (await endpointsOf(sub)) as [{ endpointId: string; name: string }];
      for (const [operation, parameters] of [
        ['update_webhook_endpoint', { endpointId, isActive: false }],
        ['delete_webhook_endpoint', { endpointId }],
      ] as const) {
        expect(outcome(await sub.submit(operation, parameters))).toEqual([400, 'FAILED_PRECONDITION']);
      }
      // To test and to replay it is fine.
      expect((await sub.run('test_webhook_endpoint', { endpointId })).delivered).toBe(true);
      expect((await sub.run('replay_webhook_delivery', { endpointId, sinceMs: '0' })).replayedCount).toBe(0);
      expect((await endpointsOf(sub))[0]).toMatchObject({ endpointId, name, isActive: true });
    });

    test('cannot be blocked by an endpoint of its name', async () => {
      const sub = await newSub();
      const { url } = receiver.hook();
      const first = await create(sub, { name: 'FEATURE_NAME_WEBHOOK' });
      const second = await create(sub);
      const { endpointId } = second.body.activity.result.createWebhookEndpointResult;
      const third = await sub.submit('update_webhook_endpoint', { endpointId, name: 'FEATURE_NAME_WEBHOOK' });
      expect([first.status, second.status, third.status]).toEqual([400, 200, 400]);
      expect(outcome(await set(sub, url))).toEqual([200, COMPLETED]);
    });

    test('is switched on again by being set again', async () => {
      const sub = await newSub();
      const hook = receiver.hook();
      hook.answerNext(410);
      await set(sub, hook.url);
      const [{ endpointId }] = (await endpointsOf(sub)) as [{ endpointId: string }];
      await settled(sub, { endpointId }, 'failed');
      expect((await endpointsOf(sub))[0].isActive).toBe(false);
      await set(sub, hook.url);
      expect((await endpointsOf(sub))[0].isActive).toBe(true);
      await settled(sub, { endpointId, state: STATES.delivered }, 'delivered');
    });
  });
});

test('a very large activity is told without the bodies that its votes signed', async () => {
  await using app = await openTestApp('sqlite', LOOPBACK);
  await using receiver = await WebhookReceiver.start();
  const { root } = app;
  const second = await createUser(root, 'second');
  await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
  const hook = receiver.hook();
  // Two have to agree to the endpoint too.
  const endpoint = { url: hook.url, name: 'one', subscriptions: [activityUpdates()] };
  const created = await root.submit('create_webhook_endpoint', endpoint);
  await approve(second, created.body.activity.fingerprint);
  expect((await hook.next()).body.votes.map((vote: { message: string }) => vote.message.length > 100)).toEqual([
    true,
    true,
  ]);
  const policies = Array.from({ length: 120 }, (_, index) => ({
    policyName: `Policy ${index}`,
    effect: 'EFFECT_ALLOW',
    condition: 'true',
    consensus: 'true',
    notes: '"'.repeat(4000),
  }));
  const { body } = await root.submit('create_policies', { policies });
  const expected = await read(root, body.activity.id);
  expect(JSON.stringify(expected).length).toBeGreaterThan(2 * 1024 * 1024);
  const { raw, body: told } = await hook.next();
  expect(raw.length).toBeLessThan(2 * 1024 * 1024);
  const [vote] = expected.votes;
  expect(told).toEqual({ ...expected, votes: [{ ...vote, message: '' }], canApprove: false, canReject: false });
});

test('what the sign-up proxy does is told to its organization and to no other', async () => {
  await using world = await ProxyWorld.open('sqlite', LOOPBACK);
  await using receiver = await WebhookReceiver.start();
  const { root: stranger } = await world.anotherParent();
  const [own, strangers] = [receiver.hook(), receiver.hook()];
  await listen(world.root, own);
  await listen(stranger, strangers);
  const { token, organizationId } = await world.newAccount();
  const arrivals = await own.take(4);
  expect(arrivals.map(({ body }) => body.type.replace(/_V[0-9]+$/, ''))).toEqual([
    'ACTIVITY_TYPE_ENABLE_AUTH_PROXY',
    'ACTIVITY_TYPE_INIT_OTP',
    'ACTIVITY_TYPE_VERIFY_OTP',
    'ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION',
  ]);
  expect(arrivals[0]?.body).toMatchObject({ status: COMPLETED, votes: [] });
  expect(JSON.stringify(arrivals.at(-1)?.body.result)).toContain(organizationId);
  for (const { body, raw } of arrivals) {
    expect(body).toEqual(await read(world.root, body.id));
    expect(raw.includes(token)).toBe(false);
  }
  const { id } = await doSomething(stranger);
  expect((await strangers.next()).body.id).toBe(id);
  expect(strangers.arrivals).toHaveLength(2);
  expect(own.arrivals).toHaveLength(5);
});

describe('what is secret', () => {
  let logins: LoginService;
  let receiver: WebhookReceiver;

  beforeAll(async () => {
    logins = await LoginService.open('sqlite', LOOPBACK);
    receiver = await WebhookReceiver.start();
  });
  afterAll(async () => {
    await receiver[Symbol.asyncDispose]();
    await logins[Symbol.asyncDispose]();
  });

  test('is told as a digest, secrets of results not at all', async () => {
    const { parent } = logins;
    const issuer = await startKnownIssuer(parent);
    const { user, byParent, email } = await logins.newPerson();
    const [own, parents] = [receiver.hook(), receiver.hook()];
    await listen(user, own);
    const endpointId = await subscribe(parent, parents, { filters: { organizationIds: [user.organizationId] } });

    const [key, session] = [newKeyPair(), newKeyPair()];
    const verificationToken = await logins.verify(byParent, email, key);
    const login = await byParent.run('otp_login', loginParameters(verificationToken, key, session));
    const stamped = await user.run('stamp_login', { publicKey: newKeyPair().publicKey });
    const readOnly = await user.run('create_read_only_session', {});
    const oidcToken = idToken(issuer);
    await user.run('create_oauth_providers', {
      userId: user.userId,
      oauthProviders: [{ providerName: 'by token', oidcToken }],
    });
    const sent = await user.run('init_otp_auth', { otpType: 'OTP_TYPE_EMAIL', contact: email, appName: 'App' });
    const otpCode = await logins.code(email);
    await user.run('otp_auth', { otpId: sent.otpId, otpCode, targetPublicKey: new Receiver().publicKey });
    const secrets = [verificationToken, login.session, stamped.session, readOnly.session, oidcToken];
    for (const secret of secrets) expect(secret.length).toBeGreaterThan(20);

    const arrivals = await own.take(8);
    await parents.count(arrivals.length);
    const by = (operation: string): Arrival['body'] =>
      arrivals.find(({ body }) => body.type.startsWith(`ACTIVITY_TYPE_${operation}`))?.body;
    expect(by('VERIFY_OTP').result).toEqual({ verifyOtpResult: {} });
    expect(by('OTP_LOGIN').intent.otpLoginIntentV2.verificationToken).toBe(digest(verificationToken));
    expect(by('OTP_LOGIN').result.otpLoginResult).toEqual({ session: '' });
    expect(by('STAMP_LOGIN').result.stampLoginResult).toEqual({ session: '' });
    expect(by('CREATE_READ_ONLY_SESSION').result.createReadOnlySessionResult).toMatchObject({ userId: user.userId });
    expect(by('CREATE_READ_ONLY_SESSION').result.createReadOnlySessionResult).not.toHaveProperty('session');
    expect(by('CREATE_OAUTH_PROVIDERS').intent.createOauthProvidersIntentV2?.oauthProviders[0].oidcToken).toBe(
      digest(oidcToken),
    );
    expect(by('OTP_AUTH').intent.otpAuthIntent.otpCode).toBe(digest(otpCode));

    const everything = [
      await allWebhookText(logins.service),
      ...[...own.arrivals, ...parents.arrivals].flatMap(({ raw, rawHeaders }) => [raw.toString(), rawHeaders.join()]),
      JSON.stringify(await deliveriesOf(user)),
      JSON.stringify(await deliveriesOf(parent, { endpointId })),
    ].join('\n');
    for (const secret of secrets) expect(everything.includes(secret)).toBe(false);
    expect(everything).not.toMatch(new RegExp(`otpCode[^0-9a-z]{1,8}${otpCode}\\b`, 'i'));
    // Nor is the signature of a token enough.
    for (const secret of secrets) expect(everything.includes(secret.split('.').at(-1) as string)).toBe(false);
    await parent.run('delete_webhook_endpoint', { endpointId });
  });

  test('users of the parent are named to its sub-organization, and told in full to itself', async () => {
    const { parent } = logins;
    const { user, byParent, email } = await logins.newPerson();
    const [own, parents] = [receiver.hook(), receiver.hook()];
    await listen(user, own);
    const endpointId = await subscribe(parent, parents, { filters: { organizationIds: [user.organizationId] } });
    await byParent.run('init_otp', { otpType: 'OTP_TYPE_EMAIL', contact: email, appName: 'App' });
    const [toSub, toParent] = [await own.next(), await parents.next()];
    expect(toSub.eventId).toBe(toParent.eventId);
    const [named] = toSub.body.votes;
    const [known] = toParent.body.votes;
    expect(named.user).toMatchObject({ userId: parent.userId, userName: 'Root', apiKeys: [], authenticators: [] });
    expect(named.user).not.toHaveProperty('userEmail');
    expect(known.user.apiKeys).toHaveLength(1);
    expect({ ...toParent.body, votes: [{ ...known, user: named.user }] }).toEqual(toSub.body);
    // As each of them may read it.
    const { id } = toSub.body;
    const ofReader = ({ canApprove: _may, canReject: _mayNot, ...activity }: Arrival['body']) => activity;
    expect(ofReader(toSub.body)).toEqual(ofReader(await read(user, id)));
    expect(ofReader(toParent.body)).toEqual(ofReader(await read(byParent, id)));
    // What its own users do is told to the parent in full.
    await doSomething(user);
    const [ownUser] = (await parents.next()).body.votes;
    expect(ownUser.user).toMatchObject({ userId: user.userId, userEmail: email });
    await parent.run('delete_webhook_endpoint', { endpointId });
  });
});
