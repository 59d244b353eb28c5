import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { InstallationReader } from '../../src/core/store/installation.ts';
import { dataModel } from '../../src/domains.ts';
import { openPostgres } from '../../src/storage/postgres.ts';
import { onPostgres } from '../faults/support.ts';
import { Rows } from '../flows/fixtures/access.ts';
import { openTestApp, type TestApp } from '../harness/app.ts';
import { createUser, type TestClient } from '../harness/client.ts';
import { createPostgresDatabase, DATABASES, type DatabaseKind } from '../harness/databases.ts';

// Somebody changes the schema, so that look-ups find rows that are genuine and others than they asked for.

const MS = 120_000;
const TIMES = 40;

/** A view in the place of a table that answers every other time with one row where the other one is asked for. */
async function swapAtTimes(rows: Rows, database: DatabaseKind, table: string, asked: string, given: string) {
  const columns = Object.keys((await rows.forge(`SELECT * FROM ${table} LIMIT 1`))[0] ?? {});
  // Looked at twice, once to search and once to answer, as both databases do with what they take for a constant expression.
  const flipped =
    database === 'sqlite'
      ? `CASE WHEN id = '${given}' AND random() % 2 = 0 THEN '${asked}' ELSE id END`
      : 'flip(id::text)';
  if (database === 'postgres')
    await rows.forge(`CREATE FUNCTION flip(id text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
      $$ BEGIN RETURN CASE WHEN id = '${given}' AND random() < 0.5 THEN '${asked}' ELSE id END; END $$`);
  const list = columns.map((column) => (column === 'id' ? `${flipped} AS id` : `"${column}"`));
  await rows.forge(`ALTER TABLE ${table} RENAME TO ${table}_x`);
  await rows.forge(`CREATE VIEW ${table} AS SELECT ${list} FROM ${table}_x`);
}

/** Rows that were answered in the place of others, and refused. */
const othersIn = ({ app }: TestApp): string[] =>
  app.storage.integrity.violations
    .filter(({ because }) => because === 'other')
    .map(({ table, row }) => `${table} ${row}`);

const newWallet = async (root: TestClient): Promise<string> =>
  (await root.run('create_wallet', { walletName: `wallet ${Math.random()}`, accounts: [] })).walletId;

describe.each(DATABASES)('a changed schema on %s', (database) => {
  test('no query takes another row for the one that it asks for', { timeout: MS }, async () => {
    await using app = await openTestApp(database);
    const { root } = app;
    const [asked, given] = [await newWallet(root), await newWallet(root)];
    await using rows = await Rows.open(app.app.config);
    await swapAtTimes(rows, database, 'wallet', asked, given);
    for (let time = 0; time < TIMES; time += 1) {
      // What is kept of what was read is forgotten by another's commit.
      await rows.forge('INSERT INTO deployment (name, value) VALUES (?, ?)', [`test ${time}`, '']);
      const { status, body } = await root.query('get_wallet', { walletId: asked });
      if (status === 200) expect(body.wallet.walletId).toBe(asked);
      else expect(body.errorCode).toMatch(/^(INTEGRITY_VIOLATION|NOT_FOUND)$/);
    }
    expect(othersIn(app)).toContain(`wallet ${given}`);
  });

  test('no change is made to another row than the one that is named', { timeout: MS }, async () => {
    await using app = await openTestApp(database);
    const { root } = app;
    const [asked, given] = [await createUser(root, 'asked'), await createUser(root, 'given')];
    await using rows = await Rows.open(app.app.config);
    await swapAtTimes(rows, database, 'app_user', asked.userId, given.userId);
    // What the service holds is looked at alone: the database would write to both rows. SQLite writes to no view anyway.
    if (database === 'postgres') await rows.forge('CREATE RULE nothing AS ON UPDATE TO app_user DO INSTEAD NOTHING');
    for (let time = 0; time < TIMES; time += 1)
      await root.submit('update_user_name', { userId: asked.userId, userName: `asked ${time}` });
    expect(othersIn(app)).toContain(`app_user ${given.userId}`);
    expect(await rows.forge('SELECT name FROM app_user_x WHERE id = ?', [given.userId])).toEqual([{ name: 'given' }]);
  });
});

describe('objects in another schema, on PostgreSQL', () => {
  const SHADOWS = [
    'CREATE SCHEMA evil',
    'CREATE TABLE evil.api_key AS SELECT * FROM public.api_key WHERE false',
    `CREATE FUNCTION evil.never(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT false'`,
    'CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.never)',
  ];

  test('stand in front of nothing, whatever the database is set to', { timeout: MS }, async () => {
    await using app = await openTestApp('postgres');
    await using rows = await Rows.open(app.app.config);
    for (const statement of SHADOWS) await rows.forge(statement);
    const [{ db } = { db: '' }] = await rows.forge('SELECT current_database() AS db');
    await rows.forge(`ALTER DATABASE ${db} SET search_path = evil, pg_catalog, public`);
    await rows.forge(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`);
    await sleep(500);
    await expect.poll(async () => (await app.root.query('whoami')).status, { timeout: 10_000 }).toBe(200);
    await newWallet(app.root);

    // A whole copy, which a start would find first. The role that made it is not ours.
    for (const table of ['schema_migration', 'deployment']) {
      await rows.forge(`CREATE TABLE evil.${table} AS SELECT * FROM public.${table}`);
      await rows.forge(`ALTER TABLE evil.${table} OWNER TO pg_monitor`);
    }
    await rows.forge("UPDATE evil.deployment SET value = 'evil' WHERE name = 'bootstrap'");
    const { databaseUrl: url = '' } = app.app.config;
    const storage = await openPostgres({ dataModel, url, poolSize: 2, nowMs: 0, onIdleError: () => {} });
    try {
      const bootstrap = await storage.read(InstallationReader).get('bootstrap');
      expect(bootstrap).not.toBe('evil');
    } finally {
      await storage.close();
    }
  });

  test('are used where the URL says so', { timeout: MS }, async () => {
    await using database = await createPostgresDatabase();
    await onPostgres(database.url, (client) => client.query('CREATE SCHEMA own'));
    const url = new URL(database.url);
    url.searchParams.set('options', '-c search_path=own');
    const storage = await openPostgres({
      dataModel,
      url: url.href,
      poolSize: 2,
      nowMs: 0,
      onIdleError: () => {},
    });
    try {
      expect(await storage.read(InstallationReader).hasOrganization()).toBe(false);
      const { rows } = await onPostgres(database.url, (client) =>
        client.query("SELECT count(*) AS n FROM pg_tables WHERE schemaname = 'own' AND tablename = 'organization'"),
      );
      expect(rows).toEqual([{ n: '1' }]);
    } finally {
      await storage.close();
    }
  });
});
