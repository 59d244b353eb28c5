import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startPostgres, type TestPostgres } from '../../../../../scripts/lib/postgres.mjs';
import { InstallationReader, InstallationStore } from '../../../src/core/store/installation.ts';
import { OrganizationStore } from '../../../src/core/store/organizations.ts';
import { dataModel } from '../../../src/domains.ts';
import type { ApiError } from '../../../src/lib/errors.ts';
import { openStorage } from '../../../src/storage/open.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  expectRefusal,
  expectUnavailable,
  freePort,
  onPostgres,
  RawService,
  runService,
  type StampedBody,
  stamped,
  temporaryFolder,
  trySend,
  waitUntil,
} from '../../faults/support.ts';
import { createSubOrganization, TestClient } from '../../harness/client.ts';
import { TestServer } from '../../harness/server.ts';
import { codeOf, NOW, withOrganization } from '../../storage/place.ts';

// A PostgreSQL that is late, hangs, waits for its standbys or takes no writes, on a server that these tests have for
// themselves.

const MIGRATION_LOCK = 4_715_820_031;
/** The server's message that ends a login: Z, its length, idle. */
const READY_FOR_QUERY = Buffer.from('Z\0\0\0\x05I', 'latin1');

let postgres: TestPostgres;
let databases = 0;

beforeAll(async () => {
  postgres = await startPostgres();
});

afterAll(async () => {
  await postgres?.dispose();
});

async function newDatabase(): Promise<string> {
  databases += 1;
  const name = `holes_${databases}`;
  await onPostgres(postgres.url, (client) => client.query(`CREATE DATABASE ${name}`));
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  return url.toString();
}

async function open(databaseUrl: string, options: { databasePool?: number; databaseTimeoutSeconds?: number } = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'custos-storage-'));
  const storage = await openStorage({
    dataModel,
    dataDir,
    databaseUrl,
    databasePool: 4,
    nowMs: NOW,
    onIdleError: () => {},
    ...options,
  });
  onTestFinished(async () => {
    await storage.close();
    rmSync(dataDir, { recursive: true });
  });
  return storage;
}

/** Sets something for the whole server until the test ends, and waits until a session sees it. */
async function setOnServer(name: string, value: string): Promise<() => Promise<void>> {
  const show = (client: { query(text: string): Promise<{ rows: Record<string, string>[] }> }) =>
    client.query(`SHOW ${name}`).then(({ rows }) => rows[0]?.[name]);
  const change = (statement: string, isThere: (now: string | undefined) => boolean) =>
    onPostgres(postgres.url, async (client) => {
      await client.query(statement);
      await client.query('SELECT pg_reload_conf()');
      await waitUntil('the setting is there', async () => isThere(await show(client)));
    });
  const before = await onPostgres(postgres.url, show);
  const reset = () => change(`ALTER SYSTEM RESET ${name}`, (now) => now === before);
  onTestFinished(reset);
  await change(`ALTER SYSTEM SET ${name} = '${value}'`, (now) => now === value);
  return reset;
}

/** A standby that never comes: every commit waits for it. */
const awaitStandbys = (): Promise<() => Promise<void>> => setOnServer('synchronous_standby_names', 'nobody');

const waitingCommits = (url: string): Promise<number[]> =>
  onPostgres(url, async (client) => {
    const { rows } = await client.query(
      "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND datname = current_database()",
    );
    return rows.map(({ pid }) => pid as number);
  });

async function causeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('acknowledged'),
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: 'UNAVAILABLE' });
  return String((error as ApiError).cause);
}

