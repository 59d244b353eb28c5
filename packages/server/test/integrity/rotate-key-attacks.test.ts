import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { createKeyring, KeyringError } from '@custos/keyring';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { InstallationReader } from '../../src/core/store/installation.ts';
import { dataModel } from '../../src/domains.ts';
import { INTEGRITY_FACTS, IntegrityFollower } from '../../src/integrity/follower.ts';
import { requireLoadedIntegrity } from '../../src/integrity/load.ts';
import { rotateIntegrityKey } from '../../src/integrity/rotate-key.ts';
import { digestOf } from '../../src/storage/integrity/sets.ts';
import { openStorage } from '../../src/storage/open.ts';
import { newWallet, writeDatabase } from '../faults/sealed-world.ts';
import { openTables, type Row, runCli, temporaryFolder, waitUntil } from '../faults/support.ts';
import { createUser, TestClient } from '../harness/client.ts';
import { DATABASES, databasesOf } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';

// Somebody who writes to the database waits for the integrity key to be replaced.

const SECONDS = 180_000;
const KEY_COLUMNS = 'key_id, generation, sealed_key, created_at_ms';

const rotate = (server: TestServer) => runCli(server.environment, 'integrity', 'rotate-key', '--yes');

async function read(server: TestServer, statement: string): Promise<Row[]> {
  await using tables = await openTables(server.dataDir, server.databaseUrl);
  const [rows = []] = await tables.read(statement);
  return rows;
}

const write = (server: TestServer, statement: string, values: readonly unknown[] = []) =>
  writeDatabase({ dataDir: server.dataDir, databaseUrl: server.databaseUrl }, statement, values);

const keysOf = (server: TestServer) =>
  read(server, 'SELECT generation, key_id FROM integrity_key ORDER BY generation').then((rows) =>
    rows.map(({ generation, key_id }) => [Number(generation), String(key_id)]),
  );

async function plantKey(server: TestServer, generation: number): Promise<string> {
  using folder = temporaryFolder();
  const stolen = join(folder.path, 'root.key');
  copyFileSync(join(server.dataDir, 'root.key'), stolen);
  const [row] = await read(server, "SELECT value FROM deployment WHERE name = 'deployment_key'");
  await using keyring = await createKeyring({ rootKey: `file:${stolen}`, mode: 'inline' });
  const { keyId, sealed } = await keyring.createIntegrityKey(Buffer.from(row?.value, 'hex'), generation);
  await write(server, `INSERT INTO integrity_key (${KEY_COLUMNS}) VALUES (?, ?, ?, ?)`, [
    keyId,
    generation,
    Buffer.from(sealed),
    1,
  ]);
  return keyId;
}

