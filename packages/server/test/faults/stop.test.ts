import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request as openRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { startPostgres } from '../../../../scripts/lib/postgres.mjs';
import { TestClient } from '../harness/client.ts';
import { createPostgresDatabase, DATABASES, type DatabaseKind } from '../harness/databases.ts';
import {
  childrenOf,
  connectPostgres,
  freePort,
  isAlive,
  onPostgres,
  openTables,
  RawService,
  type Row,
  type StampedBody,
  stamped,
  statusOf,
  temporaryFolder,
  trySend,
  waitUntil,
} from './support.ts';

/** Well before the moment at which whatever is left is cut off. */
const PROMPT_MS = 8000;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

/** A service with what it needs; `again` starts another process on the same data. */
async function startPlace(database: DatabaseKind, extra: Record<string, string> = {}) {
  const postgres = database === 'postgres' ? await createPostgresDatabase() : undefined;
  const folder = temporaryFolder();
  const env = {
    CUSTOS_DATA_DIR: folder.path,
    CUSTOS_PORT: '0',
    ...(postgres && { CUSTOS_DATABASE_URL: postgres.url, CUSTOS_DATABASE_POOL: '8' }),
    ...extra,
  };
  const services: RawService[] = [];
  const launch = async (): Promise<{ service: RawService; root: TestClient; baseUrl: string }> => {
    const service = new RawService(env);
    services.push(service);
    const baseUrl = await service.listening();
    if (baseUrl === undefined) throw new Error(service.stderr);
    const credentials = JSON.parse(readFileSync(join(folder.path, 'root-credentials.json'), 'utf8'));
    return { service, baseUrl, root: TestClient.root(credentials, baseUrl) };
  };
  return {
    ...(await launch()),
    url: postgres?.url,
    path: folder.path,
    again: launch,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      for (const service of services) await service[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
      await postgres?.[Symbol.asyncDispose]();
    },
  };
}

const newTag = (root: TestClient, userTagName: string): StampedBody =>
  stamped(
    '/public/v1/submit/create_user_tag',
    root.submitBody('create_user_tag', { userTagName, userIds: [] }),
    root.key,
  );

/** A submit whose head the service has seen and whose body it waits for. */
async function beginSubmit(baseUrl: string, { path, body, stamp }: StampedBody) {
  const bytes = Buffer.from(body);
  const outgoing = openRequest(`${baseUrl}${path}`, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'content-length': bytes.length,
      'x-stamp': stamp,
      expect: '100-continue',
    },
  });
  cleanups.push(() => outgoing.destroy());
  const answered = once(outgoing, 'response').then(async ([response]: IncomingMessage[]) => {
    let text = '';
    for await (const part of (response as IncomingMessage).setEncoding('utf8')) text += part;
    return { status: response?.statusCode, body: JSON.parse(text) };
  });
  answered.catch(() => {});
  outgoing.flushHeaders();
  await once(outgoing, 'continue');
  outgoing.write(bytes.subarray(0, 10));
  return {
    finish: () => {
      outgoing.end(bytes.subarray(10));
      return answered;
    },
  };
}

async function openSocket(baseUrl: string): Promise<Socket> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  cleanups.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

async function isRefused(baseUrl: string): Promise<boolean> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const outcome = await new Promise<string>((resolve) => {
    socket.once('connect', () => resolve('connected'));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
  });
  socket.destroy();
  return outcome === 'ECONNREFUSED';
}

const exitsPromptly = (service: RawService): Promise<{ code: number | null } | string> =>
  Promise.race([service.exited, sleep(PROMPT_MS, 'still running', { ref: false })]);

async function tagNames(path: string, url: string | undefined): Promise<string[]> {
  await using tables = await openTables(path, url);
  const [rows] = await tables.read('SELECT name FROM tag ORDER BY name');
  return (rows as Row[]).map((row) => row.name);
}

