import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Actor } from '../../core/actor.ts';
import { dataModel } from '../../domains.ts';
import { randomId } from '../../lib/ids.ts';
import { openSqlite } from '../../storage/sqlite.ts';
import type { Storage } from '../../storage/storage.ts';
import { AccessRulesCache } from '../access-rules.ts';
import { parseCursor } from './cursor.ts';
import { Feed, type FeedParts } from './feed.ts';

const folder = mkdtempSync(join(tmpdir(), 'custos-feed-'));
let storage: Storage;
let elapsedMs = 0;

beforeAll(async () => {
  storage = await openSqlite({ dataModel, file: join(folder, 'a.db'), lockFile: join(folder, 'lock'), nowMs: 0 });
});
afterAll(async () => {
  await storage.close();
  rmSync(folder, { recursive: true, force: true });
});

const newFeed = (extra: Partial<FeedParts> = {}): Feed =>
  new Feed({
    storage,
    accessRules: new AccessRulesCache(storage.read),
    clock: () => Date.now(),
    elapsed: () => performance.now() + elapsedMs,
    streamsMax: 3,
    ...extra,
  });

function follower() {
  const organization = { id: randomId<'organization'>(), authorityVersion: 1, rulesVersion: 1 };
  const actor = {
    organization,
    organizationId: organization.id,
    home: organization,
    homeId: organization.id,
    userId: randomId(),
    credential: { kind: 'api-key', apiKey: { id: randomId() } },
  } as unknown as Actor;
  return { actor, address: undefined, sessionToken: undefined };
}

test('a client that takes nothing is cut, and its place is free', async () => {
  const feed = newFeed({ stuckMs: 500 });
  const stream = await feed.open(follower(), undefined);
  const cut = new Promise<void>((resolve) => stream.onStuck(resolve));
  expect((await stream.lines.next()).value).toMatchObject({ now: expect.any(String) });
  expect(feed.size).toBe(1);
  await cut;
  expect(feed.size).toBe(0);
  feed.stop();
});

test('a process has a bounded number of streams, and one that leaves makes room', async () => {
  const feed = newFeed();
  const open = [];
  for (let index = 0; index < 3; index += 1) open.push(await feed.open(follower(), undefined));
  await expect(feed.open(follower(), undefined)).rejects.toMatchObject({
    code: 'RATE_LIMIT_EXCEEDED',
    retryAfterSeconds: 5,
  });
  open[0]?.close();
  open.push(await feed.open(follower(), undefined));
  feed.stop();
  await expect(feed.open(follower(), undefined)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  for (const { close } of open) close();
});

test('a stream whose organization is gone ends, and says so', async () => {
  const feed = newFeed();
  const { lines } = await feed.open(follower(), undefined);
  await lines.next();
  expect((await lines.next()).value).toEqual({
    end: { code: 'ORGANIZATION_NOT_FOUND', message: 'the organization was deleted' },
  });
  expect((await lines.next()).done).toBe(true);
  expect(feed.size).toBe(0);
});

test('a database that is away ends streams, because nobody knows who may follow', async () => {
  let isAway = false;
  const read = ((reader: never) => {
    if (isAway) throw new Error('away');
    return storage.read(reader);
  }) as Storage['read'];
  const feed = newFeed({ storage: { ...storage, read } as Storage });
  const { lines } = await feed.open(follower(), undefined);
  await lines.next();
  isAway = true;
  elapsedMs += 6000;
  const said = [];
  for await (const line of lines) said.push(line);
  expect(said.at(-1)).toEqual({ end: { code: 'UNAVAILABLE', message: 'the database is not available' } });
});

const SEAL = Buffer.alloc(16).toString('base64url');
const GOOD = Buffer.from('["",1,[1]]').toString('base64url');

test('a cursor with a seal is read, and is not believed for that', () => {
  const { cursor, isGenuine } = parseCursor(`${GOOD}.${SEAL}`);
  expect(cursor).toEqual({ origin: '', atMs: 1, from: { below: 1, underWay: [] } });
  expect(isGenuine({ key: Buffer.alloc(32), organizationId: 'a' })).toBe(false);
});

test.each([
  ['nothing', ''],
  ['a letter', 'x'],
  ['an empty list', 'W10'],
  ['an object', Buffer.from('{}').toString('base64url')],
  ['a long text', 'A'.repeat(20_000)],
  [
    'more transactions under way than a cursor holds',
    `${Buffer.from(JSON.stringify(['', 1, Array(202).fill(1)])).toString('base64url')}.${SEAL}`,
  ],
  ['a negative number', `${Buffer.from('["",1,[-1]]').toString('base64url')}.${SEAL}`],
  ['one without its seal', GOOD],
  ['one with half of a seal', `${GOOD}.${SEAL.slice(0, 11)}`],
  ['one with two seals', `${GOOD}.${SEAL}.${SEAL}`],
])('%s is no cursor', (_name, text) => {
  expect(() => parseCursor(text)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID' }));
});
