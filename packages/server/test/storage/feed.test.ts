import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Actor } from '../../src/core/actor.ts';
import { ChangeReader, ChangeStore } from '../../src/core/store/changes.ts';
import { dataModel } from '../../src/domains.ts';
import { AccessRulesCache } from '../../src/engine/access-rules.ts';
import { parseCursor } from '../../src/engine/feed/cursor.ts';
import { Feed, type FeedLine, type FeedParts, type FeedStream } from '../../src/engine/feed/feed.ts';
import { type OrganizationId, randomId } from '../../src/lib/ids.ts';
import { driverOf, kyselyOver } from '../../src/storage/connection-dialect.ts';
import { openStorage } from '../../src/storage/open.ts';
import type { Schema } from '../../src/storage/schema.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { openReadStores } from '../../src/storage/stores.ts';
import { createPostgresDatabase, DATABASES } from '../harness/databases.ts';

const DAY = 24 * 3_600_000;

const dbOf = (reader: object): Kysely<Schema> => (reader as { db: Kysely<Schema> }).db;

const open = async (dataDir: string, databaseUrl?: string): Promise<Storage> =>
  await openStorage({
    dataModel,
    dataDir,
    ...(databaseUrl !== undefined && { databaseUrl }),
    databasePool: 4,
    // A busy machine is no reason to be refused.
    databaseTimeoutSeconds: 60,
    nowMs: Date.now(),
    onIdleError: () => {},
  } as Parameters<typeof openStorage>[0]);

const run = (storage: Storage, ...statements: ReturnType<typeof sql>[]): Promise<void> =>
  storage.write(async (store) => {
    for (const statement of statements) await statement.execute(dbOf(store(ChangeStore)));
  });

const organization = (id: string) =>
  sql`INSERT INTO /* unmarked: a test without a key */ organization (id, name, root_threshold, root_user_ids, authority_version, rules_version, wrapped_key,
      created_at_ms, updated_at_ms) VALUES (${id}, 'O', 1, '[]', 1, 1, ${Buffer.from('00', 'hex')}, 1, 1)`;
const activity = (organizationId: string, id: string) =>
  sql`INSERT INTO /* unmarked: a test without a key */ activity (organization_id, id, fingerprint, operation, type, status, parameters, wants_proofs, has_mfa,
      round_started_at_ms, created_at_ms, updated_at_ms)
    VALUES (${organizationId}, ${id}, ${id}, 'o', 'T', 'ACTIVITY_STATUS_CONSENSUS_NEEDED', '{}', 0, 0, 1, 1, 1)`;

function follower(id: OrganizationId) {
  const home = { id, authorityVersion: 1, rulesVersion: 1 };
  const credential = { kind: 'passkey', authenticator: { id: randomId() } };
  const actor = { organization: home, organizationId: id, home, homeId: id, userId: randomId(), credential };
  return { actor: actor as unknown as Actor, address: undefined, sessionToken: undefined };
}

const feedOf = (storage: Storage, extra: Partial<FeedParts> = {}): Feed =>
  new Feed({
    storage,
    accessRules: new AccessRulesCache(storage.read),
    clock: () => Date.now(),
    elapsed: () => performance.now(),
    streamsMax: 5000,
    ...extra,
  });

async function next({ lines }: FeedStream): Promise<FeedLine> {
  const { value } = await lines.next();
  if (value === undefined) throw new Error('the stream has ended');
  return value;
}

const sleep = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Whether a statement reads what changed in one organization. */
const isReading = (text: string): boolean => text.includes('UNION ALL');

const cursorOf = (line: FeedLine): string => ('cursor' in line ? line.cursor : '');

/** What a stream says first that opens with a cursor, and the ids that it tells next. */
async function resume(feed: Feed, id: OrganizationId, cursor: string, count = 0) {
  const stream = await feed.open(follower(id), parseCursor(cursor));
  const first = await next(stream);
  const told: unknown[] = [];
  while (told.length < count) {
    const line = await next(stream);
    if ('event' in line) told.push(line.event['activityId']);
  }
  stream.close();
  return { first, told };
}

const GAP = { event: { kind: 'GAP' }, cursor: expect.any(String) };

