import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { WebhookEvent } from '../../src/domains/webhooks/model.ts';
import { WebhookReader } from '../../src/domains/webhooks/store/webhook-reader.ts';
import { WebhookStore } from '../../src/domains/webhooks/store/webhooks.ts';
import { verifyRows } from '../../src/integrity/passes.ts';
import { type OrganizationId, randomId, type WebhookEndpointId } from '../../src/lib/ids.ts';
import type { Violation } from '../../src/storage/integrity/integrity.ts';
import { outcome, Rows } from '../flows/fixtures/access.ts';
import { LOOPBACK, listen, settled, tell } from '../flows/fixtures/webhooks.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { type Hook, WebhookReceiver } from '../harness/webhook-receiver.ts';
import { builderOf } from '../storage/place.ts';

// Somebody who can write to the database, and has no key of the service, has it send events, or spoils what waits.

interface Listener {
  readonly client: TestClient;
  readonly hook: Hook;
  readonly endpointId: string;
}

interface Stored {
  readonly organizationId: string;
  readonly eventId: string;
  readonly deliveryId: string;
}

const LARGEST = '9223372036854775807';

describe.each(DATABASES)('events for webhooks that somebody else wrote, on %s', (database) => {
  let app: TestApp;
  let receiver: WebhookReceiver;
  let rows: Rows;
  let elsewhere: Listener;

  const newListener = async (client?: TestClient): Promise<Listener> => {
    const own = client ?? (await createSubOrganization(app.root, `Org ${randomUUID()}`));
    const hook = receiver.hook();
    return { client: own, hook, endpointId: await listen(own, hook) };
  };

  beforeAll(async () => {
    app = await openTestApp(database, LOOPBACK);
    receiver = await WebhookReceiver.start();
    rows = await Rows.open(app.app.config);
    elsewhere = await newListener();
  });
  afterAll(async () => {
    await rows[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  /** Stores an event for an endpoint, and whatever else is written before the service can look at it. */
  async function store(
    { client, endpointId }: Listener,
    forge: (stored: Stored) => readonly string[],
    extra: Partial<WebhookEvent> = {},
  ): Promise<Stored> {
    const organizationId = client.organizationId as OrganizationId;
    const [eventId, deliveryId] = [randomId<'webhook-event'>(), randomId<'webhook-delivery'>()];
    const stored = { organizationId, eventId, deliveryId };
    await app.app.storage.write(async (stores) => {
      const event: WebhookEvent = {
        organizationId,
        id: eventId,
        type: 'ACTIVITY_UPDATES',
        aboutId: organizationId,
        body: JSON.stringify({ event: eventId }),
        createdAtMs: app.app.clock(),
        ...extra,
      };
      await stores(WebhookStore).insertEvent(event, [{ id: deliveryId, endpointId: endpointId as WebhookEndpointId }]);
      for (const text of forge(stored))
        await sql.raw(`/* unmarked: forged *//* partial: forged */ ${text}`).execute(builderOf(stores));
    });
    app.app.webhooks.wake();
    return stored;
  }

  /** An event that is told behind whatever waits for an endpoint, once it has arrived. */
  async function isServed({ client, hook, endpointId }: Listener): Promise<void> {
    const { eventIds } = await tell(app, client, endpointId, 1);
    await hook.waitFor(({ eventId }) => eventIds.includes(eventId));
  }

  const isSent = ({ hook }: Listener, { eventId }: Stored): boolean =>
    hook.arrivals.some((arrival) => arrival.eventId === eventId || arrival.raw.includes(eventId));
  const noticed = (row: string): Violation[] =>
    app.app.storage.integrity.violations.filter((violation) => violation.row === row);
  const verified = async (row: string): Promise<Violation[]> => {
    const bad: Violation[] = [];
    await verifyRows(app.app.storage, (violation) => bad.push(violation));
    return bad.filter((violation) => violation.row === row);
  };
  const remove = async ({ eventId, deliveryId }: Pick<Stored, 'eventId' | 'deliveryId'>): Promise<void> => {
    await rows.forge('DELETE FROM webhook_delivery WHERE id = ? OR event_id = ?', [deliveryId, eventId]);
    await rows.forge('DELETE FROM webhook_event WHERE id = ?', [eventId]);
  };

  test.each([
    ['body', `'{"credited":"1000"}'`],
    ['event_type', "'WEBHOOK_TEST'"],
    ['about_id', "'somebody else'"],
    ['activity_id', "'another'"],
    ['description', `'{"text":"Nothing to see"}'`],
    ['body_length', '2147483647'],
    ['created_at_ms', 'created_at_ms + 1'],
    ['created_at_ms', LARGEST],
    ['webhook_event_mac', 'NULL'],
  ])('%s of an event becomes %s: it is not sent, and others are', async (column, value) => {
    const listener = await newListener();
    const event = await store(listener, ({ eventId }) => [
      `UPDATE webhook_event SET ${column} = ${value} WHERE id = '${eventId}'`,
    ]);
    await Promise.all([isServed(listener), isServed(elsewhere)]);
    expect(isSent(listener, event)).toBe(false);
    const expected = {
      table: 'webhook_event',
      organizationId: event.organizationId,
      row: event.eventId,
      because: column === 'webhook_event_mac' ? 'unmarked' : 'mark',
    };
    await vi.waitFor(() => expect(noticed(event.eventId)).toEqual([expected]));
    expect(await verified(event.eventId)).toEqual([expected]);
    // It is put off, and not looked at again at once.
    const [row] = await rows.forge('SELECT next_attempt_at_ms FROM webhook_delivery WHERE id = ?', [event.deliveryId]);
    expect(Number(row?.['next_attempt_at_ms'])).toBeGreaterThan(app.app.clock() + 600_000);
    await remove(event);
  });

  test.each([
    ['event_id', (other: Stored) => `'${other.eventId}'`],
    ['endpoint_id', (_other: Stored, second: Listener) => `'${second.endpointId}'`],
    ['includes_description', () => '1'],
    ['created_at_ms', () => 'created_at_ms - 1'],
    ['webhook_delivery_mac', () => 'NULL'],
  ])('%s of a delivery is changed: it is not sent, and others are', async (column, valueFor) => {
    const listener = await newListener();
    const second = await newListener(listener.client);
    const other = await store(second, () => []);
    await second.hook.waitFor(({ eventId }) => eventId === other.eventId);
    const event = await store(listener, ({ deliveryId }) => [
      `UPDATE webhook_delivery SET ${column} = ${valueFor(other, second)} WHERE id = '${deliveryId}'`,
    ]);
    await Promise.all([isServed(listener), isServed(second), isServed(elsewhere)]);
    expect([isSent(listener, event), isSent(second, event), isSent(listener, other)]).toEqual([false, false, false]);
    const expected = {
      table: 'webhook_delivery',
      organizationId: event.organizationId,
      row: event.deliveryId,
      because: column === 'webhook_delivery_mac' ? 'unmarked' : 'mark',
    };
    await vi.waitFor(() => expect(noticed(event.deliveryId)).toEqual([expected]));
    expect(await verified(event.deliveryId)).toEqual([expected]);
    await remove(event);
  });

  const columnsOf = async (table: string): Promise<string[]> =>
    Object.keys((await rows.forge(`SELECT * FROM ${table} LIMIT 1`))[0] ?? {}).filter((column) => column !== 'seq');
  const copy = (table: string, columns: readonly string[], id: string, changes: Record<string, string>): string =>
    `INSERT INTO ${table} (${columns}) SELECT ${columns.map((column) => (column in changes ? `'${changes[column]}'` : column))}
     FROM ${table} WHERE id = '${id}'`;

  test('rows that are inserted, without marks or with those of others, are not sent', async () => {
    const listener = await newListener();
    const { organizationId } = { organizationId: listener.client.organizationId };
    const genuine = await store(elsewhere, () => []);
    await elsewhere.hook.waitFor(({ eventId }) => eventId === genuine.eventId);
    const [events, deliveries] = [await columnsOf('webhook_event'), await columnsOf('webhook_delivery')];
    const pending = { state: 'pending', next_attempt_at_ms: '0' };
    const forged: Stored[] = [];
    const insert = async (texts: (stored: Stored) => readonly string[]): Promise<void> => {
      const stored = { organizationId, eventId: randomUUID(), deliveryId: randomUUID() };
      forged.push(stored);
      for (const text of texts(stored)) await rows.forge(text);
    };
    // From another organization, marks included.
    await insert(({ deliveryId }) => [
      copy('webhook_event', events, genuine.eventId, { organization_id: organizationId }),
      copy('webhook_delivery', deliveries, genuine.deliveryId, {
        organization_id: organizationId,
        endpoint_id: listener.endpointId,
        id: deliveryId,
        ...pending,
      }),
    ]);
    // An event of one's own.
    await insert(({ eventId, deliveryId }) => [
      `INSERT INTO webhook_event (organization_id, id, event_type, about_id, body, body_length, kept_since_ms, created_at_ms)
       VALUES ('${organizationId}', '${eventId}', 'BALANCE_CONFIRMED_UPDATES', '${organizationId}', '{"event":"${eventId}"}', 50, 0, 0)`,
      `INSERT INTO webhook_delivery (organization_id, id, endpoint_id, event_id, state, failures, attempts, next_attempt_at_ms,
         round_started_at_ms, created_at_ms, updated_at_ms)
       VALUES ('${organizationId}', '${deliveryId}', '${listener.endpointId}', '${eventId}', 'pending', 0, '[]', 0, 0, 0, 0)`,
    ]);
    const [copied, made] = forged as [Stored, Stored];
    app.app.webhooks.wake();
    await isServed(listener);
    await vi.waitFor(() => expect(noticed(made.eventId)).toMatchObject([{ because: 'unmarked' }]));
    expect(await verified(copied.deliveryId)).toMatchObject([{ because: 'mark' }]);
    expect(await verified(made.eventId)).toMatchObject([{ because: 'unmarked' }]);
    // More than are read together, for the endpoint of another organization: they do not stop that one either.
    for (let index = 0; index < 100; index += 1)
      await insert(({ deliveryId }) => [
        copy('webhook_delivery', deliveries, genuine.deliveryId, {
          endpoint_id: listener.endpointId,
          id: deliveryId,
          ...pending,
        }),
      ]);
    app.app.webhooks.wake();
    const { length } = elsewhere.hook.arrivals;
    await Promise.all([isServed(listener), isServed(elsewhere)]);
    expect(listener.hook.arrivals.filter(({ eventId }) => eventId === genuine.eventId)).toEqual([]);
    for (const stored of forged) expect(isSent(listener, stored)).toBe(false);
    expect(elsewhere.hook.arrivals).toHaveLength(length + 1);
    for (const stored of forged) await remove(stored);
    await rows.forge('DELETE FROM webhook_event WHERE id = ? AND organization_id = ?', [
      genuine.eventId,
      organizationId,
    ]);
  });

  test.each([
    ['attempts', "'no JSON'"],
    ['attempts', "'null'"],
    ['failures', '2147483647'],
    ['failures', '-1'],
    ['next_attempt_at_ms', `-${LARGEST}`],
    ['next_attempt_at_ms', LARGEST],
    ['round_started_at_ms', LARGEST],
    ['updated_at_ms', LARGEST],
    ['seq', LARGEST],
  ])('%s of a delivery, which no mark covers, becomes %s: others are sent', async (column, value) => {
    const listener = await newListener();
    const event = await store(listener, ({ deliveryId }) => [
      `UPDATE webhook_delivery SET ${column} = ${value} WHERE id = '${deliveryId}'`,
    ]);
    await Promise.all([isServed(listener), isServed(elsewhere)]);
    await isServed(listener);
    if (column !== 'seq') expect(isSent(listener, event)).toBe(false);
    if (column !== 'seq' && column !== 'next_attempt_at_ms')
      expect(noticed(event.deliveryId)).toMatchObject([{ table: 'webhook_delivery', because: 'damaged' }]);
    await remove(event);
  });

  test('an event that is not there keeps no other from being sent', async () => {
    const listener = await newListener();
    const event = await store(listener, ({ eventId }) => [`DELETE FROM webhook_event WHERE id = '${eventId}'`]);
    await Promise.all([isServed(listener), isServed(elsewhere)]);
    expect(noticed(event.deliveryId)).toMatchObject([{ because: 'damaged' }]);
    await remove(event);
  });

  test('lanes and endpoints that no service writes keep no other', async () => {
    const listener = await newListener();
    const largest = database === 'sqlite' ? LARGEST : '2147483647';
    await rows.forge(`UPDATE webhook_lane SET failures = ${largest} WHERE endpoint_id = '${listener.endpointId}'`);
    const event = await store(listener, () => []);
    await listener.hook.waitFor(({ eventId }) => eventId === event.eventId);
    await isServed(elsewhere);
  });

  test('what was not genuine is not replayed, and what failed beside it is', async () => {
    const listener = await newListener();
    const [good, bad] = [await store(listener, () => []), await store(listener, () => [])];
    for (const { deliveryId, eventId } of [good, bad]) {
      await settled(listener.client, { eventId }, 'delivered');
      await rows.forge("UPDATE webhook_delivery SET state = 'failed' WHERE id = ?", [deliveryId]);
    }
    const { length } = listener.hook.arrivals;
    await rows.forge("UPDATE webhook_event SET body = '{}' WHERE id = ?", [bad.eventId]);
    const replay = (parameters: object) =>
      listener.client.submit('replay_webhook_delivery', { endpointId: listener.endpointId, ...parameters });
    expect(outcome(await replay({ deliveryId: bad.deliveryId }))).toEqual([500, 'INTEGRITY_VIOLATION']);
    expect((await listener.client.query('get_webhook_delivery', { deliveryId: bad.deliveryId })).status).toBe(500);
    const { body } = await replay({ sinceMs: '0' });
    expect(body.activity.result.replayWebhookDeliveryResult).toMatchObject({ replayedCount: 1, hasMore: false });
    await listener.hook.waitFor(({ eventId }) => eventId === good.eventId);
    await isServed(listener);
    expect(listener.hook.arrivals.slice(length).filter(({ eventId }) => eventId === bad.eventId)).toEqual([]);
    await remove(bad);
  });

  test('a delivery from before there were marks is shown, is no violation, and is not sent again', async () => {
    const listener = await newListener();
    const event = await store(listener, () => []);
    await settled(listener.client, { eventId: event.eventId }, 'delivered');
    await rows.forge('UPDATE webhook_event SET webhook_event_mac = NULL WHERE id = ?', [event.eventId]);
    await rows.forge('UPDATE webhook_delivery SET webhook_delivery_mac = NULL WHERE id = ?', [event.deliveryId]);
    expect([await verified(event.eventId), await verified(event.deliveryId)]).toEqual([[], []]);
    expect((await listener.client.query('get_webhook_delivery', { deliveryId: event.deliveryId })).status).toBe(200);
    const parameters = { endpointId: listener.endpointId, deliveryId: event.deliveryId };
    expect(outcome(await listener.client.submit('replay_webhook_delivery', parameters))).toEqual([
      400,
      'FAILED_PRECONDITION',
    ]);
    expect(noticed(event.deliveryId)).toEqual([]);
    // Somebody who says that it waits changes nothing.
    await rows.forge("UPDATE webhook_delivery SET state = 'pending', next_attempt_at_ms = 0 WHERE id = ?", [
      event.deliveryId,
    ]);
    app.app.webhooks.wake();
    await isServed(listener);
    expect(listener.hook.arrivals.filter(({ eventId }) => eventId === event.eventId)).toHaveLength(1);
    expect(await verified(event.deliveryId)).toMatchObject([{ because: 'unmarked' }]);
    await remove(event);
  });

  test('a batch of which nothing can be sent is not read again at once', async () => {
    const listener = await newListener();
    const event = await store(listener, ({ eventId }) => [
      `UPDATE webhook_event SET body = '{}' WHERE id = '${eventId}'`,
    ]);
    await isServed(listener);
    const { length } = noticed(event.eventId);
    const looks = vi.spyOn(WebhookReader.prototype, 'batch');
    await isServed(listener);
    for (const { value } of looks.mock.results) expect((await value).refused).toEqual([]);
    looks.mockRestore();
    expect(length).toBe(1);
    await remove(event);
  });
});