describe.concurrent.each(DATABASES)('a replacement of the integrity key on %s', { timeout: SECONDS }, (database) => {
  test('says so where the database does not keep the new key', async () => {
    await using server = await TestServer.start({ database });
    const before = await keysOf(server);
    await write(
      server,
      database === 'sqlite'
        ? 'CREATE TRIGGER quiet BEFORE INSERT ON integrity_key BEGIN SELECT RAISE(IGNORE); END'
        : 'CREATE RULE quiet AS ON INSERT TO integrity_key DO INSTEAD NOTHING',
    );
    const outcome = await rotate(server);
    expect([outcome.code === 0, outcome.stderr]).toEqual([
      false,
      expect.stringContaining('the database did not keep the new integrity key'),
    ]);
    expect(await keysOf(server)).toEqual(before);
  });

  // Decided by what rows hold, whichever database has them.
  if (!databasesOf(import.meta.url).includes(database)) return;

  test('signs no row that pretends to have the new mark already, nor what belongs to it', async () => {
    await using server = await TestServer.start({ database });
    const root = TestClient.root(server.credentials, server.baseUrl);
    const low = await createUser(root, 'low');
    const victim = await createUser(root, 'victim');
    const { policyId } = await root.run('create_policy', {
      policyName: 'nobody',
      effect: 'EFFECT_DENY',
      consensus: 'true',
      condition: 'true',
      notes: '',
    });
    const forged = '2.AAAAAAAAAAAAAAAAAAAAAA';
    await write(server, 'UPDATE app_user SET email = ?, app_user_mac = ? WHERE id = ?', [
      'thief@example.com',
      forged,
      victim.userId,
    ]);
    await write(server, 'DELETE FROM policy WHERE id = ?', [policyId]);
    const [organization] = await read(
      server,
      `SELECT rules_digest FROM organization WHERE id = '${root.organizationId}'`,
    );
    const digests = { ...JSON.parse(organization?.rules_digest), policy: digestOf([]) };
    await write(
      server,
      'UPDATE organization SET root_user_ids = ?, root_threshold = 1, rules_digest = ?, organization_mac = ? WHERE id = ?',
      [JSON.stringify([low.userId]), JSON.stringify(digests), forged, root.organizationId],
    );
    const outcome = await rotate(server);
    expect([outcome.code, outcome.stdout]).toEqual([1, expect.stringMatching(/2 that do not verify/)]);
    expect(outcome.stdout).toContain(`left as it is: organization ${root.organizationId}`);
    expect(outcome.stdout).toContain(`left as it is: app_user ${victim.userId} of organization `);
    expect((await low.submit('create_wallet', newWallet('after'))).body.errorCode).toBe('INTEGRITY_VIOLATION');
    expect((await runCli(server.environment, 'verify')).code).toBe(1);
  });

  test('is not taken for done because of the note of an earlier one', async () => {
    await using server = await TestServer.start({ database });
    let kept: string | undefined;
    const rotating = rotate(server);
    await waitUntil('a note says that rows are marked', async () => {
      const [row] = await read(server, "SELECT value FROM deployment WHERE name = 'integrity_rotation'");
      if (String(row?.value).startsWith('marking')) kept = row?.value;
      return kept !== undefined;
    });
    expect((await rotating).code).toBe(0);
    const before = await keysOf(server);
    await write(server, 'INSERT INTO deployment (name, value) VALUES (?, ?)', ['integrity_rotation', kept]);
    expect((await rotate(server)).code).toBe(0);
    const after = await keysOf(server);
    expect([before.length, after.length]).toEqual([1, 1]);
    expect(after).not.toEqual(before);
  });

  test('leaves no key in use that somebody else has sealed', async () => {
    await using server = await TestServer.start({ database });
    const planted = await plantKey(server, 2);
    const outcome = await rotate(server);
    expect([outcome.code, outcome.stderr]).toEqual([0, expect.stringContaining('another key takes its place now')]);
    const keys = await keysOf(server);
    expect(keys).toEqual([[3, expect.not.stringMatching(planted)]]);

    const odd = await plantKey(server, 2 ** 31 - 1);
    const refused = await rotate(server);
    expect([refused.code === 0, refused.stderr]).toEqual([
      false,
      expect.stringContaining(`DELETE FROM integrity_key WHERE key_id = '${odd}'`),
    ]);
    await write(server, 'DELETE FROM integrity_key WHERE key_id = ?', [odd]);
    expect((await rotate(server)).code).toBe(0);
    expect((await keysOf(server)).map(([generation]) => generation)).toEqual([4]);
  });
});

test('a process whose ring could not be written goes on, and writes it when it can', { timeout: SECONDS }, async () => {
  await using server = await TestServer.start({ database: 'postgres' });
  using folder = temporaryFolder();
  const rootKey = join(folder.path, 'root.key');
  copyFileSync(join(server.dataDir, 'root.key'), rootKey);
  const config = readConfig(server.environment);
  const storage = await openStorage({ dataModel, ...config, nowMs: Date.now(), onIdleError: () => {} });
  const real = await createKeyring({ rootKey: `file:${rootKey}`, mode: 'inline' });
  let following: NodeJS.Timeout | undefined;
  try {
    let isReadOnly = true;
    const keyring = new Proxy(real, {
      get: (target, name) => {
        if (name === 'requireIntegrity' && isReadOnly)
          return async () => {
            throw new KeyringError('ROOT_KEY_INVALID', 'the file system takes no writes');
          };
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const warnings: string[] = [];
    const loaded = await requireLoadedIntegrity(storage, keyring);
    const follower = new IntegrityFollower(storage, keyring, loaded, (line) => warnings.push(line));
    const follow = async () => follower.follow(await storage.read(InstallationReader).facts(INTEGRITY_FACTS));
    following = setInterval(() => void follow().catch(() => {}), 200);
    const options = { say: () => {}, report: () => {}, confirm: async () => true, drainMs: 500, commandsMs: 500 };
    const first = await rotateIntegrityKey(config, options);
    await waitUntil('the process follows', () => follower.state.since === first?.keyId);
    await waitUntil('it says what it cannot do', () => warnings.length > 0);
    expect(follower.state.isInRing).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('the file system takes no writes')]);
    isReadOnly = false;
    await waitUntil('its ring is written', () => follower.state.isInRing);
    expect((await real.integrityRequired()).at(-1)).toBe(first?.keyId);
    const second = await rotateIntegrityKey(config, options);
    await waitUntil('it follows once more', () => follower.state.since === second?.keyId && follower.state.isInRing);
  } finally {
    clearInterval(following);
    await real.close();
    await storage.close();
  }
});