describe('COMMIT', () => {
  const put = (storage: Storage, value: string): Promise<void> =>
    storage.write((store) => store(InstallationStore).put('bootstrap', value));

  test('of a transaction that failed unnoticed is no acknowledgement', async () => {
    const storage = await open(await newDatabase());
    await put(storage, 'before');
    const made = await withOrganization(storage);
    const swallowed = storage.write(async (store) => {
      await store(InstallationStore).put('bootstrap', 'lost');
      await store(OrganizationStore)
        .insert(made)
        .catch(() => {});
    });
    // For the reason of what failed; COMMIT is not even sent.
    await expect(swallowed).rejects.toThrow('organization');
    expect(await storage.read(InstallationReader).get('bootstrap')).toBe('before');
    await put(storage, 'after');
    expect(await storage.read(InstallationReader).get('bootstrap')).toBe('after');
  });

  test('that gave up waiting for its standbys is none either, and its connection is not used again', async () => {
    const url = await newDatabase();
    const storage = await open(url);
    await put(storage, 'before');
    const reset = await awaitStandbys();
    const cause = causeOf(put(storage, 'here only'));
    await waitUntil('the commit waits', async () => (await waitingCommits(url)).length === 1);
    const [pid] = await waitingCommits(url);
    await onPostgres(url, (client) => client.query('SELECT pg_cancel_backend($1)', [pid]));
    expect(await cause).toContain('COMMIT was answered with a warning');
    await waitUntil('the connection is gone', async () => {
      const alive = await onPostgres(url, (client) =>
        client.query('SELECT 1 FROM pg_stat_activity WHERE pid = $1', [pid]),
      );
      return alive.rowCount === 0;
    });
    await reset();
    await put(storage, 'after');
    expect(await storage.read(InstallationReader).get('bootstrap')).toBe('after');
  });

  test('that waits for its standbys ends with the time-out, unacknowledged', async () => {
    const url = await newDatabase();
    const storage = await open(url, { databaseTimeoutSeconds: 1 });
    await put(storage, 'before');
    const reset = await awaitStandbys();
    await causeOf(put(storage, 'unknown'));
    expect(await storage.read(InstallationReader).get('bootstrap')).toBeDefined();
    await reset();
    await put(storage, 'after');
    expect(await storage.read(InstallationReader).get('bootstrap')).toBe('after');
    expect(storage.load.find(({ pool }) => pool === 'write')?.timeouts).toBeGreaterThan(0);
  });
});

describe('a transaction', () => {
  test('has one deadline for all its statements', async () => {
    const storage = await open(await newDatabase(), { databaseTimeoutSeconds: 1 });
    let statements = 0;
    const unit = storage.write(async (store) => {
      for (; statements < 1_000_000; statements += 1) await store(InstallationStore).get('bootstrap');
    });
    expect(await codeOf(unit)).toBe('UNAVAILABLE');
    expect(statements).toBeGreaterThan(0);
    await storage.write((store) => store(InstallationStore).put('bootstrap', 'after'));
  });

  test('gets more time where it is known to take long', async () => {
    const storage = await open(await newDatabase(), { databaseTimeoutSeconds: 1 });
    const startedMs = performance.now();
    const count = await storage.write(
      async (store) => {
        let reads = 0;
        for (; performance.now() - startedMs < 1500; reads += 1) await store(InstallationStore).get('bootstrap');
        return reads;
      },
      { isLong: true },
    );
    expect(count).toBeGreaterThan(0);
  });
});

describe('a server that takes no more writes', () => {
  test('loses its connections, is read, and is written to again as soon as it takes writes', async () => {
    const url = await newDatabase();
    const storage = await open(url);
    const write = (): Promise<void> => storage.write((store) => store(InstallationStore).put('bootstrap', 'x'));
    await write();
    const reset = await setOnServer('default_transaction_read_only', 'on');
    await waitUntil('a write is refused', async () => (await codeOf(write()).catch(() => undefined)) === 'UNAVAILABLE');
    expect(await codeOf(write())).toBe('UNAVAILABLE');
    expect(storage.load.find(({ pool }) => pool === 'write')?.connections).toBe(0);
    expect(await storage.read(InstallationReader).get('bootstrap')).toBe('x');
    await reset();
    await write();
  });
});

const fingerprintOf = (body: string): string => `sha256:${createHash('sha256').update(body).digest('hex')}`;

const newTag = (root: TestClient, userTagName: string): StampedBody =>
  stamped(
    '/public/v1/submit/create_user_tag',
    root.submitBody('create_user_tag', { userTagName, userIds: [] }),
    root.key,
  );

const newRename = (root: TestClient, userName: string): StampedBody =>
  stamped(
    '/public/v1/submit/update_user_name',
    root.submitBody('update_user_name', { userId: root.userId, userName }),
    root.key,
  );

