import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { Receiver } from '../../harness/bundles.ts';
import { createSubOrganization, createUser, newKeyPair, type TestClient } from '../../harness/client.ts';
import { type Arrival, WebhookReceiver } from '../../harness/webhook-receiver.ts';
import { LoginService, loginParameters } from '../fixtures/logins.ts';
import { idToken, startKnownIssuer } from '../fixtures/oauth.ts';
import { allow, COMPLETED, FAILED, outcome, REJECTED, read } from '../fixtures/policy-flows.ts';
import {
  activityUpdates,
  allWebhookText,
  deliveriesOf,
  doSomething,
  endpointsOf,
  LOOPBACK,
  listen,
  STATES,
  settled,
  subscribe,
} from '../fixtures/webhooks.ts';

// What is told to whom. How it is delivered is in webhook-delivery.test.ts, how it is signed in webhook-keys.test.ts.

const digest = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`;

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
      includeDescription: false,
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
