import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BalanceWatchStore } from '../../../src/domains/balances/store.ts';
import { WebhookStore } from '../../../src/domains/webhooks/store/webhooks.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { DATABASES } from '../../harness/databases.ts';
import { BalanceScene, CLAIM_MS, PLACE } from '../fixtures/balances.ts';

/** Writes everything, and then nothing: as a process does that is killed before it commits. Notes the ids of events. */
const dying = (storage: Storage, ids: Set<string>): Storage =>
  new Proxy(storage, {
    get: (real, name) =>
      name !== 'write'
        ? Reflect.get(real, name, real)
        : (unit: Parameters<Storage['write']>[0]) =>
            storage.write(async (store) => {
              const webhooks = store(WebhookStore);
              const insertEvents = webhooks.insertEvents.bind(webhooks);
              webhooks.insertEvents = async (events) => {
                await insertEvents(events);
                for (const { id } of events) ids.add(id);
              };
              const outcome = await unit(store);
              webhooks.insertEvents = insertEvents;
              if (ids.size > 0) throw new Error('killed');
              return outcome;
            }),
  });

describe.each(DATABASES)('the watch over balances among processes on %s', (database) => {
  let scene: BalanceScene;
  beforeAll(async () => {
    scene = await BalanceScene.open(database);
  });
  afterAll(() => scene[Symbol.asyncDispose]());
  beforeEach(() => scene.begin());

  test('one that dies before it commits leaves everything to the next one, with the same ids', async () => {
    const { app, advance } = scene.opened;
    const ids = new Set<string>();
    const { number, hash } = await scene.cursor();
    scene.pay(5n);
    const killed = scene.watch({ storage: dying(app.storage, ids), owner: 'killed' });
    await expect(killed.step()).rejects.toThrow('killed');
    expect(ids.size).toBe(2);
    expect(await scene.cursor()).toMatchObject({ number, hash, owner: 'killed' });
    // Its claim is still there, and ends by itself.
    const next = scene.watch({ owner: 'next' });
    expect(await next.step()).toBe(false);
    advance(CLAIM_MS);
    await scene.finish(next);
    expect(await scene.told(2)).toEqual(['deposit 5 ETH', 'deposit 7 USDX']);
    expect(scene.hook.arrivals.map(({ eventId }) => eventId).sort()).toEqual([...ids].sort());
  });

  test('one that loses its claim while it reads a block tells it if it is still the first to do so', async () => {
    const { app, advance } = scene.opened;
    const gate = new EventEmitter();
    let writes = 0;
    // The first write is its claim. It is held up at the second one, with the block read.
    const slow = scene.watch({
      owner: 'slow',
      storage: new Proxy(app.storage, {
        get: (real, name) =>
          name !== 'write'
            ? Reflect.get(real, name, real)
            : async (unit: Parameters<Storage['write']>[0]) => {
                writes += 1;
                if (writes === 2) {
                  const released = once(gate, 'release');
                  gate.emit('reached');
                  await released;
                }
                return await real.write(unit);
              },
      }),
    });
    scene.pay(6n);
    const reached = once(gate, 'reached');
    const step = slow.step();
    await reached;
    advance(CLAIM_MS);
    const take = () =>
      app.storage.write((store) => store(BalanceWatchStore).claim(PLACE, 'other', app.clock(), app.clock() + CLAIM_MS));
    expect(await take()).toBe(true);
    gate.emit('release');
    // The other one has not come further: otherwise two slow ones would take the claim from each other for ever.
    expect(await step).toBe(true);
    await scene.finish(scene.watch({ owner: 'other' }));
    expect(await scene.told(2)).toEqual(['deposit 6 ETH', 'deposit 7 USDX']);
  });

  test('two that read the same block tell it once', async () => {
    scene.pay(2n);
    const both = [scene.watch(), scene.watch()].map((watch) => watch.step());
    expect((await Promise.all(both)).filter((hasMoved) => hasMoved)).toHaveLength(1);
    scene.pay(3n);
    await scene.finish(scene.watch());
    expect(await scene.told(4)).toEqual(['deposit 2 ETH', 'deposit 3 ETH', 'deposit 7 USDX', 'deposit 7 USDX']);
  });

  test('a watch that begins again tells nothing a second time, and goes on behind it', async () => {
    const { storage } = scene.opened.app;
    const before = await scene.cursor();
    scene.pay(4n);
    await scene.finish(scene.watch());
    await scene.told(2);
    const after = await scene.cursor();
    await storage.write(async (store) => {
      const balanceWatch = store(BalanceWatchStore);
      await balanceWatch.end(after);
      // A node that is behind has said what the newest block is.
      await balanceWatch.begin(before);
    });
    await scene.finish(scene.watch());
    scene.pay(8n);
    await scene.finish(scene.watch());
    expect(await scene.told(4)).toEqual(['deposit 4 ETH', 'deposit 7 USDX', 'deposit 7 USDX', 'deposit 8 ETH']);
  });

  test('where a reorganisation replaces the very block that a watch began with, the new one is told', async () => {
    const begun = await scene.cursor();
    await scene.opened.app.storage.write((store) => store(BalanceWatchStore).end(begun));
    scene.node.mine();
    await scene.finish(scene.watch());
    scene.node.undo(1);
    scene.pay(3n);
    scene.node.mine();
    await scene.finish(scene.watch());
    expect(await scene.told(2)).toEqual(['deposit 3 ETH', 'deposit 7 USDX']);
  });

  test('one whose end was decided before it moved on stays', async () => {
    const before = await scene.cursor();
    scene.pay(1n);
    await scene.finish(scene.watch());
    await scene.opened.app.storage.write((store) => store(BalanceWatchStore).end(before));
    expect(await scene.cursor()).toMatchObject({ number: before.number + 1 });
  });
});
