import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { Events } from '../../src/core/events.ts';
import { ActivityStore } from '../../src/core/store/activities.ts';
import { ActivityReader } from '../../src/core/store/activity-reader.ts';
import { OrganizationStore } from '../../src/core/store/organizations.ts';
import { TreeStore } from '../../src/core/store/tree.ts';
import { UserReader, UserStore } from '../../src/domains/users/store/users.ts';
import { WebhookStore } from '../../src/domains/webhooks/store/webhooks.ts';
import { dataModel } from '../../src/domains.ts';
import type { OrganizationId } from '../../src/lib/ids.ts';
import { randomId } from '../../src/lib/ids.ts';
import { openStorage } from '../../src/storage/open.ts';
import { deferred } from '../../src/storage/statement.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Stores } from '../../src/storage/stores.ts';
import { connectPostgres, waitUntil } from '../faults/support.ts';
import { createPostgresDatabase, DATABASES } from '../harness/databases.ts';
import { Wire } from '../harness/wire.ts';
import { activity, newUser } from './both-databases/support.ts';
import { builderOf, codeOf, NOW, Place, withOrganization } from './place.ts';

// Statements that nobody waits for travel with the commit (docs/decisions/0053): what if one of them fails, or all of it?

const isStored = async (storage: Storage, id: OrganizationId, fingerprint: string): Promise<boolean> =>
  (await storage.read(ActivityReader).idByFingerprint(id, fingerprint)) !== undefined;

const renameNobody = (store: Stores, id: OrganizationId) => store(UserStore).rename(id, randomId(), 'Nobody', NOW);

const insertTombstone = deferred(
  'test-tombstone',
  (db, { organizationId, id }: { organizationId: string; id: unknown }) =>
    db.insertInto('tombstone').values({ organization_id: organizationId, id: id as string } as never),
);

const setWrappedKey = deferred('test-wrapped-key', (db, { id, key }: { id: string; key: Uint8Array }) =>
  db
    .updateTable('organization')
    .set({ wrapped_key: key })
    .where('id', '=', id)
    .modifyEnd(sql`/* unmarked: a test without a key */`),
);

