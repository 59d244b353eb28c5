import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { WebhookReader } from '../../src/domains/webhooks/store/webhook-reader.ts';
import { COMPLETED, outcome, Rows } from '../flows/fixtures/access.ts';
import { doSomething, LOOPBACK, listen } from '../flows/fixtures/webhooks.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createSubOrganization, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { remark } from '../harness/remark.ts';
import { type Hook, WebhookReceiver } from '../harness/webhook-receiver.ts';

// Somebody who can write to the database, and has no key of the service, changes where events are sent.

const REFUSED = [500, 'INTEGRITY_VIOLATION'];

describe.each(DATABASES)('webhook endpoints that somebody else wrote, on %s', (database) => {
  let app: TestApp;
  let receiver: WebhookReceiver;
  let rows: Rows;

  beforeAll(async () => {
    app = await openTestApp(database, LOOPBACK);
    receiver = await WebhookReceiver.start();
    rows = await Rows.open(app.app.config);
  });
  afterAll(async () => {
    await rows[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
    await app[Symbol.asyncDispose]();
  });

  const newSub = () => createSubOrganization(app.root, `Org ${randomUUID()}`);
  const change = (endpointId: string, column: string, value: string) =>
    rows.forge(`UPDATE webhook_endpoint SET ${column} = ${value} WHERE id = ?`, [endpointId]);
  const told = async (hook: Hook, activityId: string) =>
    await hook.waitFor(({ body }) => body.id === activityId || JSON.stringify(body).includes(activityId));
  const isTold = ({ arrivals }: Hook, activityId: string): boolean =>
    arrivals.some(({ raw }) => raw.includes(activityId));

  test.each([
    ['url', (thief: Hook) => `'${thief.url}'`],
    ['name', () => "'Other'"],
    ['subscriptions', () => 'replace(subscriptions, \'}\', \', "filtersJson": "{}"}\')'],
    ['includes_description', () => '1'],
    ['is_feature', () => '1'],
    ['updated_at_ms', () => 'updated_at_ms + 1'],
    ['webhook_endpoint_mac', () => 'NULL'],
  ])('%s is changed: it is told nothing, and others are', async (column, written) => {
    const [client, elsewhere] = [await newSub(), await newSub()];
    const [hook, other, foreign, thief] = [receiver.hook(), receiver.hook(), receiver.hook(), receiver.hook()];
    const endpointId = await listen(client, hook);
    await listen(client, other);
    await listen(elsewhere, foreign);
    const before = await doSomething(client);
    await Promise.all([told(hook, before.id), told(other, before.id)]);
    await change(endpointId, column, written(thief));
    const [activity, abroad] = [await doSomething(client), await doSomething(elsewhere)];
    await Promise.all([told(other, activity.id), told(foreign, abroad.id)]);
    expect([isTold(hook, activity.id), thief.arrivals]).toEqual([false, []]);
    expect(app.app.storage.integrity.violations).toContainEqual({
      table: 'webhook_endpoint',
      organizationId: client.organizationId,
      row: endpointId,
      because: column === 'webhook_endpoint_mac' ? 'unmarked' : 'mark',
    });
    const update = (parameters: object) => client.submit('update_webhook_endpoint', { endpointId, ...parameters });
    expect(outcome(await update({ name: randomUUID() }))).toEqual(REFUSED);
    expect(outcome(await client.submit('test_webhook_endpoint', { endpointId }))).toEqual(REFUSED);
    expect(outcome(await client.submit('delete_webhook_endpoint', { endpointId }))).toEqual(REFUSED);
    expect((await client.query('list_webhook_endpoints')).status).toBe(500);
    await pause(100);
    expect(thief.arrivals).toEqual([]);
  });

  test('what waits for one stays, is looked for less and less often, and goes out once it is as it was', async () => {
    const client = await newSub();
    const [hook, thief] = [receiver.hook(), receiver.hook()];
    const endpointId = await listen(client, hook);
    await told(hook, (await doSomething(client)).id);
    hook.otherwise = 500;
    const activity = await doSomething(client);
    await told(hook, activity.id);
    await vi.waitFor(async () => {
      const failed = "SELECT id FROM webhook_delivery WHERE endpoint_id = ? AND state = 'pending' AND failures = 1";
      expect(await rows.forge(failed, [endpointId])).toHaveLength(1);
    });
    const { length } = hook.arrivals;
    await change(endpointId, 'url', `'${thief.url}'`);
    const looks = vi.spyOn(WebhookReader.prototype, 'findEndpoint');
    await rows.forge("UPDATE webhook_delivery SET next_attempt_at_ms = 1 WHERE state = 'pending'");
    await pause(4500);
    const count = looks.mock.calls.filter(([, id]) => id === endpointId).length;
    looks.mockRestore();
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(6);
    expect([thief.arrivals.length, hook.arrivals.length]).toEqual([0, length]);
    hook.otherwise = 200;
    await change(endpointId, 'url', `'${hook.url}'`);
    await rows.forge('UPDATE webhook_lane SET resting_until_ms = 0 WHERE endpoint_id = ?', [endpointId]);
    app.app.webhooks.wake();
    await hook.count(length + 1);
    expect(isTold(hook, activity.id)).toBe(true);
  });

  test('one that is inserted, or is copied from elsewhere, is told nothing', async () => {
    const [client, elsewhere] = [await newSub(), await newSub()];
    const [hook, thief] = [receiver.hook(), receiver.hook()];
    const [own, foreign] = [await listen(client, hook), await listen(elsewhere, thief)];
    const columns = Object.keys((await rows.forge('SELECT * FROM webhook_endpoint WHERE id = ?', [own]))[0] ?? {});
    const copy = async (from: string, changes: Record<string, string>): Promise<string> => {
      const id: string = randomUUID();
      const values = columns.map((column) => (column === 'id' ? `'${id}'` : (changes[column] ?? column)));
      await rows.forge(
        `INSERT INTO webhook_endpoint (${columns}) SELECT ${values} FROM webhook_endpoint WHERE id = ?`,
        [from],
      );
      await rows.forge(
        `INSERT INTO webhook_lane (endpoint_id, organization_id, owner, claimed_until_ms, resting_until_ms, failures, is_gone)
         VALUES (?, ?, '', 0, 0, 0, 0)`,
        [id, client.organizationId],
      );
      return id;
    };
    const organization = { organization_id: `'${client.organizationId}'` };
    await copy(own, { url: `'${thief.url}'`, name: "'Inserted'" });
    await copy(foreign, { ...organization, name: "'Copied'" });
    await rows.forge('DELETE FROM webhook_endpoint WHERE id = ?', [foreign]);
    const { length } = thief.arrivals;
    const activity = await doSomething(client);
    await told(hook, activity.id);
    await pause(1500);
    expect(thief.arrivals).toHaveLength(length);
    // An event that waits for one is not sent either.
    const moved = await copy(own, { url: `'${thief.url}'`, name: "'Waits'" });
    await rows.forge(
      'UPDATE webhook_delivery SET endpoint_id = ?, state = ?, next_attempt_at_ms = 0 WHERE endpoint_id = ?',
      [moved, 'pending', own],
    );
    app.app.webhooks.wake();
    await pause(1500);
    expect(thief.arrivals).toHaveLength(length);
  });

  test('an activity that changed nothing of it is done in any case', async () => {
    const client: TestClient = await newSub();
    const endpointId = await listen(client, receiver.hook());
    await change(endpointId, 'subscriptions', "'not JSON'");
    const tag = () => client.submit('create_user_tag', { userTagName: randomUUID(), userIds: [] });
    expect(outcome(await tag())).toEqual([200, COMPLETED]);
    await change(endpointId, 'subscriptions', `'[{"eventType":"ACTIVITY_UPDATES","isActive":true}]'`);
    await remark(app.app.config, 'webhook_endpoint', `id = '${endpointId}'`);
    expect((await client.query('list_webhook_endpoints')).status).toBe(200);
  });
});
