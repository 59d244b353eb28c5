import { existsSync, lstatSync, mkdtempSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { giveToOwnerOf, SqlitePlace } from '../place/sqlite-place.ts';
import { SqliteTarget } from './sqlite-target.ts';

let folder: string;
let dataDir: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'custos-target-'));
  dataDir = mkdtempSync(join(folder, 'data-'));
  vi.spyOn(process, 'getuid').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

test.each(['custos-restore.lock', 'custos.lock', 'custos.db'])(
  'root follows no link in the folder of a service to make %s elsewhere',
  async (name) => {
    const elsewhere = join(folder, 'elsewhere');
    symlinkSync(elsewhere, join(dataDir, name));
    await expect(SqliteTarget.open(dataDir)).rejects.toThrow(`${name} is a link, which root does not follow here`);
    expect(existsSync(elsewhere)).toBe(false);
    // Nothing is left locked.
    unlinkSync(join(dataDir, name));
    await (await SqliteTarget.open(dataDir)).release();
  },
);

test('what a link leads to is given to nobody', () => {
  const link = join(dataDir, 'custos.db.restoring');
  // To follow it would fail: nothing is there.
  symlinkSync(join(folder, 'missing'), link);
  giveToOwnerOf(dataDir, link);
  expect(lstatSync(link).uid).toBe(lstatSync(dataDir).uid);
});

test.each(['custos.db.restoring', 'custos.db.restoring.lock'])('nor where %s was while it loaded', async (name) => {
  const elsewhere = join(folder, 'elsewhere');
  symlinkSync(elsewhere, join(dataDir, name));
  await expect(new SqlitePlace(join(dataDir, 'custos.db.restoring')).open()).rejects.toThrow(`${name} is a link`);
  expect(existsSync(elsewhere)).toBe(false);
});
