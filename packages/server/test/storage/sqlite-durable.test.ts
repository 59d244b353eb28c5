import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OrganizationReader, OrganizationStore } from '../../src/core/store/organizations.ts';
import { dataModel } from '../../src/domains.ts';
import { ApiError } from '../../src/lib/errors.ts';
import { openSqlite } from '../../src/storage/sqlite.ts';
import { SqliteFile } from '../../src/storage/sqlite-driver.ts';
import { type LogFile, openLogFile } from '../../src/storage/sqlite-log.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { codeOf, NOW, organization } from './place.ts';

/** Of a log that begins anew: its header, and the page that says that the database has a log. */
const FRAME_BYTES = 32 + 24 + 4096;

/** A disk that syncs when it is told to. */
class Disk {
  readonly #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  isHeld = false;
  syncs = 0;
  /** The last real handle, so that nothing is left open. */
  #file: LogFile | undefined;

  readonly open = (databaseFile: string): LogFile => {
    this.#file = openLogFile(databaseFile);
    return {
      sync: async () => {
        this.syncs += 1;
        if (this.isHeld) await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
        await this.#file?.sync();
      },
      close: () => this.#file?.close(),
    };
  };

  get waiting(): number {
    return this.#waiting.length;
  }

  finish(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  fail(): void {
    for (const { reject } of this.#waiting.splice(0)) reject(Object.assign(new Error('EIO'), { code: 'EIO' }));
  }
}

const turns = async (count = 20): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Whether it is settled by now. */
async function isOver(work: Promise<unknown>): Promise<boolean> {
  let over = false;
  const mark = (): void => {
    over = true;
  };
  void work.then(mark, mark);
  await turns();
  return over;
}

describe('what SQLite answers is on the disk', () => {
  let folder: string;
  let disk: Disk;
  let storage: Storage;
  let failures: unknown[];
  const open = (file = 'custos.db') =>
    openSqlite({
      file: join(folder, file),
      lockFile: join(folder, 'custos.lock'),
      dataModel,
      nowMs: NOW,
      openLog: disk.open,
      // The service ends itself.
      onLogFailure: (error) => failures.push(error),
    });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'custos-durable-'));
    disk = new Disk();
    failures = [];
    storage = await open();
    disk.isHeld = true;
  });
  afterEach(async () => {
    disk.isHeld = false;
    disk.finish();
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const find = (id: string) => storage.read(OrganizationReader).find(id as never);
  const insert = (made = organization(), options = {}) =>
    storage.write(async (store) => {
      await store(OrganizationStore).insert(made);
      return made.id;
    }, options);

  test('a write is told only when it is synced', async () => {
    const made = organization();
    const written = insert(made);
    expect(await isOver(written)).toBe(false);
    disk.finish();
    expect(await written).toBe(made.id);
  });

  test('a read waits for what it has seen, and one before it does not', async () => {
    const before = find(organization().id);
    expect(await isOver(before)).toBe(true);
    const made = organization();
    const written = insert(made);
    await turns();
    const seen = find(made.id);
    expect(await isOver(seen)).toBe(false);
    disk.finish();
    expect((await seen)?.id).toBe(made.id);
    await written;
  });

  test('a sync that had begun covers nothing that was committed later', async () => {
    const first = insert();
    await turns();
    const second = insert();
    await turns();
    expect(disk.waiting).toBe(1);
    disk.finish();
    await first;
    expect(await isOver(second)).toBe(false);
    disk.finish();
    await second;
  });

  test('many commits during one sync share the next', async () => {
    const first = insert();
    await turns();
    const syncs = disk.syncs;
    const others: Promise<unknown>[] = [];
    for (let index = 0; index < 5; index += 1) {
      others.push(insert());
      await turns(3);
    }
    disk.finish();
    await first;
    await turns();
    disk.finish();
    await Promise.all(others);
    expect(disk.syncs).toBe(syncs + 1);
  });

  test('an error that tells of another write waits for that one', async () => {
    const made = organization();
    const written = insert(made);
    await turns();
    const failing = storage.write(async (store) => {
      if ((await store(OrganizationReader).find(made.id)) !== undefined) throw new ApiError('CONFLICT', 'taken');
    });
    expect(await isOver(failing)).toBe(false);
    disk.finish();
    await written;
    expect(await codeOf(failing)).toBe('CONFLICT');
  });

  test('what may be repeated waits for no sync', async () => {
    const syncs = disk.syncs;
    const made = organization();
    expect(await insert(made, { isRepeatable: true })).toBe(made.id);
    expect((await find(made.id))?.id).toBe(made.id);
    expect(disk.syncs).toBe(syncs);
  });

  test('after a failed sync nothing is answered, and the log stays as it is until the next start', async () => {
    const made = organization();
    const written = insert(made);
    await turns();
    const seen = find(made.id);
    const queued = insert();
    await turns();
    disk.fail();
    expect(await codeOf(written)).toBe('UNAVAILABLE');
    expect(await codeOf(seen)).toBe('UNAVAILABLE');
    expect(await codeOf(queued)).toBe('UNAVAILABLE');
    disk.isHeld = false;
    const syncs = disk.syncs;
    expect(await codeOf(find(made.id))).toBe('UNAVAILABLE');
    expect(await codeOf(insert())).toBe('UNAVAILABLE');
    // It is not tried again: the system may have forgotten what it could not write.
    expect(disk.syncs).toBe(syncs);

    expect(failures).toHaveLength(1);

    await storage.close();
    // To close a database moves its log into it, which is not for one of which nobody knows what the disk has.
    expect(statSync(join(folder, 'custos.db-wal')).size).toBeGreaterThan(0);
    disk = new Disk();
    storage = await open();
    expect(statSync(join(folder, 'custos.db-wal')).size).toBe(FRAME_BYTES);
    const next = organization();
    await insert(next);
    expect((await find(next.id))?.id).toBe(next.id);
  });

  test('the log is that of the file itself, where the data folder has a link to it', async () => {
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere', 'real.db'), join(folder, 'linked.db'));
    const opened: string[] = [];
    await storage.close();
    disk = new Disk();
    storage = await open('linked.db');
    const made = organization();
    await insert(made);
    opened.push(...readdirSync(join(folder, 'elsewhere')));
    expect(opened).toContain('real.db-wal');
    expect(disk.syncs).toBeGreaterThan(0);
    expect((await find(made.id))?.id).toBe(made.id);
  });

  test('a start beside a reader, as a backup is, leaves the log and writes it anew', async () => {
    disk.isHeld = false;
    const made = organization();
    await insert(made);
    await storage.close();
    // A reader that began before the log could be moved keeps it from being emptied.
    const writer = new SqliteFile(join(folder, 'custos.db'));
    writer.exec('CREATE TABLE foreign_table (a)');
    const reader = new SqliteFile(join(folder, 'custos.db'), { isReadOnly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT * FROM foreign_table').all();
    writer.exec('INSERT INTO foreign_table VALUES (1)');
    const log = readFileSync(join(folder, 'custos.db-wal'));
    expect(log.length).toBeGreaterThan(0);
    storage = await open();
    // Behind it the start has written that the database has a log.
    expect(readFileSync(join(folder, 'custos.db-wal')).subarray(0, log.length).equals(log)).toBe(true);
    const next = organization();
    await insert(next);
    expect((await find(made.id))?.id).toBe(made.id);
    // The reader sees what it saw.
    expect(reader.prepare('SELECT * FROM foreign_table').all()).toEqual([]);
    reader.exec('ROLLBACK');
    reader.close();
    writer.close();
    await storage.close();
    storage = await open();
    expect(statSync(join(folder, 'custos.db-wal')).size).toBe(FRAME_BYTES);
    expect((await find(next.id))?.id).toBe(next.id);
  });

  test('closing waits for the disk', async () => {
    const written = insert();
    await turns();
    const closed = storage.close();
    expect(await isOver(closed)).toBe(false);
    disk.finish();
    await closed;
    expect(await codeOf(written)).toBe('done');
    storage = await open();
  });
});
