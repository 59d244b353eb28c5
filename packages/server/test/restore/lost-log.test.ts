import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RestorationReader } from '../../src/fence/store.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { newWallet } from '../faults/sealed-world.ts';
import { type Outcome, runCli, runService, temporaryFolder } from '../faults/support.ts';
import { withStorage } from '../fixtures/integrity.ts';
import { TestClient } from '../harness/client.ts';
import { TestServer } from '../harness/server.ts';
import { configOf } from './support.ts';

// A database file that was copied without its log opens, and every row in it is genuine: only the newest are missing.

const SECONDS = 120_000;
const SECRETS = 40;
const TOLD = /custos: the database \S+ was copied from beside a running service without its log/;

async function withWallets(server: TestServer, name = 'wallet'): Promise<TestClient> {
  const root = TestClient.root(server.credentials, server.baseUrl);
  for (let index = 0; index < SECRETS; index += 1) await root.run('create_wallet', newWallet(`${name} ${index}`));
  return root;
}

function expectTold({ code, stderr }: Outcome, expected = 1): void {
  expect(stderr).toMatch(TOLD);
  expect(stderr).toContain('custos verify --accept-lost-log');
  expect(code).toBe(expected);
}

test('a copy without it is told by a start, by commands and by verify, until somebody accepts it', {
  timeout: SECONDS,
}, async () => {
  await using server = await TestServer.start();
  await withWallets(server);
  // What is there by now is moved into the file; what comes is in the log.
  expect(await server.stop()).toBe(0);
  await server.start();
  await withWallets(server, 'later wallet');
  using folder = temporaryFolder();
  for (const name of ['custos.db', 'root.key']) copyFileSync(join(server.dataDir, name), join(folder.path, name));
  const env = { ...server.environment, CUSTOS_DATA_DIR: folder.path };
  expectTold(await runService(env));
  expectTold(await runCli(env, 'keyring', 'verify'));
  expectTold(await runCli(env, 'keyring', 'rotate', '--yes'));
  const verified = await runCli(env, 'verify', '--json');
  expect(verified.stdout, verified.stderr).not.toBe('');
  const [finding, total] = verified.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(finding).toEqual({ check: 'log', file: join(folder.path, 'custos.db') });
  // Nothing else tells.
  expect([verified.code, total]).toEqual([1, expect.objectContaining({ bad: 0, unopened: 0, findings: 1 })]);
  expect(total.addresses.of).toBe(SECRETS);
  // To have looked at it changes nothing, also with a program that makes a log for it.
  expectTold(await runService(env));
  using _look = new SqliteFile(join(folder.path, 'custos.db'), { isReadOnly: true });
  _look.prepare('SELECT * FROM wallet').all();
  expectTold(await runService(env));

  const accepted = await runCli(env, 'verify', '--accept-lost-log');
  expect([accepted.code, accepted.stderr]).toEqual([0, expect.stringContaining('it starts fenced')]);
  expect(await runCli(env, 'verify', '--accept-lost-log')).toMatchObject({ code: 2 });
  await using copy = await TestServer.start({ dataDir: folder.path });
  const root = TestClient.root(server.credentials, copy.baseUrl);
  expect((await root.query('whoami')).status).toBe(200);
  expect((await root.submit('create_wallet', newWallet('one more'))).body).toMatchObject({ errorCode: 'FENCED' });
  expect(await copy.stop()).toBe(0);
  const restorations = await withStorage(configOf(env), async (storage) => storage.read(RestorationReader).all());
  expect(restorations).toMatchObject([{ backupId: expect.stringMatching(/^lost-log-/), acceptedAtMs: undefined }]);
});

test('a copy of the whole folder, also of a service that was killed, is as good as the original', {
  timeout: SECONDS,
}, async () => {
  await using server = await TestServer.start();
  await withWallets(server);
  await server.kill();
  expect(statSync(join(server.dataDir, 'custos.db-wal')).size).toBeGreaterThan(0);
  using folder = temporaryFolder();
  const copied = join(folder.path, 'copy');
  cpSync(server.dataDir, copied, { recursive: true });
  // A command that is the last to close the database of a killed service removes its log, and says so in the file.
  expect(await runCli(server.environment, 'keyring', 'verify')).toMatchObject({ code: 0 });
  await server.start();
  const again = TestClient.root(server.credentials, server.baseUrl);
  expect((await again.query('list_wallets')).body.wallets).toHaveLength(SECRETS);
  await server.kill();
  // A kill in the moment after a start leaves a log too.
  await server.start();
  await server.kill();
  await server.start();
  expect(await server.stop()).toBe(0);
  const env = { ...server.environment, CUSTOS_DATA_DIR: copied };
  const verified = await runCli(env, 'verify', '--json');
  expect([verified.code, JSON.parse(verified.stdout)]).toEqual([0, expect.objectContaining({ findings: 0 })]);
  expect(JSON.parse(verified.stdout).addresses.of).toBe(SECRETS);
});

