import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BalanceWatchReader } from '../../src/domains/balances/store.ts';
import { StubNode } from '../chain/stub-node.ts';
import { newWallet } from '../fixtures/keys.ts';
import { LOOPBACK } from '../flows/fixtures/webhooks.ts';
import { openTestApp } from '../harness/app.ts';
import { createSubOrganization } from '../harness/client.ts';
import { databasesOf } from '../harness/databases.ts';
import { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { accept, restore } from './support.ts';

const PATIENCE = { timeout: 15_000, interval: 20 };
const CHAIN = 'eip155:31337';

describe.each(databasesOf(import.meta.url))('the watch over balances on %s', (database) => {
  test('stands while the fence is up, and goes on with the block where the backup was', {
    timeout: 60_000,
  }, async () => {
    const node = await StubNode.start();
    const receiver = await WebhookReceiver.start();
    const service = await openTestApp(database, {
      ...LOOPBACK,
      CUSTOS_KEYRING: 'inline',
      CUSTOS_CHAINS: JSON.stringify(node.settings()),
    });
    onTestFinished(async () => {
      await service[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
      await node[Symbol.asyncDispose]();
    });
    const sub = await createSubOrganization(service.root, 'Watched');
    const { address } = await newWallet(sub, randomUUID());
    const hook = receiver.hook();
    const filtersJson = JSON.stringify({ addresses: [address], caip2: [CHAIN] });
    await service.root.run('create_webhook_endpoint', {
      ...{ url: hook.url, name: randomUUID() },
      subscriptions: [{ eventType: 'BALANCE_CONFIRMED_UPDATES', filtersJson }],
    });
    const position = async () => {
      const cursors = await service.app.storage.read(BalanceWatchReader).cursors();
      return cursors.find(({ level }) => level === 'confirmed')?.number;
    };
    service.app.balances.start();
    await vi.waitFor(async () => expect(await position()).toBe(node.head.number), PATIENCE);
    const before = await position();
    await restore(service);
    service.app.balances.start();
    node.balances.set(address.toLowerCase(), 5n);
    const [paid] = node.mineValues({ from: `0x${'ab'.repeat(20)}`, to: address, value: 5n });
    await pause(2500);
    expect([await position(), hook.arrivals.length]).toEqual([before, 0]);
    // What it tells the parent, which is still held, waits.
    await accept(service, { organizationId: sub.organizationId });
    await vi.waitFor(async () => expect(await position()).toBe(node.head.number), PATIENCE);
    await pause(1500);
    expect(hook.arrivals).toEqual([]);
    await accept(service);
    const { body } = await hook.next();
    expect(body.msg).toMatchObject({ txHash: paid, operation: 'deposit' });
  });
});