async function startOn(url: string, env: Record<string, string> = {}): Promise<TestServer> {
  const server = await TestServer.start({
    env: { CUSTOS_DATABASE_URL: url, CUSTOS_DATABASE_POOL: '8', CUSTOS_KEYRING: 'inline', ...env },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

describe('forty writers', () => {
  test('that no standby lets commit leave reads alone, and go on afterwards: nothing lost, nothing twice', async () => {
    const url = await newDatabase();
    const server = await startOn(url, { CUSTOS_DATABASE_TIMEOUT_SECONDS: '2' });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const warm = await trySend(server.baseUrl, newTag(root, 'before'));
    expect(warm?.status).toBe(200);
    const reset = await awaitStandbys();
    const requests = Array.from({ length: 40 }, (_, index) =>
      index % 2 === 0 ? newTag(root, `tag ${index}`) : newRename(root, `name ${index}`),
    );
    const answers = Promise.all(requests.map((request) => trySend(server.baseUrl, request)));
    await waitUntil('commits wait', async () => (await waitingCommits(url)).length > 0);
    for (let round = 0; round < 20; round += 1) expect((await root.query('whoami')).status).toBe(200);
    for (const answer of await answers) {
      if (answer === undefined) throw new Error('no answer');
      expectUnavailable(answer);
    }
    expect((await root.query('whoami')).status).toBe(200);
    await reset();
    for (const request of requests) {
      const again = await trySend(server.baseUrl, request);
      expect(again?.body.activity?.status).toBe('ACTIVITY_STATUS_COMPLETED');
    }
    const { rows } = await onPostgres(url, (client) => client.query('SELECT fingerprint FROM activity'));
    const stored = rows.map(({ fingerprint }) => fingerprint as string);
    for (const { body } of requests) expect(stored.filter((one) => one === fingerprintOf(body))).toHaveLength(1);
    const tags = await onPostgres(url, (client) => client.query('SELECT name FROM tag'));
    expect(tags.rowCount).toBe(21);
  });

  test('of one organization that wait for its lock hold two connections, and others write on', async () => {
    const url = await newDatabase();
    // All forty get past admission, and a busy machine may take its time.
    const env = { CUSTOS_ADMIT_REQUESTS: '100', CUSTOS_DATABASE_TIMEOUT_SECONDS: '60' };
    const server = await startOn(url, env);
    const root = TestClient.root(server.credentials, server.baseUrl);
    const other = await createSubOrganization(root, 'other');
    await onPostgres(url, async (client) => {
      // Of the session: inside a transaction the server shows one state of its activity only.
      await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [root.organizationId]);
      const waiting = async (): Promise<number> => {
        const { rowCount } = await client.query(
          "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()",
        );
        return rowCount ?? 0;
      };
      const requests = Array.from({ length: 40 }, (_, index) => newTag(root, `tag ${index}`));
      const answers = Promise.all(requests.map((request) => trySend(server.baseUrl, request)));
      await waitUntil('two wait', async () => (await waiting()) === 2);
      for (let index = 0; index < 5; index += 1)
        await other.run('create_user_tag', { userTagName: `${index}`, userIds: [] });
      expect(await waiting()).toBe(2);
      const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
      expect(metrics).toContain('custos_database_waiting{pool="write"} 38');
      expect(metrics).toContain('custos_database_connections{pool="write",state="busy"} 2');
      expect(metrics).toContain('custos_database_timeouts_total{pool="write"} 0');
      await client.query('SELECT pg_advisory_unlock_all()');
      for (const answer of await answers) expect(answer?.status).toBe(200);
    });
  });
});

/** Stands in front of a PostgreSQL; from the end of the first login on it keeps what the server says to itself. */
class SilentAfterLogin implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #kept: (() => void)[] = [];
  #isSilent = true;

  private constructor({ hostname, port }: URL) {
    this.#server = createServer((client) => {
      const server = connect({ host: hostname, port: Number(port) });
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on('error', () => {}).on('close', () => socket.destroy());
      }
      client.pipe(server);
      server.on('end', () => client.end());
      let isIn = false;
      server.on('data', (bytes: Buffer) => {
        if (isIn && this.#isSilent) this.#kept.push(() => client.write(bytes));
        else client.write(bytes);
        isIn ||= bytes.includes(READY_FOR_QUERY);
      });
    });
  }

  static async start(target: URL): Promise<SilentAfterLogin> {
    const proxy = new SilentAfterLogin(target);
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening');
    return proxy;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  speak(): void {
    this.#isSilent = false;
    for (const write of this.#kept.splice(0)) write();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

describe('a start', () => {
  const places = (url: string, env: Record<string, string> = {}) => {
    const folder = temporaryFolder();
    onTestFinished(() => folder[Symbol.dispose]());
    return {
      CUSTOS_DATA_DIR: folder.path,
      CUSTOS_PORT: '0',
      CUSTOS_KEYRING: 'inline',
      CUSTOS_DATABASE_URL: url,
      ...env,
    };
  };

  test('waits for another process that migrates, without a time-out, and says so', async () => {
    const url = new URL(await newDatabase());
    // The operator's own time-outs are for requests too.
    url.searchParams.set('options', '-c statement_timeout=300 -c lock_timeout=300');
    const port = String(await freePort());
    await onPostgres(url.toString(), async (client) => {
      await client.query('SET statement_timeout = 0');
      await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
      await using service = new RawService(places(url.toString(), { CUSTOS_WORKERS: '2', CUSTOS_PORT: port }));
      await waitUntil(
        'both workers say what they wait for',
        () => service.stderr.split('migrates the database').length > 2,
      );
      expect(service.hasExited).toBe(false);
      await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      expect(await service.listening()).toBeDefined();
    });
  });

  test('says what it waits for where the database lets it in and then says nothing more', async () => {
    const right = new URL(await newDatabase());
    await using proxy = await SilentAfterLogin.start(right);
    const url = new URL(right);
    url.host = proxy.host;
    await using service = new RawService(places(url.toString()));
    await waitUntil('it says so', () =>
      service.stderr.includes(`waiting for an answer of PostgreSQL at ${url.host}${url.pathname}`),
    );
    expect(service.stderr).not.toContain(url.password);
    expect(service.hasExited).toBe(false);
    proxy.speak();
    expect(await service.listening()).toBeDefined();
  });

  test('waits for a database that is away, names it without the password, and goes on when it is there', async () => {
    const url = await newDatabase();
    const { password, host, pathname } = new URL(url);
    await postgres.stop();
    try {
      await using service = new RawService(places(url));
      await waitUntil('it says what it waits for', () =>
        service.stderr.includes(`waiting for PostgreSQL at ${host}${pathname}`),
      );
      expect(service.stderr).toContain('ECONNREFUSED');
      expect(service.stderr).not.toContain(password);
      await postgres.start();
      expect(await service.listening()).toBeDefined();
    } finally {
      await postgres.start();
    }
  });

  test('gives up in the end, and at once where waiting does not help', async () => {
    const right = new URL(await newDatabase());
    const away = new URL(right);
    away.port = String(await freePort());
    const wrong = new URL(right);
    wrong.password = 'not-the-password';
    const missing = new URL(right);
    missing.pathname = '/not_there';
    for (const url of [wrong, missing]) {
      const refused = await runService(places(url.toString(), { CUSTOS_DATABASE_WAIT_SECONDS: '600' }));
      expectRefusal(refused, new RegExp(`PostgreSQL database at ${url.host}${url.pathname}: `));
      expect(refused.stderr).not.toContain(url.password);
    }
    const gone = await runService(places(away.toString(), { CUSTOS_DATABASE_WAIT_SECONDS: '1' }));
    expect(gone.code).toBe(1);
    expect(gone.stderr.split('waiting for PostgreSQL')).toHaveLength(2);
    expect(gone.stderr).toMatch(
      new RegExp(
        `custos: cannot use the PostgreSQL database at ${away.host}${away.pathname}: .*ECONNREFUSED.*, waited [0-9]+ s\n$`,
      ),
    );
    expect(gone.stderr).not.toContain(right.password);
  });
});