describe.each(DATABASES)('the feed on %s', (database) => {
  const folder = mkdtempSync(join(tmpdir(), 'custos-feed-'));
  let postgres: Awaited<ReturnType<typeof createPostgresDatabase>> | undefined;
  let storage: Storage;

  beforeAll(async () => {
    postgres = database === 'postgres' ? await createPostgresDatabase() : undefined;
    storage = await open(folder, postgres?.url);
  });
  afterAll(async () => {
    await storage.close();
    await postgres?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const newOrganization = async (): Promise<OrganizationId> => {
    const id = randomId<'organization'>();
    await run(storage, organization(id));
    return id;
  };

  /** The same storage, whose statements are counted. Those that read what changed take longer if told so. */
  function counted(readingMs = 0): { readonly storage: Storage; readonly statements: string[] } {
    const statements: string[] = [];
    const { execute, flavour, kind } = driverOf(dbOf(storage.read(ChangeReader)));
    const db = kyselyOver(kind, flavour, async (text, parameters, name) => {
      statements.push(text);
      if (isReading(text) && readingMs > 0) await sleep(readingMs);
      return await execute(text, parameters, name);
    });
    const read = openReadStores({ db, kind: storage.kind }, dataModel);
    return { statements, storage: { kind: storage.kind, read } as unknown as Storage };
  }

  test('asks as much for a thousand organizations as for one', async () => {
    const ids = Array.from({ length: 1000 }, () => randomId<'organization'>());
    await run(storage, ...ids.map(organization));
    const counting = counted();
    const feed = feedOf(counting.storage);
    const streams = await Promise.all(ids.map((id) => feed.open(follower(id), undefined)));
    await Promise.all(streams.map(next));
    const waiting = streams.map((stream) => stream.lines.next());
    const [changed] = ids;
    const [stream] = streams;
    const reads = (): number => counting.statements.filter(isReading).length;
    // All streams read once more when a transaction ends that was under way before, of this test or, on PostgreSQL, of another
    // on the same server. A feed that asks for each organization never comes below the bound.
    for (let tries = 1; ; tries += 1) {
      for (let before = -1; before !== reads(); ) {
        before = reads();
        await sleep(1500);
      }
      const activityId = randomId();
      counting.statements.length = 0;
      await run(storage, activity(changed as string, activityId));
      const told = await waiting[0];
      expect(told?.value).toMatchObject({ event: { kind: 'ACTIVITY', activityId } });
      await sleep(900);
      // Two with each tick, and for the one stream that was woken the moment and its batch.
      if (counting.statements.length < 16 && reads() === 1) break;
      expect(tries, `${counting.statements.length} statements`).toBeLessThan(5);
      waiting[0] = stream?.lines.next() as (typeof waiting)[0];
    }
    feed.stop();
    for (const { close } of streams) close();
    await Promise.allSettled(waiting);
  }, 30_000);

  test('lets streams catch up together where reading takes longer than a look', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, newOrganization));
    const busy = await newOrganization();
    const counting = counted(900);
    const feed = feedOf(counting.storage);
    const streams = await Promise.all(ids.map((id) => feed.open(follower(id), undefined)));
    await Promise.all(streams.map(next));
    const waiting = streams.map((stream) => stream.lines.next());
    const until = performance.now() + 4000;
    while (performance.now() < until) {
      await run(storage, activity(busy, randomId()));
      await sleep(60);
    }
    expect(counting.statements.filter(isReading).length).toBeLessThanOrEqual(2 * ids.length);
    feed.stop();
    for (const { close } of streams) close();
    await Promise.allSettled(waiting);
  }, 15_000);

  test('moves the cursor of an organization in which nothing happens', async () => {
    const [quiet, busy] = [await newOrganization(), await newOrganization()];
    const feed = feedOf(storage);
    const stream = await feed.open(follower(quiet), undefined);
    const before = parseCursor(cursorOf(await next(stream))).cursor;
    const waiting = stream.lines.next();
    for (let index = 0; index < 3; index += 1) {
      await run(storage, activity(busy, randomId()));
      await sleep(500);
    }
    const after = parseCursor(cursorOf((await waiting).value as FeedLine)).cursor;
    expect(after.from.below).toBeGreaterThanOrEqual(before.from.below + 3);
    stream.close();
  }, 15_000);

  test('keeps no batches for streams that have passed them', async () => {
    const id = await newOrganization();
    const feed = feedOf(storage);
    const streams = [await feed.open(follower(id), undefined), await feed.open(follower(id), undefined)];
    for (const stream of streams) await next(stream);
    const waiting = streams.map((stream) => stream.lines.next());
    await run(storage, activity(id, randomId()));
    feed.changed(id);
    await Promise.all(waiting);
    expect(feed.batches).toBe(1);
    await sleep(1300);
    expect([feed.batches, feed.size]).toEqual([0, 2]);
    for (const { close } of streams) close();
  });

  test('tells of a second vote within a millisecond', async () => {
    const [id, activityId] = [await newOrganization(), randomId()];
    await run(storage, activity(id, activityId));
    const reader = storage.read(ChangeReader);
    const from = await reader.mark();
    // As a vote leaves the activity: nothing that is told differs.
    await run(
      storage,
      sql`UPDATE /* unmarked: a test without a key */ activity SET status = status, updated_at_ms = updated_at_ms WHERE id = ${activityId}`,
    );
    const to = await reader.mark();
    expect((await reader.between(id, { from, to }, undefined, 10)).map(({ place }) => place.id)).toEqual([activityId]);
  });

  test('answers a cursor that it did not make for this organization with a gap', async () => {
    const [id, other, activityId] = [await newOrganization(), await newOrganization(), randomId()];
    const feed = feedOf(storage);
    const stream = await feed.open(follower(id), undefined);
    const cursor = cursorOf(await next(stream));
    stream.close();
    await run(storage, activity(id, activityId));
    expect(await resume(feed, id, cursor, 1)).toEqual({
      first: expect.objectContaining({ now: expect.any(String) }),
      told: [activityId],
    });
    expect((await resume(feed, other, cursor)).first).toEqual(GAP);

    const [packed = '', seal] = cursor.split('.');
    const forged = (change: (parts: unknown[]) => void): string => {
      const parts = JSON.parse(Buffer.from(packed, 'base64url').toString());
      change(parts);
      return `${Buffer.from(JSON.stringify(parts)).toString('base64url')}.${seal}`;
    };
    const forgeries = [
      forged((parts) => {
        parts[1] = Date.now() + DAY;
      }),
      forged((parts) => {
        parts[2] = [0];
      }),
      forged((parts) => parts.push([Number.MAX_SAFE_INTEGER], [0, 0, randomId()])),
    ];
    for (const forgery of forgeries) expect((await resume(feed, id, forgery)).first).toEqual(GAP);
  });

  test('answers a cursor that is older than a day with a gap', async () => {
    const id = await newOrganization();
    const earlier = feedOf(storage, { clock: () => Date.now() - DAY - 1000 });
    const stream = await earlier.open(follower(id), undefined);
    const cursor = cursorOf(await next(stream));
    stream.close();
    expect((await resume(feedOf(storage), id, cursor)).first).toEqual(GAP);
  });

  test('asks again which database it is after it could not be asked', async () => {
    const id = await newOrganization();
    let isAway = true;
    const read = ((reader: never) => {
      const found = storage.read(reader) as object;
      if (!(isAway && found instanceof ChangeReader)) return found;
      return new Proxy(found, {
        get: (target, name) =>
          name === 'eras' ? () => Promise.reject(new Error('away')) : Reflect.get(target, name).bind?.(target),
      });
    }) as Storage['read'];
    const feed = feedOf({ kind: storage.kind, read } as unknown as Storage);
    await expect(feed.open(follower(id), undefined)).rejects.toThrow('away');
    expect(feed.size).toBe(0);
    isAway = false;
    const stream = await feed.open(follower(id), undefined);
    const cursor = cursorOf(await next(stream));
    stream.close();
    expect((await resume(feedOf(storage), id, cursor)).first).toMatchObject({ now: expect.any(String) });
  });

  test('tells open streams of a gap when the database comes back as another', async () => {
    const id = await newOrganization();
    let back = 0;
    const read = ((reader: never) => {
      const found = storage.read(reader) as object;
      if (!(found instanceof ChangeReader)) return found;
      return new Proxy(found, {
        get: (target, name) =>
          name === 'now'
            ? async () => {
                const { mark, next: number } = await target.now();
                return { mark: { ...mark, below: mark.below - back }, next: number - back };
              }
            : Reflect.get(target, name).bind?.(target),
      });
    }) as Storage['read'];
    const feed = feedOf({ kind: storage.kind, read } as unknown as Storage);
    const stream = await feed.open(follower(id), undefined);
    await next(stream);
    const waiting = stream.lines.next();
    await sleep(900);
    back = 1000;
    expect((await waiting).value).toEqual(GAP);
    stream.close();
  });
});

