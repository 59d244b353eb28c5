import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { SqliteFile } from '../../../src/storage/sqlite-driver.ts';
import { newKeyPair, TestClient } from '../../harness/client.ts';
import { DATABASES } from '../../harness/databases.ts';
import { expectRefusal, onPostgres, openTables, runCli, runService } from '../support.ts';
import { expectWhoami, expectWorks, modeOf, newPlace, startOnce } from './support.ts';

/** Where the database is embedded, each start prints a link to the console. */
const linkOf = (baseUrl: string): unknown =>
  expect.stringMatching(
    new RegExp(`^  console       http://localhost:${new URL(baseUrl).port}/console#link=[\\w-]{43}$`),
  );

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
    const local = [linkOf(baseUrl), `  mail and SMS  are not sent but kept at ${baseUrl}/dev/inbox`];
    const kept =
      database === 'sqlite'
        ? 'the database, the root key and the root credentials'
        : 'the root key and the root credentials';
    expect(output.stdout.trimEnd().split('\n').slice(4)).toEqual([
      ...(database === 'sqlite' ? local : []),
      '  protection    keys are held by the HTTP process itself, which is for tests',
      `  together      ${place.path} holds ${kept}`,
      '  before use    move root.key to a folder that is backed up apart from the database, and set CUSTOS_ROOT_KEY=file:PATH',
      `  before use    move ${place.file('root-credentials.json')} to your own machine; the service does not need it`,
    ]);
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
    // A slow machine is told what it waits for.
    expect(output.stderr.replaceAll(/^.*for the migration of the database.*\n/gm, '')).toBe('');
  });

  test('the second start says where the credentials are and creates nothing', async () => {
    await using place = await newPlace(database);
    const credentials = await startOnce(place);
    const before = place.names().map((name) => [name, statSync(place.file(name)).ino]);
    const keys = ['root.key', 'root-credentials.json'].map((name) => readFileSync(place.file(name)));
    {
      await using server = await place.start();
      const file = place.file('root-credentials.json');
      expect(
        server.output.stdout
          .split(/\n {2}(?:mail and SMS|protection)/)[0]
          ?.trimEnd()
          .split('\n'),
      ).toEqual([
        `Custos is listening on ${server.baseUrl}`,
        `  credentials   ${file}`,
        `  try next      npx custos whoami --credentials ${file}`,
        ...(database === 'sqlite' ? [linkOf(server.baseUrl)] : []),
      ]);
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
    // The feed's counter and its eras are the embedded database's alone (docs/decisions/0045).
    const counted = database === 'sqlite' ? ['change_number', 'feed_eras'] : [];
    const names = [
      'bootstrap',
      'deployment_key',
      'feed_key',
      'integrity',
      'root_key_id',
      'root_key_times',
      ...counted,
    ].sort();
    expect(facts).toEqual(names.map((name) => ({ name })));
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
      const together = `${place.path} holds the database and the root key`;
      expect(done).toMatchObject({
        code: 0,
        stderr:
          database === 'sqlite'
            ? `together    ${together}\nbefore use  move root.key to a folder that is backed up apart from the database, and set CUSTOS_ROOT_KEY=file:PATH\n`
            : '',
      });
      const created = JSON.parse(done.stdout);
      expect(Object.keys(created)).toEqual(['organizationId', 'userId', 'authProxyConfigId']);
      await using server = await place.start();
      expect(server.output.stdout.split(/\n {2}(?:mail and SMS|protection)/)[0]?.trimEnd()).toBe(
        `Custos is listening on ${server.baseUrl}`,
      );
      expect(server.output.stdout.includes(`  together      ${together}\n`)).toBe(database === 'sqlite');
      expect(server.output.stdout).not.toContain('before use');
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
