import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { SETTINGS, SettingError } from '../../src/config/settings.ts';
import type { RootCredentials } from '../../src/credentials-file.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { newKeyPair, TestClient } from '../harness/client.ts';
import { createPostgresDatabase, DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import {
  expectRefusal,
  freePort,
  onPostgres,
  openTables,
  RawService,
  runCli,
  runService,
  temporaryFolder,
} from './support.ts';

const isRoot = process.getuid?.() === 0;
const modeOf = (path: string): number => statSync(path).mode & 0o777;
const readCredentials = (path: string): RootCredentials => JSON.parse(readFileSync(path, 'utf8')) as RootCredentials;

/** A data directory and, for PostgreSQL, a database; the environment that names both. */
async function newPlace(database: DatabaseKind) {
  const postgres = database === 'postgres' ? await createPostgresDatabase({ isEmpty: true }) : undefined;
  const folder = temporaryFolder();
  const env: Record<string, string> = {
    CUSTOS_DATA_DIR: folder.path,
    CUSTOS_PORT: '0',
    // The start of a keyring process is tried in the files of its own, and would be most of the time that this one
    // takes.
    CUSTOS_KEYRING: 'inline',
    ...(postgres && { CUSTOS_DATABASE_URL: postgres.url }),
  };
  const file = (name: string): string => join(folder.path, name);
  return {
    path: folder.path,
    url: postgres?.url,
    env,
    file,
    names: (): string[] => readdirSync(folder.path).sort(),
    start: (extra: Record<string, string> = {}): Promise<TestServer> =>
      TestServer.start({ dataDir: folder.path, env: { ...env, ...extra } }),
    [Symbol.asyncDispose]: async (): Promise<void> => {
      folder[Symbol.dispose]();
      await postgres?.[Symbol.asyncDispose]();
    },
  };
}

async function expectWhoami(baseUrl: string, { organizationId, apiPublicKey, apiPrivateKey, userId }: RootCredentials) {
  const key = { publicKey: apiPublicKey, privateKey: apiPrivateKey };
  const { status, body } = await new TestClient(baseUrl, organizationId, key).query('whoami');
  expect(status).toBe(200);
  expect(body).toMatchObject({ organizationId, userId });
}

async function drain<T>(queue: IterableIterator<T>, work: (item: T) => Promise<void>): Promise<void> {
  for (const item of queue) await work(item);
}

/** Starts, uses the first credentials, stops in order. */
async function startOnce(place: Awaited<ReturnType<typeof newPlace>>): Promise<RootCredentials> {
  await using server = await place.start();
  await expectWhoami(server.baseUrl, server.credentials);
  expect(await server.stop()).toBe(0);
  return server.credentials;
}

/** After a refusal a start with everything in order works as before, with the same credentials. */
async function expectWorks(place: Awaited<ReturnType<typeof newPlace>>, credentials: RootCredentials): Promise<void> {
  await using server = await place.start();
  expect(server.credentials).toEqual(credentials);
  await expectWhoami(server.baseUrl, credentials);
  expect(await server.stop()).toBe(0);
}

describe.each(DATABASES)('the first and the second start on %s', (database) => {
  /** What has nothing to do with the database, or only by what both answer alike. */
  const onlyOnce = (name: string, work: () => Promise<void>): void => {
    if (database === 'sqlite') test(name, work);
  };

  test('the first start makes the files and prints one short block without a secret', async () => {
    await using place = await newPlace(database);
    await using server = await place.start();
    const { credentials, output, baseUrl } = server;
    const expected = ['address', 'root-credentials.json', 'root.key'];
    if (database === 'sqlite') expected.push('custos.db', 'custos.lock');
    expect(place.names().filter((name) => !/^custos\.(db-(wal|shm)|lock-journal)$/.test(name))).toEqual(
      expected.sort(),
    );
    for (const name of place.names()) expect([name, modeOf(place.file(name)) & 0o077]).toEqual([name, 0]);
    expect(modeOf(place.file('root.key'))).toBe(0o600);
    expect(modeOf(place.file('root-credentials.json'))).toBe(0o600);

    expect(Object.keys(credentials)).toEqual([
      'baseUrl',
      'authProxyUrl',
      'organizationId',
      'userId',
      'apiPublicKey',
      'apiPrivateKey',
      'authProxyConfigId',
    ]);
    expect(credentials.baseUrl).toBe(baseUrl);
    expect(credentials.authProxyUrl).toBe(baseUrl);
    expect(credentials.apiPublicKey).toMatch(/^0[23][0-9a-f]{64}$/);
    expect(credentials.apiPrivateKey).toMatch(/^[0-9a-f]{64}$/);
    for (const id of [credentials.organizationId, credentials.userId, credentials.authProxyConfigId]) {
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    }
    await expectWhoami(baseUrl, credentials);

    expect(readFileSync(place.file('address'), 'utf8')).toBe(`${baseUrl}\n`);
    const printed = `${output.stdout}${output.stderr}`;
    const inbox = database === 'sqlite' ? [`  mail and SMS  are not sent but kept at ${baseUrl}/dev/inbox`] : [];
    expect(output.stdout.trimEnd().split('\n').slice(4)).toEqual(inbox);
    expect(output.stdout).toContain(baseUrl);
    expect(output.stdout).toContain(credentials.organizationId);
    expect(output.stdout).toContain(place.file('root-credentials.json'));
    expect(printed).not.toContain(credentials.apiPrivateKey);
    const rootKey = readFileSync(place.file('root.key'));
    for (let start = 0; start + 16 <= rootKey.length; start += 16) {
      const part = rootKey.subarray(start, start + 16);
      for (const encoding of ['hex', 'base64', 'base64url', 'latin1'] as const) {
        if (encoding === 'latin1' && /^[\x20-\x7e\n]*$/.test(part.toString('latin1'))) continue;
        expect(printed).not.toContain(part.toString(encoding));
      }
    }
    if (place.url) expect(printed).not.toContain(new URL(place.url).password);
    expect(output.stderr).toBe('');
  });

  test('the second start prints no credentials and creates nothing', async () => {
    await using place = await newPlace(database);
    const credentials = await startOnce(place);
    const before = place.names().map((name) => [name, statSync(place.file(name)).ino]);
    const keys = ['root.key', 'root-credentials.json'].map((name) => readFileSync(place.file(name)));
    {
      await using server = await place.start();
      expect(server.output.stdout.split('\n  mail and SMS')[0]?.trimEnd()).toBe(
        `Custos is listening on ${server.baseUrl}`,
      );
      await expectWhoami(server.baseUrl, credentials);
      expect(await server.stop()).toBe(0);
      expect(server.output.stderr).toBe('');
    }
    expect(place.names().map((name) => [name, statSync(place.file(name)).ino])).toEqual(before);
    expect(['root.key', 'root-credentials.json'].map((name) => readFileSync(place.file(name)))).toEqual(keys);
    await using tables = await openTables(place.path, place.url);
    const [organizations, activities, facts] = await tables.read(
      'SELECT id FROM organization',
      'SELECT operation FROM activity',
      'SELECT name FROM deployment ORDER BY name',
    );
    expect(organizations).toEqual([{ id: credentials.organizationId }]);
    expect(activities).toEqual([{ operation: 'create_organization' }]);
    expect(facts).toEqual([{ name: 'bootstrap' }, { name: 'deployment_key' }, { name: 'root_key_id' }]);
  });

  onlyOnce('CUSTOS_BASE_URL is what the credentials name', async () => {
    await using place = await newPlace(database);
    await using server = await place.start({ CUSTOS_BASE_URL: 'https://custos.example/base/' });
    expect(server.credentials.baseUrl).toBe('https://custos.example/base');
    expect(server.credentials.authProxyUrl).toBe('https://custos.example/base');
  });

  test('a database that a newer program has changed is refused and left alone', async () => {
    await using place = await newPlace(database);
    const credentials = await startOnce(place);
    const execute = async (statement: string): Promise<void> => {
      if (place.url) {
        await onPostgres(place.url, (client) => client.query(statement));
      } else {
        const db = new SqliteFile(place.file('custos.db'));
        db.exec(statement);
        db.close();
      }
    };
    await execute("INSERT INTO schema_migration (name, applied_at_ms) VALUES ('9999-from-the-future', 1)");
    expectRefusal(await runService(place.env), /newer than this program.*9999-from-the-future/);
    expectRefusal(
      await runCli(place.env, 'init', '--organization', 'x', '--public-key', newKeyPair().publicKey),
      /newer than this program/,
    );
    await execute("DELETE FROM schema_migration WHERE name = '9999-from-the-future'");
    await expectWorks(place, credentials);
  });

  onlyOnce('a root key that is missing for a database that has one: refused, and no new key is made', async () => {
    await using place = await newPlace(database);
    const credentials = await startOnce(place);
    renameSync(place.file('root.key'), place.file('kept'));
    const before = place.names();
    expectRefusal(await runService(place.env), /root\.key/);
    expectRefusal(
      await runCli(place.env, 'init', '--organization', 'x', '--public-key', newKeyPair().publicKey),
      /root\.key/,
    );
    expect(place.names()).toEqual(before);
    expect(existsSync(place.file('root.key'))).toBe(false);
    renameSync(place.file('kept'), place.file('root.key'));
    await expectWorks(place, credentials);
  });

  describe('custos init', () => {
    test('creates the organization; the service creates none, writes no credentials, and the given key works', async () => {
      await using place = await newPlace(database);
      const key = newKeyPair();
      const done = await runCli(
        place.env,
        'init',
        '--organization',
        'Production',
        '--public-key',
        key.publicKey,
        '--user-name',
        'Ada',
      );
      expect(done).toMatchObject({ code: 0, stderr: '' });
      const created = JSON.parse(done.stdout);
      expect(Object.keys(created)).toEqual(['organizationId', 'userId', 'authProxyConfigId']);
      await using server = await place.start();
      expect(server.output.stdout.split('\n  mail and SMS')[0]?.trimEnd()).toBe(
        `Custos is listening on ${server.baseUrl}`,
      );
      expect(existsSync(place.file('root-credentials.json'))).toBe(false);
      const { status, body } = await new TestClient(server.baseUrl, created.organizationId, key).query('whoami');
      expect(status).toBe(200);
      expect(body).toEqual({
        organizationId: created.organizationId,
        organizationName: 'Production',
        userId: created.userId,
        username: 'Ada',
      });
    });

    // On the other one, a second init is what the next two tests are about.
    onlyOnce('twice is refused, and so is init after a first start', async () => {
      await using place = await newPlace(database);
      const [first, second] = [newKeyPair(), newKeyPair()];
      const init = (publicKey: string) => runCli(place.env, 'init', '--organization', 'x', '--public-key', publicKey);
      const created = JSON.parse((await init(first.publicKey)).stdout);
      expectRefusal(await init(second.publicKey), /already holds an organization/);
      expectRefusal(await init(first.publicKey), /already holds an organization/);
      await using server = await place.start();
      const as = (key: typeof first) => new TestClient(server.baseUrl, created.organizationId, key).query('whoami');
      expect((await as(first)).status).toBe(200);
      expect((await as(second)).status).toBe(401);
    });

    test('two at once make one organization', async () => {
      await using place = await newPlace(database);
      const keys = [newKeyPair(), newKeyPair()] as const;
      const outcomes = await Promise.all(
        keys.map((key) => runCli(place.env, 'init', '--organization', 'x', '--public-key', key.publicKey)),
      );
      const won = outcomes.findIndex((outcome) => outcome.code === 0);
      expect(won).not.toBe(-1);
      expectRefusal(outcomes[1 - won] as (typeof outcomes)[0], /already holds an organization|in use by another/);
      const { organizationId } = JSON.parse(outcomes[won]?.stdout as string);
      await using server = await place.start();
      const { status } = await new TestClient(server.baseUrl, organizationId, keys[won] as never).query('whoami');
      expect(status).toBe(200);
    });

    test('while the service runs it changes nothing', async () => {
      await using place = await newPlace(database);
      await using server = await place.start();
      const { credentials } = server;
      expectRefusal(
        await runCli(place.env, 'init', '--organization', 'x', '--public-key', newKeyPair().publicKey),
        database === 'sqlite' ? /in use by another Custos process/ : /already holds an organization/,
      );
      await expectWhoami(server.baseUrl, credentials);
      expect(server.credentials).toEqual(credentials);
    });
  });

  onlyOnce('a taken port is refused in one line, for the metrics port too', async () => {
    await using place = await newPlace(database);
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    try {
      const port = String((taken.address() as { port: number }).port);
      expectRefusal(await runService({ ...place.env, CUSTOS_PORT: port }), new RegExp(`${port}.*CUSTOS_PORT`));
      expectRefusal(
        await runService({ ...place.env, CUSTOS_METRICS_PORT: port }),
        new RegExp(`${port}.*CUSTOS_METRICS_PORT`),
      );
    } finally {
      taken.close();
    }
    // Nothing was created for anyone: the first start is still to come.
    expect(place.names()).not.toContain('root-credentials.json');
    await startOnce(place);
  });
});

describe('the root key file', () => {
  test('another one, a damaged one, an empty one, and one that others may read are refused', async () => {
    await using place = await newPlace('sqlite');
    await using other = await newPlace('sqlite');
    const credentials = await startOnce(place);
    await startOnce(other);
    const key = place.file('root.key');
    const right = readFileSync(key);

    copyFileSync(other.file('root.key'), key);
    expectRefusal(await runService(place.env), /root key/);
    const damaged = Buffer.from(right);
    damaged[damaged.length - 1] = (damaged.at(-1) as number) ^ 1;
    writeFileSync(key, damaged);
    expectRefusal(await runService(place.env), /root key/);
    writeFileSync(key, '');
    expectRefusal(await runService(place.env), /root key/);
    writeFileSync(key, right);
    for (const mode of [0o640, 0o604]) {
      chmodSync(key, mode);
      expectRefusal(await runService(place.env), /mode 06/);
      expect(modeOf(key)).toBe(mode);
    }
    chmodSync(key, 0o600);
    rmSync(key);
    mkdirSync(key, { mode: 0o700 });
    expectRefusal(await runService(place.env), /root key/);
    rmSync(key, { recursive: true });
    writeFileSync(key, right, { mode: 0o600 });
    await expectWorks(place, credentials);
  });
});

describe('the arguments of custos init', () => {
  test('a bad public key is refused before anything is made', async () => {
    await using place = await newPlace('sqlite');
    const good = newKeyPair().publicKey;
    for (const bad of ['', good.slice(2), `02${'f'.repeat(64)}`]) {
      expectRefusal(await runCli(place.env, 'init', '--organization', 'x', `--public-key=${bad}`), /public key/i);
    }
    expect(place.names()).toEqual([]);
    await startOnce(place);
  });

  test('an empty name is refused before anything is made', async () => {
    await using place = await newPlace('sqlite');
    expectRefusal(
      await runCli(place.env, 'init', '--organization', '', '--public-key', newKeyPair().publicKey),
      /organization/i,
    );
    expect(place.names()).toEqual([]);
  });

  test('a bad setting is refused', async () => {
    await using place = await newPlace('sqlite');
    const args = ['init', '--organization', 'x', '--public-key', newKeyPair().publicKey];
    expectRefusal(await runCli({ ...place.env, CUSTOS_DATA_DIRECTORY: 'x' }, ...args), /CUSTOS_DATA_DIRECTORY/);
    expectRefusal(await runCli({ ...place.env, CUSTOS_PORT: 'x' }, ...args), /CUSTOS_PORT/);
    expect(place.names()).toEqual([]);
  });
});

describe('the data directory', () => {
  test('two starts at once on SQLite: one listens, the other is refused', async () => {
    for (let round = 0; round < 2; round += 1) {
      await using place = await newPlace('sqlite');
      await using first = new RawService(place.env);
      await using second = new RawService(place.env);
      const addresses = await Promise.all([first.listening(), second.listening()]);
      expect(addresses.filter((address) => address !== undefined)).toHaveLength(1);
      const [winner, loser] = addresses[0] === undefined ? [second, first] : [first, second];
      const { code } = await loser.exited;
      expectRefusal(
        { code, signal: null, stdout: loser.stdout, stderr: loser.stderr },
        /in use by another Custos process/,
      );
      const baseUrl = (addresses[0] ?? addresses[1]) as string;
      await expectWhoami(baseUrl, readCredentials(place.file('root-credentials.json')));
      expectRefusal(await runService(place.env), /in use by another Custos process/);
      winner.child.kill('SIGTERM');
      expect((await winner.exited).code).toBe(0);
      await expectWorks(place, readCredentials(place.file('root-credentials.json')));
    }
  });

  test('a file in its place, and a path below a file, are refused', async () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'file');
    writeFileSync(file, 'mine');
    for (const path of [file, join(file, 'below'), join(file, 'far', 'below')]) {
      expectRefusal(await runService({ CUSTOS_DATA_DIR: path, CUSTOS_PORT: '0' }), /data directory/);
    }
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(readdirSync(folder.path)).toEqual(['file']);
  });

  // Permissions do not bind root.
  if (!isRoot) {
    test('one that may not be written is refused', async () => {
      using folder = temporaryFolder();
      for (const mode of [0o500, 0o300, 0o000]) {
        chmodSync(folder.path, mode);
        const outcome = await runService({ CUSTOS_DATA_DIR: folder.path, CUSTOS_PORT: '0' });
        chmodSync(folder.path, 0o700);
        expectRefusal(outcome, /data directory/);
      }
      expect(readdirSync(folder.path)).toEqual([]);
    });
  }

  test('a missing one is made, with its parents, for its owner alone', async () => {
    using folder = temporaryFolder();
    const dataDir = join(folder.path, 'some', 'where');
    await using server = await TestServer.start({ dataDir, env: {} });
    await expectWhoami(server.baseUrl, server.credentials);
    expect(modeOf(dataDir)).toBe(0o700);
  });

  test('a database file that is damaged, or none, is refused in one line and left as it is', async () => {
    await using place = await newPlace('sqlite');
    const credentials = await startOnce(place);
    const file = place.file('custos.db');
    const whole = readFileSync(file);
    const damages: Record<string, () => void> = {
      'no database at all': () =>
        writeFileSync(file, 'this is not a database, it is a text that is long enough\n'.repeat(40)),
      'a damaged header': () => writeFileSync(file, Buffer.concat([Buffer.alloc(100, 0xff), whole.subarray(100)])),
      'cut in half': () => writeFileSync(file, whole.subarray(0, Math.floor(whole.length / 8192) * 4096)),
      'damaged pages': () =>
        writeFileSync(file, Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096, 0xff)])),
      'a damaged list of tables': () => {
        const bytes = Buffer.from(whole);
        bytes.fill(0xff, 100, 4096);
        writeFileSync(file, bytes);
      },
      'a folder': () => {
        rmSync(file);
        mkdirSync(file);
      },
    };
    for (const [name, damage] of Object.entries(damages)) {
      damage();
      const before = statSync(file).isFile() ? readFileSync(file) : undefined;
      const outcome = await runService(place.env);
      expect([name, outcome.stderr.trimEnd().split('\n')]).toEqual([
        name,
        [expect.stringMatching(/^custos: .*database/)],
      ]);
      expectRefusal(outcome, /database/);
      if (before !== undefined) expect(readFileSync(file).equals(before), name).toBe(true);
      for (const leftover of ['custos.db-wal', 'custos.db-shm']) rmSync(place.file(leftover), { force: true });
      rmSync(file, { recursive: true });
      writeFileSync(file, whole);
    }
    await expectWorks(place, credentials);
  });

  test('the database of another program is refused in one line and keeps its tables', async () => {
    await using place = await newPlace('sqlite');
    const db = new SqliteFile(place.file('custos.db'));
    db.exec('CREATE TABLE organization (x integer); CREATE TABLE deployment (y integer)');
    db.close();
    expectRefusal(await runService(place.env), /database/);
    await using tables = await openTables(place.path, undefined);
    const [rows] = await tables.read("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    expect(rows).toEqual([{ name: 'deployment' }, { name: 'organization' }]);
    expect(place.names()).not.toContain('root.key');
  });

  test('a database file that another program holds is refused in one line', async () => {
    await using place = await newPlace('sqlite');
    const credentials = await startOnce(place);
    const other = new SqliteFile(place.file('custos.db'));
    try {
      other.exec('BEGIN EXCLUSIVE');
      expectRefusal(await runService(place.env), /database/);
    } finally {
      other.close();
    }
    await expectWorks(place, credentials);
  });

  test('the credentials of another database are kept under another name', async () => {
    await using place = await newPlace('sqlite');
    const sqlite = await startOnce(place);
    await using postgres = await createPostgresDatabase();
    const kept = `root-credentials-${sqlite.organizationId}.json`;
    {
      await using server = await place.start({ CUSTOS_DATABASE_URL: postgres.url });
      expect(server.credentials.organizationId).not.toBe(sqlite.organizationId);
      await expectWhoami(server.baseUrl, server.credentials);
      expect(readCredentials(place.file(kept))).toEqual(sqlite);
      expect(modeOf(place.file(kept))).toBe(0o600);
      expect(await server.stop()).toBe(0);
    }
    const second = readCredentials(place.file('root-credentials.json'));
    const names = place.names();
    {
      // Back again: nothing is created and nothing moves.
      await using server = await place.start();
      await expectWhoami(server.baseUrl, sqlite);
      expect(await server.stop()).toBe(0);
    }
    expect(place.names()).toEqual(names);
    expect(readCredentials(place.file('root-credentials.json'))).toEqual(second);
    expect(names.filter((name) => name.startsWith('root-credentials'))).toEqual([kept, 'root-credentials.json']);
  });

  test('a credentials file that cannot be understood is kept too', async () => {
    await using place = await newPlace('sqlite');
    writeFileSync(place.file('root-credentials.json'), 'not JSON');
    await startOnce(place);
    const kept = place.names().filter((name) => /^root-credentials-before-[0-9]+\.json$/.test(name));
    expect(kept).toHaveLength(1);
    expect(readFileSync(place.file(kept[0] as string), 'utf8')).toBe('not JSON');
  });
});

