import { once } from 'node:events';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { createReadiness } from '../../../src/engine/readiness.ts';
import { ApiError } from '../../../src/lib/errors.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { freePort, openTables, RawService, statusOf, temporaryFolder, waitUntil } from '../../faults/support.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { createPostgresDatabase, DATABASES } from '../../harness/databases.ts';

const ALL = { database: true, migrations: true, keyring: true };

async function readyz({ baseUrl }: Pick<TestApp, 'baseUrl'>) {
  const response = await fetch(`${baseUrl}/readyz`);
  const retryAfter = response.headers.get('retry-after');
  return { status: response.status, retryAfter, body: (await response.json()) as Record<string, unknown> };
}

async function connect(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

/** An app on a database of its own, whose address the test knows. */
async function openOnPostgres() {
  const database = await createPostgresDatabase();
  const app = await openTestApp('sqlite', { CUSTOS_DATABASE_URL: database.url, CUSTOS_DATABASE_POOL: '4' });
  return {
    ...app,
    url: database.url,
    [Symbol.asyncDispose]: async () => {
      await app[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

describe.each(DATABASES)('readiness on %s', (database) => {
  test('is a write that leaves nothing behind', async () => {
    await using app = await openTestApp(database);
    const { dataDir, databaseUrl } = app.app.config;
    await using tables = await openTables(dataDir, databaseUrl);
    const facts = async () => (await tables.read('SELECT name FROM deployment ORDER BY name'))[0];
    const before = await facts();
    for (let time = 0; time < 3; time += 1) {
      expect(await readyz(app)).toMatchObject({
        status: 200,
        retryAfter: null,
        body: { status: 'ready', checks: ALL },
      });
    }
    expect(await facts()).toEqual(before);
  });

  test('is lost while the database refuses to write, with the reason, and comes back', async () => {
    await using app = await openTestApp(database);
    const { storage, keyring } = app.app;
    let isFull = false;
    const full = new ApiError('UNAVAILABLE', 'the database is not available', {
      cause: new Error('database or disk\nis full'),
    });
    const failing: Storage = {
      ...storage,
      kind: storage.kind,
      read: storage.read,
      write: (unit) => (isFull ? Promise.reject(full) : storage.write(unit)),
      close: () => storage.close(),
    };
    expect(await createReadiness({ storage: failing, keyring }).check()).toEqual({});
    isFull = true;
    expect(await createReadiness({ storage: failing, keyring }).check()).toEqual({
      database: 'a write failed: database or disk is full',
      migrations: 'not known while the database is not available',
    });
    isFull = false;
    expect(await createReadiness({ storage: failing, keyring }).check()).toEqual({});
  });

  test('is shared: however many ask, there is one write in a second', async () => {
    await using app = await openTestApp(database);
    const { storage, keyring } = app.app;
    let writes = 0;
    const counting: Storage = {
      ...storage,
      kind: storage.kind,
      read: storage.read,
      write: (unit) => {
        writes += 1;
        return storage.write(unit);
      },
      close: () => storage.close(),
    };
    const readiness = createReadiness({ storage: counting, keyring });
    const startedAtMs = performance.now();
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(Array.from({ length: 20 }, () => readiness.check()));
    }
    expect(writes).toBeLessThanOrEqual(1 + Math.floor((performance.now() - startedAtMs) / 1000));
  });
});

describe('readiness on PostgreSQL', () => {
  test('is lost on a server that takes no writes', async () => {
    await using app = await openOnPostgres();
    await using client = await connect(app.url);
    expect((await readyz(app)).status).toBe(200);
    const { rows } = await client.query('SELECT current_database() AS name');
    await client.query(`ALTER DATABASE ${rows[0].name} SET default_transaction_read_only = on`);
    // As a failover does; new connections find a server that may only be read.
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'custos'",
    );
    await waitUntil('it is not ready for that reason', async () => {
      const { status, body } = await readyz(app);
      const reasons = body.reasons as Record<string, string> | undefined;
      return status === 503 && reasons?.database === 'a write failed: the PostgreSQL server takes no writes';
    });
    await client.query(`ALTER DATABASE ${rows[0].name} RESET default_transaction_read_only`);
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'custos'",
    );
    await waitUntil('it is ready again', async () => (await readyz(app)).status === 200);
  });

  test('is answered in time while a write hangs, and comes back', async () => {
    await using app = await openOnPostgres();
    await using client = await connect(app.url);
    expect((await readyz(app)).status).toBe(200);
    await client.query('BEGIN');
    await client.query('LOCK TABLE deployment IN ACCESS EXCLUSIVE MODE');
    const startedAtMs = performance.now();
    await waitUntil('it is not ready', async () => (await readyz(app)).status === 503);
    // A second for which the last answer holds, two for the deadline, and as much again for a busy machine.
    expect(performance.now() - startedAtMs).toBeLessThan(6000);
    expect(await readyz(app)).toMatchObject({
      retryAfter: '1',
      body: { status: 'unavailable', reasons: { database: 'a write failed: no answer within 2 s' } },
    });
    await client.query('ROLLBACK');
    await waitUntil('it is ready again', async () => (await readyz(app)).status === 200);
  });
});

test('until the first organization exists nothing but /healthz is answered', { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  await using database = await createPostgresDatabase();
  await using client = await connect(database.url);
  // Its own sight of others stays the same during its transaction.
  await using watcher = await connect(database.url);
  // As another process that is about to make it.
  await client.query('BEGIN');
  await client.query("INSERT INTO deployment (name, value) VALUES ('bootstrap', 'x')");
  const [port, metricsPort, proxyPort] = [await freePort(), await freePort(), await freePort()];
  await using service = new RawService({
    CUSTOS_DATA_DIR: folder.path,
    CUSTOS_DATABASE_URL: database.url,
    CUSTOS_PORT: String(port),
    CUSTOS_METRICS_PORT: String(metricsPort),
    CUSTOS_PROXY_PORT: String(proxyPort),
  });
  const at = (of: number): string => `http://127.0.0.1:${of}`;
  const isAnswered = (of: number) => () =>
    statusOf(at(of), '/healthz').then(
      (status) => status === 200,
      () => false,
    );
  await waitUntil('it waits for the lock', async () => {
    const waits = await watcher.query(
      "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return waits.rowCount === 1 || service.hasExited;
  });
  expect([service.hasExited, service.stderr]).toEqual([false, '']);
  await waitUntil('it listens', isAnswered(port));
  for (const base of [at(port), at(metricsPort)]) {
    const { status, retryAfter, body } = await readyz({ baseUrl: base });
    expect([status, retryAfter]).toEqual([503, '1']);
    expect(body).toMatchObject({ errorCode: 'UNAVAILABLE', message: 'the service is starting' });
    expect(await statusOf(base, '/healthz')).toBe(200);
  }
  for (const path of ['/public/v1/query/whoami', '/public/v1/discovery/keys', '/']) {
    expect(await statusOf(at(port), path)).toBe(503);
  }
  for (const path of ['/public/v1/query/whoami', '/public/v1/submit/create_wallet', '/public/v1/feed']) {
    const response = await fetch(`${at(port)}${path}`, { method: 'POST', body: '{}' });
    expect([path, response.status, await response.json()]).toEqual([
      path,
      503,
      expect.objectContaining({ errorCode: 'UNAVAILABLE', message: 'the service is starting' }),
    ]);
  }
  expect(await statusOf(at(proxyPort), '/v1/account')).toBe(503);
  expect(service.stdout).toBe('');
  await client.query('ROLLBACK');
  await service.listening();
  expect(await statusOf(at(port), '/readyz')).toBe(200);
  expect(service.stdout).toContain('root-credentials.json');
  service.child.kill('SIGTERM');
  await once(service.child, 'exit');
});
