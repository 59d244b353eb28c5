import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeDatabase } from '../faults/sealed-world.ts';
import { type Outcome, onPostgres, runCli } from '../faults/support.ts';
import { createPostgresDatabase, DATABASES, databasesOf } from '../harness/databases.ts';
import { remark } from '../harness/remark.ts';
import { BackedUp, backUp, dump, emptyPlace } from './support.ts';

const SECONDS = 120_000;

describe.each(DATABASES)('a drill with a backup of %s', (database) => {
  // To these it is a backup, of whichever database.
  const testHere = databasesOf(import.meta.url).includes(database) ? test : undefined;

  let made: BackedUp;
  let tmp: string;
  beforeAll(async () => {
    made = await BackedUp.make(database);
    tmp = join(made.folder, 'tmp');
    mkdirSync(tmp);
  }, SECONDS);
  afterAll(async () => {
    await made?.[Symbol.asyncDispose]();
  });

  const drill = (archive: string, ...args: string[]): Promise<Outcome> =>
    runCli({ ...made.server.environment, TMPDIR: tmp }, 'drill', archive, '-i', made.key.file, ...args);

  test('finds nothing wrong, touches nothing and leaves nothing', { timeout: SECONDS }, async () => {
    const before = await dump(made.config);
    const { code, stdout } = await drill(made.archive, '--full');
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        /^backup [0-9a-f-]{36} of 20\S+Z, by version \S+: organization My organization \([0-9a-f-]{36}\) and 1 more, \d+ rows$/,
      ),
      expect.stringMatching(/^verified \d+ rows: all as services wrote them$/),
      expect.stringMatching(/^opened \d+ secrets of 2 organizations: all open$/),
      'compared 4 of 4 accounts and keys: all have the addresses of their keys',
      'signed with a key of each curve: secp256k1 verified, P-256 verified, Ed25519 verified',
      expect.stringMatching(/^drill ended after \d+ s: it can be restored$/),
      '',
    ]);
    expect(code).toBe(0);
    const inner = await drill(made.archiveWithKeys, '--with-keys', '--json', '--sample', '1');
    const report = JSON.parse(inner.stdout);
    expect(report).toMatchObject({ findings: 0, required: true, backup: { described: { organizations: 2 } } });
    expect([inner.code, report.addresses]).toEqual([0, { compared: 2, of: 4, wrong: 0 }]);
    expect(await dump(made.config)).toEqual(before);
    expect(readdirSync(tmp)).toEqual([]);
  });

  testHere?.('goes into a PostgreSQL database, and is gone from there', { timeout: SECONDS }, async () => {
    await using other = await createPostgresDatabase({ isEmpty: true });
    const { code, stdout } = await drill(made.archive, '--database', other.url, '--json');
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { findings: 0 }]);
    const { rows } = await onPostgres(other.url, (client) =>
      client.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'custos%'"),
    );
    expect(rows).toEqual([]);
  });

  test('finds rows, secrets and addresses that are wrong, and exits 1', { timeout: SECONDS }, async () => {
    const { server, key, folder } = made;
    const place = { dataDir: server.dataDir, databaseUrl: server.databaseUrl };
    await writeDatabase(server, "UPDATE app_user SET name = 'somebody else'");
    // These are marked, as if the service had written them.
    await writeDatabase(server, "UPDATE wallet_account SET address = '0x0000000000000000000000000000000000000001'");
    await remark(place, 'wallet_account');
    await writeDatabase(server, "UPDATE private_key SET public_key = '02' || public_key WHERE curve = 'CURVE_P256'");
    await remark(place, 'private_key', "curve = 'CURVE_P256'");
    await writeDatabase(server, 'UPDATE secret SET sealed_secret = ?', [Buffer.alloc(200)]);
    await remark(place, 'secret');
    const archive = await backUp(made.config, join(folder, 'bad.backup'), key);
    const { code, stdout } = await drill(archive, '--full', '--json');
    const found = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const total = found.pop();
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ check: 'row', table: 'app_user', because: 'mark' }),
        expect.objectContaining({ check: 'secret', table: 'secret' }),
        expect.objectContaining({
          check: 'address',
          table: 'wallet_account',
          because: expect.stringContaining('derives'),
        }),
        expect.objectContaining({ check: 'address', table: 'private_key' }),
        expect.objectContaining({ check: 'signature', curve: 'CURVE_P256', outcome: 'wrong' }),
      ]),
    );
    expect([code, total.findings]).toEqual([1, found.length]);
    // The same of the database itself.
    const verified = await runCli(server.environment, 'verify', '--full', '--json');
    expect(verified.stdout.trimEnd().split('\n').slice(0, -1).sort()).toEqual(
      stdout.trimEnd().split('\n').slice(0, -1).sort(),
    );
    expect(verified.code).toBe(1);
    const text = await drill(archive);
    expect(text.stdout).toMatch(/\ndrill ended after \d+ s: \d+ found wrong\n$/);
  });

  testHere?.('exits 2 where it cannot be done', { timeout: SECONDS }, async () => {
    await using place = await emptyPlace('sqlite');
    const env = { ...place.environment, TMPDIR: tmp };
    const command = ['drill', made.archive, '-i', made.key.file];
    expect(await runCli(env, ...command)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /custos: cannot open the root key .* restore that key from a backup of the key ring/,
      ),
    });
    expect(await runCli(env, 'drill', made.archive)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('identity'),
    });
    expect(readdirSync(tmp)).toEqual([]);
    // A ring of something else.
    copyFileSync(join(made.server.dataDir, 'root.key'), join(place.config.dataDir, 'root.key'));
    expect((await runCli(env, ...command)).code).toBe(0);
  });
});
