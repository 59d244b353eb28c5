import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { firstMinute, type GasUsageConfig, minuteOf } from '../../src/domains/sends/sponsorship-model.ts';
import { SponsorshipReader, SponsorshipStore } from '../../src/domains/sends/store/sponsorship.ts';
import { type OrganizationId, randomId } from '../../src/lib/ids.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { DATABASES } from '../harness/databases.ts';
import { builderOf, NOW, Place, times, withOrganization } from './place.ts';

const [ONE, TWO] = ['eip155:1', 'eip155:2'];
const MINUTE = minuteOf(NOW);
const KEPT = 31 * 24 * 60;

describe.each(DATABASES)('sponsored costs in storage on %s', (kind) => {
  let place: Place;
  let storage: Storage;
  let id: OrganizationId;

  beforeAll(async () => {
    place = await Place.create(kind);
    storage = await place.open();
  });
  beforeEach(async () => {
    id = (await withOrganization(storage)).id;
  });
  afterAll(async () => {
    await place?.[Symbol.asyncDispose]();
  });

  const add = (native: bigint, usdMicros: bigint, minute = MINUTE, caip2 = ONE, organizationId = id) =>
    storage.write((store) => store(SponsorshipStore).add(organizationId, caip2, minute, { native, usdMicros }));

  test('what somebody else wrote makes no room, and keeps nobody from counting', async () => {
    await add(5n, 7n);
    await place.run(`INSERT INTO sponsored_cost (organization_id, caip2, minute, native_cost, usd_micros, sub_organizations_cost)
      VALUES ('${id}', '${ONE}', ${MINUTE - 1}, -9000000000000000000, -9000000000000000000, -9000000000000000000)`);
    expect(await storage.read(SponsorshipReader).nativeUsage(id, ONE as string, MINUTE - 2)).toBe(5n);
    expect(await storage.read(SponsorshipReader).usdUsage(id, MINUTE - 2)).toBe(7n);
    for (let minute = MINUTE; minute < MINUTE + 3; minute += 1) await add(1n, 1n, minute);
    await place.run(`UPDATE sponsored_cost SET native_cost = 9223372036854775807, usd_micros = 9223372036854775807`);
    await add(1n, 1n);
    expect(await storage.read(SponsorshipReader).nativeUsage(id, ONE as string, MINUTE - 2)).toBeGreaterThan(
      10n ** 15n,
    );
    expect(await storage.read(SponsorshipReader).usdUsage(id, MINUTE - 2)).toBeGreaterThan(10n ** 15n);
    await storage.write((store) => store(SponsorshipStore).moveBack(MINUTE, MINUTE));
    await place.run('DELETE FROM sponsored_cost');
  });

  test('a configuration is read as it was written, and replaced under its id', async () => {
    const config: GasUsageConfig = {
      organizationId: id,
      id: randomId(),
      treeLimitUsd: '100.50',
      subOrganizationLimitUsd: '0',
      windowMinutes: 43_200,
      isEnabled: true,
      createdAtMs: NOW,
      updatedAtMs: NOW,
    };
    expect(await storage.read(SponsorshipReader).config(id)).toBeUndefined();
    await storage.write((store) => store(SponsorshipStore).putConfig(config));
    expect(await storage.read(SponsorshipReader).config(id)).toEqual(config);
    const other = { ...config, treeLimitUsd: '7', windowMinutes: 1, isEnabled: false, updatedAtMs: NOW + 1 };
    await storage.write((store) =>
      store(SponsorshipStore).putConfig({ ...other, id: randomId(), createdAtMs: NOW + 1 }),
    );
    expect(await storage.read(SponsorshipReader).config(id)).toEqual(other);
    expect(await storage.read(SponsorshipReader).config(randomId())).toBeUndefined();
  });

  test('costs add up by minute, chain and organization, and shrink again', async () => {
    const sponsorship = storage.read(SponsorshipReader);
    expect(await sponsorship.nativeUsage(id, ONE, 0)).toBe(0n);
    expect(await sponsorship.usdUsage(id, 0)).toBe(0n);
    await add(10n, 100n);
    await add(5n, 50n);
    await add(-3n, -30n);
    await add(7n, 70n, MINUTE + 1);
    await add(1000n, 10_000n, MINUTE + 1, TWO);
    await add(4n, 40n, MINUTE, ONE, (await withOrganization(storage)).id);
    expect(await sponsorship.nativeUsage(id, ONE, MINUTE)).toBe(19n);
    expect(await sponsorship.nativeUsage(id, ONE, MINUTE + 1)).toBe(7n);
    expect(await sponsorship.nativeUsage(id, ONE, MINUTE + 2)).toBe(0n);
    expect(await sponsorship.nativeUsage(id, TWO, MINUTE)).toBe(1000n);
    expect(await sponsorship.usdUsage(id, MINUTE)).toBe(10_190n);
    expect(await sponsorship.usdUsage(id, MINUTE + 1)).toBe(10_070n);
  });

  test('a minute never falls below nothing, whoever counted otherwise', async () => {
    const sponsorship = storage.read(SponsorshipReader);
    await add(-5n, -50n);
    expect([await sponsorship.nativeUsage(id, ONE, 0), await sponsorship.usdUsage(id, 0)]).toEqual([0n, 0n]);
    await add(10n, 100n);
    await add(-11n, -20n);
    expect([await sponsorship.nativeUsage(id, ONE, 0), await sponsorship.usdUsage(id, 0)]).toEqual([0n, 80n]);
    await add(4n, 40n);
    expect([await sponsorship.nativeUsage(id, ONE, 0), await sponsorship.usdUsage(id, 0)]).toEqual([4n, 120n]);
  });

  test('sums are exact beyond what a number holds', async () => {
    for (const minute of times(20, (index) => MINUTE + index)) await add(10n ** 15n - 1n, 10n ** 15n, minute);
    expect(await storage.read(SponsorshipReader).nativeUsage(id, ONE, MINUTE)).toBe(20n * 10n ** 15n - 20n);
    expect(await storage.read(SponsorshipReader).usdUsage(id, MINUTE)).toBe(20n * 10n ** 15n);
  });

  test('who holds a tree keeps others from adding to it, and from nothing else', async () => {
    const other = (await withOrganization(storage)).id;
    const order: string[] = [];
    let waiting: Promise<void> | undefined;
    await storage.write(async (store) => {
      await store(SponsorshipStore).lock(id);
      waiting = storage.write(async (second) => {
        await second(SponsorshipStore).lock(id);
        order.push(`second sees ${await second(SponsorshipStore).nativeUsage(id, ONE, MINUTE)}`);
      });
      if (kind === 'postgres') await storage.write((third) => third(SponsorshipStore).lock(other));
      await store(SponsorshipStore).add(id, ONE, MINUTE, { native: 9n, usdMicros: 0n });
      order.push('first is done');
    });
    await waiting;
    expect(order).toEqual(['first is done', 'second sees 9']);
  });

  test('what no window reaches is forgotten, some at a time, of whichever organization', async () => {
    const rows = () => storage.write((store) => builderOf(store).selectFrom('sponsored_cost').selectAll().execute());
    const oldest = firstMinute(NOW, KEPT);
    const before = (await rows()).length;
    await add(1n, 1n, oldest);
    const other = (await withOrganization(storage)).id;
    for (const minute of times(102, (index) => oldest - 1 - index)) await add(1n, 1n, minute, ONE, other);
    const sweep = async () => {
      await storage.write((store) => store(SponsorshipStore).sweep(NOW));
      return (await rows()).length - before;
    };
    expect(await sweep()).toBe(3);
    expect(await sweep()).toBe(1);
    expect(await sweep()).toBe(1);
    expect(await storage.read(SponsorshipReader).nativeUsage(id, ONE, oldest)).toBe(1n);
  });
});
