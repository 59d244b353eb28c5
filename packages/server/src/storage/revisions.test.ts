import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KeptValues, Revisions } from './revisions.ts';
import { SqliteFile } from './sqlite-driver.ts';
import type { Table } from './table.ts';

describe('what is kept by revisions', () => {
  let folder: string;
  let file: SqliteFile;
  let revisions: Revisions;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'custos-revisions-'));
    file = new SqliteFile(join(folder, 'test.db'));
    file.exec('PRAGMA journal_mode = WAL; CREATE TABLE thing (id, organization_id)');
    revisions = new Revisions(file, [{ name: 'thing', revises: ['id'], erased: 'never' } as unknown as Table]);
  });
  afterEach(() => {
    file.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function commit(sql: string): void {
    file.exec('BEGIN IMMEDIATE');
    revisions.begun();
    file.exec(sql);
    file.exec('COMMIT');
    revisions.committed();
  }

  test('is dropped once it is no longer true, also if nobody asks for it again', () => {
    const sizes: number[] = [];
    const kept = new KeptValues<string>(revisions, {
      isInside: false,
      sizeOf: (_key, value) => value.length,
      sizeMax: 10,
    });
    kept.keep('old', '12345678', ['a'], kept.moment);
    kept.keep('same', '1', ['b'], kept.moment);
    commit("INSERT INTO thing VALUES ('a', 'o')");
    revisions.forgetOld();
    // There is room for it only if the old one has left.
    kept.keep('new', '123456789', ['c'], kept.moment);
    sizes.push(...['old', 'same', 'new'].map((key) => kept.get(key)?.length ?? 0));
    expect(sizes).toEqual([0, 1, 9]);
  });

  test('is forgotten as a whole beyond its size, and a value put again counts once', () => {
    const kept = new KeptValues<string>(revisions, { isInside: false, sizeOf: () => 4, sizeMax: 10 });
    for (let count = 0; count < 5; count += 1) kept.keep('one', 'x', ['a'], kept.moment);
    kept.keep('two', 'x', ['a'], kept.moment);
    expect([kept.get('one'), kept.get('two')]).toEqual(['x', 'x']);
    kept.keep('three', 'x', ['a'], kept.moment);
    expect([kept.get('one'), kept.get('two'), kept.get('three')]).toEqual([undefined, undefined, 'x']);
  });

  test('is all old after a transaction that changed more than is noted one by one', () => {
    const outside = new KeptValues<string>(revisions, { isInside: false });
    const inside = new KeptValues<string>(revisions, { isInside: true });
    for (const kept of [outside, inside]) kept.keep('other', 'x', ['another name'], kept.moment);
    file.exec('BEGIN IMMEDIATE');
    revisions.begun();
    file.exec(
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100002) INSERT INTO thing SELECT i, 0 FROM n',
    );
    expect([outside.get('other'), inside.get('other')]).toEqual(['x', undefined]);
    file.exec('COMMIT');
    revisions.committed();
    expect([outside.get('other'), inside.get('other')]).toEqual([undefined, undefined]);
    inside.keep('other', 'y', ['another name'], inside.moment);
    expect(inside.get('other')).toBe('y');
  });
});
