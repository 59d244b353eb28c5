import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/lib/clock.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { connectPostgres, onPostgres, runCliWith } from '../faults/support.ts';
import { KeyDeployment } from '../fixtures/key-deployment.ts';
import { DATABASES } from '../harness/databases.ts';
import { BackedUp, dump, emptyPlace, letFilesGo, newAgeKey, restoreInto, rewritten } from './support.ts';

const SECONDS = 120_000;
const SCRIPT = fileURLToPath(new URL('killed-restore.mjs', import.meta.url));

describe.each(DATABASES)('a restore on %s refuses, and leaves the database as it was:', (database) => {
  let made: BackedUp;
  beforeAll(async () => {
    made = await BackedUp.make(database);
  }, SECONDS);
  afterAll(async () => {
    await made?.[Symbol.asyncDispose]();
  });

  async function expectRefused(text: string | RegExp, options: Parameters<typeof restoreInto>[3] = {}): Promise<void> {
    const before = await dump(made.config);
    await expect(restoreInto(made.config, made.archive, made.key, options)).rejects.toThrow(text);
    expect(await dump(made.config)).toEqual(before);
    if (database === 'sqlite') expect(existsSync(join(made.server.dataDir, 'custos.db.restoring'))).toBe(false);
    else
      expect(
        await onPostgres(made.server.databaseUrl as string, async (client) => {
          return (await client.query("SELECT nspname FROM pg_namespace WHERE nspname ~ '^custos'")).rows;
        }),
      ).toEqual([]);
  }

  test('a running service, also one that was started meanwhile', { timeout: SECONDS }, async () => {
    const { server } = made;
    await server.start();
    const running =
      database === 'sqlite' ? 'service is running on' : /service is running on this database \(process \d+/;
    await expect(restoreInto(made.config, made.archive, made.key)).rejects.toThrow(running);
    expect(await server.stop()).toBe(0);
    if (database === 'sqlite') {
      // The service finds the lock.
      await expectRefused(/the server ended/, {
        at: async (step) => {
          if (step === 'verified') await server.start();
        },
      });
      return;
    }
    await expectRefused('service was started on this database meanwhile', {
      at: async (step) => {
        if (step === 'fenced') await server.start();
      },
    }).finally(() => server.stop());
  });

  test('two restores at once', { timeout: SECONDS }, async () => {
    const { server, archive, key } = made;
    await expectRefused('another `custos restore` is running', {
      at: async (step) => {
        if (step === 'filled') await restoreInto(made.config, archive, key);
      },
    });
    expect(server.databaseUrl === undefined).toBe(database === 'sqlite');
  });

  test('a wrong recipient, no identity, and an identity file that is none', async () => {
    const { archive, config, folder } = made;
    const other = await newAgeKey(folder, 'other.key');
    await expect(restoreInto(config, archive, other)).rejects.toThrow('does not open this backup');
    const empty = join(folder, 'empty.key');
    writeFileSync(empty, '# nothing\n');
    await expect(restoreInto(config, archive, { ...other, file: empty })).rejects.toThrow('holds no identity');
    await expect(restoreInto(config, archive, { ...other, file: join(folder, 'none') })).rejects.toThrow('cannot read');
    await expectRefused('identity', { identities: [] });
  });

  test('a folder, an empty file, a missing one, the database itself, and something else', async () => {
    const { config, folder, key } = made;
    const file = (name: string, text: string | Buffer): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    mkdirSync(join(folder, 'a-folder'), { recursive: true });
    const table: [file: string, text: string][] = [
      [join(folder, 'a-folder'), 'is a folder'],
      [join(folder, 'missing'), 'cannot read'],
      [file('empty', ''), 'is empty'],
      [file('text', 'hello, this is no backup of anything'), 'is not a Custos backup'],
      [file('db', Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(100)])), 'is a database file'],
    ];
    for (const [path, text] of table) await expect(restoreInto(config, path, key), path).rejects.toThrow(text);
  });

  test('a key ring that lacks what the backup needs', { timeout: SECONDS }, async () => {
    await using place = await emptyPlace(database);
    await expect(restoreInto(place.config, made.archive, made.key)).rejects.toThrow(
      /since 20\S+Z: restore that key from a backup of the key ring/,
    );
    await using stranger = await KeyDeployment.make('sqlite');
    copyFileSync(stranger.ringPath, join(place.config.dataDir, 'root.key'));
    await expect(restoreInto(place.config, made.archive, made.key)).rejects.toThrow(
      /the database is under root key [0-9a-f]{32} since .* which .* does not hold/,
    );
    expect(existsSync(join(place.config.dataDir, 'custos.db'))).toBe(false);
  });

  test('a newer schema, before anything is written', async () => {
    const newer = await rewritten(made, (part) => {
      if (part.part !== 'header') return part;
      const migrations = [...part.header.migrations, { name: '0999-later', compatibility: 'expand' }];
      return { ...part, header: { ...part.header, version: '9.9.9', migrations } };
    });
    await expect(restoreInto(made.config, newer, made.key)).rejects.toThrow(
      /made by version 9\.9\.9, which is newer than this program: it has 0999-later/,
    );
  });

  test('what does not verify, unless it is accepted', { timeout: SECONDS }, async () => {
    await using place = await emptyPlace(database, join(made.server.dataDir, 'root.key'));
    const bad = await rewritten(made, (part, table) => {
      if (part.part !== 'rows' || table?.name !== 'app_user') return part;
      const name = table.columns.indexOf('name');
      return { ...part, rows: part.rows.map((row) => row.with(name, 'somebody else')) };
    });
    const refused = restoreInto(place.config, bad, made.key);
    await expect(refused).rejects.toThrow('not verify: use another backup, or restore this one with --accept-findings');
    const { findings, restored } = await restoreInto(place.config, bad, made.key, { acceptsFindings: true });
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.every((finding) => finding.check === 'row')).toBe(true);
    expect(restored).toBeDefined();
  });

  test('another deployment, which is named', { timeout: SECONDS }, async () => {
    await using other = await KeyDeployment.make(database);
    copyFileSync(join(made.server.dataDir, 'root.key'), other.ringPath);
    const { plan, restored } = await restoreInto(other.config, made.archive, made.key, { confirm: async () => false });
    expect(restored).toBeUndefined();
    expect(plan).toMatchObject({
      isOther: true,
      present: { organizationName: 'one' },
      backup: { described: { organizationName: 'My organization' } },
    });
    const { dataDir, databaseUrl } = other.config;
    const env = {
      CUSTOS_DATA_DIR: dataDir,
      CUSTOS_KEYRING: 'inline',
      ...(databaseUrl !== undefined && { CUSTOS_DATABASE_URL: databaseUrl }),
    };
    const bytes = readFileSync(made.archive).toString('latin1');
    expect(bytes.length).toBeGreaterThan(0);
    const command = ['restore', made.archive, '-i', made.key.file, '--yes'];
    const refused = await runCliWith('', env, ...command);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('THE BACKUP IS OF ANOTHER DEPLOYMENT') });
    expect(refused.stderr).toContain('run it again with --another-deployment too');
    expect((await other.read('SELECT name FROM organization')).map(({ name }) => name)).toEqual(['one']);
    await letFilesGo();
    const agreed = await runCliWith('', env, ...command, '--another-deployment');
    expect([agreed.code, agreed.stderr]).toEqual([0, expect.stringContaining('exchanging the databases')]);
  });

  test('a database that another program holds', { timeout: SECONDS }, async () => {
    const { server } = made;
    if (server.databaseUrl === undefined) {
      await server.start();
      await server.stop();
      using other = new SqliteFile(join(server.dataDir, 'custos.db'));
      other.exec('BEGIN');
      other.prepare('SELECT * FROM organization').all();
      const refused = restoreInto(made.config, made.archive, made.key);
      await expect(refused).rejects.toThrow('another program has the database');
      other.exec('COMMIT');
      return;
    }
    const client = await connectPostgres(server.databaseUrl);
    try {
      await client.query('BEGIN; SELECT * FROM organization');
      await expect(restoreInto(made.config, made.archive, made.key)).rejects.toThrow('the database is busy');
    } finally {
      await client.end();
    }
  });

  // Decided before a database is asked, or by its file alone.
  if (database !== 'sqlite') return;

  test('a backup that is younger than the clock of this machine says', { timeout: SECONDS }, async () => {
    const withTime = (snapshotAtMs: number) => rewritten(made, (part) => part, { snapshotAtMs });
    await using place = await emptyPlace('sqlite', join(made.server.dataDir, 'root.key'));
    const younger = await withTime(Date.now() + HOUR_MS);
    await expect(restoreInto(place.config, younger, made.key)).rejects.toThrow(/set the clock if it is behind/);
    expect(existsSync(join(place.config.dataDir, 'custos.db'))).toBe(false);
    // Clocks differ a little.
    const { restored } = await restoreInto(place.config, await withTime(Date.now() + 60_000), made.key);
    expect(restored).toBeDefined();
  });

  test('what fills the disk', { timeout: SECONDS }, async () => {
    const before = await dump(made.config);
    // No file may grow beyond this.
    const child = spawn(
      'bash',
      [
        '-c',
        `ulimit -f 400; trap '' XFSZ; exec "${process.execPath}" "${SCRIPT}" "$@"`,
        '-',
        made.archive,
        made.key.file,
        'none',
      ],
      {
        env: { ...made.server.environment, CUSTOS_KEYRING: 'inline' },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const [code] = await once(child, 'close');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/StartError: (the disk of \S+ is full|cannot write \S+)/),
    ]);
    expect(await dump(made.config)).toEqual(before);
    expect(existsSync(join(made.server.dataDir, 'custos.db.restoring'))).toBe(false);
  });

  test('what comes from standard input without --yes, unless the place is empty', {
    timeout: SECONDS,
  }, async () => {
    await using place = await emptyPlace('sqlite', join(made.server.dataDir, 'root.key'));
    const run = (env: Readonly<Record<string, string>>, ...more: string[]) =>
      new Promise<{ code: number | null; stderr: string }>((resolve) => {
        const cli = fileURLToPath(new URL('../../../cli/bin/custos.js', import.meta.url));
        const child = spawn(process.execPath, [cli, 'restore', '-', '-i', made.key.file, ...more], {
          env: { PATH: process.env['PATH'] ?? '', ...env },
          stdio: ['pipe', 'ignore', 'pipe'],
        });
        let stderr = '';
        child.stderr.setEncoding('utf8').on('data', (text: string) => {
          stderr += text;
        });
        child.stdin.on('error', () => {}).end(readFileSync(made.archive));
        child.once('close', (code) => resolve({ code, stderr }));
      });
    expect(await run(place.environment)).toMatchObject({ code: 0, stderr: expect.stringContaining('which is empty') });
    expect(await dump(place.config)).toEqual(made.before);
    expect(await run(made.server.environment)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('while the backup comes from standard input: run it again with --yes'),
    });
    expect(await run(made.server.environment, '--yes')).toMatchObject({ code: 0 });
    expect(await dump(made.config)).toEqual(made.before);
  });
});
