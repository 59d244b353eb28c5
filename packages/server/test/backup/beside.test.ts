import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { readBackups } from '../../src/backup/records.ts';
import { readConfig } from '../../src/config/config.ts';
import { writeDatabase } from '../faults/sealed-world.ts';
import {
  chanceOf,
  chooseSeed,
  expectRefusal,
  openTables,
  runCli,
  type Tables,
  temporaryFolder,
  waitUntil,
} from '../faults/support.ts';
import { TestClient } from '../harness/client.ts';
import { DATABASES } from '../harness/databases.ts';
import { times } from '../harness/effort.ts';
import { TestServer } from '../harness/server.ts';
import { type AgeKeys, newAgeKeys, openArchive, type ReadArchive } from './archives.ts';

const CLI = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));
const EVERY_MS = 11;
/** More of them: `npm run test:long`. */
const KILLS = times(1);
/** On a machine that is busy with other tests the service is not to be overloaded. */
const PENDING_MAX = 8;

let keys: AgeKeys;

beforeAll(async () => {
  keys = await newAgeKeys();
});

const rootOf = (server: TestServer): TestClient => TestClient.root(server.credentials, server.baseUrl);
const backup = (server: TestServer, ...args: string[]) => runCli(server.environment, 'backup', ...args);
const backups = (server: TestServer) => readBackups(readConfig(server.environment));

/** A database that takes a moment to back up: bytes that do not get smaller. */
async function fill(server: TestServer, rows: number): Promise<void> {
  const statement =
    server.databaseUrl === undefined
      ? `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
         INSERT INTO sealed_result SELECT 'filler', 'a' || i, randomblob(20000), 9000000000000, NULL FROM n`
      : `INSERT INTO sealed_result SELECT 'filler', 'a' || i, (SELECT string_agg(sha256((i || ' ' || j)::text::bytea), '') FROM
         generate_series(1, 600) AS j), 9000000000000, NULL FROM generate_series(1, ${rows}) AS i`;
  await writeDatabase(server, statement);
}

/** Writes as often as that until it is stopped; answers with how long each took. */
class Writer {
  readonly latenciesMs: number[] = [];
  readonly failed: unknown[] = [];
  readonly #root: TestClient;
  readonly #timer: NodeJS.Timeout;
  readonly #pending = new Set<Promise<void>>();

  constructor(server: TestServer) {
    this.#root = rootOf(server);
    this.#timer = setInterval(() => {
      if (this.#pending.size >= PENDING_MAX) return;
      const writing = this.#write().finally(() => this.#pending.delete(writing));
      this.#pending.add(writing);
    }, EVERY_MS);
  }

  async #write(): Promise<void> {
    const startedMs = performance.now();
    try {
      await this.#root.run('create_user_tag', { userTagName: crypto.randomUUID(), userIds: [] });
    } catch (error) {
      this.failed.push(error);
    }
    this.latenciesMs.push(performance.now() - startedMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
  }
}

/** Each request writes an activity, a vote and a tag, together. */
function expectConsistent({ tables }: ReadArchive): number {
  const rows = (name: string) => tables.get(name) ?? [];
  const made = rows('activity').filter(({ operation }) => operation === 'create_user_tag');
  const ids = (of: readonly Record<string, unknown>[], column: string) => of.map((row) => row[column]).toSorted();
  const voted = rows('vote').filter(({ activity_id: id }) => made.some((activity) => activity.id === id));
  expect(ids(voted, 'activity_id')).toEqual(ids(made, 'id'));
  expect(rows('tag')).toHaveLength(made.length);
  return made.length;
}

