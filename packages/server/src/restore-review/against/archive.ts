import type { ArchivePart } from '../../backup/archive/parts.ts';
import { StartError } from '../../lib/start-error.ts';
import type { SqliteFile, SqliteStatement } from '../../storage/sqlite-driver.ts';
import { COMPARED } from './compared.ts';

/** What else a comparison reads. */
const ALSO = ['activity', 'integrity_key', 'deployment'];
const WANTED: ReadonlySet<string> = new Set([...COMPARED.map(({ table }) => table as string), ...ALSO]);

export interface UnpackedArchive {
  readonly id: string;
  readonly snapshotAtMs: number;
}

/** Puts what is compared of an archive into a database on disk, where it can be read in the order of its keys. */
export async function unpackArchive(
  parts: AsyncIterable<ArchivePart>,
  db: SqliteFile,
  keyOf: (table: string) => readonly string[],
): Promise<UnpackedArchive> {
  let id = '';
  let insert: SqliteStatement | undefined;
  let snapshotAtMs: number | undefined;
  db.exec('BEGIN');
  for await (const part of parts) {
    switch (part.part) {
      case 'header':
        id = part.header.id;
        break;
      case 'table':
        insert = WANTED.has(part.name) ? createTable(db, part.name, part.columns, keyOf(part.name)) : undefined;
        break;
      case 'rows':
        if (insert !== undefined) for (const row of part.rows) insert.run(...row);
        break;
      case 'keys':
        break;
      case 'end':
        snapshotAtMs = part.manifest.snapshotAtMs;
        break;
    }
  }
  db.exec('COMMIT');
  if (snapshotAtMs === undefined) throw new StartError('the backup was cut off: it has no end');
  return { id, snapshotAtMs };
}

/** Columns have no types, so that values stay as they are. Names come from a file, and go into a statement. */
function createTable(
  db: SqliteFile,
  name: string,
  columns: readonly string[],
  key: readonly string[],
): SqliteStatement {
  for (const word of [name, ...columns]) {
    if (!/^[a-z][a-z0-9_]{0,62}$/.test(word)) throw new StartError('the backup names a table or column that is none');
  }
  const quoted = columns.map((column) => `"${column}"`);
  const keyed = key.length > 0 && key.every((column) => columns.includes(column));
  const primary = keyed ? `, PRIMARY KEY (${key.map((column) => `"${column}"`).join(', ')})` : '';
  db.exec(`CREATE TABLE "${name}" (${quoted.join(', ')}${primary})`);
  return db.prepare(`INSERT INTO "${name}" (${quoted.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`);
}
