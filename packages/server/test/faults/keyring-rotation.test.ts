import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createSubOrganization, TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { TestServer } from '../harness/server.ts';
import { expectAllOpen, type KeyState, keyState, newWallet, SealedWorld, writeDatabase } from './sealed-world.ts';
import {
  ageRingLock,
  chanceOf,
  childrenOf,
  chooseSeed,
  expectRefusal,
  isAlive,
  onPostgres,
  openTables,
  runCli,
  temporaryFolder,
  waitUntil,
} from './support.ts';

const CLI = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));
const ID = '[0-9a-f]{32}';
/** What a whole rotation says, the plan first, besides what it says while it waits. */
const STEPS = 4;

const rotate = (server: TestServer, ...args: string[]) =>
  runCli(server.environment, 'keyring', 'rotate', '--yes', ...args);
const verify = (server: TestServer) => runCli(server.environment, 'keyring', 'verify');
const stateOf = (server: TestServer, ringFile?: string) => keyState(server.dataDir, server.databaseUrl, ringFile);

/** Everything is under one root key, which is not one of the old ones, and those are still there. */
function expectMoved(after: KeyState, before: KeyState): void {
  expect(after.ring.slice(0, before.ring.length)).toEqual(before.ring);
  expect(after.active).toBe(after.recorded);
  expect([...after.used]).toEqual([after.recorded]);
  expect(before.ring).not.toContain(after.recorded);
}

/** What the running processes say of themselves. */
async function processesOf(server: TestServer): Promise<string[]> {
  await using tables = await openTables(server.dataDir, server.databaseUrl);
  const [rows = []] = await tables.read("SELECT value FROM deployment WHERE name LIKE 'process:%'");
  return rows.map((row) => row.value as string);
}

async function keyringProcessOf(server: TestServer): Promise<number> {
  const [pid] = childrenOf(server.pid);
  if (pid === undefined) throw new Error('the service has no keyring process');
  return pid;
}

