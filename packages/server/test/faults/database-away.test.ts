import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startPostgres, type TestPostgres } from '../../../../scripts/lib/postgres.mjs';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { type Answer, createUser, TestClient } from '../harness/client.ts';
import { TestServer } from '../harness/server.ts';
import {
  childrenOf,
  connectPostgres,
  expectUnavailable,
  isAlive,
  onPostgres,
  openTables,
  type Row,
  type StampedBody,
  stamped,
  statusOf,
  trySend,
  waitUntil,
} from './support.ts';

const fingerprintOf = (body: string): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;

/** A tag with a name of its own, in bytes that can be sent again. */
function newTag(root: TestClient, userTagName: string): StampedBody {
  return stamped(
    '/public/v1/submit/create_user_tag',
    root.submitBody('create_user_tag', { userTagName, userIds: [] }),
    root.key,
  );
}

/** A rename takes no exclusive hold of the organization, so that many transactions are open at once. */
function newRename(root: TestClient, userName: string): StampedBody {
  return stamped(
    '/public/v1/submit/update_user_name',
    root.submitBody('update_user_name', { userId: root.userId, userName }),
    root.key,
  );
}

/** The answer of a process that must be alive to give one. */
async function answerOf(server: TestServer, request: StampedBody): Promise<Answer> {
  const answer = await trySend(server.baseUrl, request);
  if (answer === undefined) {
    throw new Error(`no answer from the service (alive: ${isAlive(server.pid)}): ${server.output.stderr.slice(-3000)}`);
  }
  return answer;
}

async function activitiesWith(server: TestServer, url: string | undefined, request: StampedBody): Promise<Row[]> {
  await using tables = await openTables(server.dataDir, url);
  const [rows] = await tables.read(
    `SELECT id, status FROM activity WHERE fingerprint = '${fingerprintOf(request.body)}'`,
  );
  return rows as Row[];
}

