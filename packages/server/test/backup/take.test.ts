import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { forgetBackup, readBackups } from '../../src/backup/records.ts';
import { type BackupOptions, type BackupStream, takeBackup } from '../../src/backup/take.ts';
import type { Config } from '../../src/config/config.ts';
import { MIGRATION_NAMES } from '../../src/storage/migrate.ts';
import { KeyDeployment } from '../fixtures/key-deployment.ts';
import { DATABASES } from '../harness/databases.ts';
import { type AgeKeys, compareWith, newAgeKeys, openArchive } from './archives.ts';

let keys: AgeKeys;
let folder: string;

beforeAll(async () => {
  keys = await newAgeKeys();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'custos-backup-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string): string => join(folder, name);
const to = (file: string, rest: Partial<BackupOptions> = {}): BackupOptions => ({
  target: { file: at(file), overwrites: false },
  recipients: [keys.recipient],
  withKeys: false,
  ...rest,
});
const into = (keep?: number): BackupOptions => to('', { target: { folder, keep } });

const problemOf = async (taking: Promise<unknown>): Promise<string> =>
  await taking.then(
    () => 'none',
    (error: Error) => `${error.name}: ${error.message}`,
  );

/** Keeps what it is given. */
class Pieces implements BackupStream {
  readonly chunks: Uint8Array[] = [];
  isEnded = false;

  async write(bytes: Uint8Array): Promise<void> {
    this.chunks.push(Buffer.from(bytes));
  }

  async end(): Promise<void> {
    this.isEnded = true;
  }
}

describe.each(DATABASES)('a backup on %s', (database) => {
  let one: KeyDeployment;
  let config: Config;

  beforeEach(async () => {
    one = await KeyDeployment.make(database);
    config = one.config;
  });
  afterEach(async () => await one[Symbol.asyncDispose]());

  const records = () => one.read("SELECT name FROM deployment WHERE name LIKE 'backup:%' ORDER BY name");

  test('holds every row of every table as it is, and says what it holds', async () => {
    // Sizes far apart, numbers that no number holds, and texts that JSON has to escape.
    for (let index = 0; index < 12; index += 1)
      await one.write(
        'INSERT INTO sealed_result (organization_id, activity_id, sealed_result, expires_at_ms, shown_at_ms) VALUES (?, ?, ?, ?, ?)',
        ['o', `a${index}`, Buffer.alloc(index * 60_000, index), index === 5 ? 2n ** 63n - 1n : index, index || null],
      );
    await one.write(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
       INSERT INTO deployment (name, value) SELECT 'test ' || i, '"\\\n\u2028é😀' || i FROM n`,
    );

    const made = await takeBackup(config, to('one.age'));

    const archive = await openArchive(at('one.age'), keys);
    await one.write("DELETE FROM deployment WHERE name LIKE 'backup:%'");
    const { stored, archived } = await compareWith(archive, config);
    expect(archived).toEqual(stored);
    const { rootKeyId, integrityKeyId } = await idsOf(one);
    expect(archive.manifest).toEqual(made.manifest);
    expect(made.manifest).toMatchObject({
      rootKeyIds: [rootKeyId],
      integrityKeyIds: [integrityKeyId],
      organizations: 1,
      hasKeys: false,
      position: expect.stringMatching(database === 'postgres' ? /^[0-9A-F]+\/[0-9A-F]+$/ : /^change [0-9]+$/),
    });
    expect(archive.header).toMatchObject({ format: 1, id: made.id, databaseKind: database });
    expect(archive.header.migrations.map(({ name }) => name)).toEqual(MIGRATION_NAMES);
    expect(archive.keys).toBeUndefined();
  });

  test('is a file of its own user, whole, and recorded until its record ends', async () => {
    const beforeMs = Date.now();
    const made = await takeBackup(config, to('one.age'));
    expect(readdirSync(folder)).toEqual(['one.age']);
    const bytes = readFileSync(at('one.age'));
    expect(statSync(at('one.age')).mode & 0o777).toBe(0o600);
    expect(made).toMatchObject({
      place: at('one.age'),
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      deleted: [],
    });
    const { rootKeyId, integrityKeyId } = await idsOf(one);
    const [record] = await readBackups(config);
    expect(record).toEqual({
      id: made.id,
      takenAtMs: made.manifest.snapshotAtMs,
      place: at('one.age'),
      rootKeyIds: [rootKeyId],
      integrityKeyIds: [integrityKeyId],
      bytes: made.bytes,
      sha256: made.sha256,
      rows: made.manifest.rows,
      version: expect.any(String),
      hasKeys: false,
    });
    expect(record?.takenAtMs).toBeGreaterThanOrEqual(beforeMs);

    // It keeps the root key that it needs.
    await one.rotate();
    const needed = new RegExp(
      `root key ${rootKeyId} is still needed by backup ${made.id} of .* \\(${at('one.age')}\\)`,
    );
    expect(await problemOf(one.retire(rootKeyId))).toMatch(needed);
    const second = await takeBackup(config, to('two.age'));
    expect(second.manifest.rootKeyIds).toEqual([(await idsOf(one)).rootKeyId]);
    expect((await readBackups(config)).map(({ id }) => id)).toEqual([second.id, made.id]);
    expect(await problemOf(forgetBackup(config, 'none'))).toMatch(/no backup none is recorded.*nothing was changed/);
    expect((await forgetBackup(config, made.id)).place).toBe(at('one.age'));
    await one.retire(rootKeyId);
    expect((await readBackups(config)).map(({ id }) => id)).toEqual([second.id]);
    expect(readdirSync(folder)).toEqual(['one.age', 'two.age']);
  });

  test('takes the place of another one only if told to, and of its record', async () => {
    const first = await takeBackup(config, to('one.age'));
    expect(await problemOf(takeBackup(config, to('one.age')))).toMatch(/one.age is there already: .*--overwrite/);
    expect((await openArchive(at('one.age'), keys)).header.id).toBe(first.id);
    const second = await takeBackup(config, to('one.age', { target: { file: at('one.age'), overwrites: true } }));
    expect((await openArchive(at('one.age'), keys)).header.id).toBe(second.id);
    expect((await readBackups(config)).map(({ id }) => id)).toEqual([second.id]);
    expect(readdirSync(folder)).toEqual(['one.age']);
  });

  test('of which only the newest are kept leaves other files alone', async () => {
    writeFileSync(at('custos-ffffffff-20200101T000000Z-00000000.age'), 'of another deployment');
    writeFileSync(at('notes.txt'), 'not ours');
    mkdirSync(at('sub'));
    const own = await takeBackup(config, to('own.age'));
    const made = [];
    for (const keep of [undefined, 3, 3]) made.push(await takeBackup(config, into(keep)));
    const [first, second, third] = made.map(({ place }) => place) as [string, string, string];
    expect(first).toMatch(/\/custos-[0-9a-f]{8}-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}\.age$/);
    // One that a clock was wrong for, what a killed run left, and a link that is called as they are.
    const future = first.replace(/-[0-9]{8}T/, '-20991231T');
    const partial = `${second.replace(/[0-9a-f]{8}\.age$/, '00000000.age')}.partial`;
    writeFileSync(future, '');
    writeFileSync(partial, '');
    symlinkSync(at('notes.txt'), first.replace(/-[0-9]{8}T/, '-20100101T'));

    const last = await takeBackup(config, into(2));
    expect(last.deleted.toSorted()).toEqual([first, second, third].toSorted());
    expect(readdirSync(folder).map(at).toSorted()).toEqual(
      [
        at('custos-ffffffff-20200101T000000Z-00000000.age'),
        at('notes.txt'),
        at('own.age'),
        at('sub'),
        first.replace(/-[0-9]{8}T/, '-20100101T'),
        future,
        last.place,
      ].toSorted(),
    );
    expect((await readBackups(config)).map(({ id }) => id)).toEqual([last.id, own.id]);
    expect((await openArchive(last.place, keys)).header.id).toBe(last.id);
  });

  test('deletes nothing in a folder that others use while nobody can tell whose it is', async () => {
    await using other = await KeyDeployment.make();
    const theirs = await takeBackup(other.config, into());
    const ours = await takeBackup(config, into());
    const partial = `${theirs.place.replace(/[0-9a-f]{8}\.age$/, '00000000.age')}.partial`;
    writeFileSync(partial, 'being written');
    const files = (): string[] => readdirSync(folder).map(at).toSorted();
    const before = files();
    const [id, theirId] = [await one.fact('bootstrap'), await other.fact('bootstrap')] as [string, string];

    const columns = Object.keys((await one.read('SELECT * FROM organization'))[0] ?? {});
    const values = columns.map((column) => (column === 'id' ? `'${theirId}'` : column));
    const ways: Readonly<Record<string, () => Promise<void>>> = {
      'the database names another one': () => one.putFact('bootstrap', theirId),
      'and has a row of it': () =>
        one.write(`INSERT INTO organization (${columns}) SELECT ${values} FROM organization WHERE id = ?`, [id]),
      'it names nothing': () => one.write("DELETE FROM deployment WHERE name = 'bootstrap'"),
    };
    const kept: string[] = [];
    for (const [way, forge] of Object.entries(ways)) {
      await forge();
      const made = await takeBackup(config, into(1));
      expect([way, made.deleted, typeof made.doubt]).toEqual([way, [], 'string']);
      expect(made.place, way).toMatch(/\/custos-unverified-[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}\.age$/);
      expect((await openArchive(made.place, keys)).header.id, way).toBe(made.id);
      kept.push(made.place);
      expect(files(), way).toEqual([...before, ...kept].toSorted());
    }
    await one.putFact('bootstrap', id);
    const without = await takeBackup({ ...config, rootKey: `file:${at('none')}` }, into(1));
    expect([without.deleted, without.doubt]).toEqual([[], expect.stringContaining('cannot open the root key')]);
    expect(await readBackups(config)).toHaveLength(5);

    // What it made meanwhile is for a person to delete.
    const last = await takeBackup(config, into(1));
    expect([last.deleted, last.doubt]).toEqual([[ours.place], undefined]);
    expect(files()).toEqual([partial, theirs.place, ...kept, without.place, last.place].toSorted());
  });

  test('goes to a stream, and is recorded once that has everything', async () => {
    const stream = new Pieces();
    const made = await takeBackup(config, to('', { target: { stream, place: 'the vault' } }));
    const bytes = Buffer.concat(stream.chunks);
    expect([stream.isEnded, bytes.length]).toEqual([true, made.bytes]);
    expect((await openArchive(bytes, keys)).header.id).toBe(made.id);
    expect((await readBackups(config)).map(({ place }) => place)).toEqual(['the vault']);

    for (const broken of ['write', 'end'] as const) {
      const failing = Object.assign(new Pieces(), { [broken]: () => Promise.reject(new Error('EPIPE')) });
      const taking = takeBackup(config, to('', { target: { stream: failing, place: 'nowhere' } }));
      expect(await problemOf(taking)).toMatch(/EPIPE/);
    }
    expect(await records()).toHaveLength(1);
  });

  test('has the key ring inside if that is wanted, and only a whole one', async () => {
    await one.rotate();
    const made = await takeBackup(config, to('one.age', { withKeys: true }));
    const archive = await openArchive(at('one.age'), keys);
    expect(archive.keys?.provider).toBe('file');
    expect(Buffer.from(archive.keys?.ring ?? []).toString('hex')).toBe(one.ringBytes());
    expect([made.manifest.hasKeys, archive.manifest.hasKeys]).toEqual([true, true]);
    expect((await readBackups(config))[0]?.hasKeys).toBe(true);

    // A ring that lacks what the database is under, one that is no ring, none, and one that nobody is given.
    const other = await KeyDeployment.make();
    try {
      const refused = await problemOf(
        takeBackup({ ...config, rootKey: other.config.rootKey }, to('two.age', { withKeys: true })),
      );
      expect(refused).toMatch(
        /^StartError: the key ring file:.* lacks root key [0-9a-f]{32}, which the database needs/,
      );
    } finally {
      await other[Symbol.asyncDispose]();
    }
    writeFileSync(at('no-ring'), 'x', { mode: 0o600 });
    for (const [rootKey, reason] of [
      [`file:${at('no-ring')}`, /is not a key ring/],
      [`file:${at('missing')}`, /cannot read the key ring .*ENOENT/],
    ] as const)
      expect(await problemOf(takeBackup({ ...config, rootKey }, to('two.age', { withKeys: true })))).toMatch(reason);
    const served = { ...config, keyring: { path: '/run/keyring.sock', keyFile: '/etc/key' } };
    expect(await problemOf(takeBackup(served, to('two.age', { withKeys: true })))).toMatch(
      /a keyring on a socket gives its key ring to nobody/,
    );
    expect(readdirSync(folder)).toEqual(['no-ring', 'one.age']);
    // Without the ring none of this matters.
    await takeBackup(served, to('two.age'));
  });

  test('is refused before anything is read where it could not be kept', async () => {
    mkdirSync(at('sub'));
    writeFileSync(at('file'), 'kept');
    symlinkSync(at('file'), at('link'));
    symlinkSync('/dev/full', at('dangling'));
    const wrong: [BackupOptions, RegExp][] = [
      [to('one.age', { recipients: [] }), /give a recipient \(age1…\), which `age-keygen/],
      [to('one.age', { recipients: ['age1x'] }), /age1x is not a recipient/],
      [to('sub'), /sub is a folder: name a file in it, or use --to/],
      [to('file'), /file is there already/],
      [to('link'), /link is a link: name the file that it leads to/],
      [to('dangling', { target: { file: at('dangling'), overwrites: true } }), /dangling is a link/],
      [to('no/one.age'), /the folder .*no does not exist: make it first/],
      [to('file/one.age'), /cannot write .*ENOTDIR/],
      [to('', { target: { file: '/dev/null', overwrites: true } }), /\/dev\/null is not a file: use -/],
      [to('', { target: { folder: at('no'), keep: 1 } }), /the folder .*no does not exist/],
      [to('', { target: { folder: at('file'), keep: 1 } }), /file is not a folder/],
    ];
    for (const [options, reason] of wrong) expect(await problemOf(takeBackup(config, options))).toMatch(reason);
    const secret = await problemOf(takeBackup(config, to('one.age', { recipients: [keys.identity] })));
    expect(secret).toMatch(/that is an identity/);
    expect(secret).not.toContain(keys.identity.slice(0, 30));
    expect(readdirSync(folder)).toEqual(['dangling', 'file', 'link', 'sub']);
    expect(readFileSync(at('file'), 'utf8')).toBe('kept');
    expect(await records()).toEqual([]);
  });

  test('ends early without a trace', async () => {
    const stop = new AbortController();
    const options = to('one.age', { signal: stop.signal, onProgress: () => stop.abort(new Error('enough')) });
    expect(await problemOf(takeBackup(config, options))).toBe('Error: enough');
    expect(readdirSync(folder)).toEqual([]);
    expect(await records()).toEqual([]);
    await takeBackup(config, to('one.age'));
  });

  test('is made one at a time', async () => {
    const stream = new Pieces();
    let go = (): void => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    let hasBegun = false;
    stream.write = async () => {
      hasBegun = true;
      await held;
    };
    const first = takeBackup(config, to('', { target: { stream, place: 'slow' } }));
    await expect.poll(() => hasBegun, { timeout: 20_000 }).toBe(true);
    expect(await problemOf(takeBackup(config, to('two.age')))).toMatch(/another `custos backup` is running/);
    go();
    await first;
    await takeBackup(config, to('two.age'));
  });

  test('is of the version that the database is of', async () => {
    await one.write(
      "INSERT INTO schema_migration (name, applied_at_ms, compatibility) VALUES ('9999-later', 1, 'expand')",
    );
    expect(await problemOf(takeBackup(config, to('one.age')))).toMatch(
      /of a newer version than this program \(it has 9999-later\): back it up with that version/,
    );
    await one.write("DELETE FROM schema_migration WHERE name IN ('9999-later', '0028-integrity')");
    expect(await problemOf(takeBackup(config, to('one.age')))).toMatch(/is of an older version: start this version/);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is made of a database that somebody damaged', async () => {
    await one.putFact('root_key_id', 'x');
    await one.putFact('deployment_key', 'no hexadecimal');
    await one.putFact('rotation', '{');
    await one.write('UPDATE organization SET wrapped_key = ?', [Buffer.from('short')]);
    await one.write('UPDATE organization SET root_threshold = 77');
    const { manifest } = await takeBackup(config, to('one.age'));
    expect(manifest).toMatchObject({ rootKeyIds: [], organizations: 1 });
    expect((await openArchive(at('one.age'), keys)).tables.get('organization')).toMatchObject([{ root_threshold: 77 }]);
  });

  test('needs a database', async () => {
    const nowhere = { ...config, dataDir: folder, databaseUrl: undefined };
    expect(await problemOf(takeBackup(nowhere, to('one.age')))).toMatch(/holds no Custos service/);
    expect(await problemOf(readBackups(nowhere))).toMatch(/holds no Custos service/);
    const away = { ...config, databaseUrl: 'postgres://custos@127.0.0.1:1/none' };
    expect(await problemOf(takeBackup(away, to('one.age')))).toMatch(/cannot use the PostgreSQL database/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

async function idsOf(one: KeyDeployment): Promise<{ readonly rootKeyId: string; readonly integrityKeyId: string }> {
  const [key] = await one.read('SELECT key_id FROM integrity_key');
  return { rootKeyId: (await one.fact('root_key_id')) ?? '', integrityKeyId: key?.key_id };
}

test('a view in the place of a table is no backup', async () => {
  await using one = await KeyDeployment.make('sqlite');
  await one.write('ALTER TABLE tombstone RENAME TO moved');
  await one.write('CREATE VIEW tombstone AS SELECT * FROM moved');
  expect(await problemOf(takeBackup(one.config, to('one.age')))).toMatch(/has no table tombstone: it is damaged/);
  expect(readdirSync(folder)).toEqual([]);
});

test('somebody else’s table on PostgreSQL stays out', async () => {
  await using one = await KeyDeployment.make('postgres');
  await one.write('CREATE TABLE not_ours (a integer)');
  await takeBackup(one.config, to('one.age'));
  expect((await openArchive(at('one.age'), keys)).tables.has('not_ours')).toBe(false);
});