describe.each(DATABASES)('deferred statements on %s', (kind) => {
  test('one that changes no row fails the unit with its meaning, and nothing is left of those before and after it', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open(2);
    const { id } = await withOrganization(storage);
    const user = newUser();
    await storage.write((store) => store(UserStore).insert(id, [user], NOW));
    const [first, second] = [activity(id), activity(id)];
    for (let round = 0; round < 3; round += 1) {
      const failing = storage.write(async (store) => {
        await store(ActivityStore).insert(first, []);
        await renameNobody(store, id);
        await store(ActivityStore).insert(second, []);
      });
      expect(await codeOf(failing)).toBe('RESOURCE_NOT_FOUND');
      expect(await isStored(storage, id, first.fingerprint)).toBe(false);
      expect(await isStored(storage, id, second.fingerprint)).toBe(false);
      // The same statements on the same connection, which has kept what it prepared of them, or not.
      await storage.write(async (store) => {
        await store(UserStore).rename(id, user.id, `Name ${round}`, NOW);
        await store(ActivityStore).insert(activity(id), []);
      });
      expect((await storage.read(UserReader).get(id, user.id)).name).toBe(`Name ${round}`);
    }
  });

  test('what is read after one sees it, and fails as it failed', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { id } = await withOrganization(storage);
    const user = newUser();
    await storage.write((store) => store(UserStore).insert(id, [user], NOW));
    const name = await storage.write(async (store) => {
      await store(UserStore).rename(id, user.id, 'Renamed', NOW);
      return (await store(UserStore).get(id, user.id)).name;
    });
    expect(name).toBe('Renamed');
    const failing = storage.write(async (store) => {
      await renameNobody(store, id);
      await store(UserStore).get(id, user.id);
    });
    expect(await codeOf(failing)).toBe('RESOURCE_NOT_FOUND');
  });

  test('whoever overlooks a failure commits nothing', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { id } = await withOrganization(storage);
    const made = activity(id);
    await storage.write((store) => store(ActivityStore).insert(activity(id, { fingerprint: made.fingerprint }), []));
    const user = newUser();
    const failing = storage.write(async (store) => {
      await store(UserStore).insert(id, [user], NOW);
      await store(ActivityStore).insert(made, []);
      await store(UserStore)
        .count(id)
        .catch(() => {});
    });
    expect(await codeOf(failing)).toBe('ALREADY_EXISTS');
    expect(await storage.read(UserReader).find(id, user.id)).toBeUndefined();
  });

  test('inside a savepoint it fails there and undoes that alone; what was not sent yet is dropped with it', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { id } = await withOrganization(storage);
    const [before, refused, dropped, after] = [activity(id), activity(id), activity(id), activity(id)];
    const codes = await storage.write(async (store) => {
      await store(ActivityStore).insert(before, []);
      const first = await codeOf(
        store.savepoint(async () => {
          await store(ActivityStore).insert(refused, []);
          await renameNobody(store, id);
        }),
      );
      const second = await codeOf(
        store.savepoint(async () => {
          await store(ActivityStore).insert(dropped, []);
          throw new Error('mine');
        }),
      );
      await store.savepoint(() => store(ActivityStore).insert(after, []));
      return [first, second];
    });
    expect(codes).toEqual(['RESOURCE_NOT_FOUND', 'not an ApiError: Error: mine']);
    const stored = await Promise.all(
      [before, refused, dropped, after].map(({ fingerprint }) => isStored(storage, id, fingerprint)),
    );
    expect(stored).toEqual([true, false, false, true]);
  });

  test('a value that no database takes sends nothing, and the next unit is none the worse', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open(2);
    const { id } = await withOrganization(storage);
    const made = activity(id);
    const failing = storage.write(async (store) => {
      await store(ActivityStore).insert(made, []);
      await insertTombstone(builderOf(store), { organizationId: id, id: { not: 'text' } });
    });
    expect(await codeOf(failing)).toContain('Error');
    expect(await isStored(storage, id, made.fingerprint)).toBe(false);
    expect(await codeOf(storage.write((store) => store(ActivityStore).insert(made, [])))).toBe('done');
  });

  test.each([
    ['bytes', Uint8Array.from([1, 2, 255])],
    ['a buffer', Buffer.from([1, 2, 255])],
  ])('%s that are wiped after they were given are stored as they were', async (_, key) => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { id } = await withOrganization(storage);
    await storage.write(async (store) => {
      await setWrappedKey(builderOf(store), { id, key });
      key.fill(0);
    });
    const stored = await storage.write((store) => store(OrganizationStore).get(id));
    expect(Buffer.from(stored.wrappedKey ?? [])).toEqual(Buffer.from([1, 2, 255]));
  });

  test('an entry of the tree is replaced, or made where there is none', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { id: rootId } = await withOrganization(storage);
    const { id } = await withOrganization(storage, { parentId: rootId });
    const owner = randomId();
    const valuesAfter = async (value: string): Promise<string[]> =>
      await storage.write(async (store) => {
        await store(TreeStore).replace(rootId, id, owner, 'USERNAME', value);
        const rows = await builderOf(store)
          .selectFrom('tree_entry')
          .selectAll()
          .where('owner_id', '=', owner)
          .execute();
        return rows.map((row) => `${row.root_id === rootId} ${row.kind} ${row.value} ${row.unique_value}`);
      });
    expect(await valuesAfter('one')).toEqual(['true USERNAME one null']);
    expect(await valuesAfter('two')).toEqual(['true USERNAME two null']);
  });

  test.each(['one', 'another'])(
    'an entry that is known to be %s is moved, and is there alone afterwards',
    async (before) => {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id: rootId } = await withOrganization(storage);
      const { id } = await withOrganization(storage, { parentId: rootId });
      const [owner, neighbour] = [randomId(), randomId()];
      const rows = await storage.write(async (store) => {
        for (const ownerId of [owner, neighbour])
          await store(TreeStore).add(rootId, id, [{ kind: 'USERNAME', value: 'one', ownerId }]);
        await store(TreeStore).move(rootId, id, before, { kind: 'USERNAME', value: 'two', ownerId: owner });
        // Whoever reads whole rows has their marks verified.
        return await builderOf(store).selectFrom('tree_entry').selectAll().where('organization_id', '=', id).execute();
      });
      const shown = rows.map((row) => `${row.owner_id === owner} ${row.kind} ${row.value} ${row.unique_value}`);
      expect(shown.sort()).toEqual(['false USERNAME one null', 'true USERNAME two null']);
    },
  );

  test('who is to be told is read ahead, and again once the unit itself changed it', async () => {
    await using place = await Place.create(kind);
    const storage = await place.open();
    const { id: parentId } = await withOrganization(storage);
    const { id } = await withOrganization(storage, { parentId });
    const endpoint = {
      organizationId: id,
      id: randomId<'webhook-endpoint'>(),
      name: 'Endpoint',
      url: 'https://example.com',
      isActive: true,
      isFeature: false,
      includesDescription: false,
      subscriptions: [],
      createdAtMs: NOW,
      updatedAtMs: NOW,
    };
    const listening = async (change: (webhooks: WebhookStore, store: Stores) => Promise<unknown>) =>
      await storage.write(async (store) => {
        await store(Events).readAhead({ id, parentId });
        await change(store(WebhookStore), store);
        return (await store(WebhookStore).listeners(id, parentId)).length;
      });
    expect(await listening(async () => {})).toBe(0);
    expect(await listening((webhooks) => webhooks.insertEndpoint(endpoint))).toBe(1);
    expect(await listening(async () => {})).toBe(1);
    expect(await listening((webhooks) => webhooks.updateEndpoint({ ...endpoint, isActive: false }))).toBe(0);
    expect(await listening((webhooks) => webhooks.updateEndpoint(endpoint))).toBe(1);
    expect(await listening((webhooks) => webhooks.deactivate(id, endpoint.id, endpoint.url, NOW))).toBe(0);
    expect(await listening((webhooks) => webhooks.updateEndpoint(endpoint))).toBe(1);
    expect(await listening((webhooks) => webhooks.deleteEndpoint(id, endpoint.id))).toBe(0);
    expect(await listening((webhooks) => webhooks.insertEndpoint({ ...endpoint, id: randomId() }))).toBe(1);
    expect(await listening((_webhooks, store) => store(OrganizationStore).erase(id, NOW))).toBe(0);
  });

  describe('two units with one fingerprint', () => {
    /** The first has sent its insert and waits; `then` comes while the second waits for it, or has been refused. */
    async function race(end: 'commits' | 'fails'): Promise<{ codes: string[]; count: number }> {
      await using place = await Place.create(kind);
      const storage = await place.open();
      const { id } = await withOrganization(storage);
      const fingerprint = `sha256:${randomId()}`;
      let release = (): void => {};
      const gate = new Promise<void>((resolve) => {
        release = resolve;
      });
      const first = codeOf(
        storage.write(async (store) => {
          await store(ActivityStore).insert(activity(id, { fingerprint }), []);
          // Sends it.
          await store(UserStore).count(id);
          await gate;
          if (end === 'fails') throw new Error('mine');
        }),
      );
      const second = codeOf(
        storage.write(async (store) => {
          await store(UserStore).count(id);
          await store(ActivityStore).insert(activity(id, { fingerprint }), []);
        }),
      );
      setTimeout(release, 100);
      const codes = await Promise.all([first, second]);
      // Long after both.
      codes.push(
        await codeOf(storage.write((store) => store(ActivityStore).insert(activity(id, { fingerprint }), []))),
      );
      const all = await storage.read(ActivityReader).page(id, { statuses: [], types: [] }, { kind: 'all', max: 100 });
      return { codes, count: all.items.length };
    }

    test('the second is refused when the first commits', async () => {
      expect(await race('commits')).toEqual({ codes: ['done', 'ALREADY_EXISTS', 'ALREADY_EXISTS'], count: 1 });
    });

    test('the second takes its place when the first fails', async () => {
      expect(await race('fails')).toEqual({
        codes: ['not an ApiError: Error: mine', 'done', 'ALREADY_EXISTS'],
        count: 1,
      });
    });
  });
});