// Rotations mostly wait, so that the databases and what is left take their turns side by side.
describe.concurrent.each(DATABASES)('a rotation of the root key on %s', { timeout: 120_000 }, (database) => {
  /** What has nothing to do with the database. */
  const onlyOnce = (name: string, work: () => Promise<void>): void => {
    if (database === 'sqlite') test.sequential(name, work);
  };
  test.sequential('moves everything while the service is used, and loses nothing', async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const before = await stateOf(server);
    const children: string[] = [];
    const surprises: string[] = [];
    let isDone = false;
    const load = async (worker: number): Promise<void> => {
      for (let turn = 0; !isDone; turn += 1) {
        const child = await createSubOrganization(world.root, `child ${worker}-${turn}`).catch((error: Error) => {
          if (!error.message.startsWith('create_sub_organization: 503 ')) surprises.push(error.message);
          return undefined;
        });
        if (child !== undefined) children.push(child.organizationId);
        for (const client of [world.root, child ?? world.root]) {
          const made = await client.submit('create_wallet', newWallet(`wallet ${worker}-${turn}`));
          if (made.status !== 200 && made.status !== 503) surprises.push(JSON.stringify(made.body));
        }
        const signed = await world.sign(world.address);
        if (signed.status !== 200 && signed.status !== 503) surprises.push(JSON.stringify(signed.body));
      }
    };
    const loads = [0, 1, 2].map(load);
    const outcome = await rotate(server);
    isDone = true;
    await Promise.all(loads);
    expect(surprises).toEqual([]);
    expect(outcome).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        new RegExp(
          `^rotated to root key ${ID}: [0-9]+ organization keys re-wrapped; the ring keeps ${before.recorded}\\n$`,
        ),
      ),
    });
    const after = await stateOf(server);
    expectMoved(after, before);
    expect(outcome.stdout).toContain(after.recorded);
    expect(children.length).toBeGreaterThan(0);
    await expectAllOpen(server);
    await world.expectWorking();

    // A keyring process that starts again opens its service keys with the new key.
    const child = await keyringProcessOf(server);
    process.kill(child, 'SIGKILL');
    await waitUntil('the keyring is back', async () => (await world.sign(world.address)).status === 200);
    await world.expectWorking();
    expect(await server.stop()).toBe(0);
    await server.start();
    await world.at(server.baseUrl).expectWorking();
  });

  // On the second database the steps are the same: `npm run test:long`.
  const testSteps = database === 'sqlite' || times(1) > 1 ? test.sequential : undefined;
  testSteps?.('can be killed at any point and run again', { timeout: 240_000 }, async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const before = await stateOf(server);
    const chance = chanceOf(chooseSeed('kills of rotations'));
    const lines = Array.from({ length: STEPS }, (_, line) => line);
    const kills = [
      ...lines.map((line) => (child: ChildProcess) => killAtLine(child, line)),
      (child: ChildProcess) => killAfter(child, chance.between(300, 4000)),
    ];
    for (const kill of kills) {
      await kill(startRotation(server));
      ageRingLock(server.dataDir);
      const state = await stateOf(server);
      // What a start requires and what the database is under is in the ring.
      for (const id of [state.recorded, state.active, ...state.used]) expect(state.ring).toContain(id);
      expect(await server.stop()).toBe(0);
      await server.start();
      await world.at(server.baseUrl).expectWorking();
      await expectAllOpen(server);
    }
    // The last kill may have been too late, so that this is a rotation of its own.
    expect(await rotate(server)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(finished|rotated)/) });
    expectMoved(await stateOf(server), before);
    await expectAllOpen(server);
    await world.at(server.baseUrl).expectWorking();
  });

  onlyOnce('works with a passphrase too', async () => {
    using folder = temporaryFolder();
    const passphrase = join(folder.path, 'passphrase');
    writeFileSync(passphrase, 'correct horse battery staple\n', { mode: 0o600 });
    const env = { CUSTOS_ROOT_KEY: `passphrase-file:${passphrase}` };
    await using server = await TestServer.start({ database, env });
    const world = await SealedWorld.make(server);
    const before = await stateOf(server, `${passphrase}.ring`);
    expect(await rotate(server)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^rotated to root key/) });
    expectMoved(await stateOf(server, `${passphrase}.ring`), before);
    await world.expectWorking();
    await expectAllOpen(server);
  });

  test.sequential('is one at a time', { timeout: 240_000 }, async () => {
    await using server = await TestServer.start({ database });
    const ring = join(server.dataDir, 'root.key');
    const world = await SealedWorld.make(server);
    const before = await stateOf(server, ring);
    // Neither can end before both have begun.
    writeFileSync(`${ring}.lock`, '00'.repeat(16));
    const both = [rotate(server), rotate(server)];
    const first = await Promise.race(both);
    rmSync(`${ring}.lock`);
    expectRefusal(first, /another `custos keyring rotate` is running on this database: wait until it has ended/);
    const outcomes = await Promise.all(both);
    expect(outcomes.map(({ code }) => code).sort()).toEqual([0, 1]);
    const moved = await stateOf(server, ring);
    expectMoved(moved, before);
    await world.expectWorking();
    await expectAllOpen(server);

    // A second one after it, and after a start, which moves from a ring that was moved before.
    if (database !== 'sqlite') return;
    expect(await server.stop()).toBe(0);
    await server.start();
    await world.at(server.baseUrl).expectWorking();
    expect(await rotate(server)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^rotated to root key/) });
    expectMoved(await stateOf(server, ring), moved);
    await world.at(server.baseUrl).expectWorking();
  });

  // The embedded database has no session that a killed process could leave behind.
  const testOnServer = database === 'postgres' ? test.sequential : undefined;
  testOnServer?.('can be run again at once after it was killed', async () => {
    await using server = await TestServer.start({ database });
    const before = await stateOf(server);
    await killAtLine(startRotation(server), 1);
    expect(await rotate(server)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^finished the rotation to/) });
    expectMoved(await stateOf(server), before);
  });

  test.sequential('stops when another one has taken over, and leaves the processes to that one', async () => {
    await using server = await TestServer.start({ database });
    const before = await stateOf(server);
    const silent = ['process:silent', JSON.stringify({ host: 'elsewhere', pid: 1, knowsEarlierKeys: true })];
    await writeDatabase(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', silent);
    const other = JSON.stringify({ id: 'other', to: '00'.repeat(16) });
    const child = startRotation(server);
    const exited = once(child, 'exit');
    const lines: string[] = [];
    for await (const text of linesOf(child)) {
      lines.push(text);
      if (text.startsWith('waiting for running processes to answer'))
        await writeDatabase(server, "UPDATE deployment SET value = ? WHERE name = 'rotation'", [other]);
    }
    expect(await exited).toEqual([1, null]);
    expect(lines.at(-1)).toBe('custos: another `custos keyring rotate` has taken over: this one has stopped');
    const state = await stateOf(server);
    expect(state.recorded).toBe(before.recorded);
    expect(state.ring).toContain(before.recorded);
    expect(await processesOf(server)).toHaveLength(2);
  });

  onlyOnce('finds a process that an earlier one took for killed', async () => {
    await using server = await TestServer.start({ database });
    expect(await processesOf(server)).toHaveLength(1);
    await writeDatabase(server, "DELETE FROM deployment WHERE name LIKE 'process:%'");
    await waitUntil('the process is known again', async () => (await processesOf(server)).length === 1);
    const [state = ''] = await processesOf(server);
    expect(JSON.parse(state)).toMatchObject({ host: hostname(), pid: server.pid });
  });

  onlyOnce('moves away from an active key that was retired', async () => {
    await using server = await TestServer.start({ database });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const before = await stateOf(server);
    const retired = ['retired_root_keys', JSON.stringify([before.active])];
    await writeDatabase(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', retired);
    // What an interrupted rotation would have left: it must not be gone on with.
    const rotation = ['rotation', JSON.stringify({ id: 'earlier', to: before.active })];
    await writeDatabase(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', rotation);
    expect(await rotate(server)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^rotated to root key/) });
    expectMoved(await stateOf(server), before);
    await createSubOrganization(root, 'after');
  });

  onlyOnce('stops before anything is lost when an organization key does not open', async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const child = await createSubOrganization(world.root, 'to be damaged');
    const before = await stateOf(server);
    await damageOrganizationKey(server, child.organizationId);
    const outcome = await rotate(server);
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toMatch(
      new RegExp(
        `\\ncustos: the keys of these organizations do not open[^\\n]*: ${child.organizationId} \\([^\\n]*\\n$`,
      ),
    );
    const after = await stateOf(server);
    expect(after.recorded).toBe(before.recorded);
    expect(after.ring).toContain(before.recorded);
    expect(await verify(server)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        `not opened: organization ${child.organizationId} of organization ${child.organizationId}\n`,
      ),
    });
    await world.expectWorking();
    // Mended, as from a backup, the same command finishes.
    await damageOrganizationKey(server, child.organizationId);
    expect(await rotate(server)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^finished the rotation to/) });
    expectMoved(await stateOf(server), before);
  });

  test.sequential('a key that was wrapped before its root key was retired can no longer be stored', async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const { recorded } = await stateOf(server);
    await createSubOrganization(world.root, 'before');
    const retired = ['retired_root_keys', JSON.stringify([recorded])];
    await writeDatabase(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', retired);
    await expect(createSubOrganization(world.root, 'after')).rejects.toThrow(/503 .*the root key was just changed/);
    await writeDatabase(server, 'DELETE FROM deployment WHERE name = ?', ['retired_root_keys']);
    await createSubOrganization(world.root, 'again');
  });
});