describe('PostgreSQL at start', () => {
  test('away, a wrong password, an unknown database or user, no PostgreSQL at all: one line without the password', async () => {
    await using place = await newPlace('postgres');
    const right = new URL(place.url as string);
    const with_ = (change: (url: URL) => void): string => {
      const url = new URL(right);
      change(url);
      return url.toString();
    };
    const listen = async (server: Server): Promise<number> => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as { port: number }).port;
    };
    const silent = createServer(() => {});
    const foreign = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const closing = createServer((socket) => socket.destroy());
    const ports = await Promise.all([freePort(), listen(silent), listen(foreign), listen(closing)]);
    const cases: Record<string, string> = {
      'the password is wrong': with_((url) => {
        url.password = 'not-the-password';
      }),
      'the user is unknown': with_((url) => {
        url.username = 'nobody-at-all';
      }),
      'the database is unknown': with_((url) => {
        url.pathname = '/not_there';
      }),
      'the host is unknown': with_((url) => {
        url.hostname = 'not-there.invalid';
      }),
      'nobody listens': with_((url) => {
        url.port = String(ports[0]);
      }),
      'nobody answers': with_((url) => {
        url.port = String(ports[1]);
      }),
      'somebody else answers': with_((url) => {
        url.port = String(ports[2]);
      }),
      'somebody hangs up': with_((url) => {
        url.port = String(ports[3]);
      }),
    };
    try {
      const refuse = async ([name, url]: [string, string]): Promise<void> => {
        const outcome = await runService({ ...place.env, CUSTOS_DATABASE_URL: url, CUSTOS_DATABASE_WAIT_SECONDS: '0' });
        expect([name, outcome.stderr.trimEnd().split('\n').length]).toEqual([name, 1]);
        expectRefusal(outcome, /PostgreSQL/);
        for (const password of [right.password, 'not-the-password']) expect(outcome.stderr).not.toContain(password);
      };
      // They leave nothing behind, so that none has to wait for another one's time-out.
      const queue = Object.entries(cases).values();
      await Promise.all([0, 1, 2].map(() => drain(queue, refuse)));
    } finally {
      for (const server of [silent, foreign, closing]) server.close();
    }
    expect(place.names()).toEqual([]);
    await startOnce(place);
  }, 120_000);

  test('several workers: one line, not one per worker', async () => {
    await using place = await newPlace('postgres');
    const away = new URL(place.url as string);
    away.port = String(await freePort());
    const env = { ...place.env, CUSTOS_WORKERS: '3', CUSTOS_PORT: String(await freePort()) };
    const refused = await runService({
      ...env,
      CUSTOS_DATABASE_URL: away.toString(),
      CUSTOS_DATABASE_WAIT_SECONDS: '0',
    });
    expectRefusal(refused, /PostgreSQL/);
    await startOnce(place);
  });

  test('two services at once on an empty database, one data directory: one organization, both serve', async () => {
    for (let round = 0; round < 2; round += 1) {
      await using place = await newPlace('postgres');
      await using first = new RawService(place.env);
      await using second = new RawService(place.env);
      const addresses = await Promise.all([first.listening(), second.listening()]);
      const credentials = readCredentials(place.file('root-credentials.json'));
      for (const address of addresses) await expectWhoami(address as string, credentials);
      expect([first, second].filter((service) => service.stdout.includes('credentials'))).toHaveLength(1);
      expect(`${first.stderr}${second.stderr}`).toBe('');
      await using tables = await openTables(place.path, place.url);
      const [organizations, users] = await tables.read('SELECT id FROM organization', 'SELECT id FROM app_user');
      expect(organizations).toEqual([{ id: credentials.organizationId }]);
      expect(users).toEqual([{ id: credentials.userId }]);
      expect(place.names()).toEqual(['address', 'root-credentials.json', 'root.key']);
    }
  });

  test('two services at once on an empty database, two data directories: the second stops with one line', async () => {
    for (let round = 0; round < 2; round += 1) {
      await using place = await newPlace('postgres');
      using elsewhere = temporaryFolder();
      await using first = new RawService(place.env);
      await using second = new RawService({ ...place.env, CUSTOS_DATA_DIR: elsewhere.path });
      const addresses = await Promise.all([first.listening(), second.listening()]);
      expect(addresses.filter((address) => address !== undefined)).toHaveLength(1);
      const [loser, folder] = addresses[0] === undefined ? [first, elsewhere.path] : [second, place.path];
      const { code } = await loser.exited;
      expectRefusal({ code, signal: null, stdout: loser.stdout, stderr: loser.stderr }, /root key/);
      const credentials = readCredentials(join(folder, 'root-credentials.json'));
      await expectWhoami((addresses[0] ?? addresses[1]) as string, credentials);
      await using tables = await openTables(place.path, place.url);
      const [organizations] = await tables.read('SELECT id FROM organization');
      expect(organizations).toEqual([{ id: credentials.organizationId }]);
    }
  });
});

