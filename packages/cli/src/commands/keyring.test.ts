import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sealedColumns } from '../../../server/src/core/store/sealed.ts';
import { dataModel } from '../../../server/src/domains.ts';
import { SealedWorld, writeDatabase } from '../../../server/test/faults/sealed-world.ts';
import { expectRefusal, openTables, type Row, runCli, temporaryFolder } from '../../../server/test/faults/support.ts';
import { databasesOf } from '../../../server/test/harness/databases.ts';
import { TestServer } from '../../../server/test/harness/server.ts';

describe.each(databasesOf(import.meta.url))('custos keyring verify on %s', (database) => {
  test('names every kind of secret that does not open, beside a running service', { timeout: 120_000 }, async () => {
    await using server = await TestServer.start({ database, env: { CUSTOS_DEV_INBOX: 'on' } });
    const world = await SealedWorld.make(server);
    await world.addMessages(server);
    await world.addOlderBodies(server);
    const verify = () => runCli(server.environment, 'keyring', 'verify');
    const whole = await verify();
    expect(whole).toMatchObject({ code: 0, stderr: '' });
    const [, secrets] = /^verified ([0-9]+) secrets of 2 organizations: all open\n$/.exec(whole.stdout) ?? [];

    const expected: string[] = [];
    let count = 0;
    for (const { table, column, key, organizationId } of sealedColumns(dataModel.tables)) {
      await using tables = await openTables(server.dataDir, server.databaseUrl);
      const [rows = []] = await tables.read(
        `SELECT * FROM ${table} WHERE ${column} IS NOT NULL ORDER BY ${key.join(', ')}`,
      );
      expect([table, rows.length]).not.toEqual([table, 0]);
      count += rows.length;
      const row = rows.at(-1) as Row;
      await damage(server, table, column, key, row);
      const id = key.filter((name) => name !== 'organization_id').map((name) => row[name]);
      expected.push(`not opened: ${table} ${id.join(' ')} of organization ${organizationId ?? row.organization_id}`);
    }
    expect(Number(secrets)).toBe(count);
    const { code, stdout, stderr } = await verify();
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      ...expected,
      `verified ${count} secrets of 2 organizations: ${expected.length} not opened`,
      '',
    ]);
  });
});

const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  rotate: ['rotate', '--yes'],
  'rotate --dry-run': ['rotate', '--dry-run'],
  retire: ['retire', '00'.repeat(16), '--yes'],
  verify: ['verify'],
};

describe('a foreign folder, database or key is refused in one line', () => {
  const NO_SERVICE = /custos\.db holds no Custos service: start the service first/;
  const keyring = (env: Readonly<Record<string, string>>, command: readonly string[]) =>
    runCli(env, 'keyring', ...command);

  test.each(Object.entries(COMMANDS))('to custos keyring %s a folder', async (_name, command) => {
    using folder = temporaryFolder();
    expectRefusal(await keyring({ CUSTOS_DATA_DIR: folder.path }, command), NO_SERVICE);
  });

  // One reader of settings and one way to open a database serve all of them.
  test('a setting, and a database on PostgreSQL', async () => {
    using folder = temporaryFolder();
    const command = COMMANDS['rotate'] ?? [];
    expectRefusal(await keyring({ CUSTOS_DATA_DIRS: 'x' }, command), /CUSTOS_DATA_DIRS is not a setting/);
    const env = { CUSTOS_DATA_DIR: folder.path, CUSTOS_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' };
    expectRefusal(await keyring(env, command), /cannot use the PostgreSQL/);
  });

  test('a root key, and a database of another version', { timeout: 120_000 }, async () => {
    using folder = temporaryFolder();
    await using server = await TestServer.start();
    const env = { ...server.environment, CUSTOS_ROOT_KEY: `file:${join(folder.path, 'missing.key')}` };
    for (const command of Object.values(COMMANDS))
      expectRefusal(await keyring(env, command), /cannot open the root key .*missing\.key.*restore that key/);
    await server.stop();
    await writeDatabase(server, 'DELETE FROM schema_migration WHERE name LIKE ?', ['0002%']);
    expectRefusal(
      await keyring(server.environment, COMMANDS['rotate'] ?? []),
      /is of an older version: start this version/,
    );
  });
});

test('help and mistakes in the arguments', async () => {
  const env = {};
  const help = await runCli(env, 'keyring', '--help');
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toMatch(/rotate .*retire .*unretire .*reseal .*verify/s);
  expect((await runCli(env, 'keyring', 'rotate', '--help')).stdout).toContain('--wait <seconds>');
  for (const wait of ['x', '-1', '1.5', '86401', '']) {
    const outcome = await runCli(env, 'keyring', 'rotate', '--wait', wait);
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toMatch(
      /^error: option '--wait <seconds>' argument '.*' is invalid\. It must be a whole number/,
    );
  }
  expect(await runCli(env, 'keyring', 'turn')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: unknown command 'turn'/),
  });
});

/** Flips the last bit of one row's sealed bytes. */
async function damage(
  server: TestServer,
  table: string,
  column: string,
  key: readonly string[],
  row: Row,
): Promise<void> {
  const bytes = Buffer.from(row[column]);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
  const where = key.map((name) => `${name} = ?`).join(' AND ');
  const values = [bytes, ...key.map((name) => row[name])];
  await writeDatabase(server, `UPDATE ${table} SET ${column} = ? WHERE ${where}`, values);
}