test('the file of a service that was stopped needs no log', { timeout: SECONDS }, async () => {
  await using server = await TestServer.start();
  await withWallets(server);
  // Beside a running service commands leave the log, so that a kill after them loses nothing and tells nothing.
  for (const command of [['verify'], ['keyring', 'verify']])
    expect(await runCli(server.environment, ...command)).toMatchObject({ code: 0 });
  expect(statSync(join(server.dataDir, 'custos.db-wal')).size).toBeGreaterThan(0);
  await server.kill();
  await server.start();
  expect(await server.stop()).toBe(0);
  using folder = temporaryFolder();
  mkdirSync(folder.path, { recursive: true });
  for (const name of ['custos.db', 'root.key']) copyFileSync(join(server.dataDir, name), join(folder.path, name));
  const verified = await runCli({ ...server.environment, CUSTOS_DATA_DIR: folder.path }, 'verify', '--json');
  expect([verified.code, JSON.parse(verified.stdout)]).toMatchObject([0, { addresses: { of: SECRETS } }]);
  rmSync(folder.path, { recursive: true });
});

test('it is not accepted while the newest time in it is one that no clock has had', { timeout: SECONDS }, async () => {
  await using server = await TestServer.start();
  await withWallets(server);
  // What is there by now is moved into the file.
  expect(await server.stop()).toBe(0);
  await server.start();
  using folder = temporaryFolder();
  for (const name of ['custos.db', 'root.key']) copyFileSync(join(server.dataDir, name), join(folder.path, name));
  const file = join(folder.path, 'custos.db');
  {
    using db = new SqliteFile(file);
    db.exec('UPDATE organization SET updated_at_ms = 9007199254740991');
  }
  const env = { ...server.environment, CUSTOS_DATA_DIR: folder.path };
  const refused = await runCli(env, 'verify', '--accept-lost-log');
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('nothing was accepted')]);
  using after = new SqliteFile(file, { isReadOnly: true });
  expect(after.prepare('SELECT id FROM restoration').all()).toEqual([]);
});

/** Takes the last entry out of an index that fills no more than a page; the tables stay as they are. */
function cutIndexShort(file: string): void {
  let pages: { readonly rootpage: number }[];
  let size: number;
  {
    using db = new SqliteFile(file, { isReadOnly: true, isImmutable: true });
    pages = db
      .prepare("SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'wallet'")
      .all() as never;
    size = db.prepare('PRAGMA page_size').get()?.['page_size'] as number;
  }
  const bytes = readFileSync(file);
  // A page of an index begins with 10 where it is a leaf; behind three bytes it says how many entries it has.
  const starts = pages.map(({ rootpage }) => (rootpage - 1) * size);
  const start = starts.find((at) => bytes[at] === 10 && bytes.readUInt16BE(at + 3) > 1) as number;
  bytes.writeUInt16BE(bytes.readUInt16BE(start + 3) - 1, start + 3);
  writeFileSync(file, bytes);
}

test('it is not accepted where the pages of the file do not fit together', { timeout: SECONDS }, async () => {
  await using server = await TestServer.start();
  const root = TestClient.root(server.credentials, server.baseUrl);
  for (const name of ['one', 'two']) await root.run('create_wallet', newWallet(name));
  expect(await server.stop()).toBe(0);
  await server.start();
  using folder = temporaryFolder();
  for (const name of ['custos.db', 'root.key']) copyFileSync(join(server.dataDir, name), join(folder.path, name));
  const file = join(folder.path, 'custos.db');
  cutIndexShort(file);
  const env = { ...server.environment, CUSTOS_DATA_DIR: folder.path };
  const verified = await runCli(env, 'verify', '--json');
  const findings = verified.stdout.trimEnd().split('\n');
  expect(findings.map((line) => JSON.parse(line))).toEqual(
    expect.arrayContaining([{ check: 'file', file, because: expect.stringMatching(/^row \d+ missing from index /) }]),
  );
  expect(verified.code).toBe(1);
  const refused = await runCli(env, 'verify', '--accept-lost-log');
  expect(refused.stdout).toContain(`the database ${file} is damaged: row `);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('nothing was accepted')]);
  expectTold(await runService(env));
});