describe.each(DATABASES)('stop on %s', (database) => {
  // Signals and connections have nothing to do with the database; what is in flight has.
  const onlyOnce = (name: string, work: () => Promise<void>): void => {
    if (database === 'sqlite') test(name, work);
  };

  test.each(database === 'sqlite' ? (['SIGTERM', 'SIGINT'] as const) : (['SIGTERM'] as const))(
    '%s: what is in flight is finished, what is new is refused',
    async (signal) => {
      await using place = await startPlace(database);
      const { service, baseUrl, root } = place;
      const requests = ['first', 'second', 'third'].map((name) => newTag(root, name));
      const begun = await Promise.all(requests.map((request) => beginSubmit(baseUrl, request)));
      service.child.kill(signal);
      await waitUntil('new connections are refused', () => isRefused(baseUrl));
      expect(service.hasExited).toBe(false);
      // Once more: a second signal changes nothing.
      service.child.kill(signal);
      const answers = await Promise.all(begun.map((one) => one.finish()));
      for (const answer of answers) {
        expect(answer.status).toBe(200);
        expect(answer.body.activity.status).toBe('ACTIVITY_STATUS_COMPLETED');
      }
      expect(await exitsPromptly(service)).toEqual({ code: 0, signal: null });
      expect(await tagNames(place.path, place.url)).toEqual(['first', 'second', 'third']);

      const next = await place.again();
      for (const [index, request] of requests.entries()) {
        const again = await trySend(next.baseUrl, request);
        expect(again?.body.activity.id).toBe(answers[index]?.body.activity.id);
      }
    },
  );

  test('under load: every answered submit is there afterwards, and only 200 and 503 are answered', async () => {
    await using place = await startPlace(database);
    const { service, baseUrl, root } = place;
    const acknowledged: string[] = [];
    const statuses = new Set<number>();
    const writers = Array.from({ length: 16 }, async (_, index) => {
      for (let count = 0; ; count += 1) {
        const name = `load-${index}-${count}`;
        const answer = await trySend(baseUrl, newTag(root, name));
        if (answer === undefined) return;
        statuses.add(answer.status);
        if (answer.status === 200) acknowledged.push(name);
        else if (answer.status !== 503) return;
      }
    });
    await waitUntil('there is traffic', () => acknowledged.length > 50);
    service.child.kill('SIGTERM');
    expect(await exitsPromptly(service)).toEqual({ code: 0, signal: null });
    await Promise.all(writers);
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    const names = new Set(await tagNames(place.path, place.url));
    expect(acknowledged.filter((name) => !names.has(name))).toEqual([]);
    const next = await place.again();
    expect((await next.root.query('whoami')).status).toBe(200);
  });

  onlyOnce('idle keep-alive connections do not hold it', async () => {
    await using place = await startPlace(database);
    const { service, baseUrl } = place;
    const agent = new Agent({ keepAlive: true, maxSockets: 5 });
    cleanups.push(() => agent.destroy());
    await Promise.all(
      Array.from({ length: 5 }, async () => {
        const outgoing = openRequest(`${baseUrl}/healthz`, { agent });
        outgoing.end();
        const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
        response.resume();
        await once(response, 'end');
      }),
    );
    service.child.kill('SIGTERM');
    expect(await exitsPromptly(service)).toEqual({ code: 0, signal: null });
  });

  onlyOnce('connections that never say anything, or never finish, are cut off in the end', async () => {
    await using place = await startPlace(database);
    const { service, baseUrl, root } = place;
    await openSocket(baseUrl);
    (await openSocket(baseUrl)).write('POST /public/v1/query/whoami HTTP/1.1\r\nhost: x\r\n');
    await beginSubmit(baseUrl, newTag(root, 'never finished'));
    service.child.kill('SIGTERM');
    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(await tagNames(place.path, place.url)).toEqual([]);
    const next = await place.again();
    expect((await next.root.query('whoami')).status).toBe(200);
  });
});

