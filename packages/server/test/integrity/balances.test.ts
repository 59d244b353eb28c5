import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BalanceWatchReader, BalanceWatchStore } from '../../src/domains/balances/store.ts';
import type { WebhookEndpoint } from '../../src/domains/webhooks/model.ts';
import { WebhookStore } from '../../src/domains/webhooks/store/webhooks.ts';
import { verifyRows } from '../../src/integrity/passes.ts';
import { randomId } from '../../src/lib/ids.ts';
import type { Violation } from '../../src/storage/integrity/integrity.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { NOW, Place, withOrganization } from '../storage/place.ts';

// What the watch over balances remembers, and who asks for it, as somebody else writes it: receivers credit what they are told.

const PLACE = { caip2: 'eip155:1', level: 'confirmed' } as const;
const OTHER = { caip2: 'eip155:10', level: 'confirmed' } as const;
const LARGEST = '9223372036854775807';

describe.each(DATABASES)('the watch over balances on %s', (database) => {
  let place: Place;
  let storage: Storage;

  beforeAll(async () => {
    place = await Place.create(database);
    storage = await place.open();
    storage.integrity.load([{ generation: 1, bytes: Buffer.alloc(32, 7) }], { isRequired: true });
  });
  afterAll(() => place?.[Symbol.asyncDispose]());

  const noticed = (table: string): Violation[] =>
    storage.integrity.violations.filter((violation) => violation.table === table);
  const verified = async (table: string): Promise<Violation[]> => {
    const bad: Violation[] = [];
    await verifyRows(storage, (violation) => bad.push(violation));
    return bad.filter((violation) => violation.table === table);
  };

  async function watching() {
    await place.run('DELETE FROM balance_cursor');
    await place.run('DELETE FROM balance_block');
    const cursor = { number: 10, hash: '0x0a', turn: 0, owner: '', claimedUntilMs: 0 };
    await storage.write(async (store) => {
      for (const watched of [PLACE, OTHER]) await store(BalanceWatchStore).begin({ ...watched, ...cursor });
      for (const number of [8, 9, 10])
        await store(BalanceWatchStore).keep(PLACE, { number, hash: `0x${number}`, told: [] });
    });
    return { ...PLACE, ...cursor };
  }

  test.each([
    ['number', '3'],
    ['number', LARGEST],
    ['turn', '1'],
    ['hash', "'0xff'"],
    ['balance_cursor_mac', 'NULL'],
  ])('%s of a cursor becomes %s: the chain is told of no further, and others are', async (column, value) => {
    const before = await watching();
    await place.run(`UPDATE balance_cursor SET ${column} = ${value} WHERE caip2 = '${PLACE.caip2}'`);
    await expect(storage.read(BalanceWatchReader).cursor(PLACE)).rejects.toMatchObject({ code: 'INTEGRITY_VIOLATION' });
    expect(await storage.read(BalanceWatchReader).cursors()).toMatchObject([OTHER]);
    const advance = storage.write((store) => store(BalanceWatchStore).advance(before, { ...before, number: 11 }));
    await expect(advance).rejects.toMatchObject({ code: 'INTEGRITY_VIOLATION' });
    const other = { ...before, ...OTHER };
    const advanced = storage.write((store) => store(BalanceWatchStore).advance(other, { ...other, number: 11 }));
    expect(await advanced).toBe(true);
    expect(await verified('balance_cursor')).toHaveLength(1);
  });

  test('a lease is taken, whoever wrote it', async () => {
    const before = await watching();
    await place.run(
      `UPDATE balance_cursor SET owner = 'thief', claimed_until_ms = ${LARGEST} WHERE caip2 = '${OTHER.caip2}'`,
    );
    await place.run(
      `UPDATE balance_cursor SET owner = 'thief', claimed_until_ms = ${NOW - 1} WHERE caip2 = '${PLACE.caip2}'`,
    );
    const claim = () => storage.write((store) => store(BalanceWatchStore).claim(PLACE, 'me', NOW, NOW + 1000));
    expect(await claim()).toBe(true);
    expect(await storage.read(BalanceWatchReader).cursor(PLACE)).toMatchObject({
      ...before,
      owner: 'me',
      claimedUntilMs: NOW + 1000,
    });
    expect(await storage.write((store) => store(BalanceWatchStore).advance(before, { ...before, number: 11 }))).toBe(
      true,
    );
  });

  test.each([
    ['told', `'[{"place":{"id":"thief"}}]'`],
    ['told', "'no JSON'"],
    ['hash', "'0xff'"],
    ['balance_block_mac', 'NULL'],
  ])('%s of a block becomes %s: nothing of it is taken back, and the one before is found', async (column, value) => {
    await watching();
    await place.run(`UPDATE balance_block SET ${column} = ${value} WHERE number = 10`);
    const kept = await storage.read(BalanceWatchReader).newestKept(PLACE, 11);
    expect(kept).toEqual({ number: 9, hash: '0x9', told: [] });
    expect(noticed('balance_block').at(-1)).toMatchObject({ table: 'balance_block', row: 'eip155:1/confirmed/10' });
    expect(await verified('balance_block')).toHaveLength(1);
  });

  test('a block that is inserted, or copied from another chain, is told of nowhere and keeps no place', async () => {
    await watching();
    await place.run(`INSERT INTO balance_block (caip2, level, number, hash, told)
      VALUES ('eip155:1', 'confirmed', 11, '0x11', '[]'), ('eip155:1', 'confirmed', ${LARGEST}, '0x12', '[]')`);
    await place.run(`INSERT INTO balance_block (caip2, level, number, hash, told, balance_block_mac)
      SELECT 'eip155:10', level, number, hash, told, balance_block_mac FROM balance_block WHERE number = 10`);
    expect(await storage.read(BalanceWatchReader).newestKept(PLACE, Number.MAX_SAFE_INTEGER)).toMatchObject({
      number: 10,
    });
    expect(await storage.read(BalanceWatchReader).newestKept(OTHER, 20)).toBeUndefined();
    await storage.write((store) => store(BalanceWatchStore).keep(PLACE, { number: 11, hash: '0x0b', told: [] }));
    expect(await storage.read(BalanceWatchReader).newestKept(PLACE, 12)).toMatchObject({ number: 11, hash: '0x0b' });
  });

  test.each([
    ['subscriptions', `'"BALANCE_ no JSON'`],
    ['subscriptions', `'[{"eventType":"BALANCE_CONFIRMED_UPDATES","isActive":true,"filtersJson":"no JSON"}]'`],
    ['created_at_ms', LARGEST],
  ])('%s of an endpoint become %s: others are asked for', async (column, value) => {
    const endpoints: WebhookEndpoint[] = [];
    for (let index = 0; index < 2; index += 1) {
      const { id: organizationId } = await withOrganization(storage);
      endpoints.push({
        id: randomId<'webhook-endpoint'>(),
        organizationId,
        name: 'one',
        url: 'https://receiver.example/',
        isActive: true,
        isFeature: false,
        includesDescription: false,
        subscriptions: [
          { eventType: 'BALANCE_CONFIRMED_UPDATES', isActive: true, filtersJson: '{"caip2":["eip155:1"]}' },
        ],
        createdAtMs: NOW,
        updatedAtMs: NOW,
      });
    }
    const [attacked, other] = endpoints as [WebhookEndpoint, WebhookEndpoint];
    await storage.write(async (store) => {
      for (const endpoint of endpoints) await store(WebhookStore).insertEndpoint(endpoint);
    });
    await place.run(`UPDATE webhook_endpoint SET ${column} = ${value} WHERE id = '${attacked.id}'`);
    const subscribers = await storage.read(BalanceWatchReader).subscribers();
    expect(subscribers.map(({ organizationId }) => organizationId)).not.toContain(attacked.organizationId);
    expect(subscribers).toContainEqual({
      organizationId: other.organizationId,
      asks: [{ eventType: 'BALANCE_CONFIRMED_UPDATES', chains: ['eip155:1'] }],
    });
    expect(noticed('webhook_endpoint')).toContainEqual({
      table: 'webhook_endpoint',
      organizationId: attacked.organizationId,
      row: attacked.id,
      because: 'mark',
    });
    await place.run('DELETE FROM webhook_endpoint');
  });
});
