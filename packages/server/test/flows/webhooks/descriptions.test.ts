import { createPublicKey, randomUUID, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSubOrganization, createUser, type TestClient } from '../../harness/client.ts';
import { databasesOf } from '../../harness/databases.ts';
import type { Arrival, Hook } from '../../harness/webhook-receiver.ts';
import { ClockClient, COMPLETED, outcome, PENDING, REJECTED, rename } from '../fixtures/policy-flows.ts';
import { activityUpdates, deliveriesOf, doSomething, endpointsOf, rowsOf, settled } from '../fixtures/webhooks.ts';
import { MINUTE, openDeliveries } from '../webhook-delivery/support.ts';

// Events of activities that say in words what the activity does, for endpoints that ask for it.

describe.each(databasesOf(import.meta.url))('descriptions in events on %s', (database) => {
  const place = openDeliveries(database);

  const newSub = async (): Promise<TestClient> => {
    const { parent } = place.world;
    const { clock } = place.app.app;
    return new ClockClient(clock, await createSubOrganization(parent, `Org ${randomUUID()}`));
  };
  const newHook = (): Hook => place.world.receiver.hook();

  /** An endpoint that has nothing to do yet. */
  async function listenTo(client: TestClient, hook: Hook, extra: Record<string, unknown> = {}): Promise<string> {
    const filters = { activityTypes: ['ACTIVITY_TYPE_CREATE_USER_TAG', 'ACTIVITY_TYPE_CREATE_POLICY_V3'] };
    const { endpointId } = await client.run('create_webhook_endpoint', {
      url: hook.url,
      name: randomUUID(),
      subscriptions: [activityUpdates({ filters })],
      ...extra,
    });
    return endpointId;
  }
  const worded = { includeDescription: true };

  const describeNow = async (client: TestClient, activityId: string) =>
    (await client.query('describe_activity', { activityId })).body.description;

  /** Whether the signature is one over exactly the bytes that came. */
  const isSigned = async ({ headers, raw }: Arrival): Promise<boolean> => {
    const header = (name: string): string => String(headers[`x-service-${name}`]);
    const answer = await fetch(`${place.app.baseUrl}/public/v1/discovery/webhooks/jwks`);
    const { keys } = (await answer.json()) as { keys: { kid: string; x: string }[] };
    const kid = header('signature-key-id');
    const x = keys.find((key) => key.kid === kid)?.x as string;
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const start = `v1.ed25519.${kid}.${header('timestamp')}.${header('event-id')}.`;
    return verify(null, Buffer.concat([Buffer.from(start), raw]), key, Buffer.from(header('signature'), 'hex'));
  };

  const payloadOf = async (client: TestClient, filter: Record<string, unknown>): Promise<string> => {
    const [delivery] = await deliveriesOf(client, filter);
    const { deliveryId } = delivery as { deliveryId: string };
    return (await client.query('get_webhook_delivery', { deliveryId })).body.webhookDelivery.payload;
  };

  test('are added where they are asked for, and all others get the same bytes as ever', async () => {
    const sub = await newSub();
    const hooks = [newHook(), newHook(), newHook()] as const;
    const [plain, wordy, twin] = hooks;
    const plainId = await listenTo(sub, plain);
    const wordyId = await listenTo(sub, wordy, worded);
    await listenTo(sub, twin, worded);
    const { id } = await doSomething(sub, 'Traders');
    const [without, described, again] = await Promise.all([plain.next(), wordy.next(), twin.next()]);
    const [stored] = (await rowsOf(place.app, 'webhook_event', sub.organizationId)).filter(
      (row) => row['activity_id'] === id,
    );
    expect(without.raw.toString()).toBe(stored?.['body']);
    expect(without.body).not.toHaveProperty('description');
    expect(described.body).toEqual({
      ...without.body,
      description: { text: 'Create user tag Traders.', risk: 'ROUTINE' },
    });
    expect(described.raw.toString().startsWith(without.raw.toString().slice(0, -1))).toBe(true);
    expect(again.raw).toEqual(described.raw);
    expect(new Set([without, described, again].map(({ eventId }) => eventId)).size).toBe(1);
    for (const arrival of [without, described, again]) expect(await isSigned(arrival)).toBe(true);
    // What is shown is what was posted, to each of them.
    expect(await payloadOf(sub, { endpointId: plainId })).toBe(without.raw.toString());
    expect(await payloadOf(sub, { endpointId: wordyId })).toBe(described.raw.toString());
  });

  test('say how much care it takes, and what approving it means', async () => {
    const sub = await newSub();
    const grace = await createUser(sub, 'Grace');
    const hook = newHook();
    await listenTo(sub, hook, worded);
    const tag = { userTagName: 'Signers', userIds: [grace.userId] };
    const { id } = (await sub.submit('create_user_tag', tag)).body.activity;
    const { text, risk, consequence } = await describeNow(sub, id);
    expect([text, risk]).toEqual(['Create user tag Signers and give it to Grace.', 'LOOK_CLOSELY']);
    expect((await hook.next()).body.description).toEqual({ text, risk, consequence });
  });

  test('stay as they were first told, whatever is renamed meanwhile', async () => {
    const sub = await newSub();
    const grace = await createUser(sub, 'Grace');
    const hook = newHook();
    const endpointId = await listenTo(sub, hook, worded);
    hook.answerNext(500);
    const tag = { userTagName: 'Signers', userIds: [grace.userId] };
    const { id } = (await sub.submit('create_user_tag', tag)).body.activity;
    const first = await hook.next();
    expect(first.body.description.text).toBe('Create user tag Signers and give it to Grace.');
    const { deliveryId } = await settled(sub, { endpointId }, 'pending', 1);
    expect((await rename(sub, 'Mallory', grace.userId)).status).toBe(200);
    expect((await describeNow(sub, id)).text).toBe('Create user tag Signers and give it to Mallory.');
    place.world.later(MINUTE);
    const retry = await hook.next();
    expect(retry.raw).toEqual(first.raw);
    await settled(sub, { endpointId }, 'delivered', 2);
    await sub.run('replay_webhook_delivery', { endpointId, deliveryId });
    const replayed = await hook.next();
    expect(replayed.raw).toEqual(first.raw);
    for (const arrival of [first, retry, replayed]) expect(arrival.eventId).toBe(first.eventId);
    expect(await isSigned(replayed)).toBe(true);
    await settled(sub, { endpointId }, 'delivered', 3);
    expect(await payloadOf(sub, { endpointId })).toBe(first.raw.toString());
  });

  test('come with the next event when they are switched on, and go with the next when off', async () => {
    const sub = await newSub();
    const hook = newHook();
    const endpointId = await listenTo(sub, hook);
    expect(await endpointsOf(sub)).toMatchObject([{ endpointId, includeDescription: false }]);
    hook.answerNext(500);
    await doSomething(sub);
    const before = await hook.next();
    await settled(sub, { endpointId }, 'pending', 1);
    const change = async (includeDescription: boolean) => {
      const { webhookEndpoint } = await sub.run('update_webhook_endpoint', { endpointId, includeDescription });
      expect(webhookEndpoint).toMatchObject({ endpointId, includeDescription, isActive: true });
      expect(await endpointsOf(sub)).toEqual([webhookEndpoint]);
    };
    await change(true);
    // What has begun goes on as it was.
    place.world.later(MINUTE);
    expect((await hook.next()).raw).toEqual(before.raw);
    await doSomething(sub, 'After');
    expect((await hook.next()).body.description).toEqual({ text: 'Create user tag After.', risk: 'ROUTINE' });
    await sub.run('update_webhook_endpoint', { endpointId, name: 'renamed' });
    await doSomething(sub);
    expect((await hook.next()).body).toHaveProperty('description');
    await change(false);
    await doSomething(sub);
    expect((await hook.next()).body).not.toHaveProperty('description');
    const sayOf = async (change: Record<string, unknown>) => {
      const request = { type: 'ACTIVITY_TYPE_UPDATE_WEBHOOK_ENDPOINT', parameters: { endpointId, ...change } };
      return (await sub.query('describe_activity', { request })).body.description.text;
    };
    expect(await sayOf({ includeDescription: true })).toBe('Tell renamed in words what activities do.');
    expect(await sayOf({ includeDescription: false })).toBe('No longer tell renamed in words what activities do.');
    expect(await sayOf({ includeDescription: true, name: 'Chat' })).toBe(
      'Rename endpoint renamed to Chat. Tell it in words what activities do.',
    );
    const asked = { url: hook.url, name: 'x', includeDescription: 'yes' };
    expect(outcome(await sub.submit('create_webhook_endpoint', asked))).toEqual([400, 'REQUEST_INVALID']);
    const wrong = { endpointId, includeDescription: null };
    expect((await sub.submit('update_webhook_endpoint', wrong)).status).toBe(400);
  });

  test('hold hostile names as text, and nothing but text', async () => {
    const sub = await newSub();
    const hook = newHook();
    await listenTo(sub, hook, worded);
    for (const name of [
      '"}],"status":"ACTIVITY_STATUS_FAILED","x":[{"',
      '</script><img src=x onerror=alert(1)>',
      '\\u0022\\',
      'pay \u202egpj.exe',
    ]) {
      const { id, status } = await doSomething(sub, name);
      const { body } = await hook.next();
      expect([body.id, body.status]).toEqual([id, status]);
      expect(Object.keys(body.description)).toEqual(['text', 'risk']);
      const shown = name.replace('\u202e', '[U+202E]');
      expect(body.description.text).toBe(`Create user tag ${shown}.`);
    }
  });

  test('are told to a parent as to the organization itself', async () => {
    const { parent } = place.world;
    const sub = await newSub();
    const grace = await createUser(sub, 'Grace');
    const [own, parents] = [newHook(), newHook()];
    await listenTo(sub, own, worded);
    const filters = { organizationIds: [sub.organizationId] };
    const endpointId = await listenTo(parent, parents, { ...worded, subscriptions: [activityUpdates({ filters })] });
    await sub.run('create_user_tag', { userTagName: 'Signers', userIds: [grace.userId] });
    const [toSub, toParent] = await Promise.all([own.next(), parents.next()]);
    expect(toParent.eventId).toBe(toSub.eventId);
    expect(toParent.body.description).toEqual(toSub.body.description);
    expect(toParent.body.description.text).toBe('Create user tag Signers and give it to Grace.');
    // Its activities outlive it, and can be described for whoever may read them.
    expect(outcome(await sub.submit('delete_sub_organization', {}))).toEqual([200, COMPLETED]);
    const last = await parents.next();
    expect(last.body.type).toBe('ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION');
    expect(last.body.description).toMatchObject({ risk: 'DANGER', text: expect.stringMatching(/^Delete sub-org/) });
    await settled(parent, { endpointId }, 'delivered');
    await parent.run('delete_webhook_endpoint', { endpointId });
  });

  test('each event of an activity has one, also of a request of which only the digest is left', async () => {
    const sub = await newSub();
    const second = await createUser(sub, 'second');
    const hook = newHook();
    await listenTo(sub, hook, worded);
    const denied = await second.submit('create_policy', {
      policyName: 'p',
      effect: 'EFFECT_ALLOW',
      condition: `activity.type == '${'x'.repeat(5000)}'`,
      consensus: 'true',
      notes: '',
    });
    expect(denied.status).toBe(403);
    const refused = await hook.next();
    expect(refused.body).toMatchObject({ status: REJECTED, description: { risk: 'UNREADABLE' } });
    expect(refused.body.description.text).toMatch(/only the digest was kept/);
    await sub.run('update_root_quorum', { threshold: 2, userIds: [sub.userId, second.userId] });
    const { fingerprint } = (await sub.submit('create_user_tag', { userTagName: 'Both', userIds: [] })).body.activity;
    expect((await second.submit('approve_activity', { fingerprint })).status).toBe(200);
    const told = await hook.take(2);
    expect(told.map(({ body }) => [body.status, body.description.text])).toEqual([
      [PENDING, 'Create user tag Both.'],
      [COMPLETED, 'Create user tag Both.'],
    ]);
  });

  test('a crowd of events is described and told whole', async () => {
    const sub = await newSub();
    const hook = newHook();
    const endpointId = await listenTo(sub, hook, worded);
    await sub.run('update_webhook_endpoint', { endpointId, isActive: false });
    await sub.run('update_webhook_endpoint', { endpointId, isActive: true });
    hook.answerNext('hang');
    const names = Array.from({ length: 40 }, (_, index) => `Tag ${index}`);
    for (const name of names) await doSomething(sub, name);
    hook.release();
    const texts = (await hook.take(names.length)).map(({ body }) => body.description.text);
    expect(new Set(texts)).toEqual(new Set(names.map((name) => `Create user tag ${name}.`)));
  });
});