/** Somebody, in this database: others of the same server have locks of their own. */
const isWaitingForLock = (url: string): Promise<boolean> =>
  onPostgres(url, async (client) => {
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    return (await client.query(waiting)).rows.length > 0;
  });

describe.concurrent('a rotation', { timeout: 120_000 }, () => {
  test.sequential('waits for the lock that a killed one left on the key ring', async () => {
    await using server = await TestServer.start();
    const before = await stateOf(server);
    const lock = join(server.dataDir, 'root.key.lock');
    writeFileSync(lock, '00'.repeat(16));
    const child = startRotation(server);
    const exited = once(child, 'exit');
    for await (const text of linesOf(child)) {
      if (text.startsWith('waiting: another process is changing')) ageRingLock(server.dataDir);
    }
    expect(await exited).toEqual([0, null]);
    expectMoved(await stateOf(server), before);
  });

  test.sequential('waits for an organization that is being stored under the old key', async () => {
    await using server = await TestServer.start({ database: 'postgres' });
    const { recorded } = await stateOf(server);
    const url = server.databaseUrl ?? '';
    let rotated: ReturnType<typeof rotate> | undefined;
    await onPostgres(url, async (client) => {
      // What the storing of an organization holds, by a transaction that is not done.
      await client.query('BEGIN');
      await client.query("SELECT value FROM deployment WHERE name = 'root_key_id' FOR SHARE");
      const [{ wrapped_key: wrapped }] = (await client.query('SELECT wrapped_key FROM organization')).rows;
      rotated = rotate(server);
      await waitUntil('the rotation waits for it', () => isWaitingForLock(url));
      expect((await stateOf(server)).recorded).toBe(recorded);
      await client.query(
        `INSERT INTO organization SELECT 'late', parent_id, name, root_threshold, root_user_ids, authority_version, $1,
        created_at_ms, updated_at_ms, deleted_at_ms FROM organization LIMIT 1`,
        [wrapped],
      );
      await client.query('COMMIT');
    });
    // Its key belongs to another organization and so does not open: seen in time, it keeps the old root key alive.
    const outcome = await (rotated as ReturnType<typeof rotate>);
    expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining('do not open') });
    expect(outcome.stderr).toContain(': late (');
    expect((await stateOf(server)).ring).toContain(recorded);
  });

  test.sequential('that has lost its place to another one retires no key', async () => {
    await using server = await TestServer.start({ database: 'postgres' });
    const before = await stateOf(server);
    const url = server.databaseUrl ?? '';
    let rotated: ReturnType<typeof rotate> | undefined;
    await onPostgres(url, async (client) => {
      await client.query('BEGIN');
      await client.query("SELECT value FROM deployment WHERE name = 'root_key_id' FOR SHARE");
      rotated = rotate(server);
      await waitUntil('the rotation is about to retire the key', () => isWaitingForLock(url));
      const other = JSON.stringify({ id: 'other', to: '00'.repeat(16) });
      await writeDatabase(server, "UPDATE deployment SET value = ? WHERE name = 'rotation'", [other]);
      await client.query('COMMIT');
    });
    const outcome = await (rotated as ReturnType<typeof rotate>);
    expect(outcome).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/has taken over: [^\n]+\n$/) });
    const after = await stateOf(server);
    expect(after.recorded).toBe(before.recorded);
    expect(after.ring).toContain(before.recorded);
  });

  test.sequential('ends with the connection that keeps others away', async () => {
    await using server = await TestServer.start({ database: 'postgres' });
    const before = await stateOf(server);
    const lock = join(server.dataDir, 'root.key.lock');
    writeFileSync(lock, '00'.repeat(16));
    const child = startRotation(server);
    const exited = once(child, 'exit');
    const lines: string[] = [];
    for await (const text of linesOf(child)) {
      lines.push(text);
      if (!text.startsWith('waiting: another process is changing')) continue;
      const holders = await onPostgres(server.databaseUrl ?? '', (client) =>
        client.query(`SELECT pg_terminate_backend(pid) FROM pg_locks
        WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`),
      );
      expect(holders.rows).toHaveLength(1);
      rmSync(lock);
    }
    expect(await exited).toEqual([1, null]);
    expect(lines.at(-1)).toMatch(
      /^custos: the connection to the database was lost during the rotation: run the command/,
    );
    expect((await stateOf(server)).recorded).toBe(before.recorded);
    expect(await rotate(server)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^finished the rotation to/) });
    expectMoved(await stateOf(server), before);
  });
});

