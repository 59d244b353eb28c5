import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { OrganizationReader } from '../../src/core/store/organizations.ts';
import { createMessages } from '../../src/domains/messages/messages.ts';
import { MessageReader, MessageStore } from '../../src/domains/messages/store.ts';
import { type OrganizationId, randomId } from '../../src/lib/ids.ts';
import type { LoginService } from '../flows/fixtures/logins.ts';
import { LOOPBACK } from '../flows/fixtures/oauth.ts';
import { listen } from '../flows/fixtures/webhooks.ts';
import { createSubOrganization, type TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { type Hook, WebhookReceiver } from '../harness/webhook-receiver.ts';
import { accept, openLogins, restore } from './support.ts';

// Mails and webhooks that wait in a restored database leave for nobody until the restore is accepted for whom they are.

const PATIENCE = { timeout: 15_000, interval: 20 };
/** Several looks of every worker. */
const LOOKS_MS = 2500;
/** More than are handed over at once. */
const MANY = 40;

describe.each(DATABASES)('what leaves a restored service on %s', (database) => {
  let logins: LoginService;
  let receiver: WebhookReceiver;
  let held: TestClient & { readonly hook?: Hook };
  let lifted: TestClient;
  let hooks: readonly [Hook, Hook];

  beforeAll(async () => {
    logins = await openLogins(database, LOOPBACK);
    receiver = await WebhookReceiver.start();
    held = await createSubOrganization(logins.parent, 'held');
    lifted = await createSubOrganization(logins.parent, 'lifted');
    hooks = [receiver.hook(), receiver.hook()];
    for (const hook of hooks) hook.otherwise = 'drop';
    await listen(held, hooks[0]);
    await listen(lifted, hooks[1]);
    for (const client of [held, lifted]) await client.run('create_user_tag', { userTagName: 'told', userIds: [] });
    await vi.waitFor(() => expect(hooks.every(({ arrivals }) => arrivals.length > 0)).toBe(true), PATIENCE);
    await restore(logins.service);
    await store(held, MANY);
    await store(lifted, 1);
    for (const hook of hooks) {
      hook.otherwise = 200;
      hook.arrivals.length = 0;
    }
    // What failed before is tried again by now.
    logins.advance(3_600_000);
  });
  afterAll(async () => {
    await receiver?.[Symbol.asyncDispose]();
    await logins?.[Symbol.asyncDispose]();
  });

  /** Mails that waited in the backup. */
  async function store({ organizationId }: TestClient, count: number): Promise<void> {
    const { config, storage, keyring } = logins.service.app;
    const organization = await storage.read(OrganizationReader).get(organizationId as OrganizationId);
    const { compose } = createMessages({ config, keyring, newId: randomId });
    for (let index = 0; index < count; index += 1) {
      const to = `person-${index}@${organization.name}.example`;
      const message = await compose(organization, { channel: 'email', to, subject: 's', text: 't', html: 'h' });
      await storage.write((stores) => stores(MessageStore).insert(message, Date.now()));
    }
  }

  const handedOver = async (): Promise<string[]> =>
    (await logins.service.app.storage.read(MessageReader).kept()).map(({ organizationId }) => organizationId);
  const countOf = async ({ organizationId }: TestClient): Promise<number> =>
    (await handedOver()).filter((one) => one === organizationId).length;

  test('is nothing, while nobody has accepted it', async () => {
    logins.service.app.outbox.wake();
    logins.service.app.webhooks.wake([]);
    await pause(LOOKS_MS);
    expect([await countOf(held), await countOf(lifted)]).toEqual([0, 0]);
    expect(hooks.map(({ arrivals }) => arrivals.length)).toEqual([0, 0]);
  });

  test('is what organizations wait for that it was accepted for, however much of others is in front', async () => {
    await accept(logins.service, { organizationId: lifted.organizationId });
    await vi.waitFor(async () => expect(await countOf(lifted)).toBe(1), PATIENCE);
    await vi.waitFor(() => expect(hooks[1].arrivals.length).toBeGreaterThan(0), PATIENCE);
    await pause(LOOKS_MS);
    expect(await countOf(held)).toBe(0);
    expect(hooks[0].arrivals).toEqual([]);
  });

  test('is all of it in the end, each once', async () => {
    await accept(logins.service);
    await vi.waitFor(async () => expect(await countOf(held)).toBe(MANY), PATIENCE);
    await vi.waitFor(() => expect(hooks[0].arrivals.length).toBeGreaterThan(0), PATIENCE);
    expect(await countOf(lifted)).toBe(1);
    for (const { arrivals } of hooks)
      expect(new Set(arrivals.map(({ eventId }) => eventId)).size).toBe(arrivals.length);
  });
});
