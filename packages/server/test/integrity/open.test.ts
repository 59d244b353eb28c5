import { copyFileSync } from 'node:fs';
import { createKeyring } from '@custos/keyring';
import { describe, expect, test } from 'vitest';
import { openRootKey } from '../../src/bootstrap.ts';
import type { Config } from '../../src/config/config.ts';
import { dataModel } from '../../src/domains.ts';
import { type EnablePlan, enableIntegrity } from '../../src/integrity/enable.ts';
import { describeViolation, openIntegrity } from '../../src/integrity/open.ts';
import { verifyRows } from '../../src/integrity/passes.ts';
import { openServiceKeys } from '../../src/service-keys.ts';
import { openStorage } from '../../src/storage/open.ts';
import { verifyMarks, withStorage } from '../fixtures/integrity.ts';
import { KeyDeployment } from '../fixtures/key-deployment.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';

const SECONDS = 60_000;

/** What a start does before it listens; answers with what it said. */
async function start(config: Config, during: () => Promise<void> = async () => {}): Promise<string[]> {
  const said: string[] = [];
  const storage = await openStorage({ dataModel, ...config, nowMs: Date.now(), onIdleError: () => {} });
  try {
    const keyring = await openRootKey(storage, config.rootKey, 'inline');
    try {
      const warn = (line: string): void => void said.push(line);
      await openServiceKeys(storage, keyring, Date.now(), { warn, say: warn });
      said.push(storage.integrity.isRequired ? 'required' : 'not required');
      await during();
    } finally {
      await keyring.close();
    }
  } finally {
    await storage.close();
  }
  return said;
}

async function requiredBy(config: Config): Promise<string[]> {
  const keyring = await createKeyring({ rootKey: config.rootKey, mode: 'inline' });
  try {
    return await keyring.integrityRequired();
  } finally {
    await keyring.close();
  }
}

async function verify(config: Config): Promise<{ bad: string[]; unmarked: number; isRequired: boolean }> {
  const bad: string[] = [];
  const { unmarked, isRequired } = await verifyMarks(config, (violation) => bad.push(describeViolation(violation)));
  return { bad: bad.map((line) => line.replace(/[0-9a-f-]{36}/g, 'ID')), unmarked, isRequired };
}

/** As an older version leaves a deployment: no marks, no digests, no integrity key, and a ring that requires none. */
async function makeOlder(kind: DatabaseKind): Promise<KeyDeployment> {
  const one = await KeyDeployment.make(kind, { ringBefore: true });
  await one.forgetMarks();
  return one;
}

const keyIds = async (one: KeyDeployment): Promise<string[]> =>
  (await one.read('SELECT key_id FROM integrity_key ORDER BY generation')).map(({ key_id }) => key_id as string);