describe('the commit of PostgreSQL', () => {
  async function opened(
    databaseTimeoutSeconds = 60,
  ): Promise<
    { storage: Storage; wire: Wire; url: string; run: (text: string) => Promise<unknown[]> } & AsyncDisposable
  > {
    const database = await createPostgresDatabase();
    const wire = await Wire.open(database.url);
    const storage = await openStorage({
      dataModel,
      dataDir: '/nonexistent',
      databaseUrl: wire.url,
      databasePool: 2,
      databaseTimeoutSeconds,
      nowMs: NOW,
      onIdleError: () => {},
    });
    const run = async (text: string): Promise<unknown[]> => {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    };
    return {
      storage,
      wire,
      url: database.url,
      run,
      [Symbol.asyncDispose]: async () => {
        await storage.close();
        await wire[Symbol.asyncDispose]();
        await database[Symbol.asyncDispose]();
      },
    };
  }

  test('a unit that reads nothing takes one round trip; one that reads, two', async () => {
    await using place = await opened();
    const { storage, wire } = place;
    const { id } = await withOrganization(storage);
    const write = async (reads: boolean): Promise<number> => {
      const before = wire.trips;
      await storage.write(async (store) => {
        if (reads) await store(UserStore).count(id);
        await store(ActivityStore).insert(activity(id), []);
      });
      return wire.trips - before;
    };
    await write(true);
    expect(await write(false)).toBe(1);
    expect(await write(true)).toBe(2);
  });

  test('a failed statement costs no connection', async () => {
    await using place = await opened();
    const { storage, run } = place;
    const { id } = await withOrganization(storage);
    const connections = () =>
      run(`SELECT pid FROM pg_stat_activity
      WHERE application_name = 'custos' AND datname = current_database() ORDER BY pid`);
    const before = await connections();
    expect(await codeOf(storage.write((store) => renameNobody(store, id)))).toBe('RESOURCE_NOT_FOUND');
    expect(await connections()).toEqual(before);
    expect(before).not.toEqual([]);
  });

  test('one that fails stores nothing of what travelled with it', async () => {
    await using place = await opened();
    const { storage, run } = place;
    const { id } = await withOrganization(storage);
    await run(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'refused at the commit'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON activity DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION refuse()`);
    const made = activity(id);
    expect(await codeOf(storage.write((store) => store(ActivityStore).insert(made, [])))).toContain(
      'refused at the commit',
    );
    expect(await isStored(storage, id, made.fingerprint)).toBe(false);
    await run('DROP TRIGGER refuse ON activity');
    expect(await codeOf(storage.write((store) => store(ActivityStore).insert(made, [])))).toBe('done');
  });

  test.each(['request', 'answer'] as const)(
    'where its %s is lost nobody is told that it is done, and asking again tells',
    async (lost) => {
      await using place = await opened();
      const { storage, wire } = place;
      const { id } = await withOrganization(storage);
      const made = activity(id);
      const insert = (before = (): void => {}) =>
        codeOf(
          storage.write(async (store) => {
            await store(UserStore).count(id);
            await store(ActivityStore).insert({ ...made, id: randomId() }, []);
            before();
          }),
        );
      const code = await insert(() => {
        wire.loses = lost;
      });
      expect(code).toBe('UNAVAILABLE');
      expect(await insert()).toBe(lost === 'answer' ? 'ALREADY_EXISTS' : 'done');
      expect(await isStored(storage, id, made.fingerprint)).toBe(true);
    },
  );

  test('one that waits for a lock longer than its caller does is given up by the server too', async () => {
    await using place = await opened(2);
    const { storage, url, run } = place;
    const { id } = await withOrganization(storage);
    const made = activity(id);
    const holder = await connectPostgres(url);
    try {
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE activity IN EXCLUSIVE MODE');
      const code = await codeOf(
        storage.write(async (store) => {
          // The server alone would wait for ever.
          await sql`SELECT set_config('statement_timeout', '0', true)`.execute(builderOf(store));
          await store(ActivityStore).insert(made, []);
        }),
      );
      expect(code).toBe('UNAVAILABLE');
      const isWaiting = `SELECT pid FROM pg_stat_activity
        WHERE application_name = 'custos' AND datname = current_database() AND wait_event_type = 'Lock'`;
      await waitUntil('nobody waits for the lock', async () => (await run(isWaiting)).length === 0);
    } finally {
      await holder.end();
    }
    expect(await isStored(storage, id, made.fingerprint)).toBe(false);
    expect(await codeOf(storage.write((store) => store(ActivityStore).insert(made, [])))).toBe('done');
  });

  test('a unit that begins late gives the server only what is left of its time', async () => {
    await using place = await opened(4);
    const { storage } = place;
    const limits: string[] = [];
    const read = async (store: Stores): Promise<void> => {
      const { rows } = await sql<{ limit: string }>`SELECT current_setting('statement_timeout') AS limit`.execute(
        builderOf(store),
      );
      limits.push(rows[0]?.limit ?? '');
    };
    // There is one connection for writes, so the second waits for it.
    await Promise.all([
      storage.write(async (store) => {
        await read(store);
        await sql`SELECT pg_sleep(1)`.execute(builderOf(store));
      }),
      storage.write(read),
    ]);
    await storage.write(read);
    const [early, late, afterwards] = limits;
    expect([early, afterwards]).toEqual(['3600ms', '3600ms']);
    expect(Number.parseInt(late ?? '', 10)).toBeLessThanOrEqual(2700);
  });

  test('a warning of one is not taken for one of the commit', async () => {
    await using place = await opened();
    const { storage, run } = place;
    const { id } = await withOrganization(storage);
    await run(`CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE WARNING 'the database must be vacuumed'; RETURN NEW; END $$;
      CREATE TRIGGER warn BEFORE INSERT ON activity FOR EACH ROW EXECUTE FUNCTION warn();
      CREATE FUNCTION warn_late() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE WARNING 'no standby has it'; RETURN NEW; END $$`);
    const made = activity(id);
    expect(await codeOf(storage.write((store) => store(ActivityStore).insert(made, [])))).toBe('done');
    expect(await isStored(storage, id, made.fingerprint)).toBe(true);
    await run(`DROP TRIGGER warn ON activity;
      CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON activity DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION warn_late()`);
    expect(await codeOf(storage.write((store) => store(ActivityStore).insert(activity(id), [])))).toBe('UNAVAILABLE');
  });

  test('a statement that comes while the transaction is rolled back is refused, and stores nothing on its own', async () => {
    await using place = await opened();
    const { storage } = place;
    const { id } = await withOrganization(storage);
    const made = activity(id);
    let late: Promise<unknown> = Promise.resolve();
    const failing = storage.write(async (store) => {
      await store(UserStore).count(id);
      // When the unit has failed and its rollback is on the way.
      late = new Promise((resolve) => setImmediate(resolve)).then(async () => {
        await store(ActivityStore).insert(made, []);
        await store(UserStore).count(id);
      });
      late.catch(() => {});
      throw new Error('the unit fails');
    });
    await expect(failing).rejects.toThrow('the unit fails');
    await expect(late).rejects.toThrow('the transaction has ended');
    expect(await isStored(storage, id, made.fingerprint)).toBe(false);
  });

  test('a statement after the end is refused, and stores nothing on its own', async () => {
    await using place = await opened();
    const { storage } = place;
    const { id } = await withOrganization(storage);
    const made = activity(id);
    let kept: Stores | undefined;
    await storage.write(async (store) => {
      kept = store;
    });
    const late = kept?.(ActivityStore).insert(made, []) ?? Promise.resolve();
    await expect(late).rejects.toThrow('the transaction has ended');
    await expect(kept?.(UserStore).count(id)).rejects.toThrow('the transaction has ended');
    expect(await isStored(storage, id, made.fingerprint)).toBe(false);
  });

  test('a statement after the end is refused, also while the next transaction has the connection', async () => {
    await using place = await opened();
    const { storage } = place;
    const { id } = await withOrganization(storage);
    const [late, own, dropped] = [activity(id), activity(id), activity(id)];
    let fails = (): void => {};
    const gate = new Promise<void>((_resolve, reject) => {
      fails = () => reject(new Error('too late'));
    });
    let inSavepoint: Promise<unknown> = Promise.resolve();
    const kept = await storage.write(async (store) => {
      const activities = store(ActivityStore);
      const users = store(UserStore);
      await users.count(id);
      inSavepoint = store.savepoint(() => gate).catch((error: unknown) => String(error));
      await users.count(id);
      return { store, activities, users };
    });
    // There is one connection for writes.
    await storage.write(async (store) => {
      await store(UserStore).count(id);
      await store(ActivityStore).insert(own, []);
      const ended = 'the transaction has ended';
      await expect(kept.activities.insert(late, [])).rejects.toThrow(ended);
      await expect(kept.store(TreeStore).remove(id, [randomId()])).rejects.toThrow(ended);
      await expect(kept.users.count(id)).rejects.toThrow(ended);
      await expect(kept.store.savepoint(() => kept.activities.insert(dropped, []))).rejects.toThrow(ended);
      // Its savepoint is rolled back here, where nothing of it is left to undo.
      fails();
      expect(await inSavepoint).toContain(ended);
    });
    const stored = await Promise.all([late, own, dropped].map(({ fingerprint }) => isStored(storage, id, fingerprint)));
    expect(stored).toEqual([false, true, false]);
  });
});
