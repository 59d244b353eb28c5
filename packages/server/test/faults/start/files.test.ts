import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SqliteFile } from '../../../src/storage/sqlite-driver.ts';
import { newKeyPair } from '../../harness/client.ts';
import { createPostgresDatabase } from '../../harness/databases.ts';
import { TestServer } from '../../harness/server.ts';
import { expectRefusal, openTables, RawService, runCli, runService, temporaryFolder } from '../support.ts';
import { expectWhoami, expectWorks, modeOf, newPlace, readCredentials, startOnce, whyNoStart } from './support.ts';

const isRoot = process.getuid?.() === 0;

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
    expect(await whyNoStart(place.env)).toMatch(/root key/);
    writeFileSync(key, '');
    expect(await whyNoStart(place.env)).toMatch(/root key/);
    writeFileSync(key, right);
    for (const mode of [0o640, 0o604]) {
      chmodSync(key, mode);
      expect(await whyNoStart(place.env)).toMatch(/mode 06/);
      expect(modeOf(key)).toBe(mode);
    }
    chmodSync(key, 0o600);
    rmSync(key);
    mkdirSync(key, { mode: 0o700 });
    expect(await whyNoStart(place.env)).toMatch(/root key/);
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
    expectRefusal(await runService({ CUSTOS_DATA_DIR: file, CUSTOS_PORT: '0' }), /data directory/);
    for (const path of [join(file, 'below'), join(file, 'far', 'below')]) {
      expect(await whyNoStart({ CUSTOS_DATA_DIR: path, CUSTOS_PORT: '0' })).toMatch(/data directory/);
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
      if (name === 'damaged pages') expectRefusal(await runService(place.env), /database/);
      else expect([name, await whyNoStart(place.env)]).toEqual([name, expect.stringMatching(/database/)]);
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
    // The key ring of one database refuses another one.
    const otherKey = `file:${place.file('other.key')}`;
    const kept = `root-credentials-${sqlite.organizationId}.json`;
    {
      await using server = await place.start({ CUSTOS_DATABASE_URL: postgres.url, CUSTOS_ROOT_KEY: otherKey });
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
