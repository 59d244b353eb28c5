import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { retireKey, unretireKey } from '../../src/keyring-admin/retire.ts';
import { StartError } from '../../src/lib/start-error.ts';
import { databasesOf } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { TestServer } from '../harness/server.ts';
import { configOf } from '../restore/support.ts';
import { expectAllOpen, keyState, SealedWorld, writeDatabase } from './sealed-world.ts';
import { chanceOf, chooseSeed, expectRefusal, openTables, runCli, runService, temporaryFolder } from './support.ts';

const CLI = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));
const isLong = times(1) > 1;
const DAY_MS = 24 * 60 * 60 * 1000;
const keyring = (server: TestServer, ...args: string[]) => runCli(server.environment, 'keyring', ...args);
const stateOf = (server: TestServer) => keyState(server.dataDir, server.databaseUrl);
const ringOf = (server: TestServer): string => join(server.dataDir, 'root.key');

/** All that a refused command must leave as it was. */
async function everything(server: TestServer): Promise<unknown> {
  await using tables = await openTables(server.dataDir, server.databaseUrl);
  const [facts, keys] = await tables.read(
    "SELECT name, value FROM deployment WHERE name NOT LIKE 'process:%' ORDER BY name",
    'SELECT id, wrapped_key FROM organization ORDER BY id',
  );
  return { facts, keys, ring: readFileSync(ringOf(server)).toString('hex') };
}

/** Why it does nothing: asked in this process, because a command of its own loads for a second. */
async function refusalOf(work: (say: (line: string) => void) => Promise<unknown>): Promise<string> {
  const said: string[] = [];
  const refused = await work((line) => said.push(line)).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(said).toEqual([]);
  expect(refused).toBeInstanceOf(StartError);
  return (refused as StartError).message;
}
const retirementRefused = ({ environment }: TestServer, keyId: string): Promise<string> =>
  refusalOf((say) =>
    retireKey(configOf(environment), {
      keyId,
      isNow: false,
      waitSeconds: 60,
      asksPerson: false,
      confirm: async () => true,
      say,
    }),
  );
const returnRefused = ({ environment }: TestServer, keyId: string): Promise<string> =>
  refusalOf((say) => unretireKey(configOf(environment), keyId, say));

