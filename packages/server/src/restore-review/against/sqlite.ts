import { StartError } from '../../lib/start-error.ts';
import { COLUMN_QUERIES } from '../../storage/integrity/columns.ts';
import type { ColumnInfo } from '../../storage/integrity/marked-table.ts';
import { SqliteFile, sqliteErrorName } from '../../storage/sqlite-driver.ts';
import type { Query } from './rows.ts';

/** Another database, opened to be read as it is at this moment. */
export interface OpenedDatabase {
  readonly query: Query;
  readonly columns: readonly ColumnInfo[];
  close(): Promise<void>;
}

export function openSqliteFile(file: string, isScratch = false): OpenedDatabase {
  let db: SqliteFile | undefined;
  try {
    const opened = new SqliteFile(file, { isReadOnly: !isScratch });
    db = opened;
    // What others commit meanwhile is not seen, so that all tables are of one moment.
    opened.exec('BEGIN');
    const columns = opened.prepare(COLUMN_QUERIES.sqlite).all() as unknown as readonly ColumnInfo[];
    return {
      columns,
      query: async (text, values) => opened.prepare(text).all(...values),
      close: async () => opened.close(),
    };
  } catch (error) {
    db?.close();
    if (sqliteErrorName(error) === undefined) throw error;
    throw new StartError(
      `cannot read the database ${file}: ${(error as Error).message}; copy it together with its -wal file, or compare with a backup`,
    );
  }
}
