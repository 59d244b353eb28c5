import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Activity, ApiKey } from '../../src/core/model.ts';
import { ActivityStore } from '../../src/core/store/activities.ts';
import { ActivityReader } from '../../src/core/store/activity-reader.ts';
import { OrganizationReader, OrganizationStore } from '../../src/core/store/organizations.ts';
import { CredentialReader, CredentialStore } from '../../src/domains/users/store/credentials.ts';
import { UserStore } from '../../src/domains/users/store/users.ts';
import { ApiError } from '../../src/lib/errors.ts';
import type { Schema } from '../../src/storage/schema.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { activity, apiKey, newUser } from './both-databases/support.ts';
import { builderOf, codeOf, NOW, organization, Place } from './place.ts';

/** The number of the last change that the feed tells. */
async function changeNumber(store: Stores): Promise<number> {
  const { rows } = await sql<{ value: string }>`SELECT value FROM deployment WHERE name = 'change_number'`.execute(
    builderOf(store),
  );
  return Number(rows[0]?.value);
}

describe('units that share a commit on SQLite', () => {
  let place: Place;
  let storage: Storage;
  beforeAll(async () => {
    place = await Place.create('sqlite');
    storage = await place.open();
  });
  afterAll(async () => {
    await place[Symbol.asyncDispose]();
  });

  /** Writes an organization, and fails afterwards if told so. */
  function unit({ fails = false } = {}) {
    const made = organization();
    const counts = { runs: 0 };
    const done = storage.write(async (store) => {
      counts.runs += 1;
      await store(OrganizationStore).insert(made);
      if (fails) throw new ApiError('CONFLICT', `no place for ${made.id}`);
      return made.id;
    });
    return { made, counts, done };
  }
  const isThere = async ({ made }: ReturnType<typeof unit>): Promise<boolean> =>
    (await storage.read(OrganizationReader).find(made.id)) !== undefined;

  test('are all written, and each of them once', async () => {
    const units = Array.from({ length: 20 }, () => unit());
    expect(await Promise.all(units.map(({ done }) => done))).toEqual(units.map(({ made }) => made.id));
    expect(await Promise.all(units.map(isThere))).toEqual(units.map(() => true));
    expect(units.map(({ counts }) => counts.runs)).toEqual(units.map(() => 1));
  });

  test('of which some fail leave the others their writes, and nothing of those that failed', async () => {
    const units = Array.from({ length: 20 }, (_, index) => unit({ fails: index % 7 === 3 }));
    const outcomes = await Promise.allSettled(units.map(({ done }) => done));
    expect(outcomes.map(({ status }) => status)).toEqual(
      units.map((_, index) => (index % 7 === 3 ? 'rejected' : 'fulfilled')),
    );
    expect(outcomes[3]).toMatchObject({ reason: { message: `no place for ${units[3]?.made.id}` } });
    expect(await Promise.all(units.map(isThere))).toEqual(units.map((_, index) => index % 7 !== 3));
  });

  test('that keep failing cost the others no second run each time', async () => {
    const good: ReturnType<typeof unit>[] = [];
    for (let round = 0; round < 40; round += 1) {
      const units = [unit({ fails: true }), unit(), unit()];
      await Promise.allSettled(units.map(({ done }) => done));
      good.push(...units.slice(1));
    }
    const runs = good.reduce((sum, { counts }) => sum + counts.runs, 0);
    expect(runs).toBeLessThanOrEqual(good.length + 4);
    expect(await Promise.all(good.map(isThere))).toEqual(good.map(() => true));
  });

  test('alone and failing runs once', async () => {
    // Until nobody expects a failure any more.
    for (let commit = 0; commit < 64; commit += 1) await unit().done;
    const failing = unit({ fails: true });
    await expect(failing.done).rejects.toThrow('no place');
    expect(failing.counts.runs).toBe(1);
    expect(await isThere(failing)).toBe(false);
    const next = unit();
    await next.done;
    expect(await isThere(next)).toBe(true);
  });

  test('that lose their transaction to a full disk leave nothing, also of what they asked for beside it', async () => {
    const [large, small] = [organization({ name: 'x'.repeat(1_000_000) }), organization()];
    const after = unit();
    const db = (store: Stores) => (store(OrganizationStore) as unknown as { db: Kysely<Schema> }).db;
    const losing = storage.write(async (store) => {
      await sql`PRAGMA max_page_count = 1`.execute(db(store));
      await Promise.all([store(OrganizationStore).insert(large), store(OrganizationStore).insert(small)]);
    });
    expect(await codeOf(losing)).toBe('UNAVAILABLE');
    await Promise.allSettled([after.done]);
    await storage.write(async (store) => {
      await sql`PRAGMA max_page_count = 1073741823`.execute(db(store));
    });
    const { read } = storage;
    expect([await read(OrganizationReader).find(large.id), await read(OrganizationReader).find(small.id)]).toEqual([
      undefined,
      undefined,
    ]);
    const next = unit();
    await next.done;
    expect(await isThere(next)).toBe(true);
  });

  test('a row that a rule refuses leaves nothing behind, also where its unit goes on', async () => {
    const made = organization();
    const [first, same, last] = ['sha256:a', 'sha256:a', 'sha256:b'].map((fingerprint) =>
      activity(made.id, { fingerprint }),
    ) as [Activity, Activity, Activity];
    const user = newUser();
    const [one, two] = ['one', 'two'].map((name) => apiKey(user.id, name)) as [ApiKey, ApiKey];
    const refusals: string[] = [];
    const refused = async (work: Promise<unknown>): Promise<void> => void refusals.push(await codeOf(work));
    const numbers = await storage.write(async (store) => {
      await store(OrganizationStore).insert(made);
      await store(UserStore).insert(made.id, [user], NOW);
      await store(CredentialStore).insertApiKeys(made.id, [one]);
      await store(CredentialStore).insertApiKeys(made.id, [two]);
      await store(ActivityStore).insert(first, []);
      const before = await changeNumber(store);
      await refused(store(ActivityStore).insert(same, []));
      const after = await changeNumber(store);
      await refused(store(CredentialStore).extendApiKey(made.id, { ...two, name: one.name }));
      await store(ActivityStore).insert(last, []);
      return [before, after, await changeNumber(store)];
    });
    expect(refusals).toEqual(['ALREADY_EXISTS', 'ALREADY_EXISTS']);
    const [before = 0] = numbers;
    expect(numbers).toEqual([before, before, before + 1]);
    const found = await Promise.all(
      [first, same, last].map(({ id }) => storage.read(ActivityReader).find(made.id, id)),
    );
    expect(found.map((each) => each?.activity.id)).toEqual([first.id, undefined, last.id]);
    const keys = await storage.read(CredentialReader).apiKeysOfUser(made.id, user.id);
    expect(keys.map(({ name }) => name).sort()).toEqual(['one', 'two']);
  });

  test('see what units before them wrote, also when they run again', async () => {
    const first = unit();
    const seen: boolean[] = [];
    const second = storage.write(async (store) => {
      seen.push((await store(OrganizationReader).find(first.made.id)) !== undefined);
    });
    const third = unit({ fails: true });
    await Promise.allSettled([first.done, second, third.done]);
    expect(new Set(seen)).toEqual(new Set([true]));
  });
});
