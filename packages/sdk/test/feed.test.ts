import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createSubOrganization,
  createUser,
  newKeyPair,
  stampFor,
  TestClient,
} from '../../server/test/harness/client.ts';
import { DATABASES } from '../../server/test/harness/databases.ts';
import { TestServer } from '../../server/test/harness/server.ts';
import { ApiKeyStamper, type CustosClient, createClient, type FeedEvent } from '../src/index.ts';

// The feed of services that run as their operators run them: on PostgreSQL two of them share the database.

const tag = () => ({ userTagName: randomUUID(), userIds: [] });

/** Hands connections on to whichever service is next, and can cut them all. */
class Switchboard implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #targets: readonly URL[];
  #next = 0;

  private constructor(targets: readonly string[]) {
    this.#targets = targets.map((target) => new URL(target));
    this.#server = createServer((incoming) => {
      const { hostname, port } = this.#targets[this.#next++ % this.#targets.length] as URL;
      const outgoing = createConnection(Number(port), hostname);
      for (const socket of [incoming, outgoing]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.once('close', () => {
          this.#sockets.delete(socket);
          incoming.destroy();
          outgoing.destroy();
        });
      }
      incoming.pipe(outgoing);
      outgoing.pipe(incoming);
    });
  }

  static async open(targets: readonly string[]): Promise<Switchboard> {
    const board = new Switchboard(targets);
    board.#server.listen(0, '127.0.0.1');
    await once(board.#server, 'listening');
    return board;
  }

  get baseUrl(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return `http://127.0.0.1:${address.port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
  }
}

const clientOf = ({ organizationId, key }: TestClient, baseUrl: string): CustosClient =>
  createClient({
    baseUrl,
    organizationId,
    stamper: new ApiKeyStamper(key),
  });

/** Reads a feed until it is told to stop. */
function follow(client: CustosClient, options: { cursor?: string; organizationId?: string } = {}) {
  const controller = new AbortController();
  const events: FeedEvent[] = [];
  let opened = 0;
  let isOpen: () => void = () => {};
  const open = new Promise<void>((resolve) => {
    isOpen = resolve;
  });
  let error: unknown;
  const ended = (async () => {
    try {
      const feed = client.feed({
        ...options,
        signal: controller.signal,
        onOpen: () => {
          opened += 1;
          isOpen();
        },
      });
      for await (const event of feed) events.push(event);
    } catch (thrown) {
      error = thrown;
    }
    return error;
  })();
  return {
    events,
    open,
    ended,
    opened: () => opened,
    stop: async () => {
      controller.abort(new Error('enough'));
      await ended;
    },
    until: async (isEnough: () => boolean, withinMs = 20_000) => {
      for (const start = Date.now(); !isEnough(); await pause(10)) {
        if (Date.now() - start > withinMs) throw new Error(`only ${events.length} events after ${withinMs} ms`);
      }
    },
  };
}

const idsOf = (events: readonly FeedEvent[]): string[] =>
  events.flatMap((event) => (event.kind === 'ACTIVITY' ? [event.activityId] : []));

describe.each(DATABASES)('the feed on %s', (database) => {
  let one: TestServer;
  let two: TestServer;
  let parent: TestClient;

  beforeAll(async () => {
    one = await TestServer.start({ database });
    two =
      database === 'postgres'
        ? await TestServer.start({ dataDir: one.dataDir, env: { CUSTOS_DATABASE_URL: one.databaseUrl ?? '' } })
        : one;
    parent = TestClient.root(one.credentials, one.baseUrl);
  });
  afterAll(async () => {
    if (two !== one) await two?.[Symbol.asyncDispose]();
    await one[Symbol.asyncDispose]();
  });

  const newOrganization = () => createSubOrganization(parent, `Feed ${randomUUID()}`);

  test('tells what happens in both processes, within a second', async () => {
    const root = await newOrganization();
    const following = follow(clientOf(root, two.baseUrl));
    await following.open;
    await pause(100);
    const startedAt = Date.now();
    const { id, status, type } = (await root.submit('create_user_tag', tag())).body.activity;
    await following.until(() => following.events.length === 1, 2000);
    expect(Date.now() - startedAt).toBeLessThan(1500);
    expect(following.events).toEqual([
      {
        kind: 'ACTIVITY',
        activityId: id,
        type,
        status,
        updatedAt: expect.any(String),
        cursor: expect.any(String),
      },
    ]);
    await following.stop();
  });

  test('tells of votes, and of a rejection', async () => {
    const root = await newOrganization();
    const second = await createUser(root, 'Second');
    await root.run('update_root_quorum', { threshold: 2, userIds: [root.userId, second.userId] });
    const following = follow(clientOf(second, one.baseUrl));
    await following.open;
    await pause(100);
    const { id, fingerprint } = (await root.submit('create_user_tag', tag())).body.activity;
    await following.until(() => following.events.length === 1);
    await second.submit('reject_activity', { fingerprint });
    await following.until(() => following.events.length === 2);
    expect(following.events).toMatchObject([
      { activityId: id, status: 'ACTIVITY_STATUS_CONSENSUS_NEEDED' },
      { activityId: id, status: 'ACTIVITY_STATUS_REJECTED' },
    ]);
    await following.stop();
  });

  test('misses nothing and repeats nothing while connections are cut and processes change', async () => {
    const root = await newOrganization();
    await using board = await Switchboard.open([one.baseUrl, two.baseUrl]);
    const following = follow(clientOf(root, board.baseUrl));
    await following.open;
    await pause(200);
    let isWriting = true;
    const cutting = (async () => {
      while (isWriting) {
        await pause(100 + Math.random() * 700);
        board.cut();
      }
    })();
    const made: string[] = [];
    await Promise.all(
      Array.from({ length: 10 }, async (_, writer) => {
        const { baseUrl } = writer % 2 === 0 ? one : two;
        const client = new TestClient(baseUrl, root.organizationId, root.key, root.userId);
        for (let index = 0; index < 50; index += 1) {
          const { body } = await client.submit('create_user_tag', tag());
          made.push(body.activity.id);
        }
      }),
    );
    isWriting = false;
    await cutting;
    await following.until(() => new Set(idsOf(following.events)).size >= made.length);
    await pause(600);
    await following.stop();
    expect(made).toHaveLength(500);
    expect(following.opened()).toBeGreaterThan(1);
    expect(idsOf(following.events).sort()).toEqual([...made].sort());
  }, 120_000);

  test('goes on from a kept cursor, also elsewhere, and begins anew where one is of another organization', async () => {
    const root = await newOrganization();
    const first = follow(clientOf(root, one.baseUrl));
    await first.open;
    await pause(100);
    await root.submit('create_user_tag', tag());
    await first.until(() => first.events.length === 1);
    await first.stop();
    const cursor = first.events[0]?.cursor ?? '';
    const missed = [];
    for (let index = 0; index < 450; index += 50) {
      const some = Array.from({ length: 50 }, () => root.submit('create_user_tag', tag()));
      missed.push(...(await Promise.all(some)).map(({ body }) => body.activity.id));
    }
    const second = follow(clientOf(root, two.baseUrl), { cursor });
    await second.until(() => second.events.length >= missed.length);
    await second.stop();
    expect(idsOf(second.events).sort()).toEqual([...missed].sort());

    const other = await newOrganization();
    const third = follow(clientOf(other, one.baseUrl), { cursor });
    await third.until(() => third.events.length === 1);
    expect(third.events).toEqual([{ kind: 'GAP', cursor: expect.any(String) }]);
    await third.stop();
    const wrong = follow(clientOf(root, one.baseUrl), { cursor: 'nonsense' });
    expect(await wrong.ended).toMatchObject({ code: 'REQUEST_INVALID', httpStatus: 400 });
  }, 60_000);

  test.each(['api key', 'user', 'organization'] as const)(
    'ends within a second when the %s is deleted',
    async (what) => {
      const root = await newOrganization();
      const user = await createUser(root, 'Leaving');
      const keys = (await root.query('get_api_keys', { userId: user.userId })).body.apiKeys;
      const following = follow(clientOf(user, two.baseUrl));
      await following.open;
      await pause(300);
      if (what === 'api key') await root.run('delete_api_keys', { userId: user.userId, apiKeyIds: [keys[0].apiKeyId] });
      if (what === 'user') await root.run('delete_users', { userIds: [user.userId] });
      if (what === 'organization') await root.run('delete_sub_organization', { deleteWithoutExport: true });
      const startedAt = Date.now();
      const error = await following.ended;
      expect(Date.now() - startedAt).toBeLessThan(1000);
      expect(error).toMatchObject({
        code: what === 'organization' ? 'ORGANIZATION_NOT_FOUND' : 'UNAUTHENTICATED',
        httpStatus: undefined,
      });
    },
  );

  test('ends within a second when a login replaces the session', async () => {
    const root = await newOrganization();
    const user = await createUser(root, 'Robbed');
    const stolen = newKeyPair();
    await user.run('stamp_login', { publicKey: stolen.publicKey });
    const following = follow(clientOf(user.as(stolen), two.baseUrl));
    await following.open;
    await pause(300);
    await user.run('stamp_login', { publicKey: newKeyPair().publicKey, invalidateExisting: true });
    const startedAt = Date.now();
    expect(await following.ended).toMatchObject({ code: 'UNAUTHENTICATED', httpStatus: undefined });
    expect(Date.now() - startedAt).toBeLessThan(1000);
  });

  test('ends when the address is no longer allowed, and a parent may follow', async () => {
    const root = await newOrganization();
    const own = follow(clientOf(root, two.baseUrl));
    const parents = follow(clientOf(parent, two.baseUrl), { organizationId: root.organizationId });
    await Promise.all([own.open, parents.open]);
    await pause(300);
    const other = await createUser(root, 'Other');
    await parents.until(() => parents.events.length === 1);
    expect(other.userId).not.toBe('');
    await root.run('set_ip_allowlist', { enabled: true, rules: [{ cidr: '192.0.2.0/24' }], allowLockout: true });
    const startedAt = Date.now();
    expect(await own.ended).toMatchObject({ code: 'IP_NOT_ALLOWED' });
    expect(Date.now() - startedAt).toBeLessThan(1000);
    await parents.stop();
  });

  test('refuses too many streams of one credential, and strangers', async () => {
    const root = await newOrganization();
    const body = JSON.stringify({ organizationId: root.organizationId });
    const ask = async (key = root.key): Promise<Response> =>
      await fetch(`${one.baseUrl}/public/v1/feed`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', 'x-stamp': stampFor(Buffer.from(body), key) },
      });
    const open = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(open.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await refused.json()).toMatchObject({
      errorCode: 'RATE_LIMIT_EXCEEDED',
      message: expect.stringMatching(/^this credential has 20 feeds open/),
    });
    await open[0]?.body?.cancel();
    await pause(200);
    const again = await ask();
    expect(again.status).toBe(200);
    for (const { body: answer } of [again, ...open.slice(1)]) await answer?.cancel();
    expect((await ask(newKeyPair())).status).toBe(401);
  });
});

test('a stop ends every stream at once, and says so', async () => {
  await using server = await TestServer.start({ database: 'sqlite' });
  const root = TestClient.root(server.credentials, server.baseUrl);
  const body = JSON.stringify({ organizationId: root.organizationId });
  const answer = await fetch(`${server.baseUrl}/public/v1/feed`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-stamp': stampFor(Buffer.from(body), root.key) },
  });
  expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  const text = answer.text();
  const startedAt = Date.now();
  expect(await server.stop()).toBe(0);
  expect(Date.now() - startedAt).toBeLessThan(3000);
  const lines = (await text)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.at(0)).toEqual({ cursor: expect.any(String), now: expect.any(String) });
  expect(lines.at(-1)).toEqual({ end: { code: 'UNAVAILABLE', message: 'the service is stopping' } });
});