test('a database file that is restored is told from the one that went on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'custos-feed-'));
  const [file, backup] = [join(folder, 'custos.db'), join(folder, 'backup')];
  const id = randomId<'organization'>();
  const start = async (): Promise<{ readonly storage: Storage; readonly feed: Feed }> => {
    const storage = await open(folder);
    const feed = feedOf(storage);
    await feed.start();
    return { storage, feed };
  };
  const cursorNow = async (feed: Feed): Promise<string> => {
    const stream = await feed.open(follower(id), undefined);
    const cursor = cursorOf(await next(stream));
    stream.close();
    return cursor;
  };
  let { storage, feed } = await start();
  await run(storage, organization(id));
  const early = await cursorNow(feed);
  const kept = randomId();
  await run(storage, activity(id, kept));
  const atBackup = await cursorNow(feed);
  await storage.close();
  copyFileSync(file, backup);

  ({ storage, feed } = await start());
  // A restart alone is no gap.
  expect(await resume(feed, id, early, 1)).toMatchObject({ told: [kept] });
  for (let index = 0; index < 5; index += 1) await run(storage, activity(id, randomId()));
  const late = await cursorNow(feed);
  await storage.close();

  for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  copyFileSync(backup, file);
  ({ storage, feed } = await start());
  // The numbers reach again what the lost cursor has seen.
  const made = Array.from({ length: 8 }, () => randomId());
  for (const some of made) await run(storage, activity(id, some));
  expect((await resume(feed, id, late)).first).toEqual(GAP);
  expect(new Set((await resume(feed, id, atBackup, 8)).told)).toEqual(new Set(made));
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a database that is made anew on the same server is told from the one before', async () => {
  await using one = await createPostgresDatabase();
  await using other = await createPostgresDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'custos-feed-'));
  const erasOf = async (url: string) => {
    const storage = await open(folder, url);
    const eras = await storage.read(ChangeReader).eras();
    await storage.close();
    return eras;
  };
  const [first] = await erasOf(one.url);
  expect(await erasOf(one.url)).toEqual([first]);
  expect((await erasOf(other.url))[0].id).not.toBe(first.id);
  rmSync(folder, { recursive: true, force: true });
});