describe.each(DATABASES)('the integrity key on %s', { timeout: SECONDS }, (kind) => {
  test('is made once, lent at each start, and required from the first organization on', async () => {
    await using one = await KeyDeployment.make(kind);
    const [id = '', ...others] = await keyIds(one);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(others).toEqual([]);
    expect(await requiredBy(one.config)).toEqual([id]);
    expect(await one.fact('integrity')).toMatch(new RegExp(`^required ${id} [A-Za-z0-9_-]{43}$`));
    expect(await start(one.config)).toEqual(['required']);
    expect(await keyIds(one)).toEqual([id]);
    expect(await verify(one.config)).toEqual({ bad: [], unmarked: 0, isRequired: true });
  });

  test('is one for two first starts at once', async () => {
    await using one = await KeyDeployment.make(kind, { isEmpty: true });
    const storage = await openStorage({ dataModel, ...one.config, nowMs: 0, onIdleError: () => {} });
    const second =
      kind === 'postgres' ? await openStorage({ dataModel, ...one.config, nowMs: 0, onIdleError: () => {} }) : storage;
    const keyring = await openRootKey(storage, one.config.rootKey, 'inline');
    await Promise.all([storage, second, storage, second].map((each) => openIntegrity(each, keyring, 0)));
    const ids = await keyIds(one);
    expect(ids).toHaveLength(1);
    expect(await keyring.integrityRequired()).toEqual(ids);
    expect([storage.integrity.isRequired, second.integrity.isRequired]).toEqual([true, true]);
    await keyring.close();
    await storage.close();
    if (second !== storage) await second.close();
  });

  test('that the ring requires and the database lacks ends the start', async () => {
    await using one = await KeyDeployment.make(kind);
    const [id] = await keyIds(one);
    await one.write('DELETE FROM integrity_key');
    await one.write("DELETE FROM deployment WHERE name = 'integrity'");
    await expect(start(one.config)).rejects.toThrow(
      `the key ring says that rows are authenticated under integrity key ${id}, and the database has none`,
    );
    await expect(verify(one.config)).rejects.toThrow(/integrity key/);
    expect(await keyIds(one)).toEqual([]);
  });

  test('that somebody changed ends the start', async () => {
    await using one = await KeyDeployment.make(kind);
    await one.write(
      "UPDATE deployment SET value = (SELECT value FROM deployment WHERE name = 'root_key_id') WHERE name = 'feed_key'",
    );
    const zero = kind === 'postgres' ? "decode('00', 'hex')" : "x'00'";
    await one.write(`UPDATE integrity_key SET sealed_key = ${zero}`);
    await expect(start(one.config)).rejects.toThrow(/integrity key [0-9a-f]{32} of the database does not open/);
  });

  test('stays required when the note is taken away, and the note comes back', async () => {
    await using one = await KeyDeployment.make(kind);
    await one.write("DELETE FROM deployment WHERE name = 'integrity'");
    expect(await start(one.config)).toEqual(['required']);
    expect(await one.fact('integrity')).toMatch(/^required /);
  });

  test('is required in another ring once that reads the note, and a note that others wrote says nothing', async () => {
    await using older = await makeOlder(kind);
    await older.putFact('integrity', `required ${'0'.repeat(32)} ${'A'.repeat(43)}`);
    if (kind === 'postgres') expect(await start(older.config)).toEqual(['not required']);
    await using one = await KeyDeployment.make(kind, { ringBefore: true });
    const ids = await requiredBy(one.config);
    copyFileSync(`${one.ringPath}.before`, one.ringPath);
    expect(await requiredBy(one.config)).toEqual([]);
    expect(await start(one.config)).toEqual(['required']);
    expect(await requiredBy(one.config)).toEqual(ids);
  });
});

describe.each(DATABASES)('what somebody else wrote on %s', { timeout: SECONDS }, (kind) => {
  test('is found by verify: an insert, an update, and a row that is gone from a set', async () => {
    await using one = await KeyDeployment.make(kind);
    await one.write(
      "INSERT INTO tag (organization_id, id, type, name, created_at_ms, updated_at_ms) SELECT id, '11111111-1111-4111-8111-111111111111', 'user', 'x', 0, 0 FROM organization",
    );
    await one.write("UPDATE organization SET name = 'two'");
    await one.write('DELETE FROM api_key');
    const { bad } = await verify(one.config);
    expect(bad.sort()).toEqual([
      'app_user ID of organization ID (set)',
      'organization ID (mark)',
      'tag ID of organization ID (unmarked)',
    ]);
  });
});

test('text that SQLite cuts off is found by verify, which goes on behind it', { timeout: SECONDS }, async () => {
  await using one = await KeyDeployment.make('sqlite');
  const [user] = await one.read('SELECT * FROM app_user');
  const columns = Object.keys(user ?? {});
  const copyAs = (id: string) =>
    one.write(
      `INSERT INTO app_user (${columns}) SELECT ${columns.map((column) => (column === 'id' ? id : column))} FROM app_user LIMIT 1`,
    );
  // Each is read as the row that it is a copy of, with its mark; the last one ends every page.
  for (const id of ['id || char(0)', "id || char(0) || 'x'"]) await copyAs(id);
  await one.write("UPDATE organization SET name = name || char(0) || 'more'");
  const { bad } = await verify(one.config);
  expect(bad.sort()).toEqual([
    'app_user ID of organization ID (damaged)',
    'app_user ID of organization ID (damaged)',
    'organization ID (damaged)',
  ]);
});

