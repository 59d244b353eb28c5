import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createKeyring } from '@custos/keyring';
import { describe, expect, test } from 'vitest';
import { newWallet, SealedWorld, writeDatabase } from '../faults/sealed-world.ts';
import {
  ageRingLock,
  openTables,
  type Row,
  runCli,
  runService,
  temporaryFolder,
  waitUntil,
} from '../faults/support.ts';
import { verifyMarks } from '../fixtures/integrity.ts';
import { createUser, newKeyPair, type TestClient } from '../harness/client.ts';
import { DATABASES, databasesOf } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { TestServer } from '../harness/server.ts';
import { configOf } from '../restore/support.ts';

// The integrity key is replaced while services run and write.

const CLI = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));
const SECONDS = 180_000;
const isLong = times(1) > 1;
const ID = '[0-9a-f]{32}';

const rotate = (server: TestServer, ...args: string[]) =>
  runCli(server.environment, 'integrity', 'rotate-key', '--yes', ...args);

async function read(server: TestServer, statement: string): Promise<Row[]> {
  await using tables = await openTables(server.dataDir, server.databaseUrl);
  const [rows = []] = await tables.read(statement);
  return rows;
}

const write = (server: TestServer, statement: string, values: readonly unknown[] = []) =>
  writeDatabase({ dataDir: server.dataDir, databaseUrl: server.databaseUrl }, statement, values);

const fact = async (server: TestServer, name: string): Promise<string | undefined> =>
  (await read(server, `SELECT value FROM deployment WHERE name = '${name}'`))[0]?.value;

const keysOf = async (server: TestServer): Promise<[generation: number, keyId: string][]> =>
  (await read(server, 'SELECT generation, key_id FROM integrity_key ORDER BY generation')).map((row) => [
    Number(row.generation),
    row.key_id,
  ]);

async function requiredBy(path: string): Promise<string[]> {
  await using keyring = await createKeyring({ rootKey: `file:${path}`, mode: 'inline' });
  return await keyring.integrityRequired();
}

const ringOf = ({ dataDir }: TestServer): string => join(dataDir, 'root.key');

/** What `custos verify` says, which is a process of its own. */
async function expectVerified(server: TestServer): Promise<void> {
  const { code, stdout } = await runCli(server.environment, 'verify', '--json');
  const lines = stdout.trimEnd().split('\n');
  expect([code, lines.map((line) => JSON.parse(line))]).toEqual([
    0,
    [expect.objectContaining({ bad: 0, unmarked: 0 })],
  ]);
}

async function expectClean({ environment }: TestServer): Promise<void> {
  const violations: unknown[] = [];
  const checked = await verifyMarks(configOf(environment), (violation) => violations.push(violation));
  expect([violations, checked]).toEqual([[], expect.objectContaining({ bad: 0, unmarked: 0 })]);
}

/** Marks that are not of this generation, by their tables. */
async function otherMarks(server: TestServer, generation: number): Promise<string[]> {
  const found: string[] = [];
  for (const table of ['app_user', 'api_key', 'user_tag', 'organization', 'policy', 'wallet', 'activity', 'vote']) {
    const rows = await read(server, `SELECT 1 FROM ${table} WHERE ${table}_mac NOT LIKE '${generation}.%'`);
    if (rows.length > 0) found.push(table);
  }
  return found;
}

/** Whoever writes while the key is replaced. What is neither done nor refused for a moment is a surprise. */
class Writers {
  readonly surprises: string[] = [];
  done = 0;
  readonly #name: string;
  #isOver = false;
  readonly #writing: Promise<void>[];

  constructor(client: TestClient, count = 3, name = 'writer') {
    this.#name = name;
    this.#writing = Array.from({ length: count }, (_, worker) => this.#write(client, worker));
  }

  async #write(client: TestClient, worker: number): Promise<void> {
    const submit = async (operation: string, parameters: object) => {
      const { status, body } = await client.submit(operation, parameters);
      if (status === 200) this.done += 1;
      else if (status !== 503) this.surprises.push(`${operation} ${status} ${JSON.stringify(body)}`);
      return status === 200 ? body.activity.result : undefined;
    };
    for (let turn = 0; !this.#isOver; turn += 1) {
      const name = `${this.#name} ${worker}-${turn}`;
      const apiKeys = [{ apiKeyName: name, publicKey: newKeyPair().publicKey, curveType: 'API_KEY_CURVE_P256' }];
      const users = [{ userName: name, apiKeys, authenticators: [], oauthProviders: [], userTags: [] }];
      const made = await submit('create_users', { users });
      const userId = made?.createUsersResult?.userIds?.[0];
      if (userId !== undefined) {
        const key = { ...apiKeys[0], apiKeyName: `${name} again`, publicKey: newKeyPair().publicKey };
        const added = await submit('create_api_keys', { userId, apiKeys: [key] });
        const [apiKeyId] = added?.createApiKeysResult?.apiKeyIds ?? [];
        if (apiKeyId !== undefined && turn % 2 === 0)
          await submit('delete_api_keys', { userId, apiKeyIds: [apiKeyId] });
      }
      const policy = await submit('create_policy', {
        policyName: name,
        effect: 'EFFECT_DENY',
        consensus: 'false',
        condition: 'false',
        notes: '',
      });
      const { policyId } = policy?.createPolicyResult ?? {};
      if (policyId !== undefined && turn % 2 === 1) await submit('delete_policy', { policyId });
      await submit('create_wallet', newWallet(name));
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#writing);
  }
}