describe('several workers', () => {
  /** Another session holds the organization: a submit waits inside its transaction, in some worker. */
  async function holdOrganization(url: string) {
    const holder = await connectPostgres(url);
    await holder.query('BEGIN');
    await holder.query('SELECT id FROM organization FOR UPDATE');
    return {
      isAwaited: () =>
        onPostgres(url, async (client) => {
          const { rows } = await client.query(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
          );
          return rows.length > 0;
        }),
      release: () => holder.end(),
    };
  }

  const startWorkers = async (workers: number, extra: Record<string, string> = {}) =>
    await startPlace('postgres', { CUSTOS_WORKERS: String(workers), CUSTOS_PORT: String(await freePort()), ...extra });

  const workersOf = (service: RawService): number[] => childrenOf(service.pid).filter(isAlive);

  async function expectServes(root: TestClient): Promise<void> {
    for (let count = 0; count < 20; count += 1) expect((await root.query('whoami')).status).toBe(200);
  }

  test('they serve, a killed one is replaced, and SIGTERM ends them all', async () => {
    await using place = await startWorkers(3);
    const { service, root } = place;
    await waitUntil('three workers run', () => workersOf(service).length === 3);
    expect(service.stdout.match(/listening on/g)).toHaveLength(1);
    await expectServes(root);
    const before = workersOf(service);
    const victim = before[1] as number;
    process.kill(victim, 'SIGKILL');
    await waitUntil('it is replaced', () => workersOf(service).filter((pid) => pid !== victim).length === 3);
    expect(workersOf(service)).toEqual(expect.arrayContaining(before.filter((pid) => pid !== victim)));
    // The pool of connections of this client may hold one to the dead worker.
    await waitUntil('requests succeed', () =>
      root.query('whoami').then(
        () => true,
        () => false,
      ),
    );
    await expectServes(root);
    expect((await root.submit('create_user_tag', { userTagName: 'after', userIds: [] })).status).toBe(200);
    const last = workersOf(service);
    service.child.kill('SIGTERM');
    expect(await exitsPromptly(service)).toEqual({ code: 0, signal: null });
    expect(last.filter(isAlive)).toEqual([]);
    expect(service.stdout.match(/listening on/g)).toHaveLength(1);
    expect(service.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
  });

  test.each(['SIGTERM to the first process', 'SIGINT to the whole group'])(
    '%s: the service ends after the request in flight, not before',
    async (way) => {
      await using place = await startWorkers(3);
      const { service, baseUrl, root } = place;
      await waitUntil('three workers run', () => workersOf(service).length === 3);
      const hold = await holdOrganization(place.url as string);
      const request = newTag(root, 'in flight');
      const answered = trySend(baseUrl, request);
      await waitUntil('the submit waits', hold.isAwaited);
      const workers = workersOf(service);
      if (way.startsWith('SIGTERM')) service.child.kill('SIGTERM');
      else for (const pid of [service.pid, ...workers]) process.kill(pid, 'SIGINT');
      await waitUntil('new connections are refused', () => isRefused(baseUrl));
      // Whoever waits for this process, such as a container, ends everything else with it.
      await sleep(1500);
      const endedEarly = service.hasExited;
      await hold.release();
      const answer = await answered;
      const exit = await exitsPromptly(service);
      const orphans = workers.filter(isAlive);
      expect({ endedEarly, status: answer?.status, exit, orphans }).toEqual({
        endedEarly: false,
        status: 200,
        exit: { code: 0, signal: null },
        orphans: [],
      });
      expect(await tagNames(place.path, place.url)).toEqual(['in flight']);
    },
  );

  test('when the first process is killed, no worker stays behind', async () => {
    await using place = await startWorkers(3);
    const { service } = place;
    await waitUntil('three workers run', () => workersOf(service).length === 3);
    const workers = workersOf(service);
    service.child.kill('SIGKILL');
    await service.exited;
    await waitUntil('the workers are gone', () => workers.every((pid) => !isAlive(pid)));
    const next = await place.again();
    expect((await next.root.query('whoami')).status).toBe(200);
  });

  test('a worker that dies while the database is away does not take the others down', async () => {
    await using postgres = await startPostgres();
    await using place = await startWorkers(2, { CUSTOS_DATABASE_URL: postgres.url, CUSTOS_LOG_LEVEL: 'debug' });
    const { service, root, baseUrl } = place;
    // Both must be up: a worker that is still starting when the database goes cannot take over.
    await waitUntil('two workers serve', () => service.stderr.split('"msg":"started"').length === 3);
    expect((await root.query('whoami')).status).toBe(200);
    await postgres.stop();
    const [victim] = workersOf(service) as [number];
    process.kill(victim, 'SIGKILL');
    // Long enough for a replacement to have tried.
    for (let second = 0; second < 6 && !service.hasExited; second += 1) await sleep(1000);
    expect([service.hasExited, service.stderr.slice(-500)]).toEqual([false, expect.anything()]);
    await waitUntil('it is alive', () =>
      statusOf(baseUrl, '/healthz').then(
        (status) => status === 200,
        () => false,
      ),
    );
    await postgres.start();
    await waitUntil('two workers run again', () => workersOf(service).length === 2);
    await waitUntil('it is ready', () =>
      statusOf(baseUrl, '/readyz').then(
        (status) => status === 200,
        () => false,
      ),
    );
    await expectServes(root);
  });
});