describe('a database of an older version', { timeout: SECONDS }, () => {
  test('that is embedded is marked by a start', async () => {
    await using one = await makeOlder('sqlite');
    expect(await start(one.config)).toEqual(['required']);
    expect(await verify(one.config)).toEqual({ bad: [], unmarked: 0, isRequired: true });
    expect(await requiredBy(one.config)).toEqual(await keyIds(one));
    // From then on nothing is marked for anybody.
    await one.write('UPDATE api_key SET api_key_mac = NULL');
    expect(await start(one.config)).toEqual(['required']);
    expect((await verify(one.config)).bad.sort()).toEqual([
      'api_key ID of organization ID (unmarked)',
      'app_user ID of organization ID (set)',
    ]);
  });

  test('that is embedded is not required to have marks while one does not fit', async () => {
    await using one = await makeOlder('sqlite');
    await one.write("UPDATE app_user SET app_user_mac = '1.AAAAAAAAAAAAAAAAAAAAAA'");
    const [warning, state] = await start(one.config);
    expect(warning).toMatch(
      /^rows are not required to be authenticated yet: 1 have a mark that does not fit \(app_user /,
    );
    expect(state).toBe('not required');
    expect(await requiredBy(one.config)).toEqual([]);
    // A person has looked at it.
    await one.write('UPDATE app_user SET app_user_mac = NULL');
    expect(await start(one.config)).toEqual(['required']);
    expect((await verify(one.config)).bad).toEqual([]);
  });

  test('on PostgreSQL is as it was until somebody enables marks', async () => {
    await using one = await makeOlder('postgres');
    expect(await start(one.config)).toEqual(['not required']);
    expect(await requiredBy(one.config)).toEqual([]);
    const { unmarked, isRequired, bad } = await verify(one.config);
    expect([unmarked > 0, isRequired, bad]).toEqual([true, false, []]);
    const plans: EnablePlan[] = [];
    const options = { say: () => {}, report: () => {}, drainMs: 0 };
    const declined = { ...options, confirm: async (plan: EnablePlan) => plans.push(plan) === 0 };
    expect(await enableIntegrity(one.config, declined)).toBeUndefined();
    expect(plans).toMatchObject([{ isEnabled: false, processes: [] }]);
    expect(await one.fact('integrity')).toBeUndefined();
    const enabled = await enableIntegrity(one.config, { ...options, confirm: async () => true });
    expect(enabled).toMatchObject({ marked: unmarked, bad: 0 });
    expect(await verify(one.config)).toEqual({ bad: [], unmarked: 0, isRequired: true });
    expect(await requiredBy(one.config)).toEqual(await keyIds(one));
    // Nothing is marked a second time.
    await one.write('UPDATE api_key SET api_key_mac = NULL');
    expect(await enableIntegrity(one.config, { ...options, confirm: async () => true })).toMatchObject({ marked: 0 });
    expect((await verify(one.config)).bad).toHaveLength(2);
  });

  test('on PostgreSQL is not marked by another machine once the note says that it is', async () => {
    await using one = await makeOlder('postgres');
    const other = one.withCopyOfRing('other.key');
    await start(one.config);
    const options = { say: () => {}, report: () => {}, drainMs: 0, confirm: async () => true };
    await enableIntegrity(one.config, options);
    await one.write('UPDATE api_key SET api_key_mac = NULL');
    expect(await enableIntegrity(other.config, options)).toMatchObject({ marked: 0 });
    expect(await requiredBy(other.config)).toEqual(await keyIds(one));
  });
});

test.each(DATABASES)('every table can be marked and read again on %s', { timeout: SECONDS }, async (kind) => {
  await using one = await makeOlder(kind);
  await start(one.config);
  await withStorage(one.config, async (storage) => {
    const verified = await verifyRows(storage, () => {});
    expect(verified.bad).toBe(0);
  });
});
