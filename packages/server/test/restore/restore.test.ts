import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InstallationReader } from '../../src/core/store/installation.ts';
import { RestorationReader, RestorationStore } from '../../src/fence/store.ts';
import { LIMITS } from '../../src/lib/limits.ts';
import { verifyDatabase } from '../../src/restore/verify.ts';
import { onPostgres, openTables, runCli } from '../faults/support.ts';
import { withStorage } from '../fixtures/integrity.ts';
import { DATABASES, type DatabaseKind } from '../harness/databases.ts';
import { TestServer } from '../harness/server.ts';
import { BackedUp, backUp, configOf, dump, type EmptyPlace, emptyPlace, restoreInto, rewritten } from './support.ts';

const SECONDS = 120_000;

/** Somebody has looked at what was restored. */
async function acceptAll({ config }: Pick<EmptyPlace, 'config'>): Promise<void> {
  await withStorage(config, async (storage) => {
    for (const { id } of await storage.read(RestorationReader).all())
      await storage.write(async (store) => {
        await store(RestorationStore).accept(id, 'a test', Date.now());
      });
  });
}

/** The service starts on it, is fenced, and does everything once the fence is lifted. */
async function expectWorking(place: Pick<EmptyPlace, 'environment' | 'config'>, { world }: BackedUp): Promise<void> {
  const { CUSTOS_DATA_DIR: dataDir = '', ...env } = place.environment;
  await using server = await TestServer.start({ dataDir, env });
  let restored = world.at(server.baseUrl);
  expect((await restored.root.query('whoami')).status).toBe(200);
  const refused = await restored.sign(world.address);
  expect(refused.body, JSON.stringify(refused.body)).toMatchObject({ errorCode: 'FENCED' });
  expect(await server.stop()).toBe(0);
  await acceptAll(place);
  await server.start();
  restored = world.at(server.baseUrl);
  // A body of now may have run before the restore, by a clock that was ahead as far as bodies may be.
  const tooOld = await restored.sign(world.address);
  expect(tooOld.body, JSON.stringify(tooOld.body)).toMatchObject({ errorCode: 'ISSUED_BEFORE_RESTORE' });
  await world.at(server.baseUrl, LIMITS.liveAfterMs - 1000).expectWorking();
  expect(await server.stop()).toBe(0);
  expect(server.output.stderr).not.toContain('internal error');
}

async function expectAllVerified({ config }: Pick<EmptyPlace, 'config'>): Promise<void> {
  const { checked } = await verifyDatabase(config, {
    sample: 'all',
    acceptsLostLog: false,
    say: () => {},
    report: (finding) => expect(finding).toBeUndefined(),
  });
  expect(checked).toMatchObject({ findings: 0, bad: 0, unopened: 0, isRequired: true });
  expect(checked.addresses.compared).toBe(checked.addresses.of);
}