// Alone: it is told of the first process that answers, and both have to be quick.
test('a rotation goes on when every machine has the key ring, and not before', { timeout: 120_000 }, async () => {
  await using one = await TestServer.start({ database: 'postgres' });
  const world = await SealedWorld.make(one);
  using folder = temporaryFolder();
  const copyRing = (): void => copyFileSync(join(one.dataDir, 'root.key'), join(folder.path, 'root.key'));
  copyRing();
  const env = { CUSTOS_DATABASE_URL: one.databaseUrl ?? '' };
  await using other = await TestServer.start({ dataDir: folder.path, env });
  const before = await stateOf(one);

  const refused = await rotate(one, '--wait', '0');
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(new RegExp(`\\ncustos: not all running processes hold root key ${ID}: [^\\n]+\\n$`));
  expect(refused.stderr).toContain(`process ${other.pid} on ${hostname()}. Copy the key ring`);
  expect(refused.stderr.split('\n').slice(1).join()).not.toContain(`process ${one.pid} on`);
  const state = await stateOf(one);
  expect(state.recorded).toBe(before.recorded);
  expect([...state.used]).toEqual([before.recorded]);
  for (const { baseUrl } of [one, other]) expect((await world.at(baseUrl).sign(world.address)).status).toBe(200);

  // The first machine stores under the new key by now. Another rotation from a ring that lacks it would lose that.
  expectRefusal(
    await rotate(other),
    new RegExp(`begun with another key ring, to root key ${state.active}, which file:`),
  );
  expect((await stateOf(one, join(folder.path, 'root.key'))).ring).toEqual([before.recorded]);
  expect((await stateOf(one)).ring).toEqual([before.recorded, state.active]);

  // A process that was killed is not waited for.
  mkdirSync(join(folder.path, 'third'));
  copyFileSync(join(folder.path, 'root.key'), join(folder.path, 'third', 'root.key'));
  await using third = await TestServer.start({ dataDir: join(folder.path, 'third'), env });
  await third.kill();
  copyRing();
  expect(await rotate(one)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^finished the rotation to/) });
  expectMoved(await stateOf(one), before);
  for (const { baseUrl } of [one, other]) await world.at(baseUrl).expectWorking();
});