describe.each(DATABASES)('another integrity key on %s', { timeout: SECONDS }, (database) => {
  test('takes the place of the one in use while services write, and that one is refused', async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    await createUser(world.root, 'another user');
    const before = `${ringOf(server)}.before`;
    copyFileSync(ringOf(server), before);
    const [[, first = ''] = []] = await keysOf(server);
    const [wallet] = await read(server, `SELECT id, wallet_mac FROM wallet WHERE id = '${world.walletId}'`);
    const [oldKey] = await read(server, 'SELECT * FROM integrity_key');

    const writers = new Writers(world.root);
    await waitUntil('something was written', () => writers.done > 5);
    const outcome = await rotate(server);
    const during = writers.done;
    await waitUntil('writers go on', () => writers.done > during + 5);
    await writers.end();
    expect(writers.surprises).toEqual([]);
    expect([outcome.code, outcome.stdout]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(`^[0-9]+ rows marked; rows are under integrity key ${ID}, and no other counts\\n$`),
      ),
    ]);
    const keys = await keysOf(server);
    expect(keys).toEqual([[2, expect.not.stringMatching(first)]]);
    const second = keys[0]?.[1] ?? '';
    expect(await requiredBy(ringOf(server))).toEqual([first, second]);
    expect(await fact(server, 'integrity_rotation')).toBeUndefined();
    expect(await otherMarks(server, 2)).toEqual([]);
    await expectClean(server);
    await world.expectWorking();
    const status = await runCli(server.environment, 'status');
    expect(status.stdout).toMatch(
      new RegExp(
        `\\nintegrity {3}stored rows must be authenticated \\(integrity key ${second}; 1 earlier, refused\\)\\n`,
      ),
    );

    // A genuine row of before, as everything is that the thief of the earlier key can make.
    const putBack = (): Promise<void> =>
      write(server, 'UPDATE wallet SET wallet_mac = ? WHERE id = ?', [wallet?.wallet_mac, world.walletId]);
    const [mended] = await read(server, `SELECT wallet_mac FROM wallet WHERE id = '${world.walletId}'`);
    await putBack();
    expect((await world.root.query('get_wallet', { walletId: world.walletId })).body.errorCode).toBe(
      'INTEGRITY_VIOLATION',
    );

    // The earlier key is put back too, and a start does not load it.
    expect(await server.stop()).toBe(0);
    const columns = Object.keys(oldKey ?? {});
    await write(
      server,
      `INSERT INTO integrity_key (${columns}) VALUES (${columns.map(() => '?')})`,
      Object.values(oldKey ?? {}),
    );
    await server.start();
    const again = {
      query: (name: string, body: Record<string, unknown>) => world.at(server.baseUrl).root.query(name, body),
    };
    expect((await again.query('get_wallet', { walletId: world.walletId })).body.errorCode).toBe('INTEGRITY_VIOLATION');
    await write(server, 'UPDATE wallet SET wallet_mac = ? WHERE id = ?', [mended?.wallet_mac, world.walletId]);
    expect((await again.query('get_wallet', { walletId: world.walletId })).status).toBe(200);
    await write(server, 'DELETE FROM integrity_key WHERE generation = 1');

    // Nor does a machine take part that was off.
    expect(await server.stop()).toBe(0);
    copyFileSync(ringOf(server), `${ringOf(server)}.after`);
    copyFileSync(before, ringOf(server));
    const refused = await runService(server.environment);
    expect([refused.code, refused.stderr]).not.toEqual([0, '']);
    expect(refused.stderr).toMatch(new RegExp(`under integrity key ${first}, and the database has ${second}: `));
    copyFileSync(`${ringOf(server)}.after`, ringOf(server));
    await server.start();
  });

  const testHere = databasesOf(import.meta.url).includes(database) ? test : undefined;

  testHere?.('a row that does not verify keeps the earlier key in use until it is mended', async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const [user] = await read(server, "SELECT id, name FROM app_user WHERE name = 'a user'");
    await write(server, "UPDATE app_user SET name = 'thief' WHERE id = ?", [user?.id]);
    const [wallet] = await read(server, `SELECT wallet_mac FROM wallet WHERE id = '${world.walletId}'`);
    await write(server, "UPDATE wallet SET wallet_mac = '1.AAAAAAAAAAAAAAAAAAAAAA' WHERE id = ?", [world.walletId]);
    const outcome = await rotate(server);
    expect(outcome.code).toBe(1);
    expect(outcome.stdout.split('\n').slice(0, 2).sort()).toEqual([
      expect.stringMatching(new RegExp(`^left as it is: app_user ${user?.id} of organization `)),
      expect.stringMatching(new RegExp(`^left as it is: wallet ${world.walletId} of organization `)),
    ]);
    expect(outcome.stdout).toMatch(/2 that do not verify: the earlier key stays in use/);
    expect((await keysOf(server)).map(([generation]) => generation)).toEqual([1, 2]);
    expect(await requiredBy(ringOf(server))).toHaveLength(1);
    await write(server, 'UPDATE app_user SET name = ? WHERE id = ?', [user?.name, user?.id]);
    await write(server, 'UPDATE wallet SET wallet_mac = ? WHERE id = ?', [wallet?.wallet_mac, world.walletId]);
    await world.expectWorking();
    const mended = await rotate(server);
    expect([mended.code, mended.stderr]).toEqual([0, expect.stringContaining('ends an interrupted run')]);
    // Its key is replaced in the same run, since nobody can tell who made it.
    expect(await otherMarks(server, 3)).toEqual([]);
    await expectClean(server);
    await world.expectWorking();
  });

  // On the second database the steps are the same: `npm run test:long`.
  if (database === 'postgres' && !isLong) return;

  test('killed at every step it is run again, and services start in between', async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const [[, first = ''] = []] = await keysOf(server);
    const stage = (name: string, text: string) => async () => (await fact(server, name))?.startsWith(text) === true;
    const steps: Record<string, () => Promise<boolean>> = {
      'a key is stored': async () => (await keysOf(server)).length === 2,
      'processes learn it': stage('integrity_rotation', 'next '),
      'processes mark with it': stage('integrity_rotation', 'marking '),
      'some rows are marked': async () =>
        (await read(server, "SELECT 1 FROM app_user WHERE app_user_mac LIKE '2.%'")).length > 0,
      'the ring requires it': async () => (await requiredBy(ringOf(server))).length === 2,
      'the database requires it': async () =>
        (await fact(server, 'integrity'))?.startsWith(`required ${first}`) === false,
    };
    for (const [name, isReached] of Object.entries(steps)) {
      const child = spawn(process.execPath, [CLI, 'integrity', 'rotate-key', '--yes'], {
        env: server.environment,
        stdio: 'ignore',
      });
      const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
      await waitUntil(name, async () => hasEnded() || (await isReached()), 60_000);
      const gone = hasEnded() ? undefined : once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      ageRingLock(server.dataDir);
      await server.kill();
      await server.start();
      await world.at(server.baseUrl).root.run('create_wallet', newWallet(name));
      await expectClean(server);
    }
    const outcome = await rotate(server);
    expect([outcome.code, outcome.stderr]).toEqual([0, expect.stringMatching(/Back up the key ring now/)]);
    await expectVerified(server);
    const [[, second = ''] = [], ...others] = await keysOf(server);
    expect(others).toEqual([]);
    expect(await requiredBy(ringOf(server))).toContain(second);
    expect(await fact(server, 'integrity')).toMatch(new RegExp(`^required ${second} `));
    expect(await fact(server, 'integrity_rotation')).toBeUndefined();
    await expectClean(server);
  });
});