describe('PostgreSQL away', () => {
  let postgres: TestPostgres;
  let databases = 0;

  beforeAll(async () => {
    postgres = await startPostgres();
  });

  afterAll(async () => {
    await postgres?.dispose();
  });

  /** A service on a database of its own in the server that this file stops and kills. */
  async function startServer(env: Record<string, string> = {}, query = ''): Promise<TestServer & { url: string }> {
    await postgres.start();
    databases += 1;
    const name = `away_${databases}`;
    await onPostgres(postgres.url, (client) => client.query(`CREATE DATABASE ${name}`));
    const address = new URL(postgres.url);
    address.pathname = `/${name}`;
    const url = address.toString();
    const server = await TestServer.start({
      env: {
        CUSTOS_DATABASE_URL: `${url}${query}`,
        CUSTOS_DATABASE_POOL: '8',
        CUSTOS_LOG_LEVEL: 'warn',
        CUSTOS_KEYRING: 'inline',
        ...env,
      },
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    return Object.assign(server, { url });
  }

  async function expectAway(server: TestServer, root: TestClient, request: StampedBody): Promise<void> {
    expectUnavailable(await answerOf(server, request));
    const whoami = stamped(
      '/public/v1/query/whoami',
      JSON.stringify({ organizationId: root.organizationId }),
      root.key,
    );
    expectUnavailable(await answerOf(server, whoami));
    await waitUntil('the service is not ready', async () => (await statusOf(server.baseUrl, '/readyz')) === 503);
    expect(await statusOf(server.baseUrl, '/healthz')).toBe(200);
  }

  async function expectBack(
    server: TestServer & { url: string },
    root: TestClient,
    request: StampedBody,
  ): Promise<void> {
    await waitUntil('the service is ready again', async () => (await statusOf(server.baseUrl, '/readyz')) === 200);
    expect((await root.query('whoami')).status).toBe(200);
    const answer = await answerOf(server, request);
    expect(answer.body.activity?.status).toBe('ACTIVITY_STATUS_COMPLETED');
    expect(await activitiesWith(server, server.url, request)).toHaveLength(1);
  }

  test.each(['stop', 'kill'] as const)('%s: requests answer 503, and succeed once it is back', async (way) => {
    const server = await startServer();
    const root = TestClient.root(server.credentials, server.baseUrl);
    const { pid } = server;
    expect((await answerOf(server, newTag(root, 'before'))).status).toBe(200);
    for (let round = 1; round <= 2; round += 1) {
      const request = newTag(root, `while away ${round}`);
      await postgres[way]();
      for (let attempt = 0; attempt < 3; attempt += 1) await expectAway(server, root, request);
      await postgres.start();
      await expectBack(server, root, request);
    }
    expect(isAlive(pid)).toBe(true);
    expect(server.output.stderr).not.toContain('internal error');
  });

  test.each(['stop', 'kill'] as const)(
    '%s with requests in flight: 200 or 503, and the same bytes again give one activity',
    async (way) => {
      const server = await startServer();
      const root = TestClient.root(server.credentials, server.baseUrl);
      const sent: { readonly request: StampedBody; readonly answer: Answer }[] = [];
      for (let round = 1; round <= 2; round += 1) {
        let isOver = false;
        const answers = { count: 0 };
        const writers = Array.from({ length: 12 }, async (_, index) => {
          for (let count = 0; !isOver; count += 1) {
            const name = `${way} ${round} ${index} ${count}`;
            const request = index % 2 === 0 ? newTag(root, name) : newRename(root, name);
            const answer = await answerOf(server, request);
            sent.push({ request, answer });
            answers.count += 1;
            if (answer.status === 503) await sleep(20);
          }
        });
        const all = Promise.all(writers);
        all.catch(() => {});
        const enough = Promise.race([all, waitUntil('there is traffic', () => answers.count > 20 * round)]);
        await enough;
        await postgres[way]();
        await postgres.start();
        const before = answers.count;
        await Promise.race([all, waitUntil('there is traffic again', () => answers.count > before + 40)]);
        isOver = true;
        await all;
      }
      const odd = sent.filter(({ answer }) => answer.status !== 200 && answer.status !== 503);
      expect(odd.map(({ answer }) => answer.body)).toEqual([]);
      const refused = sent.filter(({ answer }) => answer.status === 503);
      expect(refused.length).toBeGreaterThan(0);
      for (const { answer } of refused) expectUnavailable(answer);
      await waitUntil('the service is ready again', async () => (await statusOf(server.baseUrl, '/readyz')) === 200);
      // Some of the refused may have been committed in the moment of the fault; repeating them is safe all the same.
      for (const { request } of refused) {
        const again = await answerOf(server, request);
        expect(again.body.activity?.status).toBe('ACTIVITY_STATUS_COMPLETED');
      }
      await using tables = await openTables(server.dataDir, server.url);
      const [activities, tags] = (await tables.read(
        "SELECT fingerprint FROM activity WHERE operation <> 'create_organization'",
        'SELECT name FROM tag',
      )) as [Row[], Row[]];
      expect(activities.map((row) => row.fingerprint).sort()).toEqual(
        sent.map(({ request }) => fingerprintOf(request.body)).sort(),
      );
      const wanted = sent.filter(({ request }) => request.path.endsWith('create_user_tag')).length;
      expect(new Set(tags.map((row) => row.name)).size).toBe(wanted);
      expect(tags).toHaveLength(wanted);
      console.log(`${way}: ${sent.length} requests, ${refused.length} answered 503`);
    },
    120_000,
  );

  test('restart: every request until it is back answers 503, then 200', async () => {
    const server = await startServer();
    const root = TestClient.root(server.credentials, server.baseUrl);
    for (let round = 1; round <= 2; round += 1) {
      const request = newTag(root, `restart ${round}`);
      const restarted = postgres.restart();
      try {
        // Until it is back: ended sessions, refused connections, "the database system is starting up", then success.
        for (let isBack = false; !isBack; ) {
          const answer = await answerOf(server, request);
          if (answer.status === 200) isBack = true;
          else expectUnavailable(answer);
        }
      } finally {
        await restarted;
      }
      await expectBack(server, root, request);
    }
  });

  /** Another session holds the organization, so that a submit waits inside its transaction. */
  async function holdOrganization(server: {
    url: string;
  }): Promise<AsyncDisposable & { waiting(): Promise<number[]> }> {
    const holder = await connectPostgres(server.url);
    await holder.query('BEGIN');
    await holder.query('SELECT id FROM organization FOR UPDATE');
    return {
      waiting: () =>
        onPostgres(server.url, async (client) => {
          const { rows } = await client.query(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'custos' AND wait_event_type = 'Lock'",
          );
          return rows.map((row: Row) => row.pid);
        }),
      [Symbol.asyncDispose]: () => holder.end(),
    };
  }

  test('a session that is terminated inside a transaction answers 503, and the service lives on', async () => {
    const server = await startServer();
    const root = TestClient.root(server.credentials, server.baseUrl);
    const request = newTag(root, 'terminated');
    {
      await using hold = await holdOrganization(server);
      const answered = answerOf(server, request);
      answered.catch(() => {});
      await waitUntil('the submit waits', async () => (await hold.waiting()).length === 1);
      const [pid] = await hold.waiting();
      await onPostgres(server.url, (client) => client.query('SELECT pg_terminate_backend($1)', [pid]));
      expectUnavailable(await answered);
      expect(isAlive(server.pid)).toBe(true);
    }
    expect(await activitiesWith(server, server.url, request)).toEqual([]);
    await expectBack(server, root, request);
  });

  test('sessions that are terminated under load: only 200, 503 and 409, and one activity each', async () => {
    const server = await startServer();
    const root = TestClient.root(server.credentials, server.baseUrl);
    const refused: StampedBody[] = [];
    const statuses = new Map<number, number>();
    const bodies = new Set<string>();
    let isOver = false;
    let sent = 0;
    const all = Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        for (let count = 0; !isOver; count += 1) {
          const name = `load ${index} ${count}`;
          const request = index % 2 === 0 ? newTag(root, name) : newRename(root, name);
          const answer = await answerOf(server, request);
          sent += 1;
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          if (answer.status === 200) continue;
          refused.push(request);
          if (![503, 409].includes(answer.status)) bodies.add(JSON.stringify(answer.body));
        }
      }),
    );
    all.catch(() => {});
    for (let round = 0; round < 10; round += 1) {
      const before = sent;
      await Promise.race([all, waitUntil('there is traffic', () => sent > before + 10)]);
      await onPostgres(server.url, (client) =>
        client.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'custos'",
        ),
      );
    }
    isOver = true;
    await all;
    expect([...bodies]).toEqual([]);
    expect(statuses.get(503)).toBeGreaterThan(0);
    for (const request of refused) {
      const again = await answerOf(server, request);
      expect(again.body.activity?.status).toBe('ACTIVITY_STATUS_COMPLETED');
    }
    await using tables = await openTables(server.dataDir, server.url);
    const [rows] = await tables.read("SELECT fingerprint FROM activity WHERE operation <> 'create_organization'");
    expect(rows).toHaveLength(sent);
    console.log(`terminated sessions: ${JSON.stringify(Object.fromEntries(statuses))}`);
  }, 120_000);

  test('a lock held elsewhere uses up the connections of writers: 503 in time, queries answer, then everything works', async () => {
    const server = await startServer({ CUSTOS_DATABASE_POOL: '2' });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const requests = Array.from({ length: 5 }, (_, index) => newTag(root, `held ${index}`));
    {
      await using hold = await holdOrganization(server);
      // One waits for the lock until the statement time-out, another one for its connection, the others for their turn.
      const answers = Promise.all(requests.map((request) => answerOf(server, request)));
      answers.catch(() => {});
      await waitUntil('the pool is used up', async () => (await hold.waiting()).length === 1);
      expect(await statusOf(server.baseUrl, '/healthz')).toBe(200);
      expect((await root.query('whoami')).status).toBe(200);
      await waitUntil('the service is not ready', async () => (await statusOf(server.baseUrl, '/readyz')) === 503);
      for (const answer of await answers) expectUnavailable(answer);
    }
    for (const request of requests) expect(await activitiesWith(server, server.url, request)).toEqual([]);
    for (const request of requests) await expectBack(server, root, request);
    expect(server.output.stderr).not.toContain('internal error');
  });

  test('a lock time-out that the operator sets on the database answers 503 too', async () => {
    const server = await startServer({}, '?options=-c%20lock_timeout%3D500');
    const root = TestClient.root(server.credentials, server.baseUrl);
    const request = newTag(root, 'lock time-out');
    {
      await using _hold = await holdOrganization(server);
      expectUnavailable(await answerOf(server, request));
    }
    await expectBack(server, root, request);
  });

  test('a server that turns read-only answers 503 to submits and serves queries', async () => {
    const server = await startServer();
    const root = TestClient.root(server.credentials, server.baseUrl);
    const request = newTag(root, 'read-only');
    // A key that has been used before: the first use is written down.
    expect((await root.query('whoami')).status).toBe(200);
    const setReadOnly = (value: 'on' | 'off'): Promise<void> =>
      onPostgres(postgres.url, async (client) => {
        await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
        await client.query('SELECT pg_reload_conf()');
      });
    onTestFinished(() => setReadOnly('off'));
    await setReadOnly('on');
    await onPostgres(postgres.url, (client) =>
      waitUntil('the setting is there', async () => {
        const { rows } = await client.query('SHOW default_transaction_read_only');
        return rows[0].default_transaction_read_only === 'on';
      }),
    );
    expectUnavailable(await answerOf(server, request));
    expect((await root.query('whoami')).status).toBe(200);
    await setReadOnly('off');
    await waitUntil('submits work again', async () => (await answerOf(server, request)).status === 200);
    expect(await activitiesWith(server, server.url, request)).toHaveLength(1);
  });

  test('a server that neither answers nor hangs up: 503, and the service recovers', async () => {
    const server = await startServer();
    const root = TestClient.root(server.credentials, server.baseUrl);
    const request = newTag(root, 'frozen');
    await createUser(root, 'warm up');
    const pid = postgres.pid as number;
    const processes = [pid, ...childrenOf(pid)];
    const signal = (name: NodeJS.Signals): void => {
      for (const one of processes) if (isAlive(one)) process.kill(one, name);
    };
    onTestFinished(() => signal('SIGCONT'));
    signal('SIGSTOP');
    const answers = Promise.all([answerOf(server, request), root.query('whoami'), statusOf(server.baseUrl, '/readyz')]);
    answers.catch(() => {});
    expect(await statusOf(server.baseUrl, '/healthz')).toBe(200);
    // Twice what the setting says: the machine may be busy.
    const outcome = await Promise.race([answers, sleep(10_000, 'no answer within 10 seconds' as const)]);
    signal('SIGCONT');
    if (typeof outcome === 'string') throw new Error(outcome);
    const [submitted, queried, readiness] = outcome;
    for (const answer of [submitted, queried]) expectUnavailable(answer);
    expect(readiness).toBe(503);
    await expectBack(server, root, request);
  }, 90_000);
});

