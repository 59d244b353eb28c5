import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { sealedColumns } from '../../src/core/store/sealed.ts';
import { dataModel } from '../../src/domains.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { type DatabaseKind, databasesOf } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { TestServer } from '../harness/server.ts';
import { expectAllOpen, keyState, SealedWorld, writeDatabase } from './sealed-world.ts';
import { ageRingLock, connectPostgres, runCli, temporaryFolder } from './support.ts';

// Commands of the keyring are killed as soon as they have stored anything, then as soon as they have stored something twice, and
// so on. No service runs, so whatever changes is theirs.

const CLI = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));
/** On the other database the steps are the same, stored in another way. */
const HERE = databasesOf(import.meta.url);
const HOUR_MS = 60 * 60 * 1000;
/** More of them take minutes: `npm run test:long`. */
const KILLS = times(2);
const KILLS_MAX = 40;
const isLong = KILLS > 2;
/** To look without a pause would take a core from the command that is looked at. */
const LOOK_EVERY_MS = 1;

const TABLES = [
  ...new Set(['deployment', 'organization', ...sealedColumns(dataModel.tables).map(({ table }) => table)]),
];

/** What is stored, in a form that is another one after each change. */
interface Stored extends AsyncDisposable {
  look(): Promise<string>;
}

function lookAt(folder: string): string {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('custos.db') && !name.endsWith('.lock'))
    .map((name) => {
      const found = statSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
      return `${name} ${found?.ino} ${found?.mtimeNs}`;
    })
    .join();
}