test('services on other machines follow, and record the key in their own rings', { timeout: SECONDS }, async () => {
  await using server = await TestServer.start({ database: 'postgres' });
  using folder = temporaryFolder();
  copyFileSync(ringOf(server), join(folder.path, 'root.key'));
  const env = { CUSTOS_DATABASE_URL: server.databaseUrl ?? '', CUSTOS_DATABASE_POOL: '8' };
  await using other = await TestServer.start({ dataDir: folder.path, env });
  const world = await SealedWorld.make(server);
  const writers = [new Writers(world.root, 1, 'here'), new Writers(world.at(other.baseUrl).root, 1, 'there')];
  const outcome = await rotate(server);
  expect([outcome.code, outcome.stderr]).toEqual([0, expect.not.stringContaining('does not say so')]);
  for (const each of writers) {
    await each.end();
    expect(each.surprises).toEqual([]);
  }
  expect(await requiredBy(ringOf(other))).toEqual(await requiredBy(ringOf(server)));
  await expectClean(server);
  expect((await world.at(other.baseUrl).root.query('get_wallet', { walletId: world.walletId })).status).toBe(200);
});

test('nothing is changed without a yes, nor before marks are required', { timeout: SECONDS }, async () => {
  await using server = await TestServer.start({ database: 'sqlite' });
  const before = [await keysOf(server), await requiredBy(ringOf(server))];
  const looked = await runCli(server.environment, 'integrity', 'rotate-key', '--dry-run');
  expect([looked.code, looked.stderr]).toEqual([
    0,
    expect.stringMatching(/^This makes a new integrity key, marks every/),
  ]);
  const asked = await runCli(server.environment, 'integrity', 'rotate-key');
  expect([asked.code === 0, asked.stderr]).toEqual([false, expect.stringContaining('run it again with --yes')]);
  expect([await keysOf(server), await requiredBy(ringOf(server))]).toEqual(before);
});
