import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { InstallationStore } from '../../../src/core/store/installation.ts';
import { SqliteFile } from '../../../src/storage/sqlite-driver.ts';
import { onPostgres, statusOf, waitUntil } from '../../faults/support.ts';
import { openTestApp, type TestApp } from '../../harness/app.ts';
import { DATABASES, type DatabaseKind } from '../../harness/databases.ts';

// While processes are replaced one by one, those of the old version stay ready beside what a newer one has migrated, if
// it says that they can.

async function runBeside({ app }: TestApp, statement: string): Promise<void> {
  const { databaseUrl, dataDir } = app.config;
  if (databaseUrl !== undefined) {
    await onPostgres(databaseUrl, (client) => client.query(statement));
    return;
  }
  const file = new SqliteFile(join(dataDir, 'custos.db'));
  file.exec(statement);
  file.close();
}

async function openReady(database: DatabaseKind): Promise<TestApp> {
  const at = await openTestApp(database);
  const { storage, keyring } = at.app;
  await storage.write((store) => store(InstallationStore).claim('root_key_id', keyring.rootKeyId));
  return at;
}

/** An answer holds for a second. */
const becomes = (at: TestApp, status: number, when: string): Promise<void> =>
  waitUntil(`${status} ${when}`, async () => (await statusOf(at.baseUrl, '/readyz')) === status);

describe.each(DATABASES)('readiness beside a newer version on %s', (database) => {
  test('stays after a compatible migration, ends with one that is not or says nothing', async () => {
    await using at = await openReady(database);
    expect(await statusOf(at.baseUrl, '/readyz')).toBe(200);

    // It stays there, so that every return to ready below is beside it.
    await runBeside(at, "INSERT INTO schema_migration VALUES ('9997-wider', 1, 'expand')");
    const made = await at.root.submit('create_user_tag', { userTagName: 'beside', userIds: [] });
    expect(made.status).toBe(200);

    for (const mark of ["'contract'", "'later'", 'DEFAULT']) {
      await runBeside(at, markedWith(mark));
      await becomes(at, 503, `with ${mark}`);
      await runBeside(at, "DELETE FROM schema_migration WHERE name = '9998-narrower'");
      await becomes(at, 200, `after ${mark}`);
    }
  });

  test('ends where a migration is missing that this version needs', async () => {
    await using at = await openReady(database);
    expect(await statusOf(at.baseUrl, '/readyz')).toBe(200);
    await runBeside(at, "DELETE FROM schema_migration WHERE name LIKE '0015-%'");
    await becomes(at, 503, 'without it');
  });
});

const markedWith = (mark: string): string =>
  mark === 'DEFAULT'
    ? "INSERT INTO schema_migration (name, applied_at_ms) VALUES ('9998-narrower', 1)"
    : `INSERT INTO schema_migration VALUES ('9998-narrower', 1, ${mark})`;