describe.each(DATABASES)('custos backup beside a service on %s', { timeout: 60_000 + KILLS * 60_000 }, (database) => {
  test('is one moment of a database that is written to, and nobody waits for it', async () => {
    await using server = await TestServer.start({ database });
    using folder = temporaryFolder();
    await fill(server, 300);
    const writer = new Writer(server);
    await waitUntil('there are some writes', () => writer.latenciesMs.length > 20);
    const before = writer.latenciesMs.length;
    const file = join(folder.path, 'one.age');
    const made = await backup(server, file, '--recipient', keys.recipient, '--json');
    const during = writer.latenciesMs.slice(before);
    await writer.stop();
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(writer.failed).toEqual([]);
    expect(during.length).toBeGreaterThan(20);
    // How long a commit may take on a machine that is busy with other tests; the writes would wait for seconds otherwise.
    expect(during.toSorted((one, other) => one - other)[Math.floor(during.length / 2)]).toBeLessThan(1000);

    const archive = await openArchive(file, keys);
    const count = expectConsistent(archive);
    expect(count).toBeGreaterThan(15);
    expect(count).toBeLessThan(writer.latenciesMs.length);
    expect(archive.tables.get('sealed_result')).toHaveLength(300);
    expect(archive.manifest).toEqual(JSON.parse(made.stdout).manifest);

    // The service tells how old it is, and goes on.
    const metrics = async () => await (await fetch(`${server.baseUrl}/metrics`)).text();
    expect(await metrics()).toMatch(/^custos_backup_age_seconds [0-9]+$/m);
    const { id } = archive.header;
    expect((await runCli(server.environment, 'status')).stdout).toMatch(
      new RegExp(`^backup +the newest is ${id} of .*: ${file}$`, 'm'),
    );
    // Over PostgreSQL a setting names the operator.
    if (database === 'sqlite') {
      const { body } = await rootOf(server).query('get_operations');
      expect(body.backup).toMatchObject({
        lastAt: expect.any(String),
        text: expect.stringContaining('newest recorded'),
      });
    }
    const listed = await backup(server, 'list', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject({ id, place: file });
    expect(await backup(server, 'forget', id)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`forgot ${id}`),
    });
    expectRefusal(await backup(server, 'forget', id), /none is recorded; nothing was changed/);
    expect(await metrics()).not.toMatch(/^custos_backup_age_seconds [0-9]/m);
    expect(await backup(server, 'list')).toMatchObject({ code: 0, stdout: '' });
    expect((await runCli(server.environment, 'status')).stdout).toMatch(/^backup +none is recorded/m);
    expect((await fetch(`${server.baseUrl}/readyz`)).status).toBe(200);
  });

  test('goes through a pipe, and is not recorded when that breaks', async () => {
    await using server = await TestServer.start({ database });
    await fill(server, 100);
    const piped = spawnSync(process.execPath, [CLI, 'backup', '-', '--recipient', keys.recipient, '--place', 'vault'], {
      env: server.environment,
      maxBuffer: 2 ** 28,
    });
    expect(piped.stderr.toString()).toMatch(/^backup [0-9a-f-]{36} of .*\nplace +vault\n/);
    expect((await openArchive(piped.stdout, keys)).tables.get('sealed_result')).toHaveLength(100);
    expect(await backups(server)).toMatchObject([{ place: 'vault' }]);
    const broken = spawnSync(
      'bash',
      [
        '--norc',
        '-c',
        `'${process.execPath}' '${CLI}' backup - --recipient ${keys.recipient} | head -c 100 >/dev/null; exit \${PIPESTATUS[0]}`,
      ],
      {
        env: server.environment,
        encoding: 'utf8',
      },
    );
    expect([broken.status, broken.stderr]).toEqual([
      1,
      'custos: the program that reads the backup ended before the backup was complete: nothing was recorded\n',
    ]);
    expect(await backups(server)).toHaveLength(1);
  });

  test('killed at any moment leaves a whole file or none, and a record only of a whole one', async () => {
    await using server = await TestServer.start({ database });
    using folder = temporaryFolder();
    await fill(server, 200);
    const chance = chanceOf(chooseSeed('killed backups'));
    const args = ['--to', folder.path, '--recipient', keys.recipient];
    const startedMs = performance.now();
    expect(await backup(server, ...args)).toMatchObject({ code: 0 });
    const wholeMs = performance.now() - startedMs;
    const partials = () => readdirSync(folder.path).filter((name) => name.endsWith('.partial'));
    for (let kill = 0; kill <= KILLS; kill += 1) {
      const child = spawn(process.execPath, [CLI, 'backup', ...args], { env: server.environment, stdio: 'ignore' });
      const ended = once(child, 'exit');
      // The first while it writes, for sure.
      if (kill === 0) await waitUntil('it writes', () => partials().length > 0);
      else await sleep(chance.between(0, wholeMs));
      child.kill('SIGKILL');
      await ended;
      const files = readdirSync(folder.path).filter((name) => name.endsWith('.age'));
      for (const name of files) await openArchive(join(folder.path, name), keys);
      for (const { place } of await backups(server))
        expect(files.map((name) => join(folder.path, name))).toContain(place);
    }
    const last = await backup(server, ...args, '--keep', '1', '--json');
    expect(last.code).toBe(0);
    expect(readdirSync(folder.path).map((name) => join(folder.path, name))).toEqual([JSON.parse(last.stdout).place]);
    expect(await backups(server)).toMatchObject([{ id: JSON.parse(last.stdout).id }]);
  });
});

/** A backup whose reader does not read, so that it lasts as long as a test wants it to. */
async function heldBackup(server: TestServer): Promise<{ readonly child: ChildProcess; finish(): Promise<Buffer> }> {
  const child = spawn(process.execPath, [CLI, 'backup', '-', '--recipient', keys.recipient], {
    env: server.environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'readable');
  return {
    child,
    finish: async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of child.stdout) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
  };
}

const countOf = async (tables: Tables): Promise<number> =>
  (await tables.read("SELECT count(*) AS count FROM activity WHERE operation = 'create_user_tag'"))[0]?.[0]?.count;

