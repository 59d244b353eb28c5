import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import { type Arrival, type Hook, WebhookReceiver } from '../../harness/webhook-receiver.ts';
import {
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
} from '../fixtures/policy-flows.ts';
import { ProxyWorld } from '../fixtures/proxy.ts';
import {
  activityUpdates,
  arrivalsBefore,
  deliveriesOf,
  doSomething,
  LOOPBACK,
  listen,
  rowsOf,
  settled,
  subscribe,
} from '../fixtures/webhooks.ts';

const statuses = (arrivals: readonly Arrival[]): string[] => arrivals.map(({ body }) => body.status);

describe.each(databasesOf(import.meta.url, { hasRaces: true }))('webhooks on %s', (database) => {
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
      // And by the activity that it comes of.
      const filterByActivityId = activity.id;
      expect(await deliveriesOf(sub, { filterByActivityId })).toMatchObject([{ eventId }]);
      expect(await deliveriesOf(parent, { filterByActivityId })).toMatchObject([{ eventId }]);
      expect(await deliveriesOf(parent, { filterByActivityId, eventId: randomUUID() })).toEqual([]);
      expect(await deliveriesOf(parent, { filterByActivityId, endpointId: endpointIds[1] })).toEqual([]);
      expect(await deliveriesOf(sibling, { filterByActivityId })).toEqual([]);
      expect(await deliveriesOf(parent, { filterByActivityId: third.id })).toHaveLength(1);
      const wrong = await parent.query('list_webhook_deliveries', { filterByActivityId: 'x' });
      expect(outcome(wrong)).toEqual([400, 'REQUEST_INVALID']);
      for (const endpointId of endpointIds) {
        const asSub = await sub.query('list_webhook_deliveries', { endpointId });
        expect(outcome(asSub)).toEqual([404, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
        await parent.run('delete_webhook_endpoint', { endpointId });
      }
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
