// Webhooks as users of the public packages have them: endpoints by the unmodified server SDK, deliveries verified by the
// helper of the crypto package, with keys from the key set that the service publishes. Ours says the same of each.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyTurnkeyWebhookSignature } from '@turnkey/crypto';
import type { TurnkeyApiClient } from '@turnkey/sdk-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyWebhook, type WebhookJwk } from '../packages/sdk/src/index.ts';
import { TestServer } from '../packages/server/test/harness/server.ts';
import { connect, errorCodeOf, fresh, openCouncil, refusal, UNKNOWN_ID } from './sdk.ts';

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/;

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: payloads are asserted on by the tests.
  readonly event: any;
}

/** Keeps what arrives, and answers 200. */
class Receiver implements AsyncDisposable {
  readonly #server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      this.deliveries.push({ headers: request.headers, body, event: JSON.parse(body.toString('utf8')) });
      this.#server.emit('delivery');
      response.end();
    });
  });
  readonly deliveries: Delivery[] = [];

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhooks`;
  }

  /** What there is of an activity, as soon as it is so many. */
  async of(activityId: string, count = 1): Promise<Delivery[]> {
    for (;;) {
      const found = this.deliveries.filter(({ event }) => event.id === activityId);
      if (found.length >= count) return found;
      await once(this.#server, 'delivery');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

let service: TestServer;
let root: TurnkeyApiClient;

beforeAll(async () => {
  service = await TestServer.start({ env: { CUSTOS_OUTBOUND_ALLOW: '127.0.0.0/8' } });
  root = connect(service.baseUrl, service.credentials);
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

const subscribe = (filters?: object) => [
  { eventType: 'ACTIVITY_UPDATES', ...(filters && { filtersJson: JSON.stringify(filters) }) },
];

interface KeySet {
  readonly keys: WebhookJwk[];
}

/** Both helpers, with the published keys; theirs as docs/guides/public-sdks.md says. */
async function verdicts(headers: IncomingHttpHeaders, body: Buffer) {
  const { baseUrl } = service;
  const response = await fetch(`${baseUrl}/public/v1/discovery/webhooks/jwks`);
  const { keys } = (await response.json()) as KeySet;
  const verificationKeys = keys.map(({ kid, x }) => ({
    keyId: kid,
    publicKey: Buffer.from(x, 'base64url').toString('hex'),
  }));
  const result = verifyTurnkeyWebhookSignature({ headers, body, verificationKeys, maxTimestampAgeMs: 300_000 });
  expect(response.headers.get('cache-control')).toBe('public, max-age=300');
  return { theirs: result, ours: await verifyWebhook({ headers, body, keys }) };
}

describe('endpoints', () => {
  test('are created, listed, changed and deleted', async () => {
    await using receiver = await Receiver.start();
    const name = fresh('endpoint');
    const subscriptions = subscribe({ statuses: ['ACTIVITY_STATUS_COMPLETED'] });
    const created = await root.createWebhookEndpoint({ url: receiver.url, name, subscriptions });
    const { organizationId } = service.credentials;
    const { endpointId } = created;
    expect(endpointId).toMatch(UUID);
    expect(created.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
    const expected = { endpointId, organizationId, url: receiver.url, name, isActive: true };
    // The last is an addition of ours.
    expect(created.webhookEndpoint).toEqual({
      ...expected,
      subscriptions: [{ ...subscriptions[0], isActive: true }],
      includeDescription: false,
    });
    const listed = async () =>
      (await root.listWebhookEndpoints({})).webhookEndpoints.find((endpoint) => endpoint.endpointId === endpointId);
    expect(await listed()).toEqual(created.webhookEndpoint);

    const changes = { url: `${receiver.url}?second`, name: `${name}, renamed`, isActive: false };
    const updated = await root.updateWebhookEndpoint({ endpointId, ...changes });
    expect(updated.webhookEndpoint).toEqual({ ...created.webhookEndpoint, ...changes });
    expect(await listed()).toEqual(updated.webhookEndpoint);

    expect(await root.deleteWebhookEndpoint({ endpointId })).toMatchObject({ endpointId });
    expect(await listed()).toBeUndefined();
    const gone = await refusal(root.deleteWebhookEndpoint({ endpointId }));
    expect([gone.code, errorCodeOf(gone)]).toEqual([5, 'WEBHOOK_ENDPOINT_NOT_FOUND']);
  });

  test('are tested, and their deliveries listed, by calls that the SDK has no methods for', async () => {
    await using receiver = await Receiver.start();
    const client = root;
    const { organizationId } = service.credentials;
    const { endpointId } = await client.createWebhookEndpoint({ url: receiver.url, name: fresh('endpoint') });
    const { delivered, deliveryId } = await client.command<object, { delivered: boolean; deliveryId: string }>(
      '/public/v1/submit/test_webhook_endpoint',
      {
        type: 'ACTIVITY_TYPE_TEST_WEBHOOK_ENDPOINT',
        timestampMs: String(Date.now()),
        organizationId,
        parameters: { endpointId },
      },
      'testWebhookEndpointResult',
    );
    const { webhookDeliveries } = await client.request<object, { webhookDeliveries: object[] }>(
      '/public/v1/query/list_webhook_deliveries',
      { organizationId, endpointId },
    );
    expect(delivered).toBe(true);
    expect(webhookDeliveries).toMatchObject([{ deliveryId, state: 'WEBHOOK_DELIVERY_STATE_DELIVERED' }]);
    const [test] = receiver.deliveries as [Delivery];
    expect(test.event).toMatchObject({ type: 'webhook:test', organizationId, endpointId });
    expect(await verdicts(test.headers, test.body)).toMatchObject({ theirs: { ok: true }, ours: { ok: true } });
    await client.deleteWebhookEndpoint({ endpointId });
  });

  test('are refused in words that the SDK hands on', async () => {
    const url = 'http://127.0.0.1:3001/webhooks';
    const { endpointId } = await root.createWebhookEndpoint({ url, name: fresh('endpoint') });
    const create = (target: string, subscriptions?: { eventType: string; filtersJson?: string }[]) => () =>
      root.createWebhookEndpoint({ url: target, name: fresh('refused'), ...(subscriptions && { subscriptions }) });
    const attempts: [attempt: () => Promise<unknown>, code: number, errorCode: string][] = [
      [create('http://10.0.0.1:3001/webhooks'), 3, 'INVALID_WEBHOOK_URL'],
      [create('https://[::1]/webhooks'), 3, 'INVALID_WEBHOOK_URL'],
      [create(url, [{ eventType: 'ACTIVITY_UPDATE' }]), 3, 'REQUEST_INVALID'],
      [create(url, subscribe({ status: ['ACTIVITY_STATUS_COMPLETED'] })), 3, 'INVALID_WEBHOOK_FILTER'],
      [() => root.updateWebhookEndpoint({ endpointId, url: 'http://10.0.0.1:3001/' }), 3, 'INVALID_WEBHOOK_URL'],
      [() => root.updateWebhookEndpoint({ endpointId: UNKNOWN_ID, name: 'x' }), 5, 'WEBHOOK_ENDPOINT_NOT_FOUND'],
    ];
    for (const [attempt, code, errorCode] of attempts) {
      const error = await refusal(attempt());
      expect([error.code, errorCodeOf(error)]).toEqual([code, errorCode]);
    }
    await root.deleteWebhookEndpoint({ endpointId });
  });
});

describe('deliveries', () => {
  test('verify with both helpers, and with neither once anything is changed', async () => {
    await using receiver = await Receiver.start();
    const { endpointId } = await root.createWebhookEndpoint({
      url: receiver.url,
      name: fresh('endpoint'),
      subscriptions: subscribe(),
    });
    const { activity } = await root.createUserTag({ userTagName: fresh('tag'), userIds: [] });
    const [delivery] = await receiver.of(activity.id);
    const { headers, body, event } = delivery as Delivery;

    // What getActivity answers, but for what depends on the reader.
    const read = await root.getActivity({ activityId: activity.id });
    expect(event).toEqual({ ...read.activity, canApprove: false, canReject: false });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-turnkey-event-type': 'ACTIVITY_UPDATES',
      'x-turnkey-organization-id': service.credentials.organizationId,
      'x-turnkey-webhook-version': '1',
    });
    const family = (prefix: string) =>
      Object.entries(headers)
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, value]) => [name.slice(prefix.length), value])
        .sort();
    expect(family('x-turnkey-')).toHaveLength(9);
    expect(family('x-turnkey-')).toEqual(family('x-service-'));

    const { theirs, ours } = await verdicts(headers, body);
    expect(theirs).toMatchObject({ ok: true, eventId: expect.stringMatching(UUID) });
    expect(ours).toEqual({
      ...theirs,
      eventType: 'ACTIVITY_UPDATES',
      organizationId: service.credentials.organizationId,
    });

    const spaced = Buffer.from(`${body.toString('utf8')} `);
    const edited = Buffer.from(body.toString('utf8').replace('COMPLETED', 'REJECTED_'));
    expect(edited).not.toEqual(body);
    const both = (values: Record<string, string>): IncomingHttpHeaders => ({
      ...headers,
      ...Object.fromEntries(
        Object.entries(values).flatMap(([name, value]) => [
          [`x-turnkey-${name}`, value],
          [`x-service-${name}`, value],
        ]),
      ),
    });
    const later = String(Number(headers['x-service-timestamp']) + 1);
    const earlier = String(Number(headers['x-service-timestamp']) - 600_000);
    for (const [changedHeaders, changedBody, reason] of [
      [headers, spaced, 'invalid_signature'],
      [headers, edited, 'invalid_signature'],
      [both({ 'event-id': UNKNOWN_ID }), body, 'invalid_signature'],
      [both({ timestamp: later }), body, 'invalid_signature'],
      [both({ timestamp: earlier }), body, 'stale_timestamp'],
      [both({ 'signature-key-id': UNKNOWN_ID }), body, 'missing_key'],
    ] as const) {
      const refused = { ok: false, reason };
      expect(await verdicts(changedHeaders, changedBody)).toEqual({ theirs: refused, ours: refused });
    }
    await root.deleteWebhookEndpoint({ endpointId });
  });

  test('tell a parent of its sub-organizations, each change in its turn, and what the filter lets through', async () => {
    await using receiver = await Receiver.start();
    const council = await openCouncil(service.baseUrl, root, 2);
    const [proposer, approver] = council.members as [TurnkeyApiClient, TurnkeyApiClient];
    const { endpointId } = await root.createWebhookEndpoint({
      url: receiver.url,
      name: fresh('endpoint'),
      subscriptions: subscribe({
        organizationIds: [council.id],
        activityTypes: ['ACTIVITY_TYPE_CREATE_USER_TAG'],
      }),
    });
    const propose = () => proposer.createUserTag({ userTagName: fresh('tag'), userIds: [] });

    const { activity } = await propose();
    // Neither the organization nor the type that is asked for.
    await root.createUserTag({ userTagName: fresh('tag'), userIds: [] });
    await approver.approveActivity({ fingerprint: activity.fingerprint });
    const told = await receiver.of(activity.id, 2);
    expect(told.map(({ event }) => event.status)).toEqual([
      'ACTIVITY_STATUS_CONSENSUS_NEEDED',
      'ACTIVITY_STATUS_COMPLETED',
    ]);
    for (const { headers, body } of told) {
      expect(headers['x-turnkey-organization-id']).toBe(council.id);
      expect(await verdicts(headers, body)).toMatchObject({ theirs: { ok: true }, ours: { ok: true } });
    }

    // What happens while the endpoint is off is not told later.
    await root.updateWebhookEndpoint({ endpointId, isActive: false });
    await propose();
    await root.updateWebhookEndpoint({ endpointId, isActive: true });
    const last = await propose();
    await receiver.of(last.activity.id);
    expect(receiver.deliveries.map(({ event }) => event.id)).toEqual([activity.id, activity.id, last.activity.id]);
    await root.deleteWebhookEndpoint({ endpointId });
  });
});
