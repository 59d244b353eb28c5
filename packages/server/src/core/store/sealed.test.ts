import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { provisions } from '../../domains.ts';
import { openSqlite } from '../../storage/sqlite.ts';
import { SqliteFile } from '../../storage/sqlite-driver.ts';
import { SEALED_COLUMNS, UNSEALED_COLUMNS } from './sealed.ts';

interface Column {
  readonly table: string;
  readonly column: string;
  readonly type: string;
  /** The place in the primary key, from 1; 0 for a column outside it. */
  readonly position: number;
}

test('every column of bytes is known as sealed, or as not sealed, and every sealed one is read by its primary key', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'custos-sealed-'));
  try {
    const file = join(folder, 'custos.db');
    const storage = await openSqlite({ provisions, file, lockFile: join(folder, 'lock'), nowMs: 0 });
    await storage.close();
    const db = new SqliteFile(file, { isReadOnly: true });
    const columns = db
      .prepare(
        `SELECT m.name AS "table", c.name AS "column", c.type AS type, c.pk AS position
         FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid`,
      )
      .all() as unknown as Column[];
    db.close();

    const bytes = columns.filter(({ type }) => type.toLowerCase() === 'blob');
    const known = [...UNSEALED_COLUMNS, ...SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`)];
    expect(bytes.map(({ table, column }) => `${table}.${column}`).sort()).toEqual(known.sort());

    for (const { table, key, owner } of SEALED_COLUMNS) {
      const primary = columns.filter((column) => column.table === table && column.position > 0);
      const inOrder = primary.sort((one, other) => one.position - other.position);
      expect([table, inOrder.map(({ column }) => column)]).toEqual([table, [...key]]);
      expect(key).toContain(owner);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