// What differs between databases, the lock and the processes, is tried on both where commands run beside them
// (packages/server/src/keyring-admin/rotate.test.ts).
describe.each(databasesOf(import.meta.url))('custos keyring retire on %s', { timeout: 240_000 }, (database) => {
  test('takes an old key out of use once nothing needs it, and lets it come back', async () => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const { recorded: old } = await stateOf(server);

    // Nothing is changed by what only tells, by what nobody agreed to, or by what cannot be.
    const untouched = await everything(server);
    const dry = await keyring(server, 'rotate', '--dry-run');
    expect(dry).toMatchObject({ code: 0, stdout: '' });
    expect(dry.stderr).toMatch(
      new RegExp(
        `^This adds a root key to file:.*, beside ${old}, and re-wraps [0-9]+ organization keys? .*process ${server.pid} on `,
      ),
    );
    expectRefusal(await keyring(server, 'rotate'), /there is no terminal to ask on; run it again with --yes/);
    expectRefusal(await keyring(server, 'retire', old), /there is no terminal to ask on; run it again with --yes/);
    expectRefusal(await keyring(server, 'retire', old, '--yes'), /is the one in use: `custos keyring rotate` makes/);
    expect(await retirementRefused(server, 'xyz')).toMatch(/xyz is not the id of a root key/);
    const none = '00'.repeat(16);
    for (const refused of [retirementRefused, returnRefused])
      expect(await refused(server, none)).toMatch(new RegExp(`${none} is not in file:.*, which holds ${old}: nothing`));
    expectRefusal(await keyring(server, 'unretire', old), /is not retired: nothing was changed/);
    expect(await everything(server)).toEqual(untouched);

    expect(await keyring(server, 'rotate', '--yes')).toMatchObject({ code: 0 });
    const { recorded } = await stateOf(server);

    // A recorded backup needs it.
    const backup = { takenAtMs: Date.UTC(2026, 10, 18), rootKeyIds: [old], place: '/backups/one' };
    await writeDatabase(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', [
      'backup:b1',
      JSON.stringify(backup),
    ]);
    const before = await everything(server);
    expect(await retirementRefused(server, old)).toMatch(
      /is still needed by backup b1 of 2026-11-18T00:00:00.000Z \(\/backups\/one\): the key stays as it was/,
    );
    await writeDatabase(server, 'DELETE FROM deployment WHERE name = ?', ['backup:b1']);
    // An organization whose key is under it, as one that was restored.
    await using tables = await openTables(server.dataDir, server.databaseUrl);
    const [organizations = []] = await tables.read('SELECT id, wrapped_key FROM organization');
    const { id, wrapped_key: wrapped } = organizations[0] as { id: string; wrapped_key: Uint8Array };
    const stale = Buffer.from(wrapped);
    Buffer.from(old, 'hex').copy(stale, 2);
    const put = (key: Uint8Array) =>
      writeDatabase(server, 'UPDATE organization SET wrapped_key = ? WHERE id = ?', [Buffer.from(key), id]);
    await put(stale);
    expect(await retirementRefused(server, old)).toMatch(
      new RegExp(`is still needed by 1 organization keys, as that of ${id}: the key stays`),
    );
    await put(wrapped);
    // An interrupted rotation may need it.
    const rotation = ['rotation', JSON.stringify({ id: 'earlier', to: recorded })];
    await writeDatabase(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', rotation);
    expect(await retirementRefused(server, old)).toMatch(/was interrupted: run `custos keyring rotate` again/);
    await writeDatabase(server, 'DELETE FROM deployment WHERE name = ?', ['rotation']);
    await writeDatabase(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', [
      'backup:b1',
      JSON.stringify(backup),
    ]);
    expect(await everything(server)).toEqual(before);
    await writeDatabase(server, 'DELETE FROM deployment WHERE name = ?', ['backup:b1']);

    const dryRetire = await keyring(server, 'retire', old, '--dry-run');
    expect(dryRetire).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining(`This retires root key ${old}`),
    });
    expect((await stateOf(server)).ring).toEqual([old, recorded]);

    const retired = await keyring(server, 'retire', old, '--yes');
    expect(retired).toMatchObject({ code: 0 });
    const [, until = ''] =
      /^retired root key [0-9a-f]{32}; it stays in the key ring until (.*)\n$/.exec(retired.stdout) ?? [];
    expect(Math.abs(Date.parse(until) - Date.now() - 30 * DAY_MS)).toBeLessThan(DAY_MS);
    for (const { stderr } of [dryRetire, retired])
      expect(stderr).toMatch(/cannot know of backups that it did not record,.* of databases that a restore kept aside/);
    expect(retired.stderr).not.toContain('Copies of the ring');
    expect(await stateOf(server)).toMatchObject({ ring: [recorded], retired: [old], active: recorded, recorded });
    await world.expectWorking();
    await expectAllOpen(server);
    expect(dryRetire.stderr).toMatch(/, which keeps it until 20[^ ]+Z\. Nothing that is known needs it\./);
    expect(dryRetire.stderr).not.toContain('Make sure that the clock is right');
    // Once more says the same.
    expect((await keyring(server, 'retire', old, '--yes')).stdout).toBe(retired.stdout);

    // A database from before is told which key it needs and how that comes back.
    expect(await server.stop()).toBe(0);
    await writeDatabase(server, "UPDATE deployment SET value = ? WHERE name = 'root_key_id'", [old]);
    const failed = await runService(server.environment);
    expect(failed.stderr).toMatch(
      new RegExp(
        `the database is under root key ${old} since 20[^ ]+Z, which was retired in file:.* at 20.*unretire ${old}`,
      ),
    );
    expect(await keyring(server, 'unretire', old)).toMatchObject({
      code: 0,
      stdout: `root key ${old} is in use again\n`,
    });
    await writeDatabase(server, "UPDATE deployment SET value = ? WHERE name = 'root_key_id'", [recorded]);
    expect((await stateOf(server)).ring).toEqual([old, recorded]);
    await server.start();

    const destroyed = await keyring(server, 'retire', old, '--now', '--yes');
    expect(destroyed).toMatchObject({ code: 0, stdout: `destroyed root key ${old}\n` });
    expect(await stateOf(server)).toMatchObject({ ring: [recorded], retired: [] });
    await world.at(server.baseUrl).expectWorking();
    // What a kill left behind is finished by the same command.
    await writeDatabase(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', [
      'rotation',
      JSON.stringify({ id: 'killed', to: recorded, retires: old }),
    ]);
    expect(await keyring(server, 'retire', old, '--now', '--yes')).toMatchObject({ code: 0 });
    expectRefusal(await keyring(server, 'retire', old, '--now', '--yes'), /is not in file:/);
  });
});