async function watch({ dataDir, databaseUrl }: TestServer, folder = dataDir): Promise<Stored> {
  if (databaseUrl === undefined) {
    const file = new SqliteFile(join(dataDir, 'custos.db'), { isReadOnly: true, busyTimeoutMs: 10_000 });
    const version = file.prepare('PRAGMA data_version');
    const statements = TABLES.map((table) => file.prepare(`SELECT * FROM ${table}`));
    let seen: unknown;
    let digest = '';
    return {
      look: async () => {
        const now = version.get()?.['data_version'];
        // Opening and closing a database changes the version, and none of its rows.
        if (now !== seen) digest = hash('sha256', JSON.stringify(statements.map((each) => each.all())));
        seen = now;
        return `${digest} ${lookAt(folder)}`;
      },
      [Symbol.asyncDispose]: async () => file.close(),
    };
  }
  const client = await connectPostgres(databaseUrl);
  const sums = TABLES.map((table) => `(SELECT coalesce(sum(xmin::text::bigint), 0) + count(*) FROM ${table})`);
  return {
    look: async () => {
      const { rows } = await client.query(`SELECT concat_ws(' ', ${sums}) AS all`);
      return `${rows[0].all} ${lookAt(folder)}`;
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}

/** Kills the command at its n-th change. Whether it has been killed: otherwise it ended before, and well. */
async function killAtChange(server: TestServer, n: number, args: readonly string[], folder?: string): Promise<boolean> {
  await using stored = await watch(server, folder);
  let seen = await stored.look();
  let changes = 0;
  const child = spawn(process.execPath, [CLI, ...args], { env: server.environment, stdio: 'ignore' });
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  while (!hasEnded() && changes < n) {
    await sleep(LOOK_EVERY_MS);
    const now = await stored.look();
    if (now !== seen) changes += 1;
    seen = now;
  }
  child.kill('SIGKILL');
  const [code, signal] = await exited;
  ageRingLock(server.dataDir);
  expect([code, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGKILL']);
  return signal === 'SIGKILL';
}

const custos = (server: TestServer, ...args: string[]) => runCli(server.environment, 'keyring', ...args);

async function stopped(database: DatabaseKind) {
  const server = await TestServer.start({ database });
  const world = await SealedWorld.make(server);
  expect(await server.stop()).toBe(0);
  const expectWorking = async (): Promise<void> => {
    expect((await runCli(server.environment, 'verify')).code).toBe(0);
    await server.start();
    await world.at(server.baseUrl).expectWorking();
    expect(await server.stop()).toBe(0);
  };
  return { server, world, expectWorking };
}

describe.each(HERE)('killed whenever it has stored something on %s', { timeout: 300_000 }, (database) => {
  test('rotate-organization goes on, for an organization and the deployment', async () => {
    const { server, world, expectWorking } = await stopped(database);
    await using _server = server;
    for (const id of isLong ? [world.root.organizationId, 'deployment'] : [world.root.organizationId]) {
      const command = ['keyring', 'rotate-organization', id];
      let kills = 0;
      // Each run begins where the one before was killed, so that the first change of each is another step.
      while (kills < KILLS && (await killAtChange(server, 1, command))) {
        kills += 1;
        await expectAllOpen(server);
      }
      expect(kills).toBeGreaterThan(1);
      expect((await runCli(server.environment, ...command)).code).toBe(0);
      const since = String(Date.now() - 2 * HOUR_MS);
      await writeDatabase(server, 'UPDATE deployment SET value = ? WHERE name = ?', [since, `organization-key:${id}`]);
      await killAtChange(server, 1, command);
      await expectAllOpen(server);
    }
    await expectWorking();
  });

  test.each([[[]], [['--compromised', '--yes']]])('rotate-service-key %j goes on', async (flags) => {
    const { server, expectWorking } = await stopped(database);
    await using _server = server;
    const role = flags.length === 0 ? 'bundle-signer' : 'webhook-signer';
    const command = ['keyring', 'rotate-service-key', role, ...flags];
    let n = 1;
    for (; n <= KILLS && (await killAtChange(server, n, command)); n += 1) {
      await expectAllOpen(server);
      // There is one new key at a time.
      if (flags.length === 0) break;
    }
    expect(n).toBeLessThan(KILLS_MAX);
    await expectWorking();
  });

  test('retire and unretire go on', async () => {
    const { server, expectWorking } = await stopped(database);
    await using _server = server;
    const { recorded: old } = await keyState(server.dataDir, server.databaseUrl);
    expect(await custos(server, 'rotate', '--yes')).toMatchObject({ code: 0 });
    let n = 1;
    for (; n <= KILLS && (await killAtChange(server, n, ['keyring', 'retire', old, '--yes'])); n += 1)
      await expectAllOpen(server);
    expect(n).toBeGreaterThan(1);
    if (n > KILLS) expect((await custos(server, 'retire', old, '--yes')).code).toBe(0);
    expect((await keyState(server.dataDir, server.databaseUrl)).retired).toEqual([old]);
    await expectAllOpen(server);
    // A file beside the ring is made and written, and takes the place of the ring.
    const isRetired = async () => (await keyState(server.dataDir, server.databaseUrl)).retired.length > 0;
    for (let change = 1; change <= KILLS_MAX && (await isRetired()); change += 1) {
      await killAtChange(server, change, ['keyring', 'unretire', old]);
      await expectAllOpen(server);
    }
    expect((await keyState(server.dataDir, server.databaseUrl)).retired).toEqual([]);
    await expectWorking();
  });
});

test('reseal that is killed leaves the old ring, and the new one whole or not at all', {
  timeout: 300_000,
}, async () => {
  const { server, expectWorking } = await stopped('sqlite');
  await using _server = server;
  using folder = temporaryFolder();
  const passphrase = join(folder.path, 'passphrase');
  writeFileSync(passphrase, 'correct horse battery staple\n', { mode: 0o600 });
  const to = `passphrase-file:${passphrase}`;
  const env = { ...server.environment, CUSTOS_ROOT_KEY: to };
  const command = ['keyring', 'reseal', to];
  let n = 1;
  for (; await killAtChange(server, n, command, folder.path); n += 1) {
    await expectAllOpen(server);
    if (existsSync(`${passphrase}.ring`)) {
      await expectAllOpen({ environment: env });
      rmSync(`${passphrase}.ring`);
    }
    expect(n).toBeLessThan(KILLS_MAX);
  }
  expect(n).toBeGreaterThan(1);
  await expectAllOpen({ environment: env });
  await expectWorking();
});