const startRotation = (server: TestServer): ChildProcess =>
  spawn(process.execPath, [CLI, 'keyring', 'rotate', '--yes'], {
    env: server.environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });

const linesOf = (child: ChildProcess) => createInterface({ input: child.stderr as NodeJS.ReadableStream });

async function killAtLine(child: ChildProcess, line: number): Promise<void> {
  const exited = once(child, 'exit');
  let seen = 0;
  for await (const text of linesOf(child)) {
    if (text.startsWith('waiting') || text.startsWith('every')) continue;
    if (seen === line) child.kill('SIGKILL');
    seen += 1;
  }
  expect(seen).toBeGreaterThan(line);
  await exited;
}

async function killAfter(child: ChildProcess, milliseconds: number): Promise<void> {
  child.stderr?.resume();
  const exited = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds);
  await exited;
  clearTimeout(timer);
  await waitUntil('the process is gone', () => !isAlive(child.pid as number));
}

/** Flips one bit of the wrapped key, and back again when done twice. */
async function damageOrganizationKey(server: TestServer, organizationId: string): Promise<void> {
  await using tables = await openTables(server.dataDir, server.databaseUrl);
  const [rows = []] = await tables.read(`SELECT wrapped_key FROM organization WHERE id = '${organizationId}'`);
  const key = Buffer.from(rows[0]?.wrapped_key);
  key.writeUInt8(key.readUInt8(60) ^ 1, 60);
  await writeDatabase(server, 'UPDATE organization SET wrapped_key = ? WHERE id = ?', [key, organizationId]);
}