test.each(databasesOf(import.meta.url))(
  'a retirement on %s can be killed at any point and run again',
  { timeout: 240_000 },
  async (database) => {
    await using server = await TestServer.start({ database });
    const world = await SealedWorld.make(server);
    const { recorded: old } = await stateOf(server);
    expect(await keyring(server, 'rotate', '--yes')).toMatchObject({ code: 0 });
    const { recorded } = await stateOf(server);
    const chance = chanceOf(chooseSeed('kills of retirements'));
    // From right behind the question to well behind the change of the ring; `npm run test:long` tries more moments.
    const moments = [0, chance.between(1, 500), chance.between(500, 1500), chance.between(1500, 4000)];
    for (const afterMs of isLong ? moments : [chance.pick(moments)]) {
      const child = spawn(process.execPath, [CLI, 'keyring', 'retire', old, '--yes'], {
        env: server.environment,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const exited = once(child, 'exit');
      child.stderr.once('data', () => setTimeout(() => child.kill('SIGKILL'), afterMs));
      await exited;
      const lock = `${ringOf(server)}.lock`;
      if (existsSync(lock)) utimesSync(lock, 0, Date.now() / 1000 - 120);
      const state = await stateOf(server);
      expect([...state.ring, ...state.retired].sort()).toEqual([old, recorded].sort());
      expect(state).toMatchObject({ active: recorded, recorded });
      expect(await server.stop()).toBe(0);
      await server.start();
      await expectAllOpen(server);
    }
    expect(await keyring(server, 'retire', old, '--yes')).toMatchObject({ code: 0 });
    expect(await stateOf(server)).toMatchObject({ ring: [recorded], retired: [old] });
    await world.at(server.baseUrl).expectWorking();
    // Nothing of it stands in the way of the next rotation.
    expect(await keyring(server, 'rotate', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^rotated to/),
    });
    expect(await stateOf(server)).toMatchObject({ retired: [old] });
  },
);

test.each(databasesOf(import.meta.url))(
  'a retired key on %s leaves the ring when somebody agrees 30 days later, unless something needs it again',
  {
    timeout: 120_000,
  },
  async (database) => {
    await using server = await TestServer.start({ database });
    const { recorded: old } = await stateOf(server);
    expect(await keyring(server, 'rotate', '--yes')).toMatchObject({ code: 0 });
    expect(await keyring(server, 'retire', old, '--yes')).toMatchObject({ code: 0 });
    expect(await server.stop()).toBe(0);
    // The time is behind the id of the first key.
    const bytes = readFileSync(ringOf(server));
    bytes.writeBigUInt64BE(BigInt(Date.now() - 31 * DAY_MS), 27 + 16);
    // The digest of all of it is at the end.
    const end = bytes.length - 32;
    createHash('sha256').update(bytes.subarray(0, end)).digest().copy(bytes, end);
    writeFileSync(ringOf(server), bytes);
    const backup = JSON.stringify({ takenAtMs: 1, rootKeyIds: [old], place: 'there' });
    await writeDatabase(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', ['backup:b1', backup]);
    await server.start();
    expect((await keyring(server, 'rotate', '--dry-run')).stderr).not.toContain('It also destroys');
    await writeDatabase(server, 'DELETE FROM deployment WHERE name = ?', ['backup:b1']);
    expect((await keyring(server, 'rotate', '--dry-run')).stderr).toContain(
      `It also destroys ${old}, retired more than`,
    );
    expect((await stateOf(server)).retired).toEqual([old]);
    const rotated = await keyring(server, 'rotate', '--yes');
    expect(rotated).toMatchObject({ code: 0 });
    expect(rotated.stderr).toContain(`It leaves ${old}, retired more than 30 days ago, in the key ring`);
    expect((await stateOf(server)).retired).toEqual([old]);
    expect(await keyring(server, 'retire', old, '--yes')).toMatchObject({
      code: 0,
      stdout: `destroyed root key ${old}\n`,
    });
    expect((await stateOf(server)).retired).toEqual([]);
  },
);

test('retire names the machines whose copy of the ring still opens the key', { timeout: 120_000 }, async () => {
  await using one = await TestServer.start({ database: 'postgres' });
  using folder = temporaryFolder();
  const { recorded: old } = await stateOf(one);
  expect(await keyring(one, 'rotate', '--yes')).toMatchObject({ code: 0 });
  copyFileSync(ringOf(one), join(folder.path, 'root.key'));
  const env = { CUSTOS_DATABASE_URL: one.databaseUrl ?? '' };
  await using other = await TestServer.start({ dataDir: folder.path, env });
  const retired = await keyring(one, 'retire', old, '--yes');
  expect(retired).toMatchObject({ code: 0 });
  expect(retired.stderr).toContain(`copy the ring to process ${other.pid} on ${hostname()}.`);
  expect(retired.stderr).not.toContain(`process ${one.pid} on ${hostname()}.`);
});

test('custos keyring reseal moves a service to a passphrase and back', { timeout: 240_000 }, async () => {
  await using server = await TestServer.start();
  const world = await SealedWorld.make(server);
  using folder = temporaryFolder();
  const passphrase = join(folder.path, 'passphrase');
  writeFileSync(passphrase, 'correct horse battery staple\n', { mode: 0o600 });
  const to = `passphrase-file:${passphrase}`;
  const resealed = await keyring(server, 'reseal', to);
  expect(resealed).toMatchObject({ code: 0, stdout: `wrote 1 root key to ${passphrase}.ring\n` });
  expect(resealed.stderr).toMatch(/^Run `custos keyring verify` with CUSTOS_ROOT_KEY=passphrase-file:.* first\./);
  expectRefusal(await keyring(server, 'reseal', to), /passphrase\.ring exists already: nothing was changed/);
  expectRefusal(await keyring(server, 'reseal', 'nowhere'), /must be 'file:PATH' or 'passphrase-file:PATH'/);
  const env = { ...server.environment, CUSTOS_ROOT_KEY: to };
  expect(await runCli(env, 'keyring', 'verify')).toMatchObject({ code: 0 });
  const back = `file:${join(folder.path, 'again.key')}`;
  expect(await runCli(env, 'keyring', 'reseal', back)).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder.path, 'again.key')).equals(readFileSync(ringOf(server)))).toBe(true);
  await world.expectWorking();
});