describe.each(DATABASES)('a backup of %s', (database) => {
  let made: BackedUp;
  beforeAll(async () => {
    made = await BackedUp.make(database);
  }, SECONDS);
  afterAll(async () => {
    await made?.[Symbol.asyncDispose]();
  });

  test.each(DATABASES)('is restored into an empty %s, row by row, and serves', { timeout: SECONDS }, async (target) => {
    await using place = await emptyPlace(target, join(made.server.dataDir, 'root.key'));
    const { restored, plan, findings } = await restoreInto(place.config, made.archive, made.key, { sample: 'all' });
    // Before anything else opens it.
    if (target === 'sqlite') expectOnlyDatabase(place);
    expect(findings).toEqual([]);
    expect(plan).toMatchObject({ present: undefined, isOther: false, writesRing: undefined });
    expect(restored?.kept).toBeUndefined();
    expect(restored?.checked).toMatchObject({ findings: 0, isRequired: true });
    expect(restored?.checked.signatures.map(({ outcome }) => outcome)).toEqual(['verified', 'verified', 'verified']);
    expect(await dump(place.config)).toEqual(made.before);
    await expectAllVerified(place);
    await expectWorking(place, made);
  });

  test('goes to the other kind of database and back', { timeout: SECONDS }, async () => {
    const other: DatabaseKind = database === 'sqlite' ? 'postgres' : 'sqlite';
    const ring = join(made.server.dataDir, 'root.key');
    await using there = await emptyPlace(other, ring);
    await using back = await emptyPlace(database, ring);
    await restoreInto(there.config, made.archive, made.key);
    if (other === 'sqlite') await expectLaterNumbers(there);
    const again = join(there.config.dataDir, 'again.backup');
    await backUp(there.config, again, made.key);
    await restoreInto(back.config, again, made.key);
    expect(await dump(back.config)).toEqual(made.before);
    await expectAllVerified(back);
  });

  test('of an older version is migrated', { timeout: SECONDS }, async () => {
    await using place = await emptyPlace(database, join(made.server.dataDir, 'root.key'));
    const later = '0029-restorations';
    const added = 'accepted_restoration';
    const older = await rewritten(made, (part, table) => {
      if (part.part === 'header') {
        const migrations = part.header.migrations.filter(({ name }) => name !== later);
        return { ...part, header: { ...part.header, migrations } };
      }
      if (table?.name === 'restoration') return undefined;
      const at = table?.name === 'organization' ? table.columns.indexOf(added) : -1;
      const less = <T>(values: readonly T[]): T[] => values.filter((_, index) => index !== at);
      if (part.part === 'table') return { ...part, columns: less(part.columns) };
      if (part.part !== 'rows') return part;
      if (table?.name === 'schema_migration') return { ...part, rows: part.rows.filter((row) => !row.includes(later)) };
      return { ...part, rows: part.rows.map(less) };
    });
    const { restored } = await restoreInto(place.config, older, made.key);
    expect(restored?.checked.findings).toBe(0);
    const { schema_migration: migrations, ...rest } = await dump(place.config);
    const { schema_migration: before, ...expected } = made.before;
    expect(rest).toEqual(expected);
    // The later one was applied now.
    expect(migrations?.length).toBe(before?.length);
    expect(migrations).not.toEqual(before);
    await expectAllVerified(place);
  });

  test('of a database to which somebody had added a column', { timeout: SECONDS }, async () => {
    await using place = await emptyPlace(database, join(made.server.dataDir, 'root.key'));
    const wider = await rewritten(made, (part, table) => {
      if (part.part === 'table' && ['app_user', 'deployment'].includes(part.name))
        return { ...part, columns: ['added', ...part.columns] };
      if (part.part !== 'rows' || !['app_user', 'deployment'].includes(table?.name ?? '')) return part;
      return { ...part, rows: part.rows.map((row) => [null, ...row]) };
    });
    const { restored, said } = await restoreInto(place.config, wider, made.key);
    expect(restored?.checked.findings).toBe(0);
    expect(said).toContain('the table app_user has columns that Custos does not know, which are left out: added');
    expect(await dump(place.config)).toEqual(made.before);
  });

  test('with its key ring needs nothing else', { timeout: SECONDS }, async () => {
    await using place = await emptyPlace(database);
    await expect(restoreInto(place.config, made.archive, made.key, { withKeys: true })).rejects.toThrow(
      'it was made without --with-keys',
    );
    const ring = join(place.config.dataDir, 'root.key');
    await restoreInto(place.config, made.archiveWithKeys, made.key, { withKeys: true, confirm: async () => false });
    expect(existsSync(ring)).toBe(false);
    const { plan } = await restoreInto(place.config, made.archiveWithKeys, made.key, { withKeys: true });
    expect(plan?.writesRing).toBe(`file:${ring}`);
    expect(statSync(ring).mode & 0o777).toBe(0o600);
    await expectWorking(place, made);
  });

  test('replaces the database of a stopped service, which is kept', { timeout: SECONDS }, async () => {
    const { config, server } = made;
    const { dataDir, databaseUrl } = server;
    const later = await dump(config);
    const { restored, plan } = await restoreInto(config, made.archive, made.key);
    expect(plan).toMatchObject({
      isOther: false,
      present: {
        organizationId: made.world.root.organizationId,
        organizationName: 'My organization',
        organizations: 3,
      },
      backup: { described: { organizations: 2 } },
    });
    expect(await dump(config)).toEqual(made.before);
    // Backups that were taken after the snapshot are known, and so is the one that was restored.
    const known = await withStorage(config, async (storage) => storage.read(InstallationReader).backups());
    expect(known.map(({ place }) => place).sort()).toEqual([made.archive, made.archiveWithKeys].sort());
    // What was there before can be brought back.
    const kept = restored?.kept?.place ?? '';
    if (databaseUrl === undefined) {
      expect(statSync(join(dataDir, 'custos.db')).mode & 0o777).toBe(0o600);
      expect(kept).toMatch(/custos\.db\.before-restore-\d{8}t\d{6}z$/);
      await using old = await emptyPlace('sqlite', join(dataDir, 'root.key'));
      copyFileSync(kept, join(old.config.dataDir, 'custos.db'));
      expect(await dump(old.config)).toEqual(later);
      rmSync(kept);
      expect(readdirSync(dataDir).filter((name) => /restor|-wal|-shm/.test(name))).toEqual(['custos-restore.lock']);
    } else {
      const schema = kept.replace('the schema ', '');
      expect(
        await dump(configOf({ ...server.environment, CUSTOS_DATABASE_URL: searching(databaseUrl, schema) })),
      ).toEqual(later);
      await onPostgres(databaseUrl, (client) => client.query(restored?.kept?.remove ?? ''));
      expect(await schemasOf(databaseUrl)).toEqual(['public']);
    }
    await expectWorking({ environment: server.environment, config }, made);
  });

  test('keeps nothing with --discard, and says what it would do with --dry-run', { timeout: SECONDS }, async () => {
    const { environment } = made.server;
    const { dataDir, databaseUrl } = made.server;
    const before = await dump(made.config);
    const command = ['restore', made.archive, '--identity', made.key.file, '--sample', '5'];
    const dry = await runCli(environment, ...command, '--dry-run');
    expect([dry.code, dry.stderr]).toEqual([0, expect.stringContaining('This replaces ')]);
    expect(dry.stderr).toContain('organization My organization');
    expect(await dump(made.config)).toEqual(before);
    expect(await runCli(environment, ...command)).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
    const done = await runCli(environment, ...command, '--discard', '--yes');
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/^restored backup /)]);
    expect(done.stderr).not.toContain('is kept as');
    expect(done.stderr).toContain('`custos restore review` lists');
    expect(await dump(made.config)).toEqual(made.before);
    if (databaseUrl === undefined)
      expect(readdirSync(dataDir).filter((name) => name.includes('before-restore'))).toEqual([]);
    else expect(await schemasOf(databaseUrl)).toEqual(['public']);
    // Once more, and what is kept is what to review against.
    const kept = await runCli(environment, ...command, '--yes');
    expect(kept.code).toBe(0);
    const [, against = ''] = /`custos restore review(?: --against (\S+))?` lists what/.exec(kept.stderr) ?? [];
    if (databaseUrl === undefined) {
      expect(against).toMatch(/custos\.db\.before-restore-\d{8}t\d{6}z$/);
      const reviewed = await runCli(environment, 'restore', 'review', '--against', against);
      expect([reviewed.code, reviewed.stdout]).toEqual([0, expect.stringMatching(/; \d+ differences?\n$/)]);
    } else expect(against).toBe('');
  });
});

/** The embedded database numbers changes behind those that came in. */
async function expectLaterNumbers({ config }: EmptyPlace): Promise<void> {
  await using tables = await openTables(config.dataDir, undefined);
  const [facts = [], rows = []] = await tables.read(
    "SELECT CAST(value AS integer) AS number FROM deployment WHERE name = 'change_number'",
    'SELECT max(changed_in) AS number FROM activity',
  );
  expect(rows[0]?.number).toBeGreaterThan(0);
  expect(facts[0]?.number).toBeGreaterThanOrEqual(rows[0]?.number);
}

/** No file beside the database is left over. */
function expectOnlyDatabase({ config }: EmptyPlace): void {
  const names = readdirSync(config.dataDir).filter((name) => name.startsWith('custos.db'));
  expect(names).toEqual(['custos.db']);
  expect(existsSync(join(config.dataDir, 'custos.db.restoring'))).toBe(false);
}

function searching(address: string, schema: string): string {
  const url = new URL(address);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return url.toString();
}

const schemasOf = async (url: string): Promise<string[]> =>
  await onPostgres(url, async (client) => {
    const { rows } = await client.query(
      "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY nspname",
    );
    return rows.map(({ nspname }) => nspname as string);
  });