describe('SQLite away', () => {
  function lockFile(server: TestServer): Disposable {
    const other = new SqliteFile(join(server.dataDir, 'custos.db'), { busyTimeoutMs: 10_000 });
    other.exec('BEGIN EXCLUSIVE');
    return { [Symbol.dispose]: () => other.close() };
  }

  test('a locked database file answers 503 to submits, serves queries, and recovers', async () => {
    await using server = await TestServer.start({ env: { CUSTOS_LOG_LEVEL: 'warn' } });
    const root = TestClient.root(server.credentials, server.baseUrl);
    expect((await root.query('whoami')).status).toBe(200);
    const requests = [newTag(root, 'locked'), newRename(root, 'locked')];
    {
      using _lock = lockFile(server);
      for (const answer of await Promise.all(requests.map((request) => answerOf(server, request)))) {
        expectUnavailable(answer);
      }
      expect((await root.query('whoami')).status).toBe(200);
      expect(await statusOf(server.baseUrl, '/healthz')).toBe(200);
    }
    for (const request of requests) {
      expect(await activitiesWith(server, undefined, request)).toEqual([]);
      expect((await answerOf(server, request)).body.activity?.status).toBe('ACTIVITY_STATUS_COMPLETED');
      expect((await answerOf(server, request)).status).toBe(200);
      expect(await activitiesWith(server, undefined, request)).toHaveLength(1);
    }
    await waitUntil('the service is ready again', async () => (await statusOf(server.baseUrl, '/readyz')) === 200);
    expect(server.output.stderr).not.toContain('internal error');
  });

  test('while the file is locked, health, readiness and queries keep answering', async () => {
    await using server = await TestServer.start({ env: { CUSTOS_LOG_LEVEL: 'error' } });
    const root = TestClient.root(server.credentials, server.baseUrl);
    expect((await root.query('whoami')).status).toBe(200);
    let isOver = false;
    const submits: Promise<Answer[]>[] = [];
    {
      using _lock = lockFile(server);
      for (let index = 0; index < 4; index += 1) {
        const writer = async (): Promise<Answer[]> => {
          const answers: Answer[] = [];
          while (!isOver) answers.push(await answerOf(server, newTag(root, `locked ${index} ${answers.length}`)));
          return answers;
        };
        submits.push(writer());
      }
      for (let round = 0; round < 5; round += 1) {
        expect(await statusOf(server.baseUrl, '/healthz')).toBe(200);
        // Nothing can be stored.
        expect(await statusOf(server.baseUrl, '/readyz')).toBe(503);
        expect((await root.query('whoami')).status).toBe(200);
      }
      isOver = true;
      for (const answer of (await Promise.all(submits)).flat()) expectUnavailable(answer);
    }
    expect((await answerOf(server, newTag(root, 'afterwards'))).status).toBe(200);
  });
});