describe('settings', () => {
  /** For every setting, values that cannot be used; a folder or a host may be any text. */
  const BAD: Record<keyof typeof SETTINGS, readonly string[]> = {
    balanceCatchUpBlocks: ['0', '1000001', 'x'],
    webhookRetentionDays: ['3', '3651', '7.5', 'week'],
    dataDir: [],
    host: [],
    port: ['http', '-1', '65536', '80.5', ' 80', '0x50', '1e3'],
    baseUrl: ['custos.example', 'ftp://custos.example', 'http://custos.example/?a=1', 'http://custos.example/#a'],
    databaseUrl: ['mysql://localhost/x', 'localhost:5432', 'postgres:/x', 'sqlite://x'],
    databasePool: ['0', '1', '1001', 'many'],
    databaseTimeoutSeconds: ['0', '601', '0.5', 'soon'],
    databaseWaitSeconds: ['-1', '86401', 'forever'],
    workers: ['0', '-1', '257', 'all'],
    rootKey: ['0123456789abcdef', 'file:', 'env:KEY', 'passphrase:secret'],
    keyring: ['hsm', 'INLINE', 'true'],
    metricsPort: ['x', '-1', '65536'],
    logLevel: ['verbose', 'INFO'],
    vendorNames: ['yes', 'ON'],
    listMax: ['0', '-5', '1000001'],
    admitRequests: ['0', '-1', 'all'],
    admitWaitMs: ['0', '60001', 'soon'],
    admitConnections: ['0', '1e3'],
    admitBodyMib: ['0', '64M'],
    failedAuthPerMinute: ['-1', 'none'],
    limitUsers: ['0', 'x'],
    limitTags: ['0', 'x'],
    invitationHours: ['0', '8761', '1.5', 'week'],
    limitInvitations: ['0', 'x'],
    limitApiKeys: ['0', 'x'],
    limitAuthenticators: ['0', 'x'],
    limitMfaPolicies: ['0', 'x'],
    limitWebhookEndpoints: ['0', 'x'],
    limitEarnWrappers: ['0', 'x'],
    limitDeployments: ['0', 'x'],
    mailTemplates: [],
    limitPolicies: ['0', '-1', 'none'],
    outboundAllow: ['localhost', '127.0.0.0/33', '10.0.0.1,'],
    appDomain: ['https://apps.example', 'apps example', '.example', 'a..example', '-a.example', 'Apps.example', 'a_b'],
    proxyPort: ['x', '-1', '65536'],
    proxyCodesPerMinute: ['-1', 'none'],
    proxyRequestsPerMinute: ['-1', 'none'],
    smtpUrl: ['mail.example', 'http://mail.example', 'smtp:'],
    mailFrom: ['nobody', 'A <b>', 'a@b.example\nBcc: c@d.example', '"x" <a@b.example>'],
    mailSenderDomains: ['example', 'a b.example', 'https://b.example', 'b.example,'],
    smsUrl: ['sms.example', 'ftp://sms.example', 'https://sms.example/#a'],
    smsUser: [],
    smsPassword: [],
    smsFrom: [],
    devInbox: ['yes', 'ON', 'true'],
    otpLength: ['5', '10', 'x'],
    otpSeconds: ['29', '601', 'x'],
    otpSecondsMax: ['29', '86401', 'x'],
    otpAttempts: ['0', '11', 'x'],
    otpActive: ['0', '101'],
    otpRequests: ['-1', 'x'],
    otpWindowSeconds: ['0', '86401'],
    otpOrganizationRequests: ['-1', 'x'],
    otpFailuresPerDay: ['-1', 'x'],
    verificationSeconds: ['59', '86401'],
    verificationSecondsMax: ['59', '2592001'],
    oauth2XTokenUrl: ['x.example', 'ftp://x.example'],
    oauth2XUserUrl: ['x.example', 'ftp://x.example'],
    oauth2DiscordTokenUrl: ['x.example', 'ftp://x.example'],
    oauth2DiscordUserUrl: ['x.example', 'ftp://x.example'],
    moonpayUrl: ['x.example', 'ftp://x.example', 'https://x.example/?a=1'],
    moonpaySandboxUrl: ['x.example', 'https://user@x.example'],
    moonpayApiUrl: ['x.example', 'https://x.example/a b', 'https://x.example/a//b'],
    coinbasePayUrl: ['x.example', 'https://x.example/#a'],
    coinbaseSandboxUrl: ['x.example', 'https://:password@x.example'],
    coinbaseApiUrl: ['x.example', 'https://x!.example', 'https://x.example/%20'],
    captchaSiteKey: [],
    captchaSecret: [],
    captchaUrl: ['x.example', 'ftp://x.example'],
    limitOauthProviders: ['0', 'x'],
    trustedProxies: ['10.0.0.1,', '10.0.0.1,here', 'localhost', '10.0.0.0/33', '::1/129'],
    chains: [
      'missing.json',
      '{',
      '[]',
      '{"eip155:x":{"rpcUrls":["http://node.example"]}}',
      '{"eip155:1":{}}',
      '{"eip155:1":{"rpcUrls":["ws://node.example"]}}',
      '{"eip155:1":{"rpcUrls":["http://node.example"],"confirmation":2}}',
      '{"eip155:1":{"rpcUrls":["http://node.example"],"sponsoredPerDay":"much"}}',
    ],
  };

  /** What the start would say; how it says so is the same for all, and shown below. */
  const refusalOf = (env: Readonly<Record<string, string>>): unknown => {
    try {
      readConfig(env);
      return 'accepted';
    } catch (error) {
      return error instanceof SettingError ? error.message : error;
    }
  };

  test('an empty value is the default, never something wider', () => {
    for (const { name } of Object.values(SETTINGS))
      expect([name, readConfig({ [name]: '' })]).toEqual([name, readConfig({})]);
  });

  test.each(Object.entries(BAD).filter(([, values]) => values.length > 0))(
    'a bad value is refused: %s',
    (key, values) => {
      const { name } = SETTINGS[key as keyof typeof SETTINGS];
      const refusals = values.map((value) => refusalOf({ [name]: value }));
      expect(refusals).toEqual(values.map(() => expect.stringMatching(new RegExp(`^${name} [^\n]+$`))));
    },
  );

  test('a bad value stops the start before anything is made', async () => {
    for (const key of ['port', 'rootKey'] as const) {
      const { name } = SETTINGS[key];
      using folder = temporaryFolder();
      const env = { CUSTOS_DATA_DIR: join(folder.path, 'data'), CUSTOS_PORT: '0', [name]: BAD[key][0] as string };
      expectRefusal(await runService(env, folder.path), new RegExp(name));
      expect(readdirSync(folder.path)).toEqual([]);
    }
  });

  test('a host that cannot be listened on stops the start', async () => {
    await using place = await newPlace('sqlite');
    for (const host of ['not a host', '203.0.113.77']) {
      expectRefusal(await runService({ ...place.env, CUSTOS_HOST: host }), /cannot listen on/);
    }
    await startOnce(place);
  });

  test.each([
    ['CUSTOS_PROT', /CUSTOS_PROT is not a setting/],
    ['CUSTOS_DATABASE', /CUSTOS_DATABASE is not a setting.*CUSTOS_DATABASE_URL/],
    ['CUSTOS_', /CUSTOS_ is not a setting/],
    ['CUSTOS_port', /CUSTOS_port is not a setting/],
  ])('an unknown name is refused: %s', (name, reason) => {
    expect(refusalOf({ [name]: '8080' })).toMatch(reason);
  });

  test('an unknown name stops the start before anything is made', async () => {
    using folder = temporaryFolder();
    const data = join(folder.path, 'data');
    const env = { CUSTOS_DATA_DIR: data, CUSTOS_PORT: '0', CUSTOS_DATABASE: '8080' };
    expectRefusal(await runService(env), /CUSTOS_DATABASE is not a setting.*CUSTOS_DATABASE_URL/);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('more than one worker needs PostgreSQL and a fixed port', async () => {
    await using place = await newPlace('postgres');
    const { CUSTOS_DATABASE_URL: _url, ...embedded } = place.env;
    const port = String(await freePort());
    expectRefusal(
      await runService({ ...embedded, CUSTOS_PORT: port, CUSTOS_WORKERS: '2' }),
      /CUSTOS_WORKERS.*CUSTOS_DATABASE_URL/,
    );
    expectRefusal(await runService({ ...place.env, CUSTOS_WORKERS: '2' }), /CUSTOS_WORKERS.*CUSTOS_PORT/);
    expect(place.names()).toEqual([]);
  });

  test('a value is never printed: it may be a secret in the wrong place', async () => {
    using folder = temporaryFolder();
    const secret = 'hunter2hunter2hunter2';
    for (const name of ['CUSTOS_ROOT_KEY', 'CUSTOS_DATABASE_URL', 'CUSTOS_SMTP_PASS', 'CUSTOS_CHAINS']) {
      const refusal = refusalOf({ [name]: secret });
      expect(refusal).toContain(name);
      expect(refusal).not.toContain(secret);
    }
    const outcome = await runService({ CUSTOS_DATA_DIR: folder.path, CUSTOS_PORT: '0', CUSTOS_ROOT_KEY: secret });
    expectRefusal(outcome, /CUSTOS_ROOT_KEY/);
    expect(outcome.stderr).not.toContain(secret);
  });
});