test('the embedded database serves, starts and takes commands while it is backed up', async () => {
  await using server = await TestServer.start();
  await fill(server, 400);
  const tag = () => rootOf(server).run('create_user_tag', { userTagName: crypto.randomUUID(), userIds: [] });
  await tag();
  const held = await heldBackup(server);
  await tag();
  // Beside it: a command, another backup, a stop and a kill, and each time a start.
  const verified = await runCli(server.environment, 'verify');
  // What fills the database opens with no key; all else is fine.
  expect(verified.stdout).toMatch(/^verified [0-9]+ rows: all as services wrote them$/m);
  expectRefusal(
    await backup(server, join(server.dataDir, 'x.age'), '--recipient', keys.recipient),
    /another `custos backup` is running/,
  );
  expect(await server.stop()).toBe(0);
  await server.start();
  await tag();
  await server.kill();
  await server.start();
  await tag();
  await using tables = await openTables(server.dataDir, undefined);
  expect(await countOf(tables)).toBe(4);
  const archive = await openArchive(await held.finish(), keys);
  expect(expectConsistent(archive)).toBe(1);
  await waitUntil('it is recorded', async () => (await backups(server)).length === 1);
  // The log goes back to what it is.
  await tag();
  await server.stop();
  await server.start();
  expect(statSync(join(server.dataDir, 'custos.db-wal')).size).toBeLessThan(2 ** 20);
  expect(await countOf(tables)).toBe(5);
}, 120_000);

test('custos backup says what is wrong before it does anything, and when there is no room', async () => {
  await using server = await TestServer.start();
  using folder = temporaryFolder();
  await fill(server, 100);
  const file = join(folder.path, 'one.age');
  const identityFile = join(folder.path, 'identity');
  const recipients = join(folder.path, 'recipients');
  writeFileSync(identityFile, `# public key: ${keys.recipient}\n${keys.identity}\n`);
  writeFileSync(recipients, `# who can open them\n${keys.recipient}\n`);
  writeFileSync(join(folder.path, 'empty'), '# nobody\n');
  const wrong: [string[], RegExp][] = [
    [[], /no place for the backup is given: name a file/],
    [[file, '--to', folder.path], /not to both/],
    [[file, '--keep', '3'], /--keep belongs to --to/],
    [['--to', folder.path, '--overwrite'], /--overwrite belongs to a file/],
    [[file, '--place', 'x'], /--place belongs to a backup to standard output/],
    [[file], /give a recipient/],
    [[file, '--recipient', keys.identity], /that is an identity/],
    [[file, '--recipients-file', identityFile], /that is an identity/],
    [[file, '--recipients-file', join(folder.path, 'empty')], /names no recipient/],
    [[file, '--recipients-file', join(folder.path, 'none')], /cannot read the recipients/],
  ];
  for (const [args, reason] of wrong) {
    const outcome = await backup(server, ...args);
    expectRefusal(outcome, reason);
    expect(outcome.stderr.toUpperCase()).not.toContain(keys.identity.slice(20, 40));
  }
  expect((await backup(server, '--to', folder.path, '--keep', '0')).stderr).toMatch(/whole number from 1/);
  const setting = await runCli({ ...server.environment, CUSTOS_BACKUP_RECIPIENTS: keys.identity }, 'backup', file);
  expectRefusal(setting, /^custos: CUSTOS_BACKUP_RECIPIENTS must be recipients of age/);
  expect(setting.stderr).not.toContain(keys.identity.slice(20, 40));

  const limited = spawnSync(
    'bash',
    [
      '--norc',
      '-c',
      `ulimit -f 500; '${process.execPath}' '${CLI}' backup '${file}' --recipients-file '${recipients}'`,
    ],
    {
      env: server.environment,
      encoding: 'utf8',
    },
  );
  expect(limited.stderr).toMatch(/^custos: there is no room for one.age in .* \(EFBIG\): nothing is left of it/);
  expect(limited.status).toBe(1);
  expect(readdirSync(folder.path).toSorted()).toEqual(['empty', 'identity', 'recipients']);
  expect(await backups(server)).toEqual([]);

  const ended = spawn(process.execPath, [CLI, 'backup', file, '--recipient', keys.recipient], {
    env: server.environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said: Buffer[] = [];
  ended.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  await waitUntil('it writes', () => existsSync(`${file}.partial`));
  ended.kill('SIGTERM');
  await once(ended, 'close');
  // It may have been faster than the signal.
  if (!existsSync(file))
    expect(Buffer.concat(said).toString()).toMatch(/^custos: ended by SIGTERM: no backup was made/);
  expect(existsSync(`${file}.partial`)).toBe(false);

  const set = { ...server.environment, CUSTOS_BACKUP_RECIPIENTS: `${keys.recipient}, ${keys.recipient}` };
  expect(await runCli(set, 'backup', file, '--overwrite', '--with-keys')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^keys +the key ring is inside: whoever opens the backup can open every key$/m),
  });
  const { keys: ring } = await openArchive(file, keys);
  expect(Buffer.from(ring?.ring ?? [])).toEqual(readFileSync(join(server.dataDir, 'root.key')));
}, 120_000);
